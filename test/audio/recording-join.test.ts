// The parts of a call's recording made one, sample by sample, and done again by who was killed on the way.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import wavefile from 'wavefile';
import { openRecording } from '../../audio/recording.ts';
import { joinRecordings } from '../../audio/recording-join.ts';
import { writeSilence } from './silent-recording.ts';

const HEADER = 44;

/** Makes a recording of so many samples: the caller counts up from `first`, the agent down. */
async function part(path: string, first: number, samples: number): Promise<void> {
  const recording = await openRecording(path);
  const caller = Int16Array.from({ length: samples }, (_, i) => first + i);
  recording.write(
    caller,
    caller.map((sample) => -sample),
  );
  const { error, droppedFrames } = await recording.close();
  if (error !== null || droppedFrames > 0) throw error ?? new Error('the disk was too slow for this test');
}

/** Both sides of a file, as another library reads them. */
function read(path: string): { caller: number[]; agent: number[] } {
  const wav = new wavefile.WaveFile(readFileSync(path));
  const { sampleRate, numChannels, bitsPerSample } = wav.fmt as Record<string, number>;
  if (sampleRate !== 8000 || numChannels !== 2 || bitsPerSample !== 16) throw new Error('of another shape');
  const both = Array.from(wav.getSamples(true, Int16Array) as unknown as ArrayLike<number>);
  return { caller: both.filter((_, i) => i % 2 === 0), agent: both.filter((_, i) => i % 2 === 1) };
}

const counted = (first: number, samples: number) => Array.from({ length: samples }, (_, i) => first + i);
const silent = (samples: number) => new Array<number>(samples).fill(0);
const minus = (samples: number[]) => samples.map((sample) => 0 - sample);

/** A call in three parts: 100 ms, from 250 ms on 50 ms, from 400.125 ms on 25 ms. */
async function call(dir: string) {
  const out = join(dir, 'call.wav');
  const parts = [
    { path: out, offsetMs: 0 },
    { path: join(dir, 'call.2.wav'), offsetMs: 250 },
    { path: join(dir, 'call.3.wav'), offsetMs: 400.125 },
  ];
  await part(out, 1, 800);
  await part(parts[1]!.path, 2_000, 400);
  await part(parts[2]!.path, 4_000, 200);
  const caller = [
    ...counted(1, 800),
    ...silent(1_200),
    ...counted(2_000, 400),
    ...silent(801),
    ...counted(4_000, 200),
  ];
  return { out, parts, caller };
}

t.test('each part where it was said, silence between, on both sides', async (t) => {
  const dir = t.testdir();
  const { out, parts, caller } = await call(dir);
  t.same(await joinRecordings([parts[2]!, parts[0]!, parts[1]!], out), { path: out, durationMs: 425.125 });
  const wav = read(out);
  t.same(wav.caller, caller);
  t.same(wav.agent, minus(caller));
  t.same(readdirSync(dir), ['call.wav'], 'nothing is left beside it');
  t.equal(statSync(out).mode & 0o777, 0o600, 'only the owner may read it');
});

t.test('killed at any point: what is done again comes to the same', async (t) => {
  const whole = await (async () => {
    const { out, parts } = await call(t.testdir());
    await joinRecordings(parts, out);
    return readFileSync(out);
  })();
  // Which of the files a process that is gone has left: whether `out` is the whole one, and which parts are still there.
  const left = [
    { name: 'while it was written', joined: false, there: [1, 2] },
    { name: 'when it had its name', joined: true, there: [1, 2] },
    { name: 'when the first part was removed', joined: true, there: [2] },
    { name: 'where the folder forgot in another order', joined: true, there: [1] },
    { name: 'when all were removed', joined: true, there: [] },
  ];
  for (const { name, joined, there } of left) {
    const dir = t.testdir();
    const { out, parts } = await call(dir);
    const kept = join(dir, 'kept');
    for (const at of there) copyFileSync(parts[at]!.path, `${kept}.${at}`);
    if (joined) await joinRecordings(parts, out);
    for (const at of there) copyFileSync(`${kept}.${at}`, parts[at]!.path);
    if (!joined) writeFileSync(`${out}.joining`, Buffer.alloc(100_000, 7));
    t.match(await joinRecordings(parts, out), { durationMs: 425.125 }, name);
    t.same(readFileSync(out), whole, name);
    for (const at of [1, 2]) t.notOk(existsSync(parts[at]!.path), name);
  }
});

t.test('killed at one moment after the other: whole in the end, and never half there', async (t) => {
  const dir = t.testdir();
  const out = join(dir, 'call.wav');
  // Long enough to be killed in.
  const lengthMs = 120_000;
  const parts = [{ path: out, offsetMs: 0 }];
  await part(out, 1, 8_000);
  await writeSilence(join(dir, 'call.2.wav'), lengthMs / 1000);
  parts.push({ path: join(dir, 'call.2.wav'), offsetMs: 2_000 });
  await part(join(dir, 'call.3.wav'), 9_000, 800);
  parts.push({ path: join(dir, 'call.3.wav'), offsetMs: lengthMs + 3_000 });
  const caller = { begins: counted(1, 8_000), ends: counted(9_000, 800) };
  const lengths = new Set<number>();
  let killed = 0;
  for (let run = 0; run < 8; run++) {
    const told = JSON.stringify({ parts, out });
    const child = spawn(process.execPath, [join(import.meta.dirname, 'join-once.ts'), told], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const timer = setTimeout(() => child.kill('SIGKILL'), 2 * run);
    const [, signal] = await ended;
    clearTimeout(timer);
    if (signal === 'SIGKILL') killed++;
    lengths.add(statSync(out).size);
  }
  const bytes = HEADER + ((lengthMs + 3_100) / 1000) * 32_000;
  t.ok(
    [...lengths].every((length) => length === HEADER + 32_000 || length === bytes),
    `${killed} of 8 were killed: ${[...lengths].join()}`,
  );
  t.match(await joinRecordings(parts, out), { durationMs: lengthMs + 3_100 });
  const { caller: found } = read(out);
  t.same(found.slice(0, 8_000), caller.begins);
  t.ok(found.slice(8_000, -800).every((sample) => sample === 0));
  t.same(found.slice(-800), caller.ends);
  t.same(readdirSync(dir), ['call.wav']);
});

t.test('a part that a crash broke off counts as far as it goes', async (t) => {
  const { out, parts, caller } = await call(t.testdir());
  // As a kill leaves it: the sizes of the beginning, and half a sample at the end.
  const bytes = readFileSync(out);
  bytes.writeUInt32LE(36, 4);
  bytes.writeUInt32LE(0, 40);
  writeFileSync(out, bytes);
  truncateSync(out, HEADER + 4 * 700 + 3);
  await joinRecordings(parts, out);
  t.same(read(out).caller, [...caller.slice(0, 700), ...silent(100), ...caller.slice(800)]);
});

t.test('a part that is not there or holds nothing is left out', async (t) => {
  const dir = t.testdir();
  const { out, parts, caller } = await call(dir);
  writeFileSync(parts[1]!.path, '');
  const named = [...parts, { path: join(dir, 'never.wav'), offsetMs: 90_000 }];
  await joinRecordings(named, out);
  t.same(read(out).caller, [...caller.slice(0, 800), ...silent(2_401), ...caller.slice(3_201)]);
  t.notOk(existsSync(parts[1]!.path));
});

t.test('the first part is gone: the call`s time stays right', async (t) => {
  const dir = t.testdir();
  const { out, parts } = await call(dir);
  writeFileSync(out, 'damaged');
  await joinRecordings(parts.slice(0, 2), out);
  t.same(read(out).caller, [...silent(2_000), ...counted(2_000, 400)]);
});

t.test('a later part is heard where two overlap', async (t) => {
  const dir = t.testdir();
  const { out, parts } = await call(dir);
  await joinRecordings([parts[0]!, { path: parts[1]!.path, offsetMs: 50 }], out);
  t.same(read(out).caller, [...counted(1, 400), ...counted(2_000, 400)]);
});

t.test('of one part alone nothing is copied, and a broken one is mended', async (t) => {
  const { out, parts, caller } = await call(t.testdir());
  const before = statSync(out).ino;
  truncateSync(out, HEADER + 4 * 300);
  t.same(await joinRecordings(parts.slice(0, 1), out), { path: out, durationMs: 37.5 });
  t.equal(statSync(out).ino, before);
  t.same(read(out).caller, caller.slice(0, 300));
});

t.test('no part: nothing', async (t) => {
  const dir = t.testdir();
  const out = join(dir, 'call.wav');
  t.equal(await joinRecordings([{ path: out, offsetMs: 0 }], out), null);
  t.same(readdirSync(dir), []);
});

t.test('where it cannot be written, everything is as it was', async (t) => {
  const dir = t.testdir();
  const { parts } = await call(dir);
  const before = readdirSync(dir);
  await t.rejects(joinRecordings(parts, join(dir, 'nowhere', 'call.wav')), { code: 'ENOENT' });
  t.same(readdirSync(dir), before);
});

t.test('a long call is joined in pieces', async (t) => {
  const dir = t.testdir();
  const out = join(dir, 'call.wav');
  const bytes = await writeSilence(out, 1_200);
  await writeSilence(join(dir, 'call.2.wav'), 600);
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  const parts = [
    { path: out, offsetMs: 0 },
    { path: join(dir, 'call.2.wav'), offsetMs: 1_210_000 },
  ];
  t.match(await joinRecordings(parts, out), { durationMs: 1_810_000 });
  clearInterval(watching);
  t.ok(most < bytes / 10, `${most} bytes of ${bytes} at once`);
});
