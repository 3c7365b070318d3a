// Conversations drawn at random, between a model and a line that do anything, and what becomes of each when nothing new happens
// any more: whoever is left, a model that answers, is silent, stops in the middle or calls tools for ever, a line that plays or
// does not, a caller who is quiet or cannot be stopped, it comes to one end, and nothing is held back for long.

import fc from 'fast-check';
import t from 'tap';
import { MULAW_8K } from '../../../audio/format.ts';
import type { ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia, PrepareCall } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';
import { RUNS, SEED } from '../seed.ts';
import { muteModel } from './held-call.ts';
import { openTalkParts } from './talk-rig.ts';

const STEP_MS = 40;
/** Longer than every wait on the longest way to an end, one after the other. */
const BOUND_MS = 480_000;

const PLAN: Omit<PrepareCall, 'machine'> = {
  callId: 'call-1',
  carrier: 'drawn',
  tokenHash: '',
  direction: 'outbound',
  modelName: 'drawn',
  model: {
    url: '',
    apiKey: '',
    model: '',
    transcriptionModel: null,
    instructions: '',
    voice: '',
    language: null,
    tools: [],
    texts: SESSION_TEXTS,
  },
  texts: {
    ...talkTexts('outbound', null),
    greeting: 'Greet.',
    idle: ['one', 'two', 'last'],
    voicemail: 'Leave a message.',
  },
  disclosure: null,
  mayOptOut: false,
  shortWords: { assents: ['mhm', 'okay'], stops: ['stop', 'no'] },
  patience: 1,
  tuning: { patience: 'normal', eagerness: 'normal', interruption: 'normal' },
  transferTargets: { sales: '+15550001' },
  recordingPath: null,
  maxSeconds: 3_600,
  resumed: null,
};

const ACTS = [
  'wait 20',
  'wait 200',
  'wait 700',
  'wait 1500',
  'wait 5000',
  'onset',
  'click',
  'speak',
  'stop',
  'word Stop!',
  'word Mhm.',
  'word ',
  'noise taken back',
  'key',
  'type',
  'tool end_call',
  'tool transfer_call',
  'tool send_dtmf',
  'tool look_up',
  'tool answers',
  'empty response',
  'sound of nothing',
  'human',
  'machine',
  'machine_ready',
  'beep',
  'say goodbye',
  'stream breaks',
  'stream is back',
  'model renewed',
] as const;
type Act = (typeof ACTS)[number];

const MODELS = ['answers', 'silent', 'stops', 'tools'] as const;
type ModelMode = (typeof MODELS)[number];

interface World {
  plan: PrepareCall['machine'];
  /** Whether the model is there from the start, or never comes. */
  ready: boolean;
  /** How it behaves while the acts are played, and after them. */
  first: ModelMode;
  after: ModelMode;
  plays: boolean;
  toolsAnswer: boolean;
  callerGoesOn: boolean;
  /** The caller's sound is listened to; else it waits for ever. */
  listens: boolean;
}

/** Plays the acts, then lets time pass. Answers how the talk ended, and after how long; throws where something does not hold. */
function run(world: World, acts: readonly Act[]): { reason: string; ms: number } {
  let now = 0;
  let serial = 0;
  let mode = world.first;
  let plays = true;
  let speaking = false;
  let listener: ModelListener | undefined;
  let response: { at: number; told: boolean; cancelled: boolean } | null = null;
  let waiting = false;
  let asked = 0;
  const posted: FromMedia[] = [];
  const runningTools: { id: string; at: number }[] = [];
  let marks: { name: string; at: number }[] = [];

  const begin = () => {
    response = { at: now, told: false, cancelled: false };
  };
  const unwritten: number[] = [];
  const cancel = () => {
    waiting = false;
    if (response !== null) response.cancelled = true;
  };
  const session = muteModel({
    capabilities: { ...TURN_BY_TURN, transcribes: true, takesBack: true },
    endTurn() {
      unwritten.push(serial);
      return serial++;
    },
    respond() {
      asked++;
      if (response === null) begin();
      else waiting = true;
    },
    interrupt: cancel,
    takeBack: cancel,
    busy: () => waiting || (response !== null && !response.cancelled),
  });
  const { talk, voice, floor } = openTalkParts(
    { ...PLAN, machine: world.plan },
    {
      openModel(_config, given) {
        listener = given;
        return session;
      },
      post(message) {
        posted.push(message);
        if (message.type === 'tool-called') runningTools.push({ id: message.toolCallId, at: now });
      },
      now: () => now,
      newId: () => `id-${++serial}`,
      line: {
        mark: (name) => marks.push({ name, at: now + 150 }),
        clear() {
          // What a carrier clears it sends the marks of back.
          marks = marks.map((mark) => ({ ...mark, at: now }));
        },
      },
    },
  );
  const model = listener as unknown as ModelListener;
  const done = (hadAudio: boolean, toolCalls = 0) => {
    const status = response?.cancelled === true ? 'cancelled' : 'completed';
    response = null;
    if (waiting) {
      waiting = false;
      begin();
    }
    model.responseDone({ responseId: `r${serial++}`, status, reason: null, hadAudio, toolCalls });
  };
  const tool = (name: string) =>
    model.toolCall({
      toolCallId: `t${serial++}`,
      name,
      argumentsJson: JSON.stringify({ target: 'sales', digits: '1' }),
    });

  function modelGoesOn(): void {
    const current = response;
    if (current === null) return;
    if (current.cancelled) {
      done(current.told);
      return;
    }
    if (now - current.at < 200 || mode === 'silent' || (mode === 'stops' && current.told)) return;
    current.told = true;
    if (mode === 'tools') {
      tool('look_up');
      done(false, 1);
      return;
    }
    const item = `item-${serial++}`;
    model.audio(item, Buffer.alloc(600 * 8, 1));
    if (mode === 'stops') return;
    model.audioDone(item);
    done(true);
  }

  let heldSince: number | null = null;
  let duckedSince: number | null = null;
  function pass(ms: number): void {
    for (const end = now + ms; now < end; ) {
      now += Math.min(STEP_MS, end - now);
      if (world.toolsAnswer && runningTools[0] !== undefined && now - runningTools[0].at > 300)
        talk.toolResult(runningTools.shift()!.id, '{}');
      modelGoesOn();
      const given = voice.frames;
      voice.pace(now);
      if (voice.frames > given) heldSince = null;
      while (plays && marks[0] !== undefined && marks[0].at <= now) talk.markBack(marks.shift()!.name);
      talk.tick(now, world.listens ? now : 0);
      if (floor.agentVoice !== 'paused') heldSince = null;
      heldSince ??= floor.agentVoice === 'paused' ? now : null;
      duckedSince = floor.agentVoice === 'full' ? null : (duckedSince ?? now);
      if (duckedSince !== null && now - duckedSince > TURN_RULES.holdLimitMs + STEP_MS)
        throw new Error(`the voice is low for ${now - duckedSince} ms`);
      if (heldSince !== null && now - heldSince > TURN_RULES.holdLimitMs + STEP_MS)
        throw new Error(`the voice is held back for ${now - heldSince} ms`);
    }
  }

  function act(what: Act): void {
    const [verb, more = ''] = what.split(' ');
    switch (verb) {
      case 'wait':
        pass(Number(more));
        return;
      case 'onset':
        if (!speaking) talk.voice({ is: 'starting', onsetMs: now });
        return;
      case 'click':
        if (speaking) return;
        talk.voice({ is: 'starting', onsetMs: now });
        pass(40);
        talk.voice({ is: 'quiet' });
        return;
      case 'speak':
        if (speaking) return;
        speaking = true;
        talk.voice({ is: 'speaking', onsetMs: now - 100, stoppedMs: 0 });
        talk.speechStarted(now - 100);
        return;
      case 'stop':
      case 'noise':
        if (!speaking) return;
        speaking = false;
        talk.voice({ is: 'quiet' });
        verb === 'stop' ? talk.speechEnded(now - 200) : talk.speechTakenBack(now - 300);
        return;
      case 'word': {
        const turn = unwritten.shift();
        if (turn !== undefined) model.callerText(turn, more === '' ? null : more);
        return;
      }
      case 'key':
        talk.digit('1');
        return;
      case 'type':
        talk.typed('a word');
        return;
      case 'tool':
        if (more !== 'answers') {
          tool(more);
          return;
        }
        if (runningTools[0] !== undefined) talk.toolResult(runningTools.shift()!.id, '{}');
        return;
      case 'empty':
        if (response !== null) done(false);
        return;
      case 'sound':
        model.audio(`none-${serial++}`, Buffer.alloc(0));
        return;
      case 'human':
      case 'machine':
      case 'machine_ready':
        talk.machineDetection(verb);
        return;
      case 'beep':
        talk.beep();
        return;
      case 'say':
        talk.finish('draining', 'Goodbye.');
        return;
      case 'stream':
        // Nobody listens to what comes by it any more.
        if (more === 'breaks') speaking = false;
        more === 'breaks' ? talk.streamPaused() : talk.streamStarted(MULAW_8K);
        return;
      case 'model':
        model.ready({ renewed: true, tookMs: 1 });
        return;
    }
  }

  if (world.ready) model.ready({ renewed: false, tookMs: 1 });
  talk.streamStarted(MULAW_8K);
  for (const one of acts) act(one);

  // From here on nobody does anything new.
  talk.streamStarted(MULAW_8K);
  mode = world.after;
  plays = world.plays;
  if (world.callerGoesOn) act('speak');
  else act('stop');
  if (!speaking) talk.voice({ is: 'quiet' });
  const ends = () =>
    posted.filter(({ type }) => ['finished', 'digits-requested', 'transfer-requested'].includes(type));
  const over = () => posted.filter(({ type }) => type === 'finished');
  const from = now;
  const askedBefore = asked;
  while (ends().length === 0 && now - from < BOUND_MS) pass(1_000);
  const [end] = ends();
  // Whoever cannot be stopped is answered again and again by a model that answers: a talk as well.
  if (end === undefined && world.callerGoesOn && asked - askedBefore >= 2)
    return { reason: 'goes on', ms: BOUND_MS };
  if (end === undefined) throw new Error(`no end after ${BOUND_MS / 1000} s`);
  const ms = now - from;
  pass(2_000);
  if (over().length > 1) throw new Error('it ends twice');
  if (over().length === 1 && floor.agentVoice !== 'full') throw new Error('held back after the end');
  return { reason: end.type === 'finished' ? end.reason : end.type, ms };
}

const worlds = fc.record<World>({
  plan: fc.constantFrom('none' as const, 'hangup' as const, 'leave_message' as const),
  ready: fc.constantFrom(true, true, true, true, false),
  first: fc.constantFrom(...MODELS, 'answers' as const, 'answers' as const),
  after: fc.constantFrom(...MODELS),
  plays: fc.boolean(),
  toolsAnswer: fc.boolean(),
  callerGoesOn: fc.constantFrom(false, false, false, true),
  listens: fc.constantFrom(true, true, true, false),
});

/** Have failed once. */
const EXAMPLES: [World, Act[]][] = [
  [
    {
      plan: 'none',
      ready: true,
      first: 'answers',
      after: 'answers',
      plays: false,
      toolsAnswer: false,
      callerGoesOn: false,
      listens: true,
    },
    ['stream breaks', 'speak', 'wait 5000', 'wait 5000'],
  ],
];

t.test('whatever has happened, it comes to one end', async (t) => {
  const reasons = new Map<string, number>();
  let longestMs = 0;
  fc.assert(
    fc.property(worlds, fc.array(fc.constantFrom(...ACTS), { maxLength: 30 }), (world, acts) => {
      const { reason, ms } = run(world, acts);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (ms < BOUND_MS) longestMs = Math.max(longestMs, ms);
    }),
    { seed: SEED, numRuns: 2_000 * RUNS, examples: EXAMPLES },
  );
  t.pass(`seed ${SEED}`);
  const told = [...reasons].map(([reason, count]) => `${reason} ${count}`).join(', ');
  t.comment(`note: seed ${SEED}: ${told}; the longest took ${Math.round(longestMs / 1000)} s`);
});

t.test('with a model that answers and a caller who is silent it ends with the last prompt', async (t) => {
  const world: World = {
    plan: 'none',
    ready: true,
    first: 'answers',
    after: 'answers',
    plays: true,
    toolsAnswer: true,
    callerGoesOn: false,
    listens: true,
  };
  t.match(run(world, ['wait 5000', 'speak', 'wait 1500', 'stop', 'wait 5000']), { reason: 'caller_silent' });
});
