// The routes of outbound rules, the do-not-call list, consents and refused calls, over HTTP.
import t from 'tap';
import { readDoNotCallFile } from '../../../control/api/do-not-call-file.ts';
import { EVERYTHING } from '../../../control/http/actor.ts';
import { openRig } from '../rig.ts';

t.test('the rules: read, changed, given up again; and who changed them', async (t) => {
  const rig = await openRig(t);
  await rig.number('+14155550199');
  const before = (await rig.api('GET', '/v1/outbound_rules')).body;
  t.match(before, {
    countries: [],
    number_countries: ['US'],
    closed_kinds: ['premium', 'shared_cost', 'satellite', 'personal', 'pager', 'uan', 'voicemail'],
    consent: 'none',
    own: [],
    updated_at: null,
    updated_by: null,
  });
  const change = (body: unknown) => rig.api('PATCH', '/v1/outbound_rules', { body });
  const changed = await change({
    countries: ['GB'],
    calls_per_minute: 5,
    calling_hours: { from: '09:00', to: '24:00', days: ['mon'] },
  });
  t.equal(changed.status, 200);
  t.match(changed.body, {
    countries: ['GB'],
    calls_per_minute: 5,
    calling_hours: { from: '09:00', to: '24:00' },
    own: ['countries', 'calls_per_minute', 'calling_hours'],
    updated_by: { kind: 'key' },
    updated_at: rig.now().toISOString(),
  });
  const reset = await change({ calling_hours: null, reset: ['countries'] });
  t.match(reset.body, { countries: [], calling_hours: null, own: ['calls_per_minute', 'calling_hours'] });
  t.strictSame((await rig.api('GET', '/v1/outbound_rules')).body, reset.body);
  t.same((await rig.api('GET', '/v1/outbound_rules', { key: rig.other.key })).body.own, [], 'nobody else’s');
  for (const bad of [
    { countries: ['USA'] },
    { countries: ['us'] },
    { allowed_prefixes: ['44'] },
    { closed_kinds: ['landline'] },
    { calls_per_minute: -1 },
    { calls_per_minute: 1.5 },
    { calling_hours: { from: '21:00', to: '08:00', days: ['mon'] } },
    { calling_hours: { from: '8:00', to: '21:00', days: ['mon'] } },
    { calling_hours: { from: '08:00', to: '21:00', days: [] } },
    { consent: 'maybe' },
    { reset: ['everything'] },
    { unknown: 1 },
  ]) {
    t.equal((await change(bad)).status, 400, JSON.stringify(bad));
  }
  t.ok(EVERYTHING.has('admin'));
});

t.test('a number is tried without calling it', async (t) => {
  const rig = await openRig(t);
  await rig.number('+14155550199');
  const check = async (body: unknown) => (await rig.api('POST', '/v1/outbound_check', { body })).body;
  t.match(await check({ to: '+12125550123' }), {
    to: '+12125550123',
    allowed: true,
    country: 'US',
    kind: 'fixed_line_or_mobile',
    zones: ['America/New_York'],
    local_times: [{ zone: 'America/New_York', time: '2026-03-01T07:00' }],
    refusals: [],
  });
  await rig.api('PATCH', '/v1/outbound_rules', {
    body: { closed_kinds: [], calling_hours: { from: '08:00', to: '21:00', days: ['sun', 'mon'] } },
  });
  t.match(await check({ to: '+442079460123' }), {
    allowed: false,
    country: 'GB',
    refusals: [{ code: 'destination_not_allowed' }],
  });
  t.match(await check({ to: '+442079460123', from_number: '+442079460000' }), { allowed: true });
  t.match(await check({ to: '+12125550123' }), {
    allowed: false,
    refusals: [
      {
        code: 'outside_calling_hours',
        evidence: { opens_at: '2026-03-01T13:00:00.000Z' },
        retry_after_seconds: 3600,
      },
    ],
  });
  const agent = await rig.agent({ consent: 'required' });
  t.match(await check({ to: '+12125550123', agent_id: agent.id }), {
    refusals: [{ code: 'consent_missing' }, {}],
  });
  t.equal(
    (await rig.api('POST', '/v1/outbound_check', { body: { to: '12' } })).body.error.code,
    'invalid_number',
  );
  t.strictSame((await rig.api('GET', '/v1/refused_calls')).body, { data: [] });
});

t.test('the do-not-call list: given, read from a file, looked up, taken off', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const call = (to: string) => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to } });
  const added = await rig.api('POST', '/v1/do_not_call', {
    body: { numbers: ['+14155550123', '+14155550124', '+14155550123'], reason: 'asked in a letter' },
  });
  t.equal(added.status, 201);
  t.match(added.body.data, [
    {
      number: '+14155550123',
      last4: '0123',
      source: 'api',
      reason: 'asked in a letter',
      created_by: { kind: 'key' },
    },
    { number: '+14155550124' },
  ]);
  t.equal(added.body.data.length, 2);
  t.match((await call('+14155550123')).body.error, { code: 'do_not_call' });
  const again = await rig.api('POST', '/v1/do_not_call', { body: { numbers: ['+14155550123'] } });
  t.match(
    again.body.data,
    [{ id: added.body.data[0].id, reason: 'asked in a letter' }],
    'it stays as it was',
  );

  const csv = 'name;phone\nAnn;+1 (415) 555-0125\nBob;0044 20 7946 0123\nCid;555 0126\n;+14155550125\n';
  const file = await rig.api('POST', '/v1/do_not_call/import', {
    raw: csv,
    headers: { 'content-type': 'text/csv' },
  });
  t.same(file.body, { lines: 4, listed: 2, refused: [{ line: 4, text: '555 0126' }] });
  t.match((await call('+14155550125')).body.error, { code: 'do_not_call', evidence: { source: 'csv' } });
  t.equal((await rig.api('POST', '/v1/do_not_call/import', { body: {} })).status, 415);
  t.equal(
    (
      await rig.api('POST', '/v1/do_not_call/import', {
        raw: 'a"b\n"',
        headers: { 'content-type': 'text/csv' },
      })
    ).status,
    400,
  );

  t.equal((await rig.api('GET', '/v1/do_not_call')).body.data.length, 4);
  t.equal((await rig.api('GET', '/v1/do_not_call?limit=1')).body.data.length, 1);
  const found = await rig.api('GET', '/v1/do_not_call?number=%2B14155550124');
  t.match(found.body.data, [{ id: added.body.data[1].id }]);
  t.equal((await rig.api('DELETE', `/v1/do_not_call/${found.body.data[0].id}`)).status, 204);
  t.equal((await rig.api('DELETE', `/v1/do_not_call/${found.body.data[0].id}`)).status, 404);
  t.equal((await call('+14155550124')).status, 201);
  for (const bad of [{ numbers: [] }, { numbers: ['555'] }, { number: '+14155550123' }, {}]) {
    t.equal((await rig.api('POST', '/v1/do_not_call', { body: bad })).status, 400);
  }
});

t.test('consents: entered, listed, revoked', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ consent: 'required' });
  const call = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  const given = {
    numbers: ['+14155550123'],
    purpose: 'reminders',
    source: 'web form',
    given_at: '2026-02-01T11:00:00+01:00',
  };
  const entered = await rig.api('POST', '/v1/consents', { body: { ...given, evidence: { form: 7 } } });
  t.equal(entered.status, 201);
  t.match(entered.body.data, [
    {
      number: '+14155550123',
      given_at: '2026-02-01T10:00:00.000Z',
      evidence: { form: 7 },
      revoked_at: null,
      created_by: { kind: 'key' },
    },
  ]);
  const [consent] = entered.body.data;
  t.equal((await call()).body.gate.consent_id, consent.id);
  t.strictSame((await rig.api('GET', '/v1/consents?number=%2B14155550123')).body.data, [consent]);
  t.match((await rig.api('DELETE', `/v1/consents/${consent.id}`)).body, {
    id: consent.id,
    revoked_at: rig.now().toISOString(),
  });
  t.match((await call()).body.error, { code: 'consent_missing', evidence: { asked_by: 'agent' } });
  t.match(
    (await rig.api('GET', '/v1/consents')).body.data,
    [{ id: consent.id, revoked_at: String }],
    'it stays on the list',
  );
  for (const bad of [
    { ...given, given_at: '2027-01-01T00:00:00Z' },
    { ...given, purpose: ' ' },
    { ...given, numbers: [] },
    { ...given, given_at: 'today' },
  ]) {
    t.equal((await rig.api('POST', '/v1/consents', { body: bad })).status, 400);
  }
});

t.test('what was refused can be read, by its code', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  for (const to of ['+19005551234', '+442079460123'])
    await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to } });
  const list = async (query = '') => (await rig.api('GET', `/v1/refused_calls${query}`)).body.data;
  const all = await list();
  t.match(all, [
    {
      to_number: '+442079460123',
      code: 'destination_not_allowed',
      agent_id: agent.id,
      from_number: agent.e164,
      asked_by: { kind: 'key' },
    },
    {
      to_number: '+19005551234',
      code: 'destination_closed',
      evidence: { kind: 'premium' },
      codes: ['destination_closed'],
    },
  ]);
  t.strictSame(await list('?code=destination_closed'), [all[1]]);
  t.strictSame(await list(`?limit=1&starting_after=${all[0].id}`), [all[1]]);
  t.equal((await rig.api('GET', '/v1/refused_calls?code=nothing')).status, 400);
  t.same((await rig.api('GET', '/v1/refused_calls', { key: rig.other.key })).body.data, []);
});

t.test('a file of numbers is read with and without the names of columns', (t) => {
  t.same(readDoNotCallFile('+14155550123\n+14155550124,x\n\nnobody\n'), {
    lines: 3,
    numbers: ['+14155550123', '+14155550124'],
    refused: [{ line: 4, text: 'nobody' }],
  });
  t.same(readDoNotCallFile('\uFEFFid,Phone_Number\n1,+14155550123\n2,+14155550123\n').numbers, [
    '+14155550123',
  ]);
  t.same(readDoNotCallFile(''), { lines: 0, numbers: [], refused: [] });
  t.end();
});
