// Whether a carrier's line still carries: frames that come in, marks that come back, bytes that wait. PURE.
// Says when to hold audio back and when the line is dead; what then happens to the call is decided elsewhere.

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

export type LineState = 'open' | 'hold' | 'media_timeout' | 'carrier_backpressure';

export interface LineWatch {
  frame(nowMs: number): void;
  markSent(nowMs: number): void;
  markBack(nowMs: number): void;
  /** @param waitingBytes written to the socket and not yet taken by the network */
  look(nowMs: number, waitingBytes: number): LineState;
}

/** Watches one stream from its start on. All times are of one clock. */
export function createLineWatch(startMs: number): LineWatch {
  let lastFrameAt = startMs;
  let framed = false;
  let stuckSince: number | null = null;
  let unplayed = 0;
  /** Since when a mark is owed and none has come. */
  let owedSince: number | null = null;

  return {
    frame(nowMs) {
      lastFrameAt = nowMs;
      framed = true;
    },
    markSent(nowMs) {
      unplayed++;
      owedSince ??= nowMs;
    },
    markBack(nowMs) {
      unplayed = Math.max(0, unplayed - 1);
      owedSince = unplayed > 0 ? nowMs : null;
    },
    look(nowMs, waitingBytes) {
      if (nowMs - lastFrameAt > (framed ? MEDIA_TIMEOUT_MS : FIRST_FRAME_MS)) return 'media_timeout';
      if (waitingBytes <= STUCK_BYTES) stuckSince = null;
      else {
        stuckSince ??= nowMs;
        if (nowMs - stuckSince > STUCK_MS) return 'carrier_backpressure';
      }
      const owedMs = owedSince === null ? 0 : nowMs - owedSince;
      if (owedMs > UNPLAYED_LIMIT_MS) return 'carrier_backpressure';
      return waitingBytes > SLOW_BYTES || owedMs > UNPLAYED_HOLD_MS ? 'hold' : 'open';
    },
  };
}
