// What each input makes of a call: as a table, row and live state before, and what is written, known and done after.
import t from 'tap';
import { asksAt } from '../../../bridge/calls/call-resume.ts';
import type { CallEvent } from '../../../bridge/calls/call-state.ts';
import { step } from '../../../bridge/calls/call-step.ts';
import {
  type CallInput,
  type CallRules,
  type Command,
  type LiveState,
  leftBehind,
  newLiveState,
  takenOver,
  unwritten,
} from '../../../bridge/calls/live-state.ts';
import type { CarrierCallSnapshot } from '../../../bridge/carriers/carrier.ts';
import { LINE_TEXTS } from '../../../control/agents/texts/moments.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const BASE = Date.UTC(2026, 0, 1, 12, 0, 0);
/** Seconds after the call was made. */
const T = (seconds: number) => new Date(BASE + seconds * 1_000).toISOString();
const RULES: CallRules = {
  pricePerMinute: 6_000,
  reserveMinutes: 5,
  ringSeconds: 60,
  maxSeconds: 3_600,
  carrier: { streamIsCall: false, answerSeconds: null },
  texts: LINE_TEXTS,
};
const BROWSER = { ...RULES, carrier: { streamIsCall: true, answerSeconds: 15 } };

const OPTS_OUT = { by: 'words' as const, text: 'Do not call me again.', atMs: 2_400 };

const QUEUED: Partial<CallRecord> = {};
const RINGING: Partial<CallRecord> = { status: 'ringing', carrier_call_id: 'CA1', started_at: T(1) };
const TALKING: Partial<CallRecord> = { ...RINGING, status: 'in_progress', answered_at: T(5) };
const ENDING: Partial<CallRecord> = { ...TALKING, hangup_cause: 'hangup_requested' };
const OVER: Partial<CallRecord> = { ...ENDING, status: 'completed', ended_at: T(9), started_at: T(1) };

const NEW = newLiveState(0, 5);
const ON: LiveState = {
  ...NEW,
  times: { madeAt: 0, rangAt: 1_000, answeredAt: 5_000, streamAt: 5_000, endedAt: null },
  token: 'used',
  stream: { at: 'on', fromMs: 0, brief: 0, lostAt: null },
  media: { at: 'carried', aliveAt: 5_000 },
  model: 'ready',
};
/** Lost at second 9. */
const LOST: LiveState = {
  ...ON,
  stream: { at: 'lost', why: 'stream_lost', since: 9_000, brief: 0, toldAt: null },
};
const TALKED: Partial<CallRecord> = { ...TALKING, stream_began_at: T(5) };
const GAP = { why: 'stream_lost', started_at: T(8), from_ms: 3_000, to_ms: null } as const;
const GAPPED: Partial<CallRecord> = { ...TALKED, gaps: [GAP] };
const CUT_OFF: LiveState = {
  ...ON,
  stream: { at: 'stopped', atMs: 3_000, brief: 0 },
  finishing: { at: 9_000, speaking: false, talk: null },
};
const AWAY: LiveState['away'] = {
  why: 'transfer',
  toolCallId: 'tool',
  since: 6_000,
  askedAt: 6_000,
  result: { ok: false, error: 'none' },
  modelLost: false,
};
const ASKED: LiveState['line'] = {
  at: 'ending',
  since: 8_000,
  cause: 'hangup_requested',
  unanswered: 'ask_again',
};
const LOOK_UP = { toolCallId: 'look', name: 'look_up', argumentsJson: '{"a":1}', atMs: 700.4 };
const RUNNING = { tool_call_id: 'look', name: 'look_up', arguments_json: '{"a":1}', at_ms: 700.4 };
const LOST_GAP = { why: 'thread_lost', started_at: T(6), from_ms: 1_000, to_ms: null } as const;
const LOST_AGAIN = { at: 'lost', why: 'stream_lost', since: 8_000, brief: 0, toldAt: null } as const;
const COMING: LiveState = {
  ...ON,
  token: 'fresh',
  stream: LOST_AGAIN,
  media: { at: 'coming', since: 8_000, why: 'thread_lost' },
  model: 'opening',
};
const AWAY_RESULT = { ok: false, error: LINE_TEXTS.transferFailed.unknown } as const;
const SORRY = { text: 'Sorry.', language: 'en' };
const MODEL_LOST = { code: 'model_lost', message: 'gone' } as const;

const ended = (outcome: Extract<CallEvent, { type: 'ended' }>['outcome'], at = T(9)) =>
  ({
    type: 'ended',
    at,
    outcome,
    durationSeconds: null,
    cause: null,
    errorCode: null,
    errorMessage: null,
  }) as const;
const seen = (status: CarrierCallSnapshot['status']): CarrierCallSnapshot => ({
  carrierCallId: 'CA1',
  status,
  to: '+14155550100',
  from: '+14155550199',
  durationSeconds: 3,
  startedAt: null,
  endedAt: T(8),
});

interface Row {
  name: string;
  call: Partial<CallRecord>;
  live: LiveState;
  input: CallInput;
  /** Seconds after the call was made; default 10. */
  at?: number;
  rules?: CallRules;
  writable?: boolean;
  /** Fields that are written; null: nothing is. */
  change?: Partial<CallRecord> | null;
  events?: string[];
  /** Commands, without what is only logged. */
  do?: (Command['do'] | Partial<Command>)[];
  known?: Partial<LiveState>;
  again?: true;
}

const ROWS: Row[] = [
  {
    name: "a callback that overtakes the dial's answer names the call and rings, as one write",
    call: QUEUED,
    live: NEW,
    input: { type: 'carrier-status', carrierCallId: 'CA1', event: { type: 'ringing', at: T(2) } },
    change: { carrier_call_id: 'CA1', status: 'ringing', started_at: T(2) },
    events: ['call.ringing'],
  },
  {
    name: "another call's callback changes nothing",
    call: TALKING,
    live: ON,
    input: { type: 'carrier-status', carrierCallId: 'CA2', event: ended('completed') },
    change: null,
  },
  {
    name: 'the carrier says that it is over: the media side lets go, and then the result is worked out',
    call: TALKING,
    live: ON,
    input: { type: 'carrier-status', carrierCallId: 'CA1', event: ended('completed') },
    change: { status: 'completed', hangup_cause: 'remote_hangup', billed_duration_seconds: 5 },
    do: ['release'],
    known: { media: { at: 'releasing', since: 10_000, settle: 'result' } },
  },
  {
    name: 'hung up by whoever it was handed over to: transferred',
    call: TALKING,
    live: { ...ON, away: AWAY },
    input: { type: 'carrier-status', carrierCallId: 'CA1', event: ended('completed') },
    change: { status: 'completed', hangup_cause: 'transferred' },
    do: ['release'],
  },
  {
    name: 'a verdict is noted and told',
    call: TALKING,
    live: ON,
    input: { type: 'machine-verdict', verdict: 'machine_ready' },
    change: { answered_by: 'machine' },
    do: [{ do: 'tell-media', message: { type: 'machine-detection', callId: 'c', verdict: 'machine_ready' } }],
  },
  {
    name: 'a stream is asked for: with the token that waits for it',
    call: RINGING,
    live: NEW,
    input: { type: 'stream-asked', carrierCallId: 'CA1' },
    change: null,
    do: [{ do: 'connect', carrierCallId: 'CA1' }],
  },
  {
    name: 'another stream after the first: a token of its own',
    call: TALKING,
    live: ON,
    input: { type: 'stream-asked', carrierCallId: 'CA1' },
    do: ['expect-stream', 'connect'],
    known: { token: 'fresh' },
  },
  {
    name: "no stream for another carrier's call",
    call: RINGING,
    live: NEW,
    input: { type: 'stream-asked', carrierCallId: 'CA2' },
  },
  {
    name: 'no stream for a call that is being ended',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'stream-asked', carrierCallId: 'CA1' },
  },
  {
    name: 'after the stream: our own word is waited for',
    call: TALKING,
    live: ON,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
    change: null,
    again: true,
  },
  {
    name: 'no word came: it is brought anew, and whatever the one that was there is',
    call: TALKING,
    live: ON,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: null,
    do: ['expect-stream', { do: 'connect', carrierCallId: 'CA1' }],
    known: { token: 'fresh', stream: ON.stream },
  },
  {
    name: 'after a stream that is known to be lost: the next one at once',
    call: GAPPED,
    live: LOST,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
    change: null,
    do: ['expect-stream', { do: 'connect', carrierCallId: 'CA1' }],
    known: { token: 'fresh', stream: { ...LOST.stream, toldAt: 10_000 } as LiveState['stream'] },
  },
  {
    name: 'asked again at once: the stream was refused, and is not brought as fast as it can be',
    call: GAPPED,
    live: { ...LOST, stream: { ...LOST.stream, toldAt: 9_900 } as LiveState['stream'] },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
    change: null,
    again: true,
  },
  {
    name: 'asked again, a little later: with the token that waits',
    call: GAPPED,
    live: { ...LOST, token: 'fresh', stream: { ...LOST.stream, toldAt: 9_700 } as LiveState['stream'] },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: null,
    do: ['connect'],
    known: { stream: { ...LOST.stream, toldAt: 10_000 } as LiveState['stream'] },
  },
  {
    name: 'lost for too long: the audio was lost',
    call: GAPPED,
    live: LOST,
    at: 29,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: { hangup_cause: 'stream_lost', error_code: 'stream_lost' },
    do: [{ do: 'hang-up', carrierCallId: 'CA1', answered: true }],
  },
  {
    name: 'lost again and again: the audio was lost, for the reason of the last time',
    call: GAPPED,
    live: {
      ...ON,
      stream: { at: 'lost', why: 'media_timeout', since: 9_000, brief: 5, toldAt: null },
    },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: { hangup_cause: 'media_timeout', error_code: 'media_timeout' },
    do: ['hang-up'],
  },
  {
    name: 'stopped, and the carrier asks what comes next: its own word is waited for',
    call: TALKED,
    live: CUT_OFF,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
    change: null,
    again: true,
  },
  {
    name: 'stopped, and the call is there: the next stream, and the talk goes on',
    call: TALKED,
    live: CUT_OFF,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: { gaps: [GAP] },
    do: ['expect-stream', 'connect'],
    known: {
      finishing: null,
      stream: { at: 'lost', why: 'stream_lost', since: 10_000, brief: 0, toldAt: 10_000 },
    },
  },
  {
    name: 'no stream for a line that is away',
    call: TALKED,
    live: { ...LOST, away: AWAY },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: null,
  },
  {
    name: 'no stream for a talk that is over',
    call: { ...TALKED, hangup_cause: 'agent_ended' },
    live: { ...LOST, line: ASKED },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: null,
  },
  {
    name: 'a stream that never began and is over: says so',
    call: TALKING,
    live: NEW,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
    change: { hangup_cause: 'stream_lost', error_code: 'stream_never_started' },
    do: ['hang-up'],
  },
  {
    name: 'nobody took the transfer: the call comes back to its agent, which is told why',
    call: TALKING,
    live: { ...ON, away: AWAY },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: 'busy', waited: false },
    do: ['expect-stream', 'connect'],
    known: { away: { ...AWAY, result: { ok: false, error: LINE_TEXTS.transferFailed.busy } } },
  },
  {
    name: 'nobody took it, and there is no agent any more',
    call: TALKING,
    live: { ...ON, away: { ...AWAY, modelLost: true } },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: 'busy', waited: false },
    change: { hangup_cause: 'transfer_failed' },
    do: ['hang-up'],
  },
  {
    name: 'the carrier refuses to dial',
    call: QUEUED,
    live: NEW,
    input: { type: 'dial-refused', code: '21211', message: 'no' },
    change: { status: 'failed', error_code: '21211' },
    events: ['call.failed'],
    do: ['release'],
  },
  {
    name: 'taken by the carrier after it was given up: ended there, whatever that takes',
    call: { ...OVER, status: 'canceled', carrier_call_id: null, answered_at: null },
    live: leftBehind(),
    input: { type: 'dial-accepted', carrierCallId: 'CA1' },
    change: { carrier_call_id: 'CA1' },
    do: [{ do: 'hang-up-at-last', carrierCallId: 'CA1', answered: false }],
  },
  {
    name: 'hung up: the cause is written, and the carrier asked',
    call: TALKING,
    live: ON,
    input: { type: 'hang-up-requested' },
    change: { hangup_cause: 'hangup_requested' },
    do: [{ do: 'hang-up', carrierCallId: 'CA1', answered: true }],
    known: { line: { ...ASKED, since: 10_000 } },
  },
  {
    name: 'hung up while it rings: canceled',
    call: RINGING,
    live: NEW,
    input: { type: 'hang-up-requested' },
    change: { hangup_cause: 'canceled' },
    do: [{ do: 'hang-up', carrierCallId: 'CA1', answered: false }],
  },
  {
    name: 'hung up again: the carrier is asked once, and the first cause stands',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'end', cause: 'stalled', error: MODEL_LOST },
    change: null,
    known: { line: ASKED },
  },
  {
    name: 'hung up before the carrier has it: over at once',
    call: QUEUED,
    live: NEW,
    input: { type: 'hang-up-requested' },
    change: { status: 'canceled', hangup_cause: 'canceled' },
    events: ['call.canceled'],
    do: ['release'],
  },
  {
    name: 'the carrier has ended it',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'hang-up-answered', answer: 'ended' },
    change: { status: 'completed', hangup_cause: 'hangup_requested', ended_at: T(10) },
    do: ['release'],
    known: { line: { at: 'open' } },
  },
  {
    name: 'it had ended there before: the carrier is asked how',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'hang-up-answered', answer: 'already_ended' },
    change: null,
    do: [{ do: 'look-up', carrierCallId: 'CA1', why: 'ended' }],
    known: { line: ASKED },
  },
  {
    name: 'it had ended, and the carrier has no account of a stream',
    call: ENDING,
    live: { ...ON, line: ASKED },
    rules: BROWSER,
    input: { type: 'hang-up-answered', answer: 'already_ended' },
    change: { status: 'completed' },
    do: ['release'],
  },
  {
    name: 'the carrier does not answer: it will be asked again',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'hang-up-answered', answer: null },
    change: null,
    known: { line: { at: 'open' }, finishing: { at: 10_000, speaking: false, talk: null } },
  },
  {
    name: 'the carrier does not answer, and nobody is there to ask again: the end is recorded',
    call: { ...TALKING, hangup_cause: 'daemon_restart', error_code: 'daemon_restart' },
    live: { ...leftBehind(), line: { ...ASKED, cause: 'daemon_restart', unanswered: 'record' } },
    input: { type: 'hang-up-answered', answer: null },
    change: { status: 'failed' },
    events: ['call.failed'],
    do: [{ do: 'let-go', settle: 'cost', endedAt: null }],
  },
  {
    name: "an answer to what is not asked any more changes nothing: the end's",
    call: TALKING,
    live: ON,
    input: { type: 'hang-up-answered', answer: 'ended' },
    change: null,
    known: ON,
  },
  {
    name: "the carrier's own account of the end holds",
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'looked-up', seen: seen('completed'), why: 'ended' },
    change: { status: 'completed', ended_at: T(8), billed_duration_seconds: 3 },
    do: ['release'],
  },
  {
    name: 'asked about because it took too long, and come right meanwhile: it goes on',
    call: TALKING,
    live: ON,
    input: { type: 'looked-up', seen: seen('answered'), why: 'overdue' },
    change: null,
  },
  {
    name: 'asked about because it took too long, and lives there: ended',
    call: TALKING,
    live: { ...ON, media: { at: 'carried', aliveAt: 5_000 } },
    at: 40,
    input: { type: 'looked-up', seen: 'unknown', why: 'overdue' },
    change: { hangup_cause: 'stalled', error_code: 'media_silent' },
    do: ['hang-up'],
  },
  {
    name: 'its audio is there: answered, and a tool that had the line is told so',
    call: RINGING,
    live: { ...NEW, away: { ...AWAY, why: 'digits', result: { ok: true } } },
    input: { type: 'media-started', carrierCallId: 'CA1', at: T(10), atMs: 0 },
    change: { status: 'in_progress', answered_at: T(10), stream_began_at: T(10) },
    events: ['call.answered'],
    do: [
      {
        do: 'tell-media',
        message: { type: 'tool-result', callId: 'c', toolCallId: 'tool', output: '{"ok":true}' },
      },
    ],
    known: { token: 'used', stream: { at: 'on', fromMs: 0, brief: 0, lostAt: null }, away: null },
  },
  {
    name: 'the carrier ended the stream, and will say why',
    call: TALKING,
    live: ON,
    input: { type: 'stream-ended', how: 'stopped', why: 'closed', atMs: 1_000 },
    change: null,
    known: { finishing: { at: 10_000, speaking: false, talk: null } },
  },
  {
    name: 'the stream broke: a gap from when the line was last heard',
    call: TALKED,
    live: ON,
    input: { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 3_000 },
    change: { gaps: [GAP] },
    known: {
      stream: { at: 'lost', why: 'stream_lost', since: 10_000, brief: 0, toldAt: null },
      finishing: null,
    },
  },
  {
    name: 'the stream broke that a goodbye went over: no gap, since nothing comes after it',
    call: { ...TALKED, hangup_cause: 'agent_ended' },
    live: { ...ON, line: ASKED },
    input: { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 3_000 },
    change: null,
  },
  {
    name: 'told once more that it broke: one gap',
    call: GAPPED,
    live: LOST,
    input: { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 4_000 },
    change: null,
    known: LOST,
  },
  {
    name: 'the next stream: the gap is over, and the first one is still the beginning',
    call: GAPPED,
    live: { ...LOST, token: 'fresh' },
    input: { type: 'media-started', carrierCallId: 'CA1', at: T(10), atMs: 4_600.4 },
    change: { gaps: [{ ...GAP, to_ms: 4_600 }] },
    known: { token: 'used', stream: { at: 'on', fromMs: 4_600.4, brief: 1, lostAt: 9_000 } },
  },
  {
    name: 'the next stream of one that was stopped: the talk goes on',
    call: TALKED,
    live: CUT_OFF,
    input: { type: 'media-started', carrierCallId: 'CA1', at: T(10), atMs: 5_000 },
    change: null,
    known: { finishing: null, stream: { at: 'on', fromMs: 5_000, brief: 1, lostAt: null } },
  },
  {
    name: 'a stream begins whose first one could not be noted: by its time on the clock of the call',
    call: TALKING,
    live: LOST,
    input: { type: 'media-started', carrierCallId: 'CA1', at: T(10), atMs: 5_000 },
    change: { stream_began_at: T(5) },
  },
  {
    name: 'the stream was the whole call',
    call: TALKING,
    live: ON,
    rules: BROWSER,
    input: { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 1_000 },
    change: { status: 'completed', hangup_cause: 'remote_hangup' },
    do: ['release'],
  },
  {
    name: 'the stream was the whole call, and carried nothing any more: nobody has hung up',
    call: TALKING,
    live: ON,
    rules: BROWSER,
    input: { type: 'stream-ended', how: 'lost', why: 'media_timeout', atMs: 1_000 },
    change: { status: 'failed', hangup_cause: 'media_timeout', error_code: 'media_timeout' },
    events: ['call.failed'],
    do: ['release'],
  },
  {
    name: 'usage adds up, also after the end',
    call: OVER,
    live: { ...ON, media: { at: 'releasing', since: 9_000, settle: 'result' }, usage: { a: 1, b: 2 } },
    input: { type: 'usage', usage: { b: 3 } },
    change: { usage: { a: 1, b: 5 } },
  },
  {
    name: 'who was called asks not to be called again: his number, before anything is said of it',
    call: { ...TALKING, direction: 'outbound', to_number: '+15550100001' },
    live: ON,
    input: { type: 'opted-out', ...OPTS_OUT, itemId: 'i1' },
    change: null,
    do: [{ do: 'note-opt-out', number: '+15550100001', itemId: 'i1', ...OPTS_OUT }],
  },
  {
    name: 'who called asks it: also with the last words, after the end',
    call: { ...OVER, direction: 'inbound', from_number: '+15550100002' },
    live: { ...ON, media: { at: 'releasing', since: 9_000, settle: 'result' } },
    input: { type: 'opted-out', ...OPTS_OUT, itemId: null },
    change: null,
    do: [{ do: 'note-opt-out', number: '+15550100002' }],
  },
  {
    name: 'who withholds his number has none to note',
    call: { ...TALKING, direction: 'inbound', from_number: 'anonymous' },
    live: ON,
    input: { type: 'opted-out', ...OPTS_OUT, itemId: null },
    change: null,
    do: [],
  },
  {
    name: 'it is noted: that is said in the language of the call, and the call ends',
    call: { ...TALKING, chosen_language: 'de' },
    live: ON,
    input: { type: 'opt-out-noted', ...OPTS_OUT },
    change: { opted_out: { at_ms: 2_400, text: OPTS_OUT.text, by: 'words' } },
    do: [
      {
        do: 'tell-media',
        message: { type: 'finish', callId: 'c', reason: 'agent_ended', say: LINE_TEXTS.optedOut('de') },
      },
    ],
  },
  {
    name: 'it is noted when nobody is there any more',
    call: OVER,
    live: { ...ON, media: { at: 'none' } },
    input: { type: 'opt-out-noted', ...OPTS_OUT },
    change: { opted_out: { at_ms: 2_400, text: OPTS_OUT.text, by: 'words' } },
    do: [],
  },
  {
    name: 'how much was heard of the line before all else',
    call: TALKING,
    live: ON,
    input: {
      type: 'disclosure',
      disclosure: {
        text: 'An AI.',
        heardText: 'An',
        heardMs: 300,
        startedMs: 9,
        endedMs: null,
        complete: false,
      },
    },
    change: {
      disclosure: {
        text: 'An AI.',
        heard_text: 'An',
        heard_ms: 300,
        started_ms: 9,
        ended_ms: null,
        complete: false,
      },
    },
  },
  {
    name: 'a tool is on the row before it runs',
    call: TALKING,
    live: ON,
    input: { type: 'tool-called', ...LOOK_UP },
    change: { running_tools: [RUNNING] },
    do: [{ do: 'run-tool', toolCallId: 'look' }],
  },
  {
    name: 'one that is called again is there once',
    call: { ...TALKING, running_tools: [RUNNING, { ...RUNNING, tool_call_id: 'other' }] },
    live: ON,
    input: { type: 'tool-called', ...LOOK_UP },
    change: { running_tools: [{ ...RUNNING, tool_call_id: 'other' }, RUNNING] },
    do: ['run-tool'],
  },
  {
    name: 'and off it with its answer',
    call: { ...TALKING, running_tools: [RUNNING, { ...RUNNING, tool_call_id: 'other' }] },
    live: ON,
    input: { type: 'tool-answered', toolCallId: 'look' },
    change: { running_tools: [{ ...RUNNING, tool_call_id: 'other' }] },
    do: [],
  },
  {
    name: 'the answer of one that is not on the row',
    call: TALKING,
    live: ON,
    input: { type: 'tool-answered', toolCallId: 'look' },
    change: null,
    do: [],
  },
  {
    name: 'none runs on a call that is over',
    call: { ...ENDING, running_tools: [RUNNING] },
    live: ON,
    input: { type: 'carrier-status', carrierCallId: 'CA1', event: ended('completed') },
    change: { status: 'completed', running_tools: [] },
    do: ['release'],
  },
  {
    name: 'key tones take the line',
    call: TALKING,
    live: ON,
    input: { type: 'digits-requested', toolCallId: 'tool', digits: '1' },
    change: {
      running_tools: [{ tool_call_id: 'tool', name: 'send_dtmf', arguments_json: '{}', at_ms: 5_000 }],
    },
    do: [{ do: 'send-digits', carrierCallId: 'CA1', toolCallId: 'tool', digits: '1' }],
  },
  {
    name: 'a transfer shows the caller, or who was called where he has no number',
    call: { ...TALKING, from_number: 'anonymous', to_number: '+14155550100' },
    live: ON,
    input: { type: 'transfer-requested', toolCallId: 'tool', number: '+14155550123' },
    do: [{ do: 'transfer', to: '+14155550123', from: '+14155550100' }],
  },
  {
    name: 'the line did not leave: the tool says so, in our words',
    call: TALKING,
    live: { ...ON, away: AWAY },
    input: { type: 'not-away', toolCallId: 'tool', why: 'not_possible' },
    do: [
      {
        do: 'tell-media',
        message: {
          type: 'tool-result',
          callId: 'c',
          toolCallId: 'tool',
          output: JSON.stringify({ ok: false, error: LINE_TEXTS.notPossible.transfer }),
        },
      },
    ],
    known: { away: null },
  },
  {
    name: 'that another line did not leave is no news',
    call: TALKING,
    live: { ...ON, away: AWAY },
    input: { type: 'not-away', toolCallId: 'before', why: 'refused' },
    known: { away: AWAY },
  },
  {
    name: 'the model is lost while two others talk: they talk on',
    call: TALKING,
    live: { ...ON, away: AWAY },
    input: { type: 'talk-finished', reason: 'model_failed', error: MODEL_LOST, speak: SORRY },
    change: null,
    known: { away: { ...AWAY, modelLost: true }, finishing: null },
  },
  {
    name: 'the agent has said goodbye',
    call: TALKING,
    live: ON,
    input: { type: 'talk-finished', reason: 'agent_ended', error: null, speak: null },
    change: { hangup_cause: 'agent_ended' },
    do: ['hang-up'],
  },
  {
    name: 'the agent is lost: the carrier says a line, and the cause is written first',
    call: TALKING,
    live: ON,
    input: { type: 'talk-finished', reason: 'model_failed', error: MODEL_LOST, speak: SORRY },
    change: { hangup_cause: 'model_failed', error_code: 'model_lost', error_message: 'gone' },
    do: [{ do: 'speak-and-hang-up', carrierCallId: 'CA1', line: SORRY }],
    known: { model: 'gone' },
  },
  {
    name: 'the agent is lost on a call that is being hung up: the first cause stands, and nothing is said',
    call: ENDING,
    live: { ...ON, line: ASKED },
    input: { type: 'talk-finished', reason: 'model_failed', error: MODEL_LOST, speak: SORRY },
    change: null,
  },
  {
    name: 'the line could not be said',
    call: { ...TALKING, hangup_cause: 'model_failed' },
    live: {
      ...ON,
      finishing: { at: 9_000, speaking: true, talk: { cause: 'model_failed', error: MODEL_LOST } },
    },
    input: { type: 'not-spoken' },
    do: ['hang-up'],
  },
  {
    name: 'let go of by its thread: its result is worked out',
    call: OVER,
    live: {
      ...ON,
      times: { madeAt: 0, rangAt: 1_000, answeredAt: 5_000, streamAt: 5_000, endedAt: 9_000 },
      media: { at: 'releasing', since: 9_000, settle: 'result' },
    },
    input: { type: 'released' },
    do: [{ do: 'let-go', settle: 'result', endedAt: 9_000 }],
  },
  {
    name: 'its thread has died: another takes the call, and the gap is on the row',
    call: { ...TALKING, stream_began_at: T(5) },
    live: ON,
    input: { type: 'thread-lost', silentMs: 2_000 },
    change: { gaps: [{ why: 'thread_lost', started_at: T(8), from_ms: 3_000, to_ms: null }] },
    do: ['carry-again'],
    known: {
      media: { at: 'coming', since: 10_000, why: 'thread_lost' },
      stream: { at: 'lost', why: 'stream_lost', since: 10_000, brief: 0, toldAt: null },
      model: 'opening',
      token: 'fresh',
    },
  },
  {
    name: 'in a gap its thread dies: it is one gap, and the thread is why',
    call: { ...TALKING, stream_began_at: T(5), gaps: [{ ...LOST_GAP, why: 'stream_lost' }] },
    live: { ...ON, stream: { at: 'lost', why: 'media_timeout', since: 6_000, brief: 0, toldAt: 7_000 } },
    input: { type: 'thread-lost', silentMs: 0 },
    change: { gaps: [{ ...LOST_GAP, why: 'thread_lost' }] },
    do: ['carry-again'],
    known: { stream: { at: 'lost', why: 'media_timeout', since: 10_000, brief: 0, toldAt: null } },
  },
  {
    name: 'while it rings its thread dies: it rings on, and that is no gap',
    call: RINGING,
    live: { ...NEW, model: 'ready' },
    input: { type: 'thread-lost', silentMs: 0 },
    change: null,
    do: ['carry-again'],
    known: { stream: { at: 'awaited' }, media: { at: 'coming', since: 10_000, why: 'thread_lost' } },
  },
  {
    name: 'while key tones are played its thread dies: they are played first',
    call: { ...TALKING, stream_began_at: T(5) },
    live: { ...ON, away: { ...AWAY, why: 'digits' } },
    input: { type: 'thread-lost', silentMs: 0 },
    do: ['carry-again'],
    known: {
      away: null,
      stream: { at: 'lost', why: 'stream_lost', since: 10_000, brief: 0, toldAt: 10_000 },
    },
  },
  {
    name: 'while the line is with another party its thread dies: it is left to them',
    call: { ...TALKING, stream_began_at: T(5) },
    live: { ...ON, away: AWAY },
    input: { type: 'thread-lost', silentMs: 0 },
    change: null,
    do: [],
    known: { media: { at: 'none' }, away: AWAY },
  },
  {
    name: 'nobody took it, and there is no thread: another takes the call, and the carrier is answered then',
    call: { ...TALKING, stream_began_at: T(5) },
    live: { ...ON, media: { at: 'none' }, away: AWAY },
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: 'busy', waited: false },
    change: { gaps: [{ why: 'thread_lost', started_at: T(10), from_ms: 5_000, to_ms: null }] },
    do: ['carry-again'],
    known: { away: null, media: { at: 'coming', since: 10_000, why: 'thread_lost' } },
    again: true,
  },
  {
    name: 'the model is gone, and its thread dies: today’s end',
    call: { ...TALKING, stream_began_at: T(5) },
    live: { ...ON, model: 'gone' },
    input: { type: 'thread-lost', silentMs: 0 },
    change: { hangup_cause: 'thread_lost', error_code: 'media_thread_lost' },
    do: ['hang-up'],
    known: { media: { at: 'none' } },
  },
  {
    name: 'a stream that is the whole call ends with its thread',
    call: { ...TALKING, stream_began_at: T(5) },
    live: ON,
    rules: BROWSER,
    input: { type: 'thread-lost', silentMs: 0 },
    change: { hangup_cause: 'thread_lost', error_code: 'media_thread_lost' },
    do: ['hang-up'],
  },
  {
    name: 'a call that takes thread after thread with it ends',
    call: {
      ...TALKING,
      stream_began_at: T(5),
      gaps: [0, 1, 2, 3, 4].map((n) => ({
        ...LOST_GAP,
        why: 'thread_lost',
        from_ms: n * 1_000,
        to_ms: n * 1_000 + 500,
      })),
    },
    live: ON,
    input: { type: 'thread-lost', silentMs: 0 },
    change: { hangup_cause: 'thread_lost', error_code: 'media_thread_lost' },
    do: ['hang-up'],
  },
  ...[
    { type: 'thread-lost', silentMs: 0 } as const,
    { type: 'recovered', seen: seen('answered'), aliveAt: T(28) } as const,
  ].map(
    (input): Row => ({
      name: `one that takes whoever carries it with it before it is heard again ends (${input.type})`,
      call: {
        ...TALKING,
        stream_began_at: T(5),
        gaps: [{ ...LOST_GAP, why: 'thread_lost', from_ms: 2_500 }],
      },
      live:
        input.type === 'recovered'
          ? takenOver(28_000)
          : { ...LOST, times: { ...ON.times!, streamAt: 5_000 } },
      at: 28,
      input,
      do: ['hang-up'],
    }),
  ),
  {
    name: 'a thread dies that lets go of it: it is gone from there',
    call: OVER,
    live: { ...ON, media: { at: 'releasing', since: 9_000, settle: 'result' } },
    input: { type: 'thread-lost', silentMs: 0 },
    change: null,
    do: [{ do: 'let-go', settle: 'result' }],
  },
  {
    name: 'another thread has it: the tools of the one before are told of, and off the row',
    call: { ...TALKING, running_tools: [RUNNING, { ...RUNNING, tool_call_id: 'still' }] },
    live: COMING,
    input: { type: 'carried-again', running: ['still'] },
    change: { running_tools: [{ ...RUNNING, tool_call_id: 'still' }] },
    do: [],
    known: { media: { at: 'carried', aliveAt: null }, stream: { ...LOST_AGAIN, since: 8_600 } },
  },
  {
    name: 'another thread has it at once: the carrier has its time to ask',
    call: TALKING,
    live: { ...COMING, stream: { ...LOST_AGAIN, since: 9_990 } },
    input: { type: 'carried-again', running: [] },
    change: null,
    do: [],
    known: { stream: { ...LOST_AGAIN, since: 9_990 } },
  },
  {
    name: 'another thread has it long after it was told to bring the stream: told again in a moment',
    call: TALKING,
    live: { ...COMING, stream: { ...LOST_AGAIN, toldAt: 2_000 } },
    input: { type: 'carried-again', running: [] },
    change: null,
    do: [],
    known: { stream: { ...LOST_AGAIN, toldAt: 5_100 } },
  },
  {
    name: 'time: of a call that is being taken over nothing is known that credit could be asked for',
    call: TALKING,
    live: takenOver(9_000),
    input: { type: 'look' },
    change: null,
    do: [],
  },
  {
    name: 'no thread is to be had: by the fault that it had',
    call: TALKING,
    live: COMING,
    input: { type: 'not-carried' },
    change: { hangup_cause: 'thread_lost', error_code: 'media_thread_lost' },
    do: ['hang-up'],
  },
  {
    name: 'the carrier asks for the stream of a call that no thread takes: it has waited for long enough',
    call: TALKING,
    live: COMING,
    input: { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
    change: null,
    do: [],
  },
  {
    name: 'hung up while no thread has it: nothing is let go of there',
    call: TALKING,
    live: COMING,
    input: { type: 'carrier-status', carrierCallId: 'CA1', event: ended('completed') },
    change: { status: 'completed' },
    do: [{ do: 'let-go', settle: 'result' }],
  },
  {
    name: 'another daemon has it: nothing is written or worked out here any more',
    call: TALKING,
    live: ON,
    input: { type: 'replaced' },
    change: null,
    do: ['release', { do: 'let-go', settle: 'nothing' }],
  },
  {
    name: 'a call of a dead process, over at the carrier: ended then, by our fault',
    call: TALKING,
    live: takenOver(0),
    input: { type: 'recovered', seen: seen('completed'), aliveAt: null },
    change: { status: 'failed', error_code: 'daemon_restart', ended_at: T(8), billed_duration_seconds: 3 },
    events: ['call.failed'],
    do: ['let-go'],
  },
  {
    name: 'a call of a dead process that we had ended: the account of the carrier is the true one',
    call: ENDING,
    live: takenOver(0),
    input: { type: 'recovered', seen: seen('completed'), aliveAt: null },
    change: { status: 'completed', ended_at: T(8) },
    do: [{ do: 'let-go', settle: 'result' }],
  },
  {
    name: 'a talk of a dead process whose line is up: it goes on, without its sound since that process last lived',
    call: {
      ...TALKING,
      stream_began_at: T(5),
      updated_at: T(6),
      reserved_milli_cents: 18_000,
      usage: { a: 1 },
    },
    live: takenOver(0),
    input: { type: 'recovered', seen: seen('answered'), aliveAt: T(7) },
    change: { gaps: [{ why: 'daemon_restart', started_at: T(7), from_ms: 2_000, to_ms: null }] },
    do: ['carry-again'],
    known: {
      times: { madeAt: 0, rangAt: 1_000, answeredAt: 5_000, streamAt: 5_000, endedAt: null },
      media: { at: 'coming', since: 10_000, why: 'daemon_restart' },
      stream: { at: 'lost', why: 'stream_lost', since: 8_750, brief: 0, toldAt: null },
      model: 'opening',
      token: 'fresh',
      credit: { reservedMinutes: 3, asking: false, warned: false },
      usage: { a: 1 },
    },
  },
  {
    name: 'one that rings goes on ringing',
    call: RINGING,
    live: takenOver(0),
    input: { type: 'recovered', seen: seen('ringing'), aliveAt: null },
    change: null,
    do: ['carry-again'],
    known: { stream: { at: 'awaited' }, times: { ...ON.times!, answeredAt: null, streamAt: null } },
  },
  {
    name: 'one that was answered meanwhile begins, without a gap',
    call: RINGING,
    live: takenOver(0),
    input: { type: 'recovered', seen: { ...seen('answered'), startedAt: T(4) }, aliveAt: null },
    change: { answered_at: T(4), status: 'in_progress' },
    events: ['call.answered'],
    do: ['carry-again'],
    known: { stream: { at: 'lost', why: 'stream_lost', since: 8_750, brief: 0, toldAt: null } },
  },
  {
    name: 'a line that a dead process had handed over is left to who has it',
    call: {
      ...TALKING,
      stream_began_at: T(5),
      running_tools: [{ ...RUNNING, tool_call_id: 'tool', name: 'transfer_call' }],
    },
    live: takenOver(0),
    input: { type: 'recovered', seen: seen('answered'), aliveAt: null },
    change: null,
    do: [],
    known: { media: { at: 'none' }, away: { ...AWAY, since: 10_000, askedAt: 10_000, result: AWAY_RESULT } },
  },
  ...[seen('answered'), 'unknown' as const, null].map(
    (there): Row => ({
      name: `one that we had ended, or of which the carrier says nothing (${there === null || there === 'unknown' ? there : 'up'}): ended, and recorded whatever it says`,
      call: there === null || there === 'unknown' ? { ...TALKING, stream_began_at: T(5) } : ENDING,
      live: takenOver(0),
      input: { type: 'recovered', seen: there, aliveAt: null },
      do: ['hang-up'],
      known: { line: { at: 'ending', since: 10_000, cause: 'daemon_restart', unanswered: 'record' } },
    }),
  ),
  {
    name: 'a stream that was the whole call has ended with its process',
    call: TALKING,
    live: takenOver(0),
    rules: BROWSER,
    input: { type: 'recovered', seen: seen('answered'), aliveAt: null },
    change: { hangup_cause: 'daemon_restart' },
    do: ['hang-up'],
  },
  {
    name: 'time: it rings longer than it may; the carrier is asked first',
    call: RINGING,
    live: NEW,
    at: 90,
    input: { type: 'look' },
    change: null,
    do: [{ do: 'look-up', carrierCallId: 'CA1', why: 'overdue' }],
  },
  {
    name: 'time: the carrier never took it, so that there is nobody to ask',
    call: QUEUED,
    live: NEW,
    at: 90,
    input: { type: 'look' },
    change: { status: 'canceled', hangup_cause: 'no_answer' },
    events: ['call.canceled'],
    do: ['release'],
  },
  {
    name: 'time: the longest call is over, whatever the carrier knows',
    call: TALKING,
    live: { ...ON, media: { at: 'carried', aliveAt: 3_640_000 } },
    at: 3_640,
    input: { type: 'look' },
    change: { hangup_cause: 'max_duration' },
    do: ['hang-up'],
  },
  {
    name: 'time: the carrier is asked now and then about a line that was handed over',
    call: TALKING,
    live: { ...ON, media: { at: 'carried', aliveAt: 67_000 }, away: AWAY },
    at: 67,
    input: { type: 'look' },
    change: null,
    do: ['look-up'],
    known: { away: { ...AWAY, askedAt: 67_000 } },
  },
  {
    name: 'time: a carrier that does not ask for its stream is told to bring it',
    call: GAPPED,
    live: LOST,
    at: 10.5,
    input: { type: 'look' },
    change: null,
    do: ['expect-stream', { do: 'connect-unasked', carrierCallId: 'CA1' }],
    known: { stream: { ...LOST.stream, toldAt: 10_500 } as LiveState['stream'] },
  },
  {
    name: 'time: one that was told is not told again before it can have come',
    call: GAPPED,
    live: { ...LOST, token: 'fresh', stream: { ...LOST.stream, toldAt: 10_500 } as LiveState['stream'] },
    at: 15,
    input: { type: 'look' },
    change: null,
  },
  {
    name: 'time: a stream that does not come back; the carrier is asked first',
    call: GAPPED,
    live: LOST,
    at: 29,
    input: { type: 'look' },
    change: null,
    do: [{ do: 'look-up', carrierCallId: 'CA1', why: 'overdue' }],
  },
  {
    name: 'time: it does not come back, and the line is up: ended, for the reason it was lost',
    call: GAPPED,
    live: { ...LOST, stream: { ...LOST.stream, why: 'carrier_backpressure' } as LiveState['stream'] },
    at: 29,
    input: { type: 'looked-up', seen: seen('answered'), why: 'overdue' },
    change: { hangup_cause: 'carrier_backpressure', error_code: 'carrier_backpressure' },
    do: ['hang-up'],
  },
  {
    name: 'a line that did not leave, and had lost its stream: time begins anew',
    call: GAPPED,
    live: { ...LOST, away: AWAY },
    at: 40,
    input: { type: 'not-away', toolCallId: 'tool', why: 'refused' },
    do: ['tell-media'],
    known: { stream: { ...LOST.stream, since: 40_000 } as LiveState['stream'] },
  },
  {
    name: 'time: an end that was asked for is left to the carrier',
    call: ENDING,
    live: { ...ON, line: ASKED },
    at: 100,
    input: { type: 'look' },
    change: null,
    known: { line: ASKED },
  },
  {
    name: 'time: and asked for again when its answer never came',
    call: ENDING,
    live: { ...ON, line: ASKED },
    at: 130,
    input: { type: 'look' },
    known: { line: { at: 'open' } },
  },
  {
    name: 'time: a media thread that does not let go is not waited for',
    call: OVER,
    live: { ...ON, media: { at: 'releasing', since: 9_000, settle: 'result' } },
    at: 39,
    input: { type: 'look' },
    do: [{ do: 'let-go', settle: 'result' }],
  },
  {
    name: 'credit: a minute ahead of its use, as much as usual',
    call: TALKING,
    live: { ...ON, media: { at: 'carried', aliveAt: 245_000 } },
    at: 245,
    input: { type: 'look' },
    do: [{ do: 'top-up', minutes: 5, amountMilliCents: -30_000 }],
    known: { credit: { reservedMinutes: 5, asking: true, warned: false } },
  },
  {
    name: 'credit: asked for once at a time',
    call: TALKING,
    live: {
      ...ON,
      media: { at: 'carried', aliveAt: 250_000 },
      credit: { reservedMinutes: 5, asking: true, warned: false },
    },
    at: 250,
    input: { type: 'look' },
  },
  {
    name: 'credit: not while the disk takes no writes',
    call: TALKING,
    live: { ...ON, media: { at: 'carried', aliveAt: 245_000 } },
    at: 245,
    writable: false,
    input: { type: 'look' },
  },
  {
    name: 'credit: held',
    call: TALKING,
    live: { ...ON, credit: { reservedMinutes: 5, asking: true, warned: false } },
    at: 245,
    input: { type: 'top-up-answered', minutes: 5, answer: 'taken' },
    known: { credit: { reservedMinutes: 10, asking: false, warned: false } },
  },
  {
    name: 'credit: too little for as much, so that a minute is asked for',
    call: TALKING,
    live: { ...ON, credit: { reservedMinutes: 5, asking: true, warned: false } },
    at: 245,
    input: { type: 'top-up-answered', minutes: 5, answer: 'no_credit' },
    do: [{ do: 'top-up', minutes: 1, amountMilliCents: -6_000 }],
  },
  {
    name: 'credit: none is left, and the agent says a last line',
    call: TALKING,
    live: { ...ON, credit: { reservedMinutes: 5, asking: true, warned: false } },
    at: 295,
    input: { type: 'top-up-answered', minutes: 1, answer: 'no_credit' },
    do: [
      {
        do: 'tell-media',
        message: { type: 'finish', callId: 'c', reason: 'credit_exhausted', say: LINE_TEXTS.closing },
      },
    ],
    known: { credit: { reservedMinutes: 5, asking: false, warned: true } },
  },
  {
    name: 'credit: the last of it is used',
    call: TALKING,
    live: { ...ON, credit: { reservedMinutes: 5, asking: true, warned: true } },
    at: 305,
    input: { type: 'top-up-answered', minutes: 1, answer: 'no_credit' },
    change: { hangup_cause: 'credit_exhausted' },
    do: ['hang-up'],
  },
];

function run(row: Row) {
  const at = row.at ?? 10;
  return step(
    makeCall('o', { id: 'c', created_at: T(0), returns: {}, ...row.call }),
    row.live,
    row.input,
    { nowMs: at * 1_000, now: T(at), writable: row.writable ?? true },
    row.rules ?? RULES,
  );
}

for (const row of ROWS) {
  t.test(row.name, async (t) => {
    const next = run(row);
    if (row.change === null) t.equal(next.write, null);
    else if (row.change !== undefined) t.match(next.write?.change, row.change);
    t.same(next.write?.events ?? [], row.events ?? []);
    const commands = next.commands.filter((command) => command.do !== 'log');
    const expected = (row.do ?? []).map((one) => (typeof one === 'string' ? { do: one } : one));
    t.equal(commands.length, expected.length, commands.map((command) => command.do).join(', '));
    t.match(commands, expected);
    t.match(next.live, row.known ?? {});
    t.equal(next.again, row.again ?? false);
  });
}

t.test(
  'after a restart the carrier is told a quarter of a second later, or once there is a thread',
  async (t) => {
    const call = makeCall('o', { id: 'c', created_at: T(0), ...TALKING, stream_began_at: T(5) });
    const input = { type: 'recovered', seen: seen('answered'), aliveAt: T(7) } as const;
    const at = (nowMs: number) => ({ nowMs, now: T(nowMs / 1_000), writable: true });
    const left = step(call, takenOver(0), input, at(10_000), RULES);
    const row = { ...call, ...left.write?.change };
    const asked = (carriedAt: number) => {
      const carried = step(row, left.live, { type: 'carried-again', running: [] }, at(carriedAt), RULES);
      return asksAt(row, carried.live, RULES);
    };
    t.equal(asked(10_020), 10_250);
    t.equal(asked(13_000), 13_100);
  },
);

t.test(
  'a step that could not be written: what came in has happened, and nothing was done for it',
  async (t) => {
    const decided = (call: Partial<CallRecord>, input: CallInput) =>
      run({ name: '', call, live: ON, input }).live;
    const finished = {
      type: 'talk-finished',
      reason: 'model_failed',
      error: MODEL_LOST,
      speak: null,
    } as const;
    const live = unwritten(ON, decided(TALKING, finished), 10_000);
    t.match(live, {
      line: { at: 'open' },
      finishing: { at: 10_000, talk: { cause: 'model_failed', error: MODEL_LOST } },
    });
    const over = { type: 'carrier-status', carrierCallId: 'CA1', event: ended('completed') } as const;
    t.same(unwritten(ON, decided(TALKING, over), 10_000), ON, 'the media side was not told to let go');
    const stopped: LiveState = {
      ...ON,
      token: 'used',
      stream: { at: 'stopped', atMs: 5_000, brief: 0 },
      finishing: { at: 9_000, speaking: false, talk: null },
    };
    const asks = { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true } as const;
    const lost = unwritten(
      stopped,
      run({ name: '', call: TALKING, live: stopped, input: asks }).live,
      10_000,
    );
    t.match(
      lost,
      { token: 'used', stream: { at: 'lost', toldAt: null } },
      'no stream was told of, nor a token made',
    );
  },
);
