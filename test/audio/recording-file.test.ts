// What becomes of a recording's file: other shapes of it, as wavefile reads them; its repair is in recording.test.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import wavefile from 'wavefile';
import { openRecording } from '../../audio/recording.ts';
import { exportRecording, type RecordingShape } from '../../audio/recording-file.ts';
import { readFixture } from './fixtures.ts';
import { writeSilence } from './silent-recording.ts';

async function record(path: string, caller: Int16Array, agent: Int16Array): Promise<void> {
  const recording = await openRecording(path);
  for (let from = 0; from < caller.length; from += 8000) {
    // The disk takes a second at a time.
    recording.write(caller.subarray(from, from + 8000), agent.subarray(from, from + 8000));
    await new Promise(setImmediate);
  }
  const { droppedFrames } = await recording.close();
  if (droppedFrames > 0) throw new Error('the disk was too slow for this test');
}

async function read(path: string, shape: RecordingShape) {
  const { bytes, sound } = await exportRecording(path, shape);
  const whole = await buffer(sound);
  if (whole.length !== bytes) throw new Error(`${bytes} bytes were promised and ${whole.length} came`);
  const wav = new wavefile.WaveFile(whole);
  const { numChannels = 0, sampleRate = 0 } = wav.fmt as Record<string, number>;
  const all = Int16Array.from(wav.getSamples(true, Int16Array));
  const channel = (at: number) => all.filter((_, i) => i % numChannels === at);
  return { numChannels, sampleRate, first: channel(0), second: numChannels === 2 ? channel(1) : null };
}

t.test('one side, both in one, both beside each other, at either rate', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  const caller = readFixture('caller-thanks');
  const agent = readFixture('jfk-8k').subarray(0, caller.length);
  await record(path, caller, agent);
  const mixed = caller.map((sample, i) => Math.max(-32768, Math.min(32767, sample + agent[i]!)));
  const wanted = {
    stereo: [caller, agent],
    caller: [caller, null],
    agent: [agent, null],
    mono: [mixed, null],
  } as const;
  for (const [channels, [first, second]] of Object.entries(wanted)) {
    for (const rateHz of [8000, 16000] as const) {
      const got = await read(path, { channels: channels as RecordingShape['channels'], rateHz });
      t.match(got, { numChannels: second === null ? 1 : 2, sampleRate: rateHz }, `${channels}, ${rateHz} Hz`);
      // At twice the rate every second sample is one of the recording: nothing is late, and no piece is seen at its seams.
      const kept = (pcm: Int16Array) => (rateHz === 8000 ? pcm : pcm.filter((_, i) => i % 2 === 0));
      t.equal(got.first.length, first.length * (rateHz / 8000));
      t.same(kept(got.first), first);
      if (second !== null && got.second !== null) t.same(kept(got.second), second);
    }
  }
});

t.test('an empty recording is an empty file of the right shape', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  await (await openRecording(path)).close();
  t.match(await read(path, { channels: 'mono', rateHz: 8000 }), { numChannels: 1, first: { length: 0 } });
});

t.test('an hour is converted in small pieces, and others have their turn between them', async (t) => {
  const path = join(t.testdir(), 'hour.wav');
  const bytes = await writeSilence(path, 3600);

  const { bytes: promised, sound } = await exportRecording(path, { channels: 'stereo', rateHz: 16000 });
  t.equal(promised, 44 + 2 * bytes);
  // Left in the middle, it says so.
  sound.on('error', () => {});
  let turns = 0;
  let pieces = 0;
  let longest = 0;
  let came = 0;
  const count = () => {
    turns++;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  for await (const piece of sound as AsyncIterable<Buffer>) {
    pieces++;
    came += piece.length;
    longest = Math.max(longest, piece.length);
    // Enough to see; the rest is as this.
    if (pieces === 400) break;
  }
  clearImmediate(turn);
  t.ok(longest <= 131_072, `${longest} bytes at once`);
  t.ok(turns >= pieces / 2, `${turns} turns of the event loop in ${pieces} pieces`);
  t.ok(came < promised);
  await closed(sound);
});

/** A stream that is left in the middle gives its file back. */
async function closed(sound: Readable): Promise<void> {
  if (!sound.closed) await new Promise((done) => sound.once('close', done));
}

t.test('a file that is none of ours, or damaged, is refused', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'call.wav');
  const shape = { channels: 'mono', rateHz: 8000 } as const;
  await record(path, new Int16Array(800), new Int16Array(800));
  const good = readFileSync(path);
  const other = new wavefile.WaveFile();
  other.fromScratch(1, 8000, '16', [1, 2, 3]);
  for (const [name, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['half a header', good.subarray(0, 30)],
    ['mono', Buffer.from(other.toBuffer())],
    ['text', Buffer.from('RIFF....WAVE and more than forty-four bytes of nothing like it')],
  ] as const) {
    writeFileSync(path, bytes);
    await t.rejects(exportRecording(path, shape), /not a call recording/, name);
  }
  await t.rejects(exportRecording(join(dir, 'none.wav'), shape), { code: 'ENOENT' });
  // One that a crash left: as far as it goes.
  writeFileSync(path, good.subarray(0, 44 + 400));
  t.equal((await read(path, shape)).first.length, 100);
});
