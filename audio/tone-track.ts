// PURE. A tone that seems to go on, look by look: whether one more look is of it, where it begins and ends, and what its way tells:
// that it was there at once, stays where it is, glides evenly. What its sound tells when looked at closely, and what is made of
// both, is beep.ts.
import { CLOSEST, HOP, type Look, lineOf, type Partial } from './tones.ts';

const HOP_MS = 10;
/** Looks of a tone, from `first` to `last`, both of it. */
export interface Stay {
  first: number;
  last: number;
}

/** A glide or a tone by its ends. */
export interface Way {
  fromHz: number;
  toHz: number;
}

/** Share of the power that is in tones: noise 15 dB below leaves 0.97. */
const LEAST_PURITY = 0.75;
const LEAST_LEVEL_DB = -50;
/** What goes on is as it was, or glides. */
const LEAST_LIKENESS = 0.88;
const MOST_STEP_HZ = 120;
const LEAST_STEP_SHARE = 0.5;
/** So far below the loudest of it a tone is over. */
const OVER_DB = 18;
/** Looks in which a room may swallow it; after them it is where it was, and alone. */
const MOST_MISSED = 2;
const AGAIN_HZ = 40;
const AGAIN_SHARE = 0.8;
/** A window that is fainter by this than the tone has its middle outside of it. */
const EDGE_DB = 6;
/** A machine's tone is there at once: from so far below its first loudness to this near it within so many looks. */
const SOON_HOPS = 7;
const UNHEARD_DB = 12;
const THERE_DB = 5;
const MOST_RISE_HOPS = 2;
/** And the rest of it is not much louder. */
const LATER_DB = 8;
/** Where a room comes and goes around it, so many looks are the evenest part of it, or this share of all. */
const LEAST_EVEN_HOPS = 10;
const LEAST_EVEN = 0.6;
const CLOSEST_HOPS = Math.floor(CLOSEST / HOP);
/** Looks that find its strongest elsewhere than so near to where it is, and the share of them that may. */
const STAYS_HZ = 15;
const STAYS = 0.012;
const MOST_STRAYED = 0.1;
/** A glide covers so much, along a straight line. */
const LEAST_GLIDE_HOPS = 5;
export const LEAST_GLIDE_HZ = 60;
const GLIDE_STRAY_HZ = 6;
const GLIDE_STRAY = 0.06;
const GLIDE_STRAY_DB = 2.5;
const LEAST_GLIDE_SHARE = 0.85;
/** One that is longer than words glide, in hops, may stray as a room has it. */
const LONG_GLIDE_HOPS = 20;
const ROOM_STRAY = 0.09;
const ROOM_STRAY_DB = 5;
/** No voice is a single tone as high as this: it may stray as a room has it. */
const ALONE_HZ = 600;
const ALONE_SHARE = 0.97;
const ALONE_STRAY_HZ = 8;
const ALONE_STRAY = 0.12;

/** Whether a look may be a tone's. */
export const isTonal = ({ levelDb, purity }: Look): boolean =>
  levelDb >= LEAST_LEVEL_DB && purity >= LEAST_PURITY;

export class ToneTrack {
  readonly #most: number;
  readonly #hz: Float32Array;
  readonly #levelDb: Float32Array;
  readonly #share: Float32Array;
  #count = 0;
  /** The last looks, which were not of it. */
  #missed = 0;
  #loudestDb = 0;

  /** @param mostMs longer ones are no tone that is asked for */
  constructor(mostMs: number) {
    this.#most = mostMs / HOP_MS;
    this.#hz = new Float32Array(this.#most + MOST_MISSED + 1);
    this.#levelDb = new Float32Array(this.#most + MOST_MISSED + 1);
    this.#share = new Float32Array(this.#most + MOST_MISSED + 1);
  }

  get running(): boolean {
    return this.#count > 0;
  }

  /** Longer than what is kept of it. */
  get tooLong(): boolean {
    return this.#count > this.#most;
  }

  get loudestDb(): number {
    return this.#loudestDb;
  }

  begin(look: Look): void {
    this.#count = 0;
    this.#missed = 0;
    this.#loudestDb = look.levelDb;
    this.#add(look);
  }

  /** Takes one more look; false: the tone ended before it and the looks just before that were not of it. */
  follow(look: Look): boolean {
    if (this.#goesOn(look)) this.#missed = 0;
    else if (++this.#missed > MOST_MISSED) {
      this.#count -= MOST_MISSED;
      return false;
    }
    this.#add(look);
    return true;
  }

  /** How many of the looks after its end, but for the last, were fainter than this. */
  fainterAfter(db: number): number {
    let fainter = 0;
    for (let at = this.#count; at < this.#count + MOST_MISSED; at++)
      if (this.#levelDb[Math.min(at, this.#most)]! <= db) fainter++;
    return fainter;
  }

  /** Forgets it. */
  clear(): void {
    this.#count = 0;
  }

  #add({ levelDb, hz, share }: Look): void {
    const at = Math.min(this.#count, this.#most);
    this.#hz[at] = hz;
    this.#levelDb[at] = levelDb;
    this.#share[at] = share;
    if (this.#missed === 0) this.#loudestDb = Math.max(this.#loudestDb, levelDb);
    this.#count++;
  }

  #goesOn({ levelDb, hz, share, purity, likeness }: Look): boolean {
    if (purity < LEAST_PURITY || levelDb < this.#loudestDb - OVER_DB || levelDb < LEAST_LEVEL_DB - OVER_DB)
      return false;
    const last = Math.min(this.#count, this.#most) - 1 - this.#missed;
    const step = Math.abs(hz - this.#hz[last]!);
    if (this.#missed > 0) return share >= AGAIN_SHARE && step <= AGAIN_HZ;
    return likeness >= LEAST_LIKENESS || (share >= LEAST_STEP_SHARE && step <= MOST_STEP_HZ);
  }

  /** The first and the last look that are mostly tone: not much fainter than those next to them further in. */
  edges(): Stay {
    const levels = this.#levelDb;
    const nextTo = (from: number, to: number) => {
      let loudest = levels[from]!;
      for (let at = from; at < to; at++) loudest = Math.max(loudest, levels[at]!);
      return loudest;
    };
    let first = 0;
    let last = this.#count - 1;
    while (levels[first]! < nextTo(first, Math.min(this.#count, first + SOON_HOPS)) - EDGE_DB) first++;
    while (last > first && levels[last]! < nextTo(Math.max(first, last - SOON_HOPS + 1), last + 1) - EDGE_DB)
      last--;
    return { first, last };
  }

  /** It was there at once: a voice takes longer to come to its loudness. */
  isSudden(): boolean {
    const levels = this.#levelDb;
    const soon = Math.min(this.#count, SOON_HOPS);
    let loudest = levels[0]!;
    for (let at = 1; at < soon; at++) loudest = Math.max(loudest, levels[at]!);
    let there = 0;
    while (levels[there]! < loudest - THERE_DB) there++;
    let unheard = there - 1;
    while (unheard >= 0 && levels[unheard]! >= loudest - UNHEARD_DB) unheard--;
    return there - unheard <= MOST_RISE_HOPS && loudest >= this.#loudestDb - LATER_DB;
  }

  /** The looks whose levels differ least, as many as are looked at closely. @param keptHops no further back */
  evenest({ first, last }: Stay, keptHops: number): Stay {
    const all = last - first + 1;
    const from = Math.max(first, this.#count - keptHops);
    const count = Math.min(
      all,
      Math.max(LEAST_EVEN_HOPS, Math.min(CLOSEST_HOPS, Math.ceil(all * LEAST_EVEN))),
    );
    let best = { first: last - count + 1, last };
    let least = Number.POSITIVE_INFINITY;
    for (let at = last - count + 1; at >= from; at--) {
      const spread = this.spread({ first: at, last: at + count - 1 });
      if (spread >= least) continue;
      least = spread;
      best = { first: at, last: at + count - 1 };
    }
    return best;
  }

  /** By how much levels differ. */
  spread({ first, last }: Stay): number {
    const levels = this.#levelDb;
    let [most, least] = [levels[first]!, levels[first]!];
    for (let at = first; at <= last; at++) {
      most = Math.max(most, levels[at]!);
      least = Math.min(least, levels[at]!);
    }
    return most - least;
  }

  /** Whether its strongest was one of these from its beginning on: a voice finds its pitch. */
  stays(partials: readonly Partial[], { first, last }: Stay): boolean {
    let strayed = 0;
    for (let at = first + 1; at < last; at++) {
      const now = this.#hz[at]!;
      if (!partials.some(({ hz }) => Math.abs(now - hz) <= Math.max(STAYS_HZ, hz * STAYS))) strayed++;
    }
    return strayed <= 1 || strayed < (last - first) * MOST_STRAYED;
  }

  /** A single high tone, by its looks as strong as they are. */
  alone({ first, last }: Stay): Way | null {
    const hz = this.#hz.subarray(first + 1, last);
    const weights = Float64Array.from(hz, (_, i) => 10 ** (this.#levelDb[first + 1 + i]! / 10));
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    let share = 0;
    for (let i = 0; i < hz.length; i++) share += (this.#share[first + 1 + i]! * weights[i]!) / all;
    if (share < ALONE_SHARE) return null;
    const { from, slope, strayed } = lineOf(hz, weights);
    const to = from + slope * (hz.length - 1);
    if (Math.min(from, to) < ALONE_HZ) return null;
    const span = Math.abs(to - from);
    if (strayed > ALONE_STRAY_HZ + ALONE_STRAY * span) return null;
    return { fromHz: from, toHz: to };
  }

  /** The way of one that glides along a straight line, about as loud all the while; null: it does not. */
  glide({ first, last }: Stay): Way | null {
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
    return { fromHz: hz[0]!, toHz: hz[length - 1]! };
  }

  /** Where its strongest was, look by look. */
  wayHz({ first, last }: Stay): number[] {
    return [...this.#hz.subarray(first, last + 1)];
  }
}
