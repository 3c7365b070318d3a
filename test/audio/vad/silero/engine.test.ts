// Our own engine for Silero: what onnxruntime says of the same sound, whatever else is in a run; each call's memory its own;
// files that are another model; and what a program has loaded that uses it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { VadEngine } from '../../../../audio/vad/engine.ts';
import { VAD_MODELS, type VadModelName } from '../../../../audio/vad/models.ts';
import { openSileroEngine } from '../../../../audio/vad/silero/engine.ts';
import { readWeights } from '../../../../audio/vad/silero/weights.ts';
import { readFixture, toMulaw } from '../../fixtures.ts';
import { compare } from './oracle.ts';

const ROW = 288;
const SPEECH = toMulaw(readFixture('caller-more-info'));
/** A window of speech behind its context, from anywhere. */
const window = (n: number) => SPEECH.subarray((n * 256) % 60_000, ((n * 256) % 60_000) + ROW);

for (const model of ['v5', 'v6'] as const) {
  for (const relaxed of [true, false]) {
    t.test(
      `${model}, ${relaxed ? 'relaxed' : 'plain'}: as onnxruntime over minutes of the set`,
      async (t) => {
        const found = await compare({ model, relaxed, minutes: 8 });
        t.ok(found.windows > 14_000, `${found.windows} windows`);
        t.ok(
          found.speech > found.windows * 0.2 && found.speech < found.windows * 0.9,
          `${found.speech} of speech`,
        );
        t.ok(found.worst < 1e-5, `${found.worst} at most`);
      },
    );
  }
}

/** The answers to one call's windows, each run with `beside` other rows before it. */
function answers(engine: VadEngine, windows: number, beside: number): number[] {
  const memory = engine.openMemory();
  const others = Array.from({ length: beside }, () => engine.openMemory());
  const found: number[] = [];
  for (let n = 0; n < windows; n++) {
    for (const [row, other] of others.entries()) engine.load(row, other, window(n * 7 + row), n === 0);
    engine.load(beside, memory, window(n), n === 0);
    engine.run(beside + 1);
    found.push(engine.probability(beside));
  }
  for (const one of [memory, ...others]) engine.closeMemory(one);
  return found;
}

t.test('a window is answered alike in a run of any size, at any place in it', async (t) => {
  for (const relaxed of [true, false]) {
    const engine = await openSileroEngine(VAD_MODELS.v5, { relaxed });
    const alone = answers(engine, 60, 0);
    t.ok(Math.max(...alone) > 0.9 && Math.min(...alone) < 0.1, 'speech and silence');
    for (const beside of [1, 2, 3, 4, 5, 6, 7, 31, engine.maxRows - 1]) {
      const found = answers(engine, 60, beside);
      const worst = Math.max(...found.map((probability, n) => Math.abs(probability - alone[n]!)));
      t.ok(worst < 1e-6, `beside ${beside} others: ${worst}`);
    }
  }
});

t.test('a memory is empty when it is told to be, and goes on otherwise', async (t) => {
  const engine = await openSileroEngine(VAD_MODELS.v5);
  const first = answers(engine, 20, 0);
  t.same(answers(engine, 20, 0), first, 'given back and taken again: nothing is left of the call before');
  const memory = engine.openMemory();
  const found: number[] = [];
  for (let n = 0; n < 40; n++) {
    engine.load(0, memory, window(n % 20), n === 0);
    engine.run(1);
    found.push(engine.probability(0));
  }
  t.same(found.slice(0, 20), first);
  t.notSame(found.slice(20), first, 'the second time it remembers the first');
});

t.test('more calls than there was room for: what is remembered of the first stays', async (t) => {
  const engine = await openSileroEngine(VAD_MODELS.v5);
  const whole = answers(engine, 20, 0);
  const memories = [engine.openMemory()];
  const found: number[] = [];
  for (let n = 0; n < 20; n++) {
    // 1,000 more in the end: the memory grows by pages of 64.
    for (let i = 0; i < 50; i++) memories.push(engine.openMemory());
    engine.load(0, memories[0]!, window(n), n === 0);
    engine.load(1, memories.at(-1)!, window(n), true);
    engine.run(2);
    found.push(engine.probability(0));
    // A call's first window, whoever had the place before.
    if (n === 0) t.equal(engine.probability(1), engine.probability(0));
  }
  t.same(new Set(memories).size, 1_001, 'each its own');
  const worst = Math.max(...found.map((probability, n) => Math.abs(probability - whole[n]!)));
  t.ok(worst < 1e-6, `${worst}`);
});

const fileOf = (name: VadModelName) =>
  readFileSync(fileURLToPath(import.meta.resolve(VAD_MODELS[name].file)));

/** The file with every `from` in it replaced; both are as long. */
function altered(from: string | Buffer, to: string | Buffer): Buffer {
  const file = Buffer.from(fileOf('v5'));
  let found = 0;
  for (let at = file.indexOf(from); at >= 0; at = file.indexOf(from, at + 1), found++)
    file.write(to.toString('latin1'), at, 'latin1');
  if (found === 0) throw new Error('it is not in the file');
  return file;
}

t.test('a file that is another model is refused, and it is said why', async (t) => {
  const wanted = VAD_MODELS.v5;
  const refused = (file: Uint8Array, why: RegExp) =>
    t.throws(() => readWeights(file, wanted), { message: why });
  t.equal(readWeights(fileOf('v5'), wanted).length, 198_531);
  refused(fileOf('v4'), /^it takes input,sr,h,c and gives output,hn,cn$/);
  refused(fileOf('v5').subarray(0, 1_000_000), /cut short/);
  refused(Buffer.from('<html>not found</html>'), /^it is no ONNX file/);
  refused(Buffer.alloc(0), /^it takes nothing/);
  // The length of its graph goes on and on.
  refused(Buffer.from([0x3a, ...Array(200).fill(0x80), 0]), /^it is no ONNX file/);
  const branch = 'If_0_else_branch__Inline_0__';
  refused(
    altered(`${branch}encoder.1.reparam_conv.bias`, `${branch}encoder.1.reparam_conv.vias`),
    /^it has no encoder\.1\.reparam_conv\.bias$/,
  );
  const bias = tailOf('encoder.1.reparam_conv.bias', 256);
  const broken = Buffer.from(bias);
  broken.writeFloatLE(Number.NaN, 8);
  refused(altered(bias, broken), /^its encoder\.1\.reparam_conv\.bias has what is no number$/);
  // The same window and spectrum but for one value of a sine: 1 at a quarter of the window, made 1.5.
  const basis = tailOf('stft.forward_basis_buffer', 66_560);
  const changed = Buffer.from(basis);
  changed.writeFloatLE(1.5, changed.length - 4 * 60);
  refused(altered(basis, changed), /^its spectrum is not a windowed Fourier transform$/);
});

/** The last bytes, 512 at most, of a constant for 8 kHz as they stand in the file. @param bytes of all its floats */
function tailOf(name: string, bytes: number): Buffer {
  const file = fileOf('v5');
  // Raw data, 9: its field's key and, seven bits a byte, its length.
  const head = [0x4a];
  for (let left = bytes; left > 0; left >>= 7) head.push((left & 127) | (left > 127 ? 128 : 0));
  const at =
    file.indexOf(Buffer.from(head), file.indexOf(`If_0_else_branch__Inline_0__${name}`)) + head.length;
  return file.subarray(at + bytes - Math.min(bytes, 512), at + bytes);
}

t.test('whoever opens it by its name is told which file is wrong', async (t) => {
  const { v4, v5 } = VAD_MODELS;
  await t.rejects(openSileroEngine({ ...v5, file: v4.file }), {
    message: `the voice detector's model ${v4.file} is not Silero v5: it takes input,sr,h,c and gives output,hn,cn`,
  });
  const file = '@ricky0123/vad-web/dist/silero_vad_v7.onnx';
  await t.rejects(openSileroEngine({ ...v5, file }), {
    message: `the voice detector's model ${file} cannot be loaded`,
  });
});

/** Libraries of others that a program has loaded when it has opened the detector of a model and run a window. */
function libraries(model: VadModelName): string[] {
  const code = `
    import { openVadBatch } from ${JSON.stringify(new URL('../../../../audio/vad/batch.ts', import.meta.url).href)};
    const vad = await openVadBatch({ model: '${model}', gate: false });
    vad.openLane(() => {}).push(new Uint8Array(512));
    await vad.run();
    process.report.excludeNetwork = true;
    console.log(JSON.stringify(process.report.getReport().sharedObjects.filter((file) => file.includes('node_modules'))));
  `;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }),
  ) as string[];
}

t.test('onnxruntime is loaded for the models that need it, and for no other', async (t) => {
  t.same(libraries('v5'), []);
  t.same(libraries('v6'), []);
  t.ok(libraries('v4').some((file) => file.includes('onnxruntime')));
});
