// PURE. What a detector's word is worth against the labels: for each stream the counts and delays, and sums over streams.
import type { Heard } from './detectors.ts';
import type { Stream } from './set.ts';

export interface Score {
  utterances: number;
  /** Utterances nothing was heard or passed on of. */
  missed: number;
  /** Utterances whose beginning was not passed on. */
  clipped: number;
  /** Milliseconds of speech, and of those not passed on. */
  speechMs: number;
  lostMs: number;
  /** From the true onset to the word of it, utterances that began in silence. */
  onsetDelaysMs: number[];
  /** From the true end to the word of it. */
  endDelaysMs: number[];
  /** Starts where nobody spoke, and the time in which nobody did. */
  falseStarts: number;
  idleMs: number;
}

const emptyScore = (): Score => ({
  utterances: 0,
  missed: 0,
  clipped: 0,
  speechMs: 0,
  lostMs: 0,
  onsetDelaysMs: [],
  endDelaysMs: [],
  falseStarts: 0,
  idleMs: 0,
});

// A start this long before an onset still means that onset: a breath, the edge of a window.
const EARLY_MS = 100;

/** Holds what was heard in a stream against its labels. */
export function scoreOf(stream: Pick<Stream, 'pcm' | 'utterances'>, heard: readonly Heard[]): Score {
  const score = emptyScore();
  const claimed = new Set<Heard>();
  score.idleMs = stream.pcm.length / 8;
  for (const utterance of stream.utterances) {
    const [fromMs, toMs] = [utterance.from / 8, utterance.to / 8];
    score.utterances++;
    score.idleMs -= toMs - fromMs;
    const during = heard.filter((one) => one.endMs > fromMs && one.startMs < toMs);
    for (const one of during) if (one.startMs > fromMs - EARLY_MS) claimed.add(one);
    const passed = during.filter((one) => !one.misfire);
    const first = during[0];
    if (first === undefined || passed.length === 0) score.missed++;
    else {
      if (Math.min(...passed.map((one) => one.passedFromMs)) > fromMs) score.clipped++;
      // One that began long before was no answer to this onset.
      if (first.startKnownMs > fromMs) score.onsetDelaysMs.push(first.startKnownMs - fromMs);
      const last = passed.at(-1)!;
      if (Number.isFinite(last.endKnownMs)) score.endDelaysMs.push(last.endKnownMs - toMs);
    }
    for (const span of utterance.spans) {
      const lengthMs = (span.to - span.from) / 8;
      score.speechMs += lengthMs;
      score.lostMs += lengthMs - coveredMs(span.from / 8, span.to / 8, passed);
    }
  }
  for (const one of heard) if (!claimed.has(one)) score.falseStarts++;
  return score;
}

/** How much of a stretch is in what was passed on. */
function coveredMs(fromMs: number, toMs: number, heard: readonly Heard[]): number {
  let covered = 0;
  let at = fromMs;
  for (const one of heard) {
    const start = Math.max(at, one.passedFromMs);
    const end = Math.min(toMs, one.endKnownMs);
    if (end <= start) continue;
    covered += end - start;
    at = end;
  }
  return covered;
}

export function sum(scores: readonly Score[]): Score {
  const total = emptyScore();
  for (const one of scores) {
    total.utterances += one.utterances;
    total.missed += one.missed;
    total.clipped += one.clipped;
    total.speechMs += one.speechMs;
    total.lostMs += one.lostMs;
    total.onsetDelaysMs.push(...one.onsetDelaysMs);
    total.endDelaysMs.push(...one.endDelaysMs);
    total.falseStarts += one.falseStarts;
    total.idleMs += one.idleMs;
  }
  return total;
}

/** The value that `share` of all stay at or below; null of nothing. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}
