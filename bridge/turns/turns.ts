// What the floor is about: phases, events, effects, rules and their figures, and the smallest steps. PURE.
// What an event does to the floor is turn-state.ts.

import type { EndReason, FloorHolder, MachineVerdict } from '../protocol/messages.ts';
import type { CutOff } from './cut-off.ts';
import { beginPieces, type Pieces } from './dictation.ts';
import { EARLY_RULES, type EarlyRules } from './early-pause.ts';
import { PAUSE_RULES, type PauseRules } from './end-of-turn.ts';
import { type Burst, HOLD_RULES, type Hold, type HoldRules } from './hold.ts';
import { QUIET_VOICE, type Voice } from './voice.ts';
import type { WordsMean } from './word-meaning.ts';

export interface TurnRules extends HoldRules, PauseRules, EarlyRules {
  /** Silence of the other side, from heard time, until the agent asks. */
  idleMs: number;
  /** Prompts to a silent caller before the call ends. */
  idlePrompts: number;
  /** The words of a burst that come later than this stop nothing: what they were said into is long past. */
  wordWithinMs: number;
  /** No audio this long after an answer was asked for: it is asked for again, once. */
  retryAfterMs: number;
  /** Still none: the caller is told to wait a moment, by a request that leaves no room for thought. */
  momentAfterMs: number;
  /** No audio this long after the first request: the model counts as silent and the call ends. */
  giveUpAfterMs: number;
  /** A tool that runs so long without a word of the agent's: the caller is told to wait a moment. */
  fillerAfterMs: number;
  /** Longest that a tool is waited for without anything else happening: then the model is told that it did not answer. */
  toolLimitMs: number;
  /** How often in a row a caller is told to wait a moment for an answer that does not come. */
  mostMoments: number;
  /** The model is not there this long after the stream is. */
  openingLimitMs: number;
  /** Speech without a pause that lasts so long is taken for a whole turn: what music on hold and a monologue have in common. */
  monologueMs: number;
  /** Sound of the agent that neither grows nor is heard for so long is lost. Carriers and models are given up earlier. */
  stuckMs: number;
  /** Keys pressed within this time belong together. */
  digitPauseMs: number;
  /** Continuous speech from the answer on that few people say by way of hello: a machine may be talking. */
  machineSpeechMs: number;
  /** A machine's greeting begins within this time of the answer. */
  patienceMs: number;
  /** Who went on over the first answer as a greeting does, and is then silent this long, waits for one: most machines have beeped. */
  suspectQuietMs: number;
  /** A turn that the line broke in is over after so long: nobody goes on with it as if nothing had been. */
  gapTurnMs: number;
  /** A gap of the line so long is spoken of, where nobody has anything else to say. */
  gapToldMs: number;
  /** After a message that somebody spoke over: how long the line is kept for a person. */
  lingerMs: number;
  /** How long a voicemail greeting may go on until the message is spoken anyway. */
  greetingLimitMs: number;
}

export const TURN_RULES: TurnRules = {
  ...HOLD_RULES,
  ...PAUSE_RULES,
  ...EARLY_RULES,
  idleMs: 12_000,
  idlePrompts: 2,
  wordWithinMs: 3_000,
  retryAfterMs: 5_000,
  momentAfterMs: 10_000,
  giveUpAfterMs: 18_000,
  fillerAfterMs: 4_000,
  toolLimitMs: 60_000,
  mostMoments: 2,
  openingLimitMs: 20_000,
  monologueMs: 180_000,
  stuckMs: 20_000,
  digitPauseMs: 1_500,
  machineSpeechMs: 3_200,
  patienceMs: 4_000,
  suspectQuietMs: 2_000,
  gapTurnMs: 1_000,
  gapToldMs: 3_000,
  lingerMs: 3_000,
  greetingLimitMs: 40_000,
};

export type Plan = 'none' | 'hangup' | 'leave_message';

export type Phase =
  /** The stream or the model is not there yet. `since`: the stream is; null: it is not, and its coming is watched elsewhere. */
  | { at: 'opening'; since: number | null }
  /** Nobody speaks, since `since`; `prompts` counts how often the agent has asked into the silence. */
  | { at: 'open'; since: number; prompts: number }
  /**
   * The caller speaks, or has paused (`silentSince`) for less than the end-of-turn silence. `asked`: the model was asked when
   * he did, and its answer is kept back.
   */
  | { at: 'caller'; since: number; silentSince: number | null; asked?: true }
  /**
   * The line that is said before all else is being spoken; nothing interrupts it. `asked`: since when it is waited for, null: it
   * is on its way; `tries`: how often it was asked for; `forMessage`: to a machine, before the message. `over`: what is said
   * over it, from its first onset; `typed`: something was typed meanwhile.
   */
  | {
      at: 'disclosing';
      asked: number | null;
      tries: number;
      forMessage: boolean;
      over: { since: number; silentSince: number | null } | null;
      typed: boolean;
    }
  /** The model was asked and nothing is to be heard yet. */
  | { at: 'thinking'; since: number; retried: boolean; prompts: number }
  /** The agent's voice is on its way or being heard, since `since`; `hold`: it is ducked or paused, somebody seems to speak. */
  | { at: 'agent'; since: number; prompts: number; hold: Hold | null }
  /** A greeting seems to go on over its answer: the agent holds its tongue for the beep. `listening`: it has gone on talking. */
  | { at: 'suspecting'; since: number; listening: boolean }
  /** A machine's greeting runs; the message waits for its end. */
  | { at: 'waiting-for-beep'; since: number }
  /**
   * The last words are being spoken; nothing interrupts them. `asked`: when they were asked of the model; `spokenOver`: somebody
   * spoke while the voicemail message was being left.
   */
  | { at: 'closing'; asked: number | null; reason: TalkEnd; spokenOver: boolean }
  /** The message is left, and somebody spoke meanwhile: a person who picks up the phone speaks again. */
  | { at: 'lingering'; since: number }
  /** The line has left this talk, for key tones or another party; it may come back with another stream. */
  | { at: 'away' }
  | { at: 'over' };

/** What is known of a call's turns. What follows from the phase is asked of it (`holdOf`, `listens`) and not kept beside it. */
export interface TurnState {
  phase: Phase;
  /** The carrier's stream is there; it may go and come back in any phase. */
  streaming: boolean;
  /** Since when the stream is gone in the middle of the talk; null: it is there, is not there yet, or has left for a while. */
  goneSince: number | null;
  /** When the stream came that followed on a gap; 0 before the first. */
  backAt: number;
  /** The model is there: in `opening` the talk waits for it, and without it no last words can be asked for. */
  modelReady: boolean;
  /** The agent speaks first. */
  greets: boolean;
  /** A line is to be said before all else, was said on this call, or there is `none`. */
  disclosure: 'none' | 'due' | 'said';
  /** How the call was left by who had it before; null: it begins here. */
  cutOff: CutOff | null;
  plan: Plan;
  /**
   * Who is there. `silent`: nobody has spoken yet; `pending`: somebody has; `suspected`: with first words as long as a machine's;
   * `human`: also where nobody asks (plan `none`).
   */
  verdict: 'silent' | 'pending' | 'suspected' | 'human' | 'machine';
  /** What became of the caller's last turn: its answer is `due`, or was `heard` to its end; `none` before the first. */
  answer: 'none' | 'due' | 'heard';
  /** Turns of the caller that answered something heard: what tells a dialogue from a greeting played to nobody. */
  exchanges: number;
  /** Keys pressed that may be followed by more. */
  keys: { digits: string; lastAt: number } | null;
  /** What the caller's voice does now. */
  voice: Voice;
  /** Short speech over the agent's voice that did not stop it, and may yet turn out to be the beginning of more. */
  burst: Burst | null;
  /** How long this caller's pauses are, in milliseconds; 0 before the first. */
  pauseMs: number;
  /** How long what this caller says over the agent's voice is that means: go on; 0 before the first. */
  assentMs: number;
  /** Answers begun early that were thrown away in a row, as far as they make us wary. */
  thrown: number;
  /** What the caller's last turn, or the one that goes on, has come in. */
  pieces: Pieces;
  /** When the last turn's words were over; 0 before the first. */
  spokeUntil: number;
  /** The caller was told to wait a moment: his answer is still to come. */
  owes: boolean;
  /** How often in a row he was. */
  moments: number;
  /** The caller was told to wait for the tools that run. */
  filled: boolean;
}

export type TurnEvent =
  | { type: 'stream-started' }
  /** The carrier's stream has gone, on purpose (key tones) or not; another one may follow. */
  | { type: 'stream-paused' }
  | { type: 'model-ready'; renewed: boolean }
  /** The voice has changed. Comes before `speech-started` and `speech-ended`, which are the same in terms of speech. */
  | { type: 'voice'; voice: Voice }
  | { type: 'speech-started'; onsetMs: number }
  /** `drawnOut`: its last sound was. */
  | { type: 'speech-ended'; endMs: number; drawnOut?: boolean }
  /** Instead of its end: what started then was the line's noise. */
  | { type: 'speech-taken-back'; onsetMs: number }
  /** The first audio of a response is there. */
  | { type: 'agent-audio' }
  /** Everything received has been heard. `busy`: a response still runs or waits, or a tool does. */
  | { type: 'all-heard'; busy: boolean }
  /** A response has ended. `pending`: audio is still to be heard; `busy` as above. */
  | { type: 'response-done'; pending: boolean; busy: boolean; spoke: boolean }
  | { type: 'tools-answered' }
  /** What was committed was too short to be a turn. */
  | { type: 'nothing-said' }
  /** The burst that began then was given to the model by itself; its words are there by `untilMs`, if they take no longer than usual. */
  | { type: 'word-given'; onsetMs: number; untilMs: number }
  /** Its words have come. */
  | { type: 'word-known'; means: WordsMean; onsetMs: number; endMs: number; givenMs: number }
  | { type: 'digit'; digit: string }
  /** Words typed by the other side. */
  | { type: 'typed'; text: string }
  | { type: 'machine-detection'; verdict: MachineVerdict }
  | { type: 'beep' }
  /** The agent wants to end the call. `pending`: audio is still to be heard or to come. */
  | { type: 'end-requested'; reason: TalkEnd; pending: boolean }
  /** The operator or a limit wants the call to end after a spoken line, or at once. */
  | { type: 'finish'; reason: TalkEnd; say: string | null }
  /**
   * `tools`: some run. `due`: some sound of the agent is still to be heard or may come. For how long nothing was: `stillMs`
   * of the agent, neither received nor heard; `quietMs` of either side. `heardMs`: up to when the caller was listened to;
   * not given, or given as now: to all that is to come. `asked`: what was heard of the agent last asks for what is dictated.
   * `told`: all that was said of the line that comes before all else was heard.
   */
  | {
      type: 'tick';
      tools?: boolean;
      due?: boolean;
      stillMs?: number;
      quietMs?: number;
      heardMs?: number;
      asked?: boolean;
      told?: boolean;
    };

export type TurnEffect =
  /** Give the model the caller's audio from this moment (pre-roll) on. */
  | { do: 'listen'; fromMs: number }
  /** Forget what was given since the last turn. */
  | { do: 'forget' }
  /** The caller's turn is over: commit it; `respond` asks for the answer. */
  | { do: 'commit'; respond: boolean; speechEndMs: number }
  /** A burst over the agent's voice has ended, as it seems: its words may tell what it was. */
  | { do: 'weigh'; onsetMs: number; endMs: number }
  /** What the model was given by itself is to be answered; `brokeIn`: it stopped the agent. */
  | { do: 'answer'; speechEndMs: number; brokeIn: boolean }
  /** He has paused: commit what he has said and ask for the answer, which is kept back; he is listened to all the while. */
  | { do: 'ask-early' }
  /** Instead of `commit`, where his turn was over then: let the answer go that is kept back; forget what was given since. */
  | { do: 'release'; speechEndMs: number }
  /** His turn was not over then: as if the model had not been asked. */
  | { do: 'throw-away' }
  /**
   * The agent's voice is held no more and goes on with the next sample; the model knows of nothing. `heldMs`: since when it
   * was, ducked at first, for speech that began at `onsetMs`; `pausedMs`: since when it was paused, null: never. That it is
   * held, and how, is told by the state alone.
   */
  | { do: 'resume'; onsetMs: number; heldMs: number; pausedMs: number | null }
  /**
   * Silence the agent: clear the carrier, cancel, cut what was not heard. `onsetMs`: of the speech that did it;
   * `heldMs`, `pausedMs`: since when its voice was held and paused before.
   */
  | { do: 'interrupt'; onsetMs?: number; heldMs?: number; pausedMs?: number | null }
  /** Ask for a response without a turn of the caller before it. */
  | {
      do: 'speak';
      what:
        | 'greeting'
        | 'cut-off'
        | 'owed'
        | 'idle'
        | 'voicemail'
        | 'retry'
        | 'continue'
        | 'moment'
        | 'filler'
        | 'line-back';
      /** For `idle`: silences in a row, from 1. */
      silences?: number;
    }
  /** Have the agent say the line that comes before all else; again, where it was asked for before. */
  | { do: 'disclose' }
  /** Have the agent say this line. */
  | { do: 'say'; text: string }
  /** Keys pressed; `respond` asks for the answer. */
  | { do: 'digits'; digits: string; respond: boolean }
  /** The tools that run are waited for no longer: the model is told so. */
  | { do: 'give-up-tools' }
  /** What had to be ended because it did not end by itself: for the log. */
  | { do: 'report'; stuck: Phase['at'] | 'hold' | 'tools' }
  /** The typed words are the caller's; `respond` asks for the answer. */
  | { do: 'typed'; text: string; respond: boolean }
  | { do: 'floor'; floor: FloorHolder }
  | { do: 'finish'; reason: TalkEnd };

export interface TurnStep {
  state: TurnState;
  effects: TurnEffect[];
}

/** The state before anything has happened. */
export function openTurns(o: {
  greets: boolean;
  plan: Plan;
  cutOff?: CutOff | null;
  discloses?: boolean;
}): TurnState {
  return {
    phase: { at: 'opening', since: null },
    streaming: false,
    goneSince: null,
    backAt: 0,
    modelReady: false,
    greets: o.greets,
    disclosure: o.discloses === true ? 'due' : 'none',
    cutOff: o.cutOff ?? null,
    plan: o.plan,
    verdict: o.plan === 'none' ? 'human' : 'silent',
    answer: 'none',
    exchanges: 0,
    keys: null,
    voice: QUIET_VOICE,
    burst: null,
    pauseMs: 0,
    assentMs: 0,
    thrown: 0,
    pieces: beginPieces(0, 0),
    spokeUntil: 0,
    owes: false,
    moments: 0,
    filled: false,
  };
}

/** The hold of the agent's voice: while there is one, the carrier is given it in a low tone, or no more of it. */
export const holdOf = ({ phase }: TurnState): Hold | null => (phase.at === 'agent' ? phase.hold : null);

/** The caller's speech is being given to the model. */
export const listens = ({ phase }: TurnState): boolean =>
  phase.at === 'caller' ||
  (phase.at === 'suspecting' && phase.listening) ||
  (phase.at === 'disclosing' && phase.over !== null && !phase.forMessage);

/** The carrier has the other side on the line, with a stream or until the next one comes. */
export const isOnLine = ({ streaming, goneSince }: TurnState): boolean => streaming || goneSince !== null;

/** Somebody has spoken. */
export const spoken = (state: TurnState): TurnState =>
  state.verdict === 'silent' ? { ...state, verdict: 'pending' } : state;

export const NO_EFFECTS: TurnEffect[] = [];

/** The event changed what is known, and nothing else. */
export const known = (state: TurnState): TurnStep => ({ state, effects: NO_EFFECTS });

export function to(state: TurnState, phase: Phase, effects: TurnEffect[] = NO_EFFECTS): TurnStep {
  return { state: { ...state, phase }, effects };
}

/** Nobody speaks from now on. */
export const open = (now: number, prompts = 0): Phase => ({ at: 'open', since: now, prompts });

/** The model has just been asked. */
export const thinking = (now: number, prompts = 0): Phase => ({
  at: 'thinking',
  since: now,
  retried: false,
  prompts,
});

/** The line that comes before all else: just asked for. @param forMessage to a machine that records */
export const disclosing = (now: number, forMessage = false): Extract<Phase, { at: 'disclosing' }> => ({
  at: 'disclosing',
  asked: now,
  tries: 1,
  forMessage,
  over: null,
  typed: false,
});

/** The last words: just asked for at `asked`; null: they are on their way. */
export const closing = (asked: number | null, reason: TalkEnd): Phase => ({
  at: 'closing',
  asked,
  reason,
  spokenOver: false,
});

/** Why a talk ends or, for key tones, leaves its line. */
export type TalkEnd = EndReason | 'digits';

/** Ends that the line can come back from. */
const LEAVES: ReadonlySet<TalkEnd> = new Set(['transferred', 'digits']);

/**
 * Everything said was heard: the talk ends, or leaves the line for a while. A line that is gone is left when it is back: what
 * brings it back would take it from where it went.
 */
export function finish(state: TurnState, reason: TalkEnd): TurnStep {
  if (LEAVES.has(reason) && state.goneSince !== null) return to(state, closing(null, reason));
  return to(state, { at: LEAVES.has(reason) ? 'away' : 'over' }, [{ do: 'finish', reason }]);
}
