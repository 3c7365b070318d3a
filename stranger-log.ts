// What the log says of strangers: of what somebody does who has shown no key, session or signature, the first things in a
// while are written, a line each; of the rest one line says how many there were. So nobody fills the log from outside, nor
// hides in it. All of them are counted.
import type { Log } from './log.ts';

/** How long what was written counts, and the longest that the rest waits to be told. */
const WINDOW_MS = 5 * 60_000;
/** Lines of one kind within it. */
const LINES = 20;
/** Of these, of one address. */
const LINES_OF_AN_ADDRESS = 5;

export interface Stranger {
  address: string;
  /** Many come by this address: it has no share of the lines. */
  shared: boolean;
}

/** Something that a stranger did. */
export interface StrangerAct {
  /** What the log and the metrics call it: one of few, and so is `why`. */
  event: string;
  why: string;
  level: 'info' | 'warn' | 'error';
  /** Further fields of its line. */
  fields?: Record<string, unknown>;
  /** Null where it is not known. */
  by: Stranger | null;
  /** How many there were of it at once; 1 by itself. */
  count?: number;
}

export interface StrangerLog {
  /** Counts it, and writes its line while there is room. */
  saw(act: StrangerAct): void;
  /** Tells of what was not written, and ends. Safe to call twice. */
  close(): void;
}

export interface StrangerLogOptions {
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  monotonicMs: () => number;
  /** Told of every act, written or not. */
  counted?: (event: string, count: number) => void;
  /** What a test puts in place of a timer; answers what cancels it. */
  later?: (ms: number, run: () => void) => () => void;
}

/** What was seen of one kind within a window. */
interface Seen {
  lines: number;
  /** Only of addresses that have a line: they are as few. */
  byAddress: Map<string, number>;
  unwritten: number;
  whys: Map<string, number>;
}

/** Acts are told apart by `event`; a flood of one hides no other. */
export function openStrangerLog(o: StrangerLogOptions): StrangerLog {
  const later =
    o.later ??
    ((ms, run) => {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    });
  const seen = new Map<string, Seen>();
  let since = 0;
  let cancel: (() => void) | null = null;

  function endWindow(): void {
    cancel?.();
    cancel = null;
    const seconds = Math.round((o.monotonicMs() - since) / 1000);
    for (const [event, { unwritten, whys }] of seen) {
      if (unwritten === 0) continue;
      o.log.warn(
        { of: event, count: unwritten, seconds, why: Object.fromEntries(whys) },
        'strangers.unwritten',
      );
    }
    seen.clear();
  }

  function hasRoom(one: Seen, by: Stranger | null): boolean {
    if (one.lines >= LINES) return false;
    if (by !== null && !by.shared) {
      const own = one.byAddress.get(by.address) ?? 0;
      if (own >= LINES_OF_AN_ADDRESS) return false;
      one.byAddress.set(by.address, own + 1);
    }
    one.lines++;
    return true;
  }

  return {
    saw({ event, why, level, fields, by, count = 1 }) {
      o.counted?.(event, count);
      if (cancel === null) {
        since = o.monotonicMs();
        cancel = later(WINDOW_MS, endWindow);
      }
      const one = seen.get(event) ?? { lines: 0, byAddress: new Map(), unwritten: 0, whys: new Map() };
      seen.set(event, one);
      if (!hasRoom(one, by)) {
        one.unwritten += count;
        one.whys.set(why, (one.whys.get(why) ?? 0) + count);
        return;
      }
      o.log[level](
        {
          ...fields,
          why,
          ...(by === null ? {} : { address: by.address }),
          ...(count === 1 ? {} : { count }),
        },
        event,
      );
    },
    close: endWindow,
  };
}
