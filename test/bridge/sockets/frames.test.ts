// Frames of a websocket on their way out, taken apart by hand: every form of length, masks, and a writer that is used again.
import t from 'tap';
import { FrameWriter } from '../../../bridge/sockets/frames.ts';
import { readFrame } from './written.ts';

/** Where the form of the length changes, and around the writer's own room. */
const LENGTHS = [0, 1, 2, 3, 4, 5, 124, 125, 126, 127, 4_079, 4_080, 4_081, 65_535, 65_536, 200_001];
const MASKS = [null, 0, 1, -1, 0x01020304, -0x12345678];

t.test('messages of any length, with and without a mask', async (t) => {
  const writer = new FrameWriter();
  for (const mask of MASKS) {
    for (const length of LENGTHS) {
      const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 7 + length) & 0xff));
      const frame = readFrame(writer.binary().bytes(bytes).take(mask));
      t.ok(
        frame.data.equals(bytes) && frame.isBinary && frame.masked === (mask !== null),
        `${length} bytes, mask ${mask}`,
      );
    }
  }
});

t.test('a mask is on the bytes that go out, and differs where it differs', async (t) => {
  const writer = new FrameWriter();
  const masked = (mask: number) => writer.text('the same words').take(mask);
  t.notOk(masked(0x01020304).includes('words'));
  t.notSame(masked(1), masked(2));
  t.same(readFrame(masked(1)).data.toString(), 'the same words');
});

t.test('text, base64, bytes and numbers in a row; the next message begins anew', async (t) => {
  const writer = new FrameWriter();
  const bytes = Buffer.from([0, 1, 2, 0xff]);
  const first = writer.text('{"größe":"').base64(bytes).text('","🎧":').bytes(Buffer.from('7}')).take(null);
  t.same(JSON.parse(readFrame(first).data.toString()), { größe: 'AAEC/w==', '🎧': 7 });
  t.notOk(readFrame(first).isBinary);
  const second = readFrame(writer.binary().uint32(0xfffefdfc).uint32(1).bytes(bytes).take(null));
  t.same([...second.data], [0xff, 0xfe, 0xfd, 0xfc, 0, 0, 0, 1, 0, 1, 2, 0xff]);
  t.ok(second.isBinary);
  t.notOk(readFrame(writer.text('text again').take(null)).isBinary);
  writer.binary().text('half a mess');
  writer.drop();
  t.same(readFrame(writer.text('whole').take(null)), {
    data: Buffer.from('whole'),
    isBinary: false,
    masked: false,
  });
});

t.test('a frame is memory of its own: the next message does not touch it', async (t) => {
  const writer = new FrameWriter();
  const first = writer.text('a'.repeat(300)).take(null);
  writer.text('b'.repeat(300)).take(7);
  t.equal(readFrame(first).data.toString(), 'a'.repeat(300));
});
