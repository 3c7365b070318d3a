// PURE. A thread's messages to the control thread, several at a time: each message by itself costs both threads a wake-up.
// What somebody waits for goes at once and takes along what was there before it; the rest goes when the thread says so.
import type { FromMedia } from '../protocol/messages.ts';

/** Nobody waits for these: they are written down or looked at. */
const PATIENT: ReadonlySet<FromMedia['type']> = new Set([
  'alive',
  'load',
  'floor',
  'transcript',
  'turn',
  'usage',
  'barge-in',
  'hold-taken-back',
  'short-word',
]);

export class Outbox {
  readonly #send: (messages: readonly FromMedia[]) => void;
  #waiting: FromMedia[] = [];

  /** `send` gets messages in the order they were posted; the array is not used again. */
  constructor(send: (messages: readonly FromMedia[]) => void) {
    this.#send = send;
  }

  post(message: FromMedia): void {
    this.#waiting.push(message);
    if (!PATIENT.has(message.type)) this.flush();
  }

  /** Sends what waits. Called every few ticks, and before the thread ends. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    this.#waiting = [];
    this.#send(messages);
  }
}
