// PURE. Connection overrides: how often and how patiently a hook is tried, said in the fragment of its URL.
// https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides

/** What an attempt may come to, other than an answer to be taken. */
export type Failure = 'ct' | 'rt' | '4xx' | '5xx';
const FAILURES: readonly Failure[] = ['ct', 'rt', '4xx', '5xx'];

export interface Overrides {
  /** The URL that is asked, and signed (UNVERIFIED: whether the carrier signs the fragment too). */
  url: string;
  connectMs: number;
  /** From the request to the beginning of its answer, each attempt. */
  readMs: number;
  /** All attempts and the waits between them. */
  totalMs: number;
  /** Attempts after the first. */
  retries: number;
  retryOn: ReadonlySet<Failure>;
  /** Whether the total was asked for: running out of it has a code of its own. */
  hasTotal: boolean;
  /** What the carrier's debugger says of the fragment; null when all is well. */
  wrong: string | null;
}

/** UNVERIFIED: no document says how attempts are spaced, nor that their number is not used up at once. */
const FIRST_WAIT_MS = 250;
const RANGES = { ct: [100, 10_000], rt: [100, 15_000], tt: [100, 15_000], rc: [0, 5] } as const;

/** @param limits the carrier's own, which hold where nothing is said, and which no fragment exceeds */
export function readOverrides(hookUrl: string, limits: { connectMs: number; totalMs: number }): Overrides {
  const [url = '', fragment = ''] = hookUrl.split(/#(.*)/s);
  const said = new URLSearchParams(fragment);
  const wrong: string[] = [];
  const number = (name: keyof typeof RANGES, otherwise: number) => {
    const text = said.get(name);
    if (text === null) return otherwise;
    const value = Number(text);
    const [least, most] = RANGES[name];
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    // UNVERIFIED: what the carrier does with a number out of range; here it is as if it had not been said.
    wrong.push(`${name}=${text}`);
    return otherwise;
  };
  const policies = (said.get('rp') ?? 'ct').split(',');
  const unknown = policies.filter((one) => one !== 'all' && !FAILURES.some((known) => known === one));
  if (unknown.length > 0) wrong.push(`rp=${said.get('rp')}`);
  const retryOn = policies.includes('all') ? FAILURES : FAILURES.filter((one) => policies.includes(one));
  return {
    url,
    connectMs: number('ct', limits.connectMs),
    readMs: number('rt', limits.totalMs),
    totalMs: Math.min(number('tt', limits.totalMs), limits.totalMs),
    retries: number('rc', 1),
    retryOn: new Set(unknown.length > 0 ? (['ct'] as const) : retryOn),
    hasTotal: said.has('tt'),
    wrong: wrong.length > 0 ? `HTTP retry policy is invalid: ${wrong.join(', ')}` : null,
  };
}

/** How long to wait before this attempt, counted from 1; the one retry that nobody asked for comes at once. */
export function waitBefore(attempt: number, isAskedFor: boolean): number {
  return isAskedFor && attempt > 1 ? FIRST_WAIT_MS * 2 ** (attempt - 2) : 0;
}
