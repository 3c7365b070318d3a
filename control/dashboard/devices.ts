// Browsers that the operator has signed in with: a cookie that opens nothing, and gives their next attempts a count of their
// own, so that nobody else's mistakes keep them out. Signed with what is stored of the password: void with the next one.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Arrival, isSecure, readCookie } from '../http/request-origin.ts';

/** Sent with attempts and with nothing else. */
const PATH = '/dashboard/api/login';
const MAX_AGE_SECONDS = 365 * 86_400;

const nameOf = (secure: boolean) => (secure ? '__Secure-offhook_device' : 'offhook_device');
const sign = (id: string, passwordHash: string) =>
  createHmac('sha256', passwordHash).update(`device ${id}`).digest('base64url');

/** The Set-Cookie for a browser that has just signed in. */
export function deviceCookie(arrival: Arrival, publicUrl: string, passwordHash: string): string {
  const id = randomBytes(16).toString('base64url');
  const secure = isSecure(arrival, publicUrl);
  const value = `${id}.${sign(id, passwordHash)}`;
  return `${nameOf(secure)}=${value}; Path=${PATH}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** Which browser asks, when it has been signed in since the password was set; else null. */
export function deviceOf(arrival: Arrival, publicUrl: string, passwordHash: string): string | null {
  const value = readCookie(arrival, nameOf(isSecure(arrival, publicUrl))) ?? '';
  const [, id = '', signature = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(value) ?? [];
  const [given, wanted] = [Buffer.from(signature), Buffer.from(sign(id, passwordHash))];
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? id : null;
}
