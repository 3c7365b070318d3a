// What is known of one media stream, as plain data.
import { randomBytes } from 'node:crypto';
import { RUN_PAUSE_MS } from './wire-log.ts';

export interface Violation {
  code: number;
  message: string;
  atMs: number;
}
export interface MarkReport {
  name: string;
  receivedMs: number;
  echoedMs: number | null;
  /** played: its audio was; at_once: nothing was buffered; cleared: dropped with its audio. */
  by: 'played' | 'at_once' | 'cleared' | null;
}
export interface StreamReport {
  streamSid: string;
  url: string;
  parameters: Record<string, string>;
  tracks: string[];
  /** Times in ms since the call was created. */
  connectMs: number;
  startedMs: number | null;
  endedMs: number | null;
  end: StreamEnd | null;
  sent: { media: number; marks: number; digits: number; firstTimestamp: number | null; lost: number };
  /** The longest that the carrier itself stood still between two of its frames: a machine without time, no fault of the line. */
  standstillMs: number;
  received: { media: number; bytes: number; marks: number; clears: number; firstMediaMs: number | null };
  marks: MarkReport[];
  clears: { atMs: number; droppedBytes: number; marks: string[] }[];
  /**
   * The buffer ran dry and was filled again within a second: so long nothing was heard, behind so many bytes. A hole in the
   * agent's speech, unless what it said had ended there, as it may have where a mark stands.
   */
  gaps: { atMs: number; ms: number; atBytes: number; afterMark: boolean }[];
  /** How long after the one before media came, within a stretch of it: messages by milliseconds, the last for all above. */
  pauses: number[];
  /** Frames played short because what was sent was no multiple of 160 bytes. */
  partialFrames: number;
  playedBytes: number;
  maxBufferedMs: number;
  violations: Violation[];
}
export interface StreamEnd {
  by: 'application' | 'carrier' | 'error';
  closeCode: number | null;
  /** The carrier's error code and text, for the stream-error callback. */
  error: string | null;
}

export function newReport(
  request: { url: string; parameters: Record<string, string>; tracks: string[] },
  connectMs: number,
): StreamReport {
  return {
    streamSid: `MZ${randomBytes(16).toString('hex')}`,
    url: request.url,
    parameters: request.parameters,
    tracks: request.tracks,
    connectMs,
    startedMs: null,
    endedMs: null,
    end: null,
    sent: { media: 0, marks: 0, digits: 0, firstTimestamp: null, lost: 0 },
    standstillMs: 0,
    received: { media: 0, bytes: 0, marks: 0, clears: 0, firstMediaMs: null },
    marks: [],
    clears: [],
    gaps: [],
    pauses: Array<number>(RUN_PAUSE_MS + 1).fill(0),
    partialFrames: 0,
    playedBytes: 0,
    maxBufferedMs: 0,
    violations: [],
  };
}
