// PURE. Whether what comes from the caller is the agent's own voice coming back: over a handset, a speaker or a hybrid, fainter
// and later than it was played, and out of a room with all that its walls make of it. Compares levels first, then the sound itself:
// with what the path of this line's echo (echo-path.ts) makes of it, or at every delay. What is then not speech is decided elsewhere.
import { EchoPath, WINDOW } from './echo-path.ts';
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS } from './format.ts';
import { SILENT_DB, squaresDb } from './levels.ts';
import { BLOCK, correlate, LowRate, PER_MS } from './low-rate.ts';
import { solveTaps } from './toeplitz.ts';

/** What is compared at a time. */
const SPAN_MS = 256;
const SPAN = SPAN_MS * PER_MS;
const SPAN_BLOCKS = SPAN / BLOCK;
/**
 * From the moment we take a sound for played to its echo. Frames may be played a little before our estimate; later by the
 * carrier's own buffer, the way back, and the echo's path of up to a quarter of a second.
 */
const LEAST_LAG_MS = -80;
const MOST_LAG_MS = 600;
const MOST_LAG = MOST_LAG_MS * PER_MS;
const LAG_BLOCKS = ((MOST_LAG_MS - LEAST_LAG_MS) * PER_MS) / BLOCK;
/** Louder than this below what was played, and it is somebody else: echoes of a telephone line are at -20 dB and fainter. */
const LOUDEST_ECHO_DB = -12;
/** Correlation from which a sound is what was played, whatever the delay. */
const SURELY_ALIKE = 0.66;
/** Chance makes the first syllable of another voice as alike as this, once: an echo comes at the same delay again. */
const ALIKE = 0.55;
/** At the delay of a known echo whose taps do not account for the last window. */
const STILL_ALIKE = 0.8;
/** Candidates of the coarse look that are looked at closely, each with so many samples to both sides. */
const CANDIDATES = 4;
const NEAR = 8;
/** The best of them, from this correlation on, as taps around it: these fit anything better, so it counts for less. */
const WORTH_TAPS = 0.3;
const AS_TAPS = 0.72;
const CLOSE_RIDGE = 0.01;
/** Rings, in samples of 2 kHz: powers of two. */
const REFERENCE = 4096;
const CALLER = 1024;
const FRAMES = 128;

/** One span is compared at a time, whoever's line it is of: all guards of a thread work in the same place. */
const SPAN_SAMPLES = new Float32Array(SPAN);
const SPAN_LOUDNESS = new Float32Array(SPAN_BLOCKS);
const PLAYED_LOUDNESS = new Float32Array(SPAN_BLOCKS + LAG_BLOCKS);
const SCORES = new Float32Array(LAG_BLOCKS + 1);
const PLAYED_SAMPLES = new Float32Array(SPAN + 2 * NEAR);
const CLOSE_PRODUCTS = new Float64Array(2 * NEAR + 1);
const PLAYED_LATER = PLAYED_SAMPLES.subarray(2 * NEAR);
const AUTO_PRODUCTS = new Float64Array(2 * NEAR + 1);
const CLOSE_TAPS = new Float64Array(2 * NEAR + 1);
const COARSE_PRODUCTS = new Float64Array(LAG_BLOCKS + 1);

export class EchoGuard {
  readonly #played = new LowRate(REFERENCE);
  readonly #heard = new LowRate(CALLER);
  readonly #frameDb = new Float32Array(FRAMES).fill(SILENT_DB);
  readonly #frameAt = new Int32Array(FRAMES).fill(-1);
  #spanEnergy = 0;
  /** How the line has echoed before. */
  readonly #path = new EchoPath(this.#played, this.#heard);
  /** A delay that fitted somewhat, and the end of the span that first did. */
  #maybeLag: number | null = null;
  #maybeAt = 0;
  /** The delay of the last close look's best. */
  #closeLag = 0;
  /** How often sound was compared closely, and how often it was what was played. */
  readonly counters = { compared: 0, explained: 0 };

  /** mu-law that is played from `atMs` on, on the clock of the caller's sound. Frames come in their order. */
  played(mulaw: Uint8Array, atMs: number): void {
    const played = this.#played;
    const from = Math.round(atMs * PER_MS);
    // What lies between was silence.
    if (from > played.to) {
      played.silence(played.to, from);
      played.to = from;
    }
    for (let at = 0; at < mulaw.length; at += FRAME_BYTES) {
      const end = Math.min(mulaw.length, at + FRAME_BYTES);
      const squares = played.push(mulaw, at, end);
      const frame = Math.floor((atMs + at / BYTES_PER_MS) / FRAME_MS);
      this.#frameAt[frame % FRAMES] = frame;
      this.#frameDb[frame % FRAMES] = squaresDb(squares, end - at);
    }
  }

  /** What was to be played after `atMs` never will be. */
  cleared(atMs: number): void {
    const played = this.#played;
    const from = Math.max(0, Math.round(atMs * PER_MS));
    played.silence(from, played.to);
    // What comes next is played from here on, not behind what was dropped.
    if (from < played.to) played.to = from;
    for (let i = 0; i < FRAMES; i++) if (this.#frameAt[i]! * FRAME_MS >= atMs) this.#frameDb[i] = SILENT_DB;
  }

  /** The caller's next samples, mu-law; the first of them is from `atMs`. Needed only while `near` is true. */
  heard(mulaw: Uint8Array, atMs: number): void {
    const heard = this.#heard;
    const from = Math.round(atMs * PER_MS);
    if (from > heard.to + PER_MS * FRAME_MS || from < heard.to - PER_MS * FRAME_MS) {
      heard.ring.fill(0);
      heard.to = from;
    }
    heard.push(mulaw, 0, mulaw.length);
  }

  /** The agent's voice is being played or its echo may still come. */
  near(atMs: number): boolean {
    return this.#played.to > 0 && atMs * PER_MS < this.#played.to + this.#path.reach(MOST_LAG);
  }

  /** Whether a window of the caller's sound that ends at `endMs` is what was played. @param levelDb of the window */
  explains(endMs: number, levelDb: number): boolean {
    if (!this.near(endMs)) return false;
    const loudestDb = this.#loudest(endMs);
    if (loudestDb <= SILENT_DB || levelDb - loudestDb > LOUDEST_ECHO_DB) return false;
    this.counters.compared++;
    const end = Math.round(endMs * PER_MS);
    // Not there, or not yet.
    if (end > this.#heard.to || end - SPAN < this.#heard.to - CALLER) return false;
    if (!this.#path.explains(end) && !this.#echoes(end)) return false;
    this.counters.explained++;
    return true;
  }

  /** Whether it is what was played at another delay: beyond doubt, or somewhat and once more at the same. */
  #echoes(end: number): boolean {
    if (!this.#take(end)) return false;
    const { score, lag } = this.#search(end);
    const path = this.#path;
    if (score < ALIKE) return false;
    // Where the echo is known and there, this is more than that, unless the span as a whole is what was played.
    if (path.present && Math.abs(lag - path.lag!) <= NEAR) return score >= STILL_ALIKE;
    if (score < SURELY_ALIKE) {
      const again = this.#maybeLag !== null && Math.abs(lag - this.#maybeLag) <= NEAR;
      if (!again) {
        this.#maybeLag = lag;
        this.#maybeAt = end;
      }
      // Spans that overlap are one chance.
      if (!again || end - this.#maybeAt < SPAN) return false;
    }
    path.found(end, lag, SPAN / WINDOW);
    this.#maybeLag = null;
    return true;
  }

  /** The loudest frame played in the time that an echo could come from. */
  #loudest(endMs: number): number {
    const last = Math.floor((endMs - LEAST_LAG_MS) / FRAME_MS);
    let loudest = SILENT_DB;
    for (
      let frame = Math.max(0, Math.floor((endMs - 32 - this.#path.reach(MOST_LAG) / PER_MS) / FRAME_MS));
      frame <= last;
      frame++
    )
      if (this.#frameAt[frame % FRAMES] === frame && this.#frameDb[frame % FRAMES]! > loudest)
        loudest = this.#frameDb[frame % FRAMES]!;
    return loudest;
  }

  /** Copies the caller's span, without its mean. False when it is silent. */
  #take(end: number): boolean {
    const span = SPAN_SAMPLES;
    this.#heard.read(end - SPAN, span);
    let mean = 0;
    for (let i = 0; i < SPAN; i++) mean += span[i]!;
    mean /= SPAN;
    let energy = 0;
    for (let i = 0; i < SPAN; i++) {
      span[i]! -= mean;
      energy += span[i]! * span[i]!;
    }
    this.#spanEnergy = energy;
    return energy > 0;
  }

  /** The best correlation with what was played about `lag` samples before; its own lag is `#closeLag`. */
  #closely(end: number, lag: number): number {
    const played = PLAYED_SAMPLES;
    this.#played.read(end - SPAN - lag - NEAR, played);
    correlate(played, SPAN_SAMPLES, CLOSE_PRODUCTS);
    let energy = 0;
    for (let i = 0; i < SPAN; i++) energy += played[i]! * played[i]!;
    let best = 0;
    for (let shift = 0; shift <= 2 * NEAR; shift++) {
      // An echo may be turned over.
      const score = energy <= 0 ? 0 : Math.abs(CLOSE_PRODUCTS[shift]!) / Math.sqrt(energy * this.#spanEnergy);
      if (score > best) {
        best = score;
        this.#closeLag = lag + NEAR - shift;
      }
      const comes = played[shift + SPAN] ?? 0;
      energy += comes * comes - played[shift]! * played[shift]!;
    }
    return best;
  }

  /** Looks at the loudness of every 4 ms for the likeliest lags, then closely at those. */
  #search(end: number): { score: number; lag: number } {
    this.#played.loudness(end - SPAN - MOST_LAG_MS * PER_MS, PLAYED_LOUDNESS);
    let mean = 0;
    for (let block = 0; block < SPAN_BLOCKS; block++) {
      let sum = 0;
      for (let i = 0; i < BLOCK; i++) sum += Math.abs(SPAN_SAMPLES[block * BLOCK + i]!);
      SPAN_LOUDNESS[block] = sum;
      mean += sum;
    }
    mean /= SPAN_BLOCKS;
    for (let block = 0; block < SPAN_BLOCKS; block++) SPAN_LOUDNESS[block]! -= mean;
    correlate(PLAYED_LOUDNESS, SPAN_LOUDNESS, COARSE_PRODUCTS);
    let sum = 0;
    let squares = 0;
    for (let block = 0; block < SPAN_BLOCKS - 1; block++) {
      sum += PLAYED_LOUDNESS[block]!;
      squares += PLAYED_LOUDNESS[block]! * PLAYED_LOUDNESS[block]!;
    }
    for (let at = 0; at < SCORES.length; at++) {
      const comes = PLAYED_LOUDNESS[at + SPAN_BLOCKS - 1] ?? 0;
      sum += comes;
      squares += comes * comes;
      const spread = squares - (sum * sum) / SPAN_BLOCKS;
      SCORES[at] = spread <= 0 ? 0 : COARSE_PRODUCTS[at]! / Math.sqrt(spread);
      sum -= PLAYED_LOUDNESS[at]!;
      squares -= PLAYED_LOUDNESS[at]! * PLAYED_LOUDNESS[at]!;
    }
    let best = 0;
    let bestLag = 0;
    for (let round = 0; round < CANDIDATES && best < SURELY_ALIKE; round++) {
      let at = 0;
      for (let i = 1; i < SCORES.length; i++) if (SCORES[i]! > SCORES[at]!) at = i;
      if (SCORES[at]! <= 0) break;
      const lag = MOST_LAG_MS * PER_MS - at * BLOCK;
      const score = this.#closely(end, lag);
      if (score > best) {
        best = score;
        bestLag = this.#closeLag;
      }
      for (let i = Math.max(0, at - 1); i <= Math.min(SCORES.length - 1, at + 1); i++) SCORES[i] = 0;
    }
    if (best >= WORTH_TAPS && best < SURELY_ALIKE) best = Math.max(best, this.#asTaps(end, bestLag));
    return { score: best, lag: bestLag };
  }

  /** How alike the span is to what reflections around a lag make of what was played: correlation, as of one lag. */
  #asTaps(end: number, lag: number): number {
    const played = PLAYED_SAMPLES;
    this.#played.read(end - SPAN - lag - NEAR, played);
    correlate(played, SPAN_SAMPLES, CLOSE_PRODUCTS);
    correlate(played, PLAYED_LATER, AUTO_PRODUCTS);
    AUTO_PRODUCTS.reverse();
    CLOSE_PRODUCTS.reverse();
    solveTaps(AUTO_PRODUCTS, CLOSE_PRODUCTS, CLOSE_TAPS, CLOSE_RIDGE);
    let explained = 0;
    for (let i = 0; i < CLOSE_TAPS.length; i++) explained += CLOSE_TAPS[i]! * CLOSE_PRODUCTS[i]!;
    return Math.sqrt(Math.max(0, explained) / this.#spanEnergy) * AS_TAPS;
  }
}
