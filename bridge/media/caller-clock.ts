// PURE. Where the sound of one stream of the caller's stands on the call's clock, and how far his clock runs before ours.
import { ClockLead } from './clock-lead.ts';

export class CallerClock {
  readonly #lead = new ClockLead();
  #offsetMs: number;

  /** @param offsetMs where the stream begins, as far as is known */
  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  /** The first frame has shown where the stream begins. */
  begin(offsetMs: number): void {
    this.#offsetMs = offsetMs;
  }

  /** Milliseconds of the call at which a millisecond of the stream was spoken. */
  at(streamMs: number): number {
    return this.#offsetMs + streamMs;
  }

  /** Sound up to a millisecond of the stream has come. */
  came(streamMs: number, nowMs: number): void {
    this.#lead.seen(this.at(streamMs), nowMs);
  }

  /** How far his clock runs before ours, in milliseconds; null before any sound has come. */
  get leadMs(): number | null {
    return this.#lead.ms;
  }
}
