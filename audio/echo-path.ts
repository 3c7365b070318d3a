// PURE. What lies between the agent's voice as it is played and its echo: a loudspeaker, a room with its walls, a line. Known as
// taps at 2 kHz, least squares over the last seconds of what was echo, and by how much comes back that no taps account for: the
// tail of the room, which falls with what was played before. Where in time the path begins is found elsewhere.
import { correlate, type LowRate } from './low-rate.ts';
import { solveTaps } from './toeplitz.ts';

/** A window of 32 ms, which is told echo or not. */
export const WINDOW = 64;
/** The path's length, 32 ms, and what of it lies before the delay that was found: in a room a reflection may be the strongest. */
const TAPS = 64;
const BEFORE = 24;
/** What of the older windows still counts after a new one: about two seconds of them. */
const KEPT = 1 - 1 / 64;
/** Taps are computed anew after so many windows. */
const SOLVED_EVERY = 4;
/** Of the energy: without it taps are wild at pitches that were not played yet, and the next vowel has them. */
const RIDGE = 0.2;
/** What is left of a tail a window later in a room of 0.8 s: where it falls faster, less of it is learned. */
const TAIL_KEPT = 10 ** (-60 / 10 / (800 / 32));
/** A tail is followed so many windows back. */
const TAIL_WINDOWS = 14;
/** Left is more than so many times what usually is, and there is something beside the echo. */
const LEFT_AT_MOST = 12;
/** As many windows have to be known for that; of a path just found what is usual is a guess, and fewer times that is much. */
const LEFT_KNOWN_OF = 16;
/** But not as long as the taps account for the rest of the window. */
const LEFT_SHARE = 0.6;
/** How quickly what is usual follows; what of the echo is expected to be left before that is known. */
const LEFT_STEP = 1 / 32;
const LEFT_FIRST = 0.25;
/** An echo that is there has at least this much of what the taps say, over some windows. */
const PRESENT = 0.25;
const PRESENT_STEP = 1 / 8;

/** One window is looked at at a time, whoever's line it is of. */
const HEARD = new Float32Array(WINDOW);
const PLAYED = new Float32Array(WINDOW + TAPS - 1);
const PLAYED_NEWEST = PLAYED.subarray(TAPS - 1);
const ECHO = new Float64Array(WINDOW);
const PRODUCTS = new Float64Array(TAPS);
const SOLUTION = new Float64Array(TAPS);

export class EchoPath {
  readonly #played: LowRate;
  readonly #heard: LowRate;
  /** Of what was played, with itself, and with what was heard. */
  readonly #auto = new Float64Array(TAPS);
  readonly #cross = new Float64Array(TAPS);
  /** The latest first. */
  readonly #taps = new Float32Array(TAPS);
  #unsolved = 0;
  /** From played to heard by way of the first tap, in samples; null: no path is known. */
  #lag: number | null = null;
  /** What was played before, as it dies away, up to `#tailTo` of what was played. */
  #tail = 0;
  #tailTo = 0;
  /** Usually left by the taps, to the tail's energy; and of how many windows that is known. */
  #left = 0;
  #leftOf = 0;
  /** Of the last windows: the echo that the taps say, and what of it was there. */
  #said = 0;
  #there = 0;

  constructor(played: LowRate, heard: LowRate) {
    this.#played = played;
    this.#heard = heard;
  }

  /** Where the strongest reflection was found: samples from played to heard; null: no path is known. */
  get lag(): number | null {
    return this.#lag === null ? null : this.#lag + BEFORE;
  }

  /** The echo is there where the path says it is. */
  get present(): boolean {
    return this.#lag !== null && this.#there >= PRESENT * this.#said;
  }

  /** So many samples after it was played a sound may still come back: `most`, or with the tail of the room where that is later. */
  reach(most: number): number {
    return this.#lag === null ? most : Math.max(most, this.#lag + TAPS + TAIL_WINDOWS * WINDOW);
  }

  /** An echo was found in the `windows` windows that end at `end`, `lag` samples after it was played. */
  found(end: number, lag: number, windows: number): void {
    this.#lag = lag - BEFORE;
    this.#auto.fill(0);
    this.#cross.fill(0);
    this.#said = 0;
    this.#there = 0;
    this.#tailTo = 0;
    let heard = 0;
    let played = 0;
    for (let at = end - (windows - 1) * WINDOW; at <= end; at += WINDOW) {
      this.#load(at);
      for (const sample of HEARD) heard += sample * sample;
      played += this.#tailAt(at);
      this.#learn(1);
    }
    this.#solve();
    this.#left = played > 0 ? (LEFT_FIRST * heard) / played : 0;
    this.#leftOf = windows / 2;
  }

  /** Whether the window that ends at `end` is what this path makes of what was played, and nothing louder beside it. */
  explains(end: number): boolean {
    if (this.#lag === null) return false;
    this.#load(end);
    correlate(PLAYED, this.#taps, ECHO);
    let heard = 0;
    let said = 0;
    let there = 0;
    for (let i = 0; i < WINDOW; i++) {
      const sample = HEARD[i]!;
      const echo = ECHO[i]!;
      heard += sample * sample;
      said += echo * echo;
      there += sample * echo;
    }
    this.#said += (said - this.#said) * PRESENT_STEP;
    this.#there += (there - this.#there) * PRESENT_STEP;
    const tail = this.#tailAt(end);
    const left = heard - 2 * there + said;
    if (tail <= 0 || !this.present) return false;
    const atMost = LEFT_AT_MOST * Math.min(1, this.#leftOf / LEFT_KNOWN_OF);
    if (left > Math.max(atMost * this.#left * tail, LEFT_SHARE * heard)) return false;
    this.#leftOf++;
    const step = Math.max(LEFT_STEP, 1 / this.#leftOf);
    this.#left += (Math.min(left / tail, 2 * this.#left) - this.#left) * step;
    this.#learn(KEPT);
    if (++this.#unsolved >= SOLVED_EVERY) this.#solve();
    return true;
  }

  /** Copies the window that ends at `end`, and what the taps reach of what was played. */
  #load(end: number): void {
    this.#heard.read(end - WINDOW, HEARD);
    this.#played.read(end - WINDOW - this.#lag! - (TAPS - 1), PLAYED);
  }

  /** The window that was loaded was echo. @param kept what of the windows before still counts */
  #learn(kept: number): void {
    correlate(PLAYED, HEARD, PRODUCTS);
    for (let i = 0; i < TAPS; i++) this.#cross[i] = this.#cross[i]! * kept + PRODUCTS[TAPS - 1 - i]!;
    correlate(PLAYED, PLAYED_NEWEST, PRODUCTS);
    for (let i = 0; i < TAPS; i++) this.#auto[i] = this.#auto[i]! * kept + PRODUCTS[TAPS - 1 - i]!;
  }

  /** The energy of what was played up to the window that ends at `end`, each window of it as much fainter as it is older. */
  #tailAt(end: number): number {
    const to = end - this.#lag!;
    if (to < this.#tailTo || to - this.#tailTo > TAIL_WINDOWS * WINDOW) {
      this.#tail = 0;
      this.#tailTo = to - TAIL_WINDOWS * WINDOW;
    }
    for (; this.#tailTo + WINDOW <= to; this.#tailTo += WINDOW)
      this.#tail = this.#tail * TAIL_KEPT + this.#played.energy(this.#tailTo, this.#tailTo + WINDOW);
    return this.#tail;
  }

  #solve(): void {
    this.#unsolved = 0;
    solveTaps(this.#auto, this.#cross, SOLUTION, RIDGE);
    for (let i = 0; i < TAPS; i++) this.#taps[i] = SOLUTION[TAPS - 1 - i]!;
  }
}
