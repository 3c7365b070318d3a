// When the model is asked before a turn is over, and what becomes of what it was asked.
import t from 'tap';
import { isAskedEarly } from '../../../bridge/turns/early-answer.ts';
import { EARLY_RULES, earlyAfterMs } from '../../../bridge/turns/early-pause.ts';
import { step } from '../../../bridge/turns/turn-state.ts';
import {
  openTurns,
  TURN_RULES,
  type TurnEvent,
  type TurnState,
  type TurnStep,
} from '../../../bridge/turns/turns.ts';

const START: TurnState = {
  ...openTurns({ greets: true, plan: 'none' }),
  phase: { at: 'open', since: 0, prompts: 0 },
  streaming: true,
  modelReady: true,
};
const END_MS = 2_000;
/** The caller has spoken from 1,000 ms to END_MS. */
const paused = (fields: Partial<TurnState> = {}): TurnState => ({
  ...START,
  ...fields,
  phase: { at: 'caller', since: 1_000, silentSince: END_MS },
});
const tick = (fields: Partial<Extract<TurnEvent, { type: 'tick' }>> = {}): TurnEvent => ({
  type: 'tick',
  due: false,
  tools: false,
  ...fields,
});
const after = (ms: number) => END_MS + ms;
const EARLY_MS = EARLY_RULES.earlyMs as number;
const tell = (state: TurnState, event: TurnEvent, now: number): TurnStep =>
  step(state, event, now) ?? { state, effects: [] };
const asked = (fields: Partial<TurnState> = {}) => tell(paused(fields), tick(), after(EARLY_MS)).state;
const done = ({ effects }: TurnStep) => effects.map((effect) => effect.do);

t.test('asked when the caller has paused, and not before', async (t) => {
  t.same(done(tell(paused(), tick(), after(EARLY_MS - 1))), []);
  const step = tell(paused(), tick(), after(EARLY_MS));
  t.same(step.effects, [{ do: 'ask-early' }]);
  t.ok(isAskedEarly(step.state));
  t.same(done(tell(step.state, tick(), after(EARLY_MS + 20))), [], 'once');
  t.same(
    done(tell(paused(), tick({ heardMs: after(0) }), after(EARLY_MS))),
    [],
    'not by silence nobody heard',
  );
});

for (const [name, state, event] of [
  ['a machine may answer', { verdict: 'pending', plan: 'leave_message' }, tick()],
  ['an answer has not ended', {}, tick({ due: true })],
  ['nothing is known of answers', {}, { type: 'tick' }],
  ['a tool runs', {}, tick({ tools: true })],
  ['keys may follow', { keys: { digits: '1', lastAt: END_MS } }, tick()],
  ['the voice seems to begin again', { voice: { is: 'starting', onsetMs: END_MS + 200 } }, tick()],
  ['two in a row were thrown away', { thrown: 2 }, tick()],
] as [string, Partial<TurnState>, TurnEvent][]) {
  t.test(`${name}: not asked early`, async (t) => {
    t.same(done(tell(paused(state), event, after(600))), []);
  });
}

t.test('two exchanges are a dialogue: asked, whatever the detection says', async (t) => {
  const state = paused({ verdict: 'pending', plan: 'leave_message', exchanges: 2 });
  t.same(done(tell(state, tick(), after(EARLY_MS))), ['ask-early']);
});

t.test('how long is waited', async (t) => {
  const ms = (fields: Partial<TurnState>, earlyMs: number | null = EARLY_MS) =>
    earlyAfterMs(paused(fields), false, { ...TURN_RULES, earlyMs });
  t.equal(ms({}), EARLY_MS);
  t.equal(ms({ pauseMs: 400 }), 400 + EARLY_RULES.earlyMarginMs, 'longer than his pauses');
  t.ok((ms({ pauseMs: 400, thrown: 1 }) ?? 0) > (ms({ pauseMs: 400 }) ?? 0), 'warier after one thrown away');
  t.equal(ms({ pauseMs: 1_150 }), null, 'nothing to gain');
  t.equal(ms({}, null), null, 'never, where it is turned off');
});

t.test('the turn is over: released, with the end of his speech, and the turn not given twice', async (t) => {
  const over = tell({ ...asked(), thrown: 1 }, tick(), after(TURN_RULES.endOfTurnMs));
  t.same(over.effects, [{ do: 'release', speechEndMs: END_MS }]);
  t.match(over.state, { phase: { at: 'thinking' }, answer: 'due', spokeUntil: END_MS, thrown: 0 });
});

t.test('the caller goes on: thrown away, and the turn is the same one', async (t) => {
  const onsetMs = after(300);
  const on = tell(asked(), { type: 'speech-started', onsetMs }, after(400));
  t.same(done(on), ['throw-away']);
  t.same(on.state.phase, { at: 'caller', since: 1_000, silentSince: null });
  t.match(on.state, { pauseMs: 300, thrown: 1 });
  const ended = tell(on.state, { type: 'speech-ended', endMs: 4_000 }, 4_240).state;
  t.same(done(tell(ended, tick(), 4_300)), [], 'his next pause is waited for longer');
  t.same(done(tell(ended, tick(), 4_300 + EARLY_RULES.waryMs + EARLY_RULES.earlyMarginMs)), ['ask-early']);
});

t.test('two thrown away in a row: the whole silence is waited for, once', async (t) => {
  const wary = paused({ thrown: 2 });
  const over = tell(wary, tick(), after(TURN_RULES.endOfTurnMs));
  t.same(done(over), ['commit']);
  t.equal(over.state.thrown, 1, 'then tried again');
});

for (const [name, event, effects] of [
  ['typed words', { type: 'typed', text: 'a word' }, ['throw-away', 'typed']],
  [
    'the end',
    { type: 'finish', reason: 'hangup_requested', say: null },
    ['throw-away', 'interrupt', 'finish'],
  ],
  [
    'a last line',
    { type: 'finish', reason: 'draining', say: 'Bye.' },
    ['throw-away', 'forget', 'interrupt', 'say'],
  ],
] as [string, TurnEvent, string[]][]) {
  t.test(`${name} while the answer is kept back: thrown away`, async (t) => {
    const step = tell(asked(), event, after(400));
    t.same(done(step), effects);
    t.notOk(isAskedEarly(step.state));
    t.equal(step.state.thrown, 0, 'it was no pause that was misjudged');
  });
}

t.test('sound that is not speech yet: kept back until it is known', async (t) => {
  const voice = { is: 'starting', onsetMs: after(500) } as const;
  const starts = tell(asked(), { type: 'voice', voice }, after(520)).state;
  t.same(done(tell(starts, tick(), after(700))), [], 'neither released nor thrown away');
  const quiet = tell(starts, { type: 'voice', voice: { is: 'quiet' } }, after(720)).state;
  t.same(done(tell(quiet, tick(), after(740))), ['release']);
});
