// What the model answers before the caller's turn is over: kept back in its order, then let go as if it came now, or dropped.
// Stands between a session and the talk; but for that time everything passes through. Decides nothing.
import { SoundQueue } from '../../audio/sound-queue.ts';
import type { ModelListener, ResponseEnd, Usage, UsageOf } from '../models/model.ts';

type ToolCall = Parameters<ModelListener['toolCall']>[0];

/** One thing that came; of sound, how much of what is kept. */
type Came =
  | { what: 'sound'; itemId: string; bytes: number }
  | { what: 'sound-done'; itemId: string }
  | { what: 'text'; itemId: string; delta: string }
  | { what: 'text-done'; itemId: string; text: string }
  | { what: 'tool-call'; call: ToolCall }
  | { what: 'done'; end: ResponseEnd };

/** An answer kept back: what came of it, and when (milliseconds of the call; null: not yet). */
export interface Kept {
  /** The caller's turn that it answers. */
  turn: number;
  requestedMs: number | null;
  firstModelAudioMs: number | null;
  items: Set<string>;
  toolCallIds: string[];
  usage: Partial<Usage>[];
  /** The words of the turn that it answers; undefined: they have not come. */
  words: string | null | undefined;
  /** In its order. */
  came: Came[];
  sound: SoundQueue;
}

export class HeldAnswer {
  readonly #now: () => number;
  #kept: Kept | null = null;
  #telling = false;

  /** @param now milliseconds of the call */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Of what is being let go more is to be told: what the model does now is not yet what it did then. */
  get telling(): boolean {
    return this.#telling;
  }

  /** From now on what comes of a response is kept back, and the words of the turn that it answers. */
  begin(turn: number): void {
    this.#kept = {
      turn,
      requestedMs: null,
      firstModelAudioMs: null,
      items: new Set(),
      toolCallIds: [],
      usage: [],
      words: undefined,
      came: [],
      sound: new SoundQueue(),
    };
  }

  /** Keeps nothing back any more. Answers what was kept, to be told; null when there was nothing. */
  release(): Kept | null {
    const kept = this.#kept;
    this.#kept = null;
    return kept;
  }

  /** The same, of what nobody is to hear. */
  throwAway(): Omit<Kept, 'came' | 'sound'> | null {
    const kept = this.release();
    kept?.sound.clear();
    return kept;
  }

  /** Tells what was kept as if it came now. */
  tell({ turn, words, came, sound }: Kept, talk: ModelListener): void {
    if (words !== undefined) talk.callerText(turn, words);
    for (const [i, one] of came.entries()) {
      this.#telling = i < came.length - 1;
      tellOne(one, sound, talk);
    }
  }

  /** A listener for the session: what is not kept back is told to `talk` at once. */
  before(talk: ModelListener): ModelListener {
    const keep = (came: Came): void => {
      if (this.#kept === null) {
        tellOne(came, NO_SOUND, talk);
        return;
      }
      if ('itemId' in came) this.#kept.items.add(came.itemId);
      this.#kept.came.push(came);
    };
    return {
      ...talk,
      requested: () => {
        if (this.#kept === null) talk.requested();
        else this.#kept.requestedMs ??= this.#now();
      },
      audio: (itemId, payload) => {
        const kept = this.#kept;
        if (kept === null) {
          talk.audio(itemId, payload);
          return;
        }
        kept.firstModelAudioMs ??= this.#now();
        kept.sound.push(payload);
        const last = kept.came.at(-1);
        if (last?.what === 'sound' && last.itemId === itemId) last.bytes += payload.length;
        else keep({ what: 'sound', itemId, bytes: payload.length });
      },
      audioDone: (itemId) => keep({ what: 'sound-done', itemId }),
      text: (itemId, delta) => keep({ what: 'text', itemId, delta }),
      textDone: (itemId, text) => keep({ what: 'text-done', itemId, text }),
      callerText: (turn, text) => {
        if (this.#kept?.turn === turn) this.#kept.words = text;
        else talk.callerText(turn, text);
      },
      toolCall: (call) => {
        this.#kept?.toolCallIds.push(call.toolCallId);
        keep({ what: 'tool-call', call });
      },
      responseDone: (end) => keep({ what: 'done', end }),
      usage: (usage: Partial<Usage>, of: UsageOf) => {
        if (this.#kept === null || of !== 'answer') talk.usage(usage, of);
        else this.#kept.usage.push(usage);
      },
    };
  }
}

const NO_SOUND = new SoundQueue();

/** @param sound where the sound of it is the oldest */
function tellOne(one: Came, sound: SoundQueue, talk: ModelListener): void {
  switch (one.what) {
    case 'sound': {
      const payload = Buffer.allocUnsafe(one.bytes);
      sound.take(payload, 0, one.bytes);
      talk.audio(one.itemId, payload);
      return;
    }
    case 'sound-done':
      talk.audioDone(one.itemId);
      return;
    case 'text':
      talk.text(one.itemId, one.delta);
      return;
    case 'text-done':
      talk.textDone(one.itemId, one.text);
      return;
    case 'tool-call':
      talk.toolCall(one.call);
      return;
    case 'done':
      talk.responseDone(one.end);
  }
}
