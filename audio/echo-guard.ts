// PURE. Whether what comes from the caller is the agent's own voice coming back: over a handset, a speaker or a hybrid, fainter
// and later than it was played. Compares levels first, then the sound itself. What is then not speech is decided elsewhere.
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS } from './format.ts';
import { MULAW_TO_PCM } from './g711.ts';
import { mulawLevelDb, SILENT_DB } from './levels.ts';

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
const REFERENCE = 4096;
const CALLER = 1024;
const FRAMES = 128;

/** Box of 8 at every 4th sample of 8 kHz: takes out what would fold. */
class Decimator {
  #sum = 0;
  #before = 0;
  #count = 0;

  /** Answers a sample of 2 kHz for every fourth, else NaN. */
  push(sample: number): number {
    this.#sum += sample;
    if (++this.#count < DECIMATION) return Number.NaN;
    const out = this.#sum + this.#before;
    this.#before = this.#sum;
    this.#sum = 0;
    this.#count = 0;
    return out;
  }
}

export class EchoGuard {
  readonly #reference = new Float32Array(REFERENCE);
  readonly #caller = new Float32Array(CALLER);
  readonly #frameDb = new Float32Array(FRAMES).fill(SILENT_DB);
  readonly #frameAt = new Int32Array(FRAMES).fill(-1);
  readonly #played = new Decimator();
  readonly #heard = new Decimator();
  /** One past the newest sample, in samples of 2 kHz since 0 ms. */
  #playedTo = 0;
  #heardTo = 0;
  readonly #span = new Float32Array(SPAN);
  readonly #spanBlocks = new Float32Array(SPAN_BLOCKS);
  readonly #blocks = new Float32Array(SPAN_BLOCKS + LAG_BLOCKS);
  readonly #scores = new Float32Array(LAG_BLOCKS + 1);
  readonly #near = new Float32Array(SPAN + 2 * NEAR);
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
    const from = Math.round(atMs * PER_MS);
    // What lies between was silence.
    if (from > this.#playedTo) {
      const silent = Math.max(this.#playedTo, from - REFERENCE);
      for (let at = silent; at < from; at++) this.#reference[at % REFERENCE] = 0;
      this.#playedTo = from;
    }
    let to = this.#playedTo;
    for (let i = 0; i < mulaw.length; i++) {
      const sample = this.#played.push(MULAW_TO_PCM[mulaw[i]!]!);
      if (!Number.isNaN(sample)) this.#reference[to++ % REFERENCE] = sample;
    }
    this.#playedTo = to;
    for (let at = 0; at < mulaw.length; at += FRAME_BYTES) {
      const frame = Math.floor((atMs + at / BYTES_PER_MS) / FRAME_MS);
      this.#frameAt[frame % FRAMES] = frame;
      this.#frameDb[frame % FRAMES] = mulawLevelDb(mulaw.subarray(at, at + FRAME_BYTES));
    }
  }

  /** What was to be played after `atMs` never will be. */
  cleared(atMs: number): void {
    const from = Math.max(0, Math.round(atMs * PER_MS));
    for (let at = Math.max(from, this.#playedTo - REFERENCE); at < this.#playedTo; at++)
      this.#reference[at % REFERENCE] = 0;
    for (let i = 0; i < FRAMES; i++) if (this.#frameAt[i]! * FRAME_MS >= atMs) this.#frameDb[i] = SILENT_DB;
  }

  /** The caller's next samples of 8 kHz; the first of them is from `atMs`. Needed only while `near` is true. */
  heard(pcm: Int16Array, atMs: number): void {
    const from = Math.round(atMs * PER_MS);
    if (from > this.#heardTo + PER_MS * FRAME_MS || from < this.#heardTo - PER_MS * FRAME_MS) {
      this.#caller.fill(0);
      this.#heardTo = from;
    }
    let to = this.#heardTo;
    for (let i = 0; i < pcm.length; i++) {
      const sample = this.#heard.push(pcm[i]!);
      if (!Number.isNaN(sample)) this.#caller[to++ % CALLER] = sample;
    }
    this.#heardTo = to;
  }

  /** The agent's voice is being played or its echo may still come. */
  near(atMs: number): boolean {
    return this.#playedTo > 0 && atMs * PER_MS < this.#playedTo + MOST_LAG_MS * PER_MS;
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
    if (end > this.#heardTo || end - SPAN < this.#heardTo - CALLER) return false;
    let mean = 0;
    for (let i = 0; i < SPAN; i++) {
      const at = end - SPAN + i;
      const sample = at < 0 ? 0 : this.#caller[at % CALLER]!;
      this.#span[i] = sample;
      mean += sample;
    }
    mean /= SPAN;
    let energy = 0;
    for (let i = 0; i < SPAN; i++) {
      this.#span[i]! -= mean;
      energy += this.#span[i]! * this.#span[i]!;
    }
    this.#spanEnergy = energy;
    return energy > 0;
  }

  #referenceAt(at: number): number {
    return at < 0 || at >= this.#playedTo || at < this.#playedTo - REFERENCE
      ? 0
      : this.#reference[at % REFERENCE]!;
  }

  /** The best correlation with what was played about `lag` samples before; its own lag is `#closeLag`. */
  #closely(end: number, lag: number): number {
    const played = this.#near;
    const span = this.#span;
    const from = end - SPAN - lag - NEAR;
    for (let i = 0; i < played.length; i++) played[i] = this.#referenceAt(from + i);
    let energy = 0;
    for (let i = 0; i < SPAN; i++) energy += played[i]! * played[i]!;
    let best = 0;
    for (let shift = 0; shift <= 2 * NEAR; shift++) {
      let product = 0;
      for (let i = 0; i < SPAN; i++) product += played[shift + i]! * span[i]!;
      // An echo may be turned over.
      const score = energy <= 0 ? 0 : Math.abs(product) / Math.sqrt(energy * this.#spanEnergy);
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
    const first = end - SPAN - MOST_LAG_MS * PER_MS;
    for (let block = 0; block < this.#blocks.length; block++) {
      let sum = 0;
      for (let i = 0; i < BLOCK; i++) sum += Math.abs(this.#referenceAt(first + block * BLOCK + i));
      this.#blocks[block] = sum;
    }
    let mean = 0;
    for (let block = 0; block < SPAN_BLOCKS; block++) {
      let sum = 0;
      for (let i = 0; i < BLOCK; i++) sum += Math.abs(this.#span[block * BLOCK + i]!);
      this.#spanBlocks[block] = sum;
      mean += sum;
    }
    mean /= SPAN_BLOCKS;
    for (let block = 0; block < SPAN_BLOCKS; block++) this.#spanBlocks[block]! -= mean;
    let sum = 0;
    let squares = 0;
    for (let block = 0; block < SPAN_BLOCKS - 1; block++) {
      sum += this.#blocks[block]!;
      squares += this.#blocks[block]! * this.#blocks[block]!;
    }
    for (let at = 0; at < this.#scores.length; at++) {
      const comes = this.#blocks[at + SPAN_BLOCKS - 1] ?? 0;
      sum += comes;
      squares += comes * comes;
      let product = 0;
      for (let i = 0; i < SPAN_BLOCKS; i++) product += this.#spanBlocks[i]! * this.#blocks[at + i]!;
      const spread = squares - (sum * sum) / SPAN_BLOCKS;
      this.#scores[at] = spread <= 0 ? 0 : product / Math.sqrt(spread);
      sum -= this.#blocks[at]!;
      squares -= this.#blocks[at]! * this.#blocks[at]!;
    }
    let best = 0;
    let bestLag = 0;
    for (let round = 0; round < CANDIDATES && best < SURELY_ALIKE; round++) {
      let at = 0;
      for (let i = 1; i < this.#scores.length; i++) if (this.#scores[i]! > this.#scores[at]!) at = i;
      if (this.#scores[at]! <= 0) break;
      const lag = MOST_LAG_MS * PER_MS - at * BLOCK;
      const score = this.#closely(end, lag);
      if (score > best) {
        best = score;
        bestLag = this.#closeLag;
      }
      for (let i = Math.max(0, at - 1); i <= Math.min(this.#scores.length - 1, at + 1); i++)
        this.#scores[i] = 0;
    }
    return { score: best, lag: bestLag };
  }
}
