// PURE. X-Twilio-Signature: https://www.twilio.com/docs/usage/security#validating-requests
import { createHmac } from 'node:crypto';

export type FormParameters = Record<string, string | string[]>;

/** base64(HMAC-SHA1(token, url + sorted key/value pairs)); an array's values are de-duplicated and sorted. */
export function sign(authToken: string, url: string, parameters: FormParameters): string {
  let data = url;
  for (const key of Object.keys(parameters).sort()) {
    const value = parameters[key]!;
    for (const one of Array.isArray(value) ? [...new Set(value)].sort() : [value]) data += key + one;
  }
  return createHmac('sha1', authToken).update(data, 'utf8').digest('base64');
}
