// PURE. The pieces that a turn of the caller comes in, and whether they are those of dictation: several short ones of about the
// same length with about the same gap between them, as digits and letters are said one by one or in groups. Milliseconds of the
// call. What follows from it is end-of-turn.ts.

export interface Pieces {
  /** Pieces that have ended. */
  count: number;
  /** Where the last one began, and ended; null: it goes on. */
  onsetMs: number;
  endMs: number | null;
  shortestMs: number;
  longestMs: number;
  shortestGapMs: number;
  longestGapMs: number;
  /** The last one's end was drawn out. */
  drawnOut: boolean;
  /** What was known of the caller's pauses when the turn began. */
  knownPauseMs: number;
}

/** With fewer nothing is regular. */
const LEAST_PIECES = 3;
/** A group of digits is no longer. */
const MOST_PIECE_MS = 1_700;
const MOST_GAP_MS = 1_600;
/** Lengths and gaps are alike within so many times the shortest, and a little. */
const ALIKE = 2;
const ALIKE_MS = 120;

/** A turn begins. @param knownPauseMs what is known of this caller's pauses */
export function beginPieces(onsetMs: number, knownPauseMs: number): Pieces {
  return {
    count: 0,
    onsetMs,
    endMs: null,
    shortestMs: Number.POSITIVE_INFINITY,
    longestMs: 0,
    shortestGapMs: Number.POSITIVE_INFINITY,
    longestGapMs: 0,
    drawnOut: false,
    knownPauseMs,
  };
}

/** A piece has ended. */
export function endPiece(pieces: Pieces, endMs: number, drawnOut: boolean): Pieces {
  const lengthMs = endMs - pieces.onsetMs;
  return {
    ...pieces,
    count: pieces.count + 1,
    endMs,
    shortestMs: Math.min(pieces.shortestMs, lengthMs),
    longestMs: Math.max(pieces.longestMs, lengthMs),
    drawnOut,
  };
}

/** The caller goes on. */
export function nextPiece(pieces: Pieces, onsetMs: number): Pieces {
  const gapMs = pieces.endMs === null ? null : onsetMs - pieces.endMs;
  return {
    ...pieces,
    onsetMs,
    endMs: null,
    shortestGapMs: gapMs === null ? pieces.shortestGapMs : Math.min(pieces.shortestGapMs, gapMs),
    longestGapMs: gapMs === null ? pieces.longestGapMs : Math.max(pieces.longestGapMs, gapMs),
    drawnOut: false,
  };
}

const alike = (shortestMs: number, longestMs: number) => longestMs <= shortestMs * ALIKE + ALIKE_MS;

/** Whether the pieces so far are those of dictation. */
export function dictates(pieces: Pieces): boolean {
  return (
    pieces.count >= LEAST_PIECES &&
    pieces.longestMs <= MOST_PIECE_MS &&
    pieces.longestGapMs <= MOST_GAP_MS &&
    alike(pieces.shortestMs, pieces.longestMs) &&
    alike(pieces.shortestGapMs, pieces.longestGapMs)
  );
}
