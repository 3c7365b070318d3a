// The session against the model simulator: a whole conversation in sound, and the faults a phone call must survive.
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import wavefile from 'wavefile';
import { encodeMulaw } from '../../../../audio/g711.ts';
import type { ModelListener } from '../../../../bridge/models/model.ts';
import { openOpenAISession } from '../../../../bridge/models/openai/session.ts';
import { systemTimers, type Timers } from '../../../../bridge/models/openai/socket.ts';
import { type ModelSimulator, startModelSimulator } from '../../../../scripts/model-simulator/simulator.ts';
import { CONFIG, recorder } from './session-rig.ts';

/** A recording of the fixtures as mu-law at 8 kHz. */
function recording(name: string, fromMs = 0, toMs = Number.POSITIVE_INFINITY): Buffer {
  const wav = new wavefile.WaveFile(
    readFileSync(new URL(`../../../fixtures/audio/${name}`, import.meta.url)),
  );
  const samples = wav.getSamples(false, Int16Array) as unknown as Int16Array;
  const cut = samples.subarray(fromMs * 8, Math.min(samples.length, toMs * 8));
  const mulaw = Buffer.alloc(cut.length);
  encodeMulaw(cut, mulaw);
  return mulaw;
}

/** A session's age at which it is renewed: comes when a test says so. */
const RENEWAL_MS = 3_000_000;

async function rig(t: Test, scenario: string | object = 'reminder') {
  const simulator = await startModelSimulator({ scenario, pacing: 'fast', seed: 1 });
  const made = recorder();
  const received = new Map<string, number>();
  const listener: ModelListener = {
    ...made.listener,
    audio(itemId, payload) {
      received.set(itemId, (received.get(itemId) ?? 0) + payload.length);
      made.listener.audio(itemId, payload);
    },
  };
  const config = { ...CONFIG, url: simulator.url, instructions: 'You remind people of an appointment.' };
  let renew = () => {};
  const timers: Timers = {
    after(ms, run) {
      if (ms < RENEWAL_MS) return systemTimers.after(ms, run);
      renew = run;
      return () => {};
    },
  };
  const session = openOpenAISession(config, listener, { timers, renewAfterSeconds: RENEWAL_MS / 1000 });
  t.teardown(async () => {
    await session.close();
    await simulator.close();
  });
  return { ...made, session, simulator, received, renew: () => renew() };
}

interface SimulatedItem {
  id: string;
  type: string;
  role?: string;
  believed_text?: string;
}
const last = (simulator: ModelSimulator) =>
  simulator.sessions().at(-1) as { violations: { code: string }[]; items: SimulatedItem[] };
const violations = (simulator: ModelSimulator) =>
  simulator
    .sessions()
    .flatMap((session) => (session as { violations: { code: string }[] }).violations.map(({ code }) => code));
const say = (made: { session: { appendAudio(payload: Buffer): void } }, sound: Buffer) => {
  for (let at = 0; at < sound.length; at += 160) made.session.appendAudio(sound.subarray(at, at + 160));
};

t.test('greeting, a turn, an answer: heard and understood both ways', async (t) => {
  const made = await rig(t);
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  session.respond({ instructions: 'The other side has answered the call. Greet them.' });
  t.match(await made.take('textDone'), [String, /^Hello, this is the automated assistant/]);
  t.match(await made.take('responseDone'), [{ status: 'completed', hadAudio: true }]);
  say(made, recording('jfk-8k.wav'));
  const turn = session.endTurn();
  t.equal(turn, 0);
  session.respond();
  t.match(await made.take('callerText'), [0, /what your country can do for you/i]);
  t.match(await made.take('textDone'), [String, /appointment on Tuesday at ten thirty is confirmed/]);
  t.match(await made.take('responseDone'), [{ status: 'completed' }]);
  t.same(violations(simulator), []);
  const bytes = [...made.received.values()];
  t.equal(bytes.length, 2);
  t.ok(
    bytes.every((count) => count > 8 * 2_000),
    'seconds of sound each',
  );
  const usage = made.events.filter(([name]) => name === 'usage');
  t.ok(usage.length >= 3, 'two responses and a transcription');
});

t.test('barge-in: the model believes what was heard, no more', async (t) => {
  const made = await rig(t);
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  session.respond({ instructions: 'Greet them.' });
  const [itemId] = (await made.take('audioDone')) as [string];
  await made.take('responseDone');
  session.interrupt([{ itemId, heardMs: 1_000, heardText: 'Hello, this is' }]);
  say(made, recording('caller-more-info.wav'));
  session.endTurn();
  session.respond();
  t.match(await made.take('callerText'), [0, /more information/i]);
  await made.take('responseDone');
  const greeting = last(simulator).items.find((item) => item.role === 'assistant');
  t.match(greeting?.believed_text, /^Hello/);
  t.ok((greeting?.believed_text ?? '').length < 40);
  t.same(violations(simulator), []);
});

t.test('an answer dropped before it was heard is as if it had never been', async (t) => {
  const made = await rig(t);
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  session.respond({ instructions: 'Greet them.' });
  session.interrupt([]);
  session.respond({ instructions: 'Say exactly this, and nothing else: "Good morning."' });
  t.match(await made.take('responseDone'), [{ status: 'completed' }]);
  const spoken = last(simulator).items.filter((item) => item.role === 'assistant');
  t.same(
    spoken.map((item) => item.believed_text),
    ['Good morning.'],
  );
  t.same(violations(simulator), []);
});

t.test('a tool is called, answered, and the agent goes on', async (t) => {
  const made = await rig(t, {
    hears: [],
    rules: [
      { on: 'tool_result', say: 'It is {{tool.state}}.' },
      { on: 'any', say: 'One moment.', tool: { name: 'end_call', arguments: {} } },
    ],
  });
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  session.respond();
  const [call] = (await made.take('toolCall')) as [{ toolCallId: string; name: string }];
  t.equal(call.name, 'end_call');
  t.match(await made.take('responseDone'), [{ toolCalls: 1, hadAudio: true }]);
  session.sendToolResult(call.toolCallId, '{"state":"done"}');
  session.respond();
  await made.take('textDone');
  t.match(await made.take('textDone'), [String, 'It is done.']);
  await made.take('responseDone');
  t.same(violations(simulator), []);
});

t.test('faults in the middle of an answer: the line comes back and the talk goes on', async (t) => {
  for (const fault of [
    { kind: 'tcp_reset', trigger: 'speaking', after_ms: 5 },
    { kind: 'session_expired', trigger: 'speaking', after_ms: 5 },
    { kind: 'close', close_code: 1011, message: 'oops', trigger: 'response' },
  ] as const) {
    const made = await rig(t);
    const { session, simulator } = made;
    session.open();
    await made.take('ready');
    simulator.arm(fault);
    session.respond({ instructions: 'Greet them.' });
    await made.take('reconnecting');
    t.match(await made.take('ready'), [{ renewed: true }], fault.kind);
    // The greeting again where nothing of it was said, else the way on.
    await made.take('responseDone');
    while (session.busy()) await made.take('responseDone');
    t.ok(
      made.events.some(([name, item, text]) => name === 'textDone' && item !== '' && text !== ''),
      'it speaks again',
    );
    say(made, recording('jfk-8k.wav'));
    session.endTurn();
    session.respond();
    t.match(await made.take('callerText'), [0, /country/i], `${fault.kind}: it hears again`);
    t.same(violations(simulator), [], fault.kind);
  }
});

t.test('errors, noise and repeats on the line change nothing', async (t) => {
  const made = await rig(t);
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  simulator.arm(
    { kind: 'malformed_json', trigger: 'response' },
    { kind: 'unknown_event', trigger: 'response' },
    { kind: 'binary_frame', trigger: 'speaking' },
    { kind: 'duplicate_events', trigger: 'response' },
    { kind: 'error_event', trigger: 'speaking', code: 'something_new', message: 'x' },
  );
  session.respond({ instructions: 'Greet them.' });
  t.match(await made.take('responseDone'), [{ status: 'completed', hadAudio: true }]);
  t.notOk(made.events.some(([name]) => name === 'reconnecting' || name === 'failed'));
  t.equal(made.events.filter(([name]) => name === 'responseDone').length, 1);
});

t.test('a configuration that the server ignores is refused, and nothing was sent under it', async (t) => {
  const made = await rig(t);
  made.simulator.arm({ kind: 'update_ignored' });
  made.session.open();
  t.match(await made.take('failed'), [{ code: 'model_refused' }]);
  t.same(violations(made.simulator), []);
});

t.test('a renewal in mid-call: the conversation is known to the new session', async (t) => {
  const made = await rig(t);
  const { session, simulator } = made;
  session.open();
  await made.take('ready');
  session.respond({ instructions: 'Greet them.' });
  await made.take('responseDone');
  say(made, recording('caller-more-info.wav'));
  session.endTurn();
  session.respond();
  await made.take('callerText');
  await made.take('responseDone');
  made.renew();
  t.match(await made.take('ready'), [{ renewed: true }]);
  say(made, recording('caller-thanks.wav'));
  session.endTurn();
  session.respond();
  await made.take('callerText');
  await made.take('responseDone');
  const roles = last(simulator).items.flatMap((item) => item.role ?? []);
  t.same(roles, ['assistant', 'user', 'assistant', 'user', 'assistant']);
  t.equal(simulator.sessions().length, 2);
  t.same(violations(simulator), []);
});

t.test('the beta dialect is understood', async (t) => {
  const made = await rig(t, {
    hears: [],
    profile: { dialect: 'beta', item_created: true },
    rules: [{ on: 'any', say: 'Hello.' }],
  });
  made.session.open();
  await made.take('ready');
  made.session.respond();
  t.match(await made.take('textDone'), [String, 'Hello.']);
  t.match(await made.take('responseDone'), [{ status: 'completed', hadAudio: true }]);
});
