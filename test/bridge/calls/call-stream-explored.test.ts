// A call whose stream breaks, moment by moment and in any order of what can come in: whoever asks what comes next is told, a
// carrier that does not ask is told all the same, one thing at a time, and it all has an end.
import t from 'tap';
import { type CallInput, type Next, newLiveState } from '../../../bridge/calls/live-state.ts';
import { ended, iso, status, type World, walk, world } from './call-worlds.ts';

t.setTimeout(300_000);

/** Between two looks. */
const MOMENT_MS = 2_500;
/** As far as a loss is watched: beyond it everything is given up. */
const WATCHED_MS = 22_500;
/** What may go on is not given up before. */
const PATIENCE_MS = 20_000;
/** A carrier that was told is not told again before. */
const AGAIN_MS = 5_000;

const over = (waited: boolean): CallInput => ({
  type: 'stream-over',
  carrierCallId: 'CA1',
  transfer: null,
  waited,
});

const INPUTS: CallInput[] = [
  over(false),
  over(true),
  { type: 'stream-over', carrierCallId: 'CA2', transfer: null, waited: true },
  { type: 'stream-over', carrierCallId: 'CA1', transfer: 'busy', waited: false },
  { type: 'stream-asked', carrierCallId: 'CA1' },
  { type: 'media-started', carrierCallId: 'CA1', at: iso(0), atMs: 2_000 },
  { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 2_500 },
  { type: 'stream-ended', how: 'lost', why: 'closed', atMs: 20_000 },
  { type: 'stream-ended', how: 'lost', why: 'media_timeout', atMs: 2_000 },
  { type: 'stream-ended', how: 'stopped', why: 'closed', atMs: 2_500 },
  { type: 'look' },
  { type: 'transfer-requested', toolCallId: 'tool', number: '+14155550123' },
  { type: 'not-away', toolCallId: 'tool', why: 'refused' },
  { type: 'hang-up-requested' },
  { type: 'hang-up-answered', answer: null },
  { type: 'talk-finished', reason: 'agent_ended', error: null, speak: null },
  {
    type: 'talk-finished',
    reason: 'model_failed',
    error: { code: 'model_lost', message: 'gone' },
    speak: { text: 'Goodbye.', language: 'en' },
  },
  { type: 'thread-lost', silentMs: 0 },
  status(ended('completed')),
];

/** Up to the age at which nothing changes any more. */
const ageOf = (at: number | null, nowMs: number, mostMs: number) =>
  at === null ? null : Math.min(mostMs, nowMs - at);
/** Streams in a row that carried little: it matters only whether one more is too many. */
const briefly = (brief: number) => (brief < 4 ? 'few' : Math.min(brief, 5));

function keyOf({ call, live, nowMs, gone }: World): string {
  const { line, stream, media, away, finishing, token } = live;
  return JSON.stringify([
    call.status,
    call.hangup_cause === null,
    gone,
    line.at,
    media.at,
    token,
    stream.at,
    'brief' in stream && briefly(stream.brief),
    stream.at === 'lost' && [
      ageOf(stream.since, nowMs, WATCHED_MS),
      ageOf(stream.toldAt, nowMs, AGAIN_MS),
      stream.why,
    ],
    stream.at === 'on' && ageOf(stream.lostAt, nowMs, WATCHED_MS),
    away !== null,
    finishing && [finishing.speaking, finishing.talk === null],
  ]);
}

/** A talk that would go on if it had a stream. */
function isTalking({ call, live }: World): boolean {
  const { line, media, away, finishing } = live;
  if (call.status !== 'in_progress' || call.hangup_cause !== null || away !== null) return false;
  return line.at === 'open' && media.at === 'carried' && finishing === null;
}

function wrongs(before: World, input: CallInput, next: Next): string[] {
  const wrong: string[] = [];
  const { stream } = before.live;
  const count = (what: string) => next.commands.filter((command) => command.do === what).length;
  const brought = count('connect') + count('connect-unasked');
  if (stream.at !== 'lost') {
    if (count('connect-unasked') > 0) wrong.push('a stream in place of one that is there');
    return wrong;
  }
  const lostMs = before.nowMs - stream.since;
  const goesOn = isTalking(before) && stream.brief < 5 && lostMs < PATIENCE_MS;
  if (brought > 0 && stream.brief >= 5 && before.live.away === null && input.type !== 'stream-asked')
    wrong.push('streams without end');
  const isAsked = input.type === 'stream-over' && input.transfer === null && input.carrierCallId === 'CA1';
  if (isAsked && goesOn && brought === 0 && !next.again) wrong.push('a carrier that asks is told nothing');
  if (isAsked && input.waited && goesOn && brought === 0) wrong.push('the carrier ends the call');
  if (count('hang-up') > 0 && goesOn && (isAsked || input.type === 'look')) wrong.push('given up too soon');
  const toldMs = stream.toldAt === null ? AGAIN_MS : before.nowMs - stream.toldAt;
  if (count('connect-unasked') > 0 && toldMs < AGAIN_MS) wrong.push('told again before it can have come');
  if (input.type === 'look' && goesOn && lostMs >= MOMENT_MS && toldMs >= AGAIN_MS && brought === 0)
    wrong.push('a carrier that does not ask is left alone');
  return wrong;
}

t.test('a stream that is lost, moment by moment', async (t) => {
  const talking = (brief: number) =>
    world(
      { status: 'in_progress', carrier_call_id: 'CA1', answered_at: iso(0), stream_began_at: iso(0) },
      {
        ...newLiveState(0, 5),
        times: { madeAt: 0, rangAt: 0, answeredAt: 0, streamAt: 0, endedAt: null },
        token: 'used',
        stream: { at: 'on', fromMs: 2_000, brief, lostAt: null },
        model: 'ready',
      },
    );
  const met = new Set<string>();
  const { found, worlds, steps } = walk([talking(0), talking(4)], {
    keyOf,
    inputs: INPUTS,
    wrongs,
    later({ nowMs, path, ...from }) {
      const { stream } = from.live;
      if (stream.at !== 'lost' || nowMs - stream.since >= WATCHED_MS) return null;
      return { ...from, nowMs: nowMs + MOMENT_MS, path: [...path, 'a moment'] };
    },
    met(_before, _input, next, then) {
      for (const command of next.commands) met.add(command.do);
      if (then.call.error_code !== null) met.add(then.call.error_code);
      if (then.call.gaps.length > 1 && then.call.gaps.at(-1)?.to_ms !== null) met.add('several gaps');
    },
  });
  t.same(found.slice(0, 5), [], `${found.length} are wrong`);
  for (const way of ['connect', 'connect-unasked', 'stream_lost', 'media_timeout', 'several gaps'])
    t.ok(met.has(way), way);
  t.comment(`note: ${worlds} pairs, ${steps} steps`);
});
