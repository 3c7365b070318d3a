// PURE. How long frames waited until they were worked on. A carrier's own delay is not known, so each stream's quickest frame
// of the last seconds stands for none; the age of a frame is what it came later than that. Of one stream that is its line's
// jitter; the middle over all streams of a thread is the thread's own delay.

/** A stream's quickest frame is remembered for one to two of these: clocks drift apart, and routes change. */
const WINDOW_MS = 5_000;
const BUCKET_MS = 4;
const BUCKETS = 256;
/** A frame's own length: who waits as long is heard late. */
const LATE_MS = 20;

/** The frames of one stream. */
export class StreamAges {
  readonly #ages: FrameAges;
  #quickestMs = Number.POSITIVE_INFINITY;
  #beforeMs = Number.POSITIVE_INFINITY;
  #windowEndMs = Number.NEGATIVE_INFINITY;

  constructor(ages: FrameAges) {
    this.#ages = ages;
  }

  /** A frame was worked on. Both in milliseconds, each on a clock of its own. */
  frame(nowMs: number, timestampMs: number): void {
    const delayMs = nowMs - timestampMs;
    if (nowMs >= this.#windowEndMs) {
      this.#beforeMs = this.#quickestMs;
      this.#quickestMs = delayMs;
      this.#windowEndMs = nowMs + WINDOW_MS;
    } else if (delayMs < this.#quickestMs) this.#quickestMs = delayMs;
    this.#ages.count(delayMs - Math.min(this.#quickestMs, this.#beforeMs));
  }
}

/** The frames of all streams of a thread. */
export class FrameAges {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;
  /** Frames worked on 20 ms or more after the quickest of their stream, since the start. */
  late = 0;

  stream(): StreamAges {
    return new StreamAges(this);
  }

  count(ageMs: number): void {
    const bucket = Math.min(BUCKETS - 1, Math.floor(ageMs / BUCKET_MS));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
    if (ageMs >= LATE_MS) this.late++;
  }

  /** Of the frames since the last reading, in milliseconds to 4; null when there were none. */
  read(): { p50Ms: number; p99Ms: number } | null {
    if (this.#total === 0) return null;
    const answer = { p50Ms: this.#quantile(0.5), p99Ms: this.#quantile(0.99) };
    this.#counts.fill(0);
    this.#total = 0;
    return answer;
  }

  #quantile(share: number): number {
    const wanted = Math.ceil(this.#total * share);
    let seen = 0;
    for (let i = 0; i < BUCKETS; i++) {
      seen += this.#counts[i] ?? 0;
      if (seen >= wanted) return i * BUCKET_MS;
    }
    return BUCKETS * BUCKET_MS;
  }
}
