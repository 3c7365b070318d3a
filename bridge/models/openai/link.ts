// What the parts of a session share: the socket in force, while there is one, and whether the session is over.
import type { SessionSocket } from './socket.ts';

export class Link {
  #socket: SessionSocket | null = null;
  #over = false;
  #serial = 0;

  /** Nothing is told or sent any more. */
  get over(): boolean {
    return this.#over;
  }

  get online(): boolean {
    return this.#socket !== null;
  }

  /** The socket in force from now on; null: none. */
  use(socket: SessionSocket | null): void {
    this.#socket = socket;
  }

  end(): void {
    this.#over = true;
    this.#socket = null;
  }

  /** Sends client events in order; what no socket takes is lost, and told to the next one out of the conversation. */
  send(...events: readonly string[]): void {
    for (const event of events) this.#socket?.send(event);
  }

  append(payload: Buffer): void {
    this.#socket?.append(payload);
  }

  /** Bytes that the network has not taken yet. */
  backlogBytes(): number {
    return this.#socket?.backlogBytes() ?? 0;
  }

  /** Whether an answer is expected: then the server must show a sign of life all the time. */
  expect(expecting: boolean): void {
    this.#socket?.expect(expecting);
  }

  /** An id for an event that nobody asks about later. */
  eventId(what: string): string {
    return `${what}_${++this.#serial}`;
  }

  /** Runs after the verb that calls for it has returned, unless the session is over by then. */
  soon(run: () => void): void {
    queueMicrotask(() => {
      if (!this.#over) run();
    });
  }
}
