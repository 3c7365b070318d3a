// Calls as all that can come in leaves them, and what holds of each of them: for tests that walk from one to the next.
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
  type StatusEvent,
  unwritten,
} from '../../../bridge/calls/live-state.ts';
import type { CarrierCallSnapshot } from '../../../bridge/carriers/carrier.ts';
import { LINE_TEXTS } from '../../../control/agents/texts/moments.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const BASE = Date.UTC(2026, 0, 1, 12, 0, 0);
export const iso = (ms: number) => new Date(BASE + ms).toISOString();
const RULES: CallRules = {
  pricePerMinute: 0,
  reserveMinutes: 5,
  ringSeconds: 60,
  maxSeconds: 120,
  carrier: { streamIsCall: false, answerSeconds: null },
  texts: LINE_TEXTS,
};
const LOOK_MS = 20_000;
/** A call that has lost its stream looks sooner. */
const SOON_MS = 2_000;

/** A call, with all that was ever told of it and asked for. */
export interface World {
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

export const status = (event: StatusEvent | null, carrierCallId = 'CA1'): CallInput => ({
  type: 'carrier-status',
  carrierCallId,
  event,
});
export const ended = (
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
export const seen = (status: CarrierCallSnapshot['status']): CarrierCallSnapshot => ({
  carrierCallId: 'CA1',
  status,
  to: '+14155550100',
  from: '+14155550199',
  durationSeconds: null,
  startedAt: null,
  endedAt: null,
});

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

/** Commands that a call which is over may still have. */
const LAST: ReadonlySet<Command['do']> = new Set([
  'hang-up-at-last',
  'let-go',
  'release',
  'log',
  // By the last words.
  'note-opt-out',
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
  const brought = count('connect') + count('connect-unasked');
  if (brought > 0 && (isOver || live.media.at !== 'carried')) wrong.push('a stream for nobody');
  if (brought > 0 && (live.line.at === 'ending' || live.finishing !== null))
    wrong.push('a stream for a call that ends');
  if (count('connect-unasked') > 0 && live.away !== null) wrong.push('a line that is away is taken back');
  if (brought > 0 && live.token !== 'fresh') wrong.push('a token twice');
  call.gaps.forEach(({ from_ms, to_ms }, index) => {
    if (to_ms === null && index < call.gaps.length - 1) wrong.push('two gaps are open');
    if (to_ms !== null && to_ms < from_ms) wrong.push('a gap that ends before it begins');
  });
  if (wasOver && call.gaps !== before.call.gaps) wrong.push('a gap when it is over');
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
  /** Streams that it brings break at once, and it asks what comes next; else it brings none. */
  bringsStreams?: true;
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
    name: 'streams break as fast as they come',
    hangUp: () => 'ended',
    lookUp: () => seen('answered'),
    mediaLives: true,
    bringsStreams: true,
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

/** A stream that comes and goes, and what the carrier asks then. */
const BREAKS: CallInput[] = [
  { type: 'media-started', carrierCallId: 'CA1', at: iso(0), atMs: 2_000 },
  { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 3_000 },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: false },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: null, waited: true },
];

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
      else if (command.do === 'carry-again')
        answer = peer.mediaLives ? { type: 'carried-again', running: [] } : { type: 'not-carried' };
      else if (command.do === 'release' && peer.mediaLives) answer = { type: 'released' };
      const brought = command.do === 'connect' || command.do === 'connect-unasked';
      const answers = brought && peer.bringsStreams === true ? BREAKS : answer === null ? [] : [answer];
      for (const one of answers) {
        const deeper = take(one);
        if (deeper !== null) return deeper;
      }
    }
    return null;
  };
  for (const end = from.nowMs + BOUND_MS; world.nowMs < end && !world.gone; ) {
    world = { ...world, nowMs: world.nowMs + (world.live.stream.at === 'lost' ? SOON_MS : LOOK_MS) };
    const alive = peer.mediaLives && world.live.media.at === 'carried';
    const wrong = (alive ? take({ type: 'alive' }) : null) ?? take({ type: 'look' });
    if (wrong !== null) return wrong;
  }
  return world.gone ? null : `${world.call.status} for ever`;
}

export function world(fields: Partial<CallRecord>, live: LiveState): World {
  const call = makeCall('o', { id: 'c', created_at: iso(0), returns: {}, ...fields });
  return { call, live, nowMs: 0, told: [], waited: false, gone: false, path: [] };
}

/** What a walk meets. */
export interface Walk {
  /** What tells two worlds apart. */
  keyOf(world: World): string;
  inputs: readonly CallInput[];
  /** The same a while later; null: time does nothing new to it. */
  later(world: World): World | null;
  /** Of a call that is over and gone only these are heard. */
  late?: ReadonlySet<CallInput['type']>;
  /** What is wrong about a step beside what is wrong of any. */
  wrongs?(before: World, input: CallInput, next: Next, then: World): string[];
  met(before: World, input: CallInput, next: Next, then: World): void;
}

/** Takes every input in every world that is reached from these. Answers what is wrong, and how far it went. */
export function walk(starts: readonly World[], o: Walk): { found: string[]; worlds: number; steps: number } {
  const known = new Set(starts.map(o.keyOf));
  const found: string[] = [];
  let steps = 0;
  for (let frontier = starts; frontier.length > 0 && found.length === 0; ) {
    const further: World[] = [];
    const reach = (reached: World | null) => {
      if (reached === null) return;
      const key = o.keyOf(reached);
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
        reach(o.later(from));
      }
      for (const input of o.inputs) {
        if (from.gone && o.late?.has(input.type) !== true) continue;
        const next = step(from.call, from.live, input, moment(from.nowMs), RULES);
        steps++;
        const then = after(from, input, next);
        const wrong = [...wrongs(from, input, next, then), ...(o.wrongs?.(from, input, next, then) ?? [])];
        for (const one of wrong) found.push(`${one}: ${then.path.join(', ')}`);
        o.met(from, input, next, then);
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
    frontier = further;
  }
  return { found, worlds: known.size, steps };
}
