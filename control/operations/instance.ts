// Which daemon answers at an address: one that can read DATA_DIR/instance.key is the one that runs on that folder. The key is
// made anew at each start, but for who joins others on the folder; the answer to a challenge tells nothing to whoever does not have the file.
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'instance.key';
const CHALLENGE = /^[0-9a-f]{32}$/;

/** A challenge of its own for each question. */
export const newChallenge = (): string => randomBytes(16).toString('hex');

const proof = (key: string, challenge: string) => createHmac('sha256', key).update(challenge).digest('hex');

/**
 * Writes the key of this start, or takes that of the daemons it joins. A disk that does not take it is no reason not to start: nobody can tell then.
 * @returns the answer to a challenge (32 hex digits); null for what is none
 */
export function openInstance(
  dataDir: string,
  o: { joins: boolean } = { joins: false },
): (challenge: unknown) => string | null {
  const path = join(dataDir, FILE);
  const key = (o.joins ? readKey(path) : null) ?? randomBytes(32).toString('hex');
  try {
    writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    return () => null;
  }
  return (challenge) =>
    typeof challenge === 'string' && CHALLENGE.test(challenge) ? proof(key, challenge) : null;
}

/**
 * What the daemon of this folder answers to a challenge; null where none has been started there.
 * @throws the file system's error where the key is another user's
 */
export function expectedProof(dataDir: string, challenge: string): string | null {
  const key = readKey(join(dataDir, FILE));
  return key === null ? null : proof(key, challenge);
}

function readKey(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
