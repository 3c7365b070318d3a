// PURE. Where the sound of one stream of the caller's stands on the call's clock, and how far his clock runs before ours.
import { ClockLead } from './clock-lead.ts';

/** Stretches that are asked about at most: what is listened to is of the last moments. */
const MOST_STRETCHES = 8;

export class CallerClock {
  readonly #lead = new ClockLead();
  #offsetMs: number;
  /** From a millisecond of the stream on, its sound lies later there than it was spoken; the newest first. */
  readonly #stretches = [{ fromMs: 0, lateMs: 0 }];

  /** @param offsetMs where the stream begins, as far as is known */
  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  /** The first frame has shown where the stream begins. */
  begin(offsetMs: number): void {
    this.#offsetMs = offsetMs;
  }

  /**
   * Sound that came lies later in the stream than it was spoken, from here on: silence had taken its place before it came.
   * Less than nothing: a gap was longer than its silence.
   */
  lies(streamMs: number, lateMs: number): void {
    if (this.#stretches[0]!.lateMs === lateMs) return;
    this.#stretches.unshift({ fromMs: streamMs, lateMs });
    if (this.#stretches.length > MOST_STRETCHES) this.#stretches.pop();
  }

  /**
   * Milliseconds of the call at which a millisecond of the stream was spoken. Goes back where sound comes for which silence was
   * given already.
   */
  at(streamMs: number): number {
    for (const { fromMs, lateMs } of this.#stretches)
      if (fromMs <= streamMs) return this.#offsetMs + streamMs - lateMs;
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
