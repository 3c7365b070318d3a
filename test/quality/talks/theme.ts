// PURE. A theme: calls of one kind with what is true of them, and its measures beside their targets. How a call of one is put
// together: the caller's line with what is said on it, the agent's voice, a model that takes its time.
import { type Random, seeded } from '../../random.ts';
import type { Outcome, Talk } from '../conversations.ts';
import { itemOf, NOTHING } from '../followed-voice.ts';
import { atLevel, type Clip } from '../labels.ts';
import type { Echo } from '../line.ts';
import type { Recordings } from '../recorded.ts';
import type { Row } from '../report.ts';
import { percentile } from '../scores.ts';
import {
  addTo,
  atRms,
  looped,
  type Sound,
  samplesOf,
  seedFor,
  seedOf,
  throughMulaw,
  toPcm,
  white,
} from '../sounds.ts';
import { voiceOf } from '../talks.ts';
import { UNWRITTEN } from '../transcription.ts';

/** What is said or sounds on the caller's line, at the carrier. */
export interface Placed {
  clip: Clip;
  levelDb: number;
  atMs: number;
}

export interface ThemeTalk extends Talk {
  /** A shade of the theme, for its rows. */
  shade: string;
  /** What was placed on the line, in its order. */
  spoken: readonly { fromMs: number; toMs: number; text: string }[];
}

export interface Held {
  talk: ThemeTalk;
  outcome: Outcome;
}

export interface Theme {
  title: string;
  /** Its calls; `size` scales how many (1: the full set). None where the recordings lack what it takes. */
  talks(recordings: Recordings, size: number): ThemeTalk[];
  rows(held: readonly Held[], recordings: Recordings): Row[];
}

const IDLE_LINE_DB = -68;
export const FRAME_MS = 20;
/** As models behind a network answer. */
const USUAL_TEMPO = [300, 900] as const;

export const idleLine = (ms: number, random: Random): Sound => atRms(white(ms, random), IDLE_LINE_DB);

export const drawsOf = (recordings: Recordings, name: string): Random =>
  seeded(seedFor(recordings.set, name));

/** So many of a list, spread over it; again from its beginning where there are fewer. */
export function some<T>(list: readonly T[], count: number, size: number): T[] {
  const least = Math.max(1, Math.round(count * size));
  if (list.length === 0) return [];
  return Array.from({ length: least }, (_, i) => list[Math.floor((i * list.length) / least) % list.length]!);
}

/** A moment at a sample. */
export const atSampleMs = (ms: number): number => Math.round(ms * 8) / 8;

/** A call of a theme. */
export function callOf(
  recordings: Recordings,
  random: Random,
  o: {
    name: string;
    shade: string;
    /** How long it is; of the agent's greeting, 0: none; of each answer. */
    lengthMs: number;
    greetingMs: number;
    answerMs?: number;
    said: readonly Placed[];
    /** What else is on the line; white noise far down where nothing. */
    line?: (ms: number) => Sound;
    echo?: Echo;
    firstMs?: readonly [number, number];
    texts?: { greeting?: string; answer?: string };
    outbound?: { machine: 'hangup' | 'leave_message' };
  },
): ThemeTalk {
  const { said } = o;
  const voice = voiceOf(recordings);
  const sound = (o.line ?? ((ms: number) => idleLine(ms, random)))(o.lengthMs);
  for (const { clip, levelDb, atMs } of said) addTo(sound, atLevel(clip, levelDb), samplesOf(atMs));
  const spoken = said.map(({ clip, atMs }) => ({
    fromMs: atMs,
    toMs: atMs + clip.sound.length / 8,
    text: clip.text ?? UNWRITTEN,
  }));
  // Of a call in which several are spoken it is not known.
  const languages = new Set(said.flatMap(({ clip }) => clip.language ?? []));
  const [language] = languages.size === 1 ? languages : [];
  return {
    name: o.name,
    shade: o.shade,
    lengthMs: o.lengthMs,
    caller: throughMulaw(toPcm(sound)),
    echo: o.echo ?? null,
    greeting: o.greetingMs === 0 ? null : looped(voice, o.greetingMs, random),
    answer: looped(voice, o.answerMs ?? 1_200, random),
    spoken,
    // A cough is no word.
    words: spoken.filter(({ text }) => text !== ''),
    tempo: { seed: seedOf(`${recordings.set} ${o.name}`), firstMs: o.firstMs ?? USUAL_TEMPO },
    ...(language !== undefined && { language }),
    ...(o.texts !== undefined && { texts: o.texts }),
    ...(o.outbound !== undefined && { outbound: o.outbound }),
  };
}

/** Answers asked for, without the greeting. */
export const answersOf = ({ talk, outcome }: Held): readonly number[] =>
  outcome.asked.slice(talk.greeting === null ? 0 : 1);

/** Frames of the stream from `fromMs` to before `toMs`. */
export function* framesIn(fromMs: number, toMs: number): Generator<number> {
  for (let frame = Math.ceil(fromMs / FRAME_MS); frame * FRAME_MS < toMs; frame++) yield frame;
}

/** A frame of this item is heard, not more than so many dB fainter than the model gave it. */
function isHeard({ played }: Outcome, frame: number, item: number, withinDb: number): boolean {
  const place = played.places[frame] ?? NOTHING;
  if (place === NOTHING || (place >= 0 && itemOf(place) !== item)) return false;
  return played.gainsDb[frame]! > -withinDb && played.levelsDb[frame]! > -50;
}

/** Which item of the agent's was heard last before a moment; 0 where none was. */
export function itemBefore({ played }: Outcome, atMs: number): number {
  for (let frame = Math.floor(atMs / FRAME_MS); frame >= 0; frame--) {
    const place = played.places[frame] ?? NOTHING;
    if (place >= 0) return itemOf(place);
  }
  return 0;
}

/** From a moment on, how long until a frame of an item was heard last. */
export function heardForMs(outcome: Outcome, fromMs: number, item: number, withinDb: number): number {
  for (let frame = outcome.played.places.length - 1; frame * FRAME_MS >= fromMs; frame--)
    if (isHeard(outcome, frame, item, withinDb)) return (frame + 1) * FRAME_MS - fromMs;
  return 0;
}

const SILENT_WITHIN_DB = 30;
/** Nothing of the agent is played, or as good as nothing. */
export const isSilent = ({ played }: Outcome, frame: number): boolean =>
  (played.places[frame] ?? NOTHING) === NOTHING || played.gainsDb[frame]! <= -SILENT_WITHIN_DB;

/** How much of a stretch the agent could not be heard in, in frames. */
export function silentFrames(outcome: Outcome, fromMs: number, toMs: number): number {
  let silent = 0;
  for (const frame of framesIn(fromMs, toMs)) if (isSilent(outcome, frame)) silent++;
  return silent;
}

/** A row of times, with targets of p50 and p95 where there are some. */
export function timesRow(measure: string, times: readonly number[], most?: readonly [number, number]): Row {
  const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  const text = (ms: number | null) => (ms === null ? '–' : ms.toFixed(0));
  return {
    measure,
    values: [`${text(p50)} / ${text(p95)} ms`],
    target: most === undefined ? '' : `${most[0]} / ${most[1]} ms`,
    met: most === undefined || p50 === null || p95 === null ? null : p50 <= most[0] && p95 <= most[1],
  };
}

/** A row of a count, with its share's target: `under` or at `least` so many per cent. */
export function countRow(
  measure: string,
  hits: number,
  of: number,
  target?: { under: number } | { least: number },
): Row {
  const share = of === 0 ? null : (100 * hits) / of;
  const row = { measure, values: [of === 0 ? '–' : `${hits} of ${of}`] };
  if (target === undefined) return { ...row, target: '', met: null };
  const met = share === null ? null : 'under' in target ? share < target.under : share >= target.least;
  return { ...row, target: 'under' in target ? `under ${target.under} %` : `${target.least} %`, met };
}

/** The calls of each shade. */
export const byShade = <T extends { talk: { shade: string } }>(held: readonly T[]): Map<string, T[]> =>
  Map.groupBy(held, ({ talk }) => talk.shade);
