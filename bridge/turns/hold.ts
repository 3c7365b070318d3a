// PURE. The hold of the agent's voice: what sound begins one, how deep it is, what it waits for, and what it comes to.
// Milliseconds throughout. A hold is reversible: the voice goes on in a low tone, *ducked*; sound that lasts has it *paused*,
// the carrier is given nothing more; and the model knows of nothing until the hold is confirmed. What follows
// for the floor is agent-turn.ts.
import type { Voice } from './voice.ts';

export interface HoldRules {
  /** Speech this long over the agent's voice means to be heard. A word of assent ("mhm", "uh-huh", "okay") is shorter. */
  confirmMs: number;
  /** And so much of that time it is heard: a cough is bursts with nothing between them. */
  soundingMs: number;
  /** Speech that has sounded so long pauses the voice, whatever it sounds like. */
  pauseMs: number;
  /** And speech that goes on so long after its first sound, with a stop in it. */
  pauseTogetherMs: number;
  /** Both later with a caller whose words of assent are long: so much longer than those it must be. */
  pauseOverAssentMs: number;
  /** A stop so long may be the end of a word: what was said is asked for then. */
  wordEndMs: number;
  /** Silence after shorter speech that lets the agent go on: more words may follow a short one, and it does not rise between. */
  quietMs: number;
  /** Sound that was no speech and lasted so long may have been the beginning of a faint word: so much longer is waited. */
  fadeMs: number;
  /** Speech so long in several pieces means to be heard as well. */
  confirmTogetherMs: number;
  /** Pieces of speech no further apart than this belong together. */
  togetherMs: number;
  /** Words that old are not given to the model any more. */
  oldestMs: number;
  /** A short word that ended so shortly before the agent's last one is an answer to it. */
  answerMs: number;
  /** Longest that the agent's voice is ducked or paused for one sound. */
  holdLimitMs: number;
  /** Whoever goes on so early into the answer had not finished his turn: any speech takes it back. */
  takeBackMs: number;
}

export const HOLD_RULES: HoldRules = {
  confirmMs: 720,
  soundingMs: 600,
  pauseMs: 480,
  pauseTogetherMs: 520,
  pauseOverAssentMs: 160,
  wordEndMs: 150,
  quietMs: 440,
  fadeMs: 130,
  confirmTogetherMs: 900,
  togetherMs: 1_000,
  oldestMs: 3_000,
  answerMs: 1_200,
  holdLimitMs: 6_000,
  takeBackMs: 600,
};

/** How the agent's voice is held: it goes on in a low tone, or not at all. */
export type Depth = 'ducked' | 'paused';

/** The agent's voice is held, for sound that goes on since `since` and began at `onsetMs`. */
export interface Hold {
  /** When the voice was held first, and the onset for which it was. */
  heldMs: number;
  heldForMs: number;
  /** Since when it is paused; null: it is only ducked. */
  pausedSince: number | null;
  since: number;
  onsetMs: number;
  /** Where the last word in it ended. */
  endMs: number | null;
  /** How much of the time since the onset nothing was heard. */
  stoppedMs: number;
  /** The word that seems to have ended, by its beginning: nobody was asked for it, or it is known, or the model was given it. */
  word:
    | { onsetMs: number; is: 'unasked' | 'known' }
    | { onsetMs: number; is: 'given'; untilMs: number }
    | null;
}

/** Speech over the agent's voice that was over too soon to stop it: from the first onset to the last end. */
export interface Burst {
  onsetMs: number;
  endMs: number;
  spokenMs: number;
  /** The model was given it by itself. */
  given?: boolean;
}

const follows = (onsetMs: number, burst: Burst | null, rules: HoldRules): burst is Burst =>
  burst !== null && onsetMs - burst.endMs <= rules.togetherMs;

/** Whether speech that goes on since `onsetMs` means to be heard; `stoppedMs` of the time nothing was. */
export function confirms(
  { onsetMs, stoppedMs }: Pick<Hold, 'onsetMs' | 'stoppedMs'>,
  burst: Burst | null,
  rules: HoldRules,
  now: number,
): boolean {
  const spokenMs = now - onsetMs;
  if (spokenMs >= rules.confirmMs && spokenMs - stoppedMs >= rules.soundingMs) return true;
  return follows(onsetMs, burst, rules) && burst.spokenMs + spokenMs >= rules.confirmTogetherMs;
}

/**
 * Whether speech that goes on since `onsetMs` is too long for the voice to go on beneath it: a word of assent is in one piece.
 * @param assentMs what is known of this caller's
 */
function pauses(
  hold: Hold,
  { onsetMs, stoppedMs }: Pick<Hold, 'onsetMs' | 'stoppedMs'>,
  assentMs: number,
  rules: HoldRules,
  now: number,
) {
  const laterMs = Math.max(0, assentMs + rules.pauseOverAssentMs - rules.pauseMs);
  if (now - onsetMs - stoppedMs >= rules.pauseMs + laterMs) return true;
  const inPieces = onsetMs !== hold.heldForMs || stoppedMs > 0;
  return inPieces && now - hold.heldForMs >= rules.pauseTogetherMs + laterMs;
}

/** A shorter sound is no word. */
const LEAST_ASSENT_MS = 150;

/** What is known of a caller's words of assent after a hold that came to nothing: rises with a longer one at once, falls slowly. */
export function learnAssent(knownMs: number, { onsetMs, endMs, stoppedMs }: Hold): number {
  const spokenMs = (endMs ?? 0) - onsetMs - stoppedMs;
  if (spokenMs < LEAST_ASSENT_MS) return knownMs;
  return Math.round(spokenMs > knownMs ? spokenMs : knownMs * 0.8 + spokenMs * 0.2);
}

/** Where the words begin that the model is given: with the pieces just before, as far as it was not given them. */
export function firstOnset(hold: Pick<Hold, 'onsetMs'>, burst: Burst | null, rules: HoldRules): number {
  if (!follows(hold.onsetMs, burst, rules) || burst.given === true) return hold.onsetMs;
  return hold.onsetMs - burst.onsetMs <= rules.oldestMs ? burst.onsetMs : hold.onsetMs;
}

/** The burst that a hold comes to when its speech ends; joined with the one before where they belong together. */
export function burstOf(
  hold: Pick<Hold, 'onsetMs'>,
  endMs: number,
  before: Burst | null,
  rules: HoldRules,
): Burst {
  const spokenMs = Math.max(0, endMs - hold.onsetMs);
  if (!follows(hold.onsetMs, before, rules)) return { onsetMs: hold.onsetMs, endMs, spokenMs };
  return {
    onsetMs: firstOnset(hold, before, rules),
    endMs,
    spokenMs: before.spokenMs + spokenMs,
  };
}

/** A voice that a word has paused waits for what was said, as long as that usually takes. */
const awaitsWord = ({ pausedSince, word }: Hold, now: number): boolean =>
  pausedSince !== null && word?.is === 'given' && now < word.untilMs;

/** The hold that begins as the caller's voice is heard over the agent's; null for no sound that could be speech. */
export function beginHold(voice: Voice, burst: Burst | null, rules: HoldRules, now: number): Hold | null {
  if (voice.is !== 'starting' && voice.is !== 'speaking') return null;
  return {
    heldMs: now,
    heldForMs: firstOnset(voice, burst, rules),
    pausedSince: null,
    since: now,
    onsetMs: voice.onsetMs,
    endMs: null,
    stoppedMs: 0,
    word: null,
  };
}

/** The hold as one in which the voice does not go on; the same object where it did not before. */
export function pausedHold(hold: Hold, now: number): Hold {
  return hold.pausedSince === null ? { ...hold, pausedSince: now } : hold;
}

/** The hold after a change of the voice from `before`, the same object where it makes none; null: it was no speech. */
export function changeHold(
  hold: Hold,
  before: Voice,
  voice: Voice,
  rules: HoldRules,
  now: number,
): Hold | null {
  // After a short word, more of them: the hold goes on for these.
  if (voice.is === 'starting' && hold.endMs !== null)
    return { ...hold, since: now, onsetMs: voice.onsetMs, stoppedMs: 0, word: null };
  if (voice.is === 'speaking' && voice.stoppedMs !== hold.stoppedMs)
    return { ...hold, stoppedMs: voice.stoppedMs, word: null };
  // No speech, as far as is known; after a word just before, its silence is waited for. The end of speech comes by itself.
  if (voice.is !== 'quiet' || before.is !== 'starting' || hold.endMs !== null) return hold;
  if (now - hold.onsetMs < rules.fadeMs) return null;
  return { ...hold, endMs: now - rules.quietMs + rules.fadeMs };
}

/**
 * What becomes of a hold as time passes: `confirmed`, the caller means to be heard; `lasts`, a ducked voice is paused;
 * `word`, one seems to have ended; `nothing`, the agent goes on; `stuck`, it goes on as well, because the sound will not end.
 * @param listenedMs up to when the caller counts as listened to
 * @param assentMs what is known of this caller's words of assent, 0: nothing
 */
export function judgeHold(
  hold: Hold,
  o: { voice: Voice; burst: Burst | null; assentMs: number; listenedMs: number; now: number },
  rules: HoldRules,
): 'waits' | 'confirmed' | 'lasts' | 'word' | 'nothing' | 'stuck' {
  const { voice, listenedMs } = o;
  if (voice.is === 'speaking' && voice.unsure !== true && confirms(voice, o.burst, rules, listenedMs))
    return 'confirmed';
  if (o.now - hold.heldMs >= rules.holdLimitMs) return 'stuck';
  if (voice.is === 'quiet') {
    const over = hold.endMs !== null && listenedMs - hold.endMs >= rules.quietMs;
    return over && !awaitsWord(hold, o.now) ? 'nothing' : 'waits';
  }
  if (voice.is === 'stopping')
    return hold.word === null && listenedMs - voice.quietMs >= rules.wordEndMs ? 'word' : 'waits';
  if (voice.is === 'speaking' && hold.pausedSince === null)
    return pauses(hold, voice, o.assentMs, rules, listenedMs) ? 'lasts' : 'waits';
  // Neither speech nor silence: nobody waits for it.
  return voice.is === 'starting' && listenedMs - hold.since >= rules.confirmMs ? 'nothing' : 'waits';
}
