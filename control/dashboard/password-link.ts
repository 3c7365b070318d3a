// The one-time link that sets the operator's password: printed on the host, its token kept as a hash in the data folder, so
// that a daemon that runs and a command beside it share it. Who can read or write that folder owns the daemon anyway.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig } from '../../config.ts';

const FILE = 'password-link.json';
/** Of a link made to reset a password; the one of the first start is good until it is used or the daemon starts again. */
const RESET_MINUTES = 60;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Makes a new link; the one before is void.
 * @param expiresAt null: good until it is used
 * @returns the token, which is stored nowhere
 */
export function makePasswordLink(dataDir: string, expiresAt: Date | null): string {
  const token = randomBytes(32).toString('base64url');
  const path = join(dataDir, FILE);
  const text = JSON.stringify({ hash: hashOf(token), expires_at: expiresAt?.toISOString() ?? null });
  // What a stop has left there; made anew, since root must not write through a link that stands in the folder.
  rmSync(`${path}.new`, { force: true });
  const file = openSync(`${path}.new`, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    // Who resets a password is often root; the daemon is not, and must be able to read it.
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(dataDir);
      fchownSync(file, uid, gid);
    }
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  return token;
}

/** Whether the token is the one of the link that is open now. */
export function isPasswordLink(dataDir: string, token: string, now: Date): boolean {
  let kept: { hash?: unknown; expires_at?: unknown };
  try {
    kept = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as typeof kept;
  } catch {
    return false;
  }
  if (typeof kept.hash !== 'string') return false;
  if (typeof kept.expires_at === 'string' && Date.parse(kept.expires_at) <= now.getTime()) return false;
  const [given, wanted] = [Buffer.from(hashOf(token)), Buffer.from(kept.hash)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The link has served. */
export function closePasswordLink(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** The address to open; the token stands behind the #, which no browser sends and no log sees. */
export const passwordUrl = (publicUrl: string, token: string) => `${publicUrl}/setup#${token}`;

/** `node main.js reset-password`: prints a new link, whether the daemon runs or not. @returns the exit code */
export function resetPassword(env: Record<string, string | undefined>): number {
  const config = readConfig(env);
  const dataDir = resolve(config.DATA_DIR);
  if (statSync(join(dataDir, 'offhook.db'), { throwIfNoEntry: false }) === undefined) {
    console.error(
      `offhook: ${dataDir} holds no database: set DATA_DIR as the daemon has it, or start the daemon, which prints a link by itself.`,
    );
    return 1;
  }
  const token = makePasswordLink(dataDir, new Date(Date.now() + RESET_MINUTES * 60_000));
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  const url = config.PUBLIC_URL ?? `http://${host}:${config.PORT}`;
  console.log(
    `\nSet a new password here, once, within ${RESET_MINUTES} minutes, while the daemon runs:\n\n  ${passwordUrl(url, token)}\n\nEverybody who is signed in is signed out by it.\n`,
  );
  return 0;
}
