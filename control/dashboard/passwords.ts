// Passwords of the dashboard: what is kept of them, and comparing. scrypt, since it needs memory to guess as well as time.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

export const MIN_CHARACTERS = 10;
export const MAX_CHARACTERS = 1_000;

/** 64 MiB and about a quarter of a second a guess: OWASP's scrypt parameters of that size (N 2^16, r 8, p 2). */
const COST = { log2N: 16, r: 8, p: 2 };
const KEY_BYTES = 32;

/** One at a time: each takes its memory, and whoever sends many waits for his own. */
let last: Promise<unknown> = Promise.resolve();

function derive(password: string, salt: Buffer, { log2N, r, p }: typeof COST): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** log2N, r, p, maxmem: 2 * 128 * 2 ** log2N * r };
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      // Keyboards write the same accented letter in more than one way.
      scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
        error === null ? resolve(key) : reject(error),
      );
    });
  const done = last.then(work, work);
  last = done.catch(() => undefined);
  return done;
}

/** `scrypt$16$8$2$<salt>$<key>`, base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  return ['scrypt', COST.log2N, COST.r, COST.p, salt.toString('base64'), key.toString('base64')].join('$');
}

/** Whether `password` is the one that `stored` was made from, in a time that does not tell how nearly. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [method, log2N, r, p, salt, key] = stored.split('$');
  if (method !== 'scrypt' || salt === undefined || key === undefined) return false;
  const wanted = Buffer.from(key, 'base64');
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const given = await derive(password, Buffer.from(salt, 'base64'), cost);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
