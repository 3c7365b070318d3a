// What the bench tells its peers, and what they report.
import type { Summary } from './samples.ts';

export type CarrierOrder =
  | { do: 'open'; accountSid: string; secret: string; mediaPort: number }
  /** Lines that need no REST: straight to a bridge. */
  | { do: 'dial'; url: string; from: number; to: number }
  /** Short questions in place of the loop, or the loop again. */
  | { do: 'hurry'; on: boolean }
  | { do: 'begin' }
  | { do: 'end' }
  | { do: 'count' }
  | { do: 'close' };

export interface CarrierReport {
  open: number;
  failures: string[];
  sentFrames: number;
  receivedMessages: number;
  /** How late the generator itself was: beyond a few milliseconds it measures itself. */
  lateSends: Summary;
  /** Answers that were not cut and did not come whole. */
  shortAnswers: number;
  wholeAnswers: number;
  missedBargeIns: number;
  /** Delta sent by the model to its first sound at the carrier. */
  firstAudio: Summary;
  /** How long the line had nothing to play in the middle of an answer, by message. */
  lateness: Summary;
  /** First frame of an interruption to the clear. */
  reaction: Summary;
  /** First frame of an interruption to the agent's last sound. */
  audibleReaction: Summary;
  clears: { call: number; atMs: number }[];
  starts: { call: number; startedAtMs: number; firstMediaAtMs: number }[];
}

export type ModelOrder =
  /** Short answers, or long ones again. */
  { do: 'hurry'; on: boolean } | { do: 'turns' } | { do: 'begin' } | { do: 'end' } | { do: 'close' };

/** Turns of callers that a session has had: the middle one of all sessions. */
export interface TurnsReport {
  middle: number;
}

export interface ModelReport {
  sessions: number;
  appends: number;
  frames: number;
  /** Frames missing between two of the same stretch. */
  lostFrames: number;
  answers: number;
  /** Turns of callers since the session began: the middle one of all sessions. */
  turns: number;
  /** Frame sent by the carrier to its append at the model. The newest frame of each append: what the way takes. */
  newestFrame: Summary;
  /** Every frame of those appends: with what it waited for the others of its append. */
  everyFrame: Summary;
  /** The frames left out of both, late by design: those of a turn's first append (the pre-roll) and the rest that goes with a commit. */
  heldFrame: Summary;
  /** How late the model itself was to look at what is due: beyond a few milliseconds what it hears seems late as well. */
  lateTicks: Summary;
  /** Where the model detects speech itself: when it said so. */
  speechStarts: { call: number; atMs: number }[];
  greetings: { call: number; askedAtMs: number; firstDeltaAtMs: number }[];
  unknown: string[];
}
