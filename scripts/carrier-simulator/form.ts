// PURE. Reading form bodies and query strings, where a repeated key is an array and everything is text.
import { RestError } from './rest-errors.ts';

export type Form = Record<string, string | string[] | undefined>;

export function formOf(value: unknown): Form {
  return typeof value === 'object' && value !== null ? (value as Form) : {};
}

/** The first value; '' when absent. */
export function text(form: Form, key: string): string {
  const value = form[key];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

export function all(form: Form, key: string): string[] {
  const value = form[key];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** A whole number in a range; the default when absent. @throws RestError `code` */
export function whole(
  form: Form,
  key: string,
  o: { min: number; max: number; default: number; code: number },
): number {
  const value = text(form, key);
  if (value === '') return o.default;
  const number = Number(value);
  if (!Number.isInteger(number) || number < o.min || number > o.max) {
    throw new RestError(o.code, `Invalid ${key}: ${value}`);
  }
  return number;
}

/** GET or POST. @throws RestError 21403 */
export function method(form: Form, key: string, fallback: 'GET' | 'POST' = 'POST'): 'GET' | 'POST' {
  const value = text(form, key).toUpperCase();
  if (value === '') return fallback;
  if (value !== 'GET' && value !== 'POST') throw new RestError(21403, `${key} is not a valid HTTP method`);
  return value;
}

/** An http(s) URL without an underscore in its host, or ''. @throws RestError `code` */
export function hookUrl(form: Form, key: string, code: number): string {
  const value = text(form, key);
  if (value === '') return '';
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname.includes('_')) {
    throw new RestError(code, `${key} is not a valid URL: ${value}`);
  }
  return value;
}

export function isE164(value: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(value);
}

/** Tue, 31 Aug 2010 20:36:28 +0000 */
export function rfc2822(epochMs: number): string {
  return new Date(epochMs).toUTCString().replace('GMT', '+0000');
}
