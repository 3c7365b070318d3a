// What the model answers before the caller's turn is over: kept back in its order, then let go as if it came now, or dropped.
// Stands between a session and the talk; but for that time everything passes through. Decides nothing.
import type { ModelListener, Usage, UsageOf } from '../models/model.ts';

/** An answer kept back: what came of it, and when (milliseconds of the call; null: not yet). */
export interface Kept {
  /** The caller's turn that it answers. */
  turn: number;
  requestedMs: number | null;
  firstModelAudioMs: number | null;
  items: Set<string>;
  toolCallIds: string[];
  usage: Partial<Usage>[];
  /** What the talk is told when it is let go. */
  told: (() => void)[];
}

export class HeldAnswer {
  readonly #now: () => number;
  #kept: Kept | null = null;

  /** @param now milliseconds of the call */
  constructor(now: () => number) {
    this.#now = now;
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
      told: [],
    };
  }

  /** Keeps nothing back any more. Answers what was kept, which is the asker's to tell or to drop; null when there was nothing. */
  end(): Kept | null {
    const kept = this.#kept;
    this.#kept = null;
    return kept;
  }

  /** A listener for the session: what is not kept back is told to `talk` at once. */
  before(talk: ModelListener): ModelListener {
    const later = (tell: () => void, itemId?: string): void => {
      const kept = this.#kept;
      if (kept === null) {
        tell();
        return;
      }
      if (itemId !== undefined) kept.items.add(itemId);
      kept.told.push(tell);
    };
    return {
      ...talk,
      requested: () => {
        if (this.#kept === null) talk.requested();
        else this.#kept.requestedMs ??= this.#now();
      },
      audio: (itemId, payload) => {
        const kept = this.#kept;
        if (kept === null) return talk.audio(itemId, payload);
        kept.firstModelAudioMs ??= this.#now();
        const copy = Buffer.from(payload);
        later(() => talk.audio(itemId, copy), itemId);
      },
      audioDone: (itemId) => later(() => talk.audioDone(itemId), itemId),
      text: (itemId, delta) => later(() => talk.text(itemId, delta), itemId),
      textDone: (itemId, text) => later(() => talk.textDone(itemId, text), itemId),
      callerText: (turn, text) => {
        if (this.#kept?.turn === turn) this.#kept.told.push(() => talk.callerText(turn, text));
        else talk.callerText(turn, text);
      },
      toolCall: (call) => {
        this.#kept?.toolCallIds.push(call.toolCallId);
        later(() => talk.toolCall(call));
      },
      responseDone: (end) => later(() => talk.responseDone(end)),
      usage: (usage: Partial<Usage>, of: UsageOf) => {
        if (this.#kept === null || of !== 'answer') talk.usage(usage, of);
        else this.#kept.usage.push(usage);
      },
    };
  }
}
