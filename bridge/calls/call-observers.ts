// What can be watched of calls, and several watchers as one: what one of them throws reaches neither the call nor the others.
import type { Log } from '../../log.ts';
import type {
  CallRecord,
  GapReason,
  InterruptionRecord,
  TranscriptItemRecord,
  TurnRecord,
} from '../../storage/records.ts';
import type { ShortWordEnd } from '../protocol/messages.ts';
import type { LiveCall } from './calls.ts';

/** What the program watches of the bridge; metrics and live views hang on it. */
export interface CallObserver {
  /** A call was made, has another state or a gap in its sound began or is over, and has not ended. */
  changed?(call: CallRecord): void;
  /** `atMs` since the media stream's start. */
  floor?(callId: string, floor: LiveCall['floor'], atMs: number): void;
  /** What was said, as it was just stored; an item comes again when it has changed. */
  words?(callId: string, items: readonly TranscriptItemRecord[]): void;
  ended?(call: CallRecord): void;
  /** A turn, once its first sound was heard or it came to nothing. */
  turn?(turn: TurnRecord): void;
  /** Speech into the agent's voice, also where it was taken back. */
  interruption?(interruption: InterruptionRecord): void;
  /** The words of a short word over the agent's voice have come. */
  shortWord?(became: ShortWordEnd): void;
  /** A gap in a call's sound is over: the line was back, or the call ended in it. */
  gap?(why: GapReason, seconds: number, ended: 'resumed' | 'call_ended'): void;
  refused?(why: string): void;
}

/** Tells each of them, in order. */
export function observeAll(watchers: readonly CallObserver[], log: Pick<Log, 'error'>): CallObserver {
  const each = (tell: (watcher: CallObserver) => void) => {
    for (const watcher of watchers) {
      try {
        tell(watcher);
      } catch (error) {
        log.error({ err: error }, 'observer.failed');
      }
    }
  };
  return {
    changed: (call) => each((one) => one.changed?.(call)),
    ended: (call) => each((one) => one.ended?.(call)),
    floor: (callId, floor, atMs) => each((one) => one.floor?.(callId, floor, atMs)),
    words: (callId, items) => each((one) => one.words?.(callId, items)),
    turn: (turn) => each((one) => one.turn?.(turn)),
    interruption: (interruption) => each((one) => one.interruption?.(interruption)),
    shortWord: (became) => each((one) => one.shortWord?.(became)),
    gap: (why, seconds, ended) => each((one) => one.gap?.(why, seconds, ended)),
    refused: (why) => each((one) => one.refused?.(why)),
  };
}
