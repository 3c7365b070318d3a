// Every state that a call can reach, by every order of everything that can be heard of it, at a handful of moments that the
// carrier's whole seconds and our own clock name differently. What holds of all of them is said once, below.
import t from 'tap';
import { type CallEvent, chargeFor, isTerminal, next } from '../../../bridge/calls/call-state.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { Drawing } from '../../states/drawing.ts';
import { makeCall } from '../../storage/makers.ts';

const BASE = Date.UTC(2026, 0, 1, 12, 0, 0);
const T = (ms: number) => new Date(BASE + ms).toISOString();
const CREATED = T(700);
/** Before the call was made by our clock, at it, and after; whole seconds are the carrier's. */
const MOMENTS = [T(0), T(700), T(1_000), T(1_300), T(2_000)];
const PRICE = 6_000;

/** How long the carrier says that it lasted, and how long we have measured: the wall clock may have been set meanwhile. */
const COUNTS = [
  { durationSeconds: null },
  { durationSeconds: 0 },
  { durationSeconds: 1 },
  { durationSeconds: null, lastedMs: { call: 1_200, connected: null } },
  { durationSeconds: null, lastedMs: { call: 90_500, connected: 88_100 } },
  { durationSeconds: 1, lastedMs: { call: 90_500, connected: 88_100 } },
  { durationSeconds: 3, lastedMs: { call: 1_900, connected: 1_800 } },
];

const EVENTS: CallEvent[] = [
  { type: 'accepted', carrierCallId: 'CA1' },
  { type: 'finishing', cause: 'hangup_requested', errorCode: null, errorMessage: null },
  { type: 'finishing', cause: 'model_failed', errorCode: 'model_lost', errorMessage: 'gone' },
  { type: 'machine-detected', answeredBy: 'human' },
  ...MOMENTS.flatMap((at): CallEvent[] => [
    { type: 'refused', at, code: '21211', message: 'no' },
    { type: 'ringing', at },
    { type: 'answered', at },
    ...(['completed', 'busy', 'no_answer', 'failed', 'canceled'] as const).flatMap((outcome) =>
      COUNTS.map(
        (counted): CallEvent => ({
          type: 'ended',
          at,
          outcome,
          ...counted,
          cause: null,
          errorCode: null,
          errorMessage: null,
        }),
      ),
    ),
  ]),
];

const RANK = { queued: 0, initiated: 1, ringing: 2, in_progress: 3 } as const;
const TERMINAL_EVENTS = ['call.completed', 'call.busy', 'call.no_answer', 'call.failed', 'call.canceled'];

/** A call with all that was ever told and booked of it. */
interface Node {
  call: CallRecord;
  told: readonly string[];
  booked: readonly string[];
  released: boolean;
  path: string[];
}

const fields = ({ call, told, booked }: Node) =>
  JSON.stringify([
    call.status,
    call.carrier_call_id,
    call.started_at,
    call.answered_at,
    call.ended_at,
    call.duration_seconds,
    call.billed_duration_seconds,
    call.hangup_cause,
    call.error_code,
    call.answered_by,
    call.result_status,
    told,
    booked,
  ]);

const nameOf = (event: CallEvent) =>
  [event.type, 'at' in event ? event.at.slice(17, 23) : '', 'outcome' in event ? event.outcome : '']
    .filter((part) => part !== '')
    .join(' ');

/** What is wrong about a step; empty: nothing. */
function wrongs(before: Node, event: CallEvent, after: Node): string[] {
  const wrong: string[] = [];
  const { call } = after;
  const times = [call.created_at, call.started_at, call.answered_at, call.ended_at].filter(
    (at) => at !== null,
  );
  if (times.some((at, i) => i > 0 && at < times[i - 1]!))
    wrong.push(`times out of order: ${times.join(' ')}`);
  const was = before.call.status;
  if (isTerminal(was) && call.status !== was) wrong.push('a terminal status was left');
  if (!isTerminal(was) && !isTerminal(call.status) && RANK[call.status] < RANK[was]) wrong.push('went back');
  if (new Set(after.told).size !== after.told.length) wrong.push(`told twice: ${after.told.join(' ')}`);
  const ends = after.told.filter((type) => TERMINAL_EVENTS.includes(type));
  if (isTerminal(call.status)) {
    if (after.booked.length !== 1) wrong.push(`booked ${after.booked.join(' ') || 'nothing'}`);
    const connected = call.billed_duration_seconds !== null;
    if (after.booked[0] !== (connected ? 'settle' : 'release')) wrong.push('booked for the other case');
    if (connected !== (call.answered_at !== null)) wrong.push('billed without an answer, or not with one');
    if (call.reserved_milli_cents !== 0) wrong.push('credit is still held');
    if (!after.released) wrong.push('the media thread was not let go of');
    // call.completed waits for the result.
    if (ends.length !== (call.status === 'completed' ? 0 : 1)) wrong.push(`ends told: ${ends.join(' ')}`);
    if ((call.duration_seconds ?? 0) < (call.billed_duration_seconds ?? 0))
      wrong.push('shorter than its talk');
    if ((call.duration_seconds ?? -1) < 0 || (call.billed_duration_seconds ?? 0) < 0) wrong.push('negative');
    if (call.hangup_cause === null) wrong.push('no cause');
    if (call.status === 'failed' && call.error_message === null) wrong.push('failed without saying why');
    if (!isTerminal(was) && event.type === 'ended' && connected) {
      const measured = event.lastedMs?.connected ?? null;
      const counted = event.durationSeconds ?? (measured === null ? null : Math.ceil(measured / 1_000));
      if (counted !== null && call.billed_duration_seconds !== counted)
        wrong.push(`billed ${call.billed_duration_seconds} s of ${counted}`);
    }
    const charge = connected ? chargeFor(call.billed_duration_seconds ?? 0, PRICE) : null;
    if (call.billing_amount_milli_cents !== charge) wrong.push(`charged ${call.billing_amount_milli_cents}`);
  } else if (ends.length + after.booked.length > 0 || after.released) wrong.push('ended before its end');
  return wrong;
}

t.test('every order of events, at every moment', async (t) => {
  const start: Node = {
    call: makeCall('o', {
      id: 'c',
      created_at: CREATED,
      returns: { said: 'string' },
      reserved_milli_cents: 30_000,
    }),
    told: [],
    booked: [],
    released: false,
    path: [],
  };
  const seen = new Set([fields(start)]);
  let steps = 0;
  const drawing = new Drawing('call', 'queued');
  const found: string[] = [];
  const reached = new Set<string>();
  for (let frontier = [start]; frontier.length > 0; ) {
    const further: Node[] = [];
    for (const node of frontier) {
      for (const event of EVENTS) {
        const step = next(node.call, event, PRICE);
        if (step === null) {
          if (event.type === 'ended' && !isTerminal(node.call.status)) found.push(`no end from ${node.path}`);
          continue;
        }
        steps++;
        const after: Node = {
          call: { ...node.call, ...step.change },
          told: [...node.told, ...step.events],
          booked: [...node.booked, ...step.ledger.map(({ kind }) => kind)],
          released: node.released || step.effects.includes('release'),
          path: [...node.path, nameOf(event)],
        };
        const drawnAs = 'outcome' in event ? `ended as ${event.outcome}` : event.type;
        drawing.arrow(node.call.status, drawnAs, after.call.status);
        if (node.released && step.effects.includes('release')) found.push(`let go of twice: ${after.path}`);
        if (step.effects.includes('settle-result') !== (step.change.status === 'completed'))
          found.push(`a result is worked out: ${after.path}`);
        if (!step.from.includes(node.call.status) || step.from.length !== 1)
          found.push(`from: ${after.path}`);
        for (const wrong of wrongs(node, event, after)) found.push(`${wrong}: ${after.path.join(', ')}`);
        if (JSON.stringify(next(after.call, event, PRICE)?.events ?? []) !== '[]')
          found.push(`the same again is told again: ${after.path.join(', ')}`);
        const key = fields(after);
        if (seen.has(key)) continue;
        seen.add(key);
        reached.add(after.call.status);
        further.push(after);
      }
    }
    frontier = found.length > 0 ? [] : further;
  }
  t.same(found.slice(0, 10), [], `${found.length} of ${steps} steps are wrong`);
  t.equal(reached.size, 9, [...reached].join(' '));
  drawing.hold(t);
  t.comment(`note: ${seen.size} states of a call, ${steps} steps`);
});
