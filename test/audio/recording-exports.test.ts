// Exports in a thread of their own: the same bytes as without it, at next to nothing of this thread's time.
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import t, { type Test } from 'tap';
import { openRecording } from '../../audio/recording.ts';
import { openRecordingExports } from '../../audio/recording-exports.ts';
import { exportRecording, NotARecording, type RecordingShape } from '../../audio/recording-file.ts';
import { writeSilence } from './silent-recording.ts';

const SHAPES: RecordingShape[] = [
  { channels: 'mono', rateHz: 8000 },
  { channels: 'stereo', rateHz: 16000 },
  { channels: 'caller', rateHz: 16000 },
];

function open(t: Test) {
  const exports = openRecordingExports();
  t.teardown(() => exports.close());
  return exports;
}

t.test('several at once have the bytes that each would have by itself', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  const recording = await openRecording(path);
  for (let from = 0; from < 20; from++) {
    const sound = Int16Array.from({ length: 4000 }, (_, i) => 9000 * Math.sin((from * 4000 + i) / 5));
    recording.write(sound, sound.toReversed());
    await new Promise(setImmediate);
  }
  await recording.close();
  const exports = open(t);
  const all = await Promise.all(
    [...SHAPES, ...SHAPES].map(async (shape) => {
      const { bytes, sound } = await exports.open(path, shape);
      return { shape, bytes, got: await buffer(sound) };
    }),
  );
  for (const { shape, bytes, got } of all) {
    const alone = await exportRecording(path, shape);
    t.equal(bytes, alone.bytes);
    t.ok(got.equals(await buffer(alone.sound)), `${shape.channels}, ${shape.rateHz} Hz`);
  }
});

t.test('the last piece is the end, without another turn of the loop', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  await writeSilence(path, 5);
  const { bytes, sound } = await open(t).open(path, { channels: 'mono', rateHz: 8000 });
  let got = 0;
  const ended = await new Promise<boolean>((all) => {
    sound.on('data', (piece: Uint8Array) => {
      got += piece.length;
      if (got === bytes) setImmediate(() => all(sound.readableEnded));
    });
  });
  t.ok(ended);
});

t.test('what is no recording, or is not there, is told as without the thread', async (t) => {
  const exports = open(t);
  const [shape] = SHAPES as [RecordingShape];
  await t.rejects(exports.open(join(t.testdir(), 'none.wav'), shape), { code: 'ENOENT' });
  const refused = await exports.open(import.meta.filename, shape).catch((error: unknown) => error);
  t.ok(refused instanceof NotARecording);
});

t.test('this thread has little of the work', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  await writeSilence(path, 900);
  const shape = { channels: 'stereo', rateHz: 16000 } as const;
  const exports = open(t);
  const nowhere = () => new Writable({ write: (_piece, _encoding, done) => done() });
  const own = async (work: () => Promise<void>) => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  // The first one starts the thread.
  await pipeline((await exports.open(path, SHAPES[0] as RecordingShape)).sound, nowhere());
  const beside = await own(async () => pipeline((await exports.open(path, shape)).sound, nowhere()));
  const here = await own(async () => pipeline((await exportRecording(path, shape)).sound, nowhere()));
  t.ok(beside < here / 2, `${beside.toFixed(0)} ms of CPU where it was ${here.toFixed(0)}`);
});

t.test('left in the middle it ends, and so does everything at the close', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  await writeSilence(path, 60);
  const exports = open(t);
  const [shape] = SHAPES as [RecordingShape];
  const [left, other] = [await exports.open(path, shape), await exports.open(path, shape)];
  left.sound.destroy();
  t.equal((await buffer(other.sound)).length, other.bytes, 'another goes on');
  const last = await exports.open(path, shape);
  const read = buffer(last.sound);
  read.catch(() => {});
  await exports.close();
  await exports.close();
  await t.rejects(read);
  await t.rejects(exports.open(path, shape));
});
