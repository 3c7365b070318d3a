// What is kept, by the API: erasures with their receipts, legal holds, retention.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeCall, makeItem, succeeded } from '../../storage/makers.ts';
import { openRig } from '../rig.ts';

const OPERATOR = 'operator-key-of-the-test';
const PERSON = '+14155550100';
const DAY = 24 * 3_600_000;

async function openFolder(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-kept-'));
  mkdirSync(join(folder, 'recordings'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const rig = await openRig(t, { env: { DATA_DIR: folder, OPERATOR_KEY: OPERATOR } });
  /** A call that is over, with its words and its recording. */
  const call = async (fields: Parameters<typeof makeCall>[1] = {}) => {
    const made = makeCall(rig.orgId, fields);
    made.recording_path = `recordings/${made.id}.wav`;
    succeeded(await rig.store.createCall(made, { events: ['call.queued'], reserve: 0 }));
    await rig.store.saveTranscript([makeItem(made.id, { role: 'caller', text: 'my name is zorblatt' })]);
    const change = { status: 'completed', result_status: 'completed', ended_at: made.created_at } as const;
    succeeded(await rig.store.saveCall(made.id, { from: ['queued'], change }));
    const file = join(folder, made.recording_path);
    writeFileSync(file, 'RIFF');
    return { id: made.id, file };
  };
  return { ...rig, folder, call };
}

t.test('a call is erased, with its recording; the receipt says what was', async (t) => {
  const { api, call, folder } = await openFolder(t);
  const { id, file } = await call();
  writeFileSync(join(folder, 'offhook.db.schema-3.20260101T000000000Z.bak'), '');
  const copy = join(folder, 'copy.db');
  writeFileSync(copy, '');
  const notes = [
    { path: copy, made_at: '2026-02-01T00:00:00.000Z' },
    { path: join(folder, 'gone.db'), made_at: '2026-02-01T00:00:00.000Z' },
    { path: join(folder, 'copy.db'), made_at: '2036-02-01T00:00:00.000Z' },
  ];
  writeFileSync(
    join(folder, 'backups.jsonl'),
    `${notes.map((note) => JSON.stringify(note)).join('\n')}\nnonsense\n`,
  );
  const made = await api('POST', '/v1/erasures', { body: { call_id: id, reason: 'asked by letter' } });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    subject: 'call',
    call_id: id,
    number_hash: null,
    reason: 'asked by letter',
    state: 'done',
    requested_by: { kind: 'key' },
    counts: { calls: 1, transcript_items: 1, files: 1, file_bytes: 4 },
    files: [{ path: `recordings/${id}.wav`, bytes: 4, sha256: /^[0-9a-f]{64}$/ }],
  });
  t.strictSame(
    made.body.backups.map((one: { path: string }) => one.path),
    [copy, 'offhook.db.schema-3.20260101T000000000Z.bak'],
    'copies of before that are still there',
  );
  t.notOk(existsSync(file));
  const after = await api('GET', `/v1/calls/${id}`);
  t.match(after.body, {
    to_number: 'erased',
    from_number: 'erased',
    prompt: '',
    context: null,
    status: 'completed',
  });
  t.ok(after.body.erased_at);
  t.match((await api('GET', `/v1/calls/${id}/transcript`)).body, { data: [] });
  t.equal((await api('GET', `/v1/calls/${id}/recording`)).status, 404);
  t.match((await api('GET', '/v1/events')).body, { data: [{ call: { to_number: 'erased' } }] });
  t.match((await api('GET', `/v1/erasures/${id}`)).status, 404);
  t.strictSame((await api('GET', `/v1/erasures/${made.body.id}`)).body.files, made.body.files);
  const again = await api('POST', '/v1/erasures', { body: { call_id: id } });
  t.match(again.body, { state: 'done', counts: {} }, 'there is nothing left to erase');
});

t.test('a number is erased; whoever has it finds the receipt, and nobody else', async (t) => {
  const { api, call } = await openFolder(t);
  const ours = [await call({ to_number: PERSON }), await call({ direction: 'inbound', from_number: PERSON })];
  const other = await call({ to_number: '+14155550777' });
  const made = await api('POST', '/v1/erasures', { body: { number: PERSON } });
  t.match(made.body, { subject: 'number', call_id: null, state: 'done', counts: { calls: 2, files: 2 } });
  t.match(made.body.number_hash, /^[0-9a-f]{64}$/);
  t.notOk(made.text.includes(PERSON.slice(1)));
  for (const { file } of ours) t.notOk(existsSync(file));
  t.ok(existsSync(other.file));
  const found = await api('GET', `/v1/erasures?number=${encodeURIComponent(PERSON)}`);
  t.match(found.body.data, [{ id: made.body.id }]);
  t.strictSame((await api('GET', '/v1/erasures?number=%2B14155550999')).body.data, []);
  t.equal((await api('GET', '/v1/erasures')).body.data.length, 1);
});

t.test('an answer that is kept for a repeat is no way back to it', async (t) => {
  const { api, number, behaviour, store } = await openFolder(t);
  await number('+14155550199');
  behaviour.dispatch = async (call) => {
    succeeded(await store.createCall(call, { events: [], reserve: 0 }));
    const change = { status: 'completed', result_status: 'completed', ended_at: call.created_at } as const;
    succeeded(await store.saveCall(call.id, { from: ['queued'], change }));
    return call;
  };
  const body = { to: PERSON, instructions: 'Say hello.' };
  const headers = { 'Idempotency-Key': 'once' };
  const first = await api('POST', '/v1/calls', { body, headers });
  t.equal(first.status, 201, first.text);
  t.match((await api('POST', '/v1/erasures', { body: { number: PERSON } })).body, {
    counts: { kept_answers: 1 },
  });
  const repeat = await api('POST', '/v1/calls', { body, headers });
  t.match(repeat, { status: 409, body: { error: { code: 'conflict' } } });
  t.notOk(repeat.text.includes(PERSON));
});

t.test('an organization is erased by its operator alone, who says its name', async (t) => {
  const { api, call, store, orgId } = await openFolder(t);
  await call();
  const headers = { 'Operator-Key': OPERATOR };
  const name = (await store.getOrganization(orgId))?.name;
  t.equal((await api('POST', '/v1/erasures', { body: { organization: true, confirm: name } })).status, 403);
  const unsaid = await api('POST', '/v1/erasures', { body: { organization: true, confirm: 'x' }, headers });
  t.match(unsaid, { status: 400, body: { error: { param: 'confirm' } } });
  const second = await api('POST', '/v1/organizations', { body: { name: 'Second' }, headers });
  const made = await api('POST', '/v1/erasures', { body: { organization: true, confirm: name }, headers });
  t.match(made, { status: 201, body: { subject: 'organization', state: 'done' } });
  t.equal((await api('GET', '/v1/calls')).status, 401, 'its keys are gone');
  const key = second.body.api_key;
  t.equal((await api('GET', `/v1/erasures/${made.body.id}`, { key })).status, 404);
  t.match((await api('GET', `/v1/erasures/${made.body.id}`, { key, headers })).body, { state: 'done' });
  t.strictSame(
    (await api('GET', '/v1/organizations', { key, headers })).body.data.map(
      (one: { name: string }) => one.name,
    ),
    ['Second', 'Other'],
  );
});

t.test('what a legal hold covers is neither erased nor deleted by age, until it is lifted', async (t) => {
  const { api, call, store, advance, swept } = await openFolder(t);
  const { id, file } = await call({ to_number: PERSON });
  t.match(await api('POST', '/v1/legal_holds', { body: { reason: 'x' } }), { status: 400 });
  t.match(await api('POST', '/v1/legal_holds', { body: { call_id: id, number: PERSON, reason: 'x' } }), {
    status: 400,
  });
  const made = await api('POST', '/v1/legal_holds', { body: { number: PERSON, reason: 'Case 14' } });
  t.match(made, {
    status: 201,
    body: { subject: 'number', number: PERSON, reason: 'Case 14', lifted_at: null },
  });
  t.match((await api('GET', `/v1/legal_holds?call_id=${id}`)).body.data, [{ id: made.body.id }]);
  t.match(await api('POST', '/v1/erasures', { body: { call_id: id } }), {
    status: 409,
    body: { error: { code: 'legal_hold' } },
  });
  advance(20 * DAY);
  await api('PATCH', '/v1/retention', { body: { calls_days: 10 } });
  await swept();
  t.equal((await store.findCall(id))?.erased_at, null);
  t.ok(existsSync(file));
  const lifted = await api('DELETE', `/v1/legal_holds/${made.body.id}`);
  t.match(lifted.body, { lifted_by: { kind: 'key' }, lifted_at: /^2026/ });
  t.strictSame((await api('GET', `/v1/legal_holds?call_id=${id}`)).body.data, []);
  t.match((await api('GET', `/v1/legal_holds/${made.body.id}`)).body, { lifted_at: /^2026/ });
  t.equal((await api('GET', '/v1/legal_holds')).body.data.length, 1);
  while ((await store.findCall(id))?.erased_at === null)
    await new Promise((resolve) => setImmediate(resolve));
  t.notOk(existsSync(file), 'what was passed over meanwhile goes now');
});

t.test('how long what is kept is said for all agents, and for one', async (t) => {
  const { api, agent } = await openFolder(t);
  const never = {
    recordings_days: null,
    transcripts_days: null,
    events_days: null,
    deliveries_days: null,
    calls_days: null,
  };
  t.strictSame(
    (await api('GET', '/v1/retention')).body,
    { default: never, agents: [] },
    'for ever, until it is said',
  );
  const { id } = await agent();
  await api('PATCH', '/v1/retention', { body: { recordings_days: 30, transcripts_days: 90 } });
  const changed = await api('PATCH', '/v1/retention', { body: { agent_id: id, recordings_days: null } });
  t.strictSame(changed.body, {
    default: { ...never, recordings_days: 30, transcripts_days: 90 },
    agents: [{ agent_id: id, days: { ...never, transcripts_days: 90 } }],
  });
  for (const recordings_days of [0, -1, 1.5, 99_999, '30'])
    t.equal((await api('PATCH', '/v1/retention', { body: { recordings_days } })).status, 400);
  t.match(
    await api('PATCH', '/v1/retention', { body: { agent_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c00' } }),
    {
      status: 400,
      body: { error: { code: 'agent_not_found' } },
    },
  );
  t.strictSame((await api('DELETE', `/v1/retention/${id}`)).body.agents, []);
  t.equal((await api('DELETE', '/v1/retention/0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c00')).status, 404);
});

t.test('what is said on a call is kept without the numbers that its mask names', async (t) => {
  const { api, agent, number, behaviour, store } = await openFolder(t);
  await number('+14155550199');
  behaviour.dispatch = async (call) => {
    succeeded(await store.createCall(call, { events: [], reserve: 0 }));
    await store.saveTranscript([makeItem(call.id, { role: 'caller', text: 'It is 4111 1111 1111 1111.' })]);
    return call;
  };
  const { id } = await agent({ mask: ['card', 'ssn'] });
  t.strictSame((await api('GET', `/v1/agents/${id}`)).body.mask, ['card', 'ssn']);
  t.strictSame((await api('PATCH', `/v1/agents/${id}`, { body: { mask: ['card'] } })).body.mask, ['card']);
  for (const mask of ['card', ['passport'], ['card', 'card', 'card', 'card']])
    t.equal((await api('PATCH', `/v1/agents/${id}`, { body: { mask } })).status, 400);
  const prompt = { to: PERSON, instructions: 'Take the order.' };
  for (const [body, text] of [
    [{ agent_id: id, to: PERSON }, 'It is •••• 1111.'],
    [{ ...prompt, mask: ['card'] }, 'It is •••• 1111.'],
    [prompt, 'It is 4111 1111 1111 1111.'],
  ] as const) {
    const made = await api('POST', '/v1/calls', { body });
    t.equal(made.status, 201, made.text);
    t.match((await api('GET', `/v1/calls/${made.body.id}/transcript`)).body.data, [{ text }]);
  }
});
