// PURE. Who calls, as a call's record says it, from what a carrier says: a number, an address that has none, or withheld.

/** What stands for a caller whose number is withheld. */
const WITHHELD = 'anonymous';

const E164 = /^\+[1-9]\d{4,14}$/;
// Withheld numbers come as words, or as words spelled on a keypad: ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN, UNAVAILABLE.
const KEYPAD_WORDS = new Set(['+266696687', '+7378742833', '+2562533', '+8656696', '+86282452253']);
const WITHHELD_WORDS = /^(anonymous|restricted|blocked|unknown|unavailable|private|withheld|null)$/i;
/** Digits of a network of its own: an extension, a short code, a number without its country. */
const DIGITS = /^\d{2,15}$/;
const PRINTABLE = /^[\x21-\x7e]{1,200}$/;
const SIP = /^(sips?):(?:([^@]*)@)?([^;?>]+)/i;
const CLIENT = /^client:(.+)$/i;

/** Whether it is a number that can be called back. */
export function isNumber(caller: string): boolean {
  return E164.test(caller);
}

/**
 * `+14155550123`, also out of `sip:+14155550123@host`; `sip:alice@host` and `client:alice` where the caller has no
 * number, without what may be secret or changes from call to call in them; `2001` for an extension; else `anonymous`.
 */
export function callerOf(said: string | null): string {
  const from = said?.trim() ?? '';
  if (isNumber(from)) return KEYPAD_WORDS.has(from) ? WITHHELD : from;
  if (DIGITS.test(from)) return from;
  const sip = SIP.exec(from);
  if (sip !== null) return ofSip(sip);
  const client = CLIENT.exec(from)?.[1];
  return client !== undefined && PRINTABLE.test(client) ? `client:${client}` : WITHHELD;
}

/** RFC 3261, 19.1: user, then parameters and a password that are nobody's name; RFC 3323: the anonymous ones. */
function ofSip([, scheme = '', userInfo = '', host = '']: RegExpExecArray): string {
  const user = decoded(userInfo.split(/[;:]/, 1)[0] ?? '');
  if (isNumber(user)) return KEYPAD_WORDS.has(user) ? WITHHELD : user;
  if (WITHHELD_WORDS.test(user) || /^anonymous\.invalid$/i.test(host)) return WITHHELD;
  const address = `${user === '' ? '' : `${user}@`}${host.toLowerCase()}`;
  return PRINTABLE.test(address) ? `${scheme.toLowerCase()}:${address}` : WITHHELD;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
