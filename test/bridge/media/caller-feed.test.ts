// What a model is given of the caller's sound, and from when to when.
import t from 'tap';
import { type AudioFormat, bytesPerMs, FRAME_MS, frameBytes, MULAW_8K } from '../../../audio/format.ts';
import { CallerFeed, PREROLL_MS } from '../../../bridge/media/caller-feed.ts';
import type { ModelCapabilities, ModelSession } from '../../../bridge/models/model.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';

const WIDE: AudioFormat = { encoding: 'pcm16', rateHz: 16000 };
const WIDEST: AudioFormat = { encoding: 'pcm16', rateHz: 24000 };

/** Answers what the model was told: milliseconds of sound, and verbs. */
function open(
  can: Partial<ModelCapabilities> = {},
  line = MULAW_8K,
  takes = MULAW_8K,
  endTurn?: () => number | null,
) {
  const told: (number | string)[] = [];
  const given: Buffer[] = [];
  const model: Partial<ModelSession> = {
    capabilities: { ...TURN_BY_TURN, ...can },
    takes,
    appendAudio(payload) {
      told.push(payload.length / bytesPerMs(takes));
      given.push(payload);
    },
    clearAudio: () => void told.push('clear'),
    endTurn: endTurn ?? (() => told.push('end')),
  };
  const feed = new CallerFeed(model as ModelSession, line);
  const hears = (fromMs: number, toMs: number, format = line) => {
    for (let atMs = fromMs; atMs < toMs; atMs += FRAME_MS) feed.push(Buffer.alloc(frameBytes(format)), atMs);
  };
  return { feed, hears, told, given };
}

t.test('a turn is given from a little before its onset until it is over', async (t) => {
  const { feed, hears, told } = open();
  hears(0, 2_000);
  t.same(told, [], 'nobody speaks');
  feed.listen(1_900);
  t.same(told, [100 + PREROLL_MS]);
  hears(2_000, 2_040);
  feed.endTurn();
  hears(2_040, 2_100);
  t.same(told.slice(1), [FRAME_MS, FRAME_MS, 'end']);
});

t.test('no more is given than is kept, and none where there is none', async (t) => {
  const { feed, hears, told } = open();
  feed.listen(0);
  t.same(told, []);
  feed.forget();
  hears(0, 6_000);
  feed.listen(500);
  t.same(told, ['clear', 4_000]);
});

t.test('a word is a turn by itself, and none of it is given again', async (t) => {
  const { feed, hears, told } = open();
  hears(0, 2_000);
  t.not(feed.giveWord(1_500), null);
  t.same(told, [500 + PREROLL_MS, 'end']);
  hears(2_000, 2_200);
  t.equal(told.length, 2, 'and the model is given nothing more');
  feed.listen(1_700);
  t.same(told.slice(2), [200], 'what was said since');
  hears(2_200, 2_220);
  feed.endTurn();
  hears(2_220, 4_000);
  feed.listen(3_900);
  t.equal(told.at(-1), 100 + PREROLL_MS);
});

t.test('a word of which too little is kept is none', async (t) => {
  const { feed, told } = open({}, MULAW_8K, MULAW_8K, () => null);
  t.equal(feed.giveWord(0), null);
  t.same(told, ['clear']);
});

t.test('words from before a stall are given whole, with the silence that was kept meanwhile', async (t) => {
  const { feed, hears, told } = open();
  hears(0, 1_760);
  // What came late of the last 760 ms, and the sound after it.
  hears(1_000, 2_000);
  feed.listen(900);
  t.same(told, [PREROLL_MS + 860 + 1_000]);
  feed.endTurn();
  hears(2_000, 2_020);
  feed.listen(1_500);
  t.equal(told.at(-1), PREROLL_MS + 520);
});

t.test('what comes late after a word that was given is none of it', async (t) => {
  for (const onsetMs of [900, 1_100]) {
    const { feed, hears, told } = open();
    hears(0, 1_760);
    feed.giveWord(900);
    // The last 760 ms were silence in its place.
    hears(1_000, 2_000);
    feed.listen(onsetMs);
    t.same(told, [PREROLL_MS + 860, 'end', 1_000], `from ${onsetMs}`);
  }
});

t.test('what a stream before brought is no beginning of a turn on the next', async (t) => {
  const { feed, hears, told } = open();
  hears(0, 2_000);
  hears(30_000, 30_200);
  feed.listen(30_100);
  t.same(told, [200]);
});

t.test('what was no turn is forgotten, where a model can', async (t) => {
  for (const commits of [true, false]) {
    const { feed, hears, told } = open({ commits });
    feed.listen(0);
    feed.forget();
    hears(0, 40);
    t.same(told, commits ? ['clear'] : []);
  }
});

t.test('a model that tells the turns is given all, and nothing twice', async (t) => {
  const { feed, hears, told } = open({ turns: 'model' });
  hears(0, 40);
  feed.listen(20);
  feed.endTurn();
  feed.close();
  hears(40, 60);
  t.same(told, [FRAME_MS, FRAME_MS, 'end', FRAME_MS]);
});

t.test('what the line brings and the model takes is the same -> the very same buffer is given', async (t) => {
  for (const format of [MULAW_8K, WIDE, WIDEST]) {
    const { feed, given } = open({ turns: 'model' }, format, { ...format });
    const frame = Buffer.alloc(frameBytes(format));
    feed.push(frame, 0);
    t.equal(given[0], frame);
  }
});

t.test('a wide line: what is kept is what came, and converted once', async (t) => {
  for (const takes of [MULAW_8K, WIDE, WIDEST]) {
    const { feed, hears, told } = open({}, WIDE, takes);
    hears(0, 2_000);
    feed.listen(1_900);
    hears(2_000, 2_040);
    t.same(told, [100 + PREROLL_MS, FRAME_MS, FRAME_MS]);
  }
});

t.test('a stream in another format than the line was thought to bring', async (t) => {
  const { feed, hears, told } = open({}, MULAW_8K, WIDEST);
  feed.begin(WIDE);
  hears(0, 1_000, WIDE);
  feed.listen(900);
  t.same(told, [100 + PREROLL_MS]);
  feed.begin(MULAW_8K);
  hears(1_000, 1_020, MULAW_8K);
  t.same(told.slice(1), [FRAME_MS], 'and on in the middle of a turn');
  feed.listen(900);
  t.same(told.slice(2), [FRAME_MS], 'of the stream before, in other bytes, nothing is left');
});

t.test('a stream after another: a turn that begins with it has no word of the one before', async (t) => {
  for (const [line, gapMs] of [
    [MULAW_8K, 305],
    [WIDE, 0],
  ] as const) {
    const { feed, given } = open({}, line, line);
    feed.begin(line);
    for (let atMs = 0; atMs < 2_000; atMs += FRAME_MS) feed.push(Buffer.alloc(frameBytes(line), 7), atMs);
    feed.listen(1_000);
    feed.endTurn();
    given.length = 0;
    feed.begin(line);
    const fromMs = 2_000 + gapMs;
    for (let ms = 0; ms < 100; ms += FRAME_MS) feed.push(Buffer.alloc(frameBytes(line), 9), fromMs + ms);
    feed.listen(fromMs + FRAME_MS);
    t.ok(Buffer.concat(given).equals(Buffer.alloc(100 * bytesPerMs(line), 9)), `${gapMs} ms later`);
  }
});

t.test('what was heard before a moment, whatever the line brings', async (t) => {
  for (const line of [MULAW_8K, WIDE, WIDEST]) {
    const { feed } = open({}, line);
    const perMs = bytesPerMs(line);
    // A second of silence, 400 ms of sound, 200 ms of silence.
    for (let atMs = 0; atMs < 1_600; atMs += FRAME_MS) {
      const loud = atMs >= 1_000 && atMs < 1_400;
      const frame = Buffer.alloc(FRAME_MS * perMs);
      for (let i = 0; i < frame.length; i += line.encoding === 'pcm16' ? 2 : 1) {
        if (line.encoding === 'pcm16') frame.writeInt16LE(loud ? (i % 64 < 32 ? 8_000 : -8_000) : 0, i);
        else frame[i] = loud ? (i % 8 < 4 ? 0x90 : 0x10) : 0xff;
      }
      feed.push(frame, atMs);
    }
    const name = `${line.encoding} ${line.rateHz}`;
    const levelOf = (pcm: Int16Array) => Math.max(...pcm.map(Math.abs));
    const sound = feed.before(1_400, 300);
    t.equal(sound.length, 300 * 8, name);
    t.ok(levelOf(sound.subarray(40, -40)) > 3_000, name);
    t.ok(levelOf(feed.before(980, 300)) < 200, `${name}: before it`);
    t.equal(feed.before(1_400, 9_000).length, 1_400 * 8, 'no more than there was');
  }
});
