// The carrier's own SDK is the oracle: what it sends is understood, what it reads is what it expects.
import t, { type Test } from 'tap';
import twilio from 'twilio';
import type { SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import { type CarrierSimulator, startCarrierSimulator } from '../../scripts/carrier-simulator/simulator.ts';

const FROM = '+14155550100';
const TO = '+14155550101';
const HANG_UP = '<Response><Hangup/></Response>';

async function bench(test: Test, options: SimulatorOptions = {}) {
  const carrier = await startCarrierSimulator({
    numbers: [FROM],
    defaultCallee: { ringMs: 60_000 },
    network: { postDialDelayMs: 0 },
    ...options,
  });
  test.teardown(() => carrier.close());
  const client = twilio(carrier.accountSid, carrier.authToken, { autoRetry: false });
  client.api.baseUrl = carrier.url;
  client.pricing.baseUrl = `${carrier.url}/pricing`;
  return { carrier, client };
}

/** The error the SDK raises. */
async function refusal(
  promise: Promise<unknown>,
): Promise<{ status: number; code: number; moreInfo: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { status: number; code: number; moreInfo: string };
  }
  throw new Error('it was accepted');
}

async function until(carrier: CarrierSimulator, sid: string, status: string): Promise<void> {
  await carrier.waitFor(
    (event) => event.type === 'call.status' && event.callSid === sid && event.status === status,
  );
}

t.test('a call is created queued, fetched while it rings, and canceled', async (t) => {
  const { carrier, client } = await bench(t);
  const created = await client.calls.create({ to: TO, from: FROM, twiml: HANG_UP });
  t.match(created.sid, /^CA[0-9a-f]{32}$/);
  t.equal(created.status, 'queued');
  t.equal(created.direction, 'outbound-api');
  t.equal(created.toFormatted, '(415) 555-0101');
  t.equal(created.price, null);
  await until(carrier, created.sid, 'ringing');
  const ringing = await client.calls(created.sid).fetch();
  t.equal(ringing.status, 'ringing');
  t.ok(
    ringing.startTime instanceof Date && !Number.isNaN(ringing.startTime.getTime()),
    'RFC 2822 dates are read',
  );
  const canceled = await client.calls(created.sid).update({ status: 'canceled' });
  t.equal(canceled.status, 'canceled');
  t.equal(canceled.duration, '0');
  t.match(await refusal(client.calls(created.sid).update({ status: 'completed' })), {
    status: 400,
    code: 21220,
  });
});

t.test('the Call resource on the wire holds text and null only', async (t) => {
  const { carrier } = await bench(t);
  const authorization = `Basic ${btoa(`${carrier.accountSid}:${carrier.authToken}`)}`;
  const response = await fetch(`${carrier.url}/2010-04-01/Accounts/${carrier.accountSid}/Calls.json`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ To: TO, From: FROM, Twiml: HANG_UP }),
  });
  t.equal(response.status, 201);
  const { subresource_uris: subresources, ...scalars } = (await response.json()) as Record<string, unknown>;
  for (const [name, value] of Object.entries(scalars))
    t.ok(value === null || typeof value === 'string', name);
  t.match(scalars.date_created, /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000$/);
  t.match(subresources, { user_defined_messages: /\/UserDefinedMessages\.json$/ });
});

t.test('what the carrier refuses, by its code', async (t) => {
  const { carrier, client } = await bench(t, {
    geoBlockedPrefixes: ['+7'],
    blockedPrefixes: ['+1900'],
  });
  const good = { to: TO, from: FROM, twiml: HANG_UP };
  const cases: [string, Parameters<typeof client.calls.create>[0], number][] = [
    ['To is no number', { ...good, to: '12' }, 21211],
    ['From is no number', { ...good, from: 'nobody' }, 21212],
    ['From is not ours', { ...good, from: '+14155559999' }, 21210],
    ['neither Url nor Twiml', { to: TO, from: FROM, twiml: '' }, 21205],
    ['Url is no address', { to: TO, from: FROM, url: 'nowhere' }, 21205],
    ['Timeout out of range', { ...good, timeout: 601 }, 21208],
    ['unknown event', { ...good, statusCallback: 'https://a.test', statusCallbackEvent: ['hung'] }, 21626],
    ['underscore in a callback host', { ...good, statusCallback: 'https://a_b.test/' }, 21609],
    ['country not enabled', { ...good, to: '+74951234567' }, 21215],
    ['blocked number', { ...good, to: '+19005551234' }, 21216],
    ['Twiml too long', { ...good, twiml: `<Response>${' '.repeat(4000)}</Response>` }, 20001],
  ];
  for (const [name, form, code] of cases) {
    t.match(await refusal(client.calls.create(form)), { code, status: 400 }, name);
  }
  const unknown = await refusal(client.calls('CA00000000000000000000000000000000').fetch());
  t.match(unknown, { status: 404, code: 20404, moreInfo: 'https://www.twilio.com/docs/errors/20404' });
  const stranger = twilio(carrier.accountSid, 'wrong');
  stranger.api.baseUrl = carrier.url;
  t.match(await refusal(stranger.calls.create(good)), { status: 401, code: 20003 });
  t.equal(carrier.calls().length, 0, 'none of them became a call');
});

t.test('a trial account calls verified numbers only', async (t) => {
  const { client } = await bench(t, { trial: true, verifiedNumbers: [TO] });
  await client.calls.create({ to: TO, from: FROM, twiml: HANG_UP });
  t.match(await refusal(client.calls.create({ to: '+14155550199', from: FROM, twiml: HANG_UP })), {
    code: 21219,
  });
});

t.test('lists are newest first, filtered, and read page by page', async (t) => {
  const { carrier, client } = await bench(t);
  const sids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { sid } = await client.calls.create({ to: `+1415555020${i}`, from: FROM, twiml: HANG_UP });
    sids.unshift(sid);
    await until(carrier, sid, 'ringing');
  }
  t.same(
    (await client.calls.list({ pageSize: 2, limit: 10 })).map((call) => call.sid),
    sids,
  );
  t.same(
    (await client.calls.list({ to: '+14155550202' })).map((call) => call.sid),
    [sids[2]],
  );
  t.same(await client.calls.list({ status: 'completed' }), []);
  const minute = 60_000;
  t.equal((await client.calls.list({ startTimeAfter: new Date(Date.now() - minute) })).length, 5);
  t.equal((await client.calls.list({ startTimeAfter: new Date(Date.now() + minute) })).length, 0);
  t.equal((await client.calls.list({ startTimeBefore: new Date(Date.now() - minute) })).length, 0);
});

t.test('one call a second: the rest waits in the queue and says how long', async (t) => {
  const { client } = await bench(t, { callsPerSecond: 1 });
  const waits: number[] = [];
  for (let i = 0; i < 3; i++) {
    const call = await client.calls.create({ to: TO, from: FROM, twiml: HANG_UP });
    waits.push(Number(call.queueTime));
    t.equal(call.status, 'queued');
  }
  t.equal(waits[0], 0);
  t.ok(waits[1]! > 0 && waits[1]! <= 1000);
  t.ok(waits[2]! > waits[1]! && waits[2]! <= 2000);
});

t.test('numbers: search, buy, find, change, release', async (t) => {
  const { client } = await bench(t);
  const found = await client.availablePhoneNumbers('US').local.list({ areaCode: 415, limit: 5 });
  t.equal(found.length, 5);
  for (const number of found) {
    t.match(number.phoneNumber, /^\+1415[2-9]\d{6}$/);
    t.match(number, {
      locality: 'San Francisco',
      region: 'CA',
      isoCountry: 'US',
      addressRequirements: 'none',
    });
    t.equal(number.capabilities.voice, true);
  }
  const wanted = await client.availablePhoneNumbers('US').local.list({ contains: '***555CALL', limit: 3 });
  t.ok(wanted.length > 0 && wanted.every((number) => number.phoneNumber.endsWith('5552255')));
  const tollFree = await client.availablePhoneNumbers('US').tollFree.list({ limit: 2 });
  t.ok(tollFree.every((number) => /^\+18(33|44|55)/.test(number.phoneNumber)));

  const { phoneNumber } = found[0]!;
  const bought = await client.incomingPhoneNumbers.create({
    phoneNumber,
    friendlyName: 'Front desk',
    voiceUrl: 'https://app.test/voice',
    statusCallback: 'https://app.test/status',
  });
  t.match(bought.sid, /^PN[0-9a-f]{32}$/);
  t.match(bought, {
    phoneNumber,
    friendlyName: 'Front desk',
    voiceUrl: 'https://app.test/voice',
    voiceMethod: 'POST',
  });
  t.match(await refusal(client.incomingPhoneNumbers.create({ phoneNumber })), { status: 400, code: 21422 });
  t.same(
    (await client.incomingPhoneNumbers.list({ phoneNumber })).map((number) => number.sid),
    [bought.sid],
  );
  const changed = await client.incomingPhoneNumbers(bought.sid).update({ voiceUrl: 'https://other.test/' });
  t.match(changed, { voiceUrl: 'https://other.test/', friendlyName: 'Front desk' });
  t.match(await refusal(client.incomingPhoneNumbers(bought.sid).update({ voiceUrl: 'nowhere' })), {
    code: 21402,
  });
  t.equal(await client.incomingPhoneNumbers(bought.sid).remove(), true);
  t.match(await refusal(client.incomingPhoneNumbers(bought.sid).fetch()), { status: 404, code: 20404 });
});

t.test('numbers: what cannot be sold', async (t) => {
  const { carrier, client } = await bench(t, { takenNumbers: ['+14155557777'] });
  t.match(await refusal(client.availablePhoneNumbers('ZZ').local.list()), { status: 404, code: 20404 });
  t.match(await refusal(client.availablePhoneNumbers('US').mobile.list()), { status: 404, code: 20404 });
  t.match(await refusal(client.incomingPhoneNumbers.create({ phoneNumber: '+14155557777' })), {
    code: 21422,
  });
  t.match(await refusal(client.incomingPhoneNumbers.create({ phoneNumber: '415' })), { code: 21421 });
  t.match(await refusal(client.incomingPhoneNumbers.create({ areaCode: '999' })), { code: 21452 });
  carrier.addFault({ do: 'number_taken' });
  t.match(await refusal(client.incomingPhoneNumbers.create({ phoneNumber: '+14155551234' })), {
    code: 21422,
  });
  t.match(await client.incomingPhoneNumbers.create({ phoneNumber: '+14155551234' }), { status: 'in-use' });
});

t.test('prices by country and type', async (t) => {
  const { client } = await bench(t);
  const prices = await client.pricing.v1.phoneNumbers.countries('US').fetch();
  t.equal(prices.priceUnit, 'USD');
  t.match(prices.phoneNumberPrices, [
    { numberType: 'local', basePrice: '1.15', currentPrice: '1.15' },
    { numberType: 'toll free', currentPrice: '2.15' },
  ]);
  t.match(await refusal(client.pricing.v1.phoneNumbers.countries('ZZ').fetch()), { status: 404 });
});

t.test('injected faults: 429, 503, and an answer lost after the work was done', async (t) => {
  const { carrier, client } = await bench(t);
  const good = { to: TO, from: FROM, twiml: HANG_UP };
  carrier.addFault({ do: 'status', status: 429 });
  t.match(await refusal(client.calls.create(good)), { status: 429, code: 20429 });
  carrier.addFault({ do: 'status', status: 503 });
  t.match(await refusal(client.calls.create(good)), { status: 503, code: 20503 });
  t.equal(carrier.calls().length, 0);
  carrier.addFault({ do: 'lose_response', method: 'POST', path: '/Calls.json' });
  t.match(await refusal(client.calls.create(good)), { code: 'ECONNRESET' });
  t.equal(carrier.calls().length, 1, 'the call exists all the same');
  t.equal((await client.calls.list({ to: TO })).length, 1);
});

t.test('a retrying client comes through a 429', async (t) => {
  const { carrier } = await bench(t);
  const client = twilio(carrier.accountSid, carrier.authToken, { autoRetry: true, maxRetryDelay: 50 });
  client.api.baseUrl = carrier.url;
  carrier.addFault({ do: 'status', status: 429, times: 2 });
  const call = await client.calls.create({ to: TO, from: FROM, twiml: HANG_UP });
  t.equal(call.status, 'queued');
});
