// PURE. The agent's words as the line plays them: frame by frame how loud, how much fainter than the model gave them, and which
// of them, told by likeness: whatever is ducked, paused, cut or played twice on its way can be counted in samples.
import { FRAME_BYTES } from '../../audio/format.ts';
import { pcmLevelDb, SILENT_DB } from '../../audio/levels.ts';

/** What was played, a value for each frame of 20 ms of the stream. */
export interface Played {
  /** dB; `SILENT_DB` where nothing was played. */
  levelsDb: Float32Array;
  /** How much louder than the model gave it, dB; `SILENT_DB` where nothing was played. */
  gainsDb: Float32Array;
  /** With which sample of which of its items the frame begins (`itemOf`, `sampleOf`), or `NOTHING`, or `UNKNOWN`. */
  places: Int32Array;
}

/** Nothing was played. */
export const NOTHING = -1;
/** Sound that is none of the agent's, or too faint to tell which. */
export const UNKNOWN = -2;

const ITEM = 2 ** 20;
export const itemOf = (place: number): number => (place < 0 ? place : Math.floor(place / ITEM));
export const sampleOf = (place: number): number => (place < 0 ? place : place % ITEM);

/** As like as a frame must be to where it is looked for, and to any other place: a fade makes it less like. */
const ALIKE = 0.8;
const ALIKE_ANYWHERE = 0.9;
/** Sound below this is silence between words: it is where it is expected. */
const FAINT_DB = -58;

interface Likeness {
  alike: number;
  gain: number;
}

/** How like a frame is to the sound from a sample on, and how loud beside it. */
function likeness(frame: Int16Array, sound: Int16Array, from: number): Likeness {
  let [both, own, its] = [0, 0, 0];
  const length = Math.min(frame.length, sound.length - from);
  for (let i = 0; i < frame.length; i++) {
    const played = frame[i]!;
    own += played * played;
    if (i >= length) continue;
    const given = sound[from + i]!;
    both += played * given;
    its += given * given;
  }
  if (own === 0 || its === 0) return { alike: own === its ? 1 : 0, gain: 1 };
  return { alike: both / Math.sqrt(own * its), gain: both / its };
}

export class FollowedVoice {
  readonly #items: Int16Array[] = [];
  readonly #levels: number[] = [];
  readonly #gains: number[] = [];
  readonly #places: number[] = [];
  /** Where the next frame is expected. */
  #item = 0;
  #sample = 0;

  /** The model's next item, as the line would play it. */
  sends(sound: Int16Array): void {
    this.#items.push(sound);
  }

  /** The line plays this frame, or nothing. */
  plays(frame: Int16Array | null): void {
    if (frame === null) {
      this.#note(SILENT_DB, SILENT_DB, NOTHING);
      return;
    }
    const levelDb = pcmLevelDb(frame);
    const found = this.#find(frame, levelDb < FAINT_DB);
    if (found === null) {
      this.#note(levelDb, 0, UNKNOWN);
      return;
    }
    this.#item = found.item;
    this.#sample = found.sample + FRAME_BYTES;
    this.#note(levelDb, 20 * Math.log10(Math.max(1e-4, found.gain)), found.item * ITEM + found.sample);
  }

  get played(): Played {
    return {
      levelsDb: Float32Array.from(this.#levels),
      gainsDb: Float32Array.from(this.#gains),
      places: Int32Array.from(this.#places),
    };
  }

  #note(levelDb: number, gainDb: number, place: number): void {
    this.#levels.push(levelDb);
    this.#gains.push(gainDb);
    this.#places.push(place);
  }

  #find(frame: Int16Array, faint: boolean): { item: number; sample: number; gain: number } | null {
    const goesOn = this.#items[this.#item];
    if (goesOn !== undefined && this.#sample < goesOn.length) {
      const { alike, gain } = likeness(frame, goesOn, this.#sample);
      if (faint || alike >= ALIKE) return { item: this.#item, sample: this.#sample, gain: faint ? 1 : gain };
    }
    // The next item from its beginning; then any place of any, the newest first.
    for (let item = this.#item + 1; item < this.#items.length; item++) {
      const { alike, gain } = likeness(frame, this.#items[item]!, 0);
      if (alike >= ALIKE) return { item, sample: 0, gain };
    }
    if (faint) return null;
    for (let item = this.#items.length - 1; item >= 0; item--) {
      const sound = this.#items[item]!;
      let best: { item: number; sample: number; gain: number; alike: number } | null = null;
      for (let sample = 0; sample < sound.length; sample++) {
        const one = likeness(frame, sound, sample);
        if (one.alike >= ALIKE_ANYWHERE && one.alike > (best?.alike ?? 0)) best = { item, sample, ...one };
      }
      if (best !== null) return best;
    }
    return null;
  }
}

/** Milliseconds of an item's words that were left out between others, and that were played again. */
export function lostAndRepeated({ places }: Played, item: number): { lostMs: number; repeatedMs: number } {
  let [lost, repeated] = [0, 0];
  let next: number | null = null;
  for (const place of places) {
    if (itemOf(place) !== item) continue;
    const sample = sampleOf(place);
    if (next !== null && sample > next) lost += sample - next;
    if (next !== null && sample < next) repeated += next - sample;
    next = sample + FRAME_BYTES;
  }
  return { lostMs: lost / 8, repeatedMs: repeated / 8 };
}
