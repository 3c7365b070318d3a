// What was opened is closed in reverse, all of it, in a hurry too.
import t from 'tap';
import { openClosing } from '../closing.ts';

function open() {
  const lines: [event: string, fields: Record<string, unknown>][] = [];
  const line = (fields: unknown, event?: unknown) =>
    void lines.push([String(event), fields as Record<string, unknown>]);
  return { closing: openClosing({ info: line, warn: line, error: line } as never), lines };
}
const never = () => new Promise<void>(() => {});

t.test('closes in reverse, once, all of it, and says what failed', async (t) => {
  const { closing, lines } = open();
  const closed: string[] = [];
  const part = (name: string, fails = false) =>
    closing.opened({
      name,
      shareMs: 1,
      close() {
        closed.push(name);
        if (fails) throw new Error(`${name} is stuck`);
      },
    });
  part('store');
  part('webhooks', true);
  part('calls');
  const first = closing.close();
  t.equal(closing.close(), first);
  await t.rejects(first, { errors: [{ message: 'webhooks is stuck' }] });
  t.same(closed, ['calls', 'webhooks', 'store']);
  t.match(lines, [
    ['close.failed', { part: 'webhooks' }],
    ['daemon.stopped', { hurried: false, late: [] }],
  ]);
});

t.test('without a hurry a part has the time it takes', async (t) => {
  const { closing, lines } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  closing.opened({ name: 'slow', shareMs: 0, close: () => promise });
  const closed = closing.close();
  await new Promise((later) => setTimeout(later, 30));
  t.same(lines, [], 'it is waited for');
  resolve();
  await closed;
  t.match(lines, [['daemon.stopped', { late: [] }]]);
});

t.test('in a hurry what is late is left behind, and the next one has its own share', async (t) => {
  const { closing, lines } = open();
  const signals: boolean[] = [];
  closing.opened({ name: 'store', shareMs: 5_000, close: (hurry) => void signals.push(hurry.aborted) });
  closing.opened({ name: 'webhooks', shareMs: 5, close: never });
  closing.hurry();
  await closing.close();
  t.same(signals, [true]);
  t.match(lines, [['daemon.stopped', { hurried: true, late: ['webhooks'] }]]);
});

t.test('a stop under way can be hurried', async (t) => {
  const { closing, lines } = open();
  closing.opened({ name: 'store', shareMs: 5_000, close() {} });
  closing.opened({ name: 'calls', shareMs: 5, close: never });
  const closed = closing.close();
  await Promise.resolve();
  closing.hurry();
  await closed;
  t.match(lines, [['daemon.stopped', { hurried: true, late: ['calls'] }]]);
});

t.test('what is left behind may fail later and harms nobody', async (t) => {
  const { closing } = open();
  const { promise, reject } = Promise.withResolvers<void>();
  closing.opened({ name: 'late', shareMs: 1, close: () => promise });
  closing.hurry();
  await closing.close();
  reject(new Error('too late'));
  await new Promise((later) => setTimeout(later, 5));
  t.pass();
});
