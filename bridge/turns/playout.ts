// What was received from the model, sent to the carrier and heard by the other side, item by item. PURE.
// Heard is what the carrier's marks confirm and nothing else. After a clear or a rewind, marks of the generation before
// are ignored: a carrier sends those of unheard audio back as well.
import { type AudioFormat, bytesPerMs, frameBytes, silentByte } from '../../audio/format.ts';
import { SoundQueue } from '../../audio/sound-queue.ts';

/** How much audio one mark covers at least: the resolution of heard time. */
const MARK_EVERY_FRAMES = 5;
/** Items are remembered for some turns after they were settled: nothing late of them is taken for something new. */
const MOST_ITEMS = 32;

export interface PlayoutItem {
  readonly itemId: string;
  receivedBytes: number;
  sentBytes: number;
  heardBytes: number;
  /** Nothing more of it will be received. */
  complete: boolean;
  /** All of it was heard, or the rest was cut away. */
  settled: boolean;
  /** Where its first byte stands in what is sent in this generation, before its beginning where it was heard in part before; null: none of it was sent. */
  startAt: number | null;
  /** Received and not yet heard: until then it may have to be sent again. */
  readonly unheard: SoundQueue;
}

const unsentBytes = ({ receivedBytes, sentBytes }: PlayoutItem): number => receivedBytes - sentBytes;

/** What was heard of an item, and received, when it is cut or while it is heard. */
export interface Cut {
  itemId: string;
  heardMs: number;
  receivedMs: number;
  /** Whether all of its audio had been received. */
  complete: boolean;
}

/** The agent's voice of one call, from its receipt to its being heard. Only what is open is ever walked through. */
export class Playout {
  readonly #bytesPerMs: number;
  readonly #frameBytes: number;
  readonly #silentByte: number;
  readonly #markEveryBytes: number;
  readonly #onStart: (itemId: string) => void;
  readonly #items = new Map<string, PlayoutItem>();
  /** Those that are not settled, in the order of their receipt. */
  #open: PlayoutItem[] = [];
  #generation = 0;
  /** Bytes sent, marked and confirmed in this generation. */
  #sent = 0;
  #marked = 0;
  #heard = 0;

  /**
   * @param format what the line takes
   * @param onStart told when the first frame of an item is taken
   */
  constructor(format: AudioFormat, onStart: (itemId: string) => void = () => {}) {
    this.#bytesPerMs = bytesPerMs(format);
    this.#frameBytes = frameBytes(format);
    this.#silentByte = silentByte(format);
    this.#markEveryBytes = MARK_EVERY_FRAMES * this.#frameBytes;
    this.#onStart = onStart;
  }

  /** Adds audio of an item (copied). Audio of an item that was cut or is complete is dropped. */
  push(itemId: string, payload: Uint8Array): void {
    if (payload.length === 0) return;
    const item = this.#items.get(itemId) ?? this.#begin(itemId);
    if (item.complete || item.settled) return;
    item.unheard.push(payload);
    item.receivedBytes += payload.length;
  }

  /** The item's audio is complete. True when with this all of it has been heard: its last mark came before. */
  finish(itemId: string): boolean {
    const item = this.#items.get(itemId);
    if (item === undefined || item.settled) return false;
    item.complete = true;
    if (!this.#isHeard(item)) return false;
    this.#settle(item);
    return true;
  }

  /**
   * Fills `out` with the next audio to send, whole frames only; the last frame of an item is padded with silence.
   * @param out room for a whole number of frames
   * @returns bytes written (a multiple of a frame's), 0 when nothing is ready
   */
  take(out: Uint8Array): number {
    const frame = this.#frameBytes;
    let written = 0;
    while (written + frame <= out.length) {
      const item = this.#current();
      if (item === undefined) break;
      const left = unsentBytes(item);
      if (left === 0 || (left < frame && !item.complete)) break;
      if (item.startAt === null) {
        item.startAt = this.#sent - item.sentBytes;
        if (item.sentBytes === 0) this.#onStart(item.itemId);
      }
      const copied = item.unheard.copy(out, written, item.sentBytes - item.heardBytes, frame);
      item.sentBytes += copied;
      if (copied < frame) out.fill(this.#silentByte, written + copied, written + frame);
      this.#sent += frame;
      written += frame;
    }
    return written;
  }

  /** The name of a mark to send now, or null: it is due when 100 ms have been sent since the last, and at the end of what is queued. */
  dueMark(): string | null {
    if (this.#sent === this.#marked) return null;
    const item = this.#current();
    const more = item !== undefined && unsentBytes(item) > 0;
    return more && this.#sent - this.#marked < this.#markEveryBytes ? null : this.lastMark();
  }

  /** The name of a mark behind all that was sent, however little; null when it has one. For when no more is sent for now. */
  lastMark(): string | null {
    if (this.#sent === this.#marked) return null;
    this.#marked = this.#sent;
    return `${this.#generation}:${this.#sent}`;
  }

  /** Milliseconds that a mark would confirm beyond what is confirmed already, should it come back now. */
  confirmsMs(name: string): number {
    return (this.#position(name) - this.#heard) / this.#bytesPerMs;
  }

  /** A mark has come back. Answers the items that have now been heard to their end. */
  markPlayed(name: string): PlayoutItem[] {
    const position = this.#position(name);
    if (position === this.#heard) return [];
    this.#heard = position;
    for (const item of this.#open) {
      if (item.startAt === null) continue;
      const heardBytes = Math.min(item.sentBytes, Math.max(item.heardBytes, position - item.startAt));
      item.unheard.drop(heardBytes - item.heardBytes);
      item.heardBytes = heardBytes;
    }
    const done = this.#open.filter((item) => this.#isHeard(item));
    for (const item of done) this.#settle(item);
    return done;
  }

  /** The carrier's buffer is to be cleared: forgets all that was not heard and answers what was cut, oldest first. */
  clear(): Cut[] {
    const cuts = this.#open.map((item) => {
      item.settled = true;
      item.unheard.clear();
      return this.#soFar(item);
    });
    this.#open = [];
    this.#beginAgain();
    return cuts;
  }

  /** The line is gone with all it had not played: what is not known to be heard is sent again, on the next. */
  rewind(): void {
    for (const item of this.#open) {
      item.sentBytes = item.heardBytes;
      item.startAt = null;
    }
    this.#beginAgain();
  }

  #beginAgain(): void {
    this.#generation++;
    this.#sent = 0;
    this.#heard = 0;
    this.#marked = 0;
  }

  /** What there is so far of the item that is being heard; null: none is, or not a sound of it was. */
  hearing(): Cut | null {
    const [item] = this.#open;
    return item === undefined || item.heardBytes === 0 ? null : this.#soFar(item);
  }

  /** All that was sent has been heard. */
  sentIsHeard(): boolean {
    return this.#heard === this.#sent;
  }

  /** Anything received and not yet heard. */
  pending(): boolean {
    return this.#open.length > 0;
  }

  /** Anything received and not yet sent, that a frame could be made of. */
  ready(): boolean {
    const item = this.#current();
    if (item === undefined) return false;
    const unsent = unsentBytes(item);
    return unsent >= this.#frameBytes || (item.complete && unsent > 0);
  }

  /** Whether any sound of the item was received, as far back as items are remembered. */
  knows(itemId: string): boolean {
    return this.#items.has(itemId);
  }

  /** Milliseconds received of an item. */
  receivedMs(itemId: string): number {
    return (this.#items.get(itemId)?.receivedBytes ?? 0) / this.#bytesPerMs;
  }

  /** Milliseconds heard of an item. */
  heardMs(itemId: string): number {
    return Math.floor((this.#items.get(itemId)?.heardBytes ?? 0) / this.#bytesPerMs);
  }

  #soFar({ itemId, heardBytes, receivedBytes, complete }: PlayoutItem): Cut {
    const heardMs = Math.floor(heardBytes / this.#bytesPerMs);
    return { itemId, heardMs, receivedMs: Math.floor(receivedBytes / this.#bytesPerMs), complete };
  }

  /** Up to where a mark says that all was played: no further than is known, where it tells nothing new. */
  #position(name: string): number {
    const colon = name.indexOf(':');
    if (Number(name.slice(0, colon)) !== this.#generation) return this.#heard;
    const position = Number(name.slice(colon + 1));
    return Number.isInteger(position) && position <= this.#sent
      ? Math.max(position, this.#heard)
      : this.#heard;
  }

  #begin(itemId: string): PlayoutItem {
    const item: PlayoutItem = {
      itemId,
      receivedBytes: 0,
      sentBytes: 0,
      heardBytes: 0,
      complete: false,
      settled: false,
      startAt: null,
      unheard: new SoundQueue(),
    };
    this.#items.set(itemId, item);
    this.#open.push(item);
    if (this.#items.size > MOST_ITEMS) this.#forgetOldest();
    return item;
  }

  /** The oldest of what is settled. */
  #forgetOldest(): void {
    for (const [id, item] of this.#items) {
      if (!item.settled) continue;
      this.#items.delete(id);
      return;
    }
  }

  /** The item to send from: the oldest one that is not all sent. A later one waits until it is complete. */
  #current(): PlayoutItem | undefined {
    for (const item of this.#open) if (unsentBytes(item) > 0 || !item.complete) return item;
    return undefined;
  }

  #isHeard(item: PlayoutItem): boolean {
    return item.complete && item.heardBytes === item.receivedBytes;
  }

  #settle(item: PlayoutItem): void {
    item.settled = true;
    this.#open.splice(this.#open.indexOf(item), 1);
  }
}
