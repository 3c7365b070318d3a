// The tag that the bench hides in sound: found wherever it lies, right to 10 us, and never where there is none.
import t from 'tap';
import { findTag, readTag, writeTag } from './load/tag.ts';
import { beginsAt, createShortTurns, createTrack, FRAME_BYTES, turnsIn } from './load/track.ts';

t.test('what was written is read', async (t) => {
  for (const [call, sequence, atMs] of [
    [0, 0, 0],
    [4095, 4_194_303, 123_456.78],
    [299, 80_000, 10_737_418.23],
  ] as const) {
    const frame = Buffer.alloc(FRAME_BYTES, 0xff);
    writeTag(frame, 0, call, sequence, atMs);
    const tag = readTag(frame, 0, atMs + 40);
    t.equal(tag?.call, call);
    t.equal(tag?.sequence, sequence);
    t.ok(Math.abs((tag?.atMs ?? 0) - atMs) <= 0.011, `${tag?.atMs} for ${atMs}`);
  }
});

t.test('a tag is found where frames do not begin at the first byte', async (t) => {
  const sound = Buffer.alloc(FRAME_BYTES * 2, 0x7f);
  writeTag(sound, 37, 5, 6, 7);
  t.equal(findTag(sound), 37);
  t.equal(readTag(sound, 36, 7), null);
});

t.test('speech itself holds none', async (t) => {
  const { mulaw } = createTrack();
  t.equal(findTag(mulaw), -1);
});

t.test('the callers of the bench speak as much as is said of them', async (t) => {
  const { activity, utterances, frames } = createTrack();
  t.ok(activity > 0.35 && activity < 0.4, `${(activity * 100).toFixed(1)} % of the time`);
  t.equal(utterances.filter((one) => one.bargesIn).length, 1);
  t.ok(utterances.every((one) => one.from < one.to && one.to <= frames));
});

t.test('short questions leave room for what ends each and for its answer', async (t) => {
  const { utterances, frames } = createShortTurns();
  for (const [index, { to }] of utterances.entries()) {
    const next = utterances[index + 1]?.from ?? frames;
    t.ok((next - to) * 20 >= 1_300, `${(next - to) * 20} ms after question ${index}`);
  }
  t.equal(Math.round(turnsIn(600, createTrack())), 106);
});

t.test('however many callers there are, about as many speak at any time', async (t) => {
  const track = createTrack();
  const speaks = (frame: number) => track.utterances.some(({ from, to }) => frame >= from && frame < to);
  for (const calls of [50, 100, 200, 430]) {
    const shares = Array.from({ length: track.frames / 10 }, (_, at) => {
      const speaking = Array.from({ length: calls }, (_, index) => beginsAt(index, track) + at * 10);
      return speaking.filter((frame) => speaks(frame % track.frames)).length / calls;
    });
    const [least, most] = [Math.min(...shares), Math.max(...shares)];
    t.ok(least > track.activity - 0.1 && most < track.activity + 0.1, `${calls}: ${least} to ${most}`);
  }
});
