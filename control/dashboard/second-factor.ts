// The second factor: codes of an authenticator app (RFC 6238: SHA-1, six digits, thirty seconds) and codes for the day it is
// lost. Each is worth something once.
import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { encode } from 'uqr';
import type { UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';

const PERIOD_SECONDS = 30;
/** Steps before and after the present one: clocks differ, and typing takes its time. */
const WINDOW = 1;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits, which nobody guesses from a hash. */
const RECOVERY_BYTES = 10;

export const newSecret = () => new Secret({ size: SECRET_BYTES }).base32;

const totpOf = (secret: string, o: { issuer?: string; label?: string } = {}) =>
  new TOTP({ ...o, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS });

/** What an authenticator app is given: as an address, and as the picture of it (an SVG path over `size` modules). */
export function enrolment(secret: string, o: { organization: string; account: string }) {
  const url = totpOf(secret, { issuer: `Offhook ${o.organization}`, label: o.account }).toString();
  const { data, size } = encode(url, { border: 4 });
  const path = data
    .flatMap((row, y) =>
      [
        ...row
          .map((dark) => (dark ? '#' : '.'))
          .join('')
          .matchAll(/#+/g),
      ].map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
    )
    .join('');
  return { secret, url, qr: { size, path } };
}

/** The time step of a code that is right now, or was or will be a step away; else null. */
export function stepOf(secret: string, code: string, now: Date): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totpOf(secret).validate({ token, timestamp: now.getTime(), window: WINDOW });
  return delta === null ? null : Math.floor(now.getTime() / 1000 / PERIOD_SECONDS) + delta;
}

const recoveryHash = (code: string) =>
  createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest('hex');

/** New codes, to be shown this once, and what is kept of them. */
export function newRecoveryCodes(): { shown: string[]; hashes: string[] } {
  const shown = Array.from({ length: RECOVERY_CODES }, () => {
    const text = new Secret({ size: RECOVERY_BYTES }).base32.toLowerCase();
    return (text.match(/.{4}/g) ?? []).join('-');
  });
  return { shown, hashes: shown.map(recoveryHash) };
}

/** Takes a code of the app, or a recovery code: true once for each. */
export async function takeCode(
  store: Pick<Store, 'takeTotpStep' | 'takeRecoveryCode'>,
  user: UserRecord,
  code: string,
  now: Date,
): Promise<'app' | 'recovery' | null> {
  if (user.totp_secret === null) return null;
  const step = stepOf(user.totp_secret, code, now);
  if (step !== null) return (await store.takeTotpStep(user.id, step)) ? 'app' : null;
  return (await store.takeRecoveryCode(user.id, recoveryHash(code))) ? 'recovery' : null;
}
