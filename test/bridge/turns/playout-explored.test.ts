// The playout under every short order of what can happen to it, and under long ones drawn at random: sound of two items, whole
// and broken frames, marks that come late, twice, or of audio that was cleared. What must hold of all of them is said once.
import fc from 'fast-check';
import t from 'tap';
import { FRAME_BYTES, MULAW_8K } from '../../../audio/format.ts';
import { Playout } from '../../../bridge/turns/playout.ts';
import { Drawing } from '../../states/drawing.ts';
import { RUNS, SEED } from '../seed.ts';

/** Orders of this length are tried all; longer ones are drawn. */
const DEPTH = 5;
const LONG = 60;

type Item = 'a' | 'b';
const ITEMS: Item[] = ['a', 'b'];
const BYTE: Record<Item, number> = { a: 0x01, b: 0x02 };

const ACTS = [
  'push a 400',
  'push a 80',
  'push b 240',
  'finish a',
  'finish b',
  'take',
  'oldest mark',
  'newest mark',
  'an old mark',
  'clear',
] as const;
type Act = (typeof ACTS)[number];

const drawing = new Drawing('playout', 'nothing yet');

/** Runs one order, then lets everything end; throws where something does not hold. */
function run(acts: readonly Act[]): void {
  const playout = new Playout(MULAW_8K);
  const received: Record<Item, number> = { a: 0, b: 0 };
  const ends: Record<Item, string[]> = { a: [], b: [] };
  const complete: Record<Item, boolean> = { a: false, b: false };
  const heard: Record<Item, number> = { a: 0, b: 0 };
  let marks: string[] = [];
  let old: string[] = [];
  /** Of the items whose sound was given out, in order. */
  const sounded: Item[] = [];
  const out = Buffer.alloc(2 * FRAME_BYTES);
  /** What a listener knows: the frames given out since the last clear, and how many of their bytes were confirmed. */
  let frames: { item: Item; bytes: number }[] = [];
  let confirmed = 0;
  let generation = 0;
  const given: Record<Item, number> = { a: 0, b: 0 };
  const heardOf = (item: Item) =>
    frames
      .slice(0, confirmed / FRAME_BYTES)
      .reduce((sum, frame) => sum + (frame.item === item ? frame.bytes : 0), 0);

  const hold = (what: boolean, why: string) => {
    if (!what) throw new Error(why);
  };
  function end(item: string, how: string): void {
    ends[item as Item].push(how);
    hold(ends[item as Item].length === 1, `${item} ends ${ends[item as Item].join(' and ')}`);
    if (how !== 'heard') return;
    hold(complete[item as Item], `${item} was heard, and more of it may come`);
    const all = received[item as Item];
    hold(heardOf(item as Item) === all, `${item} was heard: ${heardOf(item as Item)} of ${all} bytes`);
  }
  function take(): number {
    const bytes = playout.take(out);
    hold(bytes % FRAME_BYTES === 0, `${bytes} bytes are no frames`);
    for (let at = 0; at < bytes; at += FRAME_BYTES) {
      const frame = out.subarray(at, at + FRAME_BYTES);
      const item = ITEMS.find((one) => BYTE[one] === frame[0]);
      if (item === undefined) throw new Error('a frame of nothing');
      const voiced = frame.filter((byte) => byte === BYTE[item]).length;
      given[item] += voiced;
      frames.push({ item, bytes: voiced });
      hold(voiced === FRAME_BYTES || complete[item], `${item}: a broken frame, and more of it may come`);
      hold(given[item] <= received[item], `${item}: more is given out than was received`);
      if (sounded.at(-1) !== item) sounded.push(item);
    }
    const mark = playout.dueMark();
    if (mark !== null) marks.push(mark);
    return bytes;
  }
  function confirm(mark: string | undefined): void {
    if (mark === undefined) return;
    const [of, position] = mark.split(':').map(Number);
    if (of === generation) confirmed = Math.max(confirmed, position ?? 0);
    for (const { itemId } of playout.markPlayed(mark)) end(itemId, 'heard');
    old.push(mark);
  }
  function act(what: Act): void {
    const [verb, item = 'a', bytes = '0'] = what.split(' ') as [string, Item, string];
    switch (verb) {
      case 'push':
        if (!complete[item] && ends[item].length === 0) received[item] += Number(bytes);
        playout.push(item, Buffer.alloc(Number(bytes), BYTE[item]));
        return;
      case 'finish':
        if (received[item] > 0 && ends[item].length === 0) complete[item] = true;
        if (playout.finish(item)) end(item, 'heard');
        return;
      case 'take':
        take();
        return;
      case 'oldest':
        confirm(marks.shift());
        return;
      case 'newest':
        confirm(marks.pop());
        return;
      case 'an':
        confirm(old[old.length >> 1]);
        return;
      case 'clear':
        for (const { itemId, heardMs, receivedMs } of playout.clear()) {
          hold(heardMs <= receivedMs, `${itemId}: heard ${heardMs} of ${receivedMs}`);
          end(itemId, 'cut');
        }
        hold(!playout.pending() && !playout.ready(), 'something is left after a clear');
        old = [...old, ...marks];
        marks = [];
        frames = [];
        confirmed = 0;
        generation++;
    }
  }
  function look(): void {
    for (const item of ITEMS) {
      const ms = playout.heardMs(item);
      hold(ms >= heard[item], `${item}: heard ${heard[item]}, then ${ms} ms`);
      if (ends[item].length === 0)
        hold(ms === Math.floor(heardOf(item) / 8), `${item}: ${ms} ms for ${heardOf(item)} bytes`);
      heard[item] = ms;
    }
    const open = ITEMS.some((item) => received[item] > 0 && ends[item].length === 0);
    hold(playout.pending() === open, `pending ${playout.pending()}, and should be ${open}`);
    // Sound of one item is never mixed with another's.
    hold(sounded.length <= 2, `heard in turns: ${sounded.join(' ')}`);
  }
  const drawnAs = (item: Item) =>
    ends[item][0] ?? (complete[item] ? 'complete' : received[item] > 0 ? 'coming' : 'nothing yet');
  for (const one of acts) {
    const before = ITEMS.map(drawnAs);
    act(one);
    for (const [i, item] of ITEMS.entries())
      drawing.arrow(before[i]!, one.replace(/ .*|^.* (?=mark)/, ''), drawnAs(item));
    look();
  }
  // Everything comes to its end: complete, given out, confirmed.
  for (const item of ITEMS) act(`finish ${item}`);
  for (let frames = 0; take() > 0; frames++) hold(frames < 1_000, 'it never ends');
  while (marks.length > 0) act('oldest mark');
  look();
  hold(!playout.pending() && playout.sentIsHeard(), 'not all of it was heard in the end');
  for (const item of ITEMS)
    hold(ends[item].length === (received[item] > 0 ? 1 : 0), `${item} had no end of ${received[item]} bytes`);
}

t.test(`every order of ${DEPTH}`, async (t) => {
  let orders = 0;
  const wrong: string[] = [];
  const order: Act[] = [];
  function deeper(): void {
    if (wrong.length > 3) return;
    if (order.length === DEPTH) {
      orders++;
      try {
        run(order);
      } catch (error) {
        wrong.push(`${order.join(', ')}: ${(error as Error).message}`);
      }
      return;
    }
    for (const act of ACTS) {
      order.push(act);
      deeper();
      order.pop();
    }
  }
  deeper();
  t.same(wrong, []);
  t.equal(orders, ACTS.length ** DEPTH);
  drawing.hold(t);
});

t.test('long orders', async (t) => {
  fc.assert(fc.property(fc.array(fc.constantFrom(...ACTS), { minLength: DEPTH, maxLength: LONG }), run), {
    seed: SEED,
    numRuns: 5_000 * RUNS,
  });
  t.pass(`seed ${SEED}`);
});
