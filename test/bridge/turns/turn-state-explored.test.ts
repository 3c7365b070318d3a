// The floor, driven breadth first through every event in every state it can reach, with time in steps of one and limits of one
// to three of them. States are told apart by what their ends hang on (`keyOf`); the rest of one is what its shortest path
// has brought. What is to hold of every step, and what time alone must lead to from every state, is said once.
import t from 'tap';
import { isAskedEarly } from '../../../bridge/turns/early-answer.ts';
import { endSilenceMs } from '../../../bridge/turns/end-of-turn.ts';
import { step } from '../../../bridge/turns/turn-state.ts';
import {
  holdOf,
  listens,
  openTurns,
  type Plan,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
} from '../../../bridge/turns/turns.ts';
import { deadAirMs } from '../../../bridge/turns/waits.ts';
import { Drawing } from '../../states/drawing.ts';

const RULES: TurnRules = {
  confirmMs: 2,
  soundingMs: 1,
  pauseMs: 1,
  pauseTogetherMs: 1,
  pauseOverAssentMs: 0,
  wordEndMs: 1,
  quietMs: 1,
  fadeMs: 1,
  confirmTogetherMs: 2,
  togetherMs: 1,
  oldestMs: 2,
  answerMs: 1,
  takeBackMs: 1,
  endOfTurnMs: 1,
  dictationMs: 2,
  hesitationMs: 2,
  mostSilenceMs: 1,
  pauseMarginMs: 0,
  behindMs: 0,
  unheardMs: 2,
  earlyMs: 0,
  earlyMarginMs: 0,
  waryMs: 0,
  mostThrown: 1,
  leastGainMs: 1,
  idleMs: 2,
  idlePrompts: 1,
  wordWithinMs: 1,
  retryAfterMs: 1,
  momentAfterMs: 1,
  giveUpAfterMs: 2,
  fillerAfterMs: 1,
  toolLimitMs: 2,
  mostMoments: 1,
  openingLimitMs: 1,
  holdLimitMs: 3,
  monologueMs: 3,
  stuckMs: 2,
  digitPauseMs: 1,
  machineSpeechMs: 1,
  patienceMs: 1,
  suspectQuietMs: 1,
  gapTurnMs: 1,
  gapToldMs: 2,
  lingerMs: 1,
  greetingLimitMs: 2,
};
/** The longest way to an end on time alone: through every wait there is, one after the other. */
const BOUND = Object.values(RULES).reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
/** Older than this is as old as anything can be told to be. */
const OLD = 3;
/** What happened up to here after the answer stays where it was: machines are known by it. */
const EARLY = RULES.patienceMs;
const LAST = OLD + EARLY + 1;

interface Node {
  state: TurnState;
  now: number;
  key: string;
  from: Node | null;
  event: TurnEvent | null;
}

/** The same state a step later, or as one is seen of whom only so much can be told. */
function moved(state: TurnState, by: (at: number) => number): TurnState {
  const { phase, voice, burst } = state;
  const times = Object.entries(phase).map(([name, value]) => [
    name,
    typeof value === 'number' && ['since', 'silentSince', 'asked'].includes(name) ? by(value) : value,
  ]);
  const hold = holdOf(state);
  const over = phase.at === 'disclosing' ? phase.over : null;
  return {
    ...state,
    phase: {
      ...Object.fromEntries(times),
      // A turn that began over the line is as old as any.
      ...(over && {
        over: { since: by(over.since), silentSince: over.silentSince === null ? null : by(over.silentSince) },
      }),
      ...(hold === null
        ? {}
        : {
            hold: {
              heldMs: by(hold.heldMs),
              heldForMs: by(hold.heldForMs),
              // Where it leads hangs on whether it is paused, not on since when.
              pausedSince: hold.pausedSince === null ? null : by(hold.heldMs),
              since: by(hold.since),
              onsetMs: by(hold.onsetMs),
              endMs: hold.endMs === null ? null : by(hold.endMs),
              stoppedMs: Math.min(1, hold.stoppedMs),
              word: hold.word && {
                ...hold.word,
                onsetMs: by(hold.word.onsetMs),
                ...(hold.word.is === 'given' && { untilMs: by(hold.word.untilMs) }),
              },
            },
          }),
    } as TurnState['phase'],
    voice: voice.is === 'quiet' ? voice : { ...voice, onsetMs: by(voice.onsetMs) },
    burst: burst && {
      onsetMs: by(burst.onsetMs),
      endMs: by(burst.endMs),
      spokenMs: Math.min(2, burst.spokenMs),
    },
    assentMs: Math.min(1, state.assentMs),
    exchanges: Math.min(2, state.exchanges),
    thrown: Math.min(1, state.thrown),
    keys: state.keys && { digits: state.keys.digits.slice(0, 1), lastAt: by(state.keys.lastAt) },
    spokeUntil: state.spokeUntil === 0 ? 0 : by(state.spokeUntil),
    goneSince: state.goneSince === null ? null : by(state.goneSince),
    backAt: state.backAt === 0 ? 0 : by(state.backAt),
  };
}

const aged = (now: number) => (at: number) => (at <= EARLY ? at : Math.max(at, now - OLD));
const earlier = (at: number) => (at <= EARLY ? at : Math.max(at - 1, EARLY + 1));

/** What the end of a state hangs on. */
function keyOf(s: TurnState): string {
  const hold = holdOf(s);
  return JSON.stringify([
    // Of a word only that it is waited for.
    hold === null ? s.phase : { ...s.phase, hold: { ...hold, word: hold.word?.is === 'given' } },
    s.voice.is,
    s.streaming,
    s.goneSince !== null,
    s.modelReady,
    s.owes,
    s.moments,
    s.keys !== null,
    s.verdict === 'human',
    s.thrown,
    s.verdict === 'suspected',
    s.disclosure,
  ]);
}

const flags = [true, false];

/** Everything that can be told at a moment. */
function eventsAt(now: number): TurnEvent[] {
  return [
    { type: 'stream-started' },
    { type: 'stream-paused' },
    { type: 'model-ready', renewed: false },
    { type: 'model-ready', renewed: true },
    { type: 'voice', voice: { is: 'quiet' } },
    { type: 'voice', voice: { is: 'starting', onsetMs: now } },
    { type: 'voice', voice: { is: 'speaking', onsetMs: now, stoppedMs: 0 } },
    { type: 'voice', voice: { is: 'speaking', onsetMs: now - 1, stoppedMs: 1 } },
    { type: 'voice', voice: { is: 'stopping', onsetMs: now, quietMs: now } },
    { type: 'speech-started', onsetMs: now },
    { type: 'speech-ended', endMs: now },
    { type: 'speech-ended', endMs: now, drawnOut: true },
    { type: 'speech-taken-back', onsetMs: now },
    { type: 'agent-audio' },
    ...flags.map((busy): TurnEvent => ({ type: 'all-heard', busy })),
    ...flags.flatMap((pending) =>
      flags.flatMap((busy) =>
        flags.map((spoke): TurnEvent => ({ type: 'response-done', pending, busy, spoke })),
      ),
    ),
    { type: 'tools-answered' },
    { type: 'nothing-said' },
    { type: 'word-given', onsetMs: now, untilMs: now + 2 },
    ...(['stop', 'go-on', 'nothing'] as const).map(
      (means): TurnEvent => ({ type: 'word-known', means, onsetMs: now, endMs: now, givenMs: now }),
    ),
    { type: 'digit', digit: '1' },
    { type: 'typed', text: 'a word' },
    ...(['human', 'machine', 'machine_ready', 'fax', 'unknown'] as const).map(
      (verdict): TurnEvent => ({ type: 'machine-detection', verdict }),
    ),
    { type: 'beep' },
    ...(['agent_ended', 'digits'] as const).flatMap((reason) =>
      flags.map((pending): TurnEvent => ({ type: 'end-requested', reason, pending })),
    ),
    { type: 'finish', reason: 'draining', say: 'Goodbye.' },
    { type: 'finish', reason: 'hangup_requested', say: null },
  ];
}

/** The caller was listened to up to now, or his sound waits somewhere. */
const ticksAt = (now: number): TurnEvent[] =>
  flags.flatMap((tools) =>
    flags.flatMap((due) =>
      [0, RULES.stuckMs].flatMap((stillMs) =>
        [now, now - 1].map(
          (heardMs): TurnEvent => ({
            type: 'tick',
            tools,
            due,
            stillMs,
            quietMs: 0,
            heardMs,
            asked: due,
            told: !tools,
          }),
        ),
      ),
    ),
  );

/** What is wrong about a step; empty: nothing. */
function wrongs(before: TurnState, event: TurnEvent, { state, effects }: TurnStep, now: number): string[] {
  const wrong: string[] = [];
  const did = (what: string) => effects.filter((effect) => effect.do === what).length;
  const { at } = state.phase;
  const hold = holdOf(before);
  const told = effects.filter((effect) => 'heldMs' in effect && effect.heldMs === hold?.heldMs).length;
  if (hold !== null && holdOf(state) === null && told !== 1)
    wrong.push(`the end of a hold is told ${told} times`);
  if ((hold === null || holdOf(state) !== null) && did('resume') > 0) wrong.push('resumed without a hold');
  const after = holdOf(state);
  if (hold !== null && hold.pausedSince !== null && after !== null && after.pausedSince !== hold.pausedSince)
    wrong.push('what was paused is paused again, or only ducked');
  if (did('listen') !== (listens(state) && !listens(before) ? 1 : 0))
    wrong.push(did('listen') > 0 ? 'listens once more' : 'does not listen to the caller');
  if (
    listens(before) &&
    !listens(state) &&
    at !== 'over' &&
    did('commit') + did('release') + did('forget') === 0
  )
    wrong.push('what was heard of the caller is neither given nor forgotten');
  if (did('commit') + did('release') > 0 && !listens(before)) wrong.push('a turn without anything heard');
  const [was, is] = [isAskedEarly(before), isAskedEarly(state)];
  if (did('ask-early') !== (is && !was ? 1 : 0)) wrong.push(`begins ${did('ask-early')} answers early`);
  if (did('release') + did('throw-away') !== (was && !is ? 1 : 0))
    wrong.push('an answer begun early neither stays, is released nor is thrown away, or more than one of it');
  if (did('ask-early') > 0 && before.verdict !== 'human' && before.exchanges < 2)
    wrong.push('asks early what may be a machine');
  if (was && did('commit') > 0) wrong.push('a turn is given twice');
  const isGone = before.goneSince !== null;
  if (isGone && before.streaming) wrong.push('a line that is there is gone');
  if (isGone && event.type === 'tick') {
    const ended = before.phase.at === 'caller' && !listens(state);
    if (!ended) wrong.push(`time passes in a gap: ${effects.map((effect) => effect.do).join(' ')}`);
  }
  if (isGone && event.type === 'stream-started' && (!state.streaming || state.goneSince !== null))
    wrong.push('a line that is back is still gone');
  if (event.type === 'stream-paused' && effects.some((effect) => effect.do !== 'resume'))
    wrong.push('a line that goes has something done');
  if (!isGone && event.type === 'tick' && before.phase.at === 'caller' && before.phase.silentSince !== null) {
    const { silentSince } = before.phase;
    const wantedMs = endSilenceMs(before, event.asked === true, RULES);
    const listened = (event.heardMs ?? now) - silentSince >= wantedMs;
    if (did('commit') + did('release') > 0 && !listened && now - silentSince < wantedMs + RULES.unheardMs)
      wrong.push('a turn ends by time, while the sound of that time waits');
  }
  const cuts = new Set(['finish', 'machine-detection', 'beep', 'tick']);
  if (before.phase.at === 'disclosing' && did('interrupt') > 0 && !cuts.has(event.type))
    wrong.push(`the line before all else is cut by ${event.type}`);
  if (state.disclosure === 'due' && ['caller', 'agent', 'thinking', 'open', 'suspecting'].includes(at))
    wrong.push(`somebody is talked to who was not told: ${at}`);
  const byBeep = did('interrupt') + did('speak') + did('finish') > 0 && event.type === 'beep';
  if (byBeep && before.verdict === 'human' && before.phase.at !== 'waiting-for-beep')
    wrong.push('a beep is believed of a person');
  if (did('finish') > 1) wrong.push('ends twice');
  const ended = (at === 'over' || at === 'away') && at !== before.phase.at;
  if (ended !== (did('finish') === 1)) wrong.push(`${before.phase.at} -> ${at}, finish: ${did('finish')}`);
  if (at === 'thinking' && before.phase.at !== 'thinking' && event.type !== 'stream-started') {
    const asked = effects.some(
      (effect) =>
        effect.do === 'speak' ||
        effect.do === 'answer' ||
        effect.do === 'release' ||
        (effect.do !== 'say' && 'respond' in effect && effect.respond),
    );
    const comes = event.type === 'all-heard' && event.busy;
    if (!asked && !comes) wrong.push('waits for an answer that nobody asked for');
  }
  return wrong;
}

const isOver = ({ phase }: TurnState) => phase.at === 'over' || phase.at === 'away';

/**
 * Nothing more is told: how long until the end. Bounded, or `null`. `hears`: the silence of both sides is told; `listens`: the
 * caller's sound is listened to, or none of it any more.
 */
function endsAlone(
  node: Node,
  o: { tools: boolean; due: boolean; hears: boolean; listens: boolean },
): number | null {
  let { state } = node;
  let { tools } = o;
  let heldFor = 0;
  for (let waited = 0; waited <= BOUND; waited++) {
    if (isOver(state)) return waited;
    heldFor = holdOf(state) === null ? 0 : heldFor + 1;
    if (heldFor > RULES.holdLimitMs + 1) return null;
    const now = node.now + waited + 1;
    const quietMs = o.hears && state.voice.is === 'quiet' ? waited : 0;
    // What is held back is not heard: that it is not is no sign of a line that is stuck.
    const stillMs = holdOf(state) === null ? waited : 0;
    const heardMs = o.listens ? now : 0;
    const next = step(state, { type: 'tick', tools, due: o.due, stillMs, quietMs, heardMs }, now, RULES);
    if (next === null) continue;
    if (next.effects.some((effect) => effect.do === 'give-up-tools')) tools = false;
    state = next.state;
  }
  return null;
}

function pathOf(node: Node | null): string[] {
  return node === null ? [] : [...pathOf(node.from), JSON.stringify(node.event)];
}

/** Of all plans together. */
const drawing = new Drawing('floor', 'opening', ['beep', 'end-requested', 'finish', 'machine-detection']);
function drawnAs(state: TurnState): string {
  const hold = holdOf(state);
  if (hold === null) return state.phase.at;
  return hold.pausedSince === null ? 'ducked' : 'paused';
}

const whoIs = (greets: boolean, discloses = false) =>
  `${greets ? 'the agent' : 'the caller'}${discloses ? ' with its line' : ''}`;

for (const [plan, greets, discloses] of [
  ['none', true],
  ['none', false],
  ['hangup', true],
  ['leave_message', true],
  ['leave_message', true, true],
] as [Plan, boolean, boolean?][]) {
  t.test(`every event in every state: ${plan}, ${whoIs(greets, discloses)} first`, async (t) => {
    const state = openTurns({ greets, plan, discloses: discloses === true });
    const start: Node = { state, now: 0, key: keyOf(state), from: null, event: null };
    const seen = new Set([start.key]);
    const found: string[] = [];
    const phases = new Set<string>();
    let steps = 0;
    let longest = 0;

    for (let frontier = [start]; frontier.length > 0 && found.length === 0; ) {
      const further: Node[] = [];
      const tell = (node: Node, state: TurnState, event: TurnEvent, now: number) => {
        steps++;
        const next = step(state, event, now, RULES);
        if (next !== null) {
          drawing.arrow(drawnAs(state), event.type === 'tick' ? 'time' : event.type, drawnAs(next.state));
          for (const wrong of wrongs(state, event, next, now))
            found.push(`${wrong}: ${[...pathOf(node), JSON.stringify(event)].join(' ')}`);
        } else if (event.type !== 'tick') return;
        const after = moved(next?.state ?? state, aged(now));
        const key = keyOf(after);
        if (seen.has(key)) return;
        seen.add(key);
        // From there on it is as a talk that began without: explored above.
        if (after.disclosure === 'said' && after.phase.at !== 'disclosing')
          return void phases.add(after.phase.at);
        further.push({ state: after, now, key, from: node, event });
      };
      for (const node of frontier) {
        phases.add(node.state.phase.at);
        for (const event of eventsAt(node.now)) tell(node, node.state, event, node.now);
        const later = node.now < LAST ? node.now + 1 : node.now;
        const waited = node.now < LAST ? node.state : moved(node.state, earlier);
        for (const event of ticksAt(later)) tell(node, waited, event, later);
        const { phase } = node.state;
        // Before the stream is there the call only rings, and in a gap it waits for the next: the control thread ends both.
        if ((phase.at === 'opening' && phase.since === null) || node.state.goneSince !== null) continue;
        for (const tools of flags) {
          for (const due of flags) {
            for (const hears of flags) {
              for (const listens of flags) {
                const alone = { tools, due, hears, listens };
                const ms = endsAlone(node, alone);
                longest = Math.max(longest, ms ?? 0);
                if (ms === null) found.push(`no end, ${JSON.stringify(alone)}: ${pathOf(node).join(' ')}`);
              }
            }
          }
        }
      }
      frontier = further;
    }
    t.same(found.slice(0, 3), [], `${found.length} wrong`);
    t.ok(phases.size >= (discloses ? 8 : plan === 'leave_message' ? 11 : 8), [...phases].join(' '));
    t.comment(`note: ${plan}: ${seen.size} states, ${steps} steps, an end after ${longest} at most`);
  });
}

t.test('all of it is drawn', async (t) => drawing.hold(t));

t.test('nobody is heard: whatever the state, the call ends after the longest wait', async (t) => {
  const limit = deadAirMs(RULES);
  const start = step(openTurns({ greets: true, plan: 'none' }), { type: 'stream-started' }, 0, RULES)!.state;
  for (const phase of [
    { at: 'opening', since: 0 },
    { at: 'open', since: 0, prompts: 0 },
    { at: 'caller', since: 0, silentSince: null },
    { at: 'thinking', since: 0, retried: false, prompts: 0 },
    { at: 'agent', since: 0, prompts: 0, hold: null },
    { at: 'suspecting', since: 0, listening: false },
    { at: 'disclosing', asked: null, tries: 1, forMessage: false, over: null, typed: false },
    { at: 'waiting-for-beep', since: 0 },
    { at: 'closing', asked: null, reason: 'agent_ended', spokenOver: false },
    { at: 'lingering', since: 0 },
  ] as TurnState['phase'][]) {
    const dead = { type: 'tick', due: true, tools: true, stillMs: 0, quietMs: limit } as const;
    const ended = step({ ...start, phase }, dead, 0, RULES);
    t.match(ended?.effects.at(-1), { do: 'finish', reason: 'stalled' }, phase.at);
    const live = step({ ...start, phase }, { ...dead, quietMs: limit - 1 }, 0, RULES);
    t.notOk(
      live?.effects.some((effect) => effect.do === 'finish'),
      `${phase.at}: not before`,
    );
  }
  const gone: TurnState = {
    ...start,
    streaming: false,
    goneSince: 0,
    phase: { at: 'open', since: 0, prompts: 0 },
  };
  t.equal(step(gone, { type: 'tick', quietMs: 3_600_000 }, 0, RULES), null, 'in a gap of the line');
  const away: TurnState = { ...start, phase: { at: 'away' } };
  t.equal(step(away, { type: 'tick', quietMs: 3_600_000 }, 0, RULES), null, 'with somebody else');
});
