// Whether a carrier's line still carries: frames that come in, marks that come back, bytes that wait. PURE.
// Says when to hold audio back and when the line is dead; what then happens to the call is decided elsewhere.

import type { StreamLoss } from '../protocol/messages.ts';

/** A carrier sends frames all the time, but for pauses of its network: silence this long is a dead line. */
export const FIRST_FRAME_MS = 30_000;
export const MEDIA_TIMEOUT_MS = 15_000;
/** Bytes waiting in the socket at which audio stays here, and at which a reader that stays slow is given up. */
export const SLOW_BYTES = 32 * 1024;
export const STUCK_BYTES = 256 * 1024;
export const STUCK_MS = 5_000;
/**
 * Kernels take megabytes for a reader that has stopped, so that bytes alone show nothing for minutes; marks do. They come
 * back within a stall's length of being played: after this time more audio would only be heard late.
 */
export const UNPLAYED_HOLD_MS = 3_000;
/** And after this time nothing is being heard at all. */
export const UNPLAYED_LIMIT_MS = 15_000;

/** Between two looks, of which there are many a second: longer, and the thread stood still, not the line. */
const STOOD_STILL_MS = 10_000;

/** `slow`: audio stays here for now; a fault: the line is dead. */
export type LineState = 'open' | 'slow' | Exclude<StreamLoss, 'closed'>;

/** Watches one stream from its start on. All times are of one clock. */
export class LineWatch {
  #heardAt: number;
  #lastFrameAt: number;
  #framed = false;
  #stuckSince: number | null = null;
  #unplayed = 0;
  /** Since when a mark is owed and none has come. */
  #owedSince: number | null = null;
  #lookedAt: number | null = null;

  constructor(startMs: number) {
    this.#heardAt = startMs;
    this.#lastFrameAt = startMs;
  }

  /** When something came of it last: a frame or a mark; its start where nothing has. */
  get heardMs(): number {
    return this.#heardAt;
  }

  frame(nowMs: number): void {
    this.#heardAt = nowMs;
    this.#lastFrameAt = nowMs;
    this.#framed = true;
  }

  markSent(nowMs: number): void {
    this.#unplayed++;
    this.#owedSince ??= nowMs;
  }

  markBack(nowMs: number): void {
    this.#heardAt = nowMs;
    this.#unplayed = Math.max(0, this.#unplayed - 1);
    this.#owedSince = this.#unplayed > 0 ? nowMs : null;
  }

  /** What was sent was cleared, and its marks never come back. */
  cleared(): void {
    this.#unplayed = 0;
    this.#owedSince = null;
  }

  /** @param waitingBytes written to the socket and not yet taken by the network */
  look(nowMs: number, waitingBytes: number): LineState {
    const stillMs = nowMs - (this.#lookedAt ?? nowMs);
    this.#lookedAt = nowMs;
    if (stillMs > STOOD_STILL_MS) this.#skip(stillMs);
    if (nowMs - this.#lastFrameAt > (this.#framed ? MEDIA_TIMEOUT_MS : FIRST_FRAME_MS))
      return 'media_timeout';
    if (waitingBytes <= STUCK_BYTES) this.#stuckSince = null;
    else {
      this.#stuckSince ??= nowMs;
      if (nowMs - this.#stuckSince > STUCK_MS) return 'carrier_backpressure';
    }
    const owedMs = this.#owedSince === null ? 0 : nowMs - this.#owedSince;
    if (owedMs > UNPLAYED_LIMIT_MS) return 'carrier_backpressure';
    return waitingBytes > SLOW_BYTES || owedMs > UNPLAYED_HOLD_MS ? 'slow' : 'open';
  }

  /** What the line did meanwhile has not been read yet: the time does not count. */
  #skip(ms: number): void {
    this.#lastFrameAt += ms;
    if (this.#stuckSince !== null) this.#stuckSince += ms;
    if (this.#owedSince !== null) this.#owedSince += ms;
  }
}
