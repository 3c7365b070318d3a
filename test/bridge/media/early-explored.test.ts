// Talks drawn at random with a caller who pauses and goes on, and a model that is asked early: whatever happens, what is heard is
// of answers to turns that were over, no tool runs twice or for a turn that was not, each turn reaches the model whole and once,
// and nothing of what was thrown away is left at the model or in the transcript.
import fc from 'fast-check';
import t from 'tap';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import type { EarlyAnswer, ModelListener, UsageOf } from '../../../bridge/models/model.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { talkTexts } from '../../../control/agents/texts/moments.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';
import { RUNS, SEED } from '../seed.ts';
import { makePlan, muteModel } from './held-call.ts';
import { openTalkParts } from './talk-rig.ts';

const PLAN = makePlan({
  texts: { ...talkTexts('inbound', null), greeting: null, idle: ['one', 'two', 'last'], voicemail: '' },
});
/** An end of speech is known so long after it. */
const KNOWN_AFTER_MS = 220;
const ONSET_MS = 100;
const WORDS_MS = 150;
const SENT_MS = 100;

interface Stretch {
  speakMs: number;
  pauseMs: number;
  /** What the model does with the turn that this ends. */
  latencyMs: number;
  calls: boolean;
  /** How long a burst of its sound is, and how many there are. */
  burstMs: number;
  bursts: number;
  /** Told in the middle of the pause. */
  besides: 'nothing' | 'key' | 'words' | 'noise' | 'model renewed';
}

interface Response {
  n: number;
  at: number;
  turnsBefore: number;
  sent: number;
  cancelled: boolean;
  thrown: boolean;
}

interface Outcome {
  early: number;
  thrown: number;
  tools: number;
  answers: number;
}

function run(stretches: readonly Stretch[]): Outcome {
  let now = 0;
  let listener: ModelListener | undefined;
  let style: Stretch = stretches[0]!;
  const posted: FromMedia[] = [];
  let marks: { name: string; at: number }[] = [];
  // ---- the model ----
  /** What it has of the caller: whole turns, by number. */
  const turns = new Map<number, Buffer>();
  let open = Buffer.alloc(0);
  let mayGoOn: number | null = null;
  let nextTurn = 0;
  let nextResponse = 0;
  let running: Response | null = null;
  let waiting = false;
  const words: { turn: number; at: number }[] = [];
  const thrown = new Set<string>();
  const calls = new Map<string, { answered: boolean; n: number }>();
  const responses: Response[] = [];
  const tools: string[] = [];
  let takenBack = 0;
  let pausedTurns = 0;

  const begin = (): void => {
    running = { n: nextResponse++, at: now, turnsBefore: nextTurn, sent: 0, cancelled: false, thrown: false };
    responses.push(running);
    model.requested();
  };
  const cancel = (): void => {
    waiting = false;
    if (running !== null) running.cancelled = true;
  };
  const session = muteModel({
    capabilities: { ...TURN_BY_TURN, takesBack: true },
    appendAudio: (payload) => {
      open = Buffer.concat([open, payload]);
    },
    clearAudio() {
      open = Buffer.alloc(0);
      mayGoOn = null;
    },
    endTurn(o) {
      if (open.length < 800) return null;
      const turn = nextTurn++;
      turns.set(turn, open);
      words.push({ turn, at: now + WORDS_MS });
      open = Buffer.alloc(0);
      mayGoOn = o?.mayGoOn === true ? turn : null;
      if (mayGoOn !== null) pausedTurns++;
      return turn;
    },
    respond() {
      if (running === null) begin();
      else waiting = true;
    },
    interrupt: cancel,
    takeBack({ turn, itemIds, toolCallIds }: EarlyAnswer) {
      if (turn !== mayGoOn) throw new Error(`turn ${turn} is taken back, which was over`);
      takenBack++;
      mayGoOn = null;
      if (running !== null) running.thrown = true;
      cancel();
      open = Buffer.concat([turns.get(turn)!, open]);
      turns.delete(turn);
      for (const id of itemIds) thrown.add(id);
      for (const id of toolCallIds) {
        if (!calls.delete(id)) throw new Error(`${id} was no call`);
        thrown.add(id);
      }
    },
    sendToolResult(id) {
      const call = calls.get(id);
      if (call === undefined || call.answered)
        throw new Error(`${id} is answered, and was taken back or answered`);
      call.answered = true;
    },
    busy: () => waiting || (running !== null && !running.cancelled),
  });
  const { talk, voice, record } = openTalkParts(PLAN, {
    openModel(_config, given) {
      listener = given;
      return session;
    },
    post(message) {
      posted.push(message);
      if (message.type !== 'tool-called') return;
      if (tools.includes(message.toolCallId)) throw new Error(`${message.toolCallId} runs twice`);
      if (thrown.has(message.toolCallId)) throw new Error(`${message.toolCallId} runs, and was thrown away`);
      if (mayGoOn !== null) throw new Error(`${message.toolCallId} runs for a turn that is not over`);
      tools.push(message.toolCallId);
    },
    now: () => now,
    newId: () => `id-${posted.length}-${now}`,
    line: {
      mark: (name) => marks.push({ name, at: now + SENT_MS }),
      clear() {
        marks = marks.map((mark) => ({ ...mark, at: now }));
      },
    },
  });
  const model = listener as unknown as ModelListener;

  function done(): void {
    const response = running as Response;
    running = null;
    const of: UsageOf = response.thrown ? 'taken-back' : 'answer';
    model.usage({ input_text_tokens: 100, output_audio_tokens: response.sent }, of);
    if (waiting) {
      waiting = false;
      begin();
    }
    model.responseDone({
      responseId: `r${response.n}`,
      status: response.cancelled ? 'cancelled' : 'completed',
      reason: null,
      hadAudio: response.sent > 0,
      toolCalls: 0,
    });
  }

  function modelGoesOn(): void {
    const due = words.filter(({ at }) => at <= now);
    for (const one of due) {
      words.splice(words.indexOf(one), 1);
      if (turns.has(one.turn)) model.callerText(one.turn, `words ${one.turn}`);
    }
    if (running === null) return;
    const response: Response = running;
    if (response.cancelled) {
      done();
      return;
    }
    if (now - response.at < style.latencyMs + response.sent * 60) return;
    const item = `item-${response.n}`;
    if (response.sent === 0) model.text(item, `line ${response.n}`);
    model.audio(item, Buffer.alloc(style.burstMs * 8, 1));
    if (++response.sent < style.bursts) return;
    model.textDone(item, `line ${response.n}`);
    model.audioDone(item);
    if (style.calls && calls.size < 4) {
      const toolCallId = `tool-${response.n}`;
      calls.set(toolCallId, { answered: false, n: response.n });
      model.toolCall({ toolCallId, name: 'look_up', argumentsJson: '{}' });
    }
    done();
  }

  // ---- the line ----
  let frame = 0;
  function pass(ms: number): void {
    for (const end = now + ms; now < end; ) {
      // Each frame has its number in it, so that loss and repetition show.
      const sound = Buffer.alloc(FRAME_BYTES);
      sound.writeUInt32LE(frame++);
      talk.callerAudio(sound, now);
      now += FRAME_MS;
      for (const [id, call] of calls)
        if (!call.answered && tools.includes(id) && now % 300 === 0) talk.toolResult(id, '{}');
      modelGoesOn();
      voice.pace(now);
      while (marks[0] !== undefined && marks[0].at <= now) talk.markBack(marks.shift()!.name);
      talk.tick(now, now);
    }
  }

  model.ready({ renewed: false, tookMs: 1 });
  talk.streamStarted(MULAW_8K);
  pass(400);
  for (const one of stretches) {
    style = one;
    const from = now;
    talk.voice({ is: 'starting', onsetMs: from });
    pass(ONSET_MS);
    talk.voice({ is: 'speaking', onsetMs: from, stoppedMs: 0 });
    talk.speechStarted(from);
    pass(one.speakMs);
    const until = now;
    const knownMs = Math.min(one.pauseMs, KNOWN_AFTER_MS);
    pass(knownMs);
    if (one.pauseMs < KNOWN_AFTER_MS) {
      // No pause that anybody hears of.
      talk.voice({ is: 'speaking', onsetMs: from, stoppedMs: knownMs });
      pass(200);
      pass(KNOWN_AFTER_MS);
    }
    talk.voice({ is: 'quiet' });
    talk.speechEnded(one.pauseMs < KNOWN_AFTER_MS ? now - KNOWN_AFTER_MS : until);
    const left = Math.max(0, one.pauseMs - KNOWN_AFTER_MS);
    pass(left / 2);
    if (one.besides === 'key') talk.digit('1');
    if (one.besides === 'words') talk.typed('a word');
    if (one.besides === 'model renewed') model.ready({ renewed: true, tookMs: 1 });
    if (one.besides === 'noise') {
      talk.voice({ is: 'starting', onsetMs: now });
      pass(60);
      talk.voice({ is: 'quiet' });
    }
    pass(left / 2);
  }
  // Nobody does anything new: what was begun comes to its end.
  pass(8_000);

  const begun = record.earlyAnswers;
  const dropped = record.thrownAwayAnswers;
  if (dropped !== takenBack) throw new Error(`${dropped} thrown away, the model was told of ${takenBack}`);
  if (mayGoOn !== null && open.length > 0) throw new Error('a turn is neither over nor goes on');
  if (begun !== pausedTurns) throw new Error(`${pausedTurns} begun early, ${begun} released or thrown away`);
  const lines = posted.flatMap((message) => (message.type === 'transcript' ? message.items : []));
  for (const { role, text } of lines)
    if (role === 'agent' && thrown.has(text.replace('line ', 'item-')))
      throw new Error(`${text} is in the transcript, and was thrown away`);
  for (const [id, { answered }] of calls)
    if (!answered && !tools.includes(id)) throw new Error(`${id} stays without an answer`);
  // What reached the model is each turn in one piece.
  const numbers = [...turns.values()].map((turn) =>
    Array.from({ length: Math.floor(turn.length / FRAME_BYTES) }, (_, i) =>
      turn.readUInt32LE(i * FRAME_BYTES),
    ),
  );
  for (const turn of numbers)
    if (turn.some((n, i) => i > 0 && n !== turn[i - 1]! + 1))
      throw new Error('a turn has a gap, or sound twice');
  // Of each turn of his that was answered, one answer is heard: those that were heard were asked for after its end.
  const told = posted.flatMap((message) => (message.type === 'turn' ? [message.times] : []));
  const heard = told.filter(({ kind, firstHeardMs }) => kind === 'answer' && firstHeardMs !== null);
  for (const { firstSentMs, decidedMs } of heard)
    if ((firstSentMs ?? 0) < decidedMs) throw new Error('an answer is heard before the turn is over');
  const usage = posted.flatMap((message) => (message.type === 'usage' ? [message.usage] : []));
  const paid = usage.reduce((sum, one) => sum + (one.input_text_tokens ?? 0), 0);
  const ended = responses.filter((response) => response !== running).length;
  if (paid !== ended * 100) throw new Error(`${ended} responses, paid for ${paid / 100}`);
  return { early: begun, thrown: dropped, tools: tools.length, answers: heard.length };
}

const stretch = fc.record<Stretch>({
  speakMs: fc.integer({ min: 10, max: 100 }).map((n) => n * FRAME_MS),
  pauseMs: fc.integer({ min: 5, max: 90 }).map((n) => n * FRAME_MS),
  latencyMs: fc.constantFrom(0, 60, 200, 500, 900),
  calls: fc.constantFrom(false, false, true),
  burstMs: fc.constantFrom(60, 400, 1_500),
  bursts: fc.integer({ min: 1, max: 4 }),
  besides: fc.constantFrom('nothing', 'nothing', 'nothing', 'key', 'words', 'noise', 'model renewed'),
});

t.test('whatever he does, an answer begun early is one to a turn that was over, or none', async (t) => {
  const sum: Outcome = { early: 0, thrown: 0, tools: 0, answers: 0 };
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 8 }), (stretches) => {
      const one = run(stretches);
      for (const key of Object.keys(sum) as (keyof Outcome)[]) sum[key] += one[key];
    }),
    { seed: SEED, numRuns: 400 * RUNS },
  );
  t.ok(sum.early > sum.thrown && sum.thrown > 0 && sum.tools > 0 && sum.answers > 0, JSON.stringify(sum));
  t.comment(`note: seed ${SEED}: ${JSON.stringify(sum)}`);
});
