// A model session that answers at once and whole, so that what is measured is the daemon's own share; or after a while and in
// bursts, as one behind a network does. Remembers what it was given and when.
import { FRAME_BYTES, MULAW_8K } from '../../audio/format.ts';
import type { ModelListener, ModelSession, UsageOf } from '../../bridge/models/model.ts';
import { agentTokens, callerTokens } from '../../scripts/model-simulator/usage.ts';
import { TURN_BY_TURN } from '../bridge/models/capabilities.ts';
import { type Random, seeded } from '../random.ts';
import { between } from './sounds.ts';

export interface PacedModel extends ModelSession {
  /** The caller's turns as they reached the model; `fromMs` is where in the stream their sound begins. */
  readonly turns: { fromMs: number; committedMs: number }[];
  /** Tells the conversation what has come meanwhile; called outside of its own calls, as a socket would. */
  flush(): void;
}

/** How a model takes its time: drawn from a seed. */
export interface Tempo {
  seed: number;
  /** From the request to the first sound. */
  firstMs: readonly [number, number];
}

/** One answer: mu-law and its words. */
export interface Answer {
  sound: Uint8Array;
  text: string;
}

/** Less is no turn, as at OpenAI. */
const LEAST_TURN_BYTES = 5 * FRAME_BYTES;
/** Sound comes in pieces of so many ms, so much faster than it is spoken; one in so many is late by so much more. */
const PIECE_MS = [100, 300] as const;
const FASTER = [1.5, 4] as const;
const LATE_ONE_IN = 25;
const LATE_MS = [100, 300] as const;
/** From the end of a turn to its words; this share of them comes to nothing, and this to other words. */
const WORDS_MS = [300, 800] as const;
const WORDS_LOST = 0.02;
const WORDS_MISHEARD = 0.06;
const CANCEL_MS = 30;
const AT_ONCE = [0, 0] as const;

export function createPacedModel(
  listener: ModelListener,
  o: {
    /** Milliseconds since the stream's start. */
    now(): number;
    /** Bytes of the caller's sound that have reached the daemon. */
    heardBytes(): number;
    /** The n-th answer; told when it begins to come. */
    answer(n: number): Answer;
    /** Null: all at once. */
    tempo: Tempo | null;
    /** What the caller said in this stretch of the stream; null: nothing that could be made out. */
    wordsIn(fromMs: number, toMs: number): string | null;
    /** What is written instead of words that are misheard. */
    misheard(words: string, random: Random): string;
    /** The caller’s words are known: short ones over the agent’s voice are weighed by them. */
    transcribes: boolean;
  },
): PacedModel {
  const { tempo } = o;
  const random = seeded(tempo?.seed ?? 0);
  const draw = ([low, high]: readonly [number, number]) => (tempo === null ? 0 : between(low, high, random));
  const turns: PacedModel['turns'] = [];
  let nextTurn = 0;
  /** Bytes of the turn that was ended last. */
  let endedBytes = 0;
  /** Their words do not come. */
  const takenBack = new Set<number>();
  /** What is on its way, in the order of its being sent. `response`: which it belongs to. */
  const coming: { atMs: number; response: number | null; tell: () => void }[] = [];
  let responses = 0;
  let running: number | null = null;
  let sounded = false;
  let waits = false;
  let appendedBytes = 0;
  let fromMs = 0;
  /** What stands in the conversation: the caller's turns, and answers, which are cut to what has come of them. */
  let callerBytes = 0;
  let agentBytes = 0;
  /** Of the running response. */
  let cameBytes = 0;
  let inputTokens = 0;
  /** Of the one that ended last. */
  let saidBytes = 0;
  let thrown = false;

  const comes = (afterMs: number, tell: () => void, response: number | null = null) =>
    void coming.push({ atMs: o.now() + afterMs, response, tell });

  const ended = (n: number, status: 'completed' | 'cancelled') => {
    if (running !== n) return;
    running = null;
    const of: UsageOf = thrown ? 'taken-back' : 'answer';
    listener.usage({ input_audio_tokens: inputTokens, output_audio_tokens: agentTokens(cameBytes / 8) }, of);
    if (!thrown) agentBytes += cameBytes;
    saidBytes = thrown ? 0 : cameBytes;
    listener.responseDone({
      responseId: `response-${n}`,
      status,
      reason: null,
      hadAudio: sounded,
      toolCalls: 0,
    });
    if (!waits) return;
    waits = false;
    begin();
  };

  function begin(): void {
    const n = responses++;
    running = n;
    listener.requested();
    sounded = false;
    thrown = false;
    cameBytes = 0;
    inputTokens = callerTokens(callerBytes / 8) + agentTokens(agentBytes / 8);
    comes(draw(tempo?.firstMs ?? AT_ONCE), () => answer(n), n);
  }

  function answer(n: number): void {
    const itemId = `item-${n}`;
    const { sound, text } = o.answer(n);
    const [first, ...rest] = tempo === null ? [sound] : piecesOf(sound);
    sounded = true;
    come(itemId, first ?? sound);
    listener.text(itemId, text);
    let afterMs = 0;
    let before = first ?? sound;
    for (const piece of rest) {
      const lateMs = random() * LATE_ONE_IN < 1 ? draw(LATE_MS) : 0;
      afterMs += before.length / 8 / draw(FASTER) + lateMs;
      comes(afterMs, () => come(itemId, piece), n);
      before = piece;
    }
    const end = () => {
      listener.textDone(itemId, text);
      listener.audioDone(itemId);
      ended(n, 'completed');
    };
    if (rest.length === 0) end();
    else comes(afterMs, end, n);
  }

  function come(itemId: string, piece: Uint8Array): void {
    cameBytes += piece.length;
    listener.audio(itemId, Buffer.from(piece));
  }

  function piecesOf(sound: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    for (let from = 0; from < sound.length; ) {
      const to = Math.min(sound.length, from + Math.round(draw(PIECE_MS)) * 8);
      pieces.push(sound.subarray(from, to));
      from = to;
    }
    return pieces;
  }

  function transcribed(words: string): string | null {
    const chance = random();
    if (chance < WORDS_LOST) return null;
    return chance < WORDS_LOST + WORDS_MISHEARD ? o.misheard(words, random) : words;
  }

  function drop(): void {
    waits = false;
    const n = running;
    if (n === null) return;
    for (let i = coming.length - 1; i >= 0; i--) if (coming[i]!.response === n) coming.splice(i, 1);
    comes(tempo === null ? 0 : CANCEL_MS, () => ended(n, 'cancelled'));
  }

  return {
    turns,
    capabilities: { ...TURN_BY_TURN, transcribes: o.transcribes, takesBack: true },
    takes: MULAW_8K,
    gives: MULAW_8K,
    flush() {
      for (;;) {
        const next = coming.findIndex(({ atMs }) => atMs <= o.now());
        if (next < 0) return;
        coming.splice(next, 1)[0]!.tell();
      }
    },
    open: () => comes(0, () => listener.ready({ renewed: false, tookMs: 0 })),
    appendAudio(payload) {
      if (appendedBytes === 0) fromMs = (o.heardBytes() - payload.length) / 8;
      appendedBytes += payload.length;
    },
    clearAudio() {
      appendedBytes = 0;
    },
    endTurn() {
      if (appendedBytes < LEAST_TURN_BYTES) return null;
      const words = o.wordsIn(fromMs, fromMs + appendedBytes / 8);
      endedBytes = appendedBytes;
      callerBytes += appendedBytes;
      appendedBytes = 0;
      const turn = nextTurn++;
      turns.push({ fromMs, committedMs: o.now() });
      const written = words === null ? '' : tempo === null ? words : transcribed(words);
      comes(draw(WORDS_MS), () => {
        if (!takenBack.has(turn)) listener.callerText(turn, written);
      });
      return turn;
    },
    respond() {
      if (running === null) begin();
      else waits = true;
    },
    say() {},
    interrupt: drop,
    takeBack({ turn }) {
      takenBack.add(turn);
      fromMs = turns.pop()?.fromMs ?? fromMs;
      appendedBytes += endedBytes;
      callerBytes -= endedBytes;
      // Of one that has ended the sound is in the conversation already; one that waits has used nothing.
      if (running === null) agentBytes -= saidBytes;
      else thrown = !waits;
      drop();
    },
    addText() {},
    sendToolResult() {},
    busy: () => running !== null || waits,
    close: async () => {},
  };
}
