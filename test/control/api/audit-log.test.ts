// The audit log: what was changed has a row with who did it, by a key or signed in, and nothing of what was sent.
import t from 'tap';
import { openDashboardRig, PASSWORD } from '../dashboard/rig.ts';

interface Row {
  action: string;
  actor_kind: string;
  actor_name: string;
  target_kind: string | null;
  target_id: string | null;
  detail: Record<string, unknown> | null;
  address: string | null;
  request_id: string | null;
}

t.test('what changes something has a row: who, what, to what; reading and refusals have none', async (t) => {
  const rig = await openDashboardRig(t);
  const owner = await rig.person({ email: 'ann@example.com', name: 'Ann Field' });
  const log = async (query = ''): Promise<Row[]> => {
    await rig.store.flush();
    return (await rig.api('GET', `/v1/audit_log${query}`)).body.data;
  };
  const agent = await rig.api('POST', '/v1/agents', { body: { name: 'Secret words', type: 'inbound' } });
  const [made] = await log();
  t.match(made, {
    action: 'createAgent',
    actor_kind: 'key',
    actor_name: 'First key',
    target_kind: 'agent',
    target_id: agent.body.id,
    address: '127.0.0.1',
    request_id: agent.headers.get('x-request-id'),
  });
  await owner.browser.ask('PATCH', `/v1/agents/${agent.body.id}`, { body: { name: 'Other secret words' } });
  await rig.api('GET', '/v1/agents');
  await rig.api('PATCH', `/v1/agents/${agent.body.id}`, { body: { nothing: 1 } });
  await rig.api('DELETE', '/v1/agents/0199c000-0000-7000-8000-000000000000');
  const key = await owner.browser.ask('POST', '/keys', { body: { name: 'Report', scopes: ['read'] } });
  await rig.api('POST', '/v1/agents', { key: key.body.key, body: { name: 'A', type: 'inbound' } });
  const invited = await owner.browser.ask('POST', '/invitations', {
    body: { email: 'b@example.com', role: 'viewer' },
  });
  await owner.browser.ask('DELETE', `/invitations/${invited.body.id}`);
  const rows = await log();
  t.same(
    rows.map(({ action, actor_name, target_kind }) => [action, actor_name, target_kind]),
    [
      ['takeInvitationBack', 'Ann Field', 'invitation'],
      ['invitePerson', 'Ann Field', 'invitation'],
      ['createKey', 'Ann Field', 'key'],
      ['updateAgent', 'Ann Field', 'agent'],
      ['createAgent', 'First key', 'agent'],
      ['signIn', 'Ann Field', 'user'],
    ],
  );
  t.same(rows[1]?.detail, { email: 'b@example.com', role: 'viewer' });
  const text = JSON.stringify(rows);
  t.notMatch(text, /secret words/i, 'nothing of a body');
  t.notMatch(text, key.body.key);
  t.same(
    (await log(`?target_id=${agent.body.id}`)).map(({ action }) => action),
    ['updateAgent', 'createAgent'],
  );
  t.equal((await log(`?actor_id=${owner.user.id}&action=createKey`)).length, 1);
  t.equal((await log('?action=nothing')).length, 0);
  t.same((await rig.api('GET', '/v1/audit_log', { key: rig.other.key })).body.data, []);
  t.equal((await rig.api('GET', '/v1/audit_log', { key: key.body.key })).status, 403);
});

t.test('a repeat with one Idempotency-Key is one row', async (t) => {
  const rig = await openDashboardRig(t);
  const agent = await rig.agent();
  const call = () =>
    rig.api('POST', '/v1/calls', {
      body: { agent_id: agent.id, to: '+14155550123' },
      headers: { 'idempotency-key': 'one' },
    });
  const [first, second] = [await call(), await call()];
  t.equal(first.body.id, second.body.id);
  await rig.store.flush();
  const { body } = await rig.api('GET', '/v1/audit_log?action=createCall');
  t.equal(body.data.length, 1);
  t.equal(body.data[0].target_id, first.body.id);
  t.notMatch(JSON.stringify(body), /4155550123/);
});

t.test('signing in and out, failing to, and what one does for oneself', async (t) => {
  const rig = await openDashboardRig(t);
  const first = rig.browser();
  await first.setUp();
  const { browser, user } = await rig.person({ email: 'ann@example.com', name: 'Ann', role: 'viewer' });
  const attacker = rig.browser({ 'x-forwarded-for': '203.0.113.7' });
  const fail = () => attacker.ask('POST', '/login', { body: { email: 'ann@example.com', password: 'no' } });
  for (let i = 0; i < 5; i++) await fail();
  rig.advance(60_000);
  await fail();
  await attacker.ask('POST', '/login', { body: { email: 'nobody@example.com', password: 'no' } });
  await browser.ask('POST', '/password', { body: { current: PASSWORD, password: 'new and longer' } });
  await browser.ask('PATCH', '/account', { body: { name: 'Ann Field' } });
  await browser.ask('POST', '/logout');
  const { body } = await rig.api('GET', '/v1/audit_log');
  t.same(
    (body.data as Row[]).map(({ action, actor_kind, actor_name }) => [action, actor_kind, actor_name]),
    [
      ['signOut', 'user', 'Ann Field'],
      ['changeAccount', 'user', 'Ann'],
      ['changePassword', 'user', 'Ann'],
      ['signInFailed', 'nobody', 'Somebody'],
      ['signInFailed', 'nobody', 'Somebody'],
      ['signIn', 'user', 'Ann'],
      ['setFirstPassword', 'host', 'A link of the host'],
    ],
  );
  const failed = (body.data as Row[]).filter(({ action }) => action === 'signInFailed');
  t.match(failed[0], {
    target_id: user.id,
    address: '203.0.113.7',
    detail: { why: 'wrong password', attempts: 5 },
  });
  t.match(failed[1], { detail: { attempts: 1 } });
});

t.test('a row is written though the disk is full, and an answer does not wait for it', async (t) => {
  const rig = await openDashboardRig(t);
  const { noteAction } = rig.store;
  rig.store.noteAction = () => Promise.reject(new Error('no'));
  t.equal((await rig.api('POST', '/v1/agents', { body: { name: 'A', type: 'inbound' } })).status, 201);
  rig.store.noteAction = noteAction;
  t.ok(rig.lines.some(({ message }) => message === 'audit.not_written'));
});

t.test('it is had as CSV, with no cell that is a formula', async (t) => {
  const rig = await openDashboardRig(t);
  await rig.person({ email: 'a@example.com', name: '=HYPERLINK("x")' });
  const csv = await rig.api('GET', '/v1/audit_log.csv');
  t.equal(csv.status, 200);
  const [header, row] = csv.text.replace('\uFEFF', '').split('\r\n');
  t.match(header, /^created_at,actor_kind,actor_id,actor_name,action/);
  t.match(row, /'=HYPERLINK/, 'no formula');
});
