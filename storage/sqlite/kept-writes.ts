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

export class KeptWrites {
  readonly #log: Log | undefined;
  readonly #probe: () => void;
  /** In the order in which they happened. */
  readonly #entries = new Set<KeptWrite>();
  readonly #named = new Map<string, KeptWrite>();
  readonly #ofCall = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #listeners: (() => void)[] = [];
  #faultySince: number | null = null;
  #most = 0;
  #length = 0;
  #againAt = 0;
  #flushing = false;
  #timer: NodeJS.Timeout | undefined;

  /** Nothing is kept yet. `probe` writes something that changes nothing, or throws. */
  constructor(o: { probe: () => void; log: Log | undefined }) {
    this.#log = o.log;
    this.#probe = o.probe;
  }

  /** False from a write that the disk did not take until one that it does. */
  writable(): boolean {
    return this.#faultySince === null;
  }

  count(): number {
    return this.#entries.size;
  }

  /** Whether a write of the call is kept. */
  has(callId: string): boolean {
    return this.#ofCall.has(callId);
  }

  /** @throws AppError storage_low when too much is kept that can be given up */
  keep(entry: KeptWrite): void {
    if (entry.length !== undefined && this.#length > MAX_LENGTH) {
      throw new AppError('storage_low', 'The disk takes no writes, and too much waits for it already.');
    }
    this.#length += entry.length === undefined ? 0 : entry.length + ENTRY_LENGTH;
    const before = entry.name === undefined ? undefined : this.#named.get(entry.name);
    if (before !== undefined) {
      // In its place, so that the order stays.
      this.#length -= (before.length ?? 0) + ENTRY_LENGTH;
      Object.assign(before, entry);
      return;
    }
    this.#entries.add(entry);
    if (entry.name !== undefined) this.#named.set(entry.name, entry);
    if (entry.callId !== null) this.#ofCall.set(entry.callId, (this.#ofCall.get(entry.callId) ?? 0) + 1);
    this.#most = Math.max(this.#most, this.#entries.size);
  }

  /** Writes what is kept, as far as that goes in a moment; true when nothing is left. `all`: however long it takes. */
  flush(all = false): boolean {
    if (this.#entries.size === 0) return true;
    const began = performance.now();
    // Whoever hears of what was stored may write too.
    if (this.#flushing || (began < this.#againAt && !all)) return false;
    this.#flushing = true;
    try {
      return this.#writeAll(began, all);
    } finally {
      this.#flushing = false;
    }
  }

  /** A write has failed (`error`), or has not: then what waits for that is told. */
  note(error: unknown): void {
    if (error !== null && isDiskFault(error)) {
      if (this.#faultySince === null) {
        this.#faultySince = performance.now();
        this.#log?.error({ err: error }, 'storage.not_writable');
      }
      const pauseMs = isBusy(error) ? AGAIN_BUSY_MS : AGAIN_MS;
      this.#againAt = performance.now() + pauseMs;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#again(), pauseMs);
    } else if (this.#faultySince !== null && this.#entries.size === 0) {
      clearTimeout(this.#timer);
      const seconds = Math.round((performance.now() - this.#faultySince) / 100) / 10;
      this.#log?.info({ seconds, kept: this.#most }, 'storage.writable');
      this.#faultySince = null;
      this.#againAt = 0;
      this.#most = 0;
      for (const hear of [...this.#listeners]) hear();
    }
  }

  /** Resolves when no write of the call is kept. */
  async stored(callId: string): Promise<void> {
    if (!this.#ofCall.has(callId)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(callId, [...(this.#waiting.get(callId) ?? []), resolve]);
    await promise;
  }

  /** Everything is stored, and writes are taken again. */
  onRecovered(hear: () => void): void {
    this.#listeners.push(hear);
  }

  close(): void {
    this.flush(true);
    clearTimeout(this.#timer);
    if (this.#entries.size > 0) this.#log?.error({ count: this.#entries.size }, 'storage.writes_lost');
  }

  #again(): void {
    this.#againAt = 0;
    if (this.#entries.size > 0) {
      // Cut short by its slice, not by the disk: the rest follows.
      if (!this.flush() && this.#againAt === 0) this.#timer = setTimeout(() => this.#again(), 1);
      return;
    }
    try {
      this.#probe();
      this.note(null);
    } catch (error) {
      this.note(error);
    }
  }

  #writeAll(began: number, all: boolean): boolean {
    for (const entry of this.#entries) {
      try {
        entry.write();
      } catch (error) {
        if (isDiskFault(error)) {
          this.note(error);
          return false;
        }
        // It cannot be stored at all: nobody waits for it any more.
        this.#log?.error({ call_id: entry.callId, err: error }, 'storage.write_lost');
      }
      this.#drop(entry);
      if (!all && performance.now() - began > SLICE_MS) break;
    }
    if (this.#entries.size > 0) return false;
    this.note(null);
    return true;
  }

  #drop(entry: KeptWrite): void {
    this.#entries.delete(entry);
    this.#length -= entry.length === undefined ? 0 : entry.length + ENTRY_LENGTH;
    if (entry.name !== undefined && this.#named.get(entry.name) === entry) this.#named.delete(entry.name);
    const { callId } = entry;
    if (callId === null) return;
    const left = (this.#ofCall.get(callId) ?? 1) - 1;
    if (left > 0) this.#ofCall.set(callId, left);
    else {
      this.#ofCall.delete(callId);
      for (const resolve of this.#waiting.get(callId) ?? []) resolve();
      this.#waiting.delete(callId);
    }
  }
}
