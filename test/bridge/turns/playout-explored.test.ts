// The playout under every short order of what can happen to it, and under long ones drawn at random: sound of two items, whole
// and broken frames, marks that come late, twice, or of audio that was cleared or lost with its line. What must hold of all of them is said once.
// Then whole calls of many items, beside a record that forgets nothing.
import fc from 'fast-check';
import t from 'tap';
import {
  type AudioFormat,
  bytesPerMs,
  FRAME_BYTES,
  frameBytes,
  MULAW_8K,
  silentByte,
} from '../../../audio/format.ts';
import { type Cut, Playout } from '../../../bridge/turns/playout.ts';
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
  'line lost',
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
  /** What a listener knows: the frames given out on this line since the last clear, and how many of their bytes were confirmed. */
  let frames: { item: Item; bytes: number }[] = [];
  let confirmed = 0;
  let generation = 0;
  const given: Record<Item, number> = { a: 0, b: 0 };
  /** Bytes that were confirmed on lines before this one. */
  const heardBefore: Record<Item, number> = { a: 0, b: 0 };
  const heardOf = (item: Item) =>
    frames
      .slice(0, confirmed / FRAME_BYTES)
      .reduce((sum, frame) => sum + (frame.item === item ? frame.bytes : 0), heardBefore[item]);
  function anotherStretch(): void {
    old = [...old, ...marks];
    marks = [];
    frames = [];
    confirmed = 0;
    generation++;
  }

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
        anotherStretch();
        return;
      case 'line':
        playout.rewind();
        for (const one of ITEMS) {
          heardBefore[one] = heardOf(one);
          given[one] = heardBefore[one];
        }
        // What was given out and not heard comes again, in its order.
        sounded.length = 0;
        anotherStretch();
        hold(playout.sentIsHeard(), 'a line that is gone is waited for');
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

/** What was received, sent and heard, item by item, with every byte of it and all items there ever were. */
class PlainRecord {
  readonly items: {
    id: string;
    sound: Buffer;
    sent: number;
    heard: number;
    complete: boolean;
    over: boolean;
    startAt: number | null;
  }[] = [];
  readonly started: string[] = [];
  readonly #format: AudioFormat;
  #generation = 0;
  #sent = 0;
  #marked = 0;
  #heard = 0;

  constructor(format: AudioFormat) {
    this.#format = format;
  }

  push(id: string, sound: Buffer): void {
    let item = this.#item(id);
    if (item === undefined) {
      item = { id, sound: Buffer.alloc(0), sent: 0, heard: 0, complete: false, over: false, startAt: null };
      this.items.push(item);
    }
    if (!item.complete && !item.over) item.sound = Buffer.concat([item.sound, sound]);
  }

  finish(id: string): boolean {
    const item = this.#item(id);
    if (item === undefined || item.over) return false;
    item.complete = true;
    return this.#settled().includes(id);
  }

  /** The next frame; null: there is none. */
  frame(): Buffer | null {
    const size = frameBytes(this.#format);
    const item = this.#next();
    if (item === undefined) return null;
    const sound = item.sound.subarray(item.sent, item.sent + size);
    if (sound.length === 0 || (sound.length < size && !item.complete)) return null;
    if (item.startAt === null) {
      // Of a line before this one some of it was heard: that stands before the beginning.
      item.startAt = this.#sent - item.heard;
      if (item.heard === 0) this.started.push(item.id);
    }
    item.sent += sound.length;
    this.#sent += size;
    return Buffer.concat([sound, Buffer.alloc(size - sound.length, silentByte(this.#format))]);
  }

  mark(due: boolean): string | null {
    const item = this.#next();
    const more = item !== undefined && item.sound.length > item.sent;
    const unmarked = this.#sent - this.#marked;
    if (unmarked === 0 || (due && more && unmarked < 5 * frameBytes(this.#format))) return null;
    this.#marked = this.#sent;
    return `${this.#generation}:${this.#sent}`;
  }

  played(name: string): string[] {
    const [generation, position = 0] = name.split(':').map(Number);
    if (generation !== this.#generation || position > this.#sent || position <= this.#heard) return [];
    this.#heard = position;
    for (const item of this.items)
      if (!item.over && item.startAt !== null)
        item.heard = Math.min(item.sent, Math.max(item.heard, position - item.startAt));
    return this.#settled();
  }

  rewind(): void {
    for (const item of this.items) {
      if (item.over) continue;
      item.sent = item.heard;
      item.startAt = null;
    }
    this.#again();
  }

  clear(): Cut[] {
    const ms = (bytes: number) => Math.floor(bytes / bytesPerMs(this.#format));
    const cut = this.items.filter((item) => !item.over);
    for (const item of cut) item.over = true;
    this.#again();
    return cut.map(({ id, heard, sound, complete }) => ({
      itemId: id,
      heardMs: ms(heard),
      receivedMs: ms(sound.length),
      complete,
    }));
  }

  #again(): void {
    this.#generation++;
    this.#sent = 0;
    this.#marked = 0;
    this.#heard = 0;
  }

  pending(): boolean {
    return this.items.some((item) => !item.over);
  }

  sentIsHeard(): boolean {
    return this.#sent === this.#heard;
  }

  #item(id: string) {
    return this.items.find((item) => item.id === id);
  }

  #next() {
    return this.items.find((item) => !item.over && (item.sound.length > item.sent || !item.complete));
  }

  /** Those that have now been heard to their end. */
  #settled(): string[] {
    const heard = this.items.filter(
      ({ over, complete, sound, sent, heard }) =>
        !over && complete && sent === sound.length && heard === sent,
    );
    for (const item of heard) item.over = true;
    return heard.map(({ id }) => id);
  }
}

t.test('whole calls, beside a record that forgets nothing', async (t) => {
  const act = fc.record({
    verb: fc.constantFrom(
      'begin',
      'push',
      'push',
      'push',
      'finish',
      'take',
      'take',
      'take',
      'mark',
      'mark',
      'mark',
      'clear',
      'lost',
    ),
    /** Which of the newest items, and of the newest marks. */
    back: fc.nat(4),
    bytes: fc.oneof(fc.nat(400), fc.nat(20_000)),
  });
  const formats: AudioFormat[] = [MULAW_8K, { encoding: 'pcm16', rateHz: 24000 }];
  const calls = fc.tuple(fc.constantFrom(...formats), fc.array(act, { minLength: 20, maxLength: 600 }));
  fc.assert(
    fc.property(calls, ([format, acts]) => {
      const plain = new PlainRecord(format);
      const started: string[] = [];
      const playout = new Playout(format, (id) => started.push(id));
      const out = Buffer.alloc(2 * frameBytes(format));
      let begun = 1;
      let bytesSeen = 0;
      const marks: string[] = [];
      const same = (what: string, found: unknown, wanted: unknown) => {
        if (JSON.stringify(found) !== JSON.stringify(wanted))
          throw new Error(`${what}: ${JSON.stringify(found)} for ${JSON.stringify(wanted)}`);
      };
      const id = (back: number) => `item ${Math.max(1, begun - back)}`;
      for (const { verb, back, bytes } of acts) {
        switch (verb) {
          case 'begin':
            begun++;
            break;
          case 'push': {
            const sound = Buffer.from(Array.from({ length: bytes }, (_, i) => (bytesSeen + i) % 251));
            bytesSeen += bytes;
            if (bytes > 0) plain.push(id(back >> 1), sound);
            playout.push(id(back >> 1), sound);
            break;
          }
          case 'finish':
            same('finish', playout.finish(id(back)), plain.finish(id(back)));
            break;
          case 'take':
            for (let n = 0; n <= back * 4; n++) {
              const frames = [plain.frame(), plain.frame()].filter((frame) => frame !== null);
              const wanted = Buffer.concat(frames);
              const found = out.subarray(0, playout.take(out));
              if (!found.equals(wanted)) throw new Error(`${found.length} bytes for ${wanted.length}`);
              const mark = plain.mark(true);
              same('mark', playout.dueMark(), mark);
              if (mark !== null) marks.push(mark);
            }
            break;
          case 'mark': {
            const name = marks[Math.max(0, marks.length - 1 - back)] ?? '0:160';
            same(
              'heard',
              playout.markPlayed(name).map(({ itemId }) => itemId),
              plain.played(name),
            );
            break;
          }
          case 'clear':
            if (back === 4) same('cut', playout.clear(), plain.clear());
            else same('last mark', playout.lastMark(), plain.mark(false));
            break;
          case 'lost':
            if (back < 3) break;
            playout.rewind();
            plain.rewind();
        }
        same('started', started, plain.started);
        same('pending', playout.pending(), plain.pending());
        same('sent is heard', playout.sentIsHeard(), plain.sentIsHeard());
        for (const item of plain.items.slice(-8)) {
          same('received', playout.receivedMs(item.id), item.sound.length / bytesPerMs(format));
          same('heard', playout.heardMs(item.id), Math.floor(item.heard / bytesPerMs(format)));
        }
      }
    }),
    { seed: SEED, numRuns: 300 * RUNS },
  );
  t.pass(`seed ${SEED}`);
});
