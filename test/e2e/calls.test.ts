// Whole calls over the real wires, side by side on one daemon: what each side says of a call agrees with the others.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { z } from 'zod';
import type { callEvents, callTurns } from '../../control/api/call-activity-schemas.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { streamOffsetMs } from '../../scripts/simulate/evidence.ts';
import { openRig, POLITE, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
type TurnsAnswer = z.infer<typeof callTurns>;
type EventsAnswer = z.infer<typeof callEvents>;

/** The carrier tells nothing of who answered, as long as the call may last. */
const NO_VERDICT = { verdict: 'unknown', afterMs: 120_000 } as const;
const VOICEMAIL = { file: 'voicemail-greeting-with-beep.wav' };

t.test('calls', async (t) => {
  const orders: unknown[] = [];
  const orderServer = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += data;
    });
    request.on('end', () => {
      orders.push({ body: JSON.parse(body), secret: request.headers['x-shop-key'] });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"on its way"}');
    });
  });
  await new Promise<void>((done) => orderServer.listen(0, '127.0.0.1', done));
  t.teardown(() => orderServer.close());
  const orderUrl = `http://127.0.0.1:${(orderServer.address() as AddressInfo).port}/orders`;

  const rig = await openRig(t, {
    env: { RECORD_CALLS: 'true' },
    carrier: {
      callees: {
        '+15550100001': POLITE,
        '+15550100002': {
          ringMs: 200,
          steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 2_500 }],
        },
        '+15550100003': { ringMs: 200, voicemail: { greeting: VOICEMAIL, beep: null } },
        '+15550100004': { ringMs: 200, voicemail: { greeting: VOICEMAIL, beep: null } },
        '+15550100005': { ringMs: 200, outcome: 'busy' },
        '+15550100006': { ringMs: 200, outcome: 'rejected' },
        '+15550100007': { ringMs: 60_000, outcome: 'no_answer' },
        '+15550100008': { ringMs: 60_000 },
        '+15550100009': { ringMs: 200 },
        '+15550100010': {
          ringMs: 200,
          steps: [{ do: 'dtmf', digits: '42#', when: { afterAgentSilenceMs: 500, timeoutMs: 20_000 } }],
        },
        '+15550100012': { ringMs: 200, amd: NO_VERDICT, voicemail: { greeting: VOICEMAIL, beep: null } },
        '+15550100013': { ringMs: 200, amd: NO_VERDICT, voicemail: { greeting: VOICEMAIL, beep: null } },
        '+15550100011': { ringMs: 200, steps: [{ do: 'hang_up', when: { afterAgentMs: 1_500 } }] },
      },
    },
  });
  const carrierCalls = async () => (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  const atCarrier = async (to: string) => {
    const found = (await carrierCalls()).find((call) => call.to === to);
    if (found === undefined) throw new Error(`the carrier knows no call to ${to}`);
    return found;
  };
  const returns = { said_goodbye: 'boolean', caller_words: 'string', never_said: 'date' };
  const brief = await rig.agent({ instructions: 'TEST-BRIEF Talk shortly.', returns, summarize: true });
  const long = await rig.agent({ instructions: 'TEST-LONG Talk long.' });

  t.jobs = 12;
  t.test('answered: greeting, one turn, goodbye heard to its end, result, events, recording', async (t) => {
    const dialled = await rig.dial(brief.id, '+15550100001', {
      context: { customer: 'Ada' },
      metadata: { order: 7 },
      instructions: 'TEST-BRIEF Only this.',
    });
    t.match(dialled, {
      status: 'initiated',
      direction: 'outbound',
      from_number: brief.number,
      instructions: 'TEST-BRIEF Only this.',
    });
    t.match(dialled.prompt, /Only this[\s\S]*Ada/);
    t.notMatch(dialled.prompt, /Talk shortly/);
    const call = await rig.ended(dialled.id);
    t.match(call, {
      status: 'completed',
      hangup_cause: 'agent_ended',
      error_code: null,
      result_status: 'completed',
      reservation_status: 'settled',
      metadata: { order: 7 },
    });
    t.match(call.result, { said_goodbye: true, never_said: null });
    t.match(call, { summary: /\S/, sentiment: /^(positive|neutral|negative)$/ });
    t.match(call.result?.caller_words, /Goodbye/i, 'the words of the recording came through the model');
    const lines = await rig.transcript(call.id);
    t.match(
      lines.map((line) => [line.role, line.text, line.heard_text, line.interrupted]),
      [
        ['agent', GREETING, GREETING, false],
        ['caller', /Thank you for trying out/, /Thank you/, false],
        ['agent', 'Thank you. Goodbye.', 'Thank you. Goodbye.', false],
      ],
    );
    t.ok(lines.every((line, i) => i === 0 || line.start_ms >= (lines[i - 1]?.start_ms ?? 0)));
    await until('its last webhook', async () => (await rig.call(call.id)).webhook_status === 'delivered');
    const events = rig.events(call.id);
    t.same(
      events.map((event) => [event.sequence, event.type, event.body.status]),
      [
        [1, 'call.queued', 'queued'],
        [2, 'call.ringing', 'ringing'],
        [3, 'call.answered', 'in_progress'],
        [4, 'call.completed', 'completed'],
      ],
    );
    t.same(events[3]?.body.result, call.result);
    const told = await rig.lab.api<EventsAnswer>('GET', `/v1/calls/${call.id}/events`);
    t.same(
      told.body.data.map(({ type, deliveries }) => [type, deliveries.map(({ status }) => status)]),
      events.map(({ type }) => [type, ['delivered']]),
      'the events and their deliveries can be read',
    );
    const carrier = await atCarrier(call.to_number);
    t.equal(carrier.endedBy, 'application');
    t.same(carrier.violations, []);
    t.ok(
      Math.abs((carrier.durationSeconds ?? 0) - (call.billed_duration_seconds ?? 0)) <=
        (await rig.billedSlack(carrier)),
      'both count the same seconds',
    );
    const recording = (query: string) =>
      fetch(`${rig.lab.daemon.url}/v1/calls/${call.id}/recording${query}`, {
        headers: { authorization: `Bearer ${rig.lab.apiKey}` },
      });
    const wav = await recording('');
    t.equal(wav.status, 200);
    const bytes = Buffer.from(await wav.arrayBuffer());
    t.equal(bytes.toString('latin1', 0, 4), 'RIFF');
    const converted = Buffer.from(await (await recording('?channels=mono&rate=16000')).arrayBuffer());
    t.equal(converted.length, bytes.length, 'one channel at twice the rate');
    t.same([converted.readUInt16LE(22), converted.readUInt32LE(24)], [1, 16_000]);
    const seconds = (bytes.length - 44) / (8_000 * 2 * 2);
    const stream = carrier.streams[0];
    const streamed = ((stream?.endedMs ?? Number.NaN) - (stream?.startedMs ?? Number.NaN)) / 1000;
    const lateMs = await rig.lateMs();
    t.ok(
      Math.abs(seconds - streamed) < 0.5 + lateMs / 1000,
      `recorded ${seconds} s of a stream of ${streamed} s`,
    );

    const turns = (await rig.lab.api<TurnsAnswer>('GET', `/v1/calls/${call.id}/turns`)).body;
    t.match(turns, { call_id: call.id, status: 'final', interruptions: [] });
    t.same(
      turns.data.map(({ index, kind, barged_in }) => [index, kind, barged_in]),
      [
        [1, 'greeting', false],
        [2, 'answer', false],
      ],
    );
    // The phone network heard the agent begin; both count from the same beginning of the audio.
    const offsetMs = streamOffsetMs(carrier);
    const spurts = carrier.conversation?.agentSpurts ?? [];
    for (const turn of turns.data) {
      const sum = Object.values(turn.parts).reduce<number>((total, ms) => total + (ms ?? 0), 0);
      t.ok(Math.abs(sum - (turn.latency_ms ?? 0)) < 0.5, `${sum} ms in parts, ${turn.latency_ms} in all`);
      const heardMs = (turn.first_heard_ms ?? 0) + offsetMs;
      const off = Math.min(...spurts.map(({ startMs }) => Math.abs(startMs - heardMs)));
      t.ok(off < 250 + lateMs, `the ${turn.kind} is heard ${off} ms from where the phone network heard it`);
    }
    const said = lines[1];
    t.ok(
      Math.abs((turns.data[1]?.speech_end_ms ?? 0) - (said?.end_ms ?? 0)) < 1,
      'it answers what was said, from its end',
    );
    const metrics = await (
      await fetch(`${rig.lab.daemon.url}/metrics`, {
        headers: { authorization: `Bearer ${rig.lab.apiKey}` },
      })
    ).text();
    for (const stage of ['end_of_turn', 'request', 'model', 'send', 'playout']) {
      t.match(
        metrics,
        new RegExp(`offhook_turn_stage_seconds_count\\{kind="answer",stage="${stage}"\\} [1-9]`),
        stage,
      );
    }
  });

  t.test(
    'barge-in: the agent is cut, the record says what was heard, and the model believes the same',
    async (t) => {
      const call = await rig.ended((await rig.dial(long.id, '+15550100002')).id);
      t.equal(call.status, 'completed');
      const told = (await rig.lab.api<TurnsAnswer>('GET', `/v1/calls/${call.id}/turns`)).body;
      const { interruptions } = told;
      t.match(told.data[0], { kind: 'greeting', barged_in: true });
      t.ok(
        told.data.slice(1).every(({ barged_in }) => !barged_in),
        'the others were not cut',
      );
      const [barged, ...others] = interruptions.filter(({ taken_back }) => !taken_back);
      t.same(others, [], 'interrupted once');
      const onsetMs = barged?.onset_ms ?? Number.NaN;
      const silencedMs = barged?.silenced_ms ?? Number.NaN;
      const carrierSaw = await atCarrier(call.to_number);
      const { steps, conversation } = carrierSaw;
      const offsetMs = streamOffsetMs(carrierSaw);
      const spokeMs = steps[0]?.startedMs ?? Number.NaN;
      const lateMs = await rig.lateMs();
      const apartMs = onsetMs + offsetMs - spokeMs;
      t.ok(
        Math.abs(apartMs) < 800 + lateMs,
        `it began when the person began to speak: ${apartMs} ms, late ${lateMs}`,
      );
      const lastMs = conversation?.agentSpurts.find(({ endMs }) => endMs > spokeMs)?.endMs ?? Number.NaN;
      t.ok(
        Math.abs(silencedMs + offsetMs - lastMs) < 800 + lateMs,
        `the voice ended when the phone network heard it end: ${silencedMs + offsetMs - lastMs} ms, late ${lateMs}`,
      );
      const lines = await rig.transcript(call.id);
      const cut = lines[0];
      t.ok(cut?.interrupted);
      t.ok(cut !== undefined && cut.heard_text.length > 10 && cut.heard_text.length < cut.text.length);
      t.ok(cut?.text.startsWith(cut.heard_text));
      const { data } = await rig.lab.ask<{
        data: {
          config: { instructions: string };
          violations: unknown[];
          items: { role: string; truncated_ms: number | null; audio_ms: number }[];
        }[];
      }>('model', '/sessions');
      const session = data.find((one) => one.config.instructions.includes('TEST-LONG'));
      t.same(session?.violations, []);
      const item = session?.items.find((one) => one.truncated_ms !== null);
      t.ok(
        item !== undefined && (item.truncated_ms ?? 0) > 1_000 && (item.truncated_ms ?? 0) < item.audio_ms,
      );
      const carrier = await atCarrier(call.to_number);
      t.same(carrier.violations, []);
    },
  );

  t.test('voicemail, hang up: ends at the verdict, without a result, saying why', async (t) => {
    const agent = await rig.agent({ instructions: 'TEST-VOICEMAIL', returns: { answer: 'string' } });
    const call = await rig.ended((await rig.dial(agent.id, '+15550100003')).id);
    t.match(call, { status: 'completed', hangup_cause: 'voicemail', result_status: 'failed', result: null });
    t.match(call.result_error, /voicemail/i);
  });

  t.test('voicemail, leave a message: after the beep, in full, then the line is given up', async (t) => {
    const agent = await rig.agent({ instructions: 'TEST-VOICEMAIL', voicemail_action: 'leave_message' });
    const call = await rig.ended((await rig.dial(agent.id, '+15550100004')).id, 90_000);
    t.match(call, { status: 'completed', hangup_cause: 'voicemail' });
    const said = (await rig.transcript(call.id)).filter((line) => line.role === 'agent').at(-1);
    t.match(said, { interrupted: false, text: /Riverside Dental/ });
    t.equal(said?.heard_text, said?.text, 'the last word was heard');
  });

  t.test('voicemail of which the carrier tells nothing: its beep does', async (t) => {
    const hangup = await rig.agent({ instructions: 'TEST-VOICEMAIL' });
    const message = await rig.agent({ instructions: 'TEST-VOICEMAIL', voicemail_action: 'leave_message' });
    const calls = await Promise.all([
      rig.dial(hangup.id, '+15550100012'),
      rig.dial(message.id, '+15550100013'),
    ]);
    for (const { id } of calls)
      t.match(await rig.ended(id, 90_000), { status: 'completed', hangup_cause: 'voicemail' });
    const box = (await atCarrier('+15550100013')).voicemail;
    t.ok(box !== null && (box.messageStartMs ?? 0) > box.beepEndedMs, 'after the beep');
    const said = (await rig.transcript(calls[1].id)).filter((line) => line.role === 'agent').at(-1);
    t.match(said, { interrupted: false, text: /Riverside Dental/ });
    t.equal(said?.heard_text, said?.text, 'the last word was heard');
  });

  for (const [to, status] of [
    ['+15550100005', 'busy'],
    ['+15550100006', 'failed'],
  ] as const) {
    t.test(`nobody talks: ${status}`, async (t) => {
      const call = await rig.ended((await rig.dial(brief.id, to)).id);
      t.ok([status, 'busy', 'no_answer'].includes(call.status), call.status);
      t.match(call, {
        answered_at: null,
        billed_duration_seconds: null,
        reservation_status: 'released',
        result_status: 'failed',
      });
      await until(
        'its webhook',
        () => rig.events(call.id).length >= 3 || rig.events(call.id).at(-1)?.type === `call.${call.status}`,
      );
      const events = rig.events(call.id);
      t.equal(events.at(-1)?.type, `call.${call.status}`);
      t.notOk(events.some((event) => event.type === 'call.completed'));
    });
  }

  t.test(
    'cancel while it rings; hang up while it talks; both are over at once and cannot be ended twice',
    async (t) => {
      const ringing = await rig.dial(brief.id, '+15550100008');
      await until('ringing', async () => (await rig.call(ringing.id)).status === 'ringing');
      const canceled = await rig.lab.api('POST', `/v1/calls/${ringing.id}/cancel`);
      t.match(canceled, { status: 200, body: { status: 'canceled', reservation_status: 'released' } });
      t.match(await rig.lab.api('POST', `/v1/calls/${ringing.id}/cancel`), {
        status: 409,
        body: { error: { code: 'call_ended' } },
      });
      const talking = await rig.dial(brief.id, '+15550100009');
      await until('the answer', async () => (await rig.call(talking.id)).status === 'in_progress');
      t.match(await rig.lab.api('POST', `/v1/calls/${talking.id}/cancel`), { status: 409 });
      const ended = await rig.lab.api('POST', `/v1/calls/${talking.id}/hangup`);
      t.match(ended, { status: 200, body: { status: 'completed', hangup_cause: 'hangup_requested' } });
      await until('the carrier to see it', async () => (await atCarrier('+15550100009')).endedAtMs !== null);
      t.equal((await atCarrier('+15550100008')).status, 'canceled');
    },
  );

  t.test('keys pressed reach the agent as one input', async (t) => {
    const call = await rig.ended((await rig.dial(brief.id, '+15550100010')).id);
    t.equal(call.status, 'completed');
    const lines = await rig.transcript(call.id);
    t.match(
      lines.find((line) => line.role === 'system'),
      { text: /42#/ },
    );
  });

  t.test(
    'the other side hangs up in the middle of a sentence: what was not heard is not in heard_text',
    async (t) => {
      const call = await rig.ended((await rig.dial(long.id, '+15550100011')).id);
      t.match(call, { status: 'completed', error_code: null });
      const [line] = await rig.transcript(call.id);
      t.ok(line?.interrupted);
      t.ok(line !== undefined && line.heard_text.length < line.text.length / 2);
      t.equal((await atCarrier(call.to_number)).endedBy, 'callee');
    },
  );

  t.test('inbound: rings on an attached number, runs an HTTP tool, tells its answer', async (t) => {
    const agent = await rig.agent({
      type: 'inbound',
      instructions: 'TEST-LOOKUP',
      returns: { status: 'string' },
      tools: [
        {
          type: 'http',
          name: 'lookup_order',
          description: 'Finds an order.',
          parameters: {
            type: 'object',
            properties: { order_number: { type: 'string' } },
            required: ['order_number'],
          },
          url: orderUrl,
          method: 'POST',
          headers: { 'X-Shop-Key': 'planted-secret' },
        },
      ],
    });
    await rig.lab.ask('carrier', '/inbound-calls', {
      to: agent.number,
      from: '+15550109999',
      callee: {
        steps: [
          { do: 'say', file: 'caller-more-info.wav', when: { afterAgentSilenceMs: 700, timeoutMs: 20_000 } },
        ],
      },
    });
    const listed = await until('the call', async () => {
      const { body } = await rig.lab.api<{ id: string }[]>('GET', `/v1/calls?agent_id=${agent.id}`);
      return body[0];
    });
    const call = await rig.ended(listed.id);
    t.match(call, {
      status: 'completed',
      direction: 'inbound',
      to_number: agent.number,
      from_number: '+15550109999',
      context: null,
      metadata: {},
      result: { status: 'on its way' },
    });
    t.same(orders, [{ body: { order_number: '1042' }, secret: 'planted-secret' }]);
    const lines = await rig.transcript(call.id);
    t.match(
      lines.find((line) => line.role === 'tool'),
      { text: /lookup_order/ },
    );
    t.match(lines.at(-1), { role: 'agent', text: /on its way/, interrupted: false });
    const types = await until('its events', () => {
      const found = rig.events(call.id).map((event) => event.type);
      return found.length >= 3 ? found : null;
    });
    t.same(types, ['call.ringing', 'call.answered', 'call.completed']);
  });

  t.test('a daemon with the default voice model has no onnxruntime in it', async (t) => {
    const mapped = readFileSync(`/proc/${rig.lab.daemon.pid}/maps`, 'utf8');
    t.ok(mapped.includes('/node_modules/better-sqlite3/'), 'libraries are seen');
    t.notOk(mapped.includes('onnxruntime'));
  });

  t.test('inbound on a number that no agent answers is rejected, not answered', async (t) => {
    await rig.lab.ask('carrier', '/inbound-calls', { to: long.number, from: '+15550108888', callee: {} });
    const carrier = await until('the rejection', async () =>
      (await carrierCalls()).find((call) => call.from === '+15550108888' && call.endedAtMs !== null),
    );
    t.equal(carrier.answeredAtMs, null);
    const { body } = await rig.lab.api<unknown[]>('GET', '/v1/calls?from_number=%2B15550108888');
    t.same(body, []);
  });
});
