// The one-time link that sets the operator's password: printed on the host, its token kept as a hash in the data folder, so
// that a daemon that runs and a command beside it share it. Who can read or write that folder owns the daemon anyway.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';

/** Of the first organization; others have their id behind the name. */
const FILE = 'password-link.json';

const fileOf = (orgId: string | null) => (orgId === null ? FILE : `password-link-${orgId}.json`);

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Makes a new link; the one before, of the same organization, is void.
 * @param expiresAt null: good until it is used
 * @param orgId null: the first organization
 * @returns the token, which is stored nowhere
 */
export function makePasswordLink(
  dataDir: string,
  expiresAt: Date | null,
  orgId: string | null = null,
): string {
  const token = randomBytes(32).toString('base64url');
  const path = join(dataDir, fileOf(orgId));
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

/** Whose link the token is, of those that are open now: an organization's id, or null for the first one. Undefined: nobody's. */
export function findPasswordLink(dataDir: string, token: string, now: Date): string | null | undefined {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  for (const name of names) {
    const [, orgId] = /^password-link(?:-([0-9a-f-]{36}))?\.json$/.exec(name) ?? [name, ''];
    if (orgId !== '' && isLink(join(dataDir, name), token, now)) return orgId ?? null;
  }
  return undefined;
}

function isLink(path: string, token: string, now: Date): boolean {
  let kept: { hash?: unknown; expires_at?: unknown };
  try {
    kept = JSON.parse(readFileSync(path, 'utf8')) as typeof kept;
  } catch {
    return false;
  }
  if (typeof kept.hash !== 'string') return false;
  if (typeof kept.expires_at === 'string' && Date.parse(kept.expires_at) <= now.getTime()) return false;
  const [given, wanted] = [Buffer.from(hashOf(token)), Buffer.from(kept.hash)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The link has served. */
export function closePasswordLink(dataDir: string, orgId: string | null = null): void {
  rmSync(join(dataDir, fileOf(orgId)), { force: true });
}

/** The address to open; the token stands behind the #, which no browser sends and no log sees. */
export const passwordUrl = (publicUrl: string, token: string) => `${publicUrl}/setup#${token}`;

/** Where the dashboard is reached, as far as the settings tell. */
export function dashboardUrl(config: Pick<Config, 'HOST' | 'PORT' | 'PUBLIC_URL'>): string {
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return config.PUBLIC_URL ?? `http://${host}:${config.PORT}`;
}
