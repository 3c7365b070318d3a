// Calls from a browser over the real wires: the page's protocol, the daemon, the simulated model. What was said arrives,
// what was played counts as heard, and nobody else's page or second socket gets in.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { compare, readWav, speechStretches } from '../../scripts/simulate/sound.ts';
import { type OpenedCall, type Peer, signIn, takeUp } from './browser-peer.ts';
import { ENDED, openRig, type Rig, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
/** Mean of all pieces: speech through the line's coding reaches 0.99, a busy machine leaves holes, other speech stays below 0.5. */
const LIKENESS = 0.8;
const FIXTURES = join(import.meta.dirname, '../fixtures/audio');

interface ModelSession {
  config: { instructions: string };
  violations: unknown[];
  received_wav: string | null;
  sent_wav: string | null;
  items: {
    role?: string;
    type: string;
    output?: string;
    truncated_ms: number | null;
    audio_ms: number;
  }[];
}

const mono = (path: string) => readWav(readFileSync(path)).channels[0] ?? new Float32Array();

/** The model's side of the talk whose instructions hold `words`, once its recordings are complete. */
async function modelSession(rig: Rig, words: string): Promise<ModelSession> {
  return until('the end of the session', async () => {
    const { data } = await rig.lab.ask<{ data: (ModelSession & { closed_at_ms?: number | null })[] }>(
      'model',
      '/sessions',
    );
    return data.find((one) => one.config.instructions.includes(words));
  });
}

/** Opens a media socket; answers the HTTP status of its refusal, or the socket. */
function openSocket(url: string, path: string, headers: Record<string, string>): Promise<number | WebSocket> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
    socket.on('unexpected-response', (_request, response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.on('open', () => resolve(socket));
    socket.on('error', () => resolve(-1));
  });
}

t.test('calls from a browser', async (t) => {
  const rig = await openRig(t, { env: { RECORD_CALLS: 'true' } });
  const { lab } = rig;
  const operator = await signIn(rig);
  const { url } = lab.daemon;
  /** An agent that has no number. */
  const agent = async (fields: Record<string, unknown>) => {
    const made = await lab.api<{ id: string }>('POST', '/v1/agents', {
      name: 'Test',
      type: 'inbound',
      webhook_url: lab.receiverUrl,
      ...fields,
    });
    if (made.status !== 201) throw new Error(`no agent: ${JSON.stringify(made.body)}`);
    return made.body.id;
  };
  const long = await agent({ type: 'outbound', instructions: 'TEST-LONG Talk long.' });
  const talk = async (id: string, more?: Record<string, unknown>) => {
    const call = await operator.open(id, more);
    return { ...call, peer: await takeUp(url, call) };
  };

  /** A busy machine may leave holes in a greeting: that it is over is the record's to say. */
  const greeted = (peer: Peer) =>
    until('the greeting to be heard', async () => {
      const [line] = await rig.transcript(peer.callId);
      return line?.heard_text === GREETING;
    });

  t.jobs = 12;
  t.test('a talk: both voices arrive whole, and the call is one like any other', async (t) => {
    const id = await agent({
      instructions: 'TEST-BRIEF In the browser.',
      returns: { said_goodbye: 'boolean', caller_words: 'string' },
    });
    const { peer } = await talk(id);
    await greeted(peer);
    await peer.say('caller-thanks.wav');
    t.equal(await peer.closed, 1000, 'the agent has ended it, and the page is told');
    const call = await rig.ended(peer.callId);
    t.match(call, {
      status: 'completed',
      hangup_cause: 'agent_ended',
      direction: 'inbound',
      from_number: 'browser',
      to_number: 'browser',
      agent_id: id,
      error_code: null,
      reservation_status: 'settled',
      metadata: { source: 'browser' },
      result: { said_goodbye: true, caller_words: /Goodbye/i },
    });
    t.match(call.cost, { carrier: { name: 'browser', milli_cents: 0 } }, 'no line was paid for');
    t.ok((call.cost?.total_milli_cents ?? 0) > 0, 'the model was');
    t.match(
      (await rig.transcript(call.id)).map((line) => [
        line.role,
        line.text,
        line.heard_text,
        line.interrupted,
      ]),
      [
        ['agent', GREETING, GREETING, false],
        ['caller', /Thank you for trying out/, /Thank you/, false],
        ['agent', 'Thank you. Goodbye.', 'Thank you. Goodbye.', false],
      ],
    );
    const session = await modelSession(rig, 'TEST-BRIEF In the browser.');
    t.same(session.violations, []);
    const toEar = compare(mono(session.sent_wav ?? ''), peer.heard(), 0);
    t.ok(toEar.found.length > 3 && toEar.mean > LIKENESS, `agent to ear: ${toEar.mean.toFixed(3)}`);
    t.ok(toEar.chance < LIKENESS, 'which no other sound would be');
    const said = mono(join(FIXTURES, 'caller-thanks.wav'));
    const toModel = compare(said, mono(session.received_wav ?? ''), 0, speechStretches(said));
    t.ok(toModel.found.length > 3 && toModel.mean > LIKENESS, `caller to model: ${toModel.mean.toFixed(3)}`);
    t.ok(peer.inOrder(), 'every frame follows the one before');
    t.ok(peer.framesSent() > 100);
    const types = await until('its webhooks', () => {
      const found = rig.events(call.id).map((event) => event.type);
      return found.length >= 3 ? found : null;
    });
    t.same(types, ['call.ringing', 'call.answered', 'call.completed']);
    const wav = await fetch(`${url}/v1/calls/${call.id}/recording`, {
      headers: { authorization: `Bearer ${lab.apiKey}` },
    });
    const [caller = new Float32Array(), agentSide = new Float32Array()] = readWav(
      Buffer.from(await wav.arrayBuffer()),
    ).channels;
    t.ok(compare(said, caller, 0, speechStretches(said)).mean > LIKENESS, 'recorded: the caller');
    t.ok(compare(mono(session.sent_wav ?? ''), agentSide, 0).mean > LIKENESS, 'and the agent');
  });

  t.test('barge-in: the page is cleared at once, and heard is what it had played', async (t) => {
    const { peer } = await talk(await agent({ type: 'outbound', instructions: 'TEST-LONG To be cut.' }));
    await peer.agentSpoke(2_500);
    const saying = peer.say('caller-thanks.wav');
    await until('the clear', () => peer.clears() > 0);
    const playedMs = peer.playedMs();
    await saying;
    t.equal(await peer.closed, 1000);
    const call = await rig.ended(peer.callId);
    t.match(call, { status: 'completed', direction: 'outbound', to_number: 'browser' });
    const [cut] = await rig.transcript(call.id);
    t.ok(cut?.interrupted);
    t.ok(cut !== undefined && cut.heard_text.length > 10 && cut.heard_text.length < cut.text.length);
    t.ok(cut?.text.startsWith(cut.heard_text));
    const session = await modelSession(rig, 'TEST-LONG To be cut.');
    t.same(session.violations, []);
    const truncated = session.items.find((item) => item.truncated_ms !== null)?.truncated_ms ?? 0;
    // Marks stand 100 ms apart and take their way; never is more believed heard than was played.
    const leastMs = playedMs - 500 - (await rig.lateMs());
    t.ok(truncated <= playedMs && truncated > leastMs, `model: ${truncated} ms, page: ${playedMs} ms`);
    t.same(
      rig
        .events(call.id)
        .map((event) => event.type)
        .slice(0, 3),
      ['call.queued', 'call.ringing', 'call.answered'],
    );
  });

  t.test('typed words are a turn, and are answered', async (t) => {
    const id = await agent({ instructions: 'TEST-BRIEF By keyboard.' });
    const { peer } = await talk(id, { text_only: true });
    await greeted(peer);
    peer.send({ type: 'text', text: 'That is all, thank you.' });
    t.equal(await peer.closed, 1000);
    const call = await rig.ended(peer.callId);
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended', metadata: { text_only: true } });
    t.match(
      (await rig.transcript(call.id)).map((line) => [line.role, line.text, line.heard_text]),
      [
        ['agent', GREETING, GREETING],
        ['caller', 'That is all, thank you.', 'That is all, thank you.'],
        ['agent', 'Thank you. Goodbye.', 'Thank you. Goodbye.'],
      ],
    );
  });

  t.test('keys reach the agent', async (t) => {
    const { peer } = await talk(await agent({ instructions: 'TEST-BRIEF By keys.' }));
    await greeted(peer);
    for (const digit of '42#') peer.send({ type: 'digit', digit });
    t.equal(await peer.closed, 1000);
    const lines = await rig.transcript((await rig.ended(peer.callId)).id);
    t.ok(lines.some((line) => line.role === 'system' && line.text.includes('42#')));
  });

  for (const [how, leave] of [
    ['says that it stops', 'stop'],
    ['vanishes', 'vanish'],
  ] as const) {
    t.test(`the page ${how}: the call is over at once, heard to where it was played`, async (t) => {
      const { peer } = await talk(long);
      await peer.agentSpoke(2_000);
      peer[leave]();
      const call = await rig.ended(peer.callId, 20_000);
      t.match(call, { status: 'completed', hangup_cause: 'remote_hangup', error_code: null });
      const [line] = await rig.transcript(call.id);
      t.ok(line?.interrupted && line.heard_text.length < line.text.length / 2);
    });
  }

  t.test('hung up by the API: the page is told', async (t) => {
    const { peer } = await talk(long);
    await peer.agentSpoke(500);
    t.match(await lab.api('POST', `/v1/calls/${peer.callId}/hangup`), {
      status: 200,
      body: { status: 'completed', hangup_cause: 'hangup_requested' },
    });
    t.equal(await peer.closed, 1000);
  });

  t.test('a transfer is refused in plain words, and the talk goes on', async (t) => {
    const id = await agent({
      instructions: 'TEST-TRANSFER In the browser.',
      tools: [{ type: 'transfer_call', targets: [{ name: 'front desk', number: '+15550107777' }] }],
    });
    const { peer } = await talk(id);
    await greeted(peer);
    await peer.say('caller-thanks.wav');
    await until('the refusal', async () => {
      const { items } = await modelSession(rig, 'TEST-TRANSFER In the browser.');
      return items.some((item) => item.output?.includes('no phone line'));
    });
    await until(
      'the talk to go on',
      async () => (await rig.transcript(peer.callId)).at(-1)?.heard_text === 'All right.',
    );
    t.equal((await rig.call(peer.callId)).status, 'in_progress');
    peer.stop();
    t.match(await rig.ended(peer.callId), { status: 'completed', hangup_cause: 'remote_hangup' });
  });

  t.test('who may take up the stream: our own page, with the token, once', async (t) => {
    const call = await operator.open(long);
    const path = call.stream_path;
    const own = { origin: url };
    t.equal(await openSocket(url, path, {}), 403, 'no page at all');
    t.equal(await openSocket(url, path, { origin: 'https://evil.example.com' }), 403);
    t.equal(await openSocket(url, path, { origin: 'null' }), 403, 'a sandboxed page');
    const asTwilio = path.replace('/browser/', '/twilio/');
    t.equal(await openSocket(url, asTwilio, own), 403, "the phone carrier's door asks for its signature");
    const signature = createHmac('sha1', lab.carrierToken)
      .update(`${url.replace('http', 'ws')}${asTwilio}`)
      .digest('base64');
    t.equal(
      await openSocket(url, asTwilio, { 'x-twilio-signature': signature }),
      404,
      'and has no such call',
    );
    t.equal(await openSocket(url, path.replace('/browser/', '/other/'), own), 404);

    const closedWith = async (first: string | Buffer) => {
      const socket = await openSocket(url, path, own);
      if (typeof socket === 'number') return socket;
      const closed = new Promise<number>((resolve) => socket.on('close', resolve));
      socket.send(first);
      return closed;
    };
    const start = (token: string) =>
      JSON.stringify({ type: 'start', version: 1, call_id: call.call_id, token });
    t.equal(await closedWith(start('wrong')), 1008);
    t.equal(await closedWith(Buffer.alloc(168)), 1008, 'sound before the token');
    const peer = await takeUp(url, call);
    await peer.agentSpoke(500);
    t.equal(await closedWith(start(call.token)), 1008, 'the token was used');
    await peer.agentSpoke(1_000);
    t.equal((await rig.call(call.call_id)).status, 'in_progress', 'whose talk goes on');
    peer.stop();
    await rig.ended(call.call_id);
    t.equal(await openSocket(url, path, own), 404, 'over');
  });

  t.test('no stream comes: over by itself, and the line is free', async (t) => {
    const { call_id, token, stream_path } = await operator.open(long);
    const call = await rig.ended(call_id, 40_000);
    t.match(call, { status: 'no_answer', answered_at: null, reservation_status: 'released' });
    // Where nothing is to be settled, it is noted behind the end.
    t.match(await until('its cost', async () => (await rig.call(call_id)).cost), { total_milli_cents: 0 });
    await t.rejects(takeUp(url, { call_id, token, stream_path }), 'the token holds no longer');
  });

  t.test('nobody was dialled', async (t) => {
    const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    t.same(calls, []);
  });
});

t.test(
  'killed in the middle, started again without a question to the phone carrier: one end each',
  async (t) => {
    const rig = await openRig(t);
    const { lab } = rig;
    const operator = await signIn(rig);
    const { body } = await lab.api<{ id: string }>('POST', '/v1/agents', {
      name: 'Test',
      type: 'inbound',
      instructions: 'TEST-LONG',
      webhook_url: lab.receiverUrl,
    });
    const talking: OpenedCall = await operator.open(body.id);
    const awaited = await operator.open(body.id);
    const peer = await takeUp(lab.daemon.url, talking);
    await peer.agentSpoke(2_000);
    await lab.daemon.stop('SIGKILL');
    t.equal(await peer.closed, 1006);
    // Waits for the first request to the phone carrier's REST: it is used up by any.
    await lab.ask('carrier', '/faults', { do: 'status', status: 500, times: 1 });
    await lab.restartDaemon();
    const calls = await until('both to be over', async () => {
      const found = await Promise.all([talking, awaited].map(({ call_id }) => rig.call(call_id)));
      return found.every(({ status }) => ENDED.includes(status)) ? found : null;
    });
    t.match(calls, [
      { status: 'failed', error_code: 'daemon_restart', reservation_status: 'settled' },
      { status: 'no_answer', reservation_status: 'released' },
    ]);
    t.ok((calls[0]?.billed_duration_seconds ?? 99) <= 10, 'charged to the last sign of life');
    await until('the webhooks', () =>
      calls.every((call) => rig.events(call.id).some((event) => ENDED.includes(event.body.status))),
    );
    for (const call of calls) {
      const ends = rig.events(call.id).filter((event) => ENDED.includes(event.body.status));
      t.equal(ends.length, 1, 'one terminal event');
    }
    const { faults } = await lab.ask<{ faults: unknown[] }>('carrier', '/faults');
    t.equal(faults.length, 1, 'the phone carrier was asked nothing');
  },
);

t.test('who types is not asked after a few seconds whether they are still there', async (t) => {
  const rig = await openRig(t, { env: { CALLER_IDLE_SECONDS: '3' } });
  const { lab } = rig;
  const operator = await signIn(rig);
  const { body } = await lab.api<{ id: string }>('POST', '/v1/agents', {
    name: 'Test',
    type: 'inbound',
    instructions: 'TEST-BRIEF',
  });
  const opened = [await operator.open(body.id, { text_only: true }), await operator.open(body.id)] as const;
  const [typing, speaking] = await Promise.all(opened.map((call) => takeUp(lab.daemon.url, call)));
  const lines = async (callId = '') => (await rig.transcript(callId)).map(({ text }) => text);
  await until('the question', async () => (await lines(speaking?.callId)).at(-1) === 'Are you still there?');
  t.same(await lines(typing?.callId), [GREETING]);
  typing?.stop();
  speaking?.stop();
});
