// PURE. How loud this caller is, learned from what is said while the agent is silent; and whether a voice over the agent's is loud
// enough to be his: those of the room are fainter. Nobody is locked out: in silence everybody is heard and learned from, and so is
// over the agent's voice, after a while, who speaks on. What a voice then comes to is decided elsewhere.

/** What a caller is taken for before he has spoken: fainter than nearly all. */
const UNKNOWN_DB = -36;
/** No syllable of the caller's is further below the level of what he says. */
const SYLLABLE_DB = 12;
/** Each counts for the windows after it, less by so much with each. */
const FALLS_DB = 1;
/** Nor is all that he says over the agent's voice, as loud as its last half second, once there is so much of it. */
const SPEECH_DB = 7;
const SAID_WINDOWS = 16;
const JUDGED_WINDOWS = 8;
/** Who has been silent for a second begins anew. */
const ANEW_WINDOWS = 30;
/** A turn is as loud as the last four seconds of its loudest speech. */
const OWN_WINDOWS = 125;
/** Less speech does not show how loud somebody is; while he still speaks, less than twice as much. */
const LEARNED_WINDOWS = 8;
/** Who is louder than known is believed at once. Who is fainter, by so much of the difference each turn. */
const FAINTER = 1 / 3;
/** As far as one turn of a caller is like another. */
const ALIKE_DB = 6;
/** A fainter voice that speaks on is heard when 0.2 dB a second have made up for it. */
const OPENS_DB = 0.2 * 0.032;

/** The level of sound by its mean energy, of the last windows more than of those before. */
class MeanLevel {
  readonly #most: number;
  #energy = 0;
  windows = 0;

  /** @param most windows that count */
  constructor(most: number) {
    this.#most = most;
  }

  add(levelDb: number): void {
    this.windows++;
    this.#energy += (10 ** (levelDb / 10) - this.#energy) / Math.min(this.windows, this.#most);
  }

  get db(): number {
    return 10 * Math.log10(this.#energy);
  }

  clear(): void {
    this.#energy = 0;
    this.windows = 0;
  }
}

export class CallerLevel {
  /** What was known when the agent was last silent for the first time. */
  #beforeDb = UNKNOWN_DB;
  #learned = false;
  /** The loudest speech since then that was long enough; what goes on. */
  #bestDb = Number.NEGATIVE_INFINITY;
  readonly #own = new MeanLevel(OWN_WINDOWS);
  /** The last syllable. */
  #recentDb = Number.NEGATIVE_INFINITY;
  /** The speech that goes on is said over the agent's voice. */
  #overAgent = false;
  /** How loud what is said over it is, the room's voices with it; for how long nothing was. */
  readonly #said = new MeanLevel(SAID_WINDOWS);
  #silentWindows = 0;
  #over = false;
  /** By so much a voice may be fainter than the known level lets it. */
  #openDb = 0;

  /** How loud the caller is; what is taken for it before he has spoken. */
  get db(): number {
    const own = this.#own.windows >= 2 * LEARNED_WINDOWS ? this.#own.db : Number.NEGATIVE_INFINITY;
    const bestDb = Math.max(this.#bestDb, own);
    if (bestDb === Number.NEGATIVE_INFINITY) return this.#beforeDb;
    return this.#learned ? Math.max(this.#beforeDb, bestDb) : bestDb;
  }

  /**
   * Takes the next window of 32 ms. Answers whether it is loud enough to be the caller's voice.
   * @param voiceDb the level of what sounds like speech; null: nothing does
   * @param over the agent's voice is played, or its echo may still come
   * @param goesOn speech had begun before it, and goes on
   */
  hear(voiceDb: number | null, over: boolean, goesOn: boolean): boolean {
    if (over && !this.#over) this.#agentBegins();
    this.#over = over;
    if (!goesOn) this.#ended();
    this.#recentDb -= FALLS_DB;
    if (voiceDb === null) {
      if (++this.#silentWindows >= ANEW_WINDOWS) this.#said.clear();
      return true;
    }
    this.#silentWindows = 0;
    this.#recentDb = Math.max(this.#recentDb, voiceDb);
    if (over) this.#overAgent = true;
    if (this.#overAgent) this.#said.add(voiceDb);
    if (!this.#isCaller()) {
      this.#openDb += OPENS_DB;
      return false;
    }
    if (!over && goesOn) this.#own.add(voiceDb);
    return true;
  }

  /** What goes on was no speech. */
  takeBack(): void {
    this.#own.clear();
  }

  #isCaller(): boolean {
    if (!this.#overAgent) return true;
    const db = this.db - this.#openDb;
    if (this.#recentDb < db - SYLLABLE_DB) return false;
    return this.#said.windows < JUDGED_WINDOWS || this.#said.db >= db - SPEECH_DB;
  }

  #ended(): void {
    if (this.#own.windows >= LEARNED_WINDOWS) this.#bestDb = Math.max(this.#bestDb, this.#own.db);
    this.#own.clear();
    this.#overAgent = false;
  }

  /** What was said while the agent was silent is learned from. */
  #agentBegins(): void {
    this.#ended();
    const bestDb = this.#bestDb;
    if (bestDb > Number.NEGATIVE_INFINITY) {
      const fainter = this.#learned && bestDb < this.#beforeDb;
      const alike = !fainter || bestDb >= this.#beforeDb - ALIKE_DB;
      this.#beforeDb = fainter ? this.#beforeDb + (bestDb - this.#beforeDb) * FAINTER : bestDb;
      this.#learned = true;
      this.#bestDb = Number.NEGATIVE_INFINITY;
      if (alike) this.#openDb = 0;
    }
    this.#said.clear();
  }
}
