// PURE. What became of calls whose media stream broke: whether they went on, for how long nobody was heard, and what of the
// words was lost. From the carrier's account of a call, what its phone heard, and the sound of what the model can say.
import type { CallReport } from '../carrier-simulator/report.ts';
import { wordsOf } from '../simulate/evidence.ts';
import type { Clip } from '../simulate/scenarios.ts';
import { audibleMs, bestPlace, firstAudible, RATE_HZ } from '../simulate/sound.ts';
import type { Line } from './going-on.ts';

/** A sentence of the agent as the model speaks it. */
export interface Spoken {
  text: string;
  samples: Float32Array;
}

/** The agent's line as the transcript has it. */
export interface HeardLine extends Line {
  heard_text: string;
  interrupted: boolean;
}

/** One stream that broke. */
export interface LostStream {
  sid: string;
  /** ms since the answer. */
  fromMs: number;
  /** When the next stream began; null: none did. */
  toMs: number | null;
  /** `left`: the person hung up before there could be another. */
  outcome: 'gone_on' | 'left' | 'lost';
  /** The carrier had sound of the agent that it had not played. */
  wasSpeaking: boolean;
}

/** What was heard on both sides of a break into the agent's voice. */
export interface Seam {
  /** From the break to the agent's next sound; null: none came. */
  silentMs: number | null;
  /** `went_on`: with the same sentence. `stopped`: the person spoke, and the rest was not wanted. */
  became: 'went_on' | 'stopped' | 'unknown';
  /** Speech that was skipped, and that was heard twice. */
  lostMs: number;
  againMs: number;
  wordsLost: number;
  /** Why the transcript tells of it what was not so; null: it does not. */
  untrue: string | null;
}

const MS = RATE_HZ / 1000;
/** Long enough to be told from all else that the model says; the second, where a sentence is nearly over. */
const NEEDLES_MS = [600, 300];
const ALIKE = 0.9;
/** Where it is expected, so far away at most, less will do. */
const ALIKE_NEAR = 0.75;
const ABOUT_MS = 400;
/** Somebody who hung up about then had not waited for it. */
const LEFT_MS = 3_000;
/** A frame of before may be written down after the break. */
const LAST_FRAMES_MS = 40;
/** The agent spoke in the moment before. */
const JUST_MS = 400;
/** What the edges of a found piece are off by. */
const EDGE_MS = 60;
/** The transcript's words of a line that was cut are an estimate. */
const WORDS_MORE = 2;
/** A piece of a recording that is shorter is not told from other speech by the simulated ears. */
const LEAST_PASSAGE_MS = 1_200;
/** What was on its way when the line broke, and the first moment of the next stream. */
const IN_FLIGHT_MS = 200;
const FIRST_MS = 400;
/** A turn may end in it. */
const PAUSE_MS = 600;
/** A call that ends cuts off what was just said. */
const LAST_MS = 1_500;

/** Every stream of a call that broke. */
export function lostStreams(report: CallReport): LostStream[] {
  const answered = report.answeredAtMs ?? 0;
  return report.streams.flatMap((stream, i): LostStream[] => {
    const { end, endedMs, received, playedBytes, clears } = stream;
    if (end?.by !== 'error' || endedMs === null || stream.startedMs === null) return [];
    const next = report.streams[i + 1]?.startedMs ?? null;
    const left =
      next === null &&
      report.endedBy === 'callee' &&
      report.endedAtMs !== null &&
      report.endedAtMs < endedMs + LEFT_MS;
    const dropped = clears.reduce((sum, { droppedBytes }) => sum + droppedBytes, 0);
    return [
      {
        sid: report.sid,
        fromMs: endedMs - answered,
        toMs: next === null ? null : next - answered,
        outcome: next !== null ? 'gone_on' : left ? 'left' : 'lost',
        wasSpeaking: received.bytes - playedBytes - dropped > 0,
      },
    ];
  });
}

/** A moment of the phone's sound in a sentence of the model, in samples. */
interface Place {
  sentence: Spoken;
  from: number;
  to: number;
}

/** Where a moment of the phone's sound lies in what the model can say. */
function placeOf(
  heard: Float32Array,
  from: (needleMs: number) => number,
  sentences: readonly Spoken[],
  /** The words of the line that the transcript has there: sentences share phrases. */
  words = '',
): Place | null {
  const rank = ({ sentence, score }: { sentence: Spoken; score: number }) =>
    score + (sameWords(words, sentence.text) ? 1 : 0);
  for (const ms of NEEDLES_MS) {
    const start = Math.round(from(ms) * MS);
    if (start < 0 || start + ms * MS > heard.length) continue;
    const needle = heard.subarray(start, start + ms * MS);
    const found = sentences
      .map((sentence) => ({ sentence, ...bestPlace(needle, sentence.samples) }))
      .filter(({ score }) => score >= ALIKE)
      .sort((a, b) => rank(b) - rank(a))[0];
    if (found !== undefined)
      return { sentence: found.sentence, from: found.at, to: found.at + needle.length };
  }
  return null;
}

/**
 * Where the next sound lies, if it is in the same sentence about where that broke off. Looked for there first: a voice that is lowered
 * or held right away, or a pause, is like much else.
 */
function nextTo(before: Place, heard: Float32Array, againAt: number): Place | null {
  const { samples } = before.sentence;
  for (const ms of NEEDLES_MS) {
    const needle = heard.subarray(againAt, againAt + ms * MS);
    const from = Math.max(0, before.to - ABOUT_MS * MS);
    const found = bestPlace(needle, samples.subarray(from, before.to + (ABOUT_MS + ms) * MS));
    if (found.score < ALIKE_NEAR) continue;
    return { sentence: before.sentence, from: from + found.at, to: from + found.at + needle.length };
  }
  return null;
}

/** What was heard around a break; null: the agent was not speaking then, or nothing of it can be told. */
export function seamOf(
  lost: LostStream,
  o: {
    /** What the phone heard, from the answer on. */
    heard: Float32Array;
    sentences: readonly Spoken[];
    lines: readonly HeardLine[];
    /** When the first stream began, ms since the answer. */
    streamMs: number;
    /** When the person spoke, ms since the answer. */
    person: readonly { startMs: number; endMs: number }[];
    /** When the next stream broke, if one did. */
    untilMs: number;
  },
): Seam | null {
  const { fromMs, toMs } = lost;
  if (!lost.wasSpeaking || toMs === null) return null;
  const { heard, sentences } = o;
  if (audibleMs(heard.subarray(Math.max(0, fromMs - JUST_MS) * MS, fromMs * MS)) < 100) return null;
  const there = o.lines.findLast(
    ({ role, text, start_ms }) => role === 'agent' && text !== '' && start_ms + o.streamMs < fromMs,
  );
  const before = placeOf(heard, (ms) => fromMs - ms, sentences, there?.text);
  if (before === null) return null;
  const spoke = (until: number) =>
    o.person.some(({ startMs, endMs }) => startMs < until && endMs > fromMs - 1_000);
  const againAt = firstAudible(heard, (fromMs + LAST_FRAMES_MS) * MS);
  const unheard = audibleMs(before.sentence.samples.subarray(before.to));
  const line = o.lines.find(
    ({ role, text, start_ms }) =>
      role === 'agent' &&
      sameWords(text, before.sentence.text) &&
      Math.abs(start_ms + o.streamMs - (fromMs - before.to / MS)) < LEFT_MS,
  );
  if (againAt === null || againAt / MS > o.untilMs) {
    // The rest of the sentence was silence, or a new break came first.
    if (unheard <= EDGE_MS || o.untilMs < Number.POSITIVE_INFINITY) return null;
    return stopped(before, { spoke: spoke(fromMs + LEFT_MS), silentMs: null, unheard, line });
  }
  const silentMs = Math.round(againAt / MS - fromMs);
  const after = nextTo(before, heard, againAt) ?? placeOf(heard, () => againAt / MS, sentences);
  if (after === null)
    return { silentMs, became: 'unknown', lostMs: 0, againMs: 0, wordsLost: 0, untrue: null };
  if (after.sentence.text !== before.sentence.text) {
    // The sentence had ended, but for what nobody hears.
    if (unheard <= EDGE_MS)
      return { silentMs, became: 'went_on', lostMs: 0, againMs: 0, wordsLost: 0, untrue: null };
    return stopped(before, { spoke: spoke(againAt / MS), silentMs, unheard, line });
  }
  const skipped = audibleMs(before.sentence.samples.subarray(before.to, Math.max(before.to, after.from)));
  const lostMs = skipped <= EDGE_MS ? 0 : Math.round(skipped);
  const again = audibleMs(before.sentence.samples.subarray(Math.min(before.to, after.from), before.to));
  const wordsLost = wordsIn(before.sentence, lostMs);
  const isWhole = line !== undefined && !line.interrupted && wordsLost > 0;
  return {
    silentMs,
    became: 'went_on',
    lostMs,
    againMs: Math.round(again),
    wordsLost,
    untrue:
      line === undefined
        ? 'no line of the transcript has it'
        : isWhole
          ? 'the transcript has all of it as heard'
          : null,
  };
}

/** The agent did not go on with the sentence. */
function stopped(
  before: { sentence: Spoken; to: number },
  o: { spoke: boolean; silentMs: number | null; unheard: number; line: HeardLine | undefined },
): Seam {
  const { sentence, to } = before;
  const heardWords = wordsIn(sentence, audibleMs(sentence.samples.subarray(0, to)));
  const claimed = o.line === undefined ? 0 : wordsOf(o.line.heard_text).length;
  const untrue =
    o.line === undefined && heardWords > WORDS_MORE
      ? 'no line of the transcript has it'
      : claimed > heardWords + WORDS_MORE
        ? `the transcript has ${claimed} words of it as heard, and ${heardWords} were`
        : null;
  const shared = { silentMs: o.silentMs, againMs: 0, untrue };
  // Whoever speaks into the silence is listened to, as into the voice.
  if (o.spoke) return { ...shared, became: 'stopped', lostMs: 0, wordsLost: 0 };
  const lostMs = Math.round(o.unheard);
  return { ...shared, became: 'stopped', lostMs, wordsLost: wordsIn(sentence, lostMs) };
}

/** So many words are spoken in so long. */
function wordsIn({ text, samples }: Spoken, ms: number): number {
  return ms <= EDGE_MS
    ? 0
    : Math.max(1, Math.round((wordsOf(text).length * ms) / Math.max(1, audibleMs(samples))));
}

/** A line cut before its text was whole holds the beginning. */
const sameWords = (text: string, sentence: string) =>
  text !== '' && wordsOf(sentence).join(' ').startsWith(wordsOf(text).join(' '));

/** What the person said, with when; ms since the answer. */
export interface Said {
  clip: Clip;
  startMs: number;
  /** When the recording ended, whole or not. */
  endMs: number;
}

/**
 * Words of the person that came through whole, outside every gap and not over the agent's voice, and that nobody wrote down. What is
 * said over the agent is listened to where it is the caller's voice, and these people have two.
 */
export function personWordsLost(o: {
  said: readonly Said[];
  gaps: readonly LostStream[];
  lines: readonly Line[];
  /** When the agent was heard, ms since the answer. */
  agent: readonly { startMs: number; endMs: number }[];
  endMs: number;
}): { said: number; intoGaps: number; lost: string[] } {
  let intoGaps = 0;
  const overlaps = (one: Passage, ranges: readonly { startMs: number; endMs: number }[]) =>
    ranges.some(({ startMs, endMs }) => one.fromMs < endMs && one.toMs > startMs);
  const gone = o.gaps.map(({ fromMs, toMs }) => ({
    startMs: fromMs - IN_FLIGHT_MS,
    endMs: (toMs ?? o.endMs) + FIRST_MS,
  }));
  const wanted = o.said.flatMap((one) => {
    const passages: Passage[] = [];
    let last: Passage | null = null;
    for (const [from, to, word] of one.clip.words) {
      const at: Passage = { fromMs: one.startMs + from, toMs: one.startMs + to, words: wordsOf(word) };
      if (at.toMs > Math.min(one.endMs, o.endMs - LAST_MS)) break;
      if (overlaps(at, gone)) {
        intoGaps++;
        last = null;
      } else if (last !== null && at.fromMs - last.toMs < PAUSE_MS) {
        last.words.push(...at.words);
        last.toMs = at.toMs;
      } else {
        last = at;
        passages.push(at);
      }
    }
    return passages
      .filter((passage) => passage.toMs - passage.fromMs >= LEAST_PASSAGE_MS && !overlaps(passage, o.agent))
      .flatMap(({ words }) => words);
  });
  const got = wordsOf(
    o.lines
      .filter(({ role }) => role === 'caller')
      .map(({ text }) => text)
      .join(' '),
  );
  return { said: wanted.length, intoGaps, lost: missing(wanted, got) };
}

/** Words without a pause between them. */
interface Passage {
  fromMs: number;
  toMs: number;
  words: string[];
}

/** Words of `wanted` that are not in `got`, where both are read in order. */
function missing(wanted: readonly string[], got: readonly string[]): string[] {
  const rows = Array.from({ length: wanted.length + 1 }, () => new Uint32Array(got.length + 1));
  for (let i = wanted.length - 1; i >= 0; i--) {
    for (let j = got.length - 1; j >= 0; j--) {
      rows[i]![j] =
        wanted[i] === got[j] ? rows[i + 1]![j + 1]! + 1 : Math.max(rows[i + 1]![j]!, rows[i]![j + 1]!);
    }
  }
  const lost: string[] = [];
  for (let i = 0, j = 0; i < wanted.length; ) {
    if (j < got.length && wanted[i] === got[j] && rows[i]![j] === rows[i + 1]![j + 1]! + 1) {
      i++;
      j++;
    } else if (j < got.length && rows[i]![j + 1]! >= rows[i + 1]![j]!) j++;
    else lost.push(wanted[i++]!);
  }
  return lost;
}
