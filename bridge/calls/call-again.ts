// A call whose media thread has died, or whose whole process has, as it goes on: whether it does, what is known of it then, and
// what its next media thread is told. PURE. For the rest it is a call that has lost its stream: call-resume.ts.
import type { CallGap, CallRecord, TranscriptItemRecord } from '../../storage/records.ts';
import type { CarrierCallSnapshot } from '../carriers/carrier.ts';
import type { Resumed } from '../protocol/messages.ts';
import type { Draft } from './call-draft.ts';
import { BRIEF_MS, GIVE_UP_MS, isCutOff, lostBefore, MOST_BRIEF } from './call-resume.ts';
import { isTerminal } from './call-state.ts';
import { openGap } from './call-stream.ts';
import {
  type CallRules,
  type CallTimes,
  type End,
  type LeftBy,
  type LiveState,
  RESTARTED,
} from './live-state.ts';
import { readToolLine, UNFINISHED, unanswered } from './running-tools.ts';

/** The tools for which the line leaves the talk: nobody runs them, and they end when it is back. */
export const AWAY_TOOLS = { digits: 'send_dtmf', transfer: 'transfer_call' } as const;

const THREAD_LOST: End = {
  cause: 'thread_lost',
  error: { code: 'media_thread_lost', message: 'The thread that carried the audio stopped.' },
};

/** Why a call ends that cannot go on. */
export function endOf(why: LeftBy): End {
  return why === 'thread_lost' ? THREAD_LOST : RESTARTED;
}

/**
 * A call whose sound is lost again and again, soon after it came back, may be what it dies of; or before it came back at all, and
 * for so long that nobody listens any more.
 */
export function isHopeless(gaps: readonly CallGap[], lostMs: number): boolean {
  const last = gaps.at(-1);
  if (last?.to_ms === null && lostMs - last.from_ms >= GIVE_UP_MS) return true;
  return briefGaps(gaps, lostMs) >= MOST_BRIEF;
}

/** How many streams in a row, the one that is lost at `lostMs` the last of them, were brought anew and carried little. */
function briefGaps(gaps: readonly CallGap[], lostMs: number): number {
  let brief = 0;
  let endMs = lostMs;
  for (const { from_ms, to_ms } of gaps.toReversed()) {
    if (to_ms === null || endMs - to_ms >= BRIEF_MS) break;
    brief++;
    endMs = from_ms;
  }
  return brief;
}

/** Whether the talk of a call, which no thread has any more, is to go on: nobody was about to end it. */
export function maySpeakAgain(call: CallRecord, live: LiveState, rules: CallRules): boolean {
  const { line, finishing, model } = live;
  if (isTerminal(call.status) || call.hangup_cause !== null || rules.carrier.streamIsCall) return false;
  if (line.at === 'ending' || model === 'gone') return false;
  return finishing === null || isCutOff(call, live);
}

/** Whether the line of a call that a dead process had is still there, by the carrier's account. */
export function isUp(there: CarrierCallSnapshot | null): there is CarrierCallSnapshot {
  return there !== null && ['queued', 'initiated', 'ringing', 'answered'].includes(there.status);
}

/**
 * What is known of a call that a dead process had, by its row. Its times were measured by a clock that is gone: they are as long
 * ago as they are by the wall's.
 */
export function rebuilt(
  call: CallRecord,
  at: { nowMs: number; now: string },
  rules: Pick<CallRules, 'pricePerMinute' | 'reserveMinutes'>,
): Pick<LiveState, 'times' | 'model' | 'credit' | 'usage'> {
  const ago = (time: string) => at.nowMs - Math.max(0, Date.parse(at.now) - Date.parse(time));
  const agoOrNull = (time: string | null) => (time === null ? null : ago(time));
  const times: CallTimes = {
    madeAt: ago(call.created_at),
    rangAt: agoOrNull(call.started_at),
    answeredAt: agoOrNull(call.answered_at),
    streamAt: agoOrNull(call.stream_began_at),
    endedAt: null,
  };
  const { pricePerMinute, reserveMinutes } = rules;
  const reservedMinutes =
    pricePerMinute === 0 ? reserveMinutes : Math.floor(call.reserved_milli_cents / pricePerMinute);
  return {
    times,
    model: 'opening',
    credit: { reservedMinutes, asking: false, warned: false },
    usage: call.usage ?? {},
  };
}

/** When the sound of a call was lost whose process has died, in milliseconds since its first stream's start. */
export function lostAtMs(
  call: Pick<CallRecord, 'stream_began_at' | 'updated_at' | 'gaps'>,
  ownerAliveAt: string | null,
  now: string,
): number {
  const { stream_began_at: began, updated_at, gaps } = call;
  if (began === null) return 0;
  const alive = ownerAliveAt === null || ownerAliveAt < updated_at ? updated_at : ownerAliveAt;
  const last = gaps.at(-1);
  const earliest = last === undefined ? 0 : (last.to_ms ?? last.from_ms);
  const ms = Math.min(Date.parse(alive), Date.parse(now)) - Date.parse(began);
  return Math.max(earliest, ms);
}

/** The line that has left the talk, by the row's tools; null: it has not. */
export function awayBy(
  call: Pick<CallRecord, 'running_tools'>,
): { why: 'digits' | 'transfer'; toolCallId: string } | null {
  for (const why of ['transfer', 'digits'] as const) {
    const tool = call.running_tools.find(({ name }) => name === AWAY_TOOLS[why]);
    if (tool !== undefined) return { why, toolCallId: tool.tool_call_id };
  }
  return null;
}

/**
 * Has another thread take the call, which none has any more; what comes for it waits meanwhile. For the rest the call has lost its
 * stream, if it was answered: the carrier is asked for the next one.
 * @param lostMs when it was last heard, since its first stream's start
 */
export function goAgain(d: Draft, why: LeftBy, lostMs: number): void {
  const { call, at } = d;
  const { stream, away } = d.live;
  const isLost = stream.at === 'lost';
  // Key tones are played first: whoever asks for the stream at once cuts them off.
  const toldAt = away?.why === 'digits' ? at.nowMs : null;
  const brief = briefGaps(call.gaps, lostMs);
  const since = why === 'daemon_restart' ? lostBefore(at.nowMs) : at.nowMs;
  d.know({
    media: { at: 'coming', since: at.nowMs, why },
    model: 'opening',
    token: 'fresh',
    away: null,
    finishing: null,
    stream:
      call.answered_at === null
        ? { at: 'awaited' }
        : { at: 'lost', why: isLost ? stream.why : 'stream_lost', since, brief, toldAt },
  });
  if (call.stream_began_at !== null) openGap(d, why, lostMs);
  d.log('warn', 'call.goes_on', { why });
  d.command({ do: 'carry-again' });
}

/** What the next media thread is told of the talk; null: nobody has heard a word yet, and the call begins there. */
export function resumedBy(
  call: Pick<CallRecord, 'stream_began_at' | 'gaps' | 'running_tools'>,
  transcript: readonly TranscriptItemRecord[],
  elapsedMs: number,
): Resumed | null {
  if (call.stream_began_at === null) return null;
  const unfinished = unanswered(call.running_tools, transcript).map((tool) => ({
    name: tool.name,
    argumentsJson: tool.arguments_json,
  }));
  const talk: Resumed['talk'][number][] = [];
  for (const { role, text, heard_text } of transcript) {
    const line = role === 'tool' ? readToolLine(text) : null;
    // Of these it is told in words of its own.
    if (line?.output === UNFINISHED) unfinished.push({ name: line.name, argumentsJson: line.arguments });
    else if (role !== 'agent') talk.push({ role, text });
    else if (heard_text !== '') talk.push({ role, text: heard_text });
  }
  const gap = call.gaps.at(-1);
  const lostAt = gap !== undefined && gap.to_ms === null ? gap.from_ms : elapsedMs;
  return { elapsedMs, lostAtMs: lostAt, talk, unfinishedTools: unfinished };
}
