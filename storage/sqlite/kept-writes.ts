// What has happened and the disk would not take: kept in memory in its order, and written again until it is stored.
// Calls are few and each has few steps, so that these are all kept; words and times of calls only up to a bound.
import Database from 'better-sqlite3';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';

const AGAIN_MS = 200;
/** A file that is busy is waited for inside SQLite, on this thread: not as often. */
const AGAIN_BUSY_MS = 2_000;
/** What is written again holds the thread no longer than this at a time. */
const SLICE_MS = 20;
/** Characters of words and times; beyond, newer ones are refused, and whoever brings them says so. */
const MAX_LENGTH = 32 * 1024 * 1024;
/** What an entry takes besides its text. */
const ENTRY_LENGTH = 500;

export interface KeptWrite {
  callId: string | null;
  /** One transaction. Whatever it throws but a fault of the disk takes nothing else with it. */
  write(): void;
  /** A newer one of the same name takes its place. */
  name?: string | undefined;
  /** Characters of what can be given up when too much is kept; absent for what must be stored. */
  length?: number | undefined;
}

export interface KeptWrites {
  /** False from a write that the disk did not take until one that it does. */
  writable(): boolean;
  count(): number;
  /** Whether a write of the call is kept. */
  has(callId: string): boolean;
  /** @throws AppError storage_low when too much is kept that can be given up */
  keep(entry: KeptWrite): void;
  /** Writes what is kept, as far as that goes in a moment; true when nothing is left. `all`: however long it takes. */
  flush(all?: boolean): boolean;
  /** A write has failed (`error`), or has not: then what waits for that is told. */
  note(error: unknown): void;
  /** Resolves when no write of the call is kept. */
  stored(callId: string): Promise<void>;
  /** Everything is stored, and writes are taken again. */
  onRecovered(hear: () => void): void;
  close(): void;
}

/** A fault of the disk or the file and not of what was to be written: it may pass. */
export function isDiskFault(error: unknown): error is Error & { code: string } {
  if (error instanceof AppError) return error.code === 'storage_low';
  return (
    error instanceof Database.SqliteError &&
    /^SQLITE_(FULL|IOERR|BUSY|LOCKED|CANTOPEN|READONLY|NOMEM|PROTOCOL)/.test(error.code)
  );
}

const isBusy = (error: unknown) =>
  error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);

/** Nothing is kept yet. `probe` writes something that changes nothing, or throws. */
export function openKeptWrites(o: { probe: () => void; log: Log | undefined }): KeptWrites {
  // In the order in which they happened.
  const entries = new Set<KeptWrite>();
  const named = new Map<string, KeptWrite>();
  const ofCall = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  const listeners: (() => void)[] = [];
  let faultySince: number | null = null;
  let most = 0;
  let length = 0;
  let againAt = 0;
  let flushing = false;
  let timer: NodeJS.Timeout | undefined;

  function drop(entry: KeptWrite): void {
    entries.delete(entry);
    length -= entry.length === undefined ? 0 : entry.length + ENTRY_LENGTH;
    if (entry.name !== undefined && named.get(entry.name) === entry) named.delete(entry.name);
    const { callId } = entry;
    if (callId === null) return;
    const left = (ofCall.get(callId) ?? 1) - 1;
    if (left > 0) ofCall.set(callId, left);
    else {
      ofCall.delete(callId);
      for (const resolve of waiting.get(callId) ?? []) resolve();
      waiting.delete(callId);
    }
  }

  function note(error: unknown): void {
    if (error !== null && isDiskFault(error)) {
      if (faultySince === null) {
        faultySince = performance.now();
        o.log?.error({ err: error }, 'storage.not_writable');
      }
      const pauseMs = isBusy(error) ? AGAIN_BUSY_MS : AGAIN_MS;
      againAt = performance.now() + pauseMs;
      clearTimeout(timer);
      timer = setTimeout(again, pauseMs);
    } else if (faultySince !== null && entries.size === 0) {
      clearTimeout(timer);
      const seconds = Math.round((performance.now() - faultySince) / 100) / 10;
      o.log?.info({ seconds, kept: most }, 'storage.writable');
      faultySince = null;
      againAt = 0;
      most = 0;
      for (const hear of [...listeners]) hear();
    }
  }

  function again(): void {
    againAt = 0;
    if (entries.size > 0) {
      // Cut short by its slice, not by the disk: the rest follows.
      if (!flush() && againAt === 0) timer = setTimeout(again, 1);
      return;
    }
    try {
      o.probe();
      note(null);
    } catch (error) {
      note(error);
    }
  }

  function flush(all = false): boolean {
    if (entries.size === 0) return true;
    const began = performance.now();
    // Whoever hears of what was stored may write too.
    if (flushing || (began < againAt && !all)) return false;
    flushing = true;
    try {
      return writeAll(began, all);
    } finally {
      flushing = false;
    }
  }

  function writeAll(began: number, all: boolean): boolean {
    for (const entry of entries) {
      try {
        entry.write();
      } catch (error) {
        if (isDiskFault(error)) {
          note(error);
          return false;
        }
        // It cannot be stored at all: nobody waits for it any more.
        o.log?.error({ call_id: entry.callId, err: error }, 'storage.write_lost');
      }
      drop(entry);
      if (!all && performance.now() - began > SLICE_MS) break;
    }
    if (entries.size > 0) return false;
    note(null);
    return true;
  }

  return {
    writable: () => faultySince === null,
    count: () => entries.size,
    has: (callId) => ofCall.has(callId),
    flush,
    note,
    keep(entry) {
      if (entry.length !== undefined && length > MAX_LENGTH) {
        throw new AppError('storage_low', 'The disk takes no writes, and too much waits for it already.');
      }
      length += entry.length === undefined ? 0 : entry.length + ENTRY_LENGTH;
      const before = entry.name === undefined ? undefined : named.get(entry.name);
      if (before !== undefined) {
        // In its place, so that the order stays.
        length -= (before.length ?? 0) + ENTRY_LENGTH;
        Object.assign(before, entry);
        return;
      }
      entries.add(entry);
      if (entry.name !== undefined) named.set(entry.name, entry);
      if (entry.callId !== null) ofCall.set(entry.callId, (ofCall.get(entry.callId) ?? 0) + 1);
      most = Math.max(most, entries.size);
    },
    async stored(callId) {
      if (!ofCall.has(callId)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(callId, [...(waiting.get(callId) ?? []), resolve]);
      await promise;
    },
    onRecovered: (hear) => void listeners.push(hear),
    close() {
      flush(true);
      clearTimeout(timer);
      if (entries.size > 0) o.log?.error({ count: entries.size }, 'storage.writes_lost');
    },
  };
}
