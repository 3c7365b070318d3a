// How often a password may be tried, by table: time is an argument.
import t from 'tap';
import { openAttempts, type Trier } from '../../../control/dashboard/attempts.ts';

const address = (name: string): Trier => ({ name, kind: 'address' });

t.test('strangers with a mistake behind them are slowed down together, those without one pass', async (t) => {
  const attempts = openAttempts();
  attempts.take(address('198.51.100.200'), 0);
  attempts.succeeded('198.51.100.200');
  const first = Array.from({ length: 59 }, (_, i) => attempts.take(address(`203.0.113.${i}`), 0));
  t.ok(
    first.every(({ refusedSeconds, delayMs }) => refusedSeconds === 0 && delayMs === 0),
    'sixty at once',
  );
  const second = Array.from({ length: 59 }, (_, i) => attempts.take(address(`203.0.113.${i}`), 0));
  t.equal(second.filter(({ refusedSeconds }) => refusedSeconds === 0).length, 30);
  t.ok(second.slice(30).every(({ refusedSeconds }) => refusedSeconds > 0 && refusedSeconds <= 4));

  t.same(attempts.take(address('192.0.2.1'), 0), { refusedSeconds: 0, delayMs: 0 });
  t.same(attempts.take(address('192.0.2.2'), 0), { refusedSeconds: 0, delayMs: 300 }, 'takes its turn');
  t.same(attempts.take(address('198.51.100.200'), 0), { refusedSeconds: 0, delayMs: 0 }, 'was right before');
  t.same(attempts.take({ name: 'device a', kind: 'known' }, 0), { refusedSeconds: 0, delayMs: 0 });
  t.equal(attempts.take(address('203.0.113.58'), 4_000).refusedSeconds, 0, 'one more every four seconds');
  t.ok(attempts.take(address('203.0.113.57'), 4_000).refusedSeconds > 0);
});

t.test('nobody is held back for longer than somebody would wait', async (t) => {
  const attempts = openAttempts();
  const all = Array.from({ length: 200 }, (_, i) => attempts.take(address(`a${i}`), 0));
  t.equal(Math.max(...all.map(({ delayMs }) => delayMs)), 20_000 - (20_000 % 300));
  const refused = all.filter(({ refusedSeconds }) => refusedSeconds > 0);
  t.equal(refused.length, 200 - 60 - 67);
  t.ok(
    refused.every(({ refusedSeconds }) => refusedSeconds < 0.3),
    'and may come again at once',
  );
  t.same(attempts.take(address('later'), 60_000), { refusedSeconds: 0, delayMs: 0 });
});

t.test('the wait of one doubles to a quarter of an hour and is forgotten after an hour', async (t) => {
  const attempts = openAttempts();
  let now = 0;
  const waits: number[] = [];
  for (let i = 0; i < 20; i++) {
    t.equal(attempts.take(address('a'), now).refusedSeconds, 0);
    const { refusedSeconds } = attempts.take(address('a'), now);
    if (refusedSeconds > 0) waits.push(refusedSeconds);
    else i += 1;
    now += refusedSeconds * 1000 + 60_000;
  }
  for (const [i, wait] of waits.entries()) {
    const before = waits[i - 1];
    if (before !== undefined) t.equal(wait, Math.min(900, before * 2), `${before} -> ${wait}`);
  }
  t.equal(waits.at(-1), 900);
  t.equal(attempts.take(address('a'), now + 3_600_000).refusedSeconds, 0);
  t.equal(attempts.take(address('a'), now + 3_600_000).refusedSeconds, 0, 'free again');
});

t.test('an address that is many is slowed down, and never shut for long', async (t) => {
  const attempts = openAttempts();
  let now = 0;
  let longest = 0;
  for (let i = 0; i < 100; i++) {
    const { refusedSeconds } = attempts.take({ name: '127.0.0.1', kind: 'shared' }, now);
    longest = Math.max(longest, refusedSeconds);
    now += Math.max(1, refusedSeconds) * 1000;
  }
  t.ok(longest > 5 && longest <= 10, `${longest} s`);
});
