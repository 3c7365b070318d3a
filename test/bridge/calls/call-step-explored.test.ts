// Every pair of a call's row and what is known of it beside that anything which comes in can lead to, in any order, wanted or
// late, written or not; and from each of them, what time alone makes of it. What holds of all of them is said once, in
// call-worlds.ts; a stream that is lost is looked at moment by moment in call-stream-explored.test.ts.
import t from 'tap';
import { type CallInput, newLiveState, takenOver } from '../../../bridge/calls/live-state.ts';
import { Drawing } from '../../states/drawing.ts';
import { ended, iso, seen, status, type World, walk, world } from './call-worlds.ts';

t.setTimeout(300_000);

/** Longer than anything may take but the call itself. */
const AGE_MS = 125_000;

const INPUTS: CallInput[] = [
  status(null),
  status({ type: 'ringing', at: iso(0) }),
  status({ type: 'answered', at: iso(0) }),
  status(ended('completed')),
  status(ended('busy')),
  status(ended('failed'), 'CA2'),
  { type: 'machine-verdict', verdict: 'human' },
  { type: 'stream-asked', carrierCallId: 'CA1' },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: 'busy', waited: false },
  { type: 'dial-accepted', carrierCallId: 'CA1' },
  { type: 'dial-refused', code: '21211', message: 'no' },
  { type: 'hang-up-answered', answer: 'ended' },
  { type: 'hang-up-answered', answer: 'already_ended' },
  { type: 'hang-up-answered', answer: null },
  { type: 'looked-up', seen: seen('answered'), why: 'overdue' },
  { type: 'looked-up', seen: seen('completed'), why: 'overdue' },
  { type: 'looked-up', seen: 'unknown', why: 'overdue' },
  { type: 'looked-up', seen: null, why: 'ended' },
  { type: 'looked-up', seen: seen('completed'), why: 'ended' },
  { type: 'not-spoken' },
  { type: 'not-away', toolCallId: 'tool', why: 'refused' },
  { type: 'alive' },
  { type: 'opted-out', by: 'words', text: 'Stop calling.', itemId: null, atMs: 1 },
  { type: 'opt-out-noted', by: 'words', text: 'Stop calling.', atMs: 1 },
  { type: 'media-started', carrierCallId: 'CA1', at: iso(0), atMs: 0 },
  { type: 'stream-ended', how: 'stopped', why: 'closed', atMs: 1_000 },
  { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 1_000 },
  { type: 'tool-called', toolCallId: 'other', name: 'look_up', argumentsJson: '{}', atMs: 0 },
  { type: 'tool-answered', toolCallId: 'other' },
  { type: 'digits-requested', toolCallId: 'tool', digits: '1' },
  { type: 'transfer-requested', toolCallId: 'tool', number: '+14155550123' },
  { type: 'talk-finished', reason: 'agent_ended', error: null, speak: null },
  {
    type: 'talk-finished',
    reason: 'model_failed',
    error: { code: 'model_lost', message: 'gone' },
    speak: { text: 'Goodbye.', language: 'en' },
  },
  { type: 'released' },
  { type: 'thread-lost', silentMs: 0 },
  { type: 'carried-again', running: [] },
  { type: 'not-carried' },
  { type: 'hang-up-requested' },
  { type: 'end', cause: 'draining', error: null },
  { type: 'last-line', reason: 'draining' },
  { type: 'record-end', cause: 'draining' },
  { type: 'recovered', seen: 'unknown', aliveAt: null },
  { type: 'recovered', seen: seen('answered'), aliveAt: null },
  { type: 'recovered', seen: seen('completed'), aliveAt: null },
  { type: 'look' },
];
/** By a carrier's hook: these are heard of a call that is over and gone. */
const LATE = new Set<CallInput['type']>(['carrier-status', 'machine-verdict']);

const drawnAs = (input: CallInput) => (input.type === 'look' ? 'time' : input.type);

/** What tells two worlds apart: of times only whether they are long past. */
function keyOf({ call, live, nowMs, told, waited, gone }: World): string {
  const age = (at: number | null | undefined) => (at == null ? at : nowMs - at >= AGE_MS);
  const { line, stream, media, away, finishing, times } = live;
  return JSON.stringify([
    call.status,
    call.carrier_call_id,
    call.answered_at !== null,
    call.hangup_cause === null,
    told,
    waited,
    gone,
    times === null ? null : [age(times.madeAt), age(times.answeredAt)],
    line.at === 'ending' ? [age(line.since), line.unanswered] : 0,
    [stream.at, 'since' in stream && age(stream.since)],
    media.at === 'releasing'
      ? [age(media.since), media.settle]
      : media.at === 'carried'
        ? [age(media.aliveAt)]
        : media.at === 'coming'
          ? [age(media.since), media.why]
          : 0,
    away && [away.why, age(away.since), away.modelLost, age(away.askedAt)],
    finishing && [age(finishing.at), finishing.speaking, finishing.talk === null],
  ]);
}

t.test('every pair of row and live state, every input in it, and time', async (t) => {
  const starts = [
    world({}, newLiveState(0, 5)),
    // As a dead process left it.
    world({}, takenOver(0)),
    world({ status: 'ringing', carrier_call_id: 'CA1' }, takenOver(0)),
    world({ status: 'in_progress', carrier_call_id: 'CA1', answered_at: iso(0) }, takenOver(0)),
    world(
      { status: 'in_progress', carrier_call_id: 'CA1', answered_at: iso(0), stream_began_at: iso(0) },
      takenOver(0),
    ),
    // While the line was with another party.
    world(
      {
        status: 'in_progress',
        carrier_call_id: 'CA1',
        answered_at: iso(0),
        stream_began_at: iso(0),
        running_tools: [{ tool_call_id: 'tool', name: 'transfer_call', arguments_json: '{}', at_ms: 0 }],
      },
      takenOver(0),
    ),
  ];
  const ways = new Set<string>();
  const drawings = {
    line: new Drawing('line', 'open'),
    stream: new Drawing('stream', 'awaited'),
    media: new Drawing('media', 'carried'),
  };
  const { found, worlds, steps } = walk(starts, {
    keyOf,
    inputs: INPUTS,
    late: LATE,
    later: (from) =>
      from.waited
        ? null
        : { ...from, nowMs: from.nowMs + AGE_MS, waited: true, path: [...from.path, 'time'] },
    met(before, input, next, then) {
      for (const command of next.commands) ways.add(command.do);
      for (const part of ['line', 'stream', 'media'] as const)
        drawings[part].arrow(before.live[part].at, drawnAs(input), then.live[part].at);
    },
  });
  t.same(found.slice(0, 5), [], `${found.length} are wrong`);
  t.same([...ways].sort(), [
    'carry-again',
    'connect',
    'expect-stream',
    'hang-up',
    'hang-up-at-last',
    'let-go',
    'log',
    'look-up',
    'note-opt-out',
    'release',
    'run-tool',
    'send-digits',
    'speak-and-hang-up',
    'tell-media',
    'transfer',
  ]);
  for (const drawing of Object.values(drawings)) drawing.hold(t);
  t.comment(`note: ${worlds} pairs, ${steps} steps`);
});
