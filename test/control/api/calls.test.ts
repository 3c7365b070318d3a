// Calls over HTTP: both forms of dispatch, their rules, lists with filters and pages, transcripts, recordings, ending.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { openRecording } from '../../../audio/recording.ts';
import { AppError } from '../../../errors.ts';
import type { CallGap } from '../../../storage/records.ts';
import { SPECIFIED_FIELDS } from '../../specified-fields.ts';
import { modelsFile, openRig } from '../rig.ts';

const NOBODY = '0199c000-0000-7000-8000-000000000000';

t.test('a dispatched call is a snapshot of its agent and answers 201 with the Call', async (t) => {
  const rig = await openRig(t, { env: { PRICE_PER_MINUTE_MILLI_CENTS: '3000', RESERVE_MINUTES: '5' } });
  const agent = await rig.agent({
    persona: 'You are Ada from Acme.',
    instructions: 'Ask whether the parcel came.',
    voice: 'cedar',
    language: 'es',
    returns: { arrived: 'boolean' },
    tools: [{ type: 'send_dtmf' }],
    webhook_url: 'https://example.com/agent',
    voicemail_action: 'leave_message',
    interruption_words: ['Sarah'],
    patience: 'short',
    eagerness: 'eager',
    interruption: 'easy',
  });
  const { status, body } = await rig.api('POST', '/v1/calls', {
    body: {
      agent_id: agent.id,
      to: '+14155550123',
      context: { parcel: 'X-17', nested: { a: [1, null] } },
      metadata: { crm: '42', n: 7 },
    },
  });
  t.equal(status, 201);
  t.same(Object.keys(body), SPECIFIED_FIELDS.call);
  t.match(body, {
    agent_id: agent.id,
    to_number: '+14155550123',
    from_number: agent.e164,
    status: 'initiated',
    direction: 'outbound',
    persona: 'You are Ada from Acme.',
    instructions: 'Ask whether the parcel came.',
    context: { parcel: 'X-17', nested: { a: [1, null] } },
    returns: { arrived: 'boolean' },
    language: 'es',
    result: null,
    result_status: 'pending',
    created_at: '2026-03-01T12:00:00.000Z',
    started_at: null,
    reservation_status: 'reserved',
    webhook_url: 'https://example.com/agent',
    webhook_status: 'none',
    metadata: { crm: '42', n: 7 },
  });
  t.match(body.prompt, 'You are Ada from Acme.');
  t.match(body.prompt, 'Ask whether the parcel came.');
  t.match(body.prompt, 'X-17');

  const given = rig.dispatched[0];
  t.match(given, {
    id: body.id,
    status: 'queued',
    org_id: rig.orgId,
    voice: 'cedar',
    tools: [{ type: 'send_dtmf' }],
    voicemail_action: 'leave_message',
    interruption_words: ['Sarah'],
    patience: 'short',
    eagerness: 'eager',
    interruption: 'easy',
    carrier: 'twilio',
    telephone: true,
    carrier_call_id: null,
    reserved_milli_cents: 15_000,
    chosen_language: 'es',
    recording_path: null,
  });
  await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { persona: 'Someone else', voice: 'ash' } });
  t.same(
    (await rig.api('GET', `/v1/calls/${body.id}`)).body,
    body,
    'a later change of the agent leaves it alone',
  );
});

t.test(
  'instructions replace the agent’s wholly, webhook_url overrides, and the rest has its defaults',
  async (t) => {
    const rig = await openRig(t);
    const agent = await rig.agent({ instructions: 'OLD TASK', webhook_url: 'https://example.com/agent' });
    const { body } = await rig.api('POST', '/v1/calls', {
      body: {
        agent_id: agent.id,
        to: '+14155550123',
        instructions: 'NEW TASK',
        webhook_url: 'https://example.com/own',
      },
    });
    t.match(body, {
      instructions: 'NEW TASK',
      webhook_url: 'https://example.com/own',
      context: {},
      metadata: {},
    });
    t.match(body, { persona: null, language: 'en', returns: {} });
    t.match(body.prompt, 'NEW TASK');
    t.notMatch(body.prompt, 'OLD TASK');
    t.match(body.prompt, 'AI assistant', 'no persona: the default one');
    const plain = await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
    t.match(plain.body, { instructions: 'OLD TASK', webhook_url: 'https://example.com/agent' });
    t.equal(rig.dispatched[1]?.reserved_milli_cents, 0, 'free calls hold nothing');
  },
);

t.test('from_number is the primary number, or another one attached to the same agent', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const secondId = await rig.number('+15559990001');
  const elsewhere = await rig.agent();
  await rig.api('POST', `/v1/agents/${agent.id}/numbers`, { body: { number_id: secondId } });
  const call = (from?: string) =>
    rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123', from_number: from } });
  t.equal((await call()).body.from_number, agent.e164);
  t.equal((await call('+15559990001')).body.from_number, '+15559990001');
  for (const from of [elsewhere.e164, '+15558887777']) {
    const { status, body } = await call(from);
    t.same([status, body.error.code, body.error.param], [400, 'from_number_not_attached', 'from_number']);
  }
  await rig.api('PUT', `/v1/agents/${agent.id}/primary-number`, { body: { number_id: secondId } });
  t.equal((await call()).body.from_number, '+15559990001');
  t.equal(rig.dispatched.length, 3);
});

t.test('the dispatch form refuses what comes from the agent, and says so', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  for (const [field, value] of [
    ['persona', 'x'],
    ['voice', 'ash'],
    ['model', 'mini'],
    ['language', 'en'],
    ['returns', { a: 'string' }],
    ['tools', []],
    ['voicemail_action', 'hangup'],
    ['interruption_words', ['Sarah']],
    ['patience', 'long'],
  ] as const) {
    const { status, body } = await rig.api('POST', '/v1/calls', {
      body: { agent_id: agent.id, to: '+14155550123', [field]: value },
    });
    t.same([status, body.error.code, body.error.param], [400, 'unknown_parameter', field], field);
    t.match(body.error.message, 'comes from the agent');
  }
  t.equal(rig.dispatched.length, 0);
});

t.test('dispatch refuses agents that cannot call', async (t) => {
  const rig = await openRig(t);
  const inboundNumber = await rig.number('+15557770001');
  const make = async (fields: Record<string, unknown>) =>
    (await rig.api('POST', '/v1/agents', { body: { name: 'A', ...fields } })).body.id as string;
  const inbound = await make({ type: 'inbound', number_ids: [inboundNumber] });
  const numberless = await make({ type: 'outbound' });
  const archived = (await rig.agent()).id;
  await rig.api('DELETE', `/v1/agents/${archived}`);
  const foreign = (
    await rig.api('POST', '/v1/agents', { key: rig.other.key, body: { name: 'F', type: 'outbound' } })
  ).body.id;
  for (const [agentId, code] of [
    [inbound, 'agent_not_outbound'],
    [numberless, 'agent_has_no_number'],
    [archived, 'agent_archived'],
    [foreign, 'agent_not_found'],
    [NOBODY, 'agent_not_found'],
  ] as const) {
    const { status, body } = await rig.api('POST', '/v1/calls', {
      body: { agent_id: agentId, to: '+14155550123' },
    });
    t.same([status, body.error.code, body.error.param], [400, code, 'agent_id'], code);
  }
  t.equal(rig.dispatched.length, 0);
});

t.test('dispatch refuses wrong and missing fields, and names them', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const good = { agent_id: agent.id, to: '+14155550123' };
  const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v']));
  const cases: [string, unknown, string, string][] = [
    ['no destination', { agent_id: agent.id }, 'missing_parameter', 'to'],
    ['agent_id null', { ...good, agent_id: null }, 'invalid_request', 'agent_id'],
    ['agent_id no UUID', { ...good, agent_id: 'a1' }, 'invalid_request', 'agent_id'],
    ['to without a plus', { ...good, to: '14155550123' }, 'invalid_number', 'to'],
    ['to with spaces', { ...good, to: '+1 415 555 0123' }, 'invalid_number', 'to'],
    ['to with a leading zero', { ...good, to: '+04155550123' }, 'invalid_number', 'to'],
    ['to of six digits', { ...good, to: '+123456' }, 'invalid_number', 'to'],
    ['to of sixteen digits', { ...good, to: '+1234567890123456' }, 'invalid_number', 'to'],
    ['to with a line end', { ...good, to: '+14155550123\n' }, 'invalid_number', 'to'],
    ['to as a number', { ...good, to: 14155550123 }, 'invalid_request', 'to'],
    ['from_number wrong', { ...good, from_number: 'anonymous' }, 'invalid_number', 'from_number'],
    [
      'instructions too long',
      { ...good, instructions: 'x'.repeat(32_001) },
      'invalid_request',
      'instructions',
    ],
    ['instructions null', { ...good, instructions: null }, 'invalid_request', 'instructions'],
    ['context a list', { ...good, context: [] }, 'invalid_request', 'context'],
    ['context null', { ...good, context: null }, 'invalid_request', 'context'],
    ['context over 64 KB', { ...good, context: { a: 'é'.repeat(33_000) } }, 'invalid_request', 'context'],
    ['51 keys of metadata', { ...good, metadata }, 'invalid_request', 'metadata'],
    [
      'value of 501 characters',
      { ...good, metadata: { a: 'x'.repeat(501) } },
      'invalid_request',
      'metadata.a',
    ],
    ['metadata as text', { ...good, metadata: 'x' }, 'invalid_request', 'metadata'],
    [
      'webhook to this machine',
      { ...good, webhook_url: 'https://localhost/x' },
      'blocked_address',
      'webhook_url',
    ],
    ['webhook no URL', { ...good, webhook_url: 'nope' }, 'invalid_url', 'webhook_url'],
    ['to_number for to', { agent_id: agent.id, to_number: '+14155550123' }, 'unknown_parameter', 'to_number'],
  ];
  for (const [name, body, code, param] of cases) {
    const answer = await rig.api('POST', '/v1/calls', { body });
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param], name);
  }
  t.equal(rig.dispatched.length, 0);
  const limits = await rig.api('POST', '/v1/calls', {
    body: {
      ...good,
      instructions: 'x'.repeat(32_000),
      context: { a: 'x'.repeat(65_528) },
      metadata: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v'.repeat(500)])),
    },
  });
  t.equal(limits.status, 201, 'the limits themselves are allowed');
});

t.test('without agent_id a call goes by its prompt, from the oldest active number', async (t) => {
  const rig = await openRig(t);
  const none = await rig.api('POST', '/v1/calls', {
    body: { to: '+14155550123', instructions: 'Say hello.' },
  });
  t.same([none.status, none.body.error.code], [400, 'no_active_number']);

  await rig.number('+15550000009', rig.other.orgId);
  rig.advance(1000);
  await rig.number('+15550000001');
  rig.advance(1000);
  await rig.number('+15550000002');
  const plain = await rig.api('POST', '/v1/calls', {
    body: { to: '+14155550123', instructions: 'Say hello.' },
  });
  t.equal(plain.status, 201);
  t.match(plain.body, {
    agent_id: null,
    from_number: '+15550000001',
    persona: null,
    instructions: 'Say hello.',
    language: 'en',
    context: {},
    returns: {},
    webhook_url: null,
    metadata: {},
  });
  t.match(rig.dispatched[0], {
    voice: 'marin',
    tools: null,
    voicemail_action: 'hangup',
    interruption_words: [],
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: false,
    mask: [],
  });

  const full = await rig.api('POST', '/v1/calls', {
    body: {
      to: '+14155550123',
      instructions: 'Di hola.',
      language: 'es',
      from_number: '+15550000002',
      returns: { ok: 'boolean' },
      context: { a: 1 },
      webhook_url: 'https://example.com/x',
      metadata: { b: '2' },
    },
  });
  t.equal(full.status, 201);
  t.match(full.body, {
    language: 'es',
    from_number: '+15550000002',
    returns: { ok: 'boolean' },
    context: { a: 1 },
  });

  const good = { to: '+14155550123', instructions: 'x' };
  for (const [body, code, param] of [
    [{ to: '+14155550123' }, 'missing_parameter', 'instructions'],
    [{ instructions: 'x' }, 'missing_parameter', 'to'],
    [{}, 'missing_parameter', 'to'],
    [{ ...good, instructions: ' ' }, 'invalid_request', 'instructions'],
    [{ ...good, language: 'de' }, 'invalid_request', 'language'],
    [{ ...good, from_number: '+15550000009' }, 'from_number_not_owned', 'from_number'],
    [{ ...good, from_number: '+15551112222' }, 'from_number_not_owned', 'from_number'],
    [{ ...good, returns: { a: 'x' } }, 'invalid_returns', 'returns.a'],
    [{ ...good, persona: 'x' }, 'unknown_parameter', 'persona'],
    [{ ...good, voice: 'ash' }, 'unknown_parameter', 'voice'],
    [{ ...good, tools: [] }, 'unknown_parameter', 'tools'],
    [{ ...good, webhook_url: 'https://[::1]/' }, 'blocked_address', 'webhook_url'],
  ] as const) {
    const answer = await rig.api('POST', '/v1/calls', { body });
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param]);
  }
});

t.test('what the bridge refuses has its status', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const call = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  const refuse = (error: Error) => {
    rig.behaviour.dispatch = async () => {
      throw error;
    };
  };
  refuse(new AppError('carrier_error', 'The carrier refused the call.', { carrierCode: '21211' }));
  const refused = await call();
  t.equal(refused.status, 502);
  t.match(refused.body.error, { code: 'carrier_error', carrier_code: '21211' });
  t.match(refused.body.error.message, 'The carrier refused the call.');
  t.match(
    refused.body.error.message,
    rig.dispatched[0]?.id ?? 'none',
    'names the call that is kept as failed',
  );

  refuse(new AppError('insufficient_credit', 'Not enough credit.'));
  t.equal((await call()).status, 402);
  refuse(new AppError('draining', 'Stopping.', { retryAfterSeconds: 30 }));
  const draining = await call();
  t.same([draining.status, draining.headers.get('retry-after')], [503, '30']);
  refuse(new AppError('at_capacity', 'Full.'));
  const full = await call();
  t.equal(full.status, 503);
  t.match(full.headers.get('retry-after'), /^\d+$/, 'a 503 always says when to come back');
});

t.test(
  'an organization without enough credit is answered 402, and one with it pays its reservation',
  async (t) => {
    const rig = await openRig(t, { env: { PRICE_PER_MINUTE_MILLI_CENTS: '1000', RESERVE_MINUTES: '2' } });
    const agent = await rig.agent();
    await rig.store.setBalance(rig.orgId, 3000);
    const call = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
    t.equal((await call()).status, 201);
    t.equal((await rig.store.getOrganization(rig.orgId))?.balance_milli_cents, 1000);
    const second = await call();
    t.same([second.status, second.body.error.code], [402, 'insufficient_credit']);
  },
);

t.test('the list is a bare array, newest first, filtered, in pages that Link joins', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    rig.advance(1000);
    const { body } = await rig.api('POST', '/v1/calls', {
      body: { agent_id: agent.id, to: `+1415555000${i}` },
    });
    ids.unshift(body.id);
  }
  const list = await rig.api('GET', '/v1/calls');
  t.ok(Array.isArray(list.body));
  t.same(
    list.body.map((call: { id: string }) => call.id),
    ids,
  );
  t.equal(list.headers.get('link'), null, 'no next page, no link');

  const walked: string[] = [];
  let next: string | undefined = `/v1/calls?agent_id=${agent.id}&limit=2`;
  while (next !== undefined) {
    const page = await rig.api('GET', next);
    t.ok(page.body.length <= 2 && page.body.length > 0, 'no page is empty');
    walked.push(...page.body.map((call: { id: string }) => call.id));
    const link: string | null = page.headers.get('link');
    next = link === null ? undefined : /^<(\/v1\/calls\?[^>]*)>; rel="next"$/.exec(link)?.[1];
    if (link !== null) t.match(next, `agent_id=${agent.id}`, 'the link keeps the filters');
  }
  t.same(walked, ids);
  t.equal(
    (await rig.api('GET', '/v1/calls?limit=5')).headers.get('link'),
    null,
    'a full last page has no link',
  );

  const count = async (query: string) => (await rig.api('GET', `/v1/calls?${query}`)).body.length;
  t.equal(await count('status=initiated'), 5);
  t.equal(await count('status=completed'), 0);
  t.equal(await count('direction=inbound'), 0);
  t.equal(await count('direction=outbound'), 5);
  t.equal(await count(`agent_id=${NOBODY}`), 0);
  t.equal(await count('to_number=%2B14155550003'), 1);
  t.equal(await count('to_number=+14155550003'), 1, 'a plus that was not escaped');
  t.equal(await count(`from_number=${encodeURIComponent(agent.e164)}`), 5);
  t.equal(await count('from_number=anonymous'), 0);
  t.equal(await count('created_after=2026-03-01T12:00:03.000Z'), 2);
  t.equal(await count('created_before=2026-03-01T12:00:03Z'), 2);
  t.equal(await count('created_after=2026-03-01T13:00:03%2B01:00'), 2, 'another offset');
  t.equal(await count('created_after=2026-03-01T13:00:03+01:00'), 2, 'its plus not escaped');
  for (const [query, param] of [
    ['status=done', 'status'],
    ['direction=up', 'direction'],
    ['agent_id=1', 'agent_id'],
    ['to_number=123', 'to_number'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=2026-02-30T00:00:00Z', 'created_after'],
    ['to=%2B14155550003', 'to'],
    ['offset=3', 'offset'],
  ] as const) {
    const answer = await rig.api('GET', `/v1/calls?${query}`);
    t.same([answer.status, answer.body.error?.param], [400, param], query);
  }
});

t.test('the transcript is a resource of its own, live until the last words are in', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const empty = await rig.api('GET', `/v1/calls/${id}/transcript`);
  t.same([empty.status, empty.body], [200, { call_id: id, status: 'live', data: [] }]);
  const item = {
    id: 'item-1',
    call_id: id,
    role: 'agent' as const,
    text: 'Good morning, this is Ada.',
    heard_text: 'Good morning,',
    interrupted: true,
    started_at: '2026-03-01T12:00:01.000Z',
    start_ms: 120,
    end_ms: 900,
  };
  const answer = {
    ...item,
    id: 'item-2',
    role: 'caller' as const,
    text: 'Who?',
    heard_text: 'Who?',
    start_ms: 850,
  };
  await rig.store.saveTranscript([answer, item]);
  await rig.api('POST', `/v1/calls/${id}/hangup`);
  const floor = { callId: id, thread: 1, floor: 'none' as const };
  rig.behaviour.live = () => [floor];
  const last = await rig.api('GET', `/v1/calls/${id}/transcript`);
  t.equal(last.body.status, 'live', 'ended, and its last words are still to come');
  rig.behaviour.live = () => [];
  const final = await rig.api('GET', `/v1/calls/${id}/transcript`);
  const { call_id: _a, ...first } = item;
  const { call_id: _b, ...second } = answer;
  t.same(final.body, { call_id: id, status: 'final', data: [first, second] });
});

t.test('the gaps in its sound are told, by GET, in lists and in webhooks', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ webhook_url: 'https://example.com/hook' });
  const { body } = await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  t.same(body.gaps, [], 'none at first');
  const gaps: CallGap[] = [
    { why: 'stream_lost', started_at: '2026-03-01T12:00:20.000Z', from_ms: 12_340, to_ms: 13_020 },
    { why: 'thread_lost', started_at: '2026-03-01T12:00:40.000Z', from_ms: 32_000, to_ms: 33_100 },
    { why: 'daemon_restart', started_at: '2026-03-01T12:01:00.000Z', from_ms: 52_000, to_ms: null },
  ];
  const saved = await rig.store.saveCall(body.id, {
    from: ['initiated'],
    change: { status: 'ringing', gaps },
    events: ['call.ringing'],
  });
  t.notOk('conflict' in saved);
  t.same((await rig.api('GET', `/v1/calls/${body.id}`)).body.gaps, gaps, 'one that is open too');
  t.same((await rig.api('GET', '/v1/calls')).body[0].gaps, gaps);
  const [delivery] = (
    await rig.api('GET', `/v1/webhook_deliveries?call_id=${body.id}&event_type=call.ringing`)
  ).body.data;
  const claimed = await rig.store.claimDelivery(delivery.id, 0, rig.now().toISOString(), 1_000);
  t.same(JSON.parse(claimed?.body ?? '{}').gaps, gaps);
});

t.test('cancel and hangup answer the call, and 409 once it has ended', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  for (const [verb, status] of [
    ['cancel', 'canceled'],
    ['hangup', 'completed'],
  ] as const) {
    const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
      .body;
    const ended = await rig.api('POST', `/v1/calls/${id}/${verb}`);
    t.same([ended.status, ended.body.id, ended.body.status], [200, id, status]);
    const again = await rig.api('POST', `/v1/calls/${id}/${verb}`, { body: {} });
    t.same([again.status, again.body.error.code], [409, 'call_ended']);
    const extra = await rig.api('POST', `/v1/calls/${id}/${verb}`, { body: { why: 'x' } });
    t.same([extra.status, extra.body.error.code, extra.body.error.param], [400, 'unknown_parameter', 'why']);
  }
});

t.test('a recording is a WAV file that can be had in ranges, once the call has ended', async (t) => {
  const dir = t.testdir({});
  const rig = await openRig(t, { env: { DATA_DIR: dir } });
  const agent = await rig.agent();
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${rig.url}/v1/calls/${id}/recording`, {
      headers: { authorization: `Bearer ${rig.key}`, ...headers },
    });

  const none = await rig.api('GET', `/v1/calls/${id}/recording`);
  t.same([none.status, none.body.error.code], [404, 'not_found']);
  const bytes = Buffer.from('RIFF....WAVE0123456789');
  mkdirSync(path.join(dir, 'recordings'));
  writeFileSync(path.join(dir, 'recordings', 'one.wav'), bytes);
  const save = (recordingPath: string) =>
    rig.store.saveCall(id, { from: ['initiated', 'completed'], change: { recording_path: recordingPath } });
  await save('recordings/one.wav');
  const live = await rig.api('GET', `/v1/calls/${id}/recording`);
  t.same([live.status, live.body.error.code], [409, 'conflict']);

  await rig.api('POST', `/v1/calls/${id}/hangup`);
  rig.behaviour.live = () => [{ callId: id, thread: 1, floor: 'none' }];
  t.equal((await get()).status, 409, 'its file is still being closed');
  rig.behaviour.live = () => [];
  const whole = await get();
  t.equal(whole.status, 200);
  t.equal(whole.headers.get('content-type'), 'audio/wav');
  t.equal(whole.headers.get('accept-ranges'), 'bytes');
  t.equal(whole.headers.get('cache-control'), 'no-store');
  t.match(whole.headers.get('content-disposition'), `${id}.wav`);
  t.same(Buffer.from(await whole.arrayBuffer()), bytes);

  const part = await get({ range: 'bytes=8-11' });
  t.equal(part.status, 206);
  t.equal(part.headers.get('content-range'), `bytes 8-11/${bytes.length}`);
  t.equal(await part.text(), 'WAVE');
  t.equal(await (await get({ range: 'bytes=-4' })).text(), '6789');

  const beyond = await rig.api('GET', `/v1/calls/${id}/recording`, { headers: { range: 'bytes=1000-' } });
  t.equal(beyond.status, 416);
  t.equal(beyond.headers.get('content-range'), `bytes */${bytes.length}`);

  writeFileSync(path.join(dir, '..', `${path.basename(dir)}-outside.wav`), 'secret');
  t.teardown(async () =>
    (await import('node:fs')).rmSync(path.join(dir, '..', `${path.basename(dir)}-outside.wav`)),
  );
  for (const gone of ['recordings/two.wav', `../${path.basename(dir)}-outside.wav`, 'recordings']) {
    await save(gone);
    const answer = await rig.api('GET', `/v1/calls/${id}/recording`);
    t.same([answer.status, answer.body?.error.code], [404, 'not_found'], gone);
  }
});

t.test('a recording is converted while it is sent: mono, one side, 16 kHz', async (t) => {
  const dir = t.testdir({});
  const rig = await openRig(t, { env: { DATA_DIR: dir } });
  const agent = await rig.agent();
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const recording = await openRecording(path.join(dir, 'recordings', 'one.wav'));
  recording.write(new Int16Array(160).fill(1000), new Int16Array(160).fill(-200));
  await recording.close();
  await rig.api('POST', `/v1/calls/${id}/hangup`);
  const save = (recordingPath: string) =>
    rig.store.saveCall(id, { from: ['completed'], change: { recording_path: recordingPath } });
  await save('recordings/one.wav');
  const get = (query: string, init: RequestInit = {}) =>
    fetch(`${rig.url}/v1/calls/${id}/recording${query}`, {
      ...init,
      headers: { authorization: `Bearer ${rig.key}`, ...init.headers },
    });
  for (const [query, channels, rateHz, middle] of [
    ['?channels=mono', 1, 8000, [800]],
    ['?channels=caller&rate=8000', 1, 8000, [1000]],
    ['?channels=agent&rate=16000', 1, 16000, [-200]],
    ['?rate=16000', 2, 16000, [1000, -200]],
  ] as const) {
    const answer = await get(query, { headers: { range: 'bytes=0-9' } });
    t.equal(answer.status, 200, `${query}: whole, whatever range is asked for`);
    t.equal(answer.headers.get('content-type'), 'audio/wav');
    t.equal(answer.headers.get('accept-ranges'), 'none');
    t.match(answer.headers.get('content-disposition'), `${id}.wav`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    t.equal(answer.headers.get('content-length'), String(bytes.length));
    t.equal(bytes.length, 44 + 160 * (rateHz / 8000) * channels * 2, 'as long as the call');
    t.same([bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)], [channels, rateHz, 16]);
    const at = 44 + ((bytes.length - 44) / 2 / channels / 2) * channels * 2;
    t.same(
      middle.map((_, side) => bytes.readInt16LE(at + side * 2)),
      [...middle],
      query,
    );
    const head = await get(query, { method: 'HEAD' });
    t.same([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  }
  t.equal((await get('?channels=stereo&rate=8000', { headers: { range: 'bytes=0-3' } })).status, 206);
  for (const [query, param] of [
    ['?channels=left', 'channels'],
    ['?rate=44100', 'rate'],
    ['?format=mp3', 'format'],
  ] as const) {
    const refused = await rig.api('GET', `/v1/calls/${id}/recording${query}`);
    t.same([refused.status, refused.body.error.param], [400, param]);
  }
  writeFileSync(
    path.join(dir, 'recordings', 'other.wav'),
    'RIFF....WAVE, and no more than that, so it is none',
  );
  for (const [file, status, code] of [
    ['recordings/other.wav', 409, 'conflict'],
    ['recordings/none.wav', 404, 'not_found'],
    ['recordings', 404, 'not_found'],
    ['../../../../../../etc/passwd', 404, 'not_found'],
  ] as const) {
    await save(file);
    const answer = await rig.api('GET', `/v1/calls/${id}/recording?channels=mono`);
    t.same([answer.status, answer.body.error.code], [status, code], file);
  }
});

t.test(
  'so many recordings are converted at once; more wait for their turn, and many more are refused',
  async (t) => {
    const dir = t.testdir({ recordings: { 'one.wav': '' } });
    const open: Readable[] = [];
    const rig = await openRig(t, {
      env: { DATA_DIR: dir },
      async openRecording() {
        // Its reader goes on as long as the test likes.
        const sound = new Readable({ read: () => {} });
        sound.push('RIFF');
        open.push(sound);
        return { bytes: 8, sound };
      },
    });
    const agent = await rig.agent();
    const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
      .body;
    await rig.api('POST', `/v1/calls/${id}/hangup`);
    await rig.store.saveCall(id, { from: ['completed'], change: { recording_path: 'recordings/one.wav' } });
    const get = (signal?: AbortSignal) =>
      fetch(`${rig.url}/v1/calls/${id}/recording?channels=mono`, {
        headers: { authorization: `Bearer ${rig.key}` },
        ...(signal === undefined ? {} : { signal }),
      });
    const taken = await Promise.all(Array.from({ length: 4 }, () => get()));
    t.same(
      taken.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    /** One more than may wait. */
    const others = Array.from({ length: 33 }, () => {
      const leave = new AbortController();
      const answer = get(leave.signal);
      answer.catch(() => {});
      return { leave, answer };
    });
    const { refused, by } = await Promise.race(others.map(async (by) => ({ refused: await by.answer, by })));
    t.equal(refused.status, 503);
    t.equal(refused.headers.get('retry-after'), '10');
    t.match(await refused.json(), { error: { code: 'at_capacity' } });
    t.equal(open.length, 4, 'none of those who wait has its file open');
    const [impatient, ...patient] = others.filter((one) => one !== by);
    impatient?.leave.abort();
    await t.rejects(async () => void (await impatient?.answer));

    open[0]?.push('data');
    open[0]?.push(null);
    // Whichever of them came first.
    const heard = taken.map((one) => one.text());
    t.equal(await Promise.race(heard), 'RIFFdata');
    // On a slow machine those who waited may have given up meanwhile.
    while (open.length < 5) {
      get().catch(() => {});
      await new Promise((next) => setTimeout(next, 30));
    }
    t.pass('the next has its turn');
    // All others, so that no test after this one finds them here.
    for (const { leave } of patient) leave.abort();
    for (let at = 1; at < open.length; at++) {
      open[at]?.push('data');
      open[at]?.push(null);
      while (open[at]?.closed !== true) await new Promise((turn) => setImmediate(turn));
    }
    t.same(new Set(await Promise.all(heard)), new Set(['RIFFdata']));
  },
);

t.test('whoever leaves while the call is looked up has nothing converted', async (t) => {
  const dir = t.testdir({ recordings: { 'one.wav': '' } });
  let opened = 0;
  const rig = await openRig(t, {
    env: { DATA_DIR: dir },
    async openRecording() {
      opened++;
      return { bytes: 4, sound: Readable.from(['RIFF']) };
    },
  });
  const agent = await rig.agent();
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  await rig.api('POST', `/v1/calls/${id}/hangup`);
  await rig.store.saveCall(id, { from: ['completed'], change: { recording_path: 'recordings/one.wav' } });
  const get = (signal: AbortSignal | null) =>
    fetch(`${rig.url}/v1/calls/${id}/recording?channels=mono`, {
      headers: { authorization: `Bearer ${rig.key}` },
      signal,
    });
  const responses: ServerResponse[] = [];
  const note = (begun: unknown) => void responses.push((begun as { response: ServerResponse }).response);
  subscribe('http.server.request.start', note);
  t.teardown(() => unsubscribe('http.server.request.start', note));
  const { getCall } = rig.store;
  const leave = new AbortController();
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  rig.store.getCall = async (...asked) => {
    const found = await getCall(...asked);
    const closed = new Promise((gone) => responses.at(-1)?.once('close', gone));
    leave.abort();
    await closed;
    setImmediate(resolve);
    return found;
  };
  await t.rejects(get(leave.signal));
  await answered;
  rig.store.getCall = getCall;
  const answer = await get(null);
  t.equal(await answer.text(), 'RIFF');
  t.equal(opened, 1);
});

t.test('a call that nobody has is 404, and so is an id that is none', async (t) => {
  const rig = await openRig(t);
  for (const id of [NOBODY, 'x', '1', '..%2f..%2fetc', '%00', 'null']) {
    t.equal((await rig.api('GET', `/v1/calls/${id}`)).status, 404, id);
  }
});

t.test(
  'a call keeps the model it was made with; one that is not configured any more leads none',
  async (t) => {
    const rig = await openRig(t, { env: { MODELS_FILE: modelsFile(t, { mini: { model: 'gpt-mini' } }) } });
    const agent = await rig.agent();
    const dial = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
    t.equal((await dial()).body.model, 'gpt-realtime-2.1', 'the default');
    await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { model: 'mini' } });
    const { body: call } = await dial();
    t.equal(call.model, 'mini');
    await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { model: null } });
    t.equal((await rig.api('GET', `/v1/calls/${call.id}`)).body.model, 'mini');
    await rig.store.updateAgent(
      rig.orgId,
      agent.id,
      { model: 'gone', updated_at: new Date(0).toISOString() },
      {},
    );
    const { status, body } = await dial();
    t.same([status, body.error.code, body.error.param], [400, 'invalid_model', 'agent_id']);
    t.equal(rig.dispatched.length, 2);
  },
);

t.test('a call keeps how its agent was tuned when it was made', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const dial = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  const words = ['patience', 'eagerness', 'interruption'] as const;
  const untold = { patience: 'normal', eagerness: 'normal', interruption: 'normal' };
  await dial();
  const every = [
    { patience: 'short', eagerness: 'relaxed', interruption: 'hard' },
    { patience: 'normal', eagerness: 'normal', interruption: 'normal' },
    { patience: 'long', eagerness: 'eager', interruption: 'easy' },
  ];
  for (const tuning of every) {
    t.match((await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: tuning })).body, tuning);
    await dial();
  }
  t.match((await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { name: 'B' } })).body, every[2]!);
  t.same(
    rig.dispatched.map((call) => Object.fromEntries(words.map((word) => [word, call[word]]))),
    [untold, ...every],
  );
  const first = await rig.store.getCall(rig.orgId, rig.dispatched[0]!.id);
  t.match(first, untold, 'a call that is placed or live keeps what it had');
});
