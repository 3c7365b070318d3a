// Calls from a browser, as a carrier: nobody is dialled, there are no numbers and no hooks, and the media stream is the
// whole call. What became of a call that lost its process is known to our own records alone.
import { AppError } from '../../../errors.ts';
import { A_PAGE, type Carrier, type CarrierCallSnapshot, type Line, NOT_POSSIBLE } from '../carrier.ts';

/** Between the click and the stream: the page asks for the microphone before it asks for the call. */
const ANSWER_SECONDS = 15;

const BROWSER = 'browser';

export interface BrowserOptions {
  /** What was last written of a call, and whether its stream ever came; null when there is no such call. */
  lastSeen(callId: string): Promise<{ at: string; answeredAt: string | null } | null>;
}

/** The carrier's id of a call is the call's own. */
export function openBrowser(o: BrowserOptions): Carrier {
  return {
    name: BROWSER,
    capabilities: {
      telephone: false,
      detectsMachines: false,
      streamIsCall: true,
      answerSeconds: ANSWER_SECONDS,
    },
    line: openBrowserLine(o),
    numbers: null,
    hooks: null,
    // No secret is shared with a page.
    mediaSecret: '',
    check: null,
    // What happens to a call is told by its stream.
    async open() {},
    async close() {},
  };
}

function openBrowserLine(o: BrowserOptions): Line {
  const refuse = (message: string) => async (): Promise<never> => {
    throw new AppError('carrier_error', message, { carrierCode: NOT_POSSIBLE, retryable: false });
  };
  const opensItself = refuse('A browser cannot be called: its page opens the call, and its stream.');
  return {
    place: opensItself,
    connect: opensItself,
    reject: opensItself,
    // The media thread closes the stream when it lets go of the call, and that is all there is to end.
    hangUp: async () => 'already_ended',
    transfer: refuse('This call is in a web browser, for trying out: it cannot be transferred to a number.'),
    sendKeys: refuse('This call is in a web browser, for trying out: there are no keys to be pressed.'),
    sayAndHangUp: refuse('There is no other voice on a call in a browser.'),
    /** Asked only about calls without a stream. */
    async lookUp(carrierCallId): Promise<CarrierCallSnapshot | null> {
      const seen = await o.lastSeen(carrierCallId);
      if (seen === null) return null;
      return {
        carrierCallId,
        status: seen.answeredAt === null ? 'no_answer' : 'completed',
        to: A_PAGE,
        from: A_PAGE,
        durationSeconds: null,
        startedAt: seen.answeredAt,
        // Nobody saw it end; it surely lived when something was last written of it, and more is not charged for.
        endedAt: seen.at,
      };
    },
    find: async () => [],
  };
}
