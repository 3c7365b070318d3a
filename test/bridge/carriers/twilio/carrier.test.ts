// The REST client against a small HTTP peer that records what it is asked and answers what the test says.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { XMLParser } from 'fast-xml-parser';
import t, { type Test } from 'tap';
import type { Carrier, NumberOrder } from '../../../../bridge/carriers/carrier.ts';
import { openTwilio } from '../../../../bridge/carriers/twilio/carrier.ts';
import { HOOK_OVERRIDES } from '../../../../bridge/carriers/twilio/hook-url.ts';
import { pricingUrl } from '../../../../bridge/carriers/twilio/prices.ts';
import { AppError } from '../../../../errors.ts';
import { openLog } from '../../../../log.ts';

const SID = `AC${'1'.repeat(32)}`;
const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const CA = `CA${'2'.repeat(32)}`;
const ACCOUNT = `/2010-04-01/Accounts/${SID}`;
const xml = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  form: URLSearchParams;
  authorization: string | undefined;
}
type Answer =
  | { status: number; body?: unknown; text?: string; headers?: Record<string, string> }
  | 'hang'
  | 'reset';

async function rig(
  t: Test,
  answers: Answer[],
  o: { timeoutMs?: number; numberPrices?: (country: string) => Record<string, number> } = {},
) {
  const asked: Asked[] = [];
  const left = [...answers];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const url = new URL(request.url ?? '', 'http://x');
    asked.push({
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      form: new URLSearchParams(text),
      authorization: request.headers.authorization,
    });
    const answer = left.shift() ?? { status: 599 };
    if (answer === 'hang') return;
    if (answer === 'reset') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      connection: 'close',
      ...answer.headers,
    });
    response.end(answer.text ?? (answer.body === undefined ? '' : JSON.stringify(answer.body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const carrier = openTwilio({
    accountSid: SID,
    authToken: 'the-token',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicUrl: 'https://calls.example.com',
    hooksPath: '/carriers/twilio',
    log: openLog('silent'),
    clientOf: () => ({ address: '127.0.0.1', shared: true }),
    strangers: { saw: () => {} },
    retryDelayMs: 1,
    ...o,
  });
  return { asked, carrier };
}

const error = (code: number, status: number): Answer => ({
  status,
  body: {
    code,
    message: `vendor text ${code}`,
    more_info: `https://www.twilio.com/docs/errors/${code}`,
    status,
  },
});
const callBody = (more: Record<string, unknown> = {}) => ({
  sid: CA,
  account_sid: SID,
  status: 'queued',
  to: '+15550001111',
  from: '+15550002222',
  duration: null,
  date_created: null,
  start_time: null,
  end_time: null,
  price: null,
  ...more,
});
const order = { callId: CALL, to: '+15550001111', from: '+15550002222', ringSeconds: 45, maxSeconds: 600 };

/** The AppError a promise rejects with. */
async function refusal(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it did not reject');
}

t.test('a call is placed with its hooks', async (t) => {
  const { asked, carrier } = await rig(t, [
    { status: 201, body: callBody() },
    { status: 201, body: callBody() },
    { status: 201, body: callBody() },
  ]);
  t.same(await carrier.line.place({ ...order, machineDetection: null }), { carrierCallId: CA });
  const [first] = asked;
  t.match(first, { method: 'POST', path: `${ACCOUNT}/Calls.json` });
  t.equal(Buffer.from(first!.authorization!.split(' ')[1]!, 'base64').toString(), `${SID}:the-token`);
  const hooks = `https://calls.example.com/carriers/twilio/calls/${CALL}`;
  t.same(Object.fromEntries([...first!.form].filter(([name]) => name !== 'StatusCallbackEvent')), {
    To: '+15550001111',
    From: '+15550002222',
    Url: `${hooks}/answer${HOOK_OVERRIDES}`,
    Method: 'POST',
    StatusCallback: `${hooks}/status${HOOK_OVERRIDES}`,
    StatusCallbackMethod: 'POST',
    Timeout: '45',
    TimeLimit: '600',
  });
  t.same(first!.form.getAll('StatusCallbackEvent'), ['initiated', 'ringing', 'answered', 'completed']);
  await carrier.line.place({ ...order, machineDetection: 'detect' });
  await carrier.line.place({ ...order, machineDetection: 'message_end' });
  t.match(Object.fromEntries(asked[1]!.form), {
    MachineDetection: 'Enable',
    AsyncAmd: 'true',
    AsyncAmdStatusCallback: `${hooks}/machine${HOOK_OVERRIDES}`,
  });
  t.match(Object.fromEntries(asked[2]!.form), { MachineDetection: 'DetectMessageEnd', AsyncAmd: 'true' });
});

t.test('a refused call says why, in words and by the code', async (t) => {
  const cases: [Answer, string, boolean, RegExp][] = [
    [error(21211, 400), '21211', false, /not a valid phone number/],
    [error(21210, 400), '21210', false, /does not belong/],
    [error(20003, 401), '20003', false, /account and token/],
    [error(20429, 429), '20429', true, /slow down/],
    [error(20503, 503), '20503', true, /vendor text 20503/],
    [error(99999, 400), '99999', false, /vendor text 99999/],
    [
      { status: 400, body: { type: 'x', title: 'Bad', status: 400, code: 21215, detail: 'geo' } },
      '21215',
      false,
      /country/,
    ],
    [{ status: 418, text: '<html>' }, 'http_418', false, /status 418/],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'http_302', false, /302/],
  ];
  for (const [answer, carrierCode, retryable, message] of cases) {
    const { asked, carrier } = await rig(t, [answer, { status: 201, body: callBody() }]);
    const refused = await refusal(carrier.line.place({ ...order, machineDetection: null }));
    t.match(refused, { code: 'carrier_error', carrierCode, retryable, message }, carrierCode);
    t.equal(asked.length, 1, 'never tried again by itself');
  }
});

t.test('a call without an answer has an unknown outcome, and is not to be repeated', async (t) => {
  const cases: Record<string, Answer> = {
    silence: 'hang',
    'a lost connection': 'reset',
    'a gateway that gave up': { status: 502, text: 'Bad Gateway' },
    'an answer that is none': { status: 201, text: '{"sid":' },
    'an answer without its id': { status: 201, body: {} },
    'an endless answer': { status: 201, text: ' '.repeat(1_100_000) },
  };
  for (const [name, answer] of Object.entries(cases)) {
    const { asked, carrier } = await rig(t, [answer, { status: 201, body: callBody() }], {
      timeoutMs: name === 'silence' ? 50 : 10_000,
    });
    const refused = await refusal(carrier.line.place({ ...order, machineDetection: null }));
    t.match(
      refused,
      { code: 'carrier_error', carrierCode: 'no_answer_from_carrier', retryable: false },
      name,
    );
    t.equal(asked.length, 1, name);
  }
});

t.test('hanging up never fails for a call that is gone', async (t) => {
  const { asked, carrier } = await rig(t, [
    { status: 200, body: callBody({ status: 'completed' }) },
    error(21220, 400),
    error(20404, 404),
    { status: 404, text: '' },
    { status: 200, body: callBody({ status: 'canceled' }) },
    error(21220, 400),
    { status: 200, body: callBody({ status: 'busy' }) },
    error(21220, 400),
    { status: 200, body: callBody({ status: 'in-progress' }) },
    { status: 200, body: callBody({ status: 'completed' }) },
    error(21220, 400),
  ]);
  t.equal(await carrier.line.hangUp(CA, { answered: true }), 'ended');
  t.match(asked[0], { method: 'POST', path: `${ACCOUNT}/Calls/${CA}.json` });
  t.equal(asked[0]!.form.toString(), 'Status=completed');
  for (let i = 0; i < 3; i++) t.equal(await carrier.line.hangUp(CA, { answered: true }), 'already_ended');
  t.equal(await carrier.line.hangUp(CA, { answered: false }), 'ended');
  t.equal(asked[4]!.form.toString(), 'Status=canceled');
  t.equal(await carrier.line.hangUp(CA, { answered: false }), 'already_ended');
  t.match(asked[6], { method: 'GET' }, 'it is asked, not told again');
  t.equal(
    await carrier.line.hangUp(CA, { answered: false }),
    'ended',
    'answered meanwhile: the carrier refuses to cancel it',
  );
  t.equal(asked[9]!.form.toString(), 'Status=completed');
  await carrier.line.sayAndHangUp(CA, { text: 'Goodbye.', language: 'en' });
});

t.test('hanging up is tried again where that may help', async (t) => {
  const { asked, carrier } = await rig(t, [
    error(20429, 429),
    'reset',
    { status: 200, body: callBody() },
    error(20003, 401),
  ]);
  t.equal(await carrier.line.hangUp(CA, { answered: true }), 'ended');
  t.equal(asked.length, 3);
  t.match(await refusal(carrier.line.hangUp(CA, { answered: true })), { carrierCode: '20003' });
  t.equal(asked.length, 4, 'and not where it cannot');
});

t.test('transfer, key tones and a last line redirect the call', async (t) => {
  const ok = { status: 200, body: callBody() };
  const { asked, carrier } = await rig(t, [ok, ok, ok]);
  const document = (n: number) => xml.parse(asked[n]!.form.get('Twiml')!).Response;
  await carrier.line.transfer(CA, '+15550003333', { callId: CALL, from: '+15550002222' });
  t.match(document(0).Dial, {
    '@callerId': '+15550002222',
    '@answerOnBridge': 'true',
    '@action': `https://calls.example.com/carriers/twilio/calls/${CALL}/transfer-result${HOOK_OVERRIDES}`,
  });
  await carrier.line.sendKeys(CA, '1w2#', { callId: CALL });
  t.equal(document(1).Play['@digits'], '1w2#');
  t.equal(
    document(1).Redirect['#text'],
    `https://calls.example.com/carriers/twilio/calls/${CALL}/answer${HOOK_OVERRIDES}`,
  );
  await t.rejects(carrier.line.sendKeys(CA, '1"/><Dial>', { callId: CALL }));
  await carrier.line.sayAndHangUp(CA, {
    text: 'Sorry, "we" <have> a problem. '.repeat(500),
    language: 'en',
  });
  t.ok(asked[2]!.form.get('Twiml')!.length <= 4000);
  t.equal(asked.length, 3);
});

t.test('what no hook waits for is sent: a stream, and the end of a call that is refused', async (t) => {
  const ok = { status: 200, body: callBody() };
  const { asked, carrier } = await rig(t, [ok, error(21220, 400), ok]);
  const stream = { callId: CALL, url: 'wss://calls.example.com/media/1', token: 'one-time' };
  await carrier.line.connect(CA, stream);
  const hooks = `https://calls.example.com/carriers/twilio/calls/${CALL}`;
  t.match(asked[0], { method: 'POST', path: `${ACCOUNT}/Calls/${CA}.json` });
  t.match(xml.parse(asked[0]!.form.get('Twiml')!).Response.Connect, {
    '@action': `${hooks}/after${HOOK_OVERRIDES}`,
    Stream: { '@url': stream.url, '@statusCallback': `${hooks}/stream${HOOK_OVERRIDES}` },
  });
  await carrier.line.connect(CA, stream);
  t.pass('a call that is gone is none to complain of');
  await carrier.line.reject(CA, 'busy');
  t.equal(asked[2]!.form.toString(), 'Status=completed');
});

t.test('a call as the carrier sees it', async (t) => {
  const { carrier } = await rig(t, [
    {
      status: 200,
      body: callBody({
        status: 'completed',
        duration: '61',
        start_time: 'Tue, 31 Aug 2010 20:36:28 +0000',
        end_time: 'Tue, 31 Aug 2010 20:37:29 +0000',
      }),
    },
    { status: 200, body: callBody({ status: 'in-progress', duration: 5 }) },
    error(20404, 404),
    { status: 200, body: callBody({ status: 'levitating' }) },
  ]);
  t.same(await carrier.line.lookUp(CA), {
    carrierCallId: CA,
    status: 'completed',
    to: '+15550001111',
    from: '+15550002222',
    durationSeconds: 61,
    startedAt: '2010-08-31T20:36:28.000Z',
    endedAt: '2010-08-31T20:37:29.000Z',
  });
  t.match(await carrier.line.lookUp(CA), { status: 'answered', durationSeconds: 5, startedAt: null });
  t.equal(await carrier.line.lookUp(CA), null);
  t.match(await refusal(carrier.line.lookUp(CA)), { code: 'carrier_error' });
});

t.test('calls to a number since a time, queued ones too', async (t) => {
  const at = (sid: string, date_created: string | null) => callBody({ sid, date_created });
  const { asked, carrier } = await rig(t, [
    {
      status: 200,
      body: {
        calls: [
          at('CAqueued', null),
          at('CAsame', 'Tue, 31 Aug 2010 20:36:28 +0000'),
          at('CAold', 'Tue, 31 Aug 2010 20:36:27 +0000'),
        ],
        page: 0,
      },
    },
  ]);
  const found = await carrier.line.find({
    callId: 'c',
    to: '+15550001111',
    from: '+15550002222',
    since: '2010-08-31T20:36:28.900Z',
  });
  t.same(
    found.map((call) => call.carrierCallId),
    ['CAqueued', 'CAsame'],
  );
  t.match(asked[0], { path: `${ACCOUNT}/Calls.json`, query: { To: '+15550001111', From: '+15550002222' } });
});

const forSale = {
  available_phone_numbers: [
    {
      friendly_name: '(808) 925-1571',
      phone_number: '+18089251571',
      locality: 'Hilo',
      region: 'HI',
      iso_country: 'US',
    },
    {
      friendly_name: '(808) 925-1572',
      phone_number: '+18089251572',
      locality: '',
      region: null,
      iso_country: 'US',
    },
  ],
};
const priceList = {
  country: 'United States',
  phone_number_prices: [
    { number_type: 'local', base_price: '1.00', current_price: '1.15' },
    { number_type: 'toll free', base_price: '2.15', current_price: '2.15' },
  ],
  price_unit: 'USD',
};

t.test('numbers for sale, with their price', async (t) => {
  const { asked, carrier } = await rig(t, [
    { status: 200, body: forSale },
    { status: 200, body: priceList },
    { status: 200, body: forSale },
    error(20404, 404),
  ]);
  const found = await carrier.numbers!.search({
    country: 'US',
    type: 'local',
    areaCode: '808',
    contains: '*925*',
    locality: 'Hilo',
    region: 'HI',
    limit: 10,
  });
  t.same(found, [
    {
      e164: '+18089251571',
      friendly_name: '(808) 925-1571',
      country_code: 'US',
      number_type: 'local',
      locality: 'Hilo',
      region: 'HI',
      monthly_cost_cents: 115,
    },
    {
      e164: '+18089251572',
      friendly_name: '(808) 925-1572',
      country_code: 'US',
      number_type: 'local',
      locality: null,
      region: null,
      monthly_cost_cents: 115,
    },
  ]);
  t.match(asked[0], {
    path: `${ACCOUNT}/AvailablePhoneNumbers/US/Local.json`,
    query: {
      AreaCode: '808',
      Contains: '*925*',
      InLocality: 'Hilo',
      InRegion: 'HI',
      PageSize: '10',
      VoiceEnabled: 'true',
    },
  });
  t.equal(asked[1]!.path, '/v1/PhoneNumbers/Countries/US');
  const tollFree = await carrier.numbers!.search({ country: 'US', type: 'toll_free', limit: 1 });
  t.match(asked[2], { path: `${ACCOUNT}/AvailablePhoneNumbers/US/TollFree.json` });
  t.same(
    tollFree.map((one) => one.monthly_cost_cents),
    [215],
    'the price list is asked once, and no more numbers come than asked for',
  );
  t.same(await carrier.numbers!.search({ country: 'ZZ', type: 'mobile', limit: 1 }), [], 'not sold there');
});

const bought = {
  sid: `PN${'3'.repeat(32)}`,
  phone_number: '+18089251571',
  friendly_name: 'Front desk',
  type: 'local',
};
const none = { status: 200, body: { incoming_phone_numbers: [] } };
const one = { status: 200, body: { incoming_phone_numbers: [bought] } };
const prices = { status: 200, body: priceList };
const ownedNumber = {
  carrierNumberId: bought.sid,
  e164: '+18089251571',
  friendlyName: 'Front desk',
  countryCode: 'US',
  numberType: 'local',
  monthlyCostCents: 115,
};

/** As a purchase goes: what is ours already is only pointed at us. */
async function purchase({ numbers }: Carrier, order: NumberOrder) {
  return (await numbers!.adopt(order)) ?? numbers!.buy(order);
}

t.test('what was only asked has changed nothing, whether or not it was answered', async (t) => {
  const { carrier } = await rig(t, ['reset', 'reset', 'reset']);
  const error = await refusal(carrier.numbers!.search({ country: 'US', type: 'local', limit: 10 }));
  t.match(error, { code: 'carrier_error', message: /Nothing was changed/ });
  t.notMatch(error.message, /not known/);
});

t.test('a number is bought and pointed at us, after a look whether it is ours', async (t) => {
  const { asked, carrier } = await rig(t, [prices, none, { status: 201, body: bought }]);
  t.same(await purchase(carrier, { e164: '+18089251571', friendlyName: 'Front desk' }), ownedNumber);
  t.same(
    asked.map(({ method, path }) => `${method} ${path}`),
    [
      'GET /v1/PhoneNumbers/Countries/US',
      `GET ${ACCOUNT}/IncomingPhoneNumbers.json`,
      `POST ${ACCOUNT}/IncomingPhoneNumbers.json`,
    ],
  );
  t.same(asked[1]!.query, { PhoneNumber: '+18089251571' });
  t.same(Object.fromEntries(asked[2]!.form), {
    PhoneNumber: '+18089251571',
    FriendlyName: 'Front desk',
    VoiceUrl: `https://calls.example.com/carriers/twilio/voice${HOOK_OVERRIDES}`,
    VoiceMethod: 'POST',
    StatusCallback: `https://calls.example.com/carriers/twilio/status${HOOK_OVERRIDES}`,
    StatusCallbackMethod: 'POST',
  });
});

t.test('a number that is ours is only pointed at us', async (t) => {
  const { asked, carrier } = await rig(t, [prices, one, { status: 200, body: bought }]);
  t.same(await purchase(carrier, { e164: '+18089251571' }), ownedNumber);
  t.match(asked[2], { method: 'POST', path: `${ACCOUNT}/IncomingPhoneNumbers/${bought.sid}.json` });
  t.equal(asked[2]!.form.has('PhoneNumber'), false);
});

t.test('a lost answer never buys twice', async (t) => {
  const lost = await rig(t, [prices, none, 'reset', one]);
  t.same(
    await purchase(lost.carrier, { e164: '+18089251571', friendlyName: 'Front desk' }),
    ownedNumber,
    'it was bought',
  );
  t.same(lost.asked.filter(({ method }) => method === 'POST').length, 1);
  const never = await rig(t, [prices, none, 'reset', none]);
  t.match(await refusal(purchase(never.carrier, { e164: '+18089251571' })), {
    code: 'carrier_error',
    carrierCode: 'no_answer_from_carrier',
    retryable: true,
  });
  t.same(never.asked.filter(({ method }) => method === 'POST').length, 1);
  const taken = await rig(t, [prices, none, error(21422, 400)]);
  t.match(await refusal(purchase(taken.carrier, { e164: '+18089251571' })), {
    code: 'number_unavailable',
    status: 409,
    param: 'e164',
    carrierCode: '21422',
    retryable: false,
    message: /not for sale/,
  });
  const never2 = await rig(t, [prices, none, error(21421, 400)]);
  t.match(await refusal(purchase(never2.carrier, { e164: '+18089251571' })), {
    code: 'invalid_number',
    status: 400,
    carrierCode: '21421',
  });
});

t.test('nothing is bought when its price cannot be known', async (t) => {
  const { asked, carrier } = await rig(t, [error(20003, 401)]);
  t.match(await refusal(purchase(carrier, { e164: '+18089251571' })), { carrierCode: '20003' });
  t.equal(asked.length, 1);
});

t.test('a price that the carrier does not name is no price, and not 0', async (t) => {
  const noPrices = { status: 200, body: { ...priceList, phone_number_prices: [] } };
  const e164 = '+18089251571';
  const search = { country: 'US', type: 'local', limit: 1 } as const;
  const unsearched = await rig(t, [noPrices]);
  t.match(await refusal(purchase(unsearched.carrier, { e164 })), { code: 'price_unknown', status: 409 });
  t.equal(unsearched.asked.length, 1, 'nothing was bought');

  const searched = await rig(t, [{ status: 200, body: forSale }, error(20404, 404)]);
  t.match(await searched.carrier.numbers!.search(search), [{ monthly_cost_cents: null }]);
  t.match(await refusal(purchase(searched.carrier, { e164 })), {
    code: 'price_unknown',
    message: /local numbers of US.*RATES_FILE/,
  });
  t.equal(searched.asked.length, 2);

  const own = (country: string) => (country === 'US' ? { local: 90 } : {});
  const named = await rig(
    t,
    [{ status: 200, body: forSale }, noPrices, none, { status: 201, body: bought }],
    { numberPrices: own },
  );
  t.match(
    await named.carrier.numbers!.search(search),
    [{ monthly_cost_cents: 90 }],
    'the operator names one',
  );
  t.match(await purchase(named.carrier, { e164 }), { monthlyCostCents: 90 });

  const tollFree = { ...bought, type: 'tollfree' };
  const spelled = await rig(t, [prices, none, { status: 201, body: tollFree }]);
  t.match(
    await purchase(spelled.carrier, { e164 }),
    { numberType: 'toll_free', monthlyCostCents: 215 },
    'a kind has one name, however the carrier spells it',
  );
  const other = await rig(t, [prices, none, { status: 201, body: { ...bought, type: 'mobile' } }]);
  t.match(
    await purchase(other.carrier, { e164 }),
    { numberType: 'mobile', monthlyCostCents: 215 },
    'a kind without a price is found out too late: the highest of the country',
  );
});

t.test('a number is released, also one that is gone', async (t) => {
  const { asked, carrier } = await rig(t, [{ status: 204 }, error(20404, 404)]);
  await carrier.numbers!.release(bought.sid);
  await carrier.numbers!.release(bought.sid);
  t.match(asked[0], { method: 'DELETE', path: `${ACCOUNT}/IncomingPhoneNumbers/${bought.sid}.json` });
});

t.test('prices have their own host at Twilio only', async (t) => {
  t.equal(pricingUrl('https://api.twilio.com'), 'https://pricing.twilio.com');
  t.equal(pricingUrl('https://api.dublin.ie1.twilio.com'), 'https://pricing.twilio.com');
  t.equal(pricingUrl('http://127.0.0.1:9000'), 'http://127.0.0.1:9000');
  t.equal(pricingUrl('https://api.other.example'), 'https://api.other.example');
});
