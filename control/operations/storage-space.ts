// The free space on the disk of the data folder: looked at every few seconds, so that new calls stop before the database
// does. A full disk loses nothing that was committed; it ends calls badly, and recordings are what fills it.
import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../../log.ts';

const EVERY_MS = 5_000;
const MB = 1024 * 1024;

export interface StorageSpace {
  /** Too little is left for new calls. */
  low(): boolean;
  /** For /readyz. */
  health(): { free_mb: number | null; low: boolean };
  /** Looks now. Never rejects. */
  look(): Promise<void>;
  close(): void;
}

export interface StorageSpaceOptions {
  folder: string;
  /** Megabytes (2^20) free to whoever is not root. */
  warnMb: number;
  lowMb: number;
  log: Log;
  metrics: Registry;
  /** Space has become too low. */
  onLow(): void;
  everyMs?: number;
  /** Bytes that are free in a folder. */
  free?: (folder: string) => Promise<number>;
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Looks once before it resolves, then every five seconds. */
export async function openStorageSpace(o: StorageSpaceOptions): Promise<StorageSpace> {
  const free = o.free ?? freeBytes;
  let bytes: number | null = null;
  let level: 'ok' | 'warn' | 'low' = 'ok';
  let failed = false;

  async function look(): Promise<void> {
    try {
      bytes = await free(o.folder);
      failed = false;
    } catch (error) {
      // Said once. What was known holds on: a disk that cannot be asked is no reason to refuse calls.
      if (!failed) o.log.error({ err: error }, 'storage.space_unknown');
      failed = true;
      return;
    }
    const before = level;
    level = bytes < o.lowMb * MB ? 'low' : bytes < o.warnMb * MB ? 'warn' : 'ok';
    if (level === before) return;
    const line = { free_mb: Math.floor(bytes / MB), warn_mb: o.warnMb, low_mb: o.lowMb };
    o.log[level === 'low' ? 'error' : level === 'warn' ? 'warn' : 'info'](line, `storage.space_${level}`);
    if (level === 'low') o.onLow();
  }

  new Gauge({
    name: 'offhook_storage_free_bytes',
    help: 'Free space on the disk of the data folder',
    registers: [o.metrics],
    collect() {
      this.set(bytes ?? Number.NaN);
    },
  });
  await look();
  const timer = setInterval(() => void look(), o.everyMs ?? EVERY_MS);
  timer.unref();

  return {
    low: () => level === 'low',
    health: () => ({ free_mb: bytes === null ? null : Math.floor(bytes / MB), low: level === 'low' }),
    look,
    close: () => clearInterval(timer),
  };
}
