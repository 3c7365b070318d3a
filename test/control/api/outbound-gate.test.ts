// The outbound gate as POST /v1/calls has it: what is refused, with its code and evidence, and who let something pass.
import t from 'tap';
import { openRig } from '../rig.ts';

const ENV = { OUTBOUND_COUNTRIES: '' };

t.test('a call that the rules refuse is not placed: the code, the reason, the evidence', async (t) => {
  const rig = await openRig(t, { env: ENV });
  const agent = await rig.agent();
  const call = (to: string, more: object = {}) =>
    rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to, ...more } });
  for (const [to, code, evidence] of [
    ['+19005551234', 'destination_closed', { kind: 'premium', country: 'US', codes: ['destination_closed'] }],
    ['+442079460123', 'destination_not_allowed', { country: 'GB', countries: ['US'] }],
    [
      '+870773111632',
      'destination_closed',
      { kind: 'satellite', codes: ['destination_closed', 'destination_not_allowed'] },
    ],
  ] as const) {
    const { status, body } = await call(to);
    t.equal(status, 403);
    t.match(body.error, { code, param: 'to', message: /\S/, evidence });
  }
  await rig.store.addDoNotCall(rig.orgId, [{ number: '+14155550123', source: 'said' }]);
  t.match((await call('+14155550123')).body.error, { code: 'do_not_call', evidence: { source: 'said' } });
  t.strictSame((await rig.api('GET', '/v1/calls')).body, []);
  t.match(await rig.store.listRefusedCalls(rig.orgId, {}, { limit: 9 }), [
    { code: 'do_not_call', agent_id: agent.id, asked_by: { kind: 'key' } },
    {},
    {},
    { code: 'destination_closed' },
  ]);
  const placed = await call('+14155550124');
  t.equal(placed.status, 201);
  t.match(placed.body.gate, {
    country: 'US',
    kind: 'fixed_line_or_mobile',
    zones: ['America/Los_Angeles'],
    overridden: null,
  });
});

t.test('limits and hours are told with the time after which to ask again', async (t) => {
  const rig = await openRig(t, { env: ENV });
  const agent = await rig.agent({ consent: 'required' });
  t.equal((await rig.api('GET', `/v1/agents/${agent.id}`)).body.consent, 'required');
  const call = (to: string) => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to } });
  t.match(await call('+14155550123'), { status: 403, body: { error: { code: 'consent_missing' } } });
  t.equal(
    (await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { consent: 'none' } })).body.consent,
    'none',
  );
  const by = { kind: 'key' as const, id: 'k', name: 'Test' };
  const rules = (set: Parameters<typeof rig.store.setOutboundRules>[1]['set']) =>
    rig.store.setOutboundRules(rig.orgId, { set, unset: [] }, by);
  await rules({ calling_hours: { from: '08:00', to: '21:00', days: ['mon', 'sun'] } });
  const early = await call('+14155550123');
  t.match(early, {
    status: 403,
    body: { error: { code: 'outside_calling_hours', evidence: { opens_at: '2026-03-01T16:00:00.000Z' } } },
  });
  t.equal(early.headers.get('retry-after'), String(4 * 3600));
  await rules({ calling_hours: null, calls_per_destination_per_day: 1, calls_per_minute: 2 });
  t.equal((await call('+14155550123')).status, 201);
  t.match(await call('+14155550123'), { status: 429, body: { error: { code: 'too_many_to_destination' } } });
  t.equal((await call('+14155550124')).status, 201);
  t.match(await call('+14155550125'), {
    status: 429,
    body: { error: { code: 'calls_per_minute', evidence: { limit: 2 } } },
  });
  await rules({ calls_per_minute: null, spend_per_day_milli_cents: 0 });
  t.match(await call('+14155550125'), { status: 402, body: { error: { code: 'daily_spend_reached' } } });
});

t.test('an override names every code, and who it was is kept with the call', async (t) => {
  const rig = await openRig(t, { env: ENV });
  await rig.number('+14155550199');
  const call = (override?: unknown) =>
    rig.api('POST', '/v1/calls', { body: { instructions: 'Say hello.', to: '+19005551234', override } });
  await rig.store.addDoNotCall(rig.orgId, [{ number: '+19005551234', source: 'api' }]);
  const reason = 'our own service line';
  t.match((await call({ codes: ['destination_closed'], reason })).body.error, {
    code: 'do_not_call',
    evidence: { codes: ['destination_closed', 'do_not_call'] },
  });
  const { status, body } = await call({ codes: ['do_not_call', 'destination_closed'], reason });
  t.equal(status, 201);
  t.match(body.gate.overridden, {
    by: { kind: 'key', name: String },
    codes: ['destination_closed', 'do_not_call'],
    reason,
  });
  t.ok(
    rig.lines.some(({ message, fields }) => message === 'call.gate_overridden' && fields.call_id === body.id),
  );
  for (const bad of [
    {},
    { codes: [], reason },
    { codes: ['insufficient_credit'], reason },
    { codes: ['do_not_call'], reason: ' ' },
    true,
  ]) {
    t.equal((await call(bad)).status, 400);
  }
});

t.test('an agent is not saved with a number to hand over to that may not be called', async (t) => {
  const rig = await openRig(t);
  const tools = (number: string) => [
    {
      type: 'transfer_call',
      targets: [
        { name: 'desk', number: '+14155550100' },
        { name: 'x', number },
      ],
    },
  ];
  const make = (number: string) =>
    rig.api('POST', '/v1/agents', { body: { name: 'A', type: 'inbound', tools: tools(number) } });
  t.match((await make('+19005551234')).body.error, {
    code: 'destination_closed',
    param: 'tools[0].targets[1].number',
    evidence: { kind: 'premium' },
  });
  const made = await make('+442079460123');
  t.equal(made.status, 201, 'without a number of its own nobody knows its countries');
  await rig.number('+14155550199');
  t.match(await make('+442079460123'), { status: 403, body: { error: { code: 'destination_not_allowed' } } });
  const change = (number: string) =>
    rig.api('PATCH', `/v1/agents/${made.body.id}`, { body: { tools: tools(number) } });
  t.match(await change('+870773111632'), { status: 403, body: { error: { code: 'destination_closed' } } });
  t.equal((await change('+12125550123')).status, 200);
});
