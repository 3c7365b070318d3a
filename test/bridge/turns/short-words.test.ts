// Short words over the agent's voice: when one is given to the model, and what its words do to the floor.
import t from 'tap';
import { WordAllowance, WordTimes } from '../../../bridge/turns/short-words.ts';
import { step } from '../../../bridge/turns/turn-state.ts';
import {
  holdOf,
  openTurns,
  TURN_RULES as R,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from '../../../bridge/turns/turns.ts';

type Timed = [number, TurnEvent];

function play(events: readonly Timed[], start: TurnState = openTurns({ greets: true, plan: 'none' })) {
  let state = start;
  const effects: TurnEffect[] = [];
  for (const [now, event] of events) {
    const next = step(state, event, now);
    if (next === null) continue;
    effects.push(...next.effects);
    state = next.state;
  }
  return { state, effects, did: effects.map((effect) => effect.do) };
}

/** The agent greets, and a word of 300 ms is said over it. */
const WORD: Timed[] = [
  [0, { type: 'model-ready', renewed: false }],
  [10, { type: 'stream-started' }],
  [400, { type: 'agent-audio' }],
  [2_080, { type: 'voice', voice: { is: 'starting', onsetMs: 2_000 } }],
  [2_120, { type: 'voice', voice: { is: 'speaking', onsetMs: 2_000, stoppedMs: 0 } }],
  [2_120, { type: 'speech-started', onsetMs: 2_000 }],
  [2_340, { type: 'voice', voice: { is: 'stopping', onsetMs: 2_000, quietMs: 2_300 } }],
  [2_530, { type: 'voice', voice: { is: 'quiet' } }],
  [2_530, { type: 'speech-ended', endMs: 2_300 }],
];
const GIVEN: Timed[] = [...WORD, [2_530, { type: 'word-given', onsetMs: 2_000, untilMs: 3_130 }]];
const LET_GO: Timed = [2_300 + R.quietMs + 20, { type: 'tick', heardMs: 2_300 + R.quietMs + 20 }];
const means = (means: 'stop' | 'go-on' | 'nothing', givenMs = 2_530): TurnEvent => ({
  type: 'word-known',
  means,
  onsetMs: 2_000,
  endMs: 2_300,
  givenMs,
});

t.test('a burst is to be weighed as soon as it is over, and the agent goes on as it would', async (t) => {
  t.match(play(WORD).effects.at(-1), { do: 'weigh', onsetMs: 2_000, endMs: 2_300 });
  t.same(play([...GIVEN, LET_GO]).did.slice(-2), ['weigh', 'resume']);
});

const STOPPING: Timed[] = [...WORD.slice(0, -2), [2_300 + R.wordEndMs, { type: 'tick' }]];
const GIVEN_EARLY: Timed[] = [
  ...STOPPING,
  [2_300 + R.wordEndMs, { type: 'word-given', onsetMs: 2_000, untilMs: 3_050 }],
];

t.test('a stop that may be its end: it is asked for then, once', async (t) => {
  const { effects } = play(STOPPING);
  t.match(effects.at(-1), { do: 'weigh', onsetMs: 2_000, endMs: 2_300 });
  const over = play([...GIVEN_EARLY, ...WORD.slice(-2)]);
  t.equal(over.did.filter((what) => what === 'weigh').length, 1);
  t.match(over.state, { burst: { onsetMs: 2_000, endMs: 2_300, given: true } });
  const refused = play([...STOPPING, ...WORD.slice(-2)]);
  t.equal(refused.did.filter((what) => what === 'weigh').length, 1, 'nor when nobody was asked');
  t.not(refused.state.burst?.given, true);
});

t.test('a stop that was none: what goes on is asked for at its own end', async (t) => {
  const on: Timed[] = [
    [2_480, { type: 'voice', voice: { is: 'speaking', onsetMs: 2_000, stoppedMs: 160 } }],
    [2_600, { type: 'voice', voice: { is: 'stopping', onsetMs: 2_000, quietMs: 2_580 } }],
    [2_580 + R.wordEndMs, { type: 'tick' }],
  ];
  const { effects } = play([...GIVEN_EARLY, ...on]);
  t.match(effects.slice(-2), [
    { do: 'weigh', onsetMs: 2_000, endMs: 2_300 },
    { do: 'weigh', onsetMs: 2_000, endMs: 2_580 },
  ]);
});

t.test('a voice that a word has paused waits until the word is known, or should be', async (t) => {
  const long: Timed[] = [
    ...WORD.slice(0, -3),
    [2_000 + R.pauseMs, { type: 'tick' }],
    [2_500, { type: 'voice', voice: { is: 'stopping', onsetMs: 2_000, quietMs: 2_480 } }],
    [2_480 + R.wordEndMs, { type: 'tick' }],
    [2_480 + R.wordEndMs, { type: 'word-given', onsetMs: 2_000, untilMs: 3_400 }],
    [2_700, { type: 'voice', voice: { is: 'quiet' } }],
    [2_700, { type: 'speech-ended', endMs: 2_480 }],
  ];
  const at = (ms: number): Timed => [ms, { type: 'tick' }];
  const kept = play([...long, at(3_399)]);
  t.match(holdOf(kept.state), { pausedSince: 2_000 + R.pauseMs }, 'as long as it is not');
  t.equal(kept.state.assentMs, 0);
  const stopped = play([[3_300, means('stop', 2_630)]], kept.state);
  t.match(stopped.effects, [{ do: 'interrupt' }, { do: 'floor' }, { do: 'answer' }]);
  for (const what of ['go-on', 'nothing'] as const) {
    const { did, state } = play(
      [
        [3_200, means(what, 2_630)],
        [3_220, { type: 'tick' }],
      ],
      kept.state,
    );
    t.same(did, ['resume'], what);
    t.equal(state.assentMs, 480, 'this caller says such words');
  }
  t.equal(play([...long, at(3_400)]).did.at(-1), 'resume', 'not for ever');
});

t.test('how long the words of a call take: of the last ones, how soon most were there', async (t) => {
  const times = new WordTimes();
  const first = times.usualMs();
  t.ok(first > 0);
  for (const ms of [400, 900, 300, 500, 450]) times.took(ms);
  t.equal(times.usualMs(), 500);
  for (let i = 0; i < 20; i++) times.took(350);
  t.equal(times.usualMs(), 350, 'what was long ago counts no more');
  for (let i = 0; i < 20; i++) times.took(9_000);
  t.equal(times.usualMs(), 1_000, 'for one that hangs nobody waits');
});

t.test('what let the agent go on and meant stop is no word of assent', async (t) => {
  const { state } = play([...GIVEN, LET_GO]);
  t.equal(state.assentMs, 300);
  t.equal(play([[3_200, means('stop')]], state).state.assentMs, 0);
});

t.test('a word that stops: cut like any interruption, and answered', async (t) => {
  const { state, effects } = play([...GIVEN, LET_GO, [3_200, means('stop')]]);
  t.match(effects.slice(-3), [
    { do: 'interrupt', onsetMs: 2_000 },
    { do: 'floor', floor: 'caller' },
    { do: 'answer', speechEndMs: 2_300, brokeIn: true },
  ]);
  t.match(state, { phase: { at: 'thinking', since: 3_200 }, answer: 'due', spokeUntil: 2_300, burst: null });
  const held = play([...GIVEN, [2_600, means('stop')]]).effects;
  t.match(held.at(-3), { do: 'interrupt', heldMs: 2_080 }, 'while it is still held');
});

t.test(
  'an assent, nothing, words that come too late or for an answer that is over stop nothing',
  async (t) => {
    for (const [name, event] of [
      ['assent', [3_200, means('go-on')]],
      ['nothing', [3_200, means('nothing')]],
      ['late', [2_531 + R.wordWithinMs, means('stop')]],
      ['of an answer before', [3_200, means('stop', 399)]],
    ] as [string, Timed][]) {
      const { state, did } = play([...GIVEN, LET_GO, event]);
      t.same(did.slice(-2), ['weigh', 'resume'], name);
      t.equal(state.phase.at, 'agent', name);
    }
  },
);

t.test('where nothing interrupts, words do not either', async (t) => {
  for (const [name, event] of [
    ['closing', { type: 'end-requested', reason: 'agent_ended', pending: true }],
    ['away', { type: 'end-requested', reason: 'digits', pending: false }],
    ['over', { type: 'finish', reason: 'hangup_requested', say: null }],
  ] as [string, TurnEvent][]) {
    const { state } = play([...GIVEN, LET_GO, [3_000, event]]);
    t.equal(step(state, means('stop'), 3_200), null, name);
  }
});

t.test('who goes on speaking has an ordinary turn, from after the word', async (t) => {
  const on: Timed[] = [
    [2_650, { type: 'voice', voice: { is: 'starting', onsetMs: 2_600 } }],
    [2_700, { type: 'voice', voice: { is: 'speaking', onsetMs: 2_600, stoppedMs: 0 } }],
    [2_700, { type: 'speech-started', onsetMs: 2_600 }],
  ];
  const known = play([...GIVEN, ...on, [2_900, means('stop')]]);
  t.match(known.effects.slice(-3), [
    { do: 'interrupt' },
    { do: 'listen', fromMs: 2_600 },
    { do: 'floor', floor: 'caller' },
  ]);
  t.match(known.state.phase, { at: 'caller' });
  const first = play([...GIVEN, ...on, [3_300, { type: 'tick', heardMs: 3_300 }]]);
  t.match(
    first.effects.find(({ do: what }) => what === 'listen'),
    { fromMs: 2_600 },
    'nothing said twice',
  );
  t.equal(step(first.state, means('stop'), 3_400), null, 'and its words interrupt nothing any more');
  const unasked = play([...WORD, ...on, [3_300, { type: 'tick', heardMs: 3_300 }]]);
  t.match(
    unasked.effects.find(({ do: what }) => what === 'listen'),
    { fromMs: 2_000 },
  );
});

t.test('a second word while the first is out: each is given, each may stop', async (t) => {
  const second: Timed[] = [
    [2_850, { type: 'voice', voice: { is: 'starting', onsetMs: 2_800 } }],
    [2_900, { type: 'voice', voice: { is: 'speaking', onsetMs: 2_800, stoppedMs: 0 } }],
    [2_900, { type: 'speech-started', onsetMs: 2_800 }],
    [3_200, { type: 'voice', voice: { is: 'quiet' } }],
    [3_200, { type: 'speech-ended', endMs: 3_000 }],
  ];
  const { effects, state } = play([...GIVEN, ...second]);
  t.match(effects.at(-1), { do: 'weigh', onsetMs: 2_800, endMs: 3_000 });
  const both = play(
    [
      [3_200, { type: 'word-given', onsetMs: 2_800, untilMs: 3_800 }],
      [3_300, means('go-on')],
    ],
    state,
  );
  t.match(both.state, { burst: { onsetMs: 2_800, given: true } });
  const stopped = play(
    [[3_400, { ...means('stop', 3_200), onsetMs: 2_800, endMs: 3_000 } as TurnEvent]],
    both.state,
  );
  t.equal(stopped.state.phase.at, 'thinking');
});

t.test('a word just before the end of what the agent says answers it, and is not given again', async (t) => {
  const end: Timed = [3_000, { type: 'all-heard', busy: false }];
  const { effects, state } = play([...GIVEN, LET_GO, end]);
  t.match(effects.slice(-2), [
    { do: 'floor', floor: 'caller' },
    { do: 'answer', speechEndMs: 2_300, brokeIn: false },
  ]);
  t.match(state, { phase: { at: 'thinking' }, answer: 'due', exchanges: 1 });
  t.equal(play([...WORD, LET_GO, end]).state.phase.at, 'caller', 'not given, it is listened to');
  const nothing = play([...GIVEN, LET_GO, [2_900, means('nothing')], end]);
  t.match(nothing.state, { phase: { at: 'open' } }, 'no word was in it');
  const busy = play([...GIVEN, LET_GO, [3_000, { type: 'all-heard', busy: true }]]);
  t.match(busy.state, { phase: { at: 'thinking' } });
});

t.test('a word of which the agent hears when it has finished is answered, once', async (t) => {
  const later: Timed[] = [
    [2_530 + 1_000, { type: 'all-heard', busy: false }],
    [2_530 + 1_200, means('stop')],
  ];
  const { state, effects } = play([...GIVEN, LET_GO, ...later]);
  t.match(effects.at(-1), { do: 'answer', speechEndMs: 2_300, brokeIn: false });
  const answered: Timed[] = [
    [4_000, { type: 'agent-audio' }],
    [4_500, { type: 'all-heard', busy: false }],
  ];
  t.equal(step(play(answered, state).state, means('stop'), 4_600), null);
  const assent = play([...GIVEN, LET_GO, later[0]!, [3_800, means('go-on')]]);
  t.equal(assent.state.phase.at, 'open');
});

t.test('which words are worth their price', async (t) => {
  const allowance = new WordAllowance();
  t.notOk(allowance.take({ onsetMs: 0, endMs: 60 }, 300), 'a click');
  const said = Array.from({ length: 40 }, (_, i) => allowance.take({ onsetMs: 0, endMs: 300 }, 1_000 * i));
  t.equal(said.filter(Boolean).length, 12, 'a dog that barks');
  t.ok(said.slice(0, 12).every(Boolean));
  t.ok(allowance.take({ onsetMs: 0, endMs: 300 }, 60_001));
});
