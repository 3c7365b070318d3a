// Where Twilio asks or tells, and how often it tries: in the fragment of an address, which it keeps to itself. PURE.
// https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides

/**
 * Five more tries, after a failure of any kind, within 15 s in all: the most there is. By itself it tries a connection that
 * fails once more and a refusal never; a daemon that was killed is back within seconds, and its calls are still up.
 */
export const HOOK_OVERRIDES = '#rc=5&rp=all&tt=15000';

/** @param hooks where all hooks are, without a slash at the end */
export function hookUrl(hooks: string, path: string): string {
  return `${hooks}${path}${HOOK_OVERRIDES}`;
}
