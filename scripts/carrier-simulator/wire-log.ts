// PURE. The messages of a stream without their payloads; a run of media messages is one entry.

export interface WireEntry {
  /** ms since the call was created */
  atMs: number;
  direction: 'to_application' | 'from_application';
  event: string;
  [detail: string]: unknown;
}
interface MediaEntry extends WireEntry {
  event: 'media';
  untilMs: number;
  count: number;
  bytes: number;
  firstSequenceNumber?: number;
  lastSequenceNumber?: number;
  firstTimestamp?: number;
  lastTimestamp?: number;
  /** Longest time between two messages of the run. */
  longestPauseMs: number;
}

/** A pause in media longer than this begins a new entry. */
export const RUN_PAUSE_MS = 250;
/** A script gone wild shall not fill the memory. */
const MOST_ENTRIES = 100_000;

export interface WireLog {
  entries: WireEntry[];
  add(direction: WireEntry['direction'], event: string, detail: Record<string, unknown>): void;
  addMedia(
    direction: WireEntry['direction'],
    bytes: number,
    sequence: number | null,
    timestamp: number | null,
  ): void;
}

export function createWireLog(nowMs: () => number): WireLog {
  const entries: WireEntry[] = [];
  const runs: Record<WireEntry['direction'], MediaEntry | null> = {
    to_application: null,
    from_application: null,
  };
  const push = (entry: WireEntry) => {
    if (entries.length < MOST_ENTRIES) entries.push(entry);
  };
  return {
    entries,
    add(direction, event, detail) {
      runs[direction] = null;
      push({ ...detail, atMs: nowMs(), direction, event });
    },
    addMedia(direction, bytes, sequence, timestamp) {
      const now = nowMs();
      let run = runs[direction];
      if (!run || now - run.untilMs > RUN_PAUSE_MS) {
        run = { atMs: now, untilMs: now, direction, event: 'media', count: 0, bytes: 0, longestPauseMs: 0 };
        if (sequence !== null) run.firstSequenceNumber = sequence;
        if (timestamp !== null) run.firstTimestamp = timestamp;
        runs[direction] = run;
        push(run);
      }
      run.longestPauseMs = Math.max(run.longestPauseMs, now - run.untilMs);
      run.untilMs = now;
      run.count += 1;
      run.bytes += bytes;
      if (sequence !== null) run.lastSequenceNumber = sequence;
      if (timestamp !== null) run.lastTimestamp = timestamp;
    },
  };
}
