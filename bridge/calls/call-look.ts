// What time makes of a call: what takes too long is asked about at the carrier and ended, and a talk that goes on has credit
// held for it. PURE. How long anything may take is call-limits.ts.
import type { Draft } from './call-draft.ts';
import {
  AWAY_MS,
  CLOSING_LINE_MS,
  connectedMs,
  HANG_UP_ANSWER_MS,
  isTooLong,
  overdue,
  RELEASE_MS,
} from './call-limits.ts';
import { endBy } from './call-state.ts';
import { lookForStream } from './call-stream.ts';
import { type Input, stillUp } from './live-state.ts';

/** Whatever has taken too long is looked into: the carrier is asked, and ends it where it does not know better. */
export function look(d: Draft): void {
  const { call, at, rules } = d;
  const { live } = d;
  if (d.isOver) {
    if (live.media.at === 'releasing' && at.nowMs - live.media.since >= RELEASE_MS) {
      d.log('error', 'media.not_released');
      d.letGo(live.media.settle);
    }
    return;
  }
  if (live.line.at === 'ending') {
    if (at.nowMs - live.line.since >= HANG_UP_ANSWER_MS) hangUpAnswered(d, null);
    return;
  }
  const end = overdue(call, live, at.nowMs, rules);
  if (end !== null) {
    if (!d.lookUp('overdue')) d.end(end);
    return;
  }
  // What is known of one that is being taken over is not all there yet: its times, its credit.
  if (live.finishing !== null || live.times === null) return;
  if (isTooLong(call, live, at.nowMs, rules)) {
    d.end({ cause: 'max_duration', error: null });
    return;
  }
  if (live.away !== null && at.nowMs - live.away.askedAt > AWAY_MS) {
    d.know({ away: { ...live.away, askedAt: at.nowMs } });
    d.lookUp('overdue');
  }
  lookForStream(d);
  topUp(d);
}

/** A minute ahead of what is used up, so that the line is never cut in a minute already paid for. */
function topUp(d: Draft): void {
  const { credit } = d.live;
  if (d.rules.pricePerMinute === 0 || d.call.answered_at === null || credit.asking) return;
  if (connectedMs(d.live, d.at.nowMs) < (credit.reservedMinutes - 1) * 60_000) return;
  askForCredit(d, d.rules.reserveMinutes);
}

function askForCredit(d: Draft, minutes: number): void {
  // A disk that takes no writes is no fault of the caller's: at the end, what was used is charged, as far as there is
  // credit.
  if (!d.at.writable) return;
  d.know({ credit: { ...d.live.credit, asking: true } });
  const amountMilliCents = -Math.ceil(d.rules.pricePerMinute * minutes);
  d.command({ do: 'top-up', minutes, amountMilliCents });
}

/** More credit is held, or there is none: then the talk goes on for as long as what is held lasts. */
export function topUpAnswered(d: Draft, { minutes, answer }: Input<'top-up-answered'>): void {
  const { credit } = d.live;
  d.know({ credit: { ...credit, asking: false } });
  if (answer === 'failed' || d.isOver) return;
  if (answer === 'taken') {
    d.know({ credit: { ...credit, asking: false, reservedMinutes: credit.reservedMinutes + minutes } });
    return;
  }
  // As much as usual, else a minute: the last of the credit can be talked away too.
  if (minutes !== 1) {
    askForCredit(d, 1);
    return;
  }
  const leftMs = credit.reservedMinutes * 60_000 - connectedMs(d.live, d.at.nowMs);
  if (leftMs <= 0) d.end({ cause: 'credit_exhausted', error: null });
  else if (leftMs <= CLOSING_LINE_MS && !credit.warned) {
    d.know({ credit: { ...credit, asking: false, warned: true } });
    d.tellMedia({
      type: 'finish',
      callId: d.call.id,
      reason: 'credit_exhausted',
      say: d.rules.texts.closing,
    });
  }
}

/** A carrier that does not answer is asked again, until it does. */
export function hangUpAnswered(d: Draft, answer: Input<'hang-up-answered'>['answer']): void {
  const { line } = d.live;
  if (line.at !== 'ending') return;
  if (answer === null && line.unanswered === 'ask_again') {
    // The watch asks the carrier again until it knows.
    d.know(stillUp(d.live, d.at.nowMs));
    return;
  }
  const mayKnowMore = answer === 'already_ended' && !d.rules.carrier.streamIsCall;
  if (mayKnowMore && d.lookUp('ended')) return;
  d.recordEnd(line.cause);
}

/** The carrier's own account of an end holds. */
export function lookedUp(d: Draft, { seen, why }: Input<'looked-up'>): void {
  const ended = seen === null || seen === 'unknown' ? null : endBy(seen, d.at.now);
  const { line } = d.live;
  if (ended !== null) d.happen(ended);
  else if (why === 'ended') {
    if (line.at === 'ending') d.recordEnd(line.cause);
  } else if (!d.isOver) {
    // It may have come right meanwhile.
    const end = overdue(d.call, d.live, d.at.nowMs, d.rules);
    if (end !== null) d.end(end);
  }
}
