// PURE. What a tone may be by its frequencies, its length and the tones before it: a beep, a tone of the network (ITU-T E.180 and
// its supplement 2), a key, a fax (ITU-T T.30), an information tone, a note of a tune.
import type { Partial } from './tones.ts';

export interface Tone {
  /** `several`: two that belong to no harmonic series; `glide`: one that moves; `other`: no beep whatever comes next. */
  kind: 'pure' | 'harmonics' | 'several' | 'glide' | 'other';
  /** The lowest; of a glide its middle. */
  hz: number;
  levelDb: number;
  startSample: number;
  endSample: number;
  /** What the second before it was. */
  after: 'silence' | 'sound' | 'unknown';
  /** What was heard in it. */
  heardHz: readonly number[];
}

const LOWEST_HZ = 350;
const HIGHEST_HZ = 2000;
/** What is lower and fainter is the hum of the mains. */
const HUM_HZ = 340;
const HUM_DB = -18;
/** Frequencies are known this well. */
const NEAR_HZ = 12;
const MS = 8;
/** Of a pure tone nothing else is as loud as this to it. */
const PURE_DB = -20;
/** What is fainter than this beside two tones is made by the line. */
const BESIDE_DB = -20;
/** What a square wave made of samples folds back from above half of their rate is as faint as its harmonics are, or nearly. */
const FOLDED_DB = 4;
const MOST_HARMONIC = 25;
const SAMPLED_HZ = 8_000;

const KEY_ROWS = [697, 770, 852, 941];
const KEY_COLUMNS = [1209, 1336, 1477, 1633];
/** A receiver takes what is off by up to 1.5 % for a key (ITU-T Q.24); a short one is measured less exactly. */
const KEY_WIDTH = 0.016;
/** Ringback, dial, busy: pairs that are heard at once. */
const NETWORK_PAIRS = [
  [350, 440],
  [440, 480],
  [480, 620],
  [400, 450],
  [350, 450],
];
/** Single ones: 425 Hz nearly everywhere, 440 in France, 450 in China, 400 here and there. */
const NETWORK_HZ = [425, 440, 450, 400];
const NETWORK_WIDTH_HZ = 6;
/** One ring, and the longest pause to the next. */
const RING_MS = [380, 2_100] as const;
const RING_PAUSE_MS = 5_200;
/** Busy and congestion tones pause as long as they sound. */
const BUSY_MS = [150, 820] as const;
const BUSY_PAUSE = 1.3;
const PLAIN_MS = 140;
/** Calling tone of a fax: 1100 Hz +-38 for half a second. (The answering one, 2100 Hz, is above the range.) */
const FAX_HZ = 1100;
const FAX_WIDTH_HZ = 38;
const FAX_MS = [400, 600] as const;
/** The same tone again within this time is a cadence. */
const CADENCE_MS = 6_000;
const CADENCE_LENGTH = 0.15;
const SAME_HZ = 8;
/** A tone right after another is a note, or one of the three information tones, which are 30 ms apart at most. */
const NEXT_MS = 100;
/** So are tones after so many so shortly before. */
const TUNE_MS = 3_000;
const TUNE_TONES = 2;

const near = (one: number, other: number, width: number) => Math.abs(one - other) <= width;
const within = (value: number, [least, most]: readonly [number, number]) => value >= least && value <= most;
const lengthMs = ({ startSample, endSample }: Tone) => (endSample - startSample) / MS;

/** Which kind the frequencies of a steady tone make, and its lowest; null: a voice, a chord, noise. */
export function kindOf(all: readonly Partial[]): Pick<Tone, 'kind' | 'hz'> | null {
  const partials = all.filter(({ hz, db }) => hz > HUM_HZ || db > HUM_DB);
  const strongest = partials.find(({ db }) => db === 0);
  if (strongest === undefined) return null;
  // A room may lift a harmonic above its fundamental.
  for (const part of [1, 2, 3]) {
    const base = partials.find(({ hz }) => near(hz * part, strongest.hz, NEAR_HZ));
    if (base === undefined || !partials.every((partial) => isHarmonic(partial, base.hz))) continue;
    const pure = partials.every(({ db }) => db === 0 || db <= PURE_DB);
    return ranged({ kind: pure ? 'pure' : 'harmonics', hz: base.hz });
  }
  const two = partials.filter(({ db }) => db >= BESIDE_DB);
  const [low, high] = two;
  if (low === undefined || high === undefined || two.length > 2) return null;
  const meant = isKey(low.hz, high.hz) || isNetworkPair(low.hz, high.hz);
  return ranged({ kind: meant ? 'other' : 'several', hz: low.hz });
}

/** A glide from one frequency to another. */
export const glideOf = (fromHz: number, toHz: number): Pick<Tone, 'kind' | 'hz'> | null => {
  const inRange = Math.min(fromHz, toHz) >= LOWEST_HZ - 50 && Math.max(fromHz, toHz) <= HIGHEST_HZ + 500;
  return inRange ? { kind: 'glide', hz: (fromHz + toHz) / 2 } : null;
};

const ranged = (tone: Pick<Tone, 'kind' | 'hz'>): Pick<Tone, 'kind' | 'hz'> => ({
  ...tone,
  kind: within(tone.hz, [LOWEST_HZ - 5, HIGHEST_HZ + 10]) ? tone.kind : 'other',
});

function isHarmonic({ hz, db }: Partial, baseHz: number): boolean {
  if (near(hz, Math.round(hz / baseHz) * baseHz, NEAR_HZ) && hz > baseHz / 2) return true;
  for (let harmonic = 3; harmonic <= MOST_HARMONIC; harmonic += 2) {
    const folded = (harmonic * baseHz) % SAMPLED_HZ;
    const faint = db <= FOLDED_DB - 20 * Math.log10(harmonic) && harmonic * baseHz > SAMPLED_HZ / 2;
    if (faint && near(hz, Math.min(folded, SAMPLED_HZ - folded), NEAR_HZ)) return true;
  }
  return false;
}

const isKey = (low: number, high: number): boolean =>
  KEY_ROWS.some((hz) => near(low, hz, hz * KEY_WIDTH)) &&
  KEY_COLUMNS.some((hz) => near(high, hz, hz * KEY_WIDTH));

const isNetworkPair = (low: number, high: number): boolean =>
  NETWORK_PAIRS.some(([one, other]) => near(low, one!, NEAR_HZ) && near(high, other!, NEAR_HZ));

/** How long it must be silent after a tone for it to have been the last, in ms: where it may be a ring, until the next would come. */
export function waitMs(tone: Tone): number {
  if (tone.kind !== 'pure' || !NETWORK_HZ.some((hz) => near(tone.hz, hz, NETWORK_WIDTH_HZ))) return PLAIN_MS;
  const ms = lengthMs(tone);
  if (tone.after === 'silence' && within(ms, RING_MS)) return RING_PAUSE_MS;
  return within(ms, BUSY_MS) ? Math.max(PLAIN_MS, ms * BUSY_PAUSE) : PLAIN_MS;
}

/** Whether a tone that was followed by silence is a beep. @param before the tones before it, the latest last */
export function isBeep(tone: Tone, before: readonly Tone[]): boolean {
  const ms = lengthMs(tone);
  if (tone.kind === 'other') return false;
  // A fax does not speak first.
  const fax = tone.kind === 'pure' && near(tone.hz, FAX_HZ, FAX_WIDTH_HZ) && within(ms, FAX_MS);
  if (fax && tone.after !== 'sound') return false;
  let notes = 0;
  for (const one of before) {
    const gapMs = (tone.startSample - one.endSample) / MS;
    const same = one.kind === tone.kind && near(one.hz, tone.hz, SAME_HZ);
    if (same && gapMs < CADENCE_MS && near(lengthMs(one), ms, Math.max(30, ms * CADENCE_LENGTH)))
      return false;
    // Lower ones are vowels.
    if (one.hz < LOWEST_HZ - 5) continue;
    if (gapMs <= NEXT_MS && !same) return false;
    if (gapMs < TUNE_MS) notes++;
  }
  return notes < TUNE_TONES;
}
