// Numbers over HTTP: search, purchase, list, release.
import t from 'tap';
import { ORDER_PENDING } from '../../../bridge/carriers/carrier.ts';
import { AppError } from '../../../errors.ts';
import { openRig } from '../rig.ts';

t.test('a search hands its filters to the carrier and shows what it found', async (t) => {
  const rig = await openRig(t);
  const one = {
    e164: '+14155550100',
    friendly_name: '(415) 555-0100',
    country_code: 'US',
    number_type: 'local',
    locality: 'San Francisco',
    region: 'CA',
    monthly_cost_cents: 115,
  };
  rig.behaviour.search = async () => [{ ...one, ...{ internal: 'x' } }];
  const { status, body } = await rig.api('GET', '/v1/numbers/available');
  t.equal(status, 200);
  t.same(body, { data: [one] });
  t.match(rig.searches[0], { country: 'US', type: 'local', limit: 50 });
  await rig.api(
    'GET',
    '/v1/numbers/available?country=gb&type=toll_free&area_code=800&contains=CALL*&locality=London&region=LND&limit=3',
  );
  t.same(rig.searches[1], {
    country: 'GB',
    type: 'toll_free',
    areaCode: '800',
    contains: 'CALL*',
    locality: 'London',
    region: 'LND',
    limit: 3,
  });
  for (const [query, param] of [
    ['country=USA', 'country'],
    ['type=premium', 'type'],
    ['area_code=4a5', 'area_code'],
    ['contains=%27%3B--', 'contains'],
    ['limit=1000', 'limit'],
    ['starting_after=x', 'starting_after'],
    ['city=London', 'city'],
  ] as const) {
    const answer = await rig.api('GET', `/v1/numbers/available?${query}`);
    t.same([answer.status, answer.body.error?.param], [400, param], query);
  }
  rig.behaviour.search = async () => {
    throw new AppError('carrier_error', 'The carrier does not know this country.', { carrierCode: '20404' });
  };
  const refused = await rig.api('GET', '/v1/numbers/available');
  t.same([refused.status, refused.body.error.carrier_code], [502, '20404']);
});

t.test('a bought number is active, attached to nothing, and listed', async (t) => {
  const rig = await openRig(t);
  const { status, body } = await rig.api('POST', '/v1/numbers/purchase', {
    body: { e164: '+14155550100', friendly_name: 'Front desk' },
  });
  t.equal(status, 201);
  const { id, ...rest } = body;
  t.match(id, /^[0-9a-f-]{36}$/);
  t.same(rest, {
    e164: '+14155550100',
    friendly_name: 'Front desk',
    country_code: 'US',
    number_type: 'local',
    status: 'active',
    monthly_cost_cents: 115,
    purchased_at: '2026-03-01T12:00:00.000Z',
    carrier: 'twilio',
    inbound_agent_id: null,
    outbound_agent_ids: [],
  });
  t.same((await rig.api('GET', '/v1/numbers')).body, { data: [body] });
  t.equal((await rig.store.getNumber(rig.orgId, id))?.carrier_number_id, 'PN+14155550100');

  const again = await rig.api('POST', '/v1/numbers/purchase', { body: { e164: '+14155550100' } });
  t.same([again.status, again.body.error.code], [409, 'conflict']);
  t.match(again.body.error.message, id, 'says which it is');
  const others = await rig.api('POST', '/v1/numbers/purchase', {
    key: rig.other.key,
    body: { e164: '+14155550100' },
  });
  t.equal(
    others.status,
    409,
    "another organization's number is not for sale, though the carrier has it as ours",
  );
  t.notMatch(others.text, id, 'and whose it is stays unsaid');
  t.equal(rig.bought.length, 1);

  for (const [given, code, param] of [
    [{}, 'missing_parameter', 'e164'],
    [{ e164: '4155550100' }, 'invalid_number', 'e164'],
    [{ e164: '+14155550101', friendly_name: '' }, 'invalid_request', 'friendly_name'],
    [{ e164: '+14155550101', country: 'US' }, 'unknown_parameter', 'country'],
  ] as const) {
    const answer = await rig.api('POST', '/v1/numbers/purchase', { body: given });
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param]);
  }
});

t.test('an order that is pending at the carrier is asked for again, and is one number then', async (t) => {
  const rig = await openRig(t);
  const { buy } = rig.behaviour;
  rig.behaviour.buy = async () => {
    throw new AppError('carrier_error', 'The order stands, and is not done yet.', {
      carrierCode: ORDER_PENDING,
      retryable: true,
    });
  };
  const purchase = () =>
    rig.api('POST', '/v1/numbers/purchase', {
      body: { e164: '+14155550100' },
      headers: { 'idempotency-key': 'order-1' },
    });
  const pending = await purchase();
  t.match(pending, { status: 502, body: { error: { code: 'carrier_error', carrier_code: ORDER_PENDING } } });
  t.same((await rig.api('GET', '/v1/numbers')).body, { data: [] });
  rig.behaviour.buy = buy;
  t.match(await purchase(), { status: 201, body: { e164: '+14155550100', status: 'active' } });
  t.equal((await rig.api('GET', '/v1/numbers')).body.data.length, 1);
});

t.test('what cannot be bought is refused by what is true of it', async (t) => {
  const rig = await openRig(t);
  const buy = (o: { key?: string } = {}) =>
    rig.api('POST', '/v1/numbers/purchase', { ...o, body: { e164: '+14155550100' } });
  for (const [code, status] of [
    ['number_unavailable', 409],
    ['price_unknown', 409],
    ['carrier_error', 502],
  ] as const) {
    rig.behaviour.buy = async () => {
      throw new AppError(code, 'No.', { param: 'e164' });
    };
    const answer = await buy();
    t.same([answer.status, answer.body.error.code], [status, code]);
  }
  t.same((await rig.api('GET', '/v1/numbers')).body, { data: [] });
  await rig.number('+14155550100', rig.other.orgId);
  const others = await buy();
  t.same(
    [others.status, others.body.error.code, others.body.error.param],
    [409, 'number_unavailable', 'e164'],
    "another organization's looks like one that a stranger has",
  );
  rig.behaviour.search = async () => [
    {
      e164: '+14155550101',
      friendly_name: 'x',
      country_code: 'US',
      number_type: 'mobile',
      locality: null,
      region: null,
      monthly_cost_cents: null,
    },
  ];
  t.equal((await rig.api('GET', '/v1/numbers/available')).body.data[0].monthly_cost_cents, null);
});

t.test('two purchases of one number at once leave one number', async (t) => {
  const rig = await openRig(t);
  const send = (key: string) =>
    rig.api('POST', '/v1/numbers/purchase', { key, body: { e164: '+14155550100' } });
  const both = await Promise.all([send(rig.key), send(rig.other.key)]);
  t.same(both.map((answer) => answer.status).sort(), [201, 409]);
});

t.test('a number is released once nothing uses it', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const used = await rig.api('DELETE', `/v1/numbers/${agent.number_id}`);
  t.same([used.status, used.body.error.code], [409, 'number_attached']);
  t.equal(rig.released.length, 0);
  await rig.api('DELETE', `/v1/agents/${agent.id}/numbers/${agent.number_id}`);

  rig.behaviour.release = async () => {
    throw new AppError('carrier_error', 'No answer from the carrier.');
  };
  t.equal((await rig.api('DELETE', `/v1/numbers/${agent.number_id}`)).status, 502);
  rig.behaviour.release = async () => {};
  const released = await rig.api('DELETE', `/v1/numbers/${agent.number_id}`);
  t.same([released.status, released.body.id, released.body.status], [200, agent.number_id, 'released']);
  t.equal(rig.released.length, 2, 'a repeat after a failure asks the carrier again');

  const attach = await rig.api('POST', `/v1/agents/${agent.id}/numbers`, {
    body: { number_id: agent.number_id },
  });
  t.same([attach.status, attach.body.error.code], [400, 'number_not_found']);

  await rig.number(agent.e164, rig.other.orgId);
  t.equal((await rig.api('DELETE', `/v1/numbers/${agent.number_id}`)).status, 200);
  t.equal(rig.released.length, 2, 'a number that somebody has again is left alone');
});

t.test('with several carriers, each sells its own numbers and calls go out by theirs', async (t) => {
  const rig = await openRig(t);
  t.equal((await rig.api('GET', '/v1/numbers/available?carrier=other&limit=2')).status, 200);
  t.equal(rig.searches.at(-1)?.limit, 2);
  const buy = (e164: string, carrier?: string) =>
    rig.api('POST', '/v1/numbers/purchase', {
      body: { e164, ...(carrier === undefined ? {} : { carrier }) },
    });
  const first = (await buy('+14155550101')).body;
  const second = (await buy('+14155550102', 'other')).body;
  t.same([first.carrier, second.carrier], ['twilio', 'other']);
  t.same(rig.bought, ['+14155550101'], 'nothing of it was bought at the first');

  const agent = await rig.api('POST', '/v1/agents', {
    body: { name: 'Caller', type: 'outbound', number_ids: [first.id, second.id] },
  });
  for (const from of [first, second]) {
    const call = { agent_id: agent.body.id, to: '+14155550199', from_number: from.e164 };
    t.equal((await rig.api('POST', '/v1/calls', { body: call })).status, 201);
    t.match(rig.dispatched.at(-1), { from_number: from.e164, carrier: from.carrier });
  }

  for (const [carrier, code] of [
    ['browser', 'invalid_request'],
    ['nobody', 'invalid_request'],
    ['No Name', 'invalid_request'],
  ] as const) {
    const refused = await buy('+14155550103', carrier);
    t.same([refused.status, refused.body.error.code, refused.body.error.param], [400, code, 'carrier']);
    const unsearched = await rig.api('GET', `/v1/numbers/available?carrier=${encodeURIComponent(carrier)}`);
    t.same([unsearched.status, unsearched.body.error.param], [400, 'carrier']);
  }

  await rig.api('DELETE', `/v1/agents/${agent.body.id}`);
  t.equal((await rig.api('DELETE', `/v1/numbers/${second.id}`)).status, 200);
  t.same(rig.released, ['other PN+14155550102'], 'it is given back where it was bought');
});
