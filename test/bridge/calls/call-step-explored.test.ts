// Every pair of a call's row and what is known of it beside that anything which comes in can lead to, in any order, wanted or
// late, written or not; and from each of them, what time alone makes of it. What holds of all of them is said once, below.
import t from 'tap';
import { HANG_UP_ANSWER_MS } from '../../../bridge/calls/call-limits.ts';
import { type CallEvent, isTerminal } from '../../../bridge/calls/call-state.ts';
import { step } from '../../../bridge/calls/call-step.ts';
import {
  type CallInput,
  type CallRules,
  type Command,
  type LiveState,
  leftBehind,
  type Next,
  newLiveState,
  type StatusEvent,
  unwritten,
} from '../../../bridge/calls/live-state.ts';
import type { CarrierCallSnapshot } from '../../../bridge/carriers/carrier.ts';
import { LINE_TEXTS } from '../../../control/agents/texts/moments.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { Drawing } from '../../states/drawing.ts';
import { makeCall } from '../../storage/makers.ts';

t.setTimeout(300_000);

const BASE = Date.UTC(2026, 0, 1, 12, 0, 0);
const iso = (ms: number) => new Date(BASE + ms).toISOString();
const RULES: CallRules = {
  pricePerMinute: 0,
  reserveMinutes: 5,
  ringSeconds: 60,
  maxSeconds: 120,
  carrier: { streamIsCall: false, answerSeconds: null },
  texts: LINE_TEXTS,
};
/** Longer than anything may take but the call itself. */
const AGE_MS = 125_000;
const LOOK_MS = 20_000;

/** A call, with all that was ever told of it and asked for. */
interface World {
  call: CallRecord;
  live: LiveState;
  nowMs: number;
  told: readonly string[];
  /** A long time has passed with nothing in it; before, and since, all came within a moment. */
  waited: boolean;
  /** Let go of: what comes late finds nothing of it but its row. */
  gone: boolean;
  path: readonly string[];
}

const status = (event: StatusEvent | null, carrierCallId = 'CA1'): CallInput => ({
  type: 'carrier-status',
  carrierCallId,
  event,
});
const ended = (
  outcome: Extract<CallEvent, { type: 'ended' }>['outcome'],
): Extract<CallEvent, { type: 'ended' }> => ({
  type: 'ended',
  at: iso(0),
  outcome,
  durationSeconds: null,
  cause: null,
  errorCode: null,
  errorMessage: null,
});
const seen = (status: CarrierCallSnapshot['status']): CarrierCallSnapshot => ({
  carrierCallId: 'CA1',
  status,
  to: '+14155550100',
  from: '+14155550199',
  durationSeconds: null,
  startedAt: null,
  endedAt: null,
});

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
  { type: 'media-started', carrierCallId: 'CA1', at: iso(0), atMs: 0 },
  { type: 'stream-ended', how: 'stopped', atMs: 1_000 },
  { type: 'stream-ended', how: 'lost', atMs: 1_000 },
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
  { type: 'thread-lost' },
  { type: 'hang-up-requested' },
  { type: 'end', cause: 'draining', error: null },
  { type: 'last-line', reason: 'draining' },
  { type: 'record-end', cause: 'draining' },
  { type: 'recovered', seen: 'unknown' },
  { type: 'look' },
];
/** By a carrier's hook: these are heard of a call that is over and gone. */
const LATE = new Set<CallInput['type']>(['carrier-status', 'machine-verdict']);

const TERMINAL_EVENTS = ['call.completed', 'call.busy', 'call.no_answer', 'call.failed', 'call.canceled'];

function moment(nowMs: number) {
  return { nowMs, now: iso(nowMs), writable: true };
}

function after(world: World, input: CallInput, next: Next): World {
  const isLetGo = next.commands.some((command) => command.do === 'let-go');
  return {
    ...world,
    call: { ...world.call, ...next.write?.change },
    live: isLetGo ? leftBehind() : next.live,
    told: [...world.told, ...(next.write?.events ?? [])],
    gone: world.gone || isLetGo,
    path: [...world.path, nameOf(input)],
  };
}

const nameOf = (input: CallInput) =>
  Object.values(input)
    .map((value) =>
      value !== null && typeof value === 'object' ? JSON.stringify(value).slice(0, 30) : value,
    )
    .join(' ');

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
        : 0,
    away && [away.why, age(away.since), away.modelLost, age(away.askedAt)],
    finishing && [age(finishing.at), finishing.speaking, finishing.talk === null],
  ]);
}

/** Commands that a call which is over may still have. */
const LAST: ReadonlySet<Command['do']> = new Set([
  'hang-up-at-last',
  'let-go',
  'release',
  'log',
  'tell-media',
  'run-tool',
]);

/** What is wrong about a step; empty: nothing. */
function wrongs(before: World, input: CallInput, next: Next, world: World): string[] {
  const wrong: string[] = [];
  const { call, live } = world;
  const wasOver = isTerminal(before.call.status);
  const isOver = isTerminal(call.status);
  const count = (what: Command['do']) => next.commands.filter((command) => command.do === what).length;
  if (wasOver && call.status !== before.call.status) wrong.push('a terminal status was left');
  if (new Set(world.told).size !== world.told.length) wrong.push(`told twice: ${world.told.join(' ')}`);
  const ends = world.told.filter((type) => TERMINAL_EVENTS.includes(type));
  if (ends.length !== (isOver && call.status !== 'completed' ? 1 : 0)) wrong.push(`ends: ${ends.join(' ')}`);
  if (isOver)
    for (const { do: what } of next.commands) if (!LAST.has(what)) wrong.push(`${what} when it is over`);
  if (isOver && live.line.at === 'ending') wrong.push('is over and asked to end');
  if (!wasOver && isOver && count('release') + count('let-go') !== 1)
    wrong.push('its media is not let go of once');
  if (before.gone && count('release') + count('let-go') > 0) wrong.push('let go of twice');
  if (count('let-go') > 0 && !isOver && input.type !== 'replaced') wrong.push('let go of while it lives');
  for (const command of next.commands) {
    if (command.do === 'let-go' && (command.settle === 'result') !== (call.status === 'completed'))
      wrong.push(`${call.status}: settles ${command.settle}`);
  }
  if (count('hang-up') > 0) {
    const { line } = before.live;
    const givenUp = line.at === 'ending' && before.nowMs - line.since >= HANG_UP_ANSWER_MS;
    if (line.at === 'ending' && !givenUp) wrong.push('asked to hang up twice');
    if (call.carrier_call_id === null) wrong.push('hangs up nothing');
  }
  if (next.again && (input.type !== 'stream-over' || input.waited)) wrong.push('wanted again for ever');
  if (count('connect') > 0 && (isOver || live.media.at !== 'carried')) wrong.push('a stream for nobody');
  return wrong;
}

/** How a carrier answers that is asked by a call which nothing else happens to. */
interface Peer {
  name: string;
  /** Undefined: it never does. */
  hangUp(nth: number): 'ended' | 'already_ended' | null | undefined;
  lookUp(): CarrierCallSnapshot | 'unknown' | null;
  /** The media side says that it looks after the call, and lets go of it when it is told to. */
  mediaLives: boolean;
}

const PEERS: Peer[] = [
  { name: 'all is well', hangUp: () => 'ended', lookUp: () => seen('answered'), mediaLives: true },
  {
    name: 'the media side is dead',
    hangUp: () => 'ended',
    lookUp: () => seen('answered'),
    mediaLives: false,
  },
  {
    name: 'the carrier knows more',
    hangUp: () => 'already_ended',
    lookUp: () => seen('completed'),
    mediaLives: true,
  },
  {
    name: 'the carrier fails at first',
    hangUp: (nth) => (nth < 3 ? null : 'ended'),
    lookUp: () => 'unknown',
    mediaLives: false,
  },
  {
    name: 'the answer of the carrier never comes',
    hangUp: (nth) => (nth < 2 ? undefined : 'ended'),
    lookUp: () => null,
    mediaLives: true,
  },
];

/** The longest call, its grace, and what a carrier that does not answer takes. */
const BOUND_MS = (RULES.maxSeconds + RULES.ringSeconds + 60) * 1000 + 3 * HANG_UP_ANSWER_MS;

/** What time alone makes of a call; null: it ends and is let go of, as it must. */
function stuck(from: World, peer: Peer): string | null {
  let world = from;
  let hangUps = 0;
  const take = (input: CallInput): string | null => {
    const next = step(world.call, world.live, input, moment(world.nowMs), RULES);
    const then = after(world, input, next);
    const wrong = wrongs(world, input, next, then);
    world = then;
    if (wrong.length > 0) return wrong.join(', ');
    for (const command of next.commands) {
      let answer: CallInput | null = null;
      if (command.do === 'hang-up') {
        const said = peer.hangUp(hangUps++);
        if (said !== undefined) answer = { type: 'hang-up-answered', answer: said };
      } else if (command.do === 'look-up')
        answer = { type: 'looked-up', seen: peer.lookUp(), why: command.why };
      else if (command.do === 'release' && peer.mediaLives) answer = { type: 'released' };
      const deeper = answer === null ? null : take(answer);
      if (deeper !== null) return deeper;
    }
    return null;
  };
  for (const end = from.nowMs + BOUND_MS; world.nowMs < end && !world.gone; ) {
    world = { ...world, nowMs: world.nowMs + LOOK_MS };
    const alive = peer.mediaLives && world.live.media.at === 'carried';
    const wrong = (alive ? take({ type: 'alive' }) : null) ?? take({ type: 'look' });
    if (wrong !== null) return wrong;
  }
  return world.gone ? null : `${world.call.status} for ever`;
}

function world(fields: Partial<CallRecord>, live: LiveState): World {
  const call = makeCall('o', { id: 'c', created_at: iso(0), returns: {}, ...fields });
  return { call, live, nowMs: 0, told: [], waited: false, gone: false, path: [] };
}

t.test('every pair of row and live state, every input in it, and time', async (t) => {
  const starts = [
    world({}, newLiveState(0, 5)),
    // As a dead process left it.
    world({}, leftBehind()),
    world({ status: 'ringing', carrier_call_id: 'CA1' }, leftBehind()),
    world({ status: 'in_progress', carrier_call_id: 'CA1', answered_at: iso(0) }, leftBehind()),
  ];
  const known = new Set(starts.map(keyOf));
  const found: string[] = [];
  const ways = new Set<string>();
  const drawings = {
    line: new Drawing('line', 'open'),
    stream: new Drawing('stream', 'awaited'),
    media: new Drawing('media', 'carried'),
  };
  let steps = 0;
  for (let frontier = starts; frontier.length > 0; ) {
    const further: World[] = [];
    const reach = (reached: World) => {
      const key = keyOf(reached);
      if (known.has(key)) return;
      known.add(key);
      further.push(reached);
    };
    for (const from of frontier) {
      if (!from.gone) {
        for (const peer of PEERS) {
          const wrong = stuck(from, peer);
          if (wrong !== null) found.push(`${wrong}, when ${peer.name}: ${from.path.join(', ')}`);
        }
        if (!from.waited)
          reach({ ...from, nowMs: from.nowMs + AGE_MS, waited: true, path: [...from.path, 'time'] });
      }
      for (const input of INPUTS) {
        if (from.gone && !LATE.has(input.type)) continue;
        const next = step(from.call, from.live, input, moment(from.nowMs), RULES);
        steps++;
        const then = after(from, input, next);
        for (const wrong of wrongs(from, input, next, then)) found.push(`${wrong}: ${then.path.join(', ')}`);
        for (const command of next.commands) ways.add(command.do);
        for (const part of ['line', 'stream', 'media'] as const)
          drawings[part].arrow(from.live[part].at, drawnAs(input), then.live[part].at);
        reach(then);
        // What could not be written has happened all the same, and nothing of it was done.
        if (next.write !== null && !from.gone)
          reach({
            ...from,
            live: unwritten(from.live, next.live, from.nowMs),
            path: [...from.path, `${nameOf(input)} (lost)`],
          });
      }
      if (found.length > 100) break;
    }
    frontier = found.length > 0 ? [] : further;
  }
  t.same(found.slice(0, 5), [], `${found.length} are wrong`);
  t.same([...ways].sort(), [
    'connect',
    'expect-stream',
    'hang-up',
    'hang-up-at-last',
    'let-go',
    'log',
    'look-up',
    'release',
    'run-tool',
    'send-digits',
    'speak-and-hang-up',
    'tell-media',
    'transfer',
  ]);
  for (const drawing of Object.values(drawings)) drawing.hold(t);
  t.comment(`note: ${known.size} pairs, ${steps} steps`);
});
