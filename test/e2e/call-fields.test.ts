// Every field of the Call at every status it can have, as GET and the webhooks show it: calls of every end, side by side.
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { openRig, POLITE, until } from './rig.ts';

/** The fields of the specification's table, in its order. */
const SPECIFIED = [
  ...['id', 'agent_id', 'to_number', 'from_number', 'status', 'direction', 'persona', 'instructions'],
  ...['prompt', 'context', 'returns', 'language', 'result', 'result_status', 'result_error'],
  ...['created_at', 'started_at', 'answered_at', 'ended_at', 'duration_seconds'],
  ...['billed_duration_seconds', 'billing_amount_milli_cents', 'reservation_status'],
  ...['webhook_url', 'webhook_status', 'webhook_error', 'error_code', 'error_message', 'hangup_cause'],
  ...['metadata', 'updated_at'],
];
/** Milli-cents a connected minute: 50 a second. */
const PRICE = 3_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PERSONA = 'You are Ada of the reminder service.';
const RETURNS = { said_goodbye: 'boolean', never_said: 'date' };

/** What the table says of a call, whatever became of it. */
function holdsAlways(t: Test, call: PublicCall, asked: Partial<PublicCall>): void {
  t.same(Object.keys(call).slice(0, SPECIFIED.length), SPECIFIED);
  t.match(call.id, UUID);
  t.match(call, asked);
  t.match(call.prompt, call.persona ?? 'AI assistant');
  t.match(call.prompt, call.instructions ?? '');
  for (const name of ['created_at', 'started_at', 'answered_at', 'ended_at', 'updated_at'] as const) {
    if (call[name] !== null) t.match(call[name], TIME, name);
  }
  const times = [call.created_at, call.started_at, call.answered_at, call.ended_at].filter(
    (at) => at !== null,
  );
  t.same([...times].sort(), times, 'created, rang, answered, ended: in this order');
  t.ok(call.updated_at >= call.created_at);
  t.equal(
    call.result_status === 'failed',
    call.result_error !== null,
    'result_error says why, and only then',
  );
  t.ok(call.result === null || call.result_status === 'completed');
}

/** Not over yet: nothing of the end is set, the credit is held. */
function holdsBeforeEnd(t: Test, call: PublicCall, status: string, o: { rang: boolean; answered: boolean }) {
  t.match(call, {
    status,
    ended_at: null,
    duration_seconds: null,
    billed_duration_seconds: null,
    billing_amount_milli_cents: null,
    reservation_status: 'reserved',
    result: null,
    result_status: 'pending',
    result_error: null,
    webhook_status: 'none',
    webhook_error: null,
    error_code: null,
    error_message: null,
    hangup_cause: null,
  });
  t.equal(call.started_at !== null, o.rang, `started_at while ${status}`);
  t.equal(call.answered_at !== null, o.answered, `answered_at while ${status}`);
}

const seconds = (from: string | null, to: string | null) =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;

/** Measured by the steady clock: of times in whole milliseconds the difference is one more or less. */
function lasts(t: Test, { duration_seconds, ended_at }: PublicCall, from: string | null): void {
  const lasted = seconds(from, ended_at);
  const whole = [Math.ceil(lasted - 0.001), Math.ceil(lasted + 0.001)];
  t.ok(whole.includes(duration_seconds ?? 0), `${duration_seconds} s to the end`);
}

/** Over and it was connected: charged by the second. */
function holdsConnected(t: Test, call: PublicCall, status: string): void {
  const { started_at, answered_at, ended_at, billed_duration_seconds: billed } = call;
  t.match(call, {
    status,
    reservation_status: 'settled',
    started_at: TIME,
    answered_at: TIME,
    ended_at: TIME,
  });
  t.match(call.hangup_cause, /\w/);
  lasts(t, call, started_at);
  // The carrier counts the connected seconds; its clock and ours are an instant apart.
  t.ok(
    Number.isInteger(billed) && Math.abs((billed ?? 0) - seconds(answered_at, ended_at)) <= 1.5,
    `billed ${billed}`,
  );
  t.equal(call.billing_amount_milli_cents, ((billed ?? 0) * PRICE) / 60);
}

/** Over and never connected: nothing charged, nothing held. */
function holdsUnconnected(t: Test, call: PublicCall, status: string): void {
  t.match(call, {
    status,
    answered_at: null,
    ended_at: TIME,
    billed_duration_seconds: null,
    billing_amount_milli_cents: null,
    reservation_status: 'released',
    result: null,
    webhook_status: 'none',
    webhook_error: null,
  });
  t.match(call.hangup_cause, /\w/);
  lasts(t, call, call.started_at ?? call.created_at);
}

/** What the call's life says of it; its cost is worked out afterwards. */
function lived(call: PublicCall | undefined): Partial<PublicCall> {
  const { cost: _cost, updated_at: _at, ...rest } = call ?? ({} as PublicCall);
  return rest;
}

t.test('fields of the call', async (t) => {
  const arrived: { path: string; headers: Record<string, string>; text: string }[] = [];
  const rig = await openRig(t, {
    env: { PRICE_PER_MINUTE_MILLI_CENTS: String(PRICE), RESERVE_MINUTES: '2', RING_SECONDS: '5' },
    carrier: {
      // Long enough for each status to be seen, also on a machine that is busy.
      network: { postDialDelayMs: 3_000 },
      defaultCallee: { ...POLITE, ringMs: 3_000 },
      faults: [{ do: 'latency', method: 'POST', path: 'Calls.json', ms: 3_000, times: 0 }],
      geoBlockedPrefixes: ['+1415777'],
      callees: {
        '+15550700002': { ringMs: 400, outcome: 'busy' },
        '+15550700003': { outcome: 'no_answer' },
        '+15550700004': { ringMs: 60_000 },
        '+15550700005': { outcome: 'invalid' },
        '+15550700006': { ringMs: 400 },
        '+15550700007': { ringMs: 400, outcome: 'hangup_at_once', hangUpAfterMs: 300 },
      },
    },
    answer(request, text) {
      const path = request.url ?? '';
      arrived.push({ path, headers: request.headers as Record<string, string>, text });
      return path === '/gone' ? 410 : 204;
    },
  });
  const { lab } = rig;
  const inlineUrl = lab.receiverUrl;
  const at = (path: string) => new URL(path, inlineUrl).href;
  const inlineSecret = (await lab.api<{ secret: string }>('POST', '/v1/webhook_secret/rotate')).body.secret;
  const everything = (
    await lab.api<{ id: string; secret: string }>('POST', '/v1/webhook_endpoints', { url: at('/everything') })
  ).body;
  await lab.api('POST', '/v1/webhook_endpoints', { url: at('/busy'), enabled_events: ['call.busy'] });
  /** What a receiver got of a call, each event once, in the order of the events. */
  const got = (path: string, callId: string) => {
    const events = new Map<string, { sequence: number; type: string; body: PublicCall }>();
    for (const { path: where, headers, text } of arrived) {
      const body = JSON.parse(text) as PublicCall;
      if (where !== path || body.id !== callId) continue;
      const sequence = Number(headers['service-event-sequence']);
      events.set(headers['service-event-id'] ?? '', {
        sequence,
        type: headers['service-event-type'] ?? '',
        body,
      });
    }
    return [...events.values()].sort((a, b) => a.sequence - b.sequence);
  };
  /** The events of an ended call, once all that are due have come to both receivers. */
  const eventsOf = (callId: string, types: string[]) =>
    until(`${types} of ${callId}`, () => {
      const inline = got('/hooks', callId);
      const sent = got('/everything', callId);
      return inline.length >= types.length && sent.length >= types.length ? inline : null;
    });
  const told = async (t: Test, call: PublicCall, types: string[]) => {
    const events = await eventsOf(call.id, types);
    t.same(
      events.map(({ type, sequence }) => [type, sequence]),
      types.map((type, i) => [type, i + 1]),
    );
    t.same(got('/everything', call.id), events, 'an endpoint for * receives the same');
    return events.map(({ body }) => body);
  };
  const carrierCall = (to: string) =>
    until(`the carrier's call to ${to}`, async () =>
      (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find((call) => call.to === to),
    );
  const seen = (id: string, status: string) =>
    until(`${status} of ${id}`, async () => {
      const call = await rig.call(id);
      return call.status === status ? call : null;
    });

  const agent = await rig.agent({
    instructions: 'TEST-BRIEF',
    persona: PERSONA,
    returns: RETURNS,
    language: 'en-GB',
  });
  const plain = await rig.agent({ instructions: 'TEST-BRIEF plain' });
  const defaults = {
    agent_id: plain.id,
    from_number: plain.number,
    direction: 'outbound',
    persona: null,
    instructions: 'TEST-BRIEF plain',
    context: {},
    returns: {},
    language: 'en',
    webhook_url: inlineUrl,
    metadata: {},
  } as const;

  t.jobs = 12;

  t.test('queued, initiated, ringing, in_progress, completed: each as it is seen and told', async (t) => {
    const to = '+15550700001';
    const asked = {
      agent_id: agent.id,
      to_number: to,
      from_number: agent.number,
      direction: 'outbound',
      persona: PERSONA,
      instructions: 'TEST-BRIEF for this call',
      context: { customer: 'Grace', nested: [1, null] },
      returns: RETURNS,
      language: 'en-GB',
      webhook_url: at('/hooks'),
      metadata: { order: '7' },
    } as const;
    // The model takes its time to find a result.
    await lab.ask('model', '/faults', { kind: 'extraction', mode: 'ok', ms: 4_000, times: 4 });
    const dialling = rig.dial(agent.id, to, {
      instructions: asked.instructions,
      context: asked.context,
      metadata: asked.metadata,
      webhook_url: asked.webhook_url,
    });
    const queued = await until('the call in the list', async () => {
      const { body } = await lab.api<PublicCall[]>(
        'GET',
        `/v1/calls?status=queued&to_number=%2B${to.slice(1)}`,
      );
      return body[0];
    });
    holdsAlways(t, queued, asked);
    holdsBeforeEnd(t, queued, 'queued', { rang: false, answered: false });

    const initiated = await dialling;
    t.equal(initiated.id, queued.id);
    holdsAlways(t, initiated, asked);
    holdsBeforeEnd(t, initiated, 'initiated', { rang: false, answered: false });
    t.equal(initiated.prompt, queued.prompt, 'rendered once');
    t.match(initiated.prompt, 'Grace');
    t.same(await rig.call(initiated.id), initiated, 'GET shows what POST answered');

    const ringing = await seen(initiated.id, 'ringing');
    holdsAlways(t, ringing, asked);
    holdsBeforeEnd(t, ringing, 'ringing', { rang: true, answered: false });

    const talking = await seen(initiated.id, 'in_progress');
    holdsAlways(t, talking, asked);
    holdsBeforeEnd(t, talking, 'in_progress', { rang: true, answered: true });
    t.match((await lab.api('GET', `/v1/calls/${initiated.id}/transcript`)).body, { status: 'live' });

    const pending = await seen(initiated.id, 'completed');
    holdsAlways(t, pending, asked);
    holdsConnected(t, pending, 'completed');
    t.match(pending, {
      result: null,
      result_status: 'pending',
      webhook_status: 'none',
      hangup_cause: 'agent_ended',
    });
    t.notOk(
      got('/hooks', initiated.id).some(({ type }) => type === 'call.completed'),
      'it waits for the result',
    );

    const ended = await until('its delivery', async () => {
      const call = await rig.call(initiated.id);
      return call.webhook_status === 'delivered' ? call : null;
    });
    holdsAlways(t, ended, asked);
    holdsConnected(t, ended, 'completed');
    t.match(ended, {
      result_status: 'completed',
      webhook_error: null,
      error_code: null,
      error_message: null,
      hangup_cause: 'agent_ended',
    });
    t.same(ended.result, { said_goodbye: true, never_said: null });
    t.match((await lab.api('GET', `/v1/calls/${initiated.id}/transcript`)).body, { status: 'final' });

    const types = ['call.queued', 'call.ringing', 'call.answered', 'call.completed'];
    const bodies = await told(t, ended, types);
    // That its stream has begun may be noted a moment after the answer.
    const answered = { ...talking, updated_at: bodies[2]?.updated_at };
    t.ok((bodies[2]?.updated_at ?? '9') <= talking.updated_at);
    t.same(
      bodies.slice(0, 3),
      [queued, ringing, answered],
      'a body is the Call object as it was at its event',
    );
    t.equal(bodies[3]?.webhook_status, 'pending', 'of itself');
    t.same({ ...lived(bodies[3]), webhook_status: 'delivered' }, lived(ended));

    for (const { path, headers, text } of arrived.filter((one) => one.text.includes(initiated.id))) {
      const secret = path === '/everything' ? everything.secret : inlineSecret;
      t.doesNotThrow(
        () => new Webhook(secret).verify(text, headers),
        `${path} is signed with its own secret`,
      );
      t.equal(headers['service-event-id'], headers['webhook-id']);
    }
  });

  t.test('busy: nothing charged; whoever asked for call.busy alone is told of it alone', async (t) => {
    const call = await rig.ended((await rig.dial(plain.id, '+15550700002')).id);
    holdsAlways(t, call, { ...defaults, to_number: '+15550700002' });
    holdsUnconnected(t, call, 'busy');
    t.match(call, { started_at: TIME, error_code: null, error_message: null, result_status: 'completed' });
    const bodies = await told(t, call, ['call.queued', 'call.ringing', 'call.busy']);
    t.same(lived(bodies[2]), lived(call));
    await until('the endpoint of call.busy', () => got('/busy', call.id).length > 0);
    t.same(
      got('/busy', call.id).map(({ type, body }) => [type, lived(body)]),
      [['call.busy', lived(call)]],
    );
  });

  t.test('no_answer: it rang as long as it may; what was asked for has failed, saying why', async (t) => {
    const call = await rig.ended((await rig.dial(agent.id, '+15550700003')).id);
    holdsAlways(t, call, { agent_id: agent.id, returns: RETURNS });
    holdsUnconnected(t, call, 'no_answer');
    t.match(call, {
      started_at: TIME,
      error_code: null,
      result_status: 'failed',
      result_error: /[Nn]obody answered/,
    });
    const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls?number=%2B15550700003');
    const rangMs =
      (calls[0]?.endedAtMs ?? 0) - (calls[0]?.timeline.find((at) => at.status === 'ringing')?.atMs ?? 0);
    t.ok(rangMs >= 5_000, 'RING_SECONDS is 5');
    // The carrier tells of it in whole seconds, and of the ringing when that hook arrives.
    t.ok(Math.abs((call.duration_seconds ?? 0) - rangMs / 1000) <= 2 + (await rig.lateMs()) / 1000);
    t.same(lived((await told(t, call, ['call.queued', 'call.ringing', 'call.no_answer']))[2]), lived(call));
  });

  t.test('canceled: while it rings; what the carrier says later changes nothing', async (t) => {
    const { id } = await rig.dial(plain.id, '+15550700004');
    await seen(id, 'ringing');
    const canceled = (await lab.api<PublicCall>('POST', `/v1/calls/${id}/cancel`)).body;
    holdsAlways(t, canceled, { ...defaults, to_number: '+15550700004' });
    holdsUnconnected(t, canceled, 'canceled');
    t.match(canceled, { hangup_cause: 'canceled', error_code: null, result_status: 'completed' });
    const bodies = await told(t, canceled, ['call.queued', 'call.ringing', 'call.canceled']);
    t.same(lived(bodies[2]), lived(canceled));

    const { sid } = await carrierCall('+15550700004');
    const url = `${lab.daemon.url}/carriers/twilio/calls/${id}/status`;
    for (const CallStatus of ['initiated', 'ringing', 'in-progress', 'completed', 'completed', 'busy']) {
      const fields: Record<string, string> = {
        AccountSid: lab.accountSid,
        CallSid: sid,
        CallStatus,
        CallDuration: '60',
        Timestamp: new Date().toUTCString(),
        SequenceNumber: '3',
      };
      const text = Object.keys(fields)
        .sort()
        .reduce((all, name) => all + name + fields[name], url);
      const answer = await fetch(url, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { 'x-twilio-signature': createHmac('sha1', lab.carrierToken).update(text).digest('base64') },
      });
      t.ok(answer.ok, CallStatus);
    }
    t.same(lived(await rig.call(id)), lived(canceled));
    t.equal(got('/hooks', id).length, 3, 'and nobody is told of it');
  });

  t.test('failed: a number that is none, after the carrier had accepted the call', async (t) => {
    const call = await rig.ended((await rig.dial(agent.id, '+15550700005')).id);
    holdsAlways(t, call, { agent_id: agent.id });
    holdsUnconnected(t, call, 'failed');
    t.match(call, {
      started_at: null,
      error_code: /\w/,
      error_message: /\w/,
      result_status: 'failed',
      result_error: /\w/,
    });
    t.same(lived((await told(t, call, ['call.queued', 'call.failed']))[1]), lived(call));
  });

  t.test('failed: the carrier refuses: 502, and the call is kept with its code', async (t) => {
    const to = '+14157770199';
    const refused = await lab.api('POST', '/v1/calls', { agent_id: agent.id, to });
    t.match(refused, { status: 502, body: { error: { code: 'carrier_error', carrier_code: '21215' } } });
    const { body } = await lab.api<PublicCall[]>('GET', `/v1/calls?to_number=%2B${to.slice(1)}`);
    t.equal(body.length, 1);
    const call = body[0] as PublicCall;
    holdsAlways(t, call, { agent_id: agent.id, to_number: to });
    holdsUnconnected(t, call, 'failed');
    t.match(call, {
      started_at: null,
      error_code: '21215',
      error_message: /\w/,
      hangup_cause: 'refused_by_carrier',
    });
    t.match(call, { result_status: 'failed', result_error: /\w/ });
    t.same(lived((await told(t, call, ['call.queued', 'call.failed']))[1]), lived(call));
  });

  t.test('failed: in the middle of the talk; the connected time is charged', async (t) => {
    const to = '+15550700006';
    const { id } = await rig.dial(agent.id, to);
    await until('the greeting', async () => (await rig.transcript(id))[0]?.heard_text);
    const { sid: callSid } = await carrierCall(to);
    // Nor can another stream be opened: the line is given up at last.
    await lab.ask('carrier', '/faults', { do: 'stream_refuse', callSid, times: 0 });
    await lab.ask('carrier', '/faults', { do: 'stream_abort', callSid });
    const call = await rig.ended(id);
    holdsAlways(t, call, { agent_id: agent.id, to_number: to });
    holdsConnected(t, call, 'failed');
    t.match(call, { error_code: 'stream_lost', error_message: /\w/, hangup_cause: 'stream_lost' });
    t.match(call.gaps, [{ why: 'stream_lost', to_ms: null }]);
    const tries = (await carrierCall(to)).streams.length;
    t.ok(tries > 5 && tries < 80, `a carrier that is refused is told ${tries} times, not as fast as it asks`);
    t.match(call, { result_status: 'failed', result_error: /\w/, webhook_status: 'none' });
    const bodies = await told(t, call, ['call.queued', 'call.ringing', 'call.answered', 'call.failed']);
    t.same(lived(bodies[3]), lived(call));
  });

  t.test('completed without a conversation: nothing to take a result from', async (t) => {
    const call = await rig.ended((await rig.dial(agent.id, '+15550700007')).id);
    holdsAlways(t, call, { agent_id: agent.id });
    holdsConnected(t, call, 'completed');
    t.match(call, {
      result: null,
      result_status: 'failed',
      result_error: /\w/,
      hangup_cause: 'remote_hangup',
    });
    const bodies = await told(t, call, ['call.queued', 'call.ringing', 'call.answered', 'call.completed']);
    t.match(bodies[3], { result_status: 'failed', webhook_status: 'pending' });
  });

  t.test('webhook_status and webhook_error: failed when given up, delivered by a replay', async (t) => {
    const { id } = await rig.dial(plain.id, '+15550700008', { webhook_url: at('/gone') });
    await seen(id, 'in_progress');
    t.match(await rig.call(id), { webhook_status: 'none', webhook_error: null }, 'other events do not count');
    await lab.api('POST', `/v1/calls/${id}/hangup`);
    const call = await until('the failure', async () => {
      const now = await rig.call(id);
      return now.webhook_status === 'failed' ? now : null;
    });
    holdsAlways(t, call, { ...defaults, webhook_url: at('/gone') });
    holdsConnected(t, call, 'completed');
    t.match(call, { webhook_error: 'http_status_410', hangup_cause: 'hangup_requested' });
    t.match(call, { result: null, result_status: 'completed' }, 'nothing was asked for');
    const { body } = await lab.api<{ data: { id: string; endpoint_id: string | null }[] }>(
      'GET',
      `/v1/webhook_deliveries?call_id=${id}&event_type=call.completed&status=exhausted`,
    );
    t.match(body.data, [{ endpoint_id: null }]);
    t.match(await lab.api('POST', `/v1/webhook_deliveries/${body.data[0]?.id}/redeliver`), {
      status: 200,
      body: { status: 'pending', manual_retry_count: 1 },
    });
    await until('the replay', async () => (await rig.call(id)).webhook_status === 'failed');
    t.match(
      arrived.findLast(({ path }) => path === '/gone'),
      { headers: { 'service-replay': 'true', 'service-event-type': 'call.completed' } },
    );
  });

  t.test('inbound: it rings from the start, and has neither context nor metadata of its own', async (t) => {
    const inbound = await rig.agent({
      type: 'inbound',
      instructions: 'TEST-BRIEF',
      returns: { said_goodbye: 'boolean' },
    });
    await lab.ask('carrier', '/inbound-calls', { to: inbound.number, from: '+15550709999', callee: POLITE });
    const first = await until('the call', async () => {
      const { body } = await lab.api<PublicCall[]>('GET', `/v1/calls?agent_id=${inbound.id}`);
      return body[0];
    });
    const call = await until('its delivery', async () => {
      const now = await rig.call(first.id);
      return now.webhook_status === 'delivered' ? now : null;
    });
    const asked = {
      agent_id: inbound.id,
      to_number: inbound.number,
      from_number: '+15550709999',
      direction: 'inbound',
      context: null,
      metadata: {},
      webhook_url: inlineUrl,
    } as const;
    holdsAlways(t, call, asked);
    holdsConnected(t, call, 'completed');
    t.match(call, { result: { said_goodbye: true }, result_status: 'completed', error_code: null });
    const [ringing, answered, completed] = await told(t, call, [
      'call.ringing',
      'call.answered',
      'call.completed',
    ]);
    for (const body of [ringing, answered, completed]) holdsAlways(t, body as PublicCall, asked);
    holdsBeforeEnd(t, ringing as PublicCall, 'ringing', { rang: true, answered: false });
    t.equal(ringing?.started_at, ringing?.created_at);
    holdsBeforeEnd(t, answered as PublicCall, 'in_progress', { rang: true, answered: true });
  });
});
