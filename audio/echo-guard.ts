// PURE. Whether what comes from the caller is the agent's own voice coming back: over a handset, a speaker or a hybrid, fainter
// and later than it was played. Compares levels first, then the sound itself. What is then not speech is decided elsewhere.
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS } from './format.ts';
import { MULAW_TO_PCM } from './g711.ts';
import { SILENT_DB, squaresDb } from './levels.ts';

/** Sounds are compared at 2 kHz: below 1 kHz lies what every echo path lets through. */
const DECIMATION = 4;
const PER_MS = 2;
/** What is compared at a time. */
const SPAN_MS = 256;
const SPAN = SPAN_MS * PER_MS;
/** A coarse look takes 4 ms as one. */
const BLOCK = 8;
const SPAN_BLOCKS = SPAN / BLOCK;
/**
 * From the moment we take a sound for played to its echo. Frames may be played a little before our estimate; later by the
 * carrier's own buffer, the way back, and the echo's path of up to a quarter of a second.
 */
const LEAST_LAG_MS = -80;
const MOST_LAG_MS = 600;
const LAG_BLOCKS = ((MOST_LAG_MS - LEAST_LAG_MS) * PER_MS) / BLOCK;
/** Louder than this below what was played, and it is somebody else: echoes of a telephone line are at -20 dB and fainter. */
const LOUDEST_ECHO_DB = -12;
/** Correlation from which a sound is what was played, whatever the delay. */
const SURELY_ALIKE = 0.66;
/** Chance makes the first syllable of another voice as alike as this, once: an echo comes at the same delay again. */
const ALIKE = 0.55;
/** At the delay at which the line has echoed before. */
const ALIKE_AGAIN = 0.4;
/** And so much of how alike this line's echo usually is: below it, somebody speaks along. */
const OF_USUAL = 0.6;
/** How quickly what is usual follows. */
const USUAL_STEP = 1 / 16;
const UNUSUAL_STEP = 1 / 32;
/** Candidates of the coarse look that are looked at closely, each with so many samples to both sides. */
const CANDIDATES = 4;
const NEAR = 8;
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
const COARSE_PRODUCTS = new Float64Array(LAG_BLOCKS + 1);

/**
 * Fills `out` with the product of `short` and what stands in `long` from each place on. Four places at a time: an addition waits
 * for the one before it in its sum, and not for those of the others.
 */
function correlate(long: Float32Array, short: Float32Array, out: Float64Array): void {
  const { length } = short;
  let at = 0;
  for (; at + 4 <= out.length; at += 4) {
    let first = 0;
    let second = 0;
    let third = 0;
    let fourth = 0;
    for (let i = 0; i < length; i++) {
      const sample = short[i]!;
      const place = at + i;
      first += sample * long[place]!;
      second += sample * long[place + 1]!;
      third += sample * long[place + 2]!;
      fourth += sample * long[place + 3]!;
    }
    out[at] = first;
    out[at + 1] = second;
    out[at + 2] = third;
    out[at + 3] = fourth;
  }
  for (; at < out.length; at++) {
    let product = 0;
    for (let i = 0; i < length; i++) product += short[i]! * long[at + i]!;
    out[at] = product;
  }
}

/** The newest of a stream at 2 kHz: a box of 8 at every 4th sample of 8 kHz, which takes out what would fold. */
class Decimated {
  readonly ring: Float32Array;
  /** One past the newest sample, in samples of 2 kHz since 0 ms. */
  to = 0;
  #sum = 0;
  #before = 0;
  #count = 0;

  constructor(size: number) {
    this.ring = new Float32Array(size);
  }

  /** Takes the next samples, mu-law. Answers the sum of their squares. */
  push(mulaw: Uint8Array, from: number, end: number): number {
    const { ring } = this;
    const mask = ring.length - 1;
    let { to } = this;
    let sum = this.#sum;
    let before = this.#before;
    let count = this.#count;
    let squares = 0;
    for (let i = from; i < end; i++) {
      const sample = MULAW_TO_PCM[mulaw[i]!]!;
      squares += sample * sample;
      sum += sample;
      if (++count < DECIMATION) continue;
      ring[to++ & mask] = sum + before;
      before = sum;
      sum = 0;
      count = 0;
    }
    this.to = to;
    this.#sum = sum;
    this.#before = before;
    this.#count = count;
    return squares;
  }

  /** Silence from `from` to `to`, as far back as anything is kept. */
  silence(from: number, to: number): void {
    const { ring } = this;
    const mask = ring.length - 1;
    for (let at = Math.max(from, to - ring.length); at < to; at++) ring[at & mask] = 0;
  }

  /** Fills `out` with what stands from `from` on: zero where nothing is known. */
  read(from: number, out: Float32Array): void {
    const { ring, to } = this;
    const mask = ring.length - 1;
    const least = Math.max(0, to - ring.length);
    for (let i = 0; i < out.length; i++) {
      const at = from + i;
      out[i] = at < least || at >= to ? 0 : ring[at & mask]!;
    }
  }

  /** Fills `out` with the loudness of each block from `from` on. */
  loudness(from: number, out: Float32Array): void {
    const { ring, to } = this;
    const mask = ring.length - 1;
    const least = Math.max(0, to - ring.length);
    for (let block = 0; block < out.length; block++) {
      const first = from + block * BLOCK;
      const end = Math.min(to, first + BLOCK);
      let sum = 0;
      for (let at = Math.max(least, first); at < end; at++) sum += Math.abs(ring[at & mask]!);
      out[block] = sum;
    }
  }
}

export class EchoGuard {
  readonly #played = new Decimated(REFERENCE);
  readonly #heard = new Decimated(CALLER);
  readonly #frameDb = new Float32Array(FRAMES).fill(SILENT_DB);
  readonly #frameAt = new Int32Array(FRAMES).fill(-1);
  #spanEnergy = 0;
  /** Where the line has echoed before, in samples of 2 kHz. */
  #lag: number | null = null;
  /** How alike it usually is there. */
  #usual = 0;
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
    return this.#played.to > 0 && atMs * PER_MS < this.#played.to + MOST_LAG_MS * PER_MS;
  }

  /** Whether a window of the caller's sound that ends at `endMs` is what was played. @param levelDb of the window */
  explains(endMs: number, levelDb: number): boolean {
    if (!this.near(endMs)) return false;
    const loudestDb = this.#loudest(endMs);
    if (loudestDb <= SILENT_DB || levelDb - loudestDb > LOUDEST_ECHO_DB) return false;
    this.counters.compared++;
    const end = Math.round(endMs * PER_MS);
    if (!this.#take(end)) return false;
    if (!this.#echoesAgain(end) && !this.#echoes(end)) return false;
    this.counters.explained++;
    return true;
  }

  /** Whether the span is what was played, at the delay of the echoes before. */
  #echoesAgain(end: number): boolean {
    if (this.#lag === null) return false;
    const score = this.#closely(end, this.#lag);
    if (score < ALIKE_AGAIN) return false;
    const enough = score >= this.#usual * OF_USUAL;
    // A line that has become worse is believed after a while.
    this.#usual += (score - this.#usual) * (enough ? USUAL_STEP : UNUSUAL_STEP);
    if (enough && score >= ALIKE) this.#lag = this.#closeLag;
    return enough;
  }

  /** Whether it is what was played at another delay: beyond doubt, or somewhat and once more at the same. */
  #echoes(end: number): boolean {
    const { score, lag } = this.#search(end);
    if (score < ALIKE || (this.#lag !== null && Math.abs(lag - this.#lag) <= NEAR)) return false;
    if (score < SURELY_ALIKE) {
      const again = this.#maybeLag !== null && Math.abs(lag - this.#maybeLag) <= NEAR;
      if (!again) {
        this.#maybeLag = lag;
        this.#maybeAt = end;
      }
      // Spans that overlap are one chance.
      if (!again || end - this.#maybeAt < SPAN) return false;
    }
    this.#lag = lag;
    this.#usual = score;
    this.#maybeLag = null;
    return true;
  }

  /** The loudest frame played in the time that an echo could come from. */
  #loudest(endMs: number): number {
    const last = Math.floor((endMs - LEAST_LAG_MS) / FRAME_MS);
    let loudest = SILENT_DB;
    for (let frame = Math.max(0, Math.floor((endMs - 32 - MOST_LAG_MS) / FRAME_MS)); frame <= last; frame++)
      if (this.#frameAt[frame % FRAMES] === frame && this.#frameDb[frame % FRAMES]! > loudest)
        loudest = this.#frameDb[frame % FRAMES]!;
    return loudest;
  }

  /** Copies the caller's span, without its mean. False when it is not there or silent. */
  #take(end: number): boolean {
    if (end > this.#heard.to || end - SPAN < this.#heard.to - CALLER) return false;
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
    return { score: best, lag: bestLag };
  }
}
