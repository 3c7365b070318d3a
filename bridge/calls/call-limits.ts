// How long anything of a call may take, and what ends one in which something takes longer. PURE. The watch looks every
// few seconds, so that each of these may be exceeded by as much.
import type { CallRecord } from '../../storage/records.ts';
import { givesUpAt, lostEnd } from './call-resume.ts';
import { type CallRules, type End, type LiveState, RESTARTED } from './live-state.ts';

/** The carrier ends a call soon after we asked; after this it is asked what became of it. */
const END_GRACE_MS = 10_000;
/** A spoken last line may take this much longer. */
const SPOKEN_GRACE_MS = 20_000;
/** A request to end a line that has no answer by now has none. */
export const HANG_UP_ANSWER_MS = 120_000;
/** Key tones take less; and how often the carrier is asked about a call that was handed over. */
export const AWAY_MS = 60_000;
/** Between the answer and the media stream. */
const STREAM_GRACE_MS = 30_000;
/** A media thread tells every few seconds that it looks after a call. */
const MEDIA_SILENT_MS = 30_000;
/** Another thread has one that was left by then, or nobody can. */
const COMING_MS = 30_000;
/** And lets go of one that is over, once its last words are written down. */
export const RELEASE_MS = 30_000;
/** Beyond the longest time it may ring, and the longest it may talk: the carrier ends it first. */
const CARRIER_FIRST_MS = 30_000;
/** The closing line is given this long before the credit is used up, or before the cap of a drain. */
export const CLOSING_LINE_MS = 15_000;

/** For how long it has been connected, in milliseconds, as far as this process knows. */
export function connectedMs(live: LiveState, nowMs: number): number {
  return nowMs - (live.times?.answeredAt ?? nowMs);
}

/** True where the talk has lasted as long as any may: no question to the carrier changes that. */
export function isTooLong(call: CallRecord, live: LiveState, nowMs: number, rules: CallRules): boolean {
  return call.answered_at !== null && connectedMs(live, nowMs) > rules.maxSeconds * 1000 + CARRIER_FIRST_MS;
}

/**
 * Why a call that has not ended must end now, unless the carrier says that it has; null: everything is in its time.
 * One whose end was asked for is the carrier's.
 */
export function overdue(call: CallRecord, live: LiveState, nowMs: number, rules: CallRules): End | null {
  const { times, finishing, away, stream } = live;
  if (live.media.at === 'coming' && nowMs - live.media.since <= COMING_MS) return null;
  if (times === null) return RESTARTED;
  if (finishing !== null) {
    const graceMs = finishing.speaking ? SPOKEN_GRACE_MS : END_GRACE_MS;
    if (nowMs - finishing.at < graceMs) return null;
    return finishing.talk ?? { cause: 'stream_ended', error: null };
  }
  if (isMediaSilent(live, nowMs)) {
    return {
      cause: 'stalled',
      error: {
        code: 'media_silent',
        message: 'The part of the service that carries the audio said nothing more of the call.',
      },
    };
  }
  if (away?.why === 'digits' && nowMs - away.since > AWAY_MS) {
    return {
      cause: 'stream_lost',
      error: { code: 'stream_lost', message: 'The audio of the call did not come back after key tones.' },
    };
  }
  if (call.answered_at === null) {
    const { answerSeconds } = rules.carrier;
    const limitMs =
      answerSeconds === null ? rules.ringSeconds * 1000 + CARRIER_FIRST_MS : answerSeconds * 1000;
    return nowMs - times.madeAt < limitMs ? null : { cause: 'no_answer', error: null };
  }
  const givesUp = givesUpAt(call, live, rules);
  if (stream.at === 'lost' && givesUp !== null && nowMs >= givesUp) return lostEnd(stream);
  if (stream.at === 'awaited' && connectedMs(live, nowMs) > STREAM_GRACE_MS) {
    return {
      cause: 'stream_lost',
      error: {
        code: 'stream_never_started',
        message:
          'The call was answered and its audio never came: check that PUBLIC_URL reaches this daemon for websockets.',
      },
    };
  }
  return null;
}

/** Nobody looks after a call that has not ended: its thread has gone, or was told to let go, or says nothing more. */
function isMediaSilent({ media, away }: LiveState, nowMs: number): boolean {
  // The two others talk on without us.
  if (media.at === 'none' && away?.why === 'transfer') return false;
  if (media.at === 'carried') return media.aliveAt !== null && nowMs - media.aliveAt > MEDIA_SILENT_MS;
  return media.at === 'none' || nowMs - media.since > MEDIA_SILENT_MS;
}
