// What was received from the model, sent to the carrier and heard by the other side, item by item. PURE.
// Heard is what the carrier's marks confirm and nothing else. After a clear, marks of the generation before
// are ignored: a carrier sends those of unheard audio back as well.

/** mu-law at 8 kHz. */
export const FRAME_BYTES = 160;
export const FRAME_MS = 20;
const BYTES_PER_MS = 8;
const SILENCE = 0xff;

/** How much audio one mark covers: the resolution of heard time. */
const MARK_EVERY_BYTES = 5 * FRAME_BYTES;

export interface PlayoutItem {
  readonly itemId: string;
  receivedBytes: number;
  sentBytes: number;
  heardBytes: number;
  /** Nothing more of it will be received. */
  complete: boolean;
  /** All of it was heard, or the rest was cut away. */
  settled: boolean;
  /** Where its first byte went in the stream of this generation; -1 before. */
  startAt: number;
  /** Received and not yet sent, oldest first; `offset` is into the first chunk. */
  chunks: Buffer[];
  offset: number;
}

/** What is left of an item when it is cut. */
export interface Cut {
  itemId: string;
  heardMs: number;
  receivedMs: number;
  /** Whether all of its audio had been received. */
  complete: boolean;
}

export interface Playout {
  /** Adds audio of an item (copied). Audio of an item that was cut or is complete is dropped. */
  push(itemId: string, payload: Uint8Array): void;
  /** The item's audio is complete. True when with this all of it has been heard: its last mark came before. */
  finish(itemId: string): boolean;
  /**
   * Fills `out` with the next audio to send, whole frames only; the last frame of an item is padded with silence.
   * @param out room for a whole number of frames
   * @returns bytes written (a multiple of 160), 0 when nothing is ready
   */
  take(out: Uint8Array): number;
  /**
   * The name of a mark to send now, or null when none is due: after every 100 ms and at the end of what is queued.
   * @param pausing nothing more is sent for now: due for all that was
   */
  dueMark(pausing?: boolean): string | null;
  /** All that was sent has been heard. */
  sentIsHeard(): boolean;
  /** A mark has come back. Answers the items that have now been heard to their end. */
  markPlayed(name: string): PlayoutItem[];
  /** The carrier's buffer is to be cleared: forgets all that was not heard and answers what was cut, oldest first. */
  clear(): Cut[];
  /** Milliseconds heard of an item. */
  heardMs(itemId: string): number;
  /** Anything received and not yet heard. */
  pending(): boolean;
  /** Anything received and not yet sent, that a frame could be made of. */
  ready(): boolean;
  item(itemId: string): PlayoutItem | undefined;
  /** Milliseconds received and not yet sent. */
  queuedMs(): number;
}

/**
 * An empty playout. Holds the items of the last few turns; older settled ones are forgotten.
 * @param onStart told when the first frame of an item is taken
 */
export function createPlayout(onStart: (itemId: string) => void = () => {}): Playout {
  const items = new Map<string, PlayoutItem>();
  /** Ids of items that were cut: late audio of theirs is dropped. */
  const cutIds = new Set<string>();
  let generation = 0;
  /** Bytes sent and confirmed in this generation. */
  let sent = 0;
  let heard = 0;
  let marked = 0;

  function open(itemId: string): PlayoutItem {
    const item: PlayoutItem = {
      itemId,
      receivedBytes: 0,
      sentBytes: 0,
      heardBytes: 0,
      complete: false,
      settled: false,
      startAt: -1,
      chunks: [],
      offset: 0,
    };
    items.set(itemId, item);
    if (items.size > 32) {
      for (const [id, old] of items) {
        if (items.size <= 16) break;
        if (old.settled) items.delete(id);
      }
    }
    return item;
  }

  const unsent = (item: PlayoutItem) => item.receivedBytes - item.sentBytes;

  /** The item to send from: the oldest one that is not all sent. A later one waits until it is complete. */
  function current(): PlayoutItem | undefined {
    for (const item of items.values()) {
      if (item.settled) continue;
      if (unsent(item) > 0 || !item.complete) return item;
    }
    return undefined;
  }

  function settle(item: PlayoutItem, done: PlayoutItem[]): void {
    if (item.settled || !item.complete || unsent(item) > 0) return;
    if (item.heardBytes < item.sentBytes) return;
    item.settled = true;
    done.push(item);
  }

  return {
    push(itemId, payload) {
      if (payload.length === 0 || cutIds.has(itemId)) return;
      const item = items.get(itemId) ?? open(itemId);
      if (item.complete) return;
      item.chunks.push(Buffer.from(payload));
      item.receivedBytes += payload.length;
    },

    finish(itemId) {
      const item = items.get(itemId);
      if (item === undefined || item.settled) return false;
      item.complete = true;
      const done: PlayoutItem[] = [];
      settle(item, done);
      return done.length > 0;
    },

    take(out) {
      let written = 0;
      while (written + FRAME_BYTES <= out.length) {
        const item = current();
        if (item === undefined) break;
        const left = unsent(item);
        if (left < FRAME_BYTES && !item.complete) break;
        if (left === 0) break;
        if (item.startAt < 0) {
          item.startAt = sent;
          onStart(item.itemId);
        }
        const want = Math.min(left, FRAME_BYTES);
        let copied = 0;
        while (copied < want) {
          const chunk = item.chunks[0];
          if (chunk === undefined) break;
          const part = Math.min(want - copied, chunk.length - item.offset);
          out.set(chunk.subarray(item.offset, item.offset + part), written + copied);
          copied += part;
          item.offset += part;
          if (item.offset === chunk.length) {
            item.chunks.shift();
            item.offset = 0;
          }
        }
        if (copied < FRAME_BYTES) out.fill(SILENCE, written + copied, written + FRAME_BYTES);
        item.sentBytes += copied;
        sent += FRAME_BYTES;
        written += FRAME_BYTES;
      }
      return written;
    },

    dueMark(pausing = false) {
      if (sent === marked) return null;
      const item = current();
      const more = !pausing && item !== undefined && unsent(item) > 0;
      if (more && sent - marked < MARK_EVERY_BYTES) return null;
      marked = sent;
      return `${generation}:${sent}`;
    },

    markPlayed(name) {
      const done: PlayoutItem[] = [];
      const colon = name.indexOf(':');
      if (Number(name.slice(0, colon)) !== generation) return done;
      const position = Number(name.slice(colon + 1));
      if (!Number.isInteger(position) || position > sent || position <= heard) return done;
      heard = position;
      for (const item of items.values()) {
        if (item.settled || item.startAt < 0) continue;
        item.heardBytes = Math.min(item.sentBytes, Math.max(item.heardBytes, heard - item.startAt));
        settle(item, done);
      }
      return done;
    },

    sentIsHeard: () => heard === sent,

    clear() {
      const cuts: Cut[] = [];
      for (const item of items.values()) {
        if (item.settled) continue;
        item.settled = true;
        item.chunks = [];
        cutIds.add(item.itemId);
        cuts.push({
          itemId: item.itemId,
          heardMs: Math.floor(item.heardBytes / BYTES_PER_MS),
          receivedMs: Math.floor(item.receivedBytes / BYTES_PER_MS),
          complete: item.complete,
        });
      }
      generation++;
      sent = 0;
      heard = 0;
      marked = 0;
      return cuts;
    },

    heardMs: (itemId) => Math.floor((items.get(itemId)?.heardBytes ?? 0) / BYTES_PER_MS),
    pending: () => {
      for (const item of items.values()) if (!item.settled && item.receivedBytes > 0) return true;
      return false;
    },
    ready: () => {
      const item = current();
      if (item === undefined) return false;
      return unsent(item) >= FRAME_BYTES || (item.complete && unsent(item) > 0);
    },
    item: (itemId) => items.get(itemId),
    queuedMs: () => {
      let bytes = 0;
      for (const item of items.values()) if (!item.settled) bytes += unsent(item);
      return bytes / BYTES_PER_MS;
    },
  };
}
