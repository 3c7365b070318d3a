// What daemons of one data folder know each other by: a file in it that nobody else can read. Made by whichever needs it first.
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'peers.key';
const KEY = /^[0-9a-f]{64}\n$/;
const NOT_TAKEN: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

/**
 * The secret of a data folder. Several processes may ask at once: all get the same. A disk that does not take it is no reason
 * not to start: then it is one that nobody else knows, and `untaken` is told.
 * @throws Error where the file holds no key; the file system's where it cannot be read
 */
export function readPeerSecret(
  dataDir: string,
  o: {
    untaken?: (error: unknown) => void;
    /** What a test puts in place of the disk. */
    write?: typeof writeFileSync;
  } = {},
): Buffer {
  const path = join(dataDir, FILE);
  try {
    const found = readKey(path);
    // A copy of a folder may have been made without its modes.
    if (found !== null) chmodSync(path, 0o600);
    return found ?? makeKey(path, o.write ?? writeFileSync);
  } catch (error) {
    if (!NOT_TAKEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    o.untaken?.(error);
    return readKey(path) ?? randomBytes(32);
  }
}

/** The secret of a folder on which a daemon runs, for who is none: it makes nothing there. Null: there is no file. */
export const findPeerSecret = (dataDir: string): Buffer | null => readKey(join(dataDir, FILE));

function makeKey(path: string, write: typeof writeFileSync): Buffer {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    // On the disk before it has its name: a file that a power cut left empty would keep every daemon from starting.
    write(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    // Whole or not at all, and never in the place of one that is there.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = readKey(path);
  if (made === null) throw new Error(`${path} was taken away while it was made.`);
  return made;
}

function readKey(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!KEY.test(text)) throw new Error(`${path} holds no key: remove it while no daemon runs here.`);
  return Buffer.from(text.trim(), 'hex');
}
