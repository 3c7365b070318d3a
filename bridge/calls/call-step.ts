// What anything that comes in makes of a call: of its row and of what is known of it beside, as one step. PURE. The row's
// own rules are call-state.ts, those of its stream call-stream.ts, how long anything may take call-limits.ts; call.ts writes the step and does what it asks.
import type { CallRecord } from '../../storage/records.ts';
import { isNumber } from '../carriers/caller-id.ts';
import {
  AWAY_TOOLS,
  awayBy,
  endOf,
  goAgain,
  isHopeless,
  isUp,
  lostAtMs,
  maySpeakAgain,
  rebuilt,
} from './call-again.ts';
import { Draft } from './call-draft.ts';
import { hangUpAnswered, look, lookedUp, topUpAnswered } from './call-look.ts';
import { happenedAt } from './call-plan.ts';
import { awaitedAgain } from './call-resume.ts';
import { endBy } from './call-state.ts';
import { comeBack, mediaStarted, streamAsked, streamEnded, streamOver } from './call-stream.ts';
import {
  type CallInput,
  type CallRules,
  type End,
  type Input,
  type LiveState,
  type Moment,
  type Next,
  RESTARTED,
  type ToolResult,
} from './live-state.ts';
import { withoutTool, withTool } from './running-tools.ts';

/**
 * What an input makes of a call.
 * @param stored its row; in it is what is not repeated in `live`
 * @returns what is to be written, the live state from then on, and what is to be done after the write
 */
export function step(
  stored: CallRecord,
  live: LiveState,
  input: CallInput,
  at: Moment,
  rules: CallRules,
): Next {
  const draft = new Draft(stored, live, at, rules);
  take(draft, input);
  return draft.next();
}

function take(d: Draft, input: CallInput): void {
  switch (input.type) {
    case 'carrier-status':
      carrierStatus(d, input);
      return;
    case 'machine-verdict':
      machineVerdict(d, input.verdict);
      return;
    case 'stream-asked':
      streamAsked(d, input.carrierCallId);
      return;
    case 'stream-over':
      if (isBackAlone(d, input)) backAlone(d);
      else streamOver(d, input);
      return;
    case 'dial-accepted':
      d.happen({ type: 'accepted', carrierCallId: input.carrierCallId });
      return;
    case 'dial-refused':
      d.happen({ type: 'refused', at: d.at.now, code: input.code, message: input.message });
      return;
    case 'hang-up-answered':
      hangUpAnswered(d, input.answer);
      return;
    case 'looked-up':
      lookedUp(d, input);
      return;
    case 'not-spoken':
      if (d.live.finishing?.speaking === true) d.end(d.live.finishing.talk ?? STREAM_ENDED);
      return;
    case 'not-away':
      notAway(d, input);
      return;
    case 'thread-lost':
      threadLost(d, input.silentMs);
      return;
    case 'carried-again':
      carriedAgain(d, input.running);
      return;
    case 'not-carried':
      notCarried(d);
      return;
    case 'hang-up-requested':
      d.end({ cause: d.call.answered_at === null ? 'canceled' : 'hangup_requested', error: null });
      return;
    case 'end':
      d.end(input);
      return;
    case 'tool-answered':
      toolAnswered(d, input.toolCallId);
      return;
    case 'opt-out-noted':
      optOutNoted(d, input);
      return;
    case 'last-line':
      d.tellMedia({ type: 'finish', callId: d.call.id, reason: input.reason, say: d.rules.texts.closing });
      return;
    case 'stop-recording':
      d.tellMedia({ type: 'stop-recording', callId: d.call.id });
      return;
    case 'record-end':
      d.recordEnd(input.cause);
      return;
    case 'replaced':
      if (d.live.media.at !== 'none' && d.live.media.at !== 'coming') d.command({ do: 'release' });
      d.letGo('nothing');
      return;
    case 'look':
      look(d);
      return;
    case 'top-up-answered':
      topUpAnswered(d, input);
      return;
    case 'recovered':
      recovered(d, input);
      return;
    default:
      // What is told by a thread that has the call no more is not heard.
      if (d.live.media.at !== 'none' && d.live.media.at !== 'coming') takeFromMedia(d, input);
  }
}

type MediaInput = Input<
  | 'alive'
  | 'model-ready'
  | 'media-started'
  | 'stream-ended'
  | 'usage'
  | 'disclosure'
  | 'opted-out'
  | 'tool-called'
  | 'digits-requested'
  | 'transfer-requested'
  | 'talk-finished'
  | 'released'
>;

function takeFromMedia(d: Draft, input: MediaInput): void {
  const { media, model } = d.live;
  switch (input.type) {
    case 'alive':
      if (media.at === 'carried') d.know({ media: { at: 'carried', aliveAt: d.at.nowMs } });
      return;
    case 'model-ready':
      if (model === 'opening') d.know({ model: 'ready' });
      return;
    case 'media-started':
      mediaStarted(d, input);
      return;
    case 'stream-ended':
      streamEnded(d, input);
      return;
    case 'usage':
      use(d, input.usage);
      return;
    case 'opted-out':
      optedOut(d, input);
      return;
    case 'disclosure':
      disclosed(d, input.disclosure);
      return;
    case 'tool-called': {
      const { type, ...tool } = input;
      if (!d.isOver) d.note({ running_tools: withTool(d.call.running_tools, tool) });
      d.command({ do: 'run-tool', ...tool });
      return;
    }
    case 'digits-requested':
    case 'transfer-requested':
      leave(d, input);
      return;
    case 'talk-finished':
      talkFinished(d, input);
      return;
    case 'released':
      if (media.at === 'releasing') d.letGo(media.settle);
      else d.know({ media: { at: 'none' } });
      return;
  }
}

const STREAM_ENDED: End = { cause: 'stream_ended', error: null };

/** A callback may overtake the answer to our own request, and then names the call for the first time. */
function carrierStatus(d: Draft, { carrierCallId, event }: Input<'carrier-status'>): void {
  const { call } = d;
  if (call.carrier_call_id !== null && call.carrier_call_id !== carrierCallId) {
    d.log('warn', 'carrier.event.other_call', { carrier_call_id: carrierCallId });
    return;
  }
  if (call.carrier_call_id === null) d.happen({ type: 'accepted', carrierCallId });
  if (event === null) return;
  d.happen({ ...event, at: happenedAt(event.at, new Date(d.at.now), call.created_at) });
}

function machineVerdict(d: Draft, verdict: Input<'machine-verdict'>['verdict']): void {
  d.happen({ type: 'machine-detected', answeredBy: verdict === 'machine_ready' ? 'machine' : verdict });
  d.tellMedia({ type: 'machine-detection', callId: d.call.id, verdict });
}

function use(d: Draft, used: Readonly<Record<string, number>>): void {
  const usage = { ...d.live.usage };
  for (const [name, count] of Object.entries(used)) usage[name] = (usage[name] ?? 0) + count;
  d.know({ usage });
  d.note({ usage });
}

/** Whoever has a number is called by it no more. */
function optedOut(d: Draft, { by, text, itemId, atMs }: Input<'opted-out'>): void {
  const { direction, to_number, from_number } = d.call;
  const number = direction === 'outbound' ? to_number : from_number;
  if (isNumber(number)) d.command({ do: 'note-opt-out', number, by, text, itemId, atMs });
}

/** What is told as noted is noted. */
function optOutNoted(d: Draft, { by, text, atMs: at_ms }: Input<'opt-out-noted'>): void {
  if (d.call.opted_out === null) d.note({ opted_out: { at_ms, text, by } });
  d.log('info', 'call.opted_out', { by });
  if (d.isOver) return;
  const say = d.rules.texts.optedOut(d.call.chosen_language);
  d.tellMedia({ type: 'finish', callId: d.call.id, reason: 'agent_ended', say });
}

/** How much was heard of the line that is said before all else. */
function disclosed(d: Draft, said: Input<'disclosure'>['disclosure']): void {
  const { text, heardText: heard_text, heardMs: heard_ms, complete } = said;
  const { startedMs: started_ms, endedMs: ended_ms } = said;
  d.note({ disclosure: { text, heard_text, heard_ms, started_ms, ended_ms, complete } });
}

/** Has the carrier take the line out of the talk; its tool is answered when the line is back, or when it never left. */
function leave(d: Draft, input: Input<'digits-requested' | 'transfer-requested'>): void {
  const { call } = d;
  const { carrier_call_id: carrierCallId } = call;
  if (d.isOver || carrierCallId === null) return;
  const { toolCallId } = input;
  const since = d.at.nowMs;
  const isTransfer = input.type === 'transfer-requested';
  const why = isTransfer ? 'transfer' : 'digits';
  const result: ToolResult = isTransfer
    ? { ok: false, error: d.rules.texts.transferFailed.unknown }
    : { ok: true };
  d.know({ away: { why, toolCallId, since, askedAt: since, result, modelLost: false } });
  const atMs = since - (d.live.times?.streamAt ?? since);
  const tool = { toolCallId, name: AWAY_TOOLS[why], argumentsJson: '{}', atMs };
  d.note({ running_tools: withTool(call.running_tools, tool) });
  d.log('info', 'call.away', { why });
  if (!isTransfer) d.command({ do: 'send-digits', carrierCallId, toolCallId, digits: input.digits });
  else {
    // Who has no number has none to show on; then it is the number that was called.
    const from = isNumber(call.from_number) ? call.from_number : call.to_number;
    d.command({ do: 'transfer', carrierCallId, toolCallId, to: input.number, from });
  }
}

function notAway(d: Draft, { toolCallId, why }: Input<'not-away'>): void {
  const { away } = d.live;
  if (away?.toolCallId !== toolCallId) return;
  const { texts } = d.rules;
  // Of a fault the model need not know more.
  comeBack(d, away, {
    ok: false,
    error: why === 'not_possible' ? texts.notPossible[away.why] : texts.refused,
  });
}

/** The answer is in the transcript. */
function toolAnswered(d: Draft, toolCallId: string): void {
  const left = withoutTool(d.call.running_tools, toolCallId);
  if (left.length < d.call.running_tools.length) d.note({ running_tools: left });
}

/** The talk is over and all of it was heard, or cannot be any more. */
function talkFinished(d: Draft, { reason, error, speak }: Input<'talk-finished'>): void {
  const { call, live } = d;
  if (live.away?.why === 'transfer' && reason.startsWith('model_')) {
    // The two others talk on without the agent.
    d.know({ away: { ...live.away, modelLost: true } });
    return;
  }
  const { carrier_call_id: carrierCallId } = call;
  const speaks = speak !== null && carrierCallId !== null && call.answered_at !== null && !d.isOver;
  const talk = { cause: reason, error };
  // Nothing more comes from there: if this fails, the watch ends the call, for the same reason.
  d.know({ model: 'gone', finishing: { at: d.at.nowMs, speaking: speaks, talk } });
  if (!speaks) {
    d.end(talk);
    return;
  }
  d.finishing(talk);
  if (live.line.at !== 'ending') d.command({ do: 'speak-and-hang-up', carrierCallId, line: speak });
}

/** The talk goes on at another thread, unless it was about to end, or the line is with somebody else. */
function threadLost(d: Draft, silentMs: number): void {
  const { media, away, stream, times } = d.live;
  if (media.at === 'releasing') d.letGo(media.settle);
  if (media.at !== 'carried') return;
  d.know({ media: { at: 'none' } });
  const sinceStart = times === null || times.streamAt === null ? 0 : d.at.nowMs - silentMs - times.streamAt;
  const lostMs = stream.at === 'stopped' ? stream.atMs : Math.max(0, sinceStart);
  if (!maySpeakAgain(d.call, d.live, d.rules) || isHopeless(d.call.gaps, lostMs)) d.end(endOf('thread_lost'));
  else if (away?.why === 'transfer') d.log('warn', 'call.left_away', { why: 'thread_lost' });
  else goAgain(d, 'thread_lost', lostMs);
}

/** The line is back from a transfer that came to nothing, and whoever carried the talk has died meanwhile. */
const isBackAlone = ({ live }: Draft, { transfer }: Input<'stream-over'>) =>
  transfer !== null && live.away?.why === 'transfer' && live.media.at === 'none' && !live.away.modelLost;

function backAlone(d: Draft): void {
  const { times } = d.live;
  d.know({ away: null });
  goAgain(d, 'thread_lost', times === null || times.streamAt === null ? 0 : d.at.nowMs - times.streamAt);
  d.again = true;
}

function carriedAgain(d: Draft, running: readonly string[]): void {
  if (d.live.media.at !== 'coming') return;
  const { stream } = d.live;
  d.know({
    media: { at: 'carried', aliveAt: null },
    stream: stream.at === 'lost' ? awaitedAgain(stream, d.at.nowMs) : stream,
  });
  const left = d.call.running_tools.filter(({ tool_call_id }) => running.includes(tool_call_id));
  if (left.length < d.call.running_tools.length) d.note({ running_tools: left });
}

function notCarried(d: Draft): void {
  const { media } = d.live;
  if (media.at !== 'coming') return;
  d.know({ media: { at: 'none' } });
  d.end(endOf(media.why));
}

/** A call of a process that has died goes on here where its line is up, and ends where it is not or was about to. */
function recovered(d: Draft, { seen, aliveAt }: Input<'recovered'>): void {
  if (d.isOver || d.live.media.at !== 'coming') return;
  const there = seen === 'unknown' ? null : seen;
  const ended = there === null ? null : endBy(there, d.at.now);
  if (ended !== null) {
    d.know({ times: null, media: { at: 'none' } });
    // We had ended the talk ourselves, or nobody had answered: then the carrier's own account is the true one. Else the
    // line was cut with the process, perhaps long ago: it ended then, by the carrier's count, and by our fault.
    if (d.call.hangup_cause === null && d.call.answered_at !== null) d.finishing(RESTARTED);
    d.happen(ended);
    return;
  }
  if (there?.status === 'answered' && d.call.answered_at === null) {
    const startedAt = there.startedAt ?? d.at.now;
    d.happen({ type: 'answered', at: startedAt > d.call.created_at ? startedAt : d.call.created_at });
  }
  const lostMs = lostAtMs(d.call, aliveAt, d.at.now);
  const known = rebuilt(d.call, d.at, d.rules);
  const goesOn = isUp(there) && maySpeakAgain(d.call, { ...d.live, ...known }, d.rules);
  if (!goesOn || isHopeless(d.call.gaps, lostMs)) {
    d.know({ times: null, media: { at: 'none' } });
    // The record does not wait for a carrier that does not answer: its line is bounded by its own time limit.
    d.end(RESTARTED, 'record');
    return;
  }
  const tool = awayBy(d.call);
  const since = d.at.nowMs;
  const result: ToolResult = { ok: false, error: d.rules.texts.transferFailed.unknown };
  d.know({ ...known, away: tool && { ...tool, since, askedAt: since, result, modelLost: false } });
  if (tool?.why !== 'transfer') goAgain(d, 'daemon_restart', lostMs);
  else {
    d.know({ media: { at: 'none' } });
    d.log('warn', 'call.left_away', { why: 'daemon_restart' });
  }
}
