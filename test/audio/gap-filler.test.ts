// A stream made whole: gaps, late and doubled frames, clocks that jump, a line that stalls.
import t from 'tap';
import { bytesPerMs, frameBytes } from '../../audio/format.ts';
import { GapFiller, type GapFillerOptions } from '../../audio/gap-filler.ts';

const FRAME = 160;

/** A filler whose output is collected as bytes, with a check that its clock is without holes. */
function open(options?: GapFillerOptions) {
  const bytes: number[] = [];
  const pieces: { at: number; length: number; filled: boolean; first: number }[] = [];
  let holes = 0;
  const filler = new GapFiller((mulaw, at, filled) => {
    if (at * 8 !== bytes.length) holes++;
    pieces.push({ at, length: mulaw.length, filled, first: mulaw[0]! });
    for (const byte of mulaw) bytes.push(byte);
  }, options);
  return { filler, bytes, pieces, holes: () => holes };
}

/** A frame of one repeated byte, so that it can be told from others. */
const frame = (byte: number, length = FRAME) => Buffer.alloc(length, byte);
/** What was emitted, as one byte per frame; silence shows as 255. */
const heard = (bytes: number[]) => bytes.filter((_, i) => i % FRAME === 0);

t.test('frames in order pass through untouched, the first timestamp being the origin', async (t) => {
  const seen: Buffer[] = [];
  const filler = new GapFiller((mulaw) => seen.push(mulaw));
  const frames = [frame(1), frame(2), frame(3)];
  for (const [i, payload] of frames.entries()) filler.push(payload, 102 + i * 20, i + 1);
  t.equal(seen.length, 3);
  t.ok(
    seen.every((payload, i) => payload === frames[i]),
    'the very same buffers',
  );
  t.equal(filler.positionMs, 60);
  t.same(filler.counters, { filledMs: 0, skippedMs: 0, duplicateFrames: 0, lateFrames: 0 });
});

t.test('gap by timestamp -> silence of its length', async (t) => {
  for (const [missing, filledMs, skippedMs] of [
    [1, 20, 0],
    [2, 40, 0],
    [150, 3000, 0],
    [500, 10_000, 0],
    [501, 10_000, 20],
    [3000, 10_000, 50_000],
  ] as const) {
    const { filler, bytes, holes } = open();
    filler.push(frame(1), 88, 1);
    // A carrier that sends nothing while the line is silent counts its messages on.
    filler.push(frame(2), 88 + 20 * (missing + 1), 2);
    filler.push(frame(3), 88 + 20 * (missing + 2), 3);
    t.equal(filler.counters.filledMs, filledMs, `${missing} missing`);
    t.equal(filler.counters.skippedMs, skippedMs);
    t.equal(bytes.length, 3 * FRAME + filledMs * 8);
    t.equal(bytes[FRAME], 0xff);
    t.equal(bytes[FRAME + filledMs * 8], 2);
    t.equal(bytes[2 * FRAME + filledMs * 8], 3);
    t.equal(holes(), 0);
  }
});

t.test('frame that came already -> dropped and counted as a duplicate', async (t) => {
  for (const numbered of [true, false]) {
    const { filler, bytes } = open();
    const push = (n: number) => filler.push(frame(n), n * 20, numbered ? n : null);
    for (const n of [1, 2, 2, 3, 3, 4]) push(n);
    t.same(heard(bytes), [1, 2, 3, 4], numbered ? 'by number' : 'by time');
    t.equal(filler.counters.duplicateFrames, 2);
    t.equal(filler.counters.lateFrames, 0);
  }
});

t.test('frame whose place was filled -> dropped and counted as late', async (t) => {
  for (const numbered of [true, false]) {
    const { filler, bytes } = open({ reorderFrames: 0 });
    const push = (n: number) => filler.push(frame(n), n * 20, numbered ? n : null);
    for (const n of [1, 2, 4, 3, 5]) push(n);
    t.same(heard(bytes), [1, 2, 255, 4, 5], numbered ? 'by number' : 'by time');
    t.equal(filler.counters.lateFrames, 1);
    t.equal(filler.counters.duplicateFrames, 0);
  }
});

t.test('frames out of order -> put in order when they come within two frames', async (t) => {
  const { filler, bytes, holes } = open();
  const scratch = Buffer.alloc(FRAME);
  // The payload is only valid during the call, as a decoder that reuses its buffer has it.
  for (const n of [1, 2, 4, 3, 5, 8, 7, 7, 6, 9, 13, 14, 15, 12, 16]) {
    scratch.fill(n);
    filler.push(scratch, 100 + n * 20, n);
  }
  t.same(heard(bytes), [1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 255, 255, 13, 14, 15, 16]);
  t.equal(filler.counters.filledMs, 60);
  t.equal(filler.counters.duplicateFrames, 1);
  t.equal(filler.counters.lateFrames, 1);
  t.equal(holes(), 0);
});

for (const [format, silent] of [
  [{ encoding: 'alaw', rateHz: 8000 }, 0xd5],
  [{ encoding: 'pcm16', rateHz: 8000 }, 0],
  [{ encoding: 'pcm16', rateHz: 16000 }, 0],
  [{ encoding: 'pcm16', rateHz: 24000 }, 0],
] as const) {
  t.test(
    `a stream of ${format.encoding} at ${format.rateHz / 1000} kHz is made whole in its own bytes`,
    async (t) => {
      const { filler, bytes, pieces } = open({ format });
      const length = frameBytes(format);
      let chunk = 0;
      for (const n of [1, 2, 4, 7]) filler.push(frame(n, length), 100 + n * 20, ++chunk);
      t.same(
        bytes.filter((_, i) => i % length === 0),
        [1, 2, silent, 4, silent, silent, 7],
      );
      t.same(
        pieces.map(({ at }) => at),
        [0, 20, 40, 60, 80, 100, 120],
        'where each begins, in milliseconds',
      );
      t.equal(filler.positionMs, 140);
      t.equal(filler.counters.filledMs, 60);
      filler.push(frame(9, length), 100 + 9 * 20 + 7, ++chunk);
      t.equal(bytes.length, filler.positionMs * bytesPerMs(format));
      t.equal(bytes.at(-1), 9);
      t.equal(filler.positionMs, 187, 'a gap of 27 ms');
    },
  );
}

t.test('held frames are let go when nothing else comes', async (t) => {
  const { filler, bytes } = open();
  filler.push(frame(1), 20, 1);
  filler.push(frame(3), 60, 3);
  for (let now = 0; now <= 80; now += 20) filler.tick(now, false);
  t.same(heard(bytes), [1, 255, 3]);
});

t.test('message numbers that skip while time does not -> no waiting', async (t) => {
  const { filler, bytes } = open();
  for (let n = 1; n <= 4; n++) filler.push(frame(n), n * 20, n * 2);
  t.same(heard(bytes), [1, 2, 3, 4]);
});

t.test('message numbers that begin anew while time goes on -> nothing is lost', async (t) => {
  const { filler, bytes } = open();
  for (let n = 1; n <= 6; n++) filler.push(frame(n), n * 20, n <= 3 ? n : n - 3);
  t.same(heard(bytes), [1, 2, 3, 4, 5, 6]);
});

t.test('timestamps that begin anew while the numbers go on -> nothing is lost or filled', async (t) => {
  const { filler, bytes } = open();
  for (let n = 1; n <= 6; n++) filler.push(frame(n), n <= 3 ? 5000 + n * 20 : n * 20, n);
  t.same(heard(bytes), [1, 2, 3, 4, 5, 6]);
  t.equal(filler.counters.filledMs, 0);
});

t.test('no timestamps -> frames follow each other', async (t) => {
  const { filler, bytes } = open();
  for (let n = 1; n <= 5; n++) filler.push(frame(n), null, null);
  t.same(heard(bytes), [1, 2, 3, 4, 5]);
});

t.test('payloads of any length, empty ones too, keep the clock', async (t) => {
  const { filler, bytes, holes } = open();
  let ms = 155;
  for (const [i, length] of [160, 80, 0, 240, 1600, 8, 160].entries()) {
    filler.push(frame(7, length), ms, i + 1);
    ms += length / 8;
  }
  t.equal(bytes.length, 2248);
  t.equal(filler.counters.filledMs, 0);
  t.equal(holes(), 0);
});

t.test('timestamps a few ms off -> no gap in ten minutes', async (t) => {
  const filler = new GapFiller(() => {});
  const payload = frame(1);
  for (let n = 0; n < 30_000; n++) filler.push(payload, 100 + n * 20 + ((n * 7919) % 13) - 6, n + 1);
  t.equal(filler.positionMs, 30_000 * 20);
  t.same(filler.counters, { filledMs: 0, skippedMs: 0, duplicateFrames: 0, lateFrames: 0 });
});

t.test('a clock 200 ppm off -> no gap in an hour, and a real gap is still seen', async (t) => {
  for (const ppm of [200, -200]) {
    const filler = new GapFiller(() => {});
    const payload = frame(1);
    const at = (n: number) => Math.round(100 + n * 20 * (1 + ppm / 1e6));
    const frames = 180_000;
    for (let n = 0; n < frames; n++) filler.push(payload, at(n), n + 1);
    t.equal(filler.counters.filledMs, 0, `${ppm} ppm`);
    t.equal(filler.positionMs, frames * 20);
    filler.push(payload, at(frames + 50), frames + 1);
    t.ok(Math.abs(filler.counters.filledMs - 1000) <= 3, `one second, filled ${filler.counters.filledMs} ms`);
  }
});

t.test('no frame for 750 ms while somebody speaks -> the silence that passed, then on with it', async (t) => {
  const { filler, bytes, holes } = open();
  let now = 0;
  const silentTicks = (count: number, speaking: boolean) => {
    for (let i = 0; i < count; i++) {
      now += 20;
      filler.tick(now, speaking);
    }
  };
  filler.push(frame(1), 100, 1);
  filler.tick(now, true);
  silentTicks(37, true);
  t.equal(bytes.length, FRAME, '740 ms: nothing yet');
  silentTicks(1, true);
  t.equal(bytes.length, FRAME + 760 * 8);
  silentTicks(12, true);
  t.equal(bytes.length, FRAME + 1000 * 8, 'on with the clock');
  silentTicks(50, false);
  t.equal(bytes.length, FRAME + 1000 * 8, 'nobody speaks any more: the next frame tells the rest');
  // 2 s of frames were never sent: half of that has been filled.
  filler.push(frame(2), 100 + 20 + 2000, 2);
  t.equal(bytes.length, 2 * FRAME + 2000 * 8);
  t.equal(bytes.at(-1), 2);
  t.equal(filler.counters.filledMs, 2000);
  t.equal(holes(), 0);
});

t.test(
  'frames that were only delayed by a stall -> all heard, and the next gap makes the lead good',
  async (t) => {
    const { filler, bytes } = open();
    filler.push(frame(1), 100, 1);
    for (let now = 0; now <= 1000; now += 20) filler.tick(now, true);
    t.equal(filler.counters.filledMs, 1000);
    for (let n = 2; n <= 51; n++) filler.push(frame(n), 80 + n * 20, n);
    t.same(
      heard(bytes).filter((byte) => byte !== 255),
      Array.from({ length: 51 }, (_, i) => i + 1),
    );
    t.equal(filler.counters.lateFrames, 0);
    const beforeMs = filler.positionMs;
    filler.push(frame(60), 80 + 51 * 20 + 20 + 3000, 52);
    const filled = filler.positionMs - beforeMs - 20;
    t.ok(Math.abs(filled - 2000) <= 2, `3 s of gap less 1 s of lead, filled ${filled} ms`);
  },
);

t.test('what was given for delayed frames -> told as a lead, until a gap makes it good', async (t) => {
  const { filler } = open();
  filler.push(frame(1), 100, 1);
  t.equal(filler.leadMs, 0);
  for (let now = 0; now <= 1000; now += 20) filler.tick(now, true);
  t.equal(filler.leadMs, 1000);
  // A minute of frames a little off their times, all of them late.
  for (let n = 2; n <= 3000; n++) filler.push(frame(n % 120), 80 + n * 20 + ((n * 7919) % 13) - 6, n);
  t.equal(filler.leadMs, 1000, 'it does not fade');
  filler.push(frame(1), 80 + 3001 * 20 + 400, 3001);
  t.equal(filler.leadMs, 600, '400 ms of it were for frames that never came');
  filler.push(frame(1), 80 + 3002 * 20 + 400 + 3000, 3002);
  t.equal(filler.leadMs, 0);
  filler.push(frame(1), 80 + 3003 * 20 + 400 + 3000 + 15_000, 3003);
  t.equal(filler.leadMs, -5000, 'and a gap that was not filled whole leaves it behind');
});

t.test('a thread that slept -> no silence for frames that wait unread', async (t) => {
  const { filler, bytes } = open();
  filler.push(frame(1), 100, 1);
  filler.tick(0, true);
  filler.tick(20, true);
  filler.tick(2000, true);
  t.equal(bytes.length, FRAME);
  t.equal(filler.withoutFrameMs, 60, 'nor is the line without frames for as long');
  filler.push(frame(2), 120, 2);
  filler.tick(2020, true);
  t.equal(filler.withoutFrameMs, 0);
});

t.test('a stall fills ten seconds at most', async (t) => {
  const { filler } = open();
  filler.push(frame(1), 100, 1);
  for (let now = 0; now <= 30_000; now += 20) filler.tick(now, true);
  t.equal(filler.counters.filledMs, 10_000);
});

t.test('loss, doubles and disorder at random -> each frame once, in order, at its time', async (t) => {
  let seed = 12345;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  for (let round = 0; round < 50; round++) {
    const { filler, bytes, holes } = open();
    const sent: number[] = [];
    for (let n = 1; n <= 200; n++) {
      if (n > 1 && random() < 0.05) continue;
      sent.push(n);
      if (random() < 0.05) sent.push(n);
    }
    // Neighbours change places, never the same one twice, so that none is later than the filler waits.
    for (let i = 1; i + 1 < sent.length; i += 2) {
      if (random() < 0.2) [sent[i], sent[i + 1]] = [sent[i + 1]!, sent[i]!];
    }
    const scratch = Buffer.alloc(FRAME);
    for (const n of sent) {
      scratch.fill(n);
      filler.push(scratch, 60 + n * 20, n);
    }
    for (let now = 0; now < 200; now += 20) filler.tick(now, false);
    const out = heard(bytes);
    const last = Math.max(...sent);
    const had = new Set(sent);
    t.equal(holes(), 0);
    t.equal(bytes.length, last * FRAME);
    t.equal(filler.counters.duplicateFrames, sent.length - had.size);
    t.same(
      out,
      Array.from({ length: last }, (_, i) => (had.has(i + 1) ? i + 1 : 255)),
    );
  }
});
