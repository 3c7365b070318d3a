// What becomes of a call's stream: asked for, begun, gone, and brought anew. PURE. Whether a call gets another one is
// call-resume.ts.
import type { GapReason } from '../../storage/records.ts';
import type { Draft } from './call-draft.ts';
import { asksAt, briefStreams, canGoOn, givesUpAt, isCutOff, lostEnd, lostSince } from './call-resume.ts';
import type { Away, Input, LostBy, StreamState, ToolResult } from './live-state.ts';
import { withoutTool } from './running-tools.ts';

/** A carrier that asks again so soon was refused: it is told a little later, not as fast as it can ask. */
const ASKED_AGAIN_MS = 1_000;

type Lost = Extract<StreamState, { at: 'lost' }>;

/** The call is without a stream, and has one to come. */
export function streamAsked(d: Draft, carrierCallId: string): void {
  const { call, live } = d;
  if (d.isOver || live.media.at !== 'carried' || live.finishing !== null || live.line.at === 'ending') return;
  if (call.carrier_call_id === null) d.happen({ type: 'accepted', carrierCallId });
  else if (call.carrier_call_id !== carrierCallId) return;
  bring(d, 'connect', carrierCallId);
}

/** The stream has ended, and the call has not. */
export function streamOver(d: Draft, { carrierCallId, transfer, waited }: Input<'stream-over'>): void {
  const { call, live } = d;
  if (transfer !== null && live.away?.why === 'transfer') {
    if (live.away.modelLost) {
      d.end({ cause: 'transfer_failed', error: null });
      return;
    }
    // Nobody took the call: it goes on with the agent, which is told why.
    const error = d.rules.texts.transferFailed[transfer];
    d.know({ away: { ...live.away, result: { ok: false, error } } });
    streamAsked(d, carrierCallId);
    return;
  }
  // It has been waited for as long as a carrier waits.
  if (live.media.at === 'coming') return;
  const goesOn = call.carrier_call_id === carrierCallId && canGoOn(call, live, d.rules) && !isTooLate(d);
  if (!waited) {
    if (goesOn && live.stream.at === 'lost' && !isAskedAgain(d, live.stream))
      bring(d, 'connect', carrierCallId);
    else if (live.media.at !== 'none' && live.away === null && (goesOn || live.finishing === null))
      d.again = true;
    return;
  }
  if (goesOn) {
    if (live.stream.at === 'stopped') lose(d, { why: 'stream_lost', atMs: live.stream.atMs });
    // One of which our side has not heard that it ended is not given up: this may be told twice, and the next one be on.
    bring(d, 'connect', carrierCallId);
    return;
  }
  if (d.isOver || call.hangup_cause !== null || live.away !== null) return;
  // The line lives, nobody has ended the talk, and only its audio is gone.
  if (live.stream.at === 'awaited')
    d.end({
      cause: 'stream_lost',
      error: { code: 'stream_never_started', message: 'The audio of the call never came.' },
    });
  else d.end(lostEnd(live.stream.at === 'lost' ? live.stream : { why: 'stream_lost' }));
}

/** A stream of the call has begun. */
export function mediaStarted(d: Draft, { carrierCallId, at, atMs }: Input<'media-started'>): void {
  const { away, stream, finishing } = d.live;
  const isAnew = stream.at === 'lost' || stream.at === 'stopped';
  const brief = away === null ? briefStreams(stream, atMs) + (isAnew ? 1 : 0) : 0;
  const lostAt = stream.at === 'lost' ? stream.since : null;
  d.know({
    token: 'used',
    stream: { at: 'on', fromMs: atMs, brief, lostAt },
    finishing: isCutOff(d.call, d.live) ? null : finishing,
  });
  if (d.call.carrier_call_id === null) d.happen({ type: 'accepted', carrierCallId });
  // Its start proves the answer.
  d.happen({ type: 'answered', at });
  if (d.call.stream_began_at === null)
    d.note({ stream_began_at: new Date(Date.parse(at) - atMs).toISOString() });
  const { times } = d.live;
  if (times?.streamAt === null) d.know({ times: { ...times, streamAt: d.at.nowMs - atMs } });
  closeGap(d, atMs);
  if (away !== null) comeBack(d, away, away.result);
}

/** The stream has gone: stopped by the carrier, which will say why, or without a word. */
export function streamEnded(d: Draft, { how, why, atMs }: Input<'stream-ended'>): void {
  const { finishing, stream } = d.live;
  // What is known already may be told once more, when a line that was to leave did not.
  if (stream.at === 'lost' || (stream.at === 'stopped' && how === 'lost')) return;
  const stopped = { at: 'stopped', atMs, brief: briefStreams(stream, atMs) } as const;
  if (d.rules.carrier.streamIsCall) {
    // Whoever was there has left, or his line has.
    d.know({ stream: stopped });
    if (why !== 'closed') d.finishing(lostEnd({ why }));
    d.recordEnd(null);
  } else if (how === 'stopped') {
    d.know({
      stream: stopped,
      finishing: finishing ?? { at: d.at.nowMs, speaking: false, talk: null },
    });
  } else lose(d, { why: why === 'closed' ? 'stream_lost' : why, atMs });
}

/** The line is back from where it was, or never left: its tool is answered. */
export function comeBack(d: Draft, away: Away, result: ToolResult): void {
  const { stream } = d.live;
  d.know({ away: null });
  d.note({ running_tools: withoutTool(d.call.running_tools, away.toolCallId) });
  // While it was away nobody could bring a stream.
  if (stream.at === 'lost') d.know({ stream: { ...stream, since: d.at.nowMs, toldAt: null } });
  d.log('info', 'call.back', { why: away.why });
  const { toolCallId } = away;
  const output = JSON.stringify(result);
  d.tellMedia({ type: 'tool-result', callId: d.call.id, toolCallId, output });
}

/** Time has passed: a carrier that has not asked for the stream it lost is told to bring the next one. */
export function lookForStream(d: Draft): void {
  const { call, live } = d;
  const asks = asksAt(call, live, d.rules);
  if (asks !== null && asks <= d.at.nowMs && call.carrier_call_id !== null)
    bring(d, 'connect-unasked', call.carrier_call_id);
}

function isTooLate(d: Draft): boolean {
  const until = givesUpAt(d.call, d.live, d.rules);
  return until !== null && until <= d.at.nowMs;
}

const isAskedAgain = (d: Draft, { toldAt }: Lost) => toldAt !== null && d.at.nowMs - toldAt < ASKED_AGAIN_MS;

/** Has the carrier bring the next stream. */
function bring(d: Draft, how: 'connect' | 'connect-unasked', carrierCallId: string): void {
  const { stream, token } = d.live;
  if (stream.at === 'lost') d.know({ stream: { ...stream, toldAt: d.at.nowMs } });
  if (token === 'used') {
    d.know({ token: 'fresh' });
    d.command({ do: 'expect-stream' });
  }
  d.command({ do: how, carrierCallId });
}

/** The stream is lost, and what is said now nobody hears. @param at.atMs when the line was last heard */
function lose(d: Draft, { why, atMs }: { why: LostBy; atMs: number }): void {
  const { call, at } = d;
  const { stream, finishing, line } = d.live;
  const known = { brief: briefStreams(stream, atMs), since: lostSince(stream, atMs, at.nowMs) };
  const cutOff = isCutOff(call, d.live);
  d.know({
    stream: { at: 'lost', why, toldAt: null, ...known },
    finishing: cutOff ? null : finishing,
  });
  if (d.isOver || call.hangup_cause !== null || line.at === 'ending' || d.live.finishing !== null) return;
  d.log('warn', 'call.stream_lost', { why });
  openGap(d, 'stream_lost', atMs);
}

/** From when the line was last heard on, unless it was lost before. */
export function openGap(d: Draft, why: GapReason, atMs: number): void {
  const { gaps, stream_began_at: began } = d.call;
  const open = gaps.at(-1);
  if (open?.to_ms === null) {
    // It has lasted since then, and for more than its stream by now.
    if (open.why === 'stream_lost' && why !== open.why) d.note({ gaps: gaps.with(-1, { ...open, why }) });
    return;
  }
  const from_ms = Math.round(atMs);
  const started_at = began === null ? d.at.now : new Date(Date.parse(began) + from_ms).toISOString();
  d.note({ gaps: [...gaps, { why, started_at, from_ms, to_ms: null }] });
}

function closeGap(d: Draft, atMs: number): void {
  const gap = d.call.gaps.at(-1);
  if (d.isOver || gap === undefined || gap.to_ms !== null) return;
  const to_ms = Math.max(gap.from_ms, Math.round(atMs));
  d.note({ gaps: [...d.call.gaps.slice(0, -1), { ...gap, to_ms }] });
  d.log('info', 'call.stream_back', { why: gap.why, gap_ms: to_ms - gap.from_ms });
}
