// The moments of one answer, from when it was wanted to its first sound heard; told once, when that was heard or it came to
// nothing. PURE: the clock comes from outside.
import type { TurnTimes } from '../protocol/messages.ts';

/** What has become of an answer before it was wanted. */
export type Begun = Pick<TurnTimes, 'requestedMs' | 'firstModelAudioMs'>;

export class AnswerTimes {
  readonly #now: () => number;
  readonly #tell: (times: TurnTimes) => void;
  #times: TurnTimes | null = null;
  /** Answers begun early that were thrown away since the last one was wanted. */
  #thrownAway = 0;

  constructor(o: { now: () => number; tell: (times: TurnTimes) => void }) {
    this.#now = o.now;
    this.#tell = o.tell;
  }

  /** An answer is wanted; the one before has come to nothing if it is still open. `speechEndMs`: of the turn it answers. */
  open(kind: TurnTimes['kind'], speechEndMs: number | null, begun: Begun | null = null): void {
    this.close(false);
    this.#times = {
      kind,
      speechEndMs,
      decidedMs: this.#now(),
      requestedMs: begun?.requestedMs ?? null,
      firstModelAudioMs: begun?.firstModelAudioMs ?? null,
      firstSentMs: null,
      firstHeardMs: null,
      bargedIn: false,
      thrownAway: this.#thrownAway,
    };
    this.#thrownAway = 0;
  }

  /** One that was begun early came to nothing: told with the next that is wanted, or at the end. */
  thrownAway(): void {
    this.#thrownAway++;
  }

  /** The same, unless one is open. */
  openIfNone(kind: TurnTimes['kind']): void {
    if (this.#times === null) this.open(kind, null);
  }

  requested(): void {
    if (this.#times !== null) this.#times.requestedMs ??= this.#now();
  }

  received(): void {
    if (this.#times !== null) this.#times.firstModelAudioMs ??= this.#now();
  }

  sent(): void {
    if (this.#times !== null) this.#times.firstSentMs ??= this.#now();
  }

  /** A mark has come back that confirms so many milliseconds more; 0: nothing new. */
  heard(confirmedMs: number): void {
    const times = this.#times;
    if (times === null || times.firstSentMs === null || confirmedMs <= 0) return;
    // The first sound was heard at the start of what the mark confirms.
    times.firstHeardMs = Math.max(times.firstSentMs, this.#now() - confirmedMs);
    this.close(false);
  }

  /** No answer will be wanted any more: those thrown away since the last one have a row of their own. */
  end(): void {
    this.close(false);
    if (this.#thrownAway === 0) return;
    this.open('answer', null);
    this.close(false);
  }

  close(bargedIn: boolean): void {
    if (this.#times === null) return;
    const told = { ...this.#times, bargedIn };
    this.#times = null;
    this.#tell(told);
  }
}
