// A caller who pauses and goes on, the talk with its OpenAI session, and a service that is late, in bunches and in every order
// that the protocol allows, on a machine that stands still at times: each sample of a turn is in the conversation once, of exactly
// the answers that follow it; no turn stays without an answer, no tool runs twice or for a turn that was not over, and nothing
// that nobody heard is left.
import fc from 'fast-check';
import t from 'tap';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { PREROLL_MS } from '../../../bridge/media/caller-feed.ts';
import { openOpenAISession } from '../../../bridge/models/openai/session.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { talkTexts } from '../../../control/agents/texts/moments.ts';
import { seeded } from '../../random.ts';
import { DrawnService, framesOf, type Ways } from '../models/openai/drawn-service.ts';
import { RUNS, SEED } from '../seed.ts';
import { makePlan } from './held-call.ts';
import { openTalkParts, type TalkParts } from './talk-rig.ts';

const PLAN = makePlan({
  model: { transcriptionModel: 'any', instructions: 'You are Ada.', url: 'ws://drawn' },
  texts: { ...talkTexts('inbound', null), greeting: null, idle: ['one', 'two', 'last'], voicemail: '' },
});
/** Speech is known for speech, and its end for an end, so long after it. */
const ONSET_FRAMES = 5;
const END_FRAMES = 11;
const PREROLL_FRAMES = PREROLL_MS / FRAME_MS;
const SENT_MS = 100;
const TOOL_MS = 300;
/** Longer than all that can be under way takes. */
const QUIET_FRAMES = 2_000;

type Standstill = 'the daemon' | 'the service' | 'the line' | 'lost';

interface Stretch {
  speakFrames: number;
  pauseFrames: number;
  /** What happens so many frames after its last word, or before it, and for how long. */
  besides: { what: Standstill | 'key' | 'words'; atFrame: number; ms: number } | null;
}

interface World {
  seed: number;
  ways: Ways;
  stretches: Stretch[];
}

interface Outcome {
  turns: number;
  early: number;
  thrown: number;
  answers: number;
  tools: number;
}

/** Of a stretch: numbers of its frames, and whether it was given to the model as a turn or a part of one. */
interface Spoken {
  from: number;
  to: number;
  isTurn: boolean;
}

class Played {
  readonly #world: World;
  readonly #random: () => number;
  readonly #service: DrawnService;
  readonly #parts: TalkParts;
  readonly #posted: FromMedia[] = [];
  readonly #spoken: Spoken[] = [];
  /** When the first sound of each response left for the carrier. */
  readonly #begun = new Map<number, number>();
  readonly #tools: { id: string; atMs: number; answered: boolean }[] = [];
  #marks: { name: string; atMs: number }[] = [];
  #timers: { atMs: number; run: () => void }[] = [];
  #now = 0;
  #frames = 0;
  /** Frames that have come and were not read, with what the ear makes of each. */
  #line: { n: number; tell: (() => void) | null }[] = [];
  #heardMs = 0;
  #daemonUntilMs = 0;
  #lineUntilMs = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = seeded(world.seed);
    const now = () => this.#now;
    this.#service = new DrawnService({ ways: world.ways, random: this.#random, now });
    this.#parts = openTalkParts(PLAN, {
      openModel: (config, listener) =>
        openOpenAISession({ ...PLAN.model, ...config, line: MULAW_8K }, listener, {
          now,
          timers: { after: (ms, run) => this.#after(ms, run) },
          dial: ({ listener: socket }) => this.#service.dial(socket),
        }),
      post: (message) => this.#post(message),
      now,
      newId: () => `id-${this.#posted.length}-${this.#random()}`,
      line: {
        audio: (sound) => this.#sounds(sound),
        mark: (name) => this.#marks.push({ name, atMs: this.#now + SENT_MS }),
        clear: () => {
          this.#marks = this.#marks.map((mark) => ({ ...mark, atMs: this.#now }));
        },
      },
    });
  }

  play(): Outcome {
    const { talk, floor, record } = this.#parts;
    this.#pass(20);
    talk.streamStarted(MULAW_8K);
    this.#pass(20);
    for (const stretch of this.#world.stretches) this.#say(stretch);
    for (let i = 0; i < QUIET_FRAMES && !(floor.at === 'open' && !this.#service.busy && i > 150); i++)
      this.#pass(1);
    if (floor.at !== 'open') throw new Error(`after all it is the turn of ${floor.at}`);
    this.#judge();
    return {
      turns: this.#spoken.filter(({ isTurn }) => isTurn).length,
      early: record.earlyAnswers,
      thrown: record.thrownAwayAnswers,
      answers: this.#begun.size,
      tools: this.#tools.length,
    };
  }

  #after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  #post(message: FromMedia): void {
    this.#posted.push(message);
    if (message.type === 'log' && message.event !== 'model.reconnecting')
      throw new Error(`${message.event} ${JSON.stringify(message.fields)}`);
    if (message.type === 'finished') throw new Error(`it ends: ${message.reason} ${message.errorMessage}`);
    if (message.type !== 'tool-called') return;
    const { toolCallId } = message;
    if (this.#tools.some(({ id }) => id === toolCallId)) throw new Error(`${toolCallId} runs twice`);
    if (this.#parts.floor.at === 'caller') throw new Error(`${toolCallId} runs in a turn of the caller`);
    const response = this.#service.responses.find(({ items }) =>
      items.some(({ callId }) => callId === toolCallId),
    )!;
    this.#holds(
      response.context.flatMap(({ frames }) => frames),
      this.#now,
      `the tool of response ${response.n}`,
    );
    this.#tools.push({ id: toolCallId, atMs: this.#now, answered: false });
  }

  /** Sound leaves for the carrier: each response's has its number in it. */
  #sounds(sound: Buffer): void {
    const n = sound[0]! - 1;
    if (this.#parts.floor.agentVoice !== 'full' || sound.some((byte) => byte !== n + 1)) return;
    const response = this.#service.responses[n];
    if (response === undefined || this.#begun.has(n)) return;
    if (this.#parts.floor.at === 'caller') throw new Error(`response ${n} is heard in a turn of the caller`);
    const answered = new Set([...this.#begun.keys()].flatMap((one) => this.#service.responses[one]!.context));
    if (response.context.every((item) => item.kind === 'agent' || item.kind === 'call' || answered.has(item)))
      throw new Error(`response ${n} answers what was answered`);
    this.#begun.set(n, this.#now);
    this.#holds(
      response.context.flatMap(({ frames }) => frames),
      this.#now,
      `response ${n}`,
    );
  }

  /** All that was said before then is in it, and nothing twice. */
  #holds(frames: readonly number[], atMs: number, where: string): void {
    const there = new Set(frames);
    for (const [i, { from, to, isTurn }] of this.#spoken.entries()) {
      if (!isTurn || to * FRAME_MS > Math.min(atMs, this.#heardMs)) continue;
      for (let n = from; n < to; n++)
        if (!there.has(n)) throw new Error(`${where} does not know frame ${n} of ${from}-${to}`);
      // Where a turn was taken for over, the pre-roll of the next brings its end again, and what nobody knew yet for speech.
      const known = from + ONSET_FRAMES;
      const until = Math.min(to, (this.#spoken[i + 1]?.from ?? to + PREROLL_FRAMES) - PREROLL_FRAMES);
      const times = frames.filter((n) => n >= known && n < until).length;
      if (times > Math.max(0, until - known)) throw new Error(`${where} has ${from}-${to} more than once`);
    }
  }

  /** What is there when all is over. */
  #judge(): void {
    const { violations, items, responses } = this.#service;
    if (violations.length > 0) throw new Error(violations.join(', '));
    this.#holds(
      items.flatMap(({ frames }) => frames),
      this.#now,
      'the conversation',
    );
    for (const { kind, frames } of items)
      if (kind === 'sound' && frames.some((n, i) => i > 0 && n !== frames[i - 1]! + 1))
        throw new Error('a turn has a gap');
    for (const { kind, response, callId, truncated } of items) {
      if (kind === 'agent' && response !== null && !truncated && !this.#begun.has(response))
        throw new Error(`what response ${response} said is in the conversation, and nobody heard it`);
      if (kind === 'call' && !items.some((one) => one.kind === 'output' && one.callId === callId))
        throw new Error(`${callId} stays without an answer`);
    }
    const last = this.#spoken.findLast(({ isTurn }) => isTurn);
    const answered = [...this.#begun.keys()].some((n) =>
      responses[n]!.context.some(({ frames }) => last === undefined || frames.includes(last.to - 1)),
    );
    if (last !== undefined && !answered) throw new Error(`the turn ${last.from}-${last.to} has no answer`);
    const written = this.#posted
      .flatMap((message) => (message.type === 'transcript' ? message.items : []))
      .filter(({ role, text }) => role === 'caller' && /^\d+-\d+$/.test(text))
      .flatMap(({ text }) => framesOf(text));
    const lines = new Set(written);
    for (const { from, to, isTurn } of this.#spoken)
      if (isTurn && !(lines.has(from) && lines.has(to - 1)))
        throw new Error(`the words of ${from}-${to} are not in the transcript`);
  }

  #say({ speakFrames, pauseFrames, besides }: Stretch): void {
    const { talk } = this.#parts;
    const from = this.#frames;
    const spoken: Spoken = { from, to: from + speakFrames, isTurn: false };
    this.#spoken.push(spoken);
    const onsetMs = from * FRAME_MS;
    const end = Math.min(pauseFrames, END_FRAMES);
    const goesOn = pauseFrames < END_FRAMES;
    for (let i = 0; i < speakFrames + pauseFrames; i++) {
      if (besides !== null && i === Math.max(0, speakFrames + Math.min(besides.atFrame, pauseFrames - 1)))
        this.#besides(besides);
      this.#pass(1, () => {
        if (i === 1) talk.voice({ is: 'starting', onsetMs });
        if (i === ONSET_FRAMES) {
          talk.voice({ is: 'speaking', onsetMs, stoppedMs: 0 });
          talk.speechStarted(onsetMs);
        }
        if (i >= ONSET_FRAMES && i < speakFrames && this.#parts.floor.at === 'caller') spoken.isTurn = true;
        if (i === speakFrames + end - 1) {
          talk.voice({ is: 'quiet' });
          talk.speechEnded((from + speakFrames + (goesOn ? end : 0)) * FRAME_MS);
        }
      });
    }
  }

  #besides({ what, ms }: NonNullable<Stretch['besides']>): void {
    switch (what) {
      case 'the daemon':
        this.#daemonUntilMs = this.#now + ms;
        return;
      case 'the service':
        this.#service.stall(ms);
        return;
      case 'the line':
        this.#lineUntilMs = this.#now + ms;
        return;
      case 'lost':
        this.#service.lose();
        return;
      case 'key':
        this.#parts.talk.digit('1');
        return;
      case 'words':
        this.#parts.talk.typed('a word');
    }
  }

  /** @param tell what the ear makes of the frame, once it has been read */
  #pass(frames: number, tell: (() => void) | null = null): void {
    for (let i = 0; i < frames; i++) {
      this.#line.push({ n: this.#frames++, tell });
      this.#now += FRAME_MS;
      this.#service.goOn();
      if (this.#now < this.#daemonUntilMs) continue;
      // After a standstill all of it is due at once, in whatever order.
      const late = this.#daemonUntilMs > this.#now - FRAME_MS;
      const turns = [() => this.#timersFire(), () => this.#lineIsRead(), () => this.#service.deliver()];
      if (late && this.#random() < 0.5) turns.reverse();
      if (late && this.#random() < 0.3) this.#ticks();
      for (const one of turns) one();
      this.#ticks();
    }
  }

  #timersFire(): void {
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= this.#now).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) return;
      this.#timers = this.#timers.filter((one) => one !== due);
      due.run();
    }
  }

  #lineIsRead(): void {
    if (this.#now < this.#lineUntilMs) return;
    for (const { n, tell } of this.#line.splice(0)) {
      const sound = Buffer.alloc(FRAME_BYTES);
      sound.writeUInt32LE(n);
      this.#parts.talk.callerAudio(sound, n * FRAME_MS);
      this.#heardMs = (n + 1) * FRAME_MS;
      tell?.();
    }
  }

  #ticks(): void {
    const { talk, voice } = this.#parts;
    for (const tool of this.#tools) {
      if (tool.answered || this.#now - tool.atMs < TOOL_MS) continue;
      tool.answered = true;
      talk.toolResult(tool.id, '{}');
    }
    voice.pace(this.#now);
    while (this.#marks[0] !== undefined && this.#marks[0].atMs <= this.#now)
      talk.markBack(this.#marks.shift()!.name);
    talk.tick(this.#now, this.#heardMs);
  }
}

const range = (least: number, most: number) =>
  fc
    .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
    .map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]);

const ways = fc.record<Ways>({
  netMs: fc.constantFrom<[number, number]>([0, 20], [20, 60], [0, 300]),
  createdMs: range(0, 300),
  firstSoundMs: range(0, 900),
  cancelMs: range(0, 300),
  wordsMs: range(0, 1_500),
  refuses: fc.constantFrom('never', 'what it is answering', 'while a response runs'),
  echoes: fc.boolean(),
  names: fc.boolean(),
  calls: fc.boolean(),
  fails: fc.constantFrom(0, 0, 0, 15),
});

const besides = fc.record({
  what: fc.constantFrom(
    'the daemon' as const,
    'the daemon' as const,
    'the service' as const,
    'the service' as const,
    'the line' as const,
    'key' as const,
    'words' as const,
    'lost' as const,
  ),
  atFrame: fc.integer({ min: -30, max: 60 }),
  ms: fc.integer({ min: 20, max: 2_000 }),
});

const stretch = fc.record<Stretch>({
  speakFrames: fc.integer({ min: 12, max: 80 }),
  pauseFrames: fc.integer({ min: 8, max: 70 }),
  besides: fc.option(besides),
});

const world = fc.record<World>({
  seed: fc.integer({ min: 1, max: 1 << 30 }),
  ways,
  stretches: fc.array(stretch, { minLength: 1, maxLength: 6 }),
});

t.test('whatever comes in whatever order, each turn is answered, whole and once', async (t) => {
  const sum: Outcome = { turns: 0, early: 0, thrown: 0, answers: 0, tools: 0 };
  fc.assert(
    fc.property(world, (drawn) => {
      const one = new Played(drawn).play();
      for (const key of Object.keys(sum) as (keyof Outcome)[]) sum[key] += one[key];
    }),
    { seed: SEED, numRuns: 300 * RUNS },
  );
  t.ok(sum.early > sum.thrown && sum.thrown > 0 && sum.tools > 0 && sum.answers > 0, JSON.stringify(sum));
  t.comment(`note: seed ${SEED}: ${JSON.stringify(sum)}`);
});
