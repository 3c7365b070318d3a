// The wall clock is set, drifts and stands still beside one that only goes forward; who waits by it is told of steps alone.
import t from 'tap';
import { openClock } from '../clock.ts';

function set(start = 1_000_000) {
  const at = { wall: start, monotonic: 500 };
  const clock = openClock({ wallMs: () => at.wall, monotonicMs: () => at.monotonic });
  const heard: number[] = [];
  clock.onSet((byMs) => heard.push(byMs));
  const pass = (ms: number, wallMs = ms) => {
    at.monotonic += ms;
    at.wall += wallMs;
    return clock.now().getTime();
  };
  return { at, clock, heard, pass };
}

t.test('what passes is no step', (t) => {
  const { clock, heard, pass } = set();
  t.equal(pass(86_400_000), 87_400_000);
  t.equal(clock.monotonicMs(), 86_400_500);
  t.same(heard, []);
  clock.close();
  t.end();
});

for (const [what, byMs] of [
  ['an hour forth', 3_600_000],
  ['an hour back', -3_600_000],
  ['a day forth', 86_400_000],
  ['a day back', -86_400_000],
  ['two seconds', 2_000],
] as const) {
  t.test(`set ${what}: told once, by how much, before the time is`, (t) => {
    const { at, clock, heard, pass } = set();
    let told = 0;
    clock.onSet(() => {
      // Whoever hears of it may ask for the time.
      told = clock.now().getTime();
    });
    const now = pass(700, 700 + byMs);
    t.equal(now, 1_000_700 + byMs);
    t.equal(told, now);
    t.same(heard, [byMs]);
    pass(5_000);
    t.same(heard, [byMs]);
    t.equal(at.monotonic, 6_200);
    clock.close();
    t.end();
  });
}

t.test('small steps are told once they add up', (t) => {
  const { clock, heard, pass } = set();
  for (let i = 0; i < 5; i += 1) pass(1_000, 1_900);
  t.same(heard, [2_700]);
  clock.close();
  t.end();
});

t.test('a process that stood still between the two readings has seen no step', (t) => {
  const at = { wall: 1_000_000, monotonic: 0 };
  let stalls = 0;
  const clock = openClock({
    wallMs() {
      const { wall } = at;
      if (stalls-- > 0) {
        at.wall += 30_000;
        at.monotonic += 30_000;
      }
      return wall;
    },
    monotonicMs: () => at.monotonic,
  });
  clock.onSet((byMs) => t.fail(`told of ${byMs}`));
  stalls = 2;
  t.equal(clock.now().getTime(), 1_060_000);
  clock.close();
  t.end();
});
