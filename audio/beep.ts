// PURE. The beep of an answering machine: a sudden steady tone, of few frequencies or one that glides evenly, then silence.
// Tones that mean something else are told apart: ringback, dial and busy tone, keys, fax (ITU-T T.30), information tones (ITU-T
// E.180), notes of a tune; and voices, which cannot hold a tone as a machine does. When to listen is the caller's business.
import { FRAME_BYTES } from './format.ts';
import { glideOf, isBeep, kindOf, type Tone, waitMs } from './tone-kinds.ts';
import {
  CLOSEST,
  HOP,
  type Look,
  Looks,
  lineOf,
  lookClosely,
  type Partial,
  strayOf,
  WINDOW,
} from './tones.ts';

/** Samples count from the first one given; to a frame (20 ms). */
export interface Beep {
  /** The lowest of several; of a glide its middle. */
  frequencyHz: number;
  startSample: number;
  endSample: number;
}

const FRAME = FRAME_BYTES;
const HOP_MS = 10;
/** Samples of two looks. */
const SPAN = WINDOW + HOP;
/** From the beginning of a frame to the middle of the first look that ends in it. */
const MIDDLE = FRAME - SPAN + WINDOW / 2;
/** A window that is fainter by this than the whole tone has its middle so many samples outside of it. */
const EDGE_DB = 6;
const EDGE = 28;
const LEAST_LEVEL_DB = -50;
/** Share of the power that is in tones, of a window and of the whole: noise 15 dB below leaves 0.97. */
const LEAST_PURITY = 0.75;
const LEAST_CLOSE_PURITY = 0.86;
/** A tone fainter than this to the strongest is noise, or what a line makes of tones. */
const FAINTEST_DB = -22;
/** What goes on is as it was, or glides. */
const LEAST_LIKENESS = 0.88;
const MOST_STEP_HZ = 120;
const LEAST_STEP_SHARE = 0.5;
/** A tone of 100 ms, wherever the looks cut it. */
const LEAST_MS = 80;
const LONGEST_MS = 5_050;
const MOST_HOPS = LONGEST_MS / HOP_MS + 10;
/** So far below the loudest of it a tone is over. */
const OVER_DB = 18;
/** Silence after it, whatever the line's noise. */
const SILENCE_BELOW_DB = 10;
/** How long its sound may take to fade in a room, and up to when that may still be this loud. */
const FADING_HOPS = 40;
const FADE_HOPS = 10;
const AFTER_DB = 6;
/** Phase that a tone strays by, in radians, and which of several are looked at. */
const MOST_STRAY = 0.045;
const STEADY_DB = -5;
/** Looks that find its strongest elsewhere than so near to where it is, and the share of them that may. */
const STAYS_HZ = 15;
const STAYS = 0.012;
const MOST_STRAYED = 0.1;
/** A glide covers so much, along a straight line. */
const LEAST_GLIDE_HOPS = 5;
const LEAST_GLIDE_HZ = 60;
const GLIDE_STRAY_HZ = 6;
const GLIDE_STRAY = 0.06;
const GLIDE_STRAY_DB = 2.5;
/** One that is longer than words glide, in hops, may stray as a room has it. */
const LONG_GLIDE_HOPS = 20;
const ROOM_STRAY = 0.09;
const ROOM_STRAY_DB = 5;
const LEAST_GLIDE_SHARE = 0.85;
/** Below what a beep has lies the pitch of a voice. */
const VOICE_HZ = 330;
const VOICE_DB = -14;
/** Heard before a tone: how far back, how loud to it. The looks just before hold some of it already. */
const BEFORE_HOPS = 120;
const BEFORE_DB = 15;
const LEVELS = 128;
/** Cadences and tunes are known by the tones before. */
const REMEMBERED_MS = 6_000;
/** Sound is kept for a close look: the most that is taken, and the tail of a room. */
const KEPT = 51 * FRAME;

/** One stream's listener. */
export class BeepDetector {
  readonly #looks = new Looks();
  readonly #samples = new Int16Array(SPAN);
  #filled = SPAN - FRAME;
  readonly #kept = new Int16Array(KEPT);
  #frame = 0;
  readonly #levels = new Float32Array(LEVELS);
  /** Of the tone that seems to go on: since which look, its frequency, level and share look by look. */
  #since = 0;
  #count = 0;
  #loudestDb = 0;
  /** The loudest before it. */
  #beforeDb = 0;
  readonly #hz = new Float32Array(MOST_HOPS);
  readonly #levelDb = new Float32Array(MOST_HOPS);
  readonly #share = new Float32Array(MOST_HOPS);
  /** The tone that is over and waits for its silence. */
  #waiting: Tone | null = null;
  #silentHops = 0;
  #before: Tone[] = [];

  /**
   * Takes the next samples of the stream, 8 kHz, any number. Answers a beep once silence followed it, else null: 140 ms, or
   * longer where it may be a tone of the network.
   */
  push(pcm: Int16Array): Beep | null {
    let beep: Beep | null = null;
    for (let from = 0; from < pcm.length; ) {
      const count = Math.min(SPAN - this.#filled, pcm.length - from);
      for (let i = 0; i < count; i++) this.#samples[this.#filled + i] = pcm[from + i]!;
      this.#filled += count;
      from += count;
      if (this.#filled < SPAN) break;
      beep = this.#take() ?? beep;
      this.#frame++;
      this.#samples.copyWithin(0, FRAME);
      this.#filled = SPAN - FRAME;
    }
    return beep;
  }

  #take(): Beep | null {
    this.#kept.set(this.#samples.subarray(SPAN - FRAME), (this.#frame * FRAME) % KEPT);
    const [first, second] = this.#looks.take(this.#samples);
    const beep = this.#step(first, 2 * this.#frame);
    return this.#step(second, 2 * this.#frame + 1) ?? beep;
  }

  #step(look: Look, hop: number): Beep | null {
    this.#levels[hop % LEVELS] = look.levelDb;
    if (this.#count > 0 && this.#goesOn(look)) this.#add(look);
    else if (this.#count > 0) this.#end();
    const beep = this.#wait(look, hop);
    if (this.#count === 0 && this.#begins(look)) {
      this.#since = hop;
      this.#loudestDb = look.levelDb;
      this.#beforeDb = this.#loudestBefore(hop - 4);
      this.#add(look);
    }
    return beep;
  }

  #begins({ levelDb, purity }: Look): boolean {
    if (levelDb < LEAST_LEVEL_DB || purity < LEAST_PURITY) return false;
    // What is left of a tone in a room is no other.
    return this.#waiting === null || levelDb > this.#waiting.levelDb - SILENCE_BELOW_DB;
  }

  #end(): void {
    const tone = this.#judge();
    this.#count = 0;
    if (tone === null) return;
    this.#remember(tone);
    this.#waiting = tone;
    this.#silentHops = 0;
  }

  #goesOn({ levelDb, hz, share, purity, likeness }: Look): boolean {
    if (purity < LEAST_PURITY || levelDb < this.#loudestDb - OVER_DB || levelDb < LEAST_LEVEL_DB - OVER_DB)
      return false;
    if (likeness >= LEAST_LIKENESS) return true;
    const last = Math.min(this.#count, MOST_HOPS) - 1;
    return share >= LEAST_STEP_SHARE && Math.abs(hz - this.#hz[last]!) <= MOST_STEP_HZ;
  }

  /** Before the stream there may have been anything. */
  #loudestBefore(hop: number): number {
    if (hop < BEFORE_HOPS) return 0;
    let loudestDb = this.#levels[hop % LEVELS]!;
    for (let at = hop - BEFORE_HOPS; at < hop; at++)
      loudestDb = Math.max(loudestDb, this.#levels[at % LEVELS]!);
    return loudestDb;
  }

  #add({ levelDb, hz, share }: Look): void {
    const at = Math.min(this.#count, MOST_HOPS - 1);
    this.#hz[at] = hz;
    this.#levelDb[at] = levelDb;
    this.#share[at] = share;
    this.#loudestDb = Math.max(this.#loudestDb, levelDb);
    this.#count++;
  }

  /** The tone that was over last, once it is followed by silence for long enough. */
  #wait({ levelDb }: Look, hop: number): Beep | null {
    const tone = this.#waiting;
    if (tone === null) return null;
    const since = hop - (tone.endSample - MIDDLE) / HOP;
    if (levelDb <= tone.levelDb - SILENCE_BELOW_DB) this.#silentHops++;
    else if (
      since > FADE_HOPS &&
      (levelDb > tone.levelDb - AFTER_DB || since > this.#silentHops + FADING_HOPS)
    )
      this.#waiting = null;
    if (this.#silentHops * HOP_MS < waitMs(tone)) return null;
    this.#waiting = null;
    const { hz, startSample, endSample } = tone;
    return isBeep(tone, this.#before.slice(0, -1))
      ? { frequencyHz: Math.round(hz), startSample, endSample }
      : null;
  }

  /** The tone that has just ended; null: it was none. */
  #judge(): Tone | null {
    const levels = this.#levelDb;
    if (this.#count > MOST_HOPS) return null;
    const loudEnough = this.#loudestDb - EDGE_DB;
    let first = 0;
    let last = this.#count - 1;
    while (levels[first]! < loudEnough) first++;
    while (levels[last]! < loudEnough) last--;
    const startSample = Math.max(0, (this.#since + first) * HOP + MIDDLE + EDGE);
    const endSample = (this.#since + last) * HOP + MIDDLE - EDGE;
    const ms = (endSample - startSample) / (HOP / HOP_MS);
    if (ms < LEAST_MS || ms > LONGEST_MS) return null;
    const samples = this.#samplesOf(startSample, endSample);
    const { partials, purity } = lookClosely(samples, FAINTEST_DB);
    const isSteady =
      purity >= LEAST_CLOSE_PURITY &&
      partials.every((one) => one.db < STEADY_DB || strayOf(samples, one.hz) <= MOST_STRAY);
    const heard = isSteady ? kindOf(partials) : this.#glide(partials, first, last);
    if (heard === null) return null;
    if ((heard.kind === 'pure' || heard.kind === 'harmonics') && !this.#stays(partials, first, last))
      return null;
    const outOfSilence = this.#beforeDb < this.#loudestDb - BEFORE_DB;
    return { ...heard, levelDb: this.#loudestDb, startSample, endSample, outOfSilence };
  }

  /** What was between two samples, as far as it is looked at closely: its end, where a room has settled, but for the edges. */
  #samplesOf(startSample: number, endSample: number): Float64Array {
    const to = endSample - HOP;
    const samples = CLOSELY.subarray(0, Math.min(CLOSEST, to - startSample - HOP));
    for (let n = 0; n < samples.length; n++) samples[n] = this.#kept[(to - samples.length + n) % KEPT]!;
    return samples;
  }

  /** Whether its strongest was one of these from its beginning on: a voice finds its pitch. */
  #stays(partials: readonly Partial[], first: number, last: number): boolean {
    let strayed = 0;
    for (let at = first + 1; at < last; at++) {
      const now = this.#hz[at]!;
      if (!partials.some(({ hz }) => Math.abs(now - hz) <= Math.max(STAYS_HZ, hz * STAYS))) strayed++;
    }
    return strayed <= 1 || strayed < (last - first) * MOST_STRAYED;
  }

  #glide(partials: readonly Partial[], first: number, last: number): Pick<Tone, 'kind' | 'hz'> | null {
    if (partials.some(({ hz, db }) => hz < VOICE_HZ && db > VOICE_DB)) return null;
    // The windows at both ends hold only part of it.
    const hz = [...this.#hz.subarray(first + 2, last - 1)];
    const { length } = hz;
    if (length < LEAST_GLIDE_HOPS) return null;
    const { slope, strayed } = lineOf(hz);
    const span = Math.abs(slope) * (length - 1);
    const long = length >= LONG_GLIDE_HOPS;
    const mostHz = GLIDE_STRAY_HZ + span * (long ? ROOM_STRAY : GLIDE_STRAY);
    if (span < LEAST_GLIDE_HZ || strayed > mostHz) return null;
    let share = 0;
    for (let i = first + 2; i < last - 1; i++) share += this.#share[i]! / length;
    if (share < LEAST_GLIDE_SHARE) return null;
    if (
      lineOf([...this.#levelDb.subarray(first + 2, last - 1)]).strayed >
      (long ? ROOM_STRAY_DB : GLIDE_STRAY_DB)
    )
      return null;
    return glideOf(hz[0]!, hz[length - 1]!);
  }

  #remember(tone: Tone): void {
    const since = tone.startSample - REMEMBERED_MS * (HOP / HOP_MS);
    this.#before = this.#before.filter(({ endSample }) => endSample >= since);
    this.#before.push(tone);
  }
}

const CLOSELY = new Float64Array(CLOSEST);
