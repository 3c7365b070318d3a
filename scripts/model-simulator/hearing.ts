// PURE. Recognizes known recordings in received audio by their spectrum over time, and tells which of their words were
// in it. It proves intelligibility without speech recognition: noise, a wrong codec or a wrong rate match nothing.

/** Start ms, end ms, the word as it is to be written. */
export type WordTime = readonly [startMs: number, endMs: number, word: string];

/** A recording the ears know; `samples` are 8 kHz. */
export interface Reference {
  name: string;
  samples: Int16Array;
  words: readonly WordTime[];
}

/** A stretch of the received audio that was found in a recording. All in ms. */
export interface Match {
  reference: string;
  audioStartMs: number;
  referenceStartMs: number;
  lengthMs: number;
  /** Correlation, 0 to 1. */
  score: number;
}

export interface Heard {
  text: string;
  words: number;
  matches: Match[];
}

const RATE_HZ = 8000;
const HOP = 160; // 20 ms
const WINDOW = 256;
const FRAME_MS = 20;
/** Centres of the bands in Hz, spaced as the ear spaces them, inside the telephone band. */
const BAND_EDGES_HZ = [200, 330, 480, 650, 850, 1080, 1350, 1670, 2050, 2500, 3050, 3500];
const BANDS = BAND_EDGES_HZ.length - 1;
/** What one correlation looks at: 25 frames, 0.5 s; a window starts every 5 frames. */
const SPAN = 25;
const STEP = 5;
/** The frame grids the recordings are learned on, in samples: the caller's grid lies anywhere between. */
const GRIDS = [0, 80];
/** Two unrelated stretches of speech stay below; mu-law, level and a different frame grid leave a true one above. */
const THRESHOLD = 0.82;
/** The same of the spectrum's shape alone, without its loudness: rules out two equal rhythms. */
const SHAPE_THRESHOLD = 0.6;
/** A passage this long counts, 1 s; a shorter one only when it fits this well. Equal words of one speaker reach 0.92. */
const LONG_PASSAGE_MS = 1000;
const LONG_STRETCH_MS = 700;
const SHORT_PASSAGE_SCORE = 0.95;
/** Stretches of one recording that drift less than this are one passage with losses in it. */
const MOST_DRIFT_MS = 300;
/** A word counts when this share of it lies in a matched stretch. */
const WORD_SHARE = 0.6;
/** Below the loudest band energy by this much (natural log of energy) lies silence: 45 dB. */
const FLOOR = 10.4;
/** A window whose features vary less than this holds no speech. */
const LEAST_SPREAD = 0.9;

const hann = Float64Array.from(
  { length: WINDOW },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / WINDOW),
);
const cosine = Float64Array.from({ length: WINDOW }, (_, i) => Math.cos((2 * Math.PI * i) / WINDOW));
const sine = Float64Array.from({ length: WINDOW }, (_, i) => Math.sin((2 * Math.PI * i) / WINDOW));
const reversed = Uint8Array.from({ length: WINDOW }, (_, i) =>
  Number.parseInt(i.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
);
const bandOfBin = Int8Array.from({ length: WINDOW / 2 }, (_, bin) => {
  const hz = (bin * RATE_HZ) / WINDOW;
  const above = BAND_EDGES_HZ.findIndex((edge) => edge > hz);
  return above <= 0 ? -1 : above - 1;
});

/** Band energies of every 20 ms, floored: BANDS numbers for each frame. */
function features(samples: Int16Array): Float32Array {
  const frames = Math.max(0, Math.floor((samples.length - WINDOW) / HOP) + 1);
  const out = new Float32Array(frames * BANDS);
  const re = new Float64Array(WINDOW);
  const im = new Float64Array(WINDOW);
  let loudest = 0;
  for (let frame = 0; frame < frames; frame++) {
    const start = frame * HOP;
    for (let i = 0; i < WINDOW; i++) {
      re[reversed[i]!] = samples[start + i]! * hann[i]!;
      im[i] = 0;
    }
    for (let size = 2; size <= WINDOW; size *= 2) {
      const half = size / 2;
      const turn = WINDOW / size;
      for (let base = 0; base < WINDOW; base += size) {
        for (let k = 0; k < half; k++) {
          const c = cosine[k * turn]!;
          const s = sine[k * turn]!;
          const a = base + k;
          const b = a + half;
          const tr = re[b]! * c + im[b]! * s;
          const ti = im[b]! * c - re[b]! * s;
          re[b] = re[a]! - tr;
          im[b] = im[a]! - ti;
          re[a]! += tr;
          im[a]! += ti;
        }
      }
    }
    const at = frame * BANDS;
    for (let bin = 1; bin < WINDOW / 2; bin++) {
      const band = bandOfBin[bin]!;
      if (band >= 0) out[at + band]! += re[bin]! * re[bin]! + im[bin]! * im[bin]!;
    }
    for (let band = 0; band < BANDS; band++) if (out[at + band]! > loudest) loudest = out[at + band]!;
  }
  // The absolute limit keeps digital silence and idle-line hiss from being blown up to a pattern.
  const floor = Math.max(Math.log(loudest + 1) - FLOOR, Math.log(3e7));
  for (let i = 0; i < out.length; i++) out[i] = Math.max(floor, Math.log(out[i]! + 1)) - floor;
  return out;
}

/** A recording on one frame grid, with the length of each window's centred features. */
interface Grid {
  offsetMs: number;
  frames: number;
  full: Float32Array;
  shape: Float32Array;
  fullLength: Float32Array;
  shapeLength: Float32Array;
}

interface Learned extends Reference {
  grids: Grid[];
}

interface Place {
  of: Learned;
  grid: Grid;
  frame: number;
  score: number;
}

/** The spectrum's shape: each frame without its mean over the bands. */
function shapeOf(full: Float32Array): Float32Array {
  const shape = new Float32Array(full.length);
  for (let at = 0; at < full.length; at += BANDS) {
    let mean = 0;
    for (let band = 0; band < BANDS; band++) mean += full[at + band]!;
    mean /= BANDS;
    for (let band = 0; band < BANDS; band++) shape[at + band] = full[at + band]! - mean;
  }
  return shape;
}

/** Takes each band's mean off a window (the line's level and colour) and answers its length; `into` may be left out. */
function centre(source: Float32Array, frame: number, into?: Float32Array): number {
  let energy = 0;
  for (let band = 0; band < BANDS; band++) {
    let mean = 0;
    for (let i = 0; i < SPAN; i++) mean += source[(frame + i) * BANDS + band]!;
    mean /= SPAN;
    for (let i = 0; i < SPAN; i++) {
      const value = source[(frame + i) * BANDS + band]! - mean;
      if (into !== undefined) into[i * BANDS + band] = value;
      energy += value * value;
    }
  }
  return Math.sqrt(energy);
}

/** The product of a centred window with a window of a recording; the latter's means fall out. */
function product(here: Float32Array, there: Float32Array, frame: number): number {
  const base = frame * BANDS;
  let sum = 0;
  for (let i = 0; i < SPAN * BANDS; i++) sum += here[i]! * there[base + i]!;
  return sum;
}

const LEAST_LENGTH = LEAST_SPREAD * Math.sqrt(SPAN * BANDS);

function learn(reference: Reference): Learned {
  const grids = GRIDS.map((offset) => {
    const full = features(reference.samples.subarray(offset));
    const shape = shapeOf(full);
    const frames = full.length / BANDS;
    const windows = Math.max(0, frames - SPAN + 1);
    return {
      offsetMs: (offset * 1000) / RATE_HZ,
      frames,
      full,
      shape,
      fullLength: Float32Array.from({ length: windows }, (_, frame) => centre(full, frame)),
      shapeLength: Float32Array.from({ length: windows }, (_, frame) => centre(shape, frame)),
    };
  });
  return { ...reference, grids };
}

/** A stretch of received audio, in frames from `at`, that follows a recording from `fromMs` on. */
interface Run {
  of: Learned;
  at: number;
  fromMs: number;
  frames: number;
  score: number;
  windows: number;
}

export class Ears {
  readonly #learned: Learned[];
  readonly #full = new Float32Array(SPAN * BANDS);
  readonly #shape = new Float32Array(SPAN * BANDS);
  #fullLength = 0;
  #shapeLength = 0;

  /** Learns the recordings; 8 kHz samples each. */
  constructor(references: readonly Reference[]) {
    this.#learned = references.map(learn);
  }

  /** The words that 8 kHz audio contains; an empty text when nothing known is in it. */
  recognize(samples: Int16Array): Heard {
    const passages: Run[][] = [];
    for (const run of this.#runs(samples)) {
      const passage = passages.find(([first]) => {
        if (first === undefined || first.of !== run.of) return false;
        const driftMs = run.fromMs - first.fromMs - (run.at - first.at) * FRAME_MS;
        return Math.abs(driftMs) <= MOST_DRIFT_MS;
      });
      if (passage === undefined) passages.push([run]);
      else passage.push(run);
    }
    const matches: Match[] = [];
    const words: { atMs: number; word: string }[] = [];
    for (const passage of passages) {
      let lengthMs = 0;
      let longestMs = 0;
      let reachedMs = Number.NEGATIVE_INFINITY;
      for (const run of passage) {
        const endMs = (run.at + run.frames) * FRAME_MS;
        lengthMs += endMs - Math.max(reachedMs, run.at * FRAME_MS);
        longestMs = Math.max(longestMs, run.frames * FRAME_MS);
        reachedMs = endMs;
      }
      const score = passage.reduce((sum, run) => sum + run.score / run.windows / passage.length, 0);
      const long = lengthMs >= LONG_PASSAGE_MS && longestMs >= LONG_STRETCH_MS;
      if (!long && score < SHORT_PASSAGE_SCORE) continue;
      for (const run of passage) {
        matches.push({
          reference: run.of.name,
          audioStartMs: run.at * FRAME_MS,
          referenceStartMs: run.fromMs,
          lengthMs: run.frames * FRAME_MS,
          score: Math.round((run.score / run.windows) * 1000) / 1000,
        });
      }
      for (const [startMs, endMs, word] of passage[0]!.of.words) {
        let insideMs = 0;
        let coveredToMs = startMs;
        let atMs: number | null = null;
        for (const run of passage) {
          const fromMs = Math.max(coveredToMs, run.fromMs);
          const toMs = Math.min(endMs, run.fromMs + run.frames * FRAME_MS);
          if (toMs <= fromMs) continue;
          insideMs += toMs - fromMs;
          coveredToMs = toMs;
          atMs ??= run.at * FRAME_MS + startMs - run.fromMs;
        }
        if (atMs !== null && insideMs >= WORD_SHARE * (endMs - startMs)) words.push({ atMs, word });
      }
    }
    words.sort((a, b) => a.atMs - b.atMs);
    return { text: words.map(({ word }) => word).join(' '), words: words.length, matches };
  }

  /** Whether a heard text ends with the last word of what was being said; null when nothing known was heard. */
  isComplete(heard: Heard): boolean | null {
    const last = heard.matches.at(-1);
    const said = this.#learned.find(({ name }) => name === last?.reference)?.words.at(-1)?.[2];
    if (said === undefined || heard.text === '') return null;
    return heard.text.split(' ').at(-1) === said;
  }

  #runs(samples: Int16Array): Run[] {
    const full = features(samples);
    const shape = shapeOf(full);
    const frames = full.length / BANDS;
    const runs: Run[] = [];
    let run: Run | null = null;
    for (let frame = 0; frame + SPAN <= frames; frame += STEP) {
      this.#fullLength = centre(full, frame, this.#full);
      if (this.#fullLength < LEAST_LENGTH) continue;
      this.#shapeLength = centre(shape, frame, this.#shape);
      // Speech goes on where it was, give or take a frame lost or filled in on the line.
      const expectedMs: number | null = run === null ? null : run.fromMs + (frame - run.at) * FRAME_MS;
      let place: Place | null = run === null || expectedMs === null ? null : this.#best(run.of, expectedMs);
      if (place === null) {
        for (const learned of this.#learned) {
          const best = this.#best(learned, null);
          if (best !== null && best.score > (place?.score ?? 0)) place = best;
        }
      }
      if (place === null) {
        run = null;
        continue;
      }
      const placeMs: number = place.frame * FRAME_MS + place.grid.offsetMs;
      const goesOn: boolean =
        run !== null && run.of === place.of && Math.abs(placeMs - (expectedMs ?? 0)) <= 2 * FRAME_MS;
      if (run !== null && goesOn) {
        run.frames = frame + SPAN - run.at;
        run.score += place.score;
        run.windows++;
      } else {
        run = { of: place.of, at: frame, fromMs: placeMs, frames: SPAN, score: place.score, windows: 1 };
        runs.push(run);
      }
    }
    return runs;
  }

  /** The best place in a recording for the window in hand, near a time or anywhere; null when none is good enough. */
  #best(of: Learned, nearMs: number | null): Place | null {
    let best: Place | null = null;
    for (const grid of of.grids) {
      const centreFrame = nearMs === null ? 0 : Math.round((nearMs - grid.offsetMs) / FRAME_MS);
      const first = nearMs === null ? 0 : Math.max(0, centreFrame - 2);
      const last = Math.min(
        grid.fullLength.length - 1,
        nearMs === null ? Number.POSITIVE_INFINITY : centreFrame + 2,
      );
      for (let frame = first; frame <= last; frame++) {
        const length = grid.fullLength[frame]!;
        if (length < LEAST_LENGTH) continue;
        const score = product(this.#full, grid.full, frame) / (length * this.#fullLength);
        if (score <= (best?.score ?? THRESHOLD)) continue;
        const shape =
          product(this.#shape, grid.shape, frame) /
          (grid.shapeLength[frame]! * this.#shapeLength + Number.EPSILON);
        if (shape >= SHAPE_THRESHOLD) best = { of, grid, frame, score };
      }
    }
    return best;
  }
}
