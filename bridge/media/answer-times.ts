// The moments of one answer, from when it was wanted to its first sound heard; told once, when that was heard or it came to
// nothing. PURE: the clock comes from outside.
import type { TurnTimes } from '../protocol/messages.ts';

export interface AnswerTimes {
  /** An answer is wanted; the one before has come to nothing if it is still open. `speechEndMs`: of the turn it answers. */
  open(kind: TurnTimes['kind'], speechEndMs: number | null): void;
  /** The same, unless one is open. */
  openIfNone(kind: TurnTimes['kind']): void;
  requested(): void;
  received(): void;
  sent(): void;
  /** A mark has come back, by its name. */
  heard(mark: string): void;
  close(bargedIn: boolean): void;
}

export function createAnswerTimes(o: { now(): number; tell(times: TurnTimes): void }): AnswerTimes {
  let times: TurnTimes | null = null;

  function close(bargedIn: boolean): void {
    if (times === null) return;
    const told = { ...times, bargedIn };
    times = null;
    o.tell(told);
  }

  function open(kind: TurnTimes['kind'], speechEndMs: number | null): void {
    close(false);
    times = {
      kind,
      speechEndMs,
      decidedMs: o.now(),
      requestedMs: null,
      firstModelAudioMs: null,
      firstSentMs: null,
      firstHeardMs: null,
      bargedIn: false,
    };
  }

  return {
    open,
    openIfNone(kind) {
      if (times === null) open(kind, null);
    },
    requested() {
      if (times !== null) times.requestedMs ??= o.now();
    },
    received() {
      if (times !== null) times.firstModelAudioMs ??= o.now();
    },
    sent() {
      if (times !== null) times.firstSentMs ??= o.now();
    },
    heard(mark) {
      if (times === null || times.firstSentMs === null) return;
      // A mark confirms the 100 ms before it: the first sound was heard at their start.
      const heardMs = Number(mark.slice(mark.indexOf(':') + 1)) / 8;
      if (heardMs <= 0) return;
      times.firstHeardMs = Math.max(times.firstSentMs, o.now() - Math.min(heardMs, 100));
      close(false);
    },
    close,
  };
}
