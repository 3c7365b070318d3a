// PURE. Tells the server what was not heard: truncates and deletes items, so that the model does not believe it said what
// nobody heard. The answers are client events to send, in order.
import type { CutItem } from '../model.ts';
import { createItem, truncateItem } from './client-events.ts';
import type { Conversation, SeededItem } from './conversation.ts';
import type { Deletions } from './deletions.ts';
import type { Outputs } from './outputs.ts';
import type { OutputItem } from './server-events.ts';

const MAX_REMEMBERED = 64;

export class Cuts {
  readonly #outputs: Outputs;
  readonly #conversation: Conversation;
  readonly #deletions: Deletions;
  #seeded = new Map<string, SeededItem>();
  /** Truncations under way, by event id. */
  readonly #truncations = new Map<string, string>();
  #serial = 0;

  constructor(outputs: Outputs, conversation: Conversation, deletions: Deletions) {
    this.#outputs = outputs;
    this.#conversation = conversation;
    this.#deletions = deletions;
  }

  cut({ itemId, heardMs, heardText }: CutItem): string[] {
    if (heardText === '') this.#conversation.drop(itemId);
    else this.#conversation.cut(itemId, heardText);
    const item = this.#outputs.item(itemId);
    if (item === undefined) return this.#cutSeeded(itemId, heardText);
    if (item.cut) return [];
    const receivedMs = this.#outputs.receivedMs(item);
    const endMs = Math.min(Math.max(0, Math.floor(heardMs)), receivedMs);
    // What was heard to its end stays as it is. Of an item still coming the server may have made more than it sent.
    if (endMs === receivedMs && item.audioDone && endMs > 0) return [];
    item.cut = true;
    // UNVERIFIED that a server takes this while the cancelled response still streams; others send it without waiting too.
    if (endMs === 0) return [this.#deletions.ask(itemId)];
    const id = this.#eventId('truncate');
    if (this.#truncations.size >= MAX_REMEMBERED) this.#truncations.clear();
    this.#truncations.set(id, itemId);
    return [truncateItem(id, itemId, endMs)];
  }

  /** The end of a dropped response: what it left in the conversation and nobody heard goes. */
  forgetUnheard(responseId: string, items: readonly OutputItem[]): string[] {
    for (const item of items) this.#outputs.itemOf(responseId, item.itemId);
    return this.#outputs.itemsOf(responseId).flatMap((item) => {
      if (item.cut || item.receivedBytes > 0) return [];
      item.cut = true;
      this.#conversation.drop(item.itemId);
      return [this.#deletions.ask(item.itemId)];
    });
  }

  /** A truncation was refused because the server has less audio: once more, with what it has. */
  tooLong(eventId: string | null, availableMs: number): string[] {
    const itemId = this.#truncations.get(eventId ?? '');
    if (itemId === undefined) return [];
    this.#truncations.delete(eventId ?? '');
    return [truncateItem(this.#eventId('truncate'), itemId, availableMs)];
  }

  /** A new session, with the agent's items it knows as text. */
  restart(seeded: Map<string, SeededItem>): void {
    this.#seeded = seeded;
    this.#truncations.clear();
  }

  /** An item of a session before is text in this one: it cannot be truncated, so it is replaced. */
  #cutSeeded(itemId: string, heardText: string): string[] {
    const seed = this.#seeded.get(itemId);
    if (seed === undefined || seed.text === heardText) return [];
    this.#seeded.delete(itemId);
    const gone = this.#deletions.ask(seed.seedId);
    const id = heardText === '' ? null : `${seed.seedId}_cut`;
    // The item that stood after this one stands after what is left in its place.
    for (const other of this.#seeded.values())
      if (other.after === seed.seedId) other.after = id ?? seed.after;
    if (id === null) return [gone];
    const said = { kind: 'text', id, role: 'assistant', text: heardText } as const;
    return [gone, createItem(this.#eventId('replace'), said, seed.after ?? undefined)];
  }

  #eventId(what: string): string {
    return `${what}_${++this.#serial}`;
  }
}
