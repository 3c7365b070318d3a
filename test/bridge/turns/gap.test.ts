// A gap of the line, by table: what was being said is answered, nothing happens by itself meanwhile, and everything goes on after it.
import t from 'tap';
import { step } from '../../../bridge/turns/turn-state.ts';
import { openTurns, type TurnEffect, type TurnEvent, type TurnState } from '../../../bridge/turns/turns.ts';

/** Plays events given as [milliseconds, event] and answers every effect with its time. */
function play(start: TurnState, events: [number, TurnEvent][]) {
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
  openTurns({ greets: true, plan: 'none', ...o });
const GREETED: [number, TurnEvent][] = [
  [0, { type: 'model-ready', renewed: false }],
  [10, { type: 'stream-started' }],
  [400, { type: 'agent-audio' }],
  [2_000, { type: 'response-done', pending: true, busy: false, spoke: true }],
  [5_000, { type: 'all-heard', busy: false }],
];

/** The caller speaks from 6,000 on. */
const SPEAKS: [number, TurnEvent][] = [
  ...GREETED,
  [6_200, { type: 'voice', voice: { is: 'speaking', onsetMs: 6_000, stoppedMs: 0 } }],
  [6_200, { type: 'speech-started', onsetMs: 6_000 }],
];
const GONE: TurnEvent = { type: 'stream-paused' };
const BACK: TurnEvent = { type: 'stream-started' };
const DEAD: TurnEvent = { type: 'tick', due: true, stillMs: 600_000, quietMs: 600_000 };

t.test('a line that is lost while the caller speaks: what he has said is answered', async (t) => {
  for (const [how, over, at] of [
    ['a second later', { type: 'tick', due: false }, 9_000],
    ['or with the next one', BACK, 8_300],
  ] as [string, TurnEvent, number][]) {
    const { effects, state } = play(fresh(), [
      ...SPEAKS,
      [8_000, GONE],
      [8_200, { type: 'tick', due: false }],
      ...((over.type === 'tick' ? [[8_999, over]] : []) as [number, TurnEvent][]),
      [at, over],
    ]);
    t.match(effects.slice(-1), [[at, { do: 'commit', respond: true, speechEndMs: 8_000 }]], how);
    t.equal(effects.filter(([now]) => now > 6_200).length, 1, 'and nobody is asked before');
    t.equal(state.phase.at, 'thinking');
  }
  const paused = play(fresh(), [
    ...SPEAKS,
    [7_000, { type: 'speech-ended', endMs: 6_900 }],
    [7_200, GONE],
    [7_900, { type: 'tick', due: false }],
    [8_200, { type: 'tick', due: false }],
  ]);
  t.match(paused.effects.at(-1), [8_200, { do: 'commit', speechEndMs: 6_900 }], 'to his last word');
});

t.test('who goes on after a gap has not finished his turn, and has not paused so long', async (t) => {
  const { effects, state } = play(fresh(), [
    ...SPEAKS,
    [8_000, GONE],
    [8_900, BACK],
    [9_300, { type: 'speech-started', onsetMs: 8_980 }],
  ]);
  t.match(
    effects.slice(-3).map(([, effect]) => effect),
    [{ do: 'interrupt' }, { do: 'listen', fromMs: 8_980 }, { do: 'floor', floor: 'caller' }],
  );
  t.equal(state.pauseMs, 0);
});

t.test('an answer begun early is let go when the line is gone for a second', async (t) => {
  const { did } = play(fresh(), [
    ...SPEAKS,
    [7_000, { type: 'voice', voice: { is: 'quiet' } }],
    [7_000, { type: 'speech-ended', endMs: 6_900 }],
    [7_200, { type: 'tick', due: false }],
    [7_300, GONE],
    [8_300, { type: 'tick', due: true }],
  ]);
  t.same(did.slice(-2), ['ask-early', 'release']);
});

/** A state of each kind that waits for something, and when it was reached. */
const WAITING: [string, TurnState, number][] = [
  ['open', play(fresh(), GREETED).state, 5_000],
  ['open, keys pressed', play(fresh(), [...GREETED, [5_000, { type: 'digit', digit: '1' }]]).state, 5_000],
  [
    'thinking',
    play(fresh(), [...SPEAKS, [8_000, { type: 'speech-ended', endMs: 7_900 }], [8_700, { type: 'tick' }]])
      .state,
    8_700,
  ],
  ['agent', play(fresh(), GREETED.slice(0, 4)).state, 2_000],
  [
    'closing',
    play(fresh(), [
      ...GREETED.slice(0, 4),
      [2_000, { type: 'end-requested', reason: 'agent_ended', pending: true }],
    ]).state,
    2_000,
  ],
  [
    'closing, asked',
    play(fresh(), [...GREETED, [6_000, { type: 'finish', reason: 'draining', say: 'Goodbye.' }]]).state,
    6_000,
  ],
  [
    'waiting for the beep',
    play(fresh({ plan: 'leave_message' }), [
      ...GREETED.slice(0, 3),
      [1_000, { type: 'machine-detection', verdict: 'machine' }],
    ]).state,
    1_000,
  ],
];
for (const [name, state, from] of WAITING)
  t.test(
    `in a gap nothing happens by itself, and what is waited for goes on after it: ${name}`,
    async (t) => {
      const at = from + 300;
      const gapMs = 19_000;
      const backMs = 2_500;
      const gap: [number, TurnEvent][] = [[at, GONE]];
      for (let now = at + 20; now < at + gapMs; now += 500)
        gap.push([now, { ...DEAD, tools: now % 1_000 === 0 }]);
      const gone = play(state, gap);
      t.same(gone.did, []);
      t.equal(gone.state.phase.at, state.phase.at);
      t.equal(gone.state.streaming, false);
      // What comes after a short gap, and when, is what would have come without one.
      const after = (gapMs: number): [number, TurnEvent][] => {
        const ticks: [number, TurnEvent][] = [];
        for (let now = at + gapMs; now < at + gapMs + 60_000; now += 100)
          ticks.push([now, { type: 'tick', due: true, heardMs: now }]);
        return ticks;
      };
      const short = play(state, [[at, GONE], [at + backMs, BACK], ...after(backMs)]);
      const without = play(state, after(0));
      t.ok(without.effects.length > 0 || name === 'agent' || name === 'closing', 'something comes of it');
      t.same(
        short.effects,
        without.effects.map(([now, effect]) => [now + backMs, effect]),
      );
    },
  );

t.test('sound over the agent`s voice when the line goes is nothing, and nothing interrupts', async (t) => {
  const { effects, state } = play(fresh(), [
    ...GREETED.slice(0, 3),
    [900, { type: 'voice', voice: { is: 'starting', onsetMs: 870 } }],
    [1_000, { type: 'voice', voice: { is: 'speaking', onsetMs: 870, stoppedMs: 0 } }],
    [1_000, { type: 'speech-started', onsetMs: 870 }],
    [1_400, GONE],
    [1_700, { type: 'tick', due: true }],
    [9_000, { type: 'tick', due: true }],
    [9_100, BACK],
    [9_200, { type: 'tick', due: true }],
  ]);
  t.match(effects.slice(-1), [[1_400, { do: 'resume', heldMs: 900 }]]);
  t.same([state.phase.at, state.voice.is, state.burst], ['agent', 'quiet', null]);
});

t.test('what the model says in a gap is said after it', async (t) => {
  const { did, state } = play(fresh(), [
    ...SPEAKS,
    [8_000, GONE],
    [9_000, { type: 'tick', due: false }],
    [9_500, { type: 'agent-audio' }],
    [9_900, { type: 'response-done', pending: true, busy: false, spoke: true }],
    [15_000, DEAD],
    [16_000, BACK],
    [16_020, { type: 'tick', due: true }],
    [18_000, { type: 'all-heard', busy: false }],
  ]);
  t.same(did.slice(-3), ['commit', 'floor', 'floor']);
  t.match(state.phase, { at: 'open', since: 18_000 });
});

t.test('a line that was gone long is spoken of, where nothing else is to be said', async (t) => {
  const back = (ms: number, before: [number, TurnEvent][] = GREETED) =>
    play(fresh(), [...before, [7_000, GONE], [7_000 + ms, BACK]]).effects.at(-1);
  t.same(back(3_000), [10_000, { do: 'speak', what: 'line-back' }]);
  t.match(back(2_999), [5_000, { do: 'floor' }], 'a short one is not');
  t.match(back(9_000, SPEAKS), [16_000, { do: 'commit', respond: true }], 'an answer is due');
  t.match(back(9_000, GREETED.slice(0, 4)), [400, { do: 'floor' }], 'the agent goes on');
  t.match(
    back(9_000, [...GREETED, [6_900, { type: 'digit', digit: '1' }]]),
    [5_000, { do: 'floor' }],
    'keys were pressed',
  );
  const idle = play(fresh(), [
    ...GREETED,
    [17_000, { type: 'tick' }],
    [17_500, { type: 'agent-audio' }],
    [19_000, { type: 'all-heard', busy: false }],
  ]);
  const told = play(idle.state, [
    [20_000, GONE],
    [30_000, BACK],
    [30_500, { type: 'agent-audio' }],
    [32_000, { type: 'all-heard', busy: false }],
  ]);
  t.match(told.state.phase, { at: 'open', prompts: 1 }, 'the prompts before it count');
});

t.test('a line that is lost before the talk has begun: it begins with the next', async (t) => {
  const lost = play(fresh(), [
    [0, { type: 'stream-started' }],
    [5_000, GONE],
    [60_000, { type: 'tick' }],
  ]);
  t.same(lost.did, [], 'a model that is not there is waited for from then on');
  const begun = play(lost.state, [
    [61_000, { type: 'model-ready', renewed: false }],
    [62_000, BACK],
  ]);
  t.match(begun.effects, [[62_000, { do: 'speak', what: 'greeting' }]]);
});

t.test('a line that is to leave in a gap, for keys or another party, leaves when it is back', async (t) => {
  for (const [how, ended] of [
    ['nothing is to be heard', [[6_100, { type: 'end-requested', reason: 'digits', pending: false }]]],
    [
      'what was said is heard already, and the model says so late',
      [
        [6_100, { type: 'end-requested', reason: 'transferred', pending: true }],
        [6_200, { type: 'response-done', pending: false, busy: false, spoke: true }],
        [6_300, { type: 'all-heard', busy: false }],
      ],
    ],
  ] as [string, [number, TurnEvent][]][]) {
    const gone = play(fresh(), [...GREETED, [6_000, GONE], ...ended, [9_000, { type: 'tick', due: false }]]);
    t.notOk(gone.did.includes('finish'), how);
    const back = play(gone.state, [
      [9_100, BACK],
      [9_120, { type: 'tick', due: false }],
    ]);
    t.match(back.effects, [[9_120, { do: 'finish' }]], how);
    t.same([back.state.phase.at, back.state.goneSince], ['away', null]);
  }
});

t.test('a line that was lost on the way out comes back as from any', async (t) => {
  const { state } = play(fresh(), [
    ...GREETED,
    [6_000, { type: 'end-requested', reason: 'digits', pending: false }],
    [6_100, GONE],
    [9_000, DEAD],
    [12_000, BACK],
  ]);
  t.same([state.phase.at, state.streaming, state.goneSince], ['thinking', true, null]);
});

t.test(
  'who ends his own talk in a gap has ended it; a last line is said when the line is back',
  async (t) => {
    const ended = play(fresh(), [
      ...GREETED,
      [6_000, GONE],
      [6_100, { type: 'end-requested', reason: 'agent_ended', pending: false }],
    ]);
    t.same([ended.did.at(-1), ended.state.phase.at], ['finish', 'over']);
    const drained = play(fresh(), [
      ...GREETED,
      [6_000, GONE],
      [6_100, { type: 'finish', reason: 'draining', say: 'Goodbye.' }],
      [6_900, { type: 'agent-audio' }],
      [7_500, { type: 'response-done', pending: true, busy: false, spoke: true }],
      [24_000, DEAD],
    ]);
    t.same(drained.did.slice(-3), ['interrupt', 'say', 'floor']);
    t.equal(drained.state.phase.at, 'closing');
    const heard = play(drained.state, [
      [24_500, BACK],
      [26_000, { type: 'all-heard', busy: false }],
    ]);
    t.match(heard.effects, [[26_000, { do: 'finish', reason: 'draining' }]]);
  },
);
