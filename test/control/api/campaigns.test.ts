// Campaigns over HTTP: made and changed, their contacts by the API and by files, started and ended, reported and exported.
import t from 'tap';
import { makeCall, succeeded } from '../../storage/makers.ts';
import { openRig, type Rig } from '../rig.ts';

const NOBODY = '0199c000-0000-7000-8000-000000000000';
const CSV = { 'content-type': 'text/csv' };

async function draft(rig: Rig, fields: Record<string, unknown> = {}) {
  const agent = await rig.agent({ returns: { confirmed: 'boolean', note: 'string' } });
  const answer = await rig.api('POST', '/v1/campaigns', {
    body: { name: 'Reminders', agent_id: agent.id, ...fields },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return { agent, campaign: answer.body, path: `/v1/campaigns/${answer.body.id}` };
}

const add = (rig: Rig, path: string, ...numbers: string[]) =>
  rig.api('POST', `${path}/contacts`, { body: { contacts: numbers.map((to) => ({ to })) } });

/** Has a contact called, as whoever runs campaigns does, and the call end so. */
async function called(rig: Rig, campaignId: string, to: string, end: Parameters<typeof makeCall>[1]) {
  await rig.store.takeCampaigns();
  const { contacts } = await rig.store.dueContacts(campaignId, rig.now().toISOString(), 100);
  const contact = contacts.find(({ to_number }) => to_number === to);
  if (contact === undefined) throw new Error(`${to} is not due`);
  const of = { campaign_id: campaignId, contact_id: contact.id, attempt: contact.attempts + 1 };
  const call = makeCall(rig.orgId, { to_number: to, ...of });
  succeeded(await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 }));
  succeeded(await rig.store.saveCall(call.id, { from: ['queued'], change: end ?? {} }));
  rig.advance(1_000);
  return { call, contact };
}

t.test('a campaign is a draft with the defaults of the specification', async (t) => {
  const rig = await openRig(t);
  const { agent, campaign, path } = await draft(rig);
  t.match(campaign, {
    name: 'Reminders',
    agent_id: agent.id,
    from_number: null,
    status: 'draft',
    status_reason: null,
    held: null,
    calls_per_minute: 60,
    max_concurrent: 10,
    free_lines: 2,
    windows: [],
    time_zone: 'UTC',
    window_zone: 'contact',
    max_attempts: 3,
    retries: {
      busy: { times: 2, after_minutes: 15 },
      no_answer: { times: 2, after_minutes: 120 },
      voicemail: { times: 0 },
      cut: { times: 1, after_minutes: 5 },
      failed: { times: 1, after_minutes: 15 },
    },
    contacts: { total: 0, waiting: 0, calling: 0, done: 0, refused: 0, skipped: 0 },
    started_at: null,
    ended_at: null,
  });
  t.same((await rig.api('GET', path)).body, campaign);
  t.same((await rig.api('GET', '/v1/campaigns')).body.data, [campaign]);
  t.same((await rig.api('GET', '/v1/campaigns?status=running')).body.data, []);
});

t.test('every field of a campaign is kept as it was given, and PATCH changes what it names', async (t) => {
  const rig = await openRig(t);
  const given = {
    calls_per_minute: 30,
    max_concurrent: 3,
    free_lines: 5,
    windows: [{ days: ['mon', 'tue'], from: '09:30', to: '24:00' }],
    time_zone: 'Europe/Berlin',
    window_zone: 'both',
    max_attempts: 5,
  };
  const { agent, campaign, path } = await draft(rig, {
    ...given,
    retries: { busy: { times: 4, after_minutes: 0.5 } },
  });
  t.match(campaign, given);
  t.same(
    [campaign.retries.busy, campaign.retries.cut],
    [
      { times: 4, after_minutes: 0.5 },
      { times: 1, after_minutes: 5 },
    ],
  );
  const changed = await rig.api('PATCH', path, {
    body: { name: 'Later', from_number: agent.e164, retries: { cut: { times: 0, after_minutes: 1 } } },
  });
  t.equal(changed.status, 200);
  t.match(changed.body, { ...given, name: 'Later', from_number: agent.e164 });
  t.same(changed.body.retries, { ...campaign.retries, cut: { times: 0, after_minutes: 1 } });
  t.equal(rig.woken.length, 1, 'whoever runs campaigns is told');
});

t.test('a campaign is refused with the field to blame', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const inbound = await rig.agent({ type: 'inbound' });
  const refuse = async (fields: Record<string, unknown>, code: string, param?: string) => {
    const body = { name: 'C', agent_id: agent.id, ...fields };
    const answer = await rig.api('POST', '/v1/campaigns', { body });
    t.match(answer.body.error, { code, ...(param === undefined ? {} : { param }) }, JSON.stringify(fields));
  };
  await refuse({ name: ' ' }, 'invalid_request', 'name');
  await refuse({ agent_id: NOBODY }, 'agent_not_found', 'agent_id');
  await refuse({ agent_id: inbound.id }, 'agent_not_outbound', 'agent_id');
  await refuse({ from_number: '+15559999999' }, 'from_number_not_attached', 'from_number');
  await refuse({ calls_per_minute: 0 }, 'invalid_request', 'calls_per_minute');
  await refuse({ max_attempts: 11 }, 'invalid_request', 'max_attempts');
  await refuse({ time_zone: 'Mars/Olympus' }, 'invalid_request', 'time_zone');
  await refuse({ windows: [{ days: [], from: '09:00', to: '10:00' }] }, 'invalid_request', 'windows[0].days');
  await refuse(
    { windows: [{ days: ['mon'], from: '9', to: '10:00' }] },
    'invalid_request',
    'windows[0].from',
  );
  await refuse({ windows: [{ days: ['mon'], from: '10:00', to: '10:00' }] }, 'invalid_request', 'windows[0]');
  await refuse(
    { retries: { answered: { times: 1, after_minutes: 1 } } },
    'unknown_parameter',
    'retries.answered',
  );
});

t.test('contacts are added once each, and what cannot be called is named', async (t) => {
  const rig = await openRig(t);
  const { path } = await draft(rig);
  const contacts = [
    { to: '+1 (415) 555-0101', context: { name: 'Ann' }, priority: 9 },
    { to: '+14155550101' },
    { to: 'nobody' },
    { to: '+14155550102', time_zone: 'Europe/Berlin' },
  ];
  const added = await rig.api('POST', `${path}/contacts`, { body: { contacts } });
  t.match(added.body, {
    added: 2,
    not_taken: [
      { index: 1, code: 'duplicate' },
      { index: 2, code: 'invalid_number' },
    ],
  });
  const { data } = (await rig.api('GET', `${path}/contacts`)).body;
  t.match(data, [
    { to_number: '+14155550102', context: {}, priority: 0, time_zones: ['Europe/Berlin'] },
    {
      to_number: '+14155550101',
      context: { name: 'Ann' },
      priority: 9,
      time_zones: ['America/Los_Angeles'],
      status: 'waiting',
      outcome: null,
      attempts: 0,
      next_attempt_at: null,
      waits_for: null,
      last_call_id: null,
      result: null,
      result_status: null,
    },
  ]);
  t.match((await rig.api('GET', path)).body.contacts, { total: 2, waiting: 2 });
  const again = await add(rig, path, '+14155550101');
  t.match(again.body, { added: 0, not_taken: [{ index: 0, code: 'duplicate' }] });
});

t.test('a file of contacts is read line by line, looked at first where that is asked', async (t) => {
  const rig = await openRig(t);
  const { path } = await draft(rig);
  const raw = 'phone;name;priority\n030 123456;Zoë;3\n030 123456;Zoë;3\nx;;\n';
  const look = await rig.api('POST', `${path}/contacts/import?country=de&dry_run=true`, {
    raw,
    headers: CSV,
  });
  t.equal(look.status, 200);
  t.match(look.body, {
    lines: 3,
    added: 1,
    duplicates: 1,
    refused: 1,
    number_column: 'phone',
    context_columns: ['name'],
    not_taken: [
      { line: 3, code: 'duplicate' },
      { line: 4, code: 'invalid_number' },
    ],
    preview: [{ to_number: '+4930123456', context: { name: 'Zoë' }, priority: 3 }],
  });
  t.equal((await rig.api('GET', path)).body.contacts.total, 0, 'nothing was added');
  const done = await rig.api('POST', `${path}/contacts/import?country=DE&number_column=phone`, {
    raw,
    headers: CSV,
  });
  t.same(done.body, look.body);
  t.equal((await rig.api('GET', path)).body.contacts.total, 1);
  const json = await rig.api('POST', `${path}/contacts/import`, { body: {} });
  t.match([json.status, json.body.error.code], [415, 'unsupported_media_type']);
  const elsewhere = await rig.api('POST', `${path}/contacts`, { raw, headers: CSV });
  t.match([elsewhere.status, elsewhere.body.error.code], [415, 'unsupported_media_type']);
  const large = await rig.api('POST', `${path}/contacts/import`, {
    raw: 'to\n'.repeat(2_000_001),
    headers: CSV,
  });
  t.match([large.status, large.body.error.code], [413, 'body_too_large']);
  const odd = await rig.api('POST', `${path}/contacts/import?country=ZZ`, { raw, headers: CSV });
  t.match([odd.status, odd.body.error.param], [400, 'country']);
});

t.test('start, pause, resume, stop: each from where it may be', async (t) => {
  const rig = await openRig(t);
  const { campaign, agent, path } = await draft(rig);
  const turn = async (verb: string) => {
    const { status, body } = await rig.api('POST', `${path}/${verb}`);
    return status === 200 ? body.status : body.error.code;
  };
  t.equal(await turn('start'), 'conflict', 'nobody is to be called');
  await add(rig, path, '+14155550101', '+14155550102');
  t.equal(await turn('resume'), 'conflict');
  t.equal(await turn('start'), 'running');
  t.ok((await rig.api('GET', path)).body.started_at);
  t.equal(await turn('start'), 'conflict');
  t.equal(await turn('pause'), 'paused');
  t.equal(await turn('pause'), 'conflict');
  await rig.api('DELETE', `/v1/agents/${agent.id}`);
  t.equal(await turn('resume'), 'agent_archived', 'who cannot call does not begin');
  t.equal(await turn('stop'), 'stopped');
  t.equal(await turn('stop'), 'conflict');
  await rig.store.takeCampaigns();
  await rig.store.skipContacts(campaign.id, 10);
  t.match((await rig.api('GET', path)).body, { status: 'stopped', contacts: { waiting: 0, skipped: 2 } });
  const late = await rig.api('PATCH', path, { body: { name: 'No' } });
  t.match([late.status, late.body.error.code], [409, 'conflict']);
  t.match((await add(rig, path, '+14155550103')).body.error, { code: 'conflict' });
});

t.test('a draft can be deleted, what was started cannot', async (t) => {
  const rig = await openRig(t);
  const { path } = await draft(rig);
  await add(rig, path, '+14155550101');
  const other = await draft(rig);
  await add(rig, other.path, '+14155550101');
  await rig.api('POST', `${other.path}/start`);
  t.match((await rig.api('DELETE', other.path)).body.error, { code: 'conflict' });
  t.equal((await rig.api('DELETE', path)).status, 204);
  t.equal((await rig.api('GET', path)).status, 404);
});

t.test('a contact has his outcome, his calls and what they brought; the report counts them', async (t) => {
  const rig = await openRig(t);
  const { campaign, path } = await draft(rig, { retries: { busy: { times: 1, after_minutes: 1 } } });
  await add(rig, path, '+14155550101', '+14155550102', '+14155550103');
  await rig.api('POST', `${path}/start`);
  const answered = await called(rig, campaign.id, '+14155550101', {
    status: 'completed',
    answered_at: rig.now().toISOString(),
    result: { confirmed: true, note: '=2+2' },
    result_status: 'completed',
  });
  await called(rig, campaign.id, '+14155550102', { status: 'busy' });
  const view = (await rig.api('GET', `/v1/calls/${answered.call.id}`)).body;
  t.match(
    view,
    { campaign_id: campaign.id, contact_id: answered.contact.id, attempt: 1 },
    'the call says whose it is',
  );
  const one = (await rig.api('GET', `${path}/contacts/${answered.contact.id}`)).body;
  t.match(one, {
    status: 'done',
    outcome: 'answered',
    attempts: 1,
    last_call_id: answered.call.id,
    result: { confirmed: true },
    result_status: 'completed',
    calls: [{ attempt: 1, call_id: answered.call.id, outcome: 'answered' }],
  });
  const waiting = (await rig.api('GET', `${path}/contacts?search=50102`)).body.data;
  t.match(waiting, [{ status: 'waiting', waits_for: 'retry', attempts: 1 }]);
  t.equal(waiting[0].next_attempt_at, new Date(rig.now().getTime() + 59_000).toISOString());
  await rig.store.refuseContact(
    (await rig.api('GET', `${path}/contacts?search=50103`)).body.data[0].id,
    'do_not_call',
  );
  const list = async (query: string) =>
    (await rig.api('GET', `${path}/contacts?${query}`)).body.data.map(
      (contact: { to_number: string }) => contact.to_number,
    );
  t.same(await list('status=done'), ['+14155550101']);
  t.same(await list('outcome=refused:do_not_call'), ['+14155550103']);
  rig.advance(60_000);
  await called(rig, campaign.id, '+14155550102', { status: 'busy' });
  const report = (await rig.api('GET', `${path}/report`)).body;
  t.same(report, {
    campaign_id: campaign.id,
    contacts: { total: 3, waiting: 0, calling: 0, done: 2, refused: 1, skipped: 0 },
    outcomes: { answered: 1, busy: 1, 'refused:do_not_call': 1 },
    attempts: { total: 3, by_outcome: { answered: 1, busy: 2 } },
    hours: [{ hour: '2026-03-01T12:00:00.000Z', by_outcome: { answered: 1, busy: 2 } }],
  });
});

t.test('contacts are exported with their outcome, the agent’s result and what he was told', async (t) => {
  const rig = await openRig(t);
  const { campaign, path } = await draft(rig);
  const contacts = [
    { to: '+14155550101', context: { name: 'Ann' } },
    { to: '+14155550102', context: { name: '=cmd' } },
  ];
  await rig.api('POST', `${path}/contacts`, { body: { contacts } });
  await rig.api('POST', `${path}/start`);
  const { call } = await called(rig, campaign.id, '+14155550101', {
    status: 'completed',
    answered_at: rig.now().toISOString(),
    result: { confirmed: true, note: 'a "quote"' },
    result_status: 'completed',
  });
  const answer = await rig.api('GET', `${path}/contacts.csv`);
  t.match(answer.headers.get('content-type'), /^text\/csv/);
  const at = '2026-03-01T12:00:00.000Z';
  t.same(answer.text.trim().split('\r\n'), [
    'to_number,status,outcome,attempts,priority,last_call_id,updated_at,result.confirmed,result.note,context.name',
    `+14155550101,done,answered,1,0,${call.id},${at},true,"a ""quote""",Ann`,
    `+14155550102,waiting,,0,0,,${at},,,'=cmd`,
  ]);
});
