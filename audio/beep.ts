// PURE. The beep of an answering machine: a sudden steady tone, of few frequencies or one that glides evenly, then silence.
// Tones that mean something else are told apart: ringback, dial and busy tone, keys, fax (ITU-T T.30), information tones (ITU-T
// E.180), notes of a tune; and voices, which cannot hold a tone as a machine does. When to listen is the caller's business.
import { FRAME_BYTES } from './format.ts';
import { glideOf, isBeep, kindOf, type Tone, waitMs } from './tone-kinds.ts';
import { isTonal, LEAST_GLIDE_HZ, type Stay, ToneTrack } from './tone-track.ts';
import { CLOSEST, HOP, type Look, Looks, lookClosely, type Partial, strayOf, WINDOW } from './tones.ts';

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
/** The last window that is mostly tone has its middle so many samples outside of it. */
const EDGE = 28;
/** Share of the power that is in tones: noise 15 dB below leaves 0.97. */
const LEAST_CLOSE_PURITY = 0.86;
/** A tone fainter than this to the strongest is noise, or what a line makes of tones. */
const FAINTEST_DB = -22;
/** A tone of 100 ms, wherever the looks cut it. */
const LEAST_MS = 80;
const LONGEST_MS = 5_050;
/** Silence after it, whatever the line's noise. */
const SILENCE_BELOW_DB = 10;
/** How long its sound may take to fade in a room; and up to when, if it is not its own frequencies, that may still be this loud. */
const FADING_HOPS = 40;
const FADE_HOPS = 10;
const AFTER_DB = 6;
/** What fades in a room has its frequencies, so near and with so much of the power. */
const OWN_HZ = 25;
const OWN_SHARE = 0.4;
/** Which of several are held against what a tone may stray, the strongest alone as strictly. */
const STEADY_DB = -5;
const BESIDE = 2.5;
/** Voices are lower than this; for as short they may hold a tone, though not as evenly as a machine. */
const HIGH_HZ = 600;
const HELD_MS = 200;
const HELD_EVEN_DB = 3;
/** A pitch that moves for as short, below this, is a voice's. */
const PITCH_HZ = 450;
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
/** … from so many looks ago on. */
const KEPT_HOPS = 94;

/** One stream's listener. */
export class BeepDetector {
  readonly #looks = new Looks();
  readonly #samples = new Int16Array(SPAN);
  #filled = SPAN - FRAME;
  readonly #kept = new Int16Array(KEPT);
  #frame = 0;
  readonly #levels = new Float32Array(LEVELS);
  /** The tone that seems to go on, since which look. */
  readonly #track = new ToneTrack(LONGEST_MS + 100);
  #since = 0;
  /** The loudest before it; null: nobody listened. */
  #beforeDb: number | null = null;
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
    if (this.#track.running && !this.#track.follow(look)) this.#end();
    const beep = this.#wait(look, hop);
    if (!this.#track.running && this.#begins(look)) {
      this.#since = hop;
      this.#beforeDb = this.#loudestBefore(hop - 4);
      this.#track.begin(look);
    }
    return beep;
  }

  #begins(look: Look): boolean {
    // What is left of a tone in a room is no other.
    return (
      isTonal(look) && (this.#waiting === null || look.levelDb > this.#waiting.levelDb - SILENCE_BELOW_DB)
    );
  }

  #end(): void {
    const tone = this.#judge();
    this.#track.clear();
    if (tone === null) return;
    this.#remember(tone);
    this.#waiting = tone;
    this.#silentHops = this.#track.fainterAfter(tone.levelDb - SILENCE_BELOW_DB);
  }

  /** Before the stream there may have been anything. */
  #loudestBefore(hop: number): number | null {
    if (hop < BEFORE_HOPS) return null;
    let loudestDb = this.#levels[hop % LEVELS]!;
    for (let at = hop - BEFORE_HOPS; at < hop; at++)
      loudestDb = Math.max(loudestDb, this.#levels[at % LEVELS]!);
    return loudestDb;
  }

  /** The tone that was over last, once it is followed by silence for long enough. */
  #wait({ levelDb, hz, share }: Look, hop: number): Beep | null {
    const tone = this.#waiting;
    if (tone === null) return null;
    const since = hop - (tone.endSample - MIDDLE) / HOP;
    if (levelDb <= tone.levelDb - SILENCE_BELOW_DB) this.#silentHops++;
    else if (
      since > FADE_HOPS &&
      ((levelDb > tone.levelDb - AFTER_DB && !isOf(tone, hz, share)) ||
        since > this.#silentHops + FADING_HOPS)
    )
      this.#waiting = null;
    if (this.#silentHops * HOP_MS < waitMs(tone)) return null;
    this.#waiting = null;
    const { startSample, endSample } = tone;
    return isBeep(tone, this.#before.slice(0, -1))
      ? { frequencyHz: Math.round(tone.hz), startSample, endSample }
      : null;
  }

  /** The tone that has just ended; null: it was none. */
  #judge(): Tone | null {
    const track = this.#track;
    if (track.tooLong) return null;
    const all = track.edges();
    const { first, last } = all;
    const startSample = Math.max(0, (this.#since + first) * HOP + MIDDLE + EDGE);
    const endSample = (this.#since + last) * HOP + MIDDLE - EDGE;
    const ms = (endSample - startSample) / (HOP / HOP_MS);
    if (ms < LEAST_MS || ms > LONGEST_MS) return null;
    const sudden = track.isSudden();
    const samples = this.#samplesOf(sudden ? track.evenest(all, KEPT_HOPS) : all);
    const { partials, purity } = lookClosely(samples, FAINTEST_DB);
    const low = (partials[0]?.hz ?? 0) < HIGH_HZ;
    const short = ms < HELD_MS;
    const most = mostStray({ low, short, sudden });
    const isSteady =
      purity >= LEAST_CLOSE_PURITY &&
      !(low && short && track.spread({ first: first + 1, last: last - 1 }) > HELD_EVEN_DB) &&
      partials.every(({ hz, db }) => db < STEADY_DB || strayOf(samples, hz) <= most * (db < 0 ? BESIDE : 1));
    const heard = isSteady ? kindOf(partials) : this.#moving(partials, all, { sudden, short });
    if (heard === null) return null;
    if ((heard.kind === 'pure' || heard.kind === 'harmonics') && !track.stays(partials, all)) return null;
    const { loudestDb } = track;
    const silent = this.#beforeDb !== null && this.#beforeDb < loudestDb - BEFORE_DB;
    const after = this.#beforeDb === null ? 'unknown' : silent ? 'silence' : 'sound';
    const heardHz = heard.kind === 'glide' ? track.wayHz(all) : partials.map(({ hz }) => hz);
    return { ...heard, levelDb: loudestDb, startSample, endSample, after, heardHz };
  }

  /** What was in these looks, as far as it is looked at closely: its end, where a room has settled, but for the edges. */
  #samplesOf({ first, last }: Stay): Float64Array {
    const startSample = Math.max(0, (this.#since + first) * HOP + MIDDLE + EDGE);
    const to = (this.#since + last) * HOP + MIDDLE - EDGE - HOP;
    const samples = CLOSELY.subarray(0, Math.min(CLOSEST, to - startSample - HOP));
    for (let n = 0; n < samples.length; n++) samples[n] = this.#kept[(to - samples.length + n) % KEPT]!;
    return samples;
  }

  /** A tone that is not steady: one that a room has stirred, where it cannot be a voice; else a glide. */
  #moving(
    partials: readonly Partial[],
    all: Stay,
    { sudden, short }: { sudden: boolean; short: boolean },
  ): Pick<Tone, 'kind' | 'hz'> | null {
    const alone = sudden ? this.#track.alone(all) : null;
    if (alone !== null && Math.abs(alone.toHz - alone.fromHz) < LEAST_GLIDE_HZ)
      return kindOf([{ hz: (alone.fromHz + alone.toHz) / 2, db: 0 }]);
    if (alone === null && partials.some(({ hz, db }) => hz < VOICE_HZ && db > VOICE_DB)) return null;
    const way = alone ?? this.#track.glide(all);
    if (way === null || (short && Math.max(way.fromHz, way.toHz) < PITCH_HZ)) return null;
    return glideOf(way.fromHz, way.toHz);
  }

  #remember(tone: Tone): void {
    const since = tone.startSample - REMEMBERED_MS * (HOP / HOP_MS);
    this.#before = this.#before.filter(({ endSample }) => endSample >= since);
    this.#before.push(tone);
  }
}

/** The phase, in radians, that a tone may stray by. */
function mostStray({ low, short, sudden }: { low: boolean; short: boolean; sudden: boolean }): number {
  if (!low) return sudden ? 0.06 : 0.045;
  if (short) return sudden ? 0.02 : 0;
  return sudden ? 0.045 : 0.02;
}

/** Whether a look's strongest is one of a tone's. */
const isOf = ({ heardHz }: Tone, hz: number, share: number): boolean =>
  share >= OWN_SHARE && heardHz.some((one) => Math.abs(hz - one) <= OWN_HZ);

const CLOSELY = new Float64Array(CLOSEST);
