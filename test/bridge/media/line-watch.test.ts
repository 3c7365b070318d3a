// When a carrier's line is slow, and when it is dead, by table. Times in ms; limits from the module's own constants.
import t from 'tap';
import {
  FIRST_FRAME_MS,
  type LineState,
  LineWatch,
  MEDIA_TIMEOUT_MS,
  SLOW_BYTES,
  STUCK_BYTES,
  STUCK_MS,
  UNPLAYED_HOLD_MS,
  UNPLAYED_LIMIT_MS,
} from '../../../bridge/media/line-watch.ts';

/** Frames come all the time until `untilMs`. */
function frames(line: LineWatch, untilMs: number): void {
  for (let at = 0; at <= untilMs; at += 20) line.frame(at);
}

const CASES: [name: string, run: (line: LineWatch) => LineState, expected: LineState][] = [
  ['a new line', (line) => line.look(0, 0), 'open'],
  ['no frame yet, at the limit', (line) => line.look(FIRST_FRAME_MS, 0), 'open'],
  ['no frame yet, beyond the limit', (line) => line.look(FIRST_FRAME_MS + 1, 0), 'media_timeout'],
  [
    'frames stopped, at the limit',
    (line) => {
      line.frame(100);
      return line.look(100 + MEDIA_TIMEOUT_MS, 0);
    },
    'open',
  ],
  [
    'frames stopped, beyond the limit',
    (line) => {
      line.frame(100);
      return line.look(101 + MEDIA_TIMEOUT_MS, 0);
    },
    'media_timeout',
  ],
  [
    'the thread stood still, and has read nothing yet',
    (line) => {
      line.frame(100);
      line.markSent(100);
      line.look(120, STUCK_BYTES + 1);
      return line.look(120 + 3 * MEDIA_TIMEOUT_MS, STUCK_BYTES + 1);
    },
    'slow',
  ],
  [
    'the thread stood still, and then no frame comes',
    (line) => {
      line.frame(100);
      for (const at of [100, 40_100]) line.look(at, 0);
      for (let at = 40_200; at < 40_100 + MEDIA_TIMEOUT_MS; at += 100) line.look(at, 0);
      return line.look(40_200 + MEDIA_TIMEOUT_MS, 0);
    },
    'media_timeout',
  ],
  ['bytes wait', (line) => line.look(10, SLOW_BYTES + 1), 'slow'],
  [
    'many bytes wait, not for long',
    (line) => {
      line.look(10, STUCK_BYTES + 1);
      return line.look(10 + STUCK_MS, STUCK_BYTES + 1);
    },
    'slow',
  ],
  [
    'many bytes wait too long',
    (line) => {
      line.look(10, STUCK_BYTES + 1);
      return line.look(11 + STUCK_MS, STUCK_BYTES + 1);
    },
    'carrier_backpressure',
  ],
  [
    'many bytes wait, are taken, and wait again',
    (line) => {
      line.look(10, STUCK_BYTES + 1);
      line.look(2_000, 0);
      line.look(4_000, STUCK_BYTES + 1);
      return line.look(11 + STUCK_MS, STUCK_BYTES + 1);
    },
    'slow',
  ],
  [
    'a mark is owed, at the limit of holding',
    (line) => {
      line.markSent(0);
      return line.look(UNPLAYED_HOLD_MS, 0);
    },
    'open',
  ],
  [
    'a mark is owed: more audio would only come late',
    (line) => {
      line.markSent(0);
      line.markSent(100);
      return line.look(UNPLAYED_HOLD_MS + 1, 0);
    },
    'slow',
  ],
  [
    'the mark came back',
    (line) => {
      line.markSent(0);
      line.markBack(2_000);
      return line.look(UNPLAYED_HOLD_MS + 1, 0);
    },
    'open',
  ],
  [
    'one of two marks came back: the other is waited for from then on',
    (line) => {
      line.markSent(0);
      line.markSent(100);
      line.markBack(2_000);
      return line.look(2_000 + UNPLAYED_HOLD_MS, 0);
    },
    'open',
  ],
  [
    'no mark comes back at all, while the caller is still heard',
    (line) => {
      line.markSent(0);
      frames(line, UNPLAYED_LIMIT_MS);
      return line.look(UNPLAYED_LIMIT_MS + 1, 0);
    },
    'carrier_backpressure',
  ],
  [
    'what was cleared is owed no more',
    (line) => {
      line.markSent(0);
      line.markSent(1_000);
      line.cleared();
      frames(line, UNPLAYED_LIMIT_MS);
      return line.look(UNPLAYED_LIMIT_MS + 1, 0);
    },
    'open',
  ],
  [
    'what was sent after a clear is owed from then on',
    (line) => {
      line.markSent(0);
      line.cleared();
      line.markSent(2_000);
      return line.look(2_001 + UNPLAYED_HOLD_MS, 0);
    },
    'slow',
  ],
  [
    'marks that were never sent are no credit',
    (line) => {
      line.markBack(0);
      line.markBack(0);
      line.markSent(10);
      return line.look(11 + UNPLAYED_HOLD_MS, 0);
    },
    'slow',
  ],
];

for (const [name, run, expected] of CASES) {
  t.test(`${name} -> ${expected}`, async (t) => {
    t.equal(run(new LineWatch(0)), expected);
  });
}

t.test('when it was last heard: a frame or a mark, whatever stood still meanwhile', async (t) => {
  const line = new LineWatch(5);
  t.equal(line.heardMs, 5, 'its start');
  line.frame(100);
  line.markSent(150);
  t.equal(line.heardMs, 100);
  line.markBack(200);
  line.look(220, 0);
  line.look(60_000, 0);
  t.equal(line.heardMs, 200);
});
