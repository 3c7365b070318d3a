// PURE. How long frames waited until they were worked on. A carrier's own delay is not known, so each stream's quickest frame
// of the last seconds stands for none; the age of a frame is what it came later than that. Of one stream that is its line's
// jitter; the middle over all streams of a thread is the thread's own delay.

/** A stream's quickest frame is remembered for one to two of these: clocks drift apart, and routes change. */
const WINDOW_MS = 5_000;
const BUCKET_MS = 4;
const BUCKETS = 256;

export interface StreamAges {
  /** A frame was worked on. Both in milliseconds, each on a clock of its own. */
  frame(nowMs: number, timestampMs: number): void;
}

export interface FrameAges {
  stream(): StreamAges;
  /** Of the frames since the last reading, in milliseconds to 4; null when there were none. */
  read(): { p50Ms: number; p99Ms: number } | null;
}

export function createFrameAges(): FrameAges {
  const counts = new Uint32Array(BUCKETS);
  let total = 0;

  function quantile(share: number): number {
    const wanted = Math.ceil(total * share);
    let seen = 0;
    for (let i = 0; i < BUCKETS; i++) {
      seen += counts[i] ?? 0;
      if (seen >= wanted) return i * BUCKET_MS;
    }
    return BUCKETS * BUCKET_MS;
  }

  return {
    stream() {
      let quickest = Number.POSITIVE_INFINITY;
      let before = Number.POSITIVE_INFINITY;
      let windowEndMs = Number.NEGATIVE_INFINITY;
      return {
        frame(nowMs, timestampMs) {
          const delayMs = nowMs - timestampMs;
          if (nowMs >= windowEndMs) {
            before = quickest;
            quickest = delayMs;
            windowEndMs = nowMs + WINDOW_MS;
          } else if (delayMs < quickest) quickest = delayMs;
          const ageMs = delayMs - Math.min(quickest, before);
          const bucket = Math.min(BUCKETS - 1, Math.floor(ageMs / BUCKET_MS));
          counts[bucket] = (counts[bucket] ?? 0) + 1;
          total++;
        },
      };
    },
    read() {
      if (total === 0) return null;
      const answer = { p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
      counts.fill(0);
      total = 0;
      return answer;
    },
  };
}
