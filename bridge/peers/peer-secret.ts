// What daemons of one data folder know each other by: a file in it that nobody else can read. Made by whichever needs it first.
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'peers.key';
const KEY = /^[0-9a-f]{64}\n$/;

/**
 * The secret of a data folder. Several processes may ask at once: all get the same.
 * @throws the file system's error; Error where the file holds no key
 */
export function readPeerSecret(dataDir: string): Buffer {
  const path = join(dataDir, FILE);
  const found = readKey(path) ?? makeKey(path);
  // A copy of a folder may have been made without its modes.
  chmodSync(path, 0o600);
  return found;
}

function makeKey(path: string): Buffer {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // Whole or not at all, and never in the place of one that is there.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
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
