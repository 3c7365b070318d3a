// What rules find, by table: from numbers to whether it is wrong, and the sentence.
import t from 'tap';
import {
  diskReading,
  failureReading,
  latencyFrom,
  latencyReading,
  partReading,
  spendReading,
  waitingReading,
} from '../../../control/alerts/alert-reading.ts';

const NOW = Date.parse('2026-03-10T15:20:00.000Z');
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const call = (minutes: number, reason: string | null = null) => ({
  ended_at: ago(minutes),
  failed: reason !== null,
  reason,
});

t.test('the failure rate is of the calls that ended in the window', async (t) => {
  const rule = { threshold: 50, window_minutes: 60 };
  const read = (...ended: ReturnType<typeof call>[]) => failureReading(rule, ended, NOW);
  t.match(read(), { value: null, wrong: false, text: 'No call has ended in the last hour.' });
  t.match(read(call(61, 'carrier_error'), call(90, 'carrier_error')), { value: null, wrong: false });
  t.match(read(call(1)), { value: 0, wrong: false, text: /^None of the one call/ });
  t.match(read(call(1, 'carrier_error')), { value: 100, wrong: false }, 'one failure may be chance');
  t.match(read(call(60, 'model_lost'), call(60, 'carrier_error'), call(0, 'model_lost'), call(3)), {
    value: 75,
    wrong: true,
    text: '3 of 4 calls that ended in the last hour failed (75 %), most of them by model_lost.',
  });
  t.match(read(call(1, 'x'), call(2, 'x'), call(3), call(4), call(5)), { value: 40, wrong: false });
  t.match(failureReading({ threshold: 50, window_minutes: 5 }, [call(6, 'x'), call(7, 'x')], NOW), {
    value: null,
    text: 'No call has ended in the last 5 minutes.',
  });
});

t.test('latencies of the hour and as many before as the window has', async (t) => {
  const from = (window_minutes: number) =>
    new Date(latencyFrom({ threshold: 1, window_minutes }, NOW)).toISOString();
  t.equal(from(60), '2026-03-10T14:00:00.000Z');
  t.equal(from(61), '2026-03-10T13:00:00.000Z');
  const rule = { threshold: 2_000, window_minutes: 60 };
  const counts = (slow: number) => [
    { hour: 'a', latencyMs: 2_100, answers: slow },
    { hour: 'b', latencyMs: 700, answers: 95 },
  ];
  t.match(latencyReading(rule, []), { value: null, wrong: false });
  t.match(latencyReading(rule, counts(5)), { value: 700, wrong: false });
  t.match(latencyReading(rule, counts(6)), { value: 2_100, wrong: true, text: /within 2100 ms .* of 101/ });
  t.match(latencyReading(rule, [{ hour: 'a', latencyMs: 9_000, answers: 4 }]), {
    value: 9_000,
    wrong: false,
  });
});

t.test('the spend of the day is what is charged or estimated, whichever is more', async (t) => {
  const hour = (billedMilliCents: number, costMilliCents: number | null) => ({
    hour: '2026-03-10T15',
    calls: 1,
    inbound: 0,
    ended: 1,
    completed: 1,
    failed: 0,
    talkSeconds: 1,
    billedMilliCents,
    costMilliCents,
  });
  const rule = { threshold: 2, window_minutes: null };
  t.match(spendReading(rule, []), {
    value: 0,
    wrong: false,
    text: 'Calls made today (UTC) come to $0.00 so far.',
  });
  t.match(spendReading(rule, [hour(100_000, null), hour(99_000, 150_000)]), { value: 1.99, wrong: false });
  t.match(spendReading(rule, [hour(0, 150_000), hour(0, 50_000)]), { value: 2, wrong: true });
});

t.test('webhooks, disk, parts', async (t) => {
  const waiting = { threshold: 10, window_minutes: 15 };
  t.match(waitingReading(waiting, 0), { wrong: false, text: 'No webhook waits for longer than 15 min.' });
  t.match(waitingReading(waiting, 10), { value: 10, wrong: false });
  t.match(waitingReading(waiting, 11), { value: 11, wrong: true, text: /^11 webhooks have waited/ });
  t.match(waitingReading(waiting, 10_000), { text: /^More than 10,000/ });
  const disk = { threshold: 500, window_minutes: null };
  t.match(diskReading(disk, null), { value: null, wrong: null });
  t.match(diskReading(disk, 500), { wrong: false });
  t.match(diskReading(disk, 499), { value: 499, wrong: true, text: /^499 MB/ });
  t.match(partReading({ state: 'down', text: 'Gone.' }), { wrong: true, text: 'Gone.' });
  t.match(partReading({ state: 'warn', text: 'Late.' }), { wrong: false }, 'what only warns is not down');
});
