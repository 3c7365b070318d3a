// The retry schedule as the API reference promises it.
import t from 'tap';
import { judgeAttempt, MAX_ATTEMPTS, readRetryAfter } from '../../../control/webhooks/schedule.ts';

const FAILED = { status: 500, error: 'failed' } as const;
const s = 1000;
const min = 60 * s;
const h = 60 * min;
const PROMISED = [5 * s, 30 * s, 2 * min, 10 * min, 30 * min, 2 * h, 5 * h, 10 * h, 10 * h];

function delayOf(
  attempts: number,
  result: Parameters<typeof judgeAttempt>[1],
  random = 0.5,
  scale = 1,
): number {
  const verdict = judgeAttempt(attempts, result, { random, scale });
  return verdict.do === 'retry' ? Math.round(verdict.delayMs) : Number.NaN;
}

t.test('pending + 2xx -> deliver, whatever the attempt', async (t) => {
  for (const status of [200, 201, 204, 299]) {
    t.same(judgeAttempt(10, { status, error: null }, { random: 0, scale: 1 }), { do: 'deliver' });
  }
});

t.test('failures follow the promised gaps, spread by a fifth, then exhaust at the tenth', async (t) => {
  PROMISED.forEach((gap, index) => {
    t.equal(delayOf(index + 1, FAILED), gap, `after attempt ${index + 1}`);
    t.equal(delayOf(index + 1, FAILED, 0), gap * 0.8);
    t.ok(delayOf(index + 1, FAILED, 0.999999) <= gap * 1.2);
  });
  t.equal(MAX_ATTEMPTS, 10);
  t.same(judgeAttempt(10, FAILED, { random: 0, scale: 1 }), { do: 'exhaust' });
  const total = PROMISED.reduce((sum, gap) => sum + gap, 0);
  t.equal(total, 27 * h + 42 * min + 35 * s);
});

t.test('redirects, 4xx, 5xx and no answer are failures', async (t) => {
  for (const status of [301, 302, 307, 308, 400, 401, 404, 500, 503]) {
    t.equal(delayOf(1, { status, error: 'failed' }), 5 * s, String(status));
  }
  t.equal(delayOf(1, { status: null, error: 'failed' }), 5 * s);
});

t.test('410 and a blocked address exhaust at once', async (t) => {
  t.same(judgeAttempt(1, { status: 410, error: 'failed' }, { random: 0, scale: 1 }), { do: 'exhaust' });
  t.same(judgeAttempt(1, { status: null, error: 'blocked' }, { random: 0, scale: 1 }), { do: 'exhaust' });
});

t.test('429 and a timeout wait a minute at least', async (t) => {
  for (const random of [0, 0.5, 0.99]) {
    t.ok(delayOf(1, { status: 429, error: 'failed' }, random) >= min);
    t.ok(delayOf(2, { status: null, error: 'timeout' }, random) >= min);
  }
  t.equal(delayOf(3, { status: null, error: 'timeout' }), 2 * min);
});

t.test('Retry-After is honoured between the base and twice the base', async (t) => {
  const asking = (retryAfterMs: number) => ({ status: 503, error: 'failed', retryAfterMs }) as const;
  t.equal(delayOf(2, asking(40 * s), 0), 40 * s);
  t.equal(delayOf(2, asking(1 * s), 0), 30 * s);
  t.equal(delayOf(2, asking(9 * h), 0), 60 * s);
  t.equal(delayOf(2, asking(9 * h), 0.99), 60 * s);
  t.equal(delayOf(1, { status: 429, error: 'failed', retryAfterMs: 90 * s }, 0), 90 * s);
});

t.test('the scale shortens every wait', async (t) => {
  t.equal(delayOf(2, FAILED, 0.5, 0.001), 30);
  t.equal(delayOf(1, { status: 429, error: 'failed' }, 0.5, 0.001), 60);
});

t.test('Retry-After as seconds, as a date, and as nonsense', async (t) => {
  const now = Date.UTC(2026, 0, 1);
  t.equal(readRetryAfter('120', now), 120_000);
  t.equal(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now), 60_000);
  t.equal(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 0);
  t.equal(readRetryAfter('soon', now), null);
  t.equal(readRetryAfter('', now), null);
  t.equal(readRetryAfter(undefined, now), null);
});
