// PURE. Tells the server what was not heard: truncates and deletes items, so that the model does not believe it said what
// nobody heard. The answers are client events to send, in order.
import type { CutItem } from '../model.ts';
import { createItem, deleteItem, truncateItem } from './client-events.ts';
import type { Ledger, SeededItem } from './ledger.ts';
import type { Outputs } from './outputs.ts';
import type { OutputItem } from './server-events.ts';

const MAX_REMEMBERED = 64;

export interface Cuts {
  cut(item: CutItem): string[];
  /** The end of a dropped response: what it left in the conversation and nobody heard goes. */
  forgetUnheard(responseId: string, items: readonly OutputItem[]): string[];
  /** A truncation was refused because the server has less audio: once more, with what it has. */
  tooLong(eventId: string | null, availableMs: number): string[];
  /** A new session, with the agent's items it knows as text. */
  restart(seeded: Map<string, SeededItem>): void;
}

export function createCuts(outputs: Outputs, ledger: Ledger): Cuts {
  let seeded = new Map<string, SeededItem>();
  /** Truncations under way, by event id. */
  const truncations = new Map<string, string>();
  let serial = 0;
  const eventId = (what: string) => `${what}_${++serial}`;

  /** An item of a session before is text in this one: it cannot be truncated, so it is replaced. */
  function cutSeeded(itemId: string, heardText: string): string[] {
    const seed = seeded.get(itemId);
    if (seed === undefined || seed.text === heardText) return [];
    seeded.delete(itemId);
    const gone = deleteItem(eventId('delete'), seed.seedId);
    const id = heardText === '' ? null : `${seed.seedId}_cut`;
    // The item that stood after this one stands after what is left in its place.
    for (const other of seeded.values()) if (other.after === seed.seedId) other.after = id ?? seed.after;
    if (id === null) return [gone];
    const said = { kind: 'text', id, role: 'assistant', text: heardText } as const;
    return [gone, createItem(eventId('replace'), said, seed.after ?? undefined)];
  }

  return {
    cut({ itemId, heardMs, heardText }) {
      if (heardText === '') ledger.drop(itemId);
      else ledger.cut(itemId, heardText);
      const item = outputs.item(itemId);
      if (item === undefined) return cutSeeded(itemId, heardText);
      if (item.cut) return [];
      const receivedMs = outputs.receivedMs(item);
      const endMs = Math.min(Math.max(0, Math.floor(heardMs)), receivedMs);
      // What was heard to its end stays as it is. Of an item still coming the server may have made more than it sent.
      if (endMs === receivedMs && item.audioDone && endMs > 0) return [];
      item.cut = true;
      // UNVERIFIED that a server takes this while the cancelled response still streams; others send it without waiting too.
      if (endMs === 0) return [deleteItem(eventId('delete'), itemId)];
      const id = eventId('truncate');
      if (truncations.size >= MAX_REMEMBERED) truncations.clear();
      truncations.set(id, itemId);
      return [truncateItem(id, itemId, endMs)];
    },
    forgetUnheard(responseId, items) {
      for (const item of items) outputs.itemOf(responseId, item.itemId);
      return outputs.itemsOf(responseId).flatMap((item) => {
        if (item.cut || item.receivedBytes > 0) return [];
        item.cut = true;
        ledger.drop(item.itemId);
        return [deleteItem(eventId('delete'), item.itemId)];
      });
    },
    tooLong(refused, availableMs) {
      const itemId = truncations.get(refused ?? '');
      if (itemId === undefined) return [];
      truncations.delete(refused ?? '');
      return [truncateItem(eventId('truncate'), itemId, availableMs)];
    },
    restart(items) {
      seeded = items;
      truncations.clear();
    },
  };
}
