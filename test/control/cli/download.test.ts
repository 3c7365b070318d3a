// A download: whole, or as if it had never been.
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { saveAs } from '../../../control/cli/download.ts';

const never = new AbortController().signal;

t.test('a file is under its name when it is complete, for its owner only', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'call.wav');
  const seen: string[][] = [];
  async function* sound() {
    yield 'RIFF';
    seen.push(readdirSync(folder));
    yield ' and more';
  }
  await saveAs(Readable.from(sound()), file, never);
  t.match(seen, [[/^call\.wav\.[0-9a-f]{8}\.part$/]], 'another name meanwhile');
  t.equal(readFileSync(file, 'utf8'), 'RIFF and more');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(readdirSync(folder), ['call.wav']);
});

t.test('what breaks off or is interrupted leaves what was there', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'call.wav');
  writeFileSync(file, 'the one of before', { mode: 0o644 });
  async function* broken() {
    yield 'RIFF';
    throw new Error('terminated');
  }
  await t.rejects(saveAs(Readable.from(broken()), file, never), { message: 'terminated' });
  const stop = new AbortController();
  async function* endless() {
    yield 'RIFF';
    stop.abort();
    yield 'RIFF';
  }
  await t.rejects(saveAs(Readable.from(endless()), file, stop.signal), { name: 'AbortError' });
  t.equal(readFileSync(file, 'utf8'), 'the one of before');
  t.same(readdirSync(folder), ['call.wav'], 'and nothing else');

  const link = join(folder, 'latest.wav');
  symlinkSync(file, link);
  await saveAs(Readable.from(['a new one']), link, never);
  t.equal(readFileSync(file, 'utf8'), 'a new one', 'where a link leads');
  t.equal(statSync(file).mode & 0o777, 0o600);
  await t.rejects(saveAs(Readable.from(['x']), join(folder, 'none', 'a.wav'), never), { code: 'ENOENT' });
});

t.test('a device is written to, and stays one', async (t) => {
  await saveAs(Readable.from(['RIFF']), '/dev/null', never);
  t.ok(statSync('/dev/null').isCharacterDevice());
});
