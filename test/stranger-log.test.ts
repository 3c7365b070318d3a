// What the log says of strangers: the first of each kind, and how many more there were.
import t from 'tap';
import { openStrangerLog, type Stranger, type StrangerAct } from '../stranger-log.ts';

const FIVE_MINUTES = 300_000;
const at = (address: string, shared = false): Stranger => ({ address, shared });

function open() {
  const lines: [level: string, event: string, fields: Record<string, unknown>][] = [];
  const counts: Record<string, number> = {};
  const timers: { ms: number; run: () => void }[] = [];
  let now = 0;
  const write = (level: string) => (fields: unknown, event?: unknown) =>
    void lines.push([level, String(event), fields as Record<string, unknown>]);
  const log = openStrangerLog({
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    monotonicMs: () => now,
    counted: (event, count) => {
      counts[event] = (counts[event] ?? 0) + count;
    },
    later(ms, run) {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
    },
  });
  return {
    lines,
    counts,
    timers,
    close: () => log.close(),
    refuse: (o: Partial<StrangerAct> = {}) =>
      log.saw({ event: 'media.refused', why: 'signature', level: 'warn', by: null, ...o }),
    pass(ms: number) {
      now += ms;
      for (const timer of [...timers]) if (timer.ms <= ms) timer.run();
    },
  };
}

t.test('of a million refusals twenty are written, and the rest in a line', async (t) => {
  const { lines, counts, refuse, pass, timers } = open();
  for (let i = 0; i < 1_000_000; i++) refuse(i % 4 === 0 ? { why: 'unknown path' } : {});
  t.equal(lines.length, 20);
  t.same(lines[1], ['warn', 'media.refused', { why: 'signature' }]);
  t.equal(timers.length, 1);
  pass(FIVE_MINUTES);
  t.same(lines.slice(20), [
    [
      'warn',
      'strangers.unwritten',
      {
        of: 'media.refused',
        count: 999_980,
        seconds: 300,
        why: { signature: 749_985, 'unknown path': 249_995 },
      },
    ],
  ]);
  t.same(counts, { 'media.refused': 1_000_000 });
  t.equal(timers.length, 0, 'who is quiet costs nothing');
});

t.test('the next five minutes have room again', async (t) => {
  const { lines, refuse, pass } = open();
  for (let window = 0; window < 3; window++) {
    for (let i = 0; i < 100; i++) refuse();
    pass(FIVE_MINUTES);
  }
  t.equal(lines.filter(([, event]) => event === 'media.refused').length, 60);
  t.equal(lines.filter(([, event]) => event === 'strangers.unwritten').length, 3);
});

t.test('a few are written as they come, and nothing else', async (t) => {
  const { lines, refuse, pass } = open();
  refuse({ by: at('198.51.100.7'), fields: { thread: 2 } });
  refuse({ level: 'info', count: 3 });
  pass(FIVE_MINUTES);
  t.same(lines, [
    ['warn', 'media.refused', { thread: 2, why: 'signature', address: '198.51.100.7' }],
    ['info', 'media.refused', { why: 'signature', count: 3 }],
  ]);
});

t.test('one address leaves room for the others, and one kind for the others', async (t) => {
  const { lines, refuse } = open();
  const written = (of: string) =>
    lines.filter(([, event, { address }]) => address === of || event === of).length;
  for (let i = 0; i < 1000; i++) refuse({ by: at('198.51.100.7') });
  t.equal(written('198.51.100.7'), 5);
  refuse({ by: at('198.51.100.8') });
  t.equal(written('198.51.100.8'), 1);
  for (let i = 0; i < 1000; i++) refuse({ by: at(`203.0.113.${i}`) });
  t.equal(written('media.refused'), 20);
  refuse({ event: 'carrier.hook.refused', by: at('198.51.100.7') });
  t.equal(written('carrier.hook.refused'), 1);
});

t.test('an address that many share has no share', async (t) => {
  const { lines, refuse } = open();
  for (let i = 0; i < 1000; i++) refuse({ by: at('127.0.0.1', true) });
  t.equal(lines.length, 20);
});

t.test('a stop tells what was not written, once', async (t) => {
  const { lines, refuse, close, timers } = open();
  for (let i = 0; i < 21; i++) refuse();
  close();
  close();
  t.equal(lines.length, 21);
  t.match(lines[20], ['warn', 'strangers.unwritten', { of: 'media.refused', count: 1 }]);
  t.equal(timers.length, 0);
});
