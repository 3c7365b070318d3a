// PURE. A thread's messages to the control thread, several at a time: each message by itself costs both threads a wake-up.
// What somebody waits for goes at once and takes along what was there before it; the rest goes when the thread says so.
import type { FromMedia } from '../protocol/messages.ts';

/** Nobody waits for these: they are written down or looked at. */
const PATIENT: ReadonlySet<FromMedia['type']> = new Set([
  'alive',
  'floor',
  'transcript',
  'turn',
  'usage',
  'barge-in',
  'hold-taken-back',
]);

export interface Outbox {
  post(message: FromMedia): void;
  /** Sends what waits. Called every few ticks, and before the thread ends. */
  flush(): void;
}

/** `send` gets messages in the order they were posted; the array is not used again. */
export function createOutbox(send: (messages: readonly FromMedia[]) => void): Outbox {
  let waiting: FromMedia[] = [];

  function flush(): void {
    if (waiting.length === 0) return;
    const messages = waiting;
    waiting = [];
    send(messages);
  }

  return {
    post(message) {
      waiting.push(message);
      if (!PATIENT.has(message.type)) flush();
    },
    flush,
  };
}
