// What is open, in the order of its opening: closed in reverse, all of it, whatever fails on the way. In a hurry, from the
// beginning or on the way, each part has its share of the time and no more. Knows no part.
import type { Log } from './log.ts';

export interface Part {
  name: string;
  /** `hurry` is aborted when it may take its share only. */
  close(hurry: AbortSignal): Promise<void> | void;
  /** Its share of a hurried stop. */
  shareMs: number;
}

export interface Closing {
  /** Anything opened after this is closed before it. */
  opened(part: Part): void;
  /** Closes everything; safe to call again, and then the same stop. @throws AggregateError of what failed to close */
  close(): Promise<void>;
  /** From now on, also in a stop that is under way: what does not close within its share is left behind. */
  hurry(): void;
}

/** Nothing is open yet. What fails to close, or is late, is told to `log`, and the rest is closed all the same. */
export function openClosing(log: Pick<Log, 'info' | 'warn' | 'error'>): Closing {
  const parts: Part[] = [];
  const hurry = new AbortController();
  let closing: Promise<void> | null = null;

  /** Resolves `shareMs` after the hurry began, or after now, whichever is later. */
  function shareOver(shareMs: number): { over: Promise<'late'>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<'late'>();
    let timer: NodeJS.Timeout | undefined;
    const begin = () => {
      timer = setTimeout(() => resolve('late'), shareMs);
    };
    if (hurry.signal.aborted) begin();
    else hurry.signal.addEventListener('abort', begin, { once: true });
    return {
      over: promise,
      cancel() {
        hurry.signal.removeEventListener('abort', begin);
        clearTimeout(timer);
      },
    };
  }

  async function closeOne(part: Part): Promise<'closed' | 'late'> {
    const share = shareOver(part.shareMs);
    const work = Promise.resolve().then(() => part.close(hurry.signal));
    // Left behind, it may still fail: nobody listens then.
    work.catch(() => {});
    try {
      return await Promise.race([work.then(() => 'closed' as const), share.over]);
    } finally {
      share.cancel();
    }
  }

  async function closeAll(): Promise<void> {
    const begunAt = performance.now();
    const errors: unknown[] = [];
    const late: string[] = [];
    for (const part of parts.reverse()) {
      try {
        if ((await closeOne(part)) === 'late') late.push(part.name);
      } catch (error) {
        errors.push(error);
        log.error({ part: part.name, err: error }, 'close.failed');
      }
    }
    const fields = { hurried: hurry.signal.aborted, took_ms: Math.round(performance.now() - begunAt), late };
    if (late.length > 0) log.warn(fields, 'daemon.stopped');
    else log.info(fields, 'daemon.stopped');
    if (errors.length > 0) throw new AggregateError(errors, 'The daemon did not close cleanly.');
  }

  return {
    opened: (part) => void parts.push(part),
    close() {
      closing ??= closeAll();
      return closing;
    },
    hurry: () => hurry.abort(),
  };
}
