// A model session that answers at once: what is then measured is the daemon's own share. Remembers what it was given and when.
import { FRAME_BYTES, MULAW_8K } from '../../audio/format.ts';
import type { ModelListener, ModelSession } from '../../bridge/models/model.ts';
import { TURN_BY_TURN } from '../bridge/models/capabilities.ts';

export interface InstantModel extends ModelSession {
  /** The caller's turns as they reached the model; `fromMs` is where in the stream their sound begins. */
  readonly turns: { fromMs: number; committedMs: number }[];
  /** When an answer was asked for. */
  readonly asked: number[];
  /** Tells the conversation what has come meanwhile; called outside of its own calls, as a socket would. */
  flush(): void;
}

/** Less is no turn, as at OpenAI. */
const LEAST_TURN_BYTES = 5 * FRAME_BYTES;

export function createInstantModel(
  listener: ModelListener,
  o: {
    /** Milliseconds since the stream's start. */
    now(): number;
    /** Bytes of the caller's sound that have reached the daemon. */
    heardBytes(): number;
    /** mu-law of the n-th answer. */
    answer(n: number): Uint8Array;
  },
): InstantModel {
  const turns: InstantModel['turns'] = [];
  const asked: number[] = [];
  let waiting: (() => void)[] = [];
  let responses = 0;
  let appendedBytes = 0;
  let fromMs = 0;

  return {
    turns,
    asked,
    capabilities: TURN_BY_TURN,
    takes: MULAW_8K,
    gives: MULAW_8K,
    flush() {
      for (let due = waiting; due.length > 0; due = waiting) {
        waiting = [];
        for (const tell of due) tell();
      }
    },
    open: () => void waiting.push(() => listener.ready({ renewed: false, tookMs: 0 })),
    appendAudio(payload) {
      if (appendedBytes === 0) fromMs = (o.heardBytes() - payload.length) / 8;
      appendedBytes += payload.length;
    },
    clearAudio() {
      appendedBytes = 0;
    },
    endTurn() {
      if (appendedBytes < LEAST_TURN_BYTES) return null;
      appendedBytes = 0;
      const turn = turns.push({ fromMs, committedMs: o.now() }) - 1;
      waiting.push(() => listener.callerText(turn, 'words'));
      return turn;
    },
    respond() {
      asked.push(o.now());
      const n = responses++;
      const itemId = `item-${n}`;
      waiting.push(() => {
        listener.audio(itemId, Buffer.from(o.answer(n)));
        listener.text(itemId, 'words');
        listener.textDone(itemId, 'words');
        listener.audioDone(itemId);
        listener.responseDone({
          responseId: `response-${n}`,
          status: 'completed',
          reason: null,
          hadAudio: true,
          toolCalls: 0,
        });
      });
    },
    say() {},
    interrupt() {
      // Everything was sent at once: nothing runs that could be cut.
    },
    addText() {},
    sendToolResult() {},
    busy: () => waiting.length > 0,
    close: async () => {},
  };
}
