// PURE. The signature of Twilio's hooks and media upgrades: base64 HMAC-SHA1 of the URL and the sorted form fields.
// https://www.twilio.com/docs/usage/security#validating-requests. Which URL and which body were used is the caller's to know.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Decoded form fields; a field that came several times is an array. */
export type FormFields = Record<string, string | readonly string[]>;

/**
 * The value of `X-Twilio-Signature` for a request.
 * `url` is the string Twilio was given, query included; `params` are the decoded body fields ({} for GET, JSON and upgrades).
 */
export function signTwilio(authToken: string, url: string, params: FormFields): string {
  return signText(authToken, url, formText(params));
}

/** What is signed of a form: names and values, sorted by name. */
function formText(params: FormFields): string {
  let text = '';
  for (const key of Object.keys(params).sort()) {
    const value = params[key]!;
    if (typeof value === 'string') text += key + value;
    else for (const one of [...new Set(value)].sort()) text += key + one;
  }
  return text;
}

function signText(authToken: string, url: string, text: string): string {
  return createHmac('sha1', authToken).update(url, 'utf8').update(text, 'utf8').digest('base64');
}

/** Whether a header may be a signature at all: 20 bytes in base64. To be asked before anything is read for it. */
export function isTwilioSignature(header: string | undefined): header is string {
  return header !== undefined && /^[A-Za-z0-9+/]{27}=$/.test(header);
}

/**
 * Whether a request was signed with this token. The URL is tried as it is, and with and without its scheme's default port;
 * of each, with and without `fragment`: that of the address as Twilio was given it, which does not come with the request; whether
 * it is signed is UNVERIFIED.
 * With `rawBody` in place of `params` it is the JSON form: the URL's `bodySHA256` must be the SHA-256 of that body.
 */
export function verifyTwilio(
  o: { authToken: string; signature: string | undefined; url: string; fragment?: string } & (
    | { params: FormFields }
    | { rawBody: Buffer | string }
  ),
): boolean {
  if (!isTwilioSignature(o.signature) || o.authToken === '') return false;
  let params: FormFields = {};
  if ('params' in o) params = o.params;
  else if (!bodyMatches(o.url, o.rawBody)) return false;
  const text = formText(params);
  let matched = false;
  for (const url of withAndWithoutPort(o.url)) {
    for (const end of o.fragment === undefined ? [''] : ['', o.fragment])
      if (sameText(o.signature, signText(o.authToken, url + end, text))) matched = true;
  }
  return matched;
}

function bodyMatches(url: string, rawBody: Buffer | string): boolean {
  const said = URL.canParse(url) ? new URL(url).searchParams.get('bodySHA256') : null;
  return said !== null && sameText(said, createHash('sha256').update(rawBody).digest('hex'));
}

/** Constant time for texts of one length; the right length is no secret. */
function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

// The URL is cut by hand: `new URL()` would re-encode characters that Twilio signed as they were.
const PARTS = /^([a-z][a-z0-9+.-]*):\/\/((?:[^/?#@]*@)?(?:\[[^\]]*\]|[^:/?#]*))(:\d+)?(.*)$/is;

function withAndWithoutPort(url: string): string[] {
  const parts = PARTS.exec(url);
  if (!parts) return [url];
  const [, scheme = '', host = '', port, rest = ''] = parts;
  const standard = /^(https|wss)$/i.test(scheme) ? ':443' : ':80';
  if (port === undefined) return [url, `${scheme}://${host}${standard}${rest}`];
  return port === standard ? [url, `${scheme}://${host}${rest}`] : [url];
}
