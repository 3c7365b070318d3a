// PURE. Where the samples of one stream of the caller's stand on the call's clock, and how far his clock runs before ours.
import { BYTES_PER_MS } from '../../audio/format.ts';
import { ClockLead } from './clock-lead.ts';

export class CallerClock {
  readonly #lead = new ClockLead();
  #offsetMs: number;

  /** @param offsetMs where sample 0 stands, as far as is known */
  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  /** The first frame has shown where sample 0 stands. */
  begin(offsetMs: number): void {
    this.#offsetMs = offsetMs;
  }

  /** Milliseconds of the call at which a sample of the stream was spoken. */
  at(sample: number): number {
    return this.#offsetMs + sample / BYTES_PER_MS;
  }

  /** Sound up to a sample has come. */
  came(sample: number, nowMs: number): void {
    this.#lead.seen(this.at(sample), nowMs);
  }

  /** How far his clock runs before ours, in milliseconds; null before any sound has come. */
  get leadMs(): number | null {
    return this.#lead.ms;
  }
}
