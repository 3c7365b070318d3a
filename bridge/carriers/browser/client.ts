// Calls from a browser, as a carrier: nobody is dialled, there are no numbers and no hooks, and the media stream is the
// whole call. What became of a call that lost its process is known to our own records alone.
import { AppError } from '../../../errors.ts';
import { type Carrier, type CarrierCallSnapshot, NOT_POSSIBLE } from '../carrier.ts';

/** Between the click and the stream: the page asks for the microphone before it asks for the call. */
const ANSWER_SECONDS = 15;

/** The carrier's name, and in a call's record the side that has no number. */
export const BROWSER = 'browser';

export interface BrowserOptions {
  /** What was last written of a call, and whether its stream ever came; null when there is no such call. */
  lastSeen(callId: string): Promise<{ at: string; answeredAt: string | null } | null>;
}

/** The carrier's id of a call is the call's own. */
export function openBrowser(o: BrowserOptions): Carrier {
  const refuse = (message: string) => async (): Promise<never> => {
    throw new AppError('carrier_error', message, { carrierCode: NOT_POSSIBLE, retryable: false });
  };
  const noNumbers = refuse('There are no numbers to be had for calls in a browser.');
  return {
    name: BROWSER,
    capabilities: {
      marks: true,
      clearReturnsMarks: true,
      detectsMachines: false,
      streamIsCall: true,
      answerSeconds: ANSWER_SECONDS,
    },
    placeCall: refuse('A browser cannot be called: its page opens the call.'),
    // The media thread closes the stream when it lets go of the call, and that is all there is to end.
    hangUp: async () => 'already_ended',
    cancel: async () => 'already_ended',
    transfer: refuse('This call is in a web browser, for trying out: it cannot be transferred to a number.'),
    sendDigits: refuse('This call is in a web browser, for trying out: there are no keys to be pressed.'),
    speakAndHangUp: refuse('There is no other voice on a call in a browser.'),
    /** Asked only about calls without a stream. */
    async fetchCall(carrierCallId): Promise<CarrierCallSnapshot | null> {
      const seen = await o.lastSeen(carrierCallId);
      if (seen === null) return null;
      return {
        carrierCallId,
        status: seen.answeredAt === null ? 'no_answer' : 'completed',
        to: BROWSER,
        from: BROWSER,
        durationSeconds: null,
        startedAt: seen.answeredAt,
        // Nobody saw it end; it surely lived when something was last written of it, and more is not charged for.
        endedAt: seen.at,
      };
    },
    findCalls: async () => [],
    searchNumbers: noNumbers,
    buyNumber: noNumbers,
    releaseNumber: noNumbers,
    check: async () => {},
  };
}
