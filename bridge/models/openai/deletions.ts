// PURE. Items of the conversation that are to go. UNVERIFIED that a server deletes one while a response to it, or that says it, is
// being cancelled: what it refuses is asked of it once more when that response has ended. The answers are client events to send.
import { deleteItem } from './client-events.ts';

/** Of those that were neither confirmed nor refused so many are remembered. */
const MAX_REMEMBERED = 64;

export class Deletions {
  #serial = 0;
  /** Asked for the first time, by event id; whether they are gone is not known. */
  readonly #asked = new Map<string, string>();
  #refused = new Set<string>();

  ask(itemId: string): string {
    const id = `delete_${++this.#serial}`;
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size < MAX_REMEMBERED) break;
      this.#asked.delete(oldest);
    }
    this.#asked.set(id, itemId);
    return deleteItem(id, itemId);
  }

  /** The item is gone. */
  gone(itemId: string): void {
    this.#refused.delete(itemId);
    for (const [id, asked] of this.#asked) if (asked === itemId) this.#asked.delete(id);
  }

  /** There was none. */
  missing(eventId: string | null): void {
    this.#asked.delete(eventId ?? '');
  }

  /**
   * Something was refused, of which the server says by `eventId` what it was, or does not (null): then it may be any that is not
   * known to be gone. False where none of them is to be asked again.
   */
  refuse(eventId: string | null): boolean {
    const refused = [...this.#asked].filter(([id]) => eventId === null || id === eventId);
    for (const [id, itemId] of refused) {
      this.#asked.delete(id);
      this.#refused.add(itemId);
    }
    return refused.length > 0;
  }

  /** What was in the way is over: asks once more, and no third time. */
  again(): string[] {
    const again = [...this.#refused].map((itemId) => deleteItem(`delete_${++this.#serial}`, itemId));
    this.#refused.clear();
    return again;
  }

  /** A new session knows none of them. */
  restart(): void {
    this.#asked.clear();
    this.#refused.clear();
  }
}
