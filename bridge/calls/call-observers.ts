// Several watchers of the bridge as one: what one of them throws reaches neither the call nor the others.
import type { Log } from '../../log.ts';
import type { CallObserver } from './call-desk.ts';

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
    refused: (why) => each((one) => one.refused?.(why)),
  };
}
