// What of the agent's sound was sent and heard, item by item, when it is cut too.
import t from 'tap';
import { bytesPerMs, FRAME_BYTES, frameBytes, MULAW_8K } from '../../../audio/format.ts';
import { heardText } from '../../../bridge/turns/heard-text.ts';
import { Playout } from '../../../bridge/turns/playout.ts';

const bytes = (ms: number, value = 1) => Buffer.alloc(ms * 8, value);

/** Takes everything that is ready, frame by frame; answers the bytes and the marks due on the way. */
function drain(playout: Playout) {
  const out = Buffer.alloc(FRAME_BYTES);
  const frames: Buffer[] = [];
  const marks: string[] = [];
  while (playout.take(out) > 0) {
    frames.push(Buffer.from(out));
    const mark = playout.dueMark();
    if (mark !== null) marks.push(mark);
  }
  return { audio: Buffer.concat(frames), marks };
}

t.test(
  'deltas of odd sizes come out whole, in order and in frames; the last frame is padded with silence',
  async (t) => {
    const playout = new Playout(MULAW_8K);
    const source = Buffer.from(Array.from({ length: 1001 }, (_, i) => i % 251));
    for (let at = 0, size = 1; at < source.length; at += size, size = (size * 7) % 113 || 5) {
      playout.push('a', source.subarray(at, at + size));
    }
    t.equal(drain(playout).audio.length, 960, 'a part of a frame waits');
    playout.finish('a');
    const rest = drain(playout).audio;
    t.equal(rest.length, 160);
    t.same(rest.subarray(0, 41), source.subarray(960));
    t.ok(rest.subarray(41).every((byte) => byte === 0xff));
  },
);

t.test('what is being heard: the oldest that is not over, from its first sound on', async (t) => {
  const playout = new Playout(MULAW_8K);
  t.equal(playout.hearing(), null);
  playout.push('a', bytes(200));
  playout.finish('a');
  playout.push('b', bytes(300));
  const { marks } = drain(playout);
  t.equal(playout.hearing(), null, 'it was sent');
  playout.markPlayed(marks[0]!);
  t.same(playout.hearing(), { itemId: 'a', heardMs: 100, receivedMs: 200, complete: true });
  playout.markPlayed(marks[1]!);
  t.equal(playout.hearing(), null, 'it is over, and of the next no sound was heard');
  playout.markPlayed(marks[2]!);
  t.same(playout.hearing(), { itemId: 'b', heardMs: 100, receivedMs: 300, complete: false });
  playout.clear();
  t.equal(playout.hearing(), null);
});

t.test('heard is what marks confirm, never what was sent', async (t) => {
  const playout = new Playout(MULAW_8K);
  playout.push('a', bytes(400));
  playout.finish('a');
  const { marks } = drain(playout);
  t.same(marks, ['0:800', '0:1600', '0:2400', '0:3200']);
  t.equal(playout.heardMs('a'), 0);
  playout.markPlayed('0:1600');
  t.equal(playout.heardMs('a'), 200);
  t.ok(playout.pending());
  t.same(
    playout.markPlayed('0:3200').map((item) => item.itemId),
    ['a'],
  );
  t.notOk(playout.pending());
});

t.test(
  'marks that come twice, out of order, from nowhere or for more than was sent change nothing',
  async (t) => {
    const playout = new Playout(MULAW_8K);
    playout.push('a', bytes(200));
    playout.finish('a');
    drain(playout);
    playout.markPlayed('0:800');
    for (const name of ['0:800', '0:400', '0:999999', '7:1600', 'x', '', '0:', '0:abc']) {
      t.same(playout.markPlayed(name), []);
      t.equal(playout.heardMs('a'), 100, name);
    }
  },
);

t.test('several queued items: each is cut by its own time', async (t) => {
  const playout = new Playout(MULAW_8K);
  for (const id of ['a', 'b', 'c']) {
    playout.push(id, bytes(100));
    playout.finish(id);
  }
  drain(playout);
  t.same(
    playout.markPlayed('0:800').map((item) => item.itemId),
    ['a'],
  );
  playout.markPlayed('0:1600');
  const cuts = playout.clear();
  t.same(
    cuts,
    [{ itemId: 'c', heardMs: 0, receivedMs: 100, complete: true }],
    'a and b were heard to their end',
  );
});

t.test(
  'after a clear the marks of before prove nothing, and late audio of what was cut is dropped',
  async (t) => {
    const playout = new Playout(MULAW_8K);
    playout.push('a', bytes(300));
    drain(playout);
    playout.markPlayed('0:800');
    t.same(playout.clear(), [{ itemId: 'a', heardMs: 100, receivedMs: 300, complete: false }]);
    t.same(playout.markPlayed('0:2400'), []);
    playout.push('a', bytes(100));
    t.notOk(playout.ready());
    playout.push('b', bytes(20));
    playout.finish('b');
    t.same(drain(playout).marks, ['1:160']);
    t.same(
      playout.markPlayed('1:160').map((item) => item.itemId),
      ['b'],
    );
  },
);

t.test('a lost line: what was not known to be heard is sent again, from the last mark on', async (t) => {
  const started: string[] = [];
  const playout = new Playout(MULAW_8K, (id) => started.push(id));
  const source = Buffer.from(Array.from({ length: 2_410 }, (_, i) => i % 251));
  playout.push('a', source);
  playout.push('b', bytes(100, 2));
  playout.finish('a');
  t.same(drain(playout).marks, ['0:800', '0:1600', '0:2400', '0:3200', '0:3360']);
  playout.markPlayed('0:800');
  playout.rewind();
  t.equal(playout.heardMs('a'), 100, 'what was heard stays heard');
  t.ok(playout.sentIsHeard());
  t.ok(playout.pending());
  for (const late of ['0:1600', '0:2400', '0:3200', '0:3360']) t.same(playout.markPlayed(late), [], late);
  t.equal(playout.heardMs('a'), 100, 'marks of the line before are void');
  const again = drain(playout);
  t.ok(again.audio.subarray(0, 1_610).equals(source.subarray(800)), 'from the next byte on, and all of it');
  t.same(again.marks, ['1:800', '1:1600', '1:2400', '1:2560']);
  t.same(started, ['a', 'b', 'b'], 'of the second nothing had been heard: it begins again');
  playout.markPlayed('1:800');
  t.equal(playout.heardMs('a'), 200);
  t.same(playout.markPlayed('1:1600'), []);
  t.equal(playout.heardMs('a'), 300);
  t.match(playout.markPlayed('1:2400'), [{ itemId: 'a' }]);
  t.equal(playout.heardMs('b'), 80);
  t.same(playout.markPlayed('1:2560'), [], 'more of it may come');
  t.equal(playout.finish('b'), true);
  t.notOk(playout.pending());
});

t.test('a line that is lost before anything of an item was heard, twice, and a cut after it', async (t) => {
  const playout = new Playout(MULAW_8K);
  playout.push('a', bytes(300));
  drain(playout);
  playout.rewind();
  drain(playout);
  playout.markPlayed('1:800');
  playout.rewind();
  t.equal(drain(playout).audio.length, 200 * 8);
  t.same(playout.markPlayed('1:2400'), []);
  t.same(playout.clear(), [{ itemId: 'a', heardMs: 100, receivedMs: 300, complete: false }]);
  t.same(playout.markPlayed('2:1600'), []);
  t.notOk(playout.ready());
});

t.test(
  'an item that was all heard but not over goes on after a lost line with what comes of it',
  async (t) => {
    const playout = new Playout(MULAW_8K);
    playout.push('a', bytes(100));
    drain(playout);
    playout.markPlayed('0:800');
    playout.rewind();
    t.notOk(playout.ready());
    playout.push('a', bytes(100, 2));
    const { audio, marks } = drain(playout);
    t.ok(audio.every((byte) => byte === 2));
    t.same(marks, ['1:800']);
    t.same(playout.markPlayed('1:800'), []);
    t.equal(playout.heardMs('a'), 200);
    t.equal(playout.finish('a'), true);
  },
);

t.test('a barge-in before the first frame is heard cuts at zero', async (t) => {
  const playout = new Playout(MULAW_8K);
  playout.push('a', bytes(500));
  t.same(playout.clear(), [{ itemId: 'a', heardMs: 0, receivedMs: 500, complete: false }]);
});

t.test('an item whose end is told after its last mark is heard in full at that moment', async (t) => {
  const playout = new Playout(MULAW_8K);
  playout.push('a', bytes(40));
  drain(playout);
  t.same(playout.markPlayed('0:320'), []);
  t.equal(playout.finish('a'), true);
  t.equal(playout.finish('a'), false);
  t.notOk(playout.pending());
});

t.test('the next item waits until the one before is complete', async (t) => {
  const playout = new Playout(MULAW_8K);
  const started: string[] = [];
  const ordered = new Playout(MULAW_8K, (id) => started.push(id));
  playout.push('a', bytes(10));
  playout.push('b', bytes(100));
  t.notOk(playout.ready());
  playout.finish('a');
  t.equal(drain(playout).audio.length, 6 * FRAME_BYTES);
  ordered.push('a', bytes(20));
  ordered.finish('a');
  ordered.push('b', bytes(20));
  drain(ordered);
  t.same(started, ['a', 'b']);
});

t.test('heard text ends after the last whole word', async (t) => {
  const line = 'Hello there, how are you today?';
  const all = { receivedMs: 3_100, complete: true };
  t.equal(heardText(line, { ...all, heardMs: 3_100 }), line);
  t.equal(heardText(line, { ...all, heardMs: 0 }), '');
  t.equal(heardText(line, { ...all, heardMs: 1_250 }), 'Hello there,');
  t.equal(heardText(line, { ...all, heardMs: 1_400 }), 'Hello there,');
  t.equal(heardText(line, { ...all, heardMs: 1_600 }), 'Hello there, how');
  t.equal(heardText(line, { ...all, heardMs: 300 }), '');
  t.equal(heardText('', { ...all, heardMs: 300 }), '');
  // Two seconds for four words: more than any voice needs, and still the end of it was never received.
  t.equal(
    heardText('One two three four.', { heardMs: 2_000, receivedMs: 2_000, complete: false }),
    'One two three',
  );
  t.equal(heardText('Hello.', { heardMs: 900, receivedMs: 900, complete: false }), '');
  const early = heardText(line, { heardMs: 500, receivedMs: 500, complete: false });
  t.ok(
    early.length < line.length && line.startsWith(early),
    'text runs ahead of audio that is still to come',
  );
});

for (const [format, silent] of [
  [{ encoding: 'alaw', rateHz: 8000 }, 0xd5],
  [{ encoding: 'pcm16', rateHz: 16000 }, 0],
  [{ encoding: 'pcm16', rateHz: 24000 }, 0],
] as const) {
  t.test(
    `a line of ${format.encoding} at ${format.rateHz / 1000} kHz: its frames, its silence, and milliseconds`,
    async (t) => {
      const playout = new Playout(format);
      const frame = frameBytes(format);
      playout.push('a', Buffer.alloc(130 * bytesPerMs(format), 7));
      playout.finish('a');
      const out = Buffer.alloc(2 * frame);
      const marks: (string | null)[] = [];
      let audio = Buffer.alloc(0);
      for (let bytes = playout.take(out); bytes > 0; bytes = playout.take(out)) {
        audio = Buffer.concat([audio, out.subarray(0, bytes)]);
        marks.push(playout.dueMark());
      }
      t.equal(audio.length, 7 * frame);
      t.ok(
        audio.subarray(130 * bytesPerMs(format)).every((byte) => byte === silent),
        'padded',
      );
      t.same(
        marks,
        [null, null, `0:${6 * frame}`, `0:${7 * frame}`],
        'behind three messages, and at the end',
      );
      t.equal(playout.confirmsMs(`0:${6 * frame}`), 120);
      t.same(playout.markPlayed(`0:${6 * frame}`), []);
      t.equal(playout.confirmsMs(`0:${6 * frame}`), 0, 'again: nothing new');
      t.equal(playout.confirmsMs(`1:${7 * frame}`), 0, 'of another stretch: nothing');
      t.equal(playout.heardMs('a'), 120);
      t.equal(playout.receivedMs('a'), 130);
      t.match(playout.markPlayed(`0:${7 * frame}`), [{ itemId: 'a' }]);
      t.equal(playout.heardMs('a'), 130);
    },
  );
}
