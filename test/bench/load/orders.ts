// What the bench tells its peers, and what they report.
import type { Summary } from './samples.ts';

export type CarrierOrder =
  | { do: 'open'; accountSid: string; secret: string; mediaPort: number; calls: number }
  /** Lines that need no REST: straight to a bridge. */
  | { do: 'dial'; url: string; from: number; to: number }
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

export type ModelOrder = { do: 'begin' } | { do: 'end' } | { do: 'close' };

export interface ModelReport {
  sessions: number;
  appends: number;
  frames: number;
  /** Frames missing between two of the same stretch. */
  lostFrames: number;
  answers: number;
  /** Frame sent by the carrier to its append at the model: the newest frame of each append. */
  uplink: Summary;
  /** The oldest frame of each append: with what it waited for the others. */
  uplinkOldest: Summary;
  /** Where the model detects speech itself: when it said so. */
  speechStarts: { call: number; atMs: number }[];
  greetings: { call: number; askedAtMs: number; firstDeltaAtMs: number }[];
  unknown: string[];
}
