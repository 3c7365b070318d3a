// How long frames waited, each stream against its own quickest.
import t from 'tap';
import { FrameAges } from '../../../bridge/media/frame-age.ts';

/** Frames of one stream, each `ageMs(n)` later than it was due, from second to second; the readings at each second. */
function readings(seconds: number, ageMs: (frame: number) => number, skewPpm = 0) {
  const ages = new FrameAges();
  const stream = ages.stream();
  const found: ({ p50Ms: number; p99Ms: number } | null)[] = [];
  for (let n = 0; n < seconds * 50; n++) {
    stream.frame(1e6 + n * 20 + ageMs(n), n * 20 * (1 + skewPpm / 1e6));
    if (n % 50 === 49) found.push(ages.read());
  }
  return found;
}

t.test('frames in time have no age, whatever the two clocks say', async (t) => {
  t.same(
    readings(3, () => 0),
    Array(3).fill({ p50Ms: 0, p99Ms: 0 }),
  );
});

t.test('a reading starts anew; none without frames', async (t) => {
  const ages = new FrameAges();
  t.equal(ages.read(), null);
  ages.stream().frame(7, 0);
  t.same(ages.read(), { p50Ms: 0, p99Ms: 0 });
  t.equal(ages.read(), null);
});

t.test('a thread that works in bursts of 200 ms lets the middle frame wait for half of it', async (t) => {
  const found = readings(3, (n) => 180 - 20 * (n % 10));
  t.match(found[2], { p99Ms: 180 });
  t.ok(Math.abs((found[2]?.p50Ms ?? 0) - 90) <= 14, `${found[2]?.p50Ms} ms`);
});

t.test('one stall is in the far end, not in the middle', async (t) => {
  const found = readings(2, (n) => (n >= 60 && n < 80 ? (80 - n) * 20 : 0));
  t.match(found[1], { p50Ms: 0 });
  t.ok((found[1]?.p99Ms ?? 0) > 350);
});

t.test('one line that jitters does not age the frames of the others', async (t) => {
  const ages = new FrameAges();
  const streams = Array.from({ length: 5 }, () => ages.stream());
  for (let n = 0; n < 100; n++) {
    for (const [i, stream] of streams.entries()) stream.frame(n * 20 + (i === 0 ? (n % 2) * 300 : 0), n * 20);
  }
  t.match(ages.read(), { p50Ms: 0, p99Ms: 300 });
});

t.test('clocks that drift apart by 200 ppm make no age over ten minutes', async (t) => {
  for (const skew of [200, -200]) {
    const found = readings(600, () => 0, skew);
    t.ok(
      found.every((one) => (one?.p99Ms ?? 99) <= 4),
      `${skew} ppm`,
    );
  }
});

t.test('a route that becomes longer is the new measure after ten seconds', async (t) => {
  const found = readings(20, (n) => (n < 100 ? 0 : 80));
  t.match(found[4], { p50Ms: 80 });
  t.match(found[19], { p50Ms: 0 });
});

t.test('what waited as long as a frame lasts is counted since the start', async (t) => {
  const ages = new FrameAges();
  const stream = ages.stream();
  const waits = [0, 19, 20, 0, 300];
  for (const [n, waitMs] of waits.entries()) stream.frame(n * 20 + waitMs, n * 20);
  t.equal(ages.late, 2);
  ages.read();
  t.equal(ages.late, 2, 'a reading leaves it');
});

t.test('beyond a second it is just late', async (t) => {
  const ages = new FrameAges();
  const stream = ages.stream();
  stream.frame(0, 0);
  stream.frame(9_000, 20);
  const read = ages.read();
  t.ok((read?.p99Ms ?? 0) >= 1_000);
});
