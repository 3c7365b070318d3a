// PURE. Whether a voice over the agent's is this caller's, by how it sounds: his own is learned from what he says while the agent
// is silent. Nobody counts as another before he has spoken on for a while, and who leaves a pause after his words is believed
// sooner: a voice of the room goes on. How loud the caller is: caller-level.ts; what a voice comes to is decided elsewhere.
import { VoicePrint, type VoiceSound } from './voice-print.ts';

/** `unsure`: too little has been heard to say. `caller`: also where nothing is known of him. */
export type Whose = 'caller' | 'unsure' | 'other';

/** What is heard in a window of 32 ms, and when. */
export interface HeardVoice {
  /** What sounds like speech; null: nothing does. */
  sound: VoiceSound | null;
  levelDb: number;
  /** How loud the caller is known to be. */
  callerDb: number;
  /** Said over the agent's voice, or begun over it. */
  over: boolean;
  /** Speech had begun before it, and goes on. */
  goesOn: boolean;
}

/** A voice is known by its last 13 s of speech; by less than 0.8 s it is not. */
const OWN_WINDOWS = 400;
const KNOWN_WINDOWS = 24;
/** What is so much fainter than the caller is nothing to learn from. */
const LEARNED_WITHIN_DB = 12;
/** Before so much has been said over the agent's voice, nobody is known for the caller. */
const FIRST_WINDOWS = 14;
/** Of what is said over it the last 8 s count. */
const SAID_WINDOWS = 250;
/** The caller beyond doubt; by so much less for each dB that he is fainter than he was. */
const ALIKE = 0.5;
const FAINTER = 0.04;
/** Another beyond doubt, after a second and after two. */
const STRANGE = 2.5;
const STRANGE_WINDOWS = 31;
const UNLIKE = 1.4;
const UNLIKE_WINDOWS = 64;
/** Then it is decided: after 3 s of speech, and before the first of it is kept no longer. */
const SAME = 1;
const DECIDED_WINDOWS = 94;
const DECIDED_AFTER_WINDOWS = 104;
/** Who has made a pause may be so unlike himself. */
const PAUSED = 1.8;
/** A voice of the room that is known already is told sooner, when what is said is so much closer to it. */
const ROOM_WINDOWS = 11;
const ROOM_CLOSER = 0.7;
/** Somebody speaks over it who is so much louder than it was, in the last half second; and about as loud as the caller. */
const STANDS_OUT_DB = 4;
const STANDS_OUT_WINDOWS = 14;
const AS_LOUD_DB = 2;
/** Who is so much louder than the caller is at the telephone himself, whoever it is: voices of the room are further off. */
const NEAR_DB = 2;
/** Who has been silent for a second begins anew. Who had not said much before it was hardly a voice of the room. */
const ANEW_WINDOWS = 30;
const ROOM_GOES_ON_WINDOWS = 150;

/** The mean level of the last windows. */
class RecentLevel {
  readonly #most: number;
  #windows = 0;
  #energy = 0;

  /** @param most windows that count */
  constructor(most: number) {
    this.#most = most;
  }

  add(levelDb: number): void {
    this.#windows = Math.min(this.#windows + 1, this.#most);
    this.#energy += (10 ** (levelDb / 10) - this.#energy) / this.#windows;
  }

  get windows(): number {
    return this.#windows;
  }

  get db(): number {
    return 10 * Math.log10(this.#energy);
  }

  clear(): void {
    this.#windows = 0;
  }
}

export class CallerLikeness {
  readonly #own = new VoicePrint(OWN_WINDOWS);
  /** What is being said while the agent is silent: it is learned when it is over. */
  readonly #turn = new VoicePrint(OWN_WINDOWS);
  /** What is being said over the agent's voice, and for how long, stops and all. */
  readonly #said = new VoicePrint(SAID_WINDOWS);
  readonly #saidLevel = new RecentLevel(SAID_WINDOWS);
  readonly #recentLevel = new RecentLevel(STANDS_OUT_WINDOWS);
  #saidFor = 0;
  /** The last voice that was found to be another's. */
  readonly #room = new VoicePrint(SAID_WINDOWS);
  #roomDb = 0;
  #whose: Whose = 'caller';
  #silentWindows = 0;
  #over = false;

  /** Takes the next window. Answers whose voice it is, as far as is known. */
  hear({ sound, levelDb, callerDb, over, goesOn }: HeardVoice): Whose {
    if (over && !this.#over) this.#anew();
    if (over || !goesOn) this.#learn();
    this.#over = over;
    if (this.#said.windows > 0) this.#saidFor++;
    if (sound === null) {
      if (++this.#silentWindows === ANEW_WINDOWS) this.#pause();
      return over ? this.#whose : 'caller';
    }
    this.#silentWindows = 0;
    if (!over) {
      if (goesOn && levelDb >= callerDb - LEARNED_WITHIN_DB) this.#turn.add(sound);
      return 'caller';
    }
    this.#said.add(sound);
    this.#saidLevel.add(levelDb);
    this.#recentLevel.add(levelDb);
    this.#whose = this.#judge(callerDb);
    return this.#whose;
  }

  /** Who is unsure has made a pause after his words. Answers whether they may be the caller's. */
  mayHavePaused(): boolean {
    return this.#own.windows < KNOWN_WINDOWS || this.#own.unlike(this.#said) < PAUSED;
  }

  /** What was said while the agent was silent was no speech. */
  takeBack(): void {
    this.#turn.clear();
  }

  #anew(): void {
    this.#said.clear();
    this.#saidLevel.clear();
    this.#recentLevel.clear();
    this.#saidFor = 0;
    this.#whose = this.#own.windows < KNOWN_WINDOWS ? 'caller' : 'unsure';
  }

  #pause(): void {
    if (this.#whose === 'other' && this.#said.windows < ROOM_GOES_ON_WINDOWS) this.#room.clear();
    this.#anew();
  }

  /** What was said is the caller's, unless it is a voice that was found to be of the room. */
  #learn(): void {
    const turn = this.#turn;
    if (turn.windows === 0) return;
    const known = this.#own.windows >= KNOWN_WINDOWS && this.#room.windows > 0;
    if (!known || turn.windows < ROOM_WINDOWS || this.#room.unlike(turn) >= this.#own.unlike(turn))
      this.#own.join(turn);
    turn.clear();
  }

  #judge(callerDb: number): Whose {
    const said = this.#said;
    const { windows } = said;
    if (this.#whose === 'caller') return 'caller';
    if (windows >= FIRST_WINDOWS && this.#saidLevel.db >= callerDb + NEAR_DB) return 'caller';
    if (this.#whose === 'other') return this.#goesOn();
    const unlike = this.#own.unlike(said);
    if (windows >= ROOM_WINDOWS && this.#room.windows > 0) {
      const standsOut = this.#recentLevel.db >= this.#roomDb + STANDS_OUT_DB;
      if (!standsOut && this.#room.unlike(said) < ROOM_CLOSER * unlike) return 'other';
      if (standsOut && windows >= FIRST_WINDOWS && this.#recentLevel.db > callerDb - AS_LOUD_DB)
        return 'caller';
    }
    // Of whom the noise leaves so little to judge by, nothing ill is thought.
    if (windows < FIRST_WINDOWS) return this.#saidLevel.windows < DECIDED_WINDOWS ? 'unsure' : 'caller';
    const fainter = FAINTER * Math.max(0, callerDb - this.#saidLevel.db);
    if (unlike <= ALIKE - fainter) return 'caller';
    if (windows >= DECIDED_WINDOWS || this.#saidFor >= DECIDED_AFTER_WINDOWS)
      return unlike <= SAME - fainter ? 'caller' : 'other';
    if (windows >= UNLIKE_WINDOWS && unlike > UNLIKE) return 'other';
    return windows >= STRANGE_WINDOWS && unlike > STRANGE ? 'other' : 'unsure';
  }

  /** Another's voice goes on, until somebody stands out of it. */
  #goesOn(): Whose {
    this.#room.copy(this.#said);
    this.#roomDb = this.#saidLevel.db;
    if (this.#recentLevel.db < this.#roomDb + STANDS_OUT_DB) return 'other';
    this.#anew();
    return this.#whose;
  }
}
