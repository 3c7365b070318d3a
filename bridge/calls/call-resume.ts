// Whether a call that is without its stream gets another, when we ask the carrier for it ourselves, and when it is given up.
// PURE. What each input makes of the stream is call-stream.ts.
import type { CallRecord } from '../../storage/records.ts';
import { isTerminal } from './call-state.ts';
import type { CallRules, End, LiveState, LostBy, StreamState } from './live-state.ts';

/** A line that breaks again and again is not worth the caller's time: so many streams in a row that each carried little. */
export const MOST_BRIEF = 5;
export const BRIEF_MS = 10_000;
/** Nobody listens to silence for longer. */
export const GIVE_UP_MS = 20_000;
/** A loss after which there is no other stream: for so long the carrier may say how the call ended. */
const SAY_WHY_MS = 10_000;
/** A carrier that asks what comes next does so at once. */
const UNASKED_MS = 1_500;
/** One that was not answered for as long as a restart takes may let seconds pass before it asks once more. */
const UNASKED_AGAIN_MS = 250;
/** And brings the stream within this, once it knows. */
const COMES_MS = 5_000;

/** Whoever waits with a question asks it within this. */
const ASKED_FIRST_MS = 100;

type Lost = Extract<StreamState, { at: 'lost' }>;

const MESSAGES: Record<LostBy, string> = {
  stream_lost: 'The audio of the call was lost while the line was still up, and did not come back.',
  media_timeout: 'No audio came from the carrier any more.',
  carrier_backpressure: 'The carrier stopped taking audio.',
};

/** The carrier stopped the stream, and nobody has ended the talk: it may have been for the next one. */
export function isCutOff(call: CallRecord, { stream, finishing }: LiveState): boolean {
  if (stream.at !== 'stopped' || finishing === null || call.hangup_cause !== null) return false;
  return finishing.talk === null && !finishing.speaking;
}

/** By a thread, or by one that is being found. */
const isCarried = ({ at }: LiveState['media']) => at === 'carried' || at === 'coming';

/** The talk would go on with another stream: it is up to time alone whether it does. */
export function canGoOn(call: CallRecord, live: LiveState, rules: CallRules): boolean {
  const { stream, line, finishing, media, model, away } = live;
  if (isTerminal(call.status) || call.hangup_cause !== null || rules.carrier.streamIsCall) return false;
  if (line.at === 'ending' || !isCarried(media) || model === 'gone' || away !== null) return false;
  if (finishing !== null && !isCutOff(call, live)) return false;
  // One that is there may have carried much.
  return stream.at === 'on' || (stream.at !== 'awaited' && stream.brief < MOST_BRIEF);
}

/** How many streams in a row were brought anew and carried little, with the one that has ended now. */
export function briefStreams(stream: StreamState, endMs: number): number {
  if (stream.at === 'awaited') return 0;
  return stream.at === 'on' && endMs - stream.fromMs >= BRIEF_MS ? 0 : stream.brief;
}

/** Since when it is lost: a stream that carried nothing leaves a loss as old as it was. */
export function lostSince(stream: StreamState, endMs: number, nowMs: number): number {
  return stream.at === 'on' && stream.lostAt !== null && endMs <= stream.fromMs ? stream.lostAt : nowMs;
}

/**
 * Since when a stream is lost whose process has died and was started again: the carrier has had its time to ask, and nobody was there.
 */
export const lostBefore = (nowMs: number): number => nowMs - UNASKED_MS + UNASKED_AGAIN_MS;

/** When the carrier is told to bring the next stream without having asked; null: never. */
export function asksAt(call: CallRecord, live: LiveState, rules: CallRules): number | null {
  const { stream } = live;
  if (stream.at !== 'lost' || live.media.at !== 'carried' || !canGoOn(call, live, rules)) return null;
  return stream.toldAt === null ? stream.since + UNASKED_MS : stream.toldAt + COMES_MS;
}

/**
 * A lost stream whose call has a thread again at last. Who asked for it meanwhile is answered first; else the carrier is told a moment
 * later, and not when the next look of all calls comes.
 */
export function awaitedAgain(stream: Lost, nowMs: number): Lost {
  const { since, toldAt } = stream;
  return toldAt === null
    ? { ...stream, since: Math.max(since, nowMs + ASKED_FIRST_MS - UNASKED_MS) }
    : { ...stream, toldAt: Math.max(toldAt, nowMs + ASKED_FIRST_MS - COMES_MS) };
}

/** When a stream that was lost is awaited no longer; null where none is lost. */
export function givesUpAt(call: CallRecord, live: LiveState, rules: CallRules): number | null {
  const { stream, away } = live;
  if (stream.at !== 'lost' || away !== null) return null;
  return stream.since + (canGoOn(call, live, rules) ? GIVE_UP_MS : SAY_WHY_MS);
}

/** When time alone is to make something of a lost stream; null where none is lost, or nobody waits for it any more. */
export function lookAt(call: CallRecord, live: LiveState, rules: CallRules): number | null {
  if (isTerminal(call.status)) return null;
  const asks = asksAt(call, live, rules);
  const givesUp = givesUpAt(call, live, rules);
  return asks === null || givesUp === null ? givesUp : Math.min(asks, givesUp);
}

/** Why a call ends whose stream is lost for good. */
export function lostEnd({ why }: Pick<Lost, 'why'>): End {
  return { cause: why, error: { code: why, message: MESSAGES[why] } };
}
