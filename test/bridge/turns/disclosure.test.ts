// The line that is said before all else, by table: nothing the caller does cuts it, what he says is answered after it, and it is
// said whole or the call ends.
import t from 'tap';
import { step } from '../../../bridge/turns/turn-state.ts';
import { openTurns, type TurnEffect, type TurnEvent, type TurnState } from '../../../bridge/turns/turns.ts';

type Timed = [number, TurnEvent];

/** Plays events given as [milliseconds, event] and answers every effect with its time. */
function play(start: TurnState, events: readonly Timed[]) {
  let state = start;
  const effects: [number, TurnEffect][] = [];
  for (const [now, event] of events) {
    const result = step(state, event, now);
    if (result === null) continue;
    for (const effect of result.effects) effects.push([now, effect]);
    state = result.state;
  }
  return { state, effects, did: effects.map(([, effect]) => effect.do) };
}

const fresh = (o: Partial<Parameters<typeof openTurns>[0]> = {}) =>
  openTurns({ greets: true, plan: 'none', discloses: true, ...o });
const tick = (o: { due?: boolean; told?: boolean; stillMs?: number } = {}): TurnEvent => ({
  type: 'tick',
  due: true,
  told: true,
  ...o,
});
const OVER = tick({ due: false });
const OPEN: Timed[] = [
  [0, { type: 'model-ready', renewed: false }],
  [10, { type: 'stream-started' }],
];
const SAYS: Timed[] = [...OPEN, [400, { type: 'agent-audio' }]];
const speaks = (from: number, to: number): Timed[] => [
  [from, { type: 'voice', voice: { is: 'starting', onsetMs: from } }],
  [from + 200, { type: 'voice', voice: { is: 'speaking', onsetMs: from, stoppedMs: 0 } }],
  [from + 200, { type: 'speech-started', onsetMs: from }],
  [to, { type: 'voice', voice: { is: 'quiet' } }],
  [to, { type: 'speech-ended', endMs: to }],
];

t.test('asked for first; the greeting when all of it was heard', async (t) => {
  const asked = play(fresh(), OPEN);
  t.strictSame(asked.effects, [[10, { do: 'disclose' }]]);
  const { state, effects } = play(fresh(), [
    ...SAYS,
    [2_000, { type: 'response-done', pending: true, busy: false, spoke: true }],
    [4_000, { type: 'all-heard', busy: false }],
    [4_010, OVER],
  ]);
  t.strictSame(effects.slice(1), [
    [400, { do: 'floor', floor: 'agent' }],
    [4_010, { do: 'speak', what: 'greeting' }],
  ]);
  t.match(state, { phase: { at: 'thinking' }, disclosure: 'said' });
  t.equal(
    play(fresh({ greets: false }), [...SAYS, [4_000, OVER]]).state.phase.at,
    'open',
    'the other side is next',
  );
});

t.test('whatever the caller does while it is said, nothing is cut, held or asked for', async (t) => {
  const { state, effects } = play(fresh({ plan: 'leave_message' }), [
    ...SAYS,
    ...speaks(600, 3_000),
    [1_000, { type: 'digit', digit: '1' }],
    [2_500, tick()],
    [2_600, { type: 'typed', text: 'hello' }],
    [2_700, { type: 'word-given', onsetMs: 600, untilMs: 3_000 }],
    [2_800, { type: 'word-known', means: 'stop', onsetMs: 600, endMs: 900, givenMs: 1_000 }],
    [2_900, { type: 'machine-detection', verdict: 'human' }],
    [3_100, { type: 'tools-answered' }],
    [3_200, { type: 'nothing-said' }],
    [3_300, { type: 'all-heard', busy: true }],
  ]);
  t.equal(state.phase.at, 'disclosing');
  t.strictSame(
    effects.map(([, effect]) => effect.do),
    ['disclose', 'floor', 'listen', 'typed'],
    'he is listened to',
  );
  t.match(effects[3], [2_600, { respond: false }]);
});

t.test('what was said over it is a turn, answered in place of the greeting', async (t) => {
  const said = play(fresh(), [...SAYS, ...speaks(600, 1_100), [4_000, OVER], [4_020, OVER]]);
  t.strictSame(said.effects.slice(2), [
    [800, { do: 'listen', fromMs: 600 }],
    [4_000, { do: 'floor', floor: 'caller' }],
    [4_020, { do: 'commit', respond: true, speechEndMs: 1_100 }],
  ]);
  const speaking = play(fresh(), [
    ...SAYS,
    ...speaks(600, 1_100),
    ...speaks(3_500, 6_000).slice(0, 3),
    [4_000, OVER],
  ]);
  t.match(
    speaking.state.phase,
    { at: 'caller', since: 600, silentSince: null },
    'who still speaks is heard out',
  );
  t.equal(speaking.did.filter((what) => what === 'listen').length, 1, 'all of it is one turn');
  const noise = play(fresh(), [
    ...SAYS,
    ...speaks(600, 1_100).slice(0, 3),
    [1_000, { type: 'speech-taken-back', onsetMs: 600 }],
    [4_000, OVER],
  ]);
  t.strictSame(noise.did.slice(2), ['listen', 'forget', 'speak'], 'noise is nothing said');
  const typed = play(fresh(), [...SAYS, [600, { type: 'typed', text: 'hi' }], [4_000, OVER]]);
  t.match(typed.effects.at(-1), [4_000, { do: 'speak', what: 'owed' }], 'typed words are answered');
  const keys = play(fresh(), [...SAYS, [600, { type: 'digit', digit: '7' }], [4_000, OVER], [4_020, tick()]]);
  t.match(keys.effects.at(-1), [4_020, { do: 'digits', digits: '7', respond: true }], 'keys too');
});

t.test('said whole: once more where it broke off or came to nothing, and no call without it', async (t) => {
  const broken = play(fresh(), [...SAYS, [1_000, tick({ due: false, told: false })]]);
  t.match(broken, {
    did: ['disclose', 'floor', 'disclose'],
    state: { phase: { at: 'disclosing', tries: 2 } },
  });
  const again = play(broken.state, [
    [1_500, { type: 'agent-audio' }],
    [3_000, tick({ due: false, told: false })],
  ]);
  t.match(again.state, { phase: { at: 'thinking' }, disclosure: 'said' }, 'twice is what can be done');
  const silent = play(fresh(), [
    ...OPEN,
    [600, tick({ due: false, told: false })],
    [900, tick({ due: false })],
  ]);
  t.match(silent.effects.slice(-2), [
    [900, { do: 'interrupt' }],
    [900, { do: 'finish', reason: 'model_silent' }],
  ]);
  const late = play(fresh(), [...OPEN, [5_010, tick()], [9_000, tick()], [18_010, tick()]]);
  t.strictSame(late.did, ['disclose', 'disclose', 'interrupt', 'finish'], 'a model that does not come');
  const stuck = play(fresh(), [...SAYS, [30_000, tick({ stillMs: 20_000 })]]);
  t.strictSame(stuck.did.slice(2), ['report', 'interrupt', 'disclose'], 'a carrier that confirms nothing');
  const still = play(stuck.state, [
    [30_400, { type: 'agent-audio' }],
    [60_000, tick({ stillMs: 20_000 })],
  ]);
  t.match(still.effects.at(-1), [60_000, { do: 'finish', reason: 'stalled' }]);
});

t.test('a machine has it after the beep, before the message; a person after all is told', async (t) => {
  const plan = 'leave_message' as const;
  const verdict = (is: 'machine' | 'machine_ready' | 'human'): TurnEvent => ({
    type: 'machine-detection',
    verdict: is,
  });
  const left = play(fresh({ plan }), [
    ...SAYS,
    [1_000, verdict('machine')],
    [5_000, verdict('machine_ready')],
    [5_400, { type: 'agent-audio' }],
    ...speaks(6_000, 7_000),
    [6_500, verdict('machine_ready')],
    [9_000, OVER],
  ]);
  t.strictSame(
    left.did.filter((what) => what !== 'floor' && what !== 'forget'),
    ['disclose', 'interrupt', 'interrupt', 'disclose', 'speak'],
  );
  t.match(left.effects.at(-1), [9_000, { do: 'speak', what: 'voicemail' }]);
  t.match(left.state.phase, { at: 'closing', reason: 'voicemail', spokenOver: true });
  const heard = play(fresh({ plan }), [...SAYS, [3_000, OVER], [3_200, verdict('machine_ready')]]);
  t.match(heard.effects.at(-1), [3_200, { do: 'disclose' }], 'who listens to the message has not heard it');
  const person = play(fresh({ plan }), [...SAYS, [1_000, verdict('machine')], [2_000, verdict('human')]]);
  t.match(person.effects.at(-1), [2_000, { do: 'disclose' }]);
  const beep = play(fresh({ plan }), [...SAYS, ...speaks(600, 4_000).slice(0, 3), [4_100, { type: 'beep' }]]);
  t.match(beep.effects.at(-1), [4_100, { do: 'disclose' }], 'a beep ends a greeting that was spoken over');
  t.match(beep.state.phase, { forMessage: true });
});

t.test('the line goes and comes back: it goes on; a call that goes on elsewhere is told first', async (t) => {
  const gone = play(fresh(), [
    ...SAYS,
    [1_000, { type: 'stream-paused' }],
    [9_000, tick({ due: false, told: false })],
    [9_500, { type: 'stream-started' }],
    [12_000, OVER],
  ]);
  t.strictSame(gone.did, ['disclose', 'floor', 'speak']);
  const asked = play(fresh(), [
    ...OPEN,
    [1_000, { type: 'stream-paused' }],
    [20_000, { type: 'stream-started' }],
  ]);
  t.match(asked.state.phase, { at: 'disclosing', asked: 19_010 }, 'nobody waited meanwhile');
  const resumed = play(fresh({ cutOff: { lostAtMs: 0, owed: true } }), [...SAYS, [4_000, OVER]]);
  t.match(resumed.effects.at(-1), [4_000, { do: 'speak', what: 'cut-off' }]);
});

t.test('the end is the end: hung up by us, by a limit, by the agent', async (t) => {
  const hungUp = play(fresh(), [...SAYS, [1_000, { type: 'finish', reason: 'hangup_requested', say: null }]]);
  t.match(hungUp.state.phase, { at: 'over' });
  const drained = play(fresh(), [...SAYS, [1_000, { type: 'finish', reason: 'draining', say: 'Goodbye.' }]]);
  t.match(drained.effects.at(-1), [1_000, { do: 'say', text: 'Goodbye.' }]);
  const agent = play(fresh(), [
    ...SAYS,
    [1_000, { type: 'end-requested', reason: 'agent_ended', pending: true }],
  ]);
  t.notOk(agent.did.includes('interrupt'), 'heard to its end all the same');
});
