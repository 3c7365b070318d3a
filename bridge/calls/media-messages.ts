// What the media threads tell of calls, translated and handed to the calls they are about, each call's in order.
import type { CallMessage } from '../protocol/messages.ts';
import type { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** Reads the messages of all media threads. What is told of a call that is nobody's any more is not heard. */
export function readMediaMessages(
  owned: OwnedCalls,
  { log, failpoint, observer }: Pick<CallContext, 'log' | 'failpoint' | 'observer'>,
): (message: CallMessage) => void {
  async function hand(call: Call, message: CallMessage): Promise<unknown> {
    switch (message.type) {
      case 'floor':
        return call.floor(message.floor, message.atMs);
      case 'transcript':
        return call.said(message.items);
      case 'turn':
        return call.turn(message.times);
      case 'barge-in':
        return call.interruption(message, false);
      case 'hold-taken-back': {
        const { resumedMs: atMs, onsetMs, heldMs, pausedMs } = message;
        return call.interruption({ atMs, onsetMs, heldMs, pausedMs }, true);
      }
      case 'short-word':
        return observer.shortWord?.(message.became);
      case 'media-started':
        await call.tell(message);
        return failpoint('media_started');
      case 'finished': {
        const { reason, errorCode, errorMessage, speak } = message;
        const error = errorCode === null ? null : { code: errorCode, message: errorMessage ?? errorCode };
        return call.tell({ type: 'talk-finished', reason, error, speak });
      }
      case 'released':
        failpoint('ended_before_settle');
        log.info({ call_id: call.id, ...message.stats }, 'media.released');
        return call.tell(message);
      default:
        return call.tell(message);
    }
  }

  return (message) => {
    const call = owned.get(message.callId);
    if (call === undefined) return;
    hand(call, message).catch((error: unknown) => {
      log.error({ call_id: call.id, message: message.type, err: error }, 'media.message_failed');
    });
  };
}
