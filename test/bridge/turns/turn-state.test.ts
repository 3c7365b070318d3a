// Every transition of the floor, by table.
import t from 'tap';
import { step } from '../../../bridge/turns/turn-state.ts';
import {
  holdOf,
  openTurns,
  TURN_RULES,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from '../../../bridge/turns/turns.ts';

/** Plays events given as [milliseconds, event] and answers every effect with its time; that a hold begins is one of them. */
function play(start: TurnState, events: [number, TurnEvent][]) {
  let state = start;
  const effects: [number, TurnEffect | { do: 'hold'; onsetMs: number }][] = [];
  for (const [now, event] of events) {
    const result = step(state, event, now);
    if (result === null) continue;
    for (const effect of result.effects) effects.push([now, effect]);
    const hold = holdOf(result.state);
    if (hold !== null && holdOf(state) === null) effects.push([now, { do: 'hold', onsetMs: hold.heldForMs }]);
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

t.test('the greeting waits for both the stream and the model', async (t) => {
  t.same(play(fresh(), [[0, { type: 'stream-started' }]]).did, []);
  t.same(play(fresh(), [[0, { type: 'model-ready', renewed: false }]]).did, []);
  const both = play(fresh(), GREETED.slice(0, 2));
  t.match(both.effects, [[10, { do: 'speak', what: 'greeting' }]]);
  t.same(play(fresh({ greets: false }), GREETED.slice(0, 2)).did, ['floor']);
});

t.test(
  'a call that goes on here: an answer that is owed, or that it was cut off, and no greeting',
  async (t) => {
    const begun = (cutOff: NonNullable<ReturnType<typeof fresh>['cutOff']>, atMs: number) =>
      play(fresh({ cutOff }), [
        [60_000, { type: 'model-ready', renewed: false }],
        [atMs, { type: 'stream-started' }],
      ]).effects;
    const owed = { lostAtMs: 58_000, owed: true };
    t.match(begun(owed, 60_999), [[60_999, { do: 'speak', what: 'owed' }]]);
    t.match(begun(owed, 61_000), [[61_000, { do: 'speak', what: 'cut-off' }]], 'he has waited');
    t.match(
      begun({ ...owed, owed: false }, 60_500),
      [[60_500, { do: 'speak', what: 'cut-off' }]],
      'the agent was speaking, or had ended with a question',
    );
    const noise = play(fresh({ cutOff: owed }), [
      [60_000, { type: 'model-ready', renewed: false }],
      [60_500, { type: 'stream-started' }],
      [60_800, { type: 'speech-started', onsetMs: 60_600 }],
      [61_100, { type: 'speech-taken-back', onsetMs: 60_600 }],
    ]);
    t.match(noise.effects.at(-1), [61_100, { do: 'speak', what: 'cut-off' }], 'asked again, not greeted');
  },
);

t.test("a caller's turn: listen from the onset, commit after the silence, answer", async (t) => {
  const { effects, state } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [8_000, { type: 'speech-ended', endMs: 7_800 }],
    [8_200, { type: 'tick' }],
    [8_450, { type: 'tick' }],
  ]);
  const after = effects.filter(([now]) => now > 5_000);
  t.match(after, [
    [6_200, { do: 'listen', fromMs: 6_000 }],
    [6_200, { do: 'floor', floor: 'caller' }],
    [8_450, { do: 'commit', respond: true, speechEndMs: 7_800 }],
  ]);
  t.equal(state.phase.at, 'thinking');
});

t.test('speech that goes on within the silence is one turn', async (t) => {
  const { did } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [8_000, { type: 'speech-ended', endMs: 7_800 }],
    [8_300, { type: 'speech-started', onsetMs: 8_200 }],
    [8_500, { type: 'tick' }],
    [9_000, { type: 'speech-ended', endMs: 8_900 }],
    [9_550, { type: 'tick' }],
  ]);
  t.equal(did.filter((effect) => effect === 'commit').length, 1);
  t.equal(did.filter((effect) => effect === 'listen').length, 1);
});

t.test('a line`s noise that was taken for speech is forgotten', async (t) => {
  const early = play(fresh({ plan: 'hangup' }), [
    ...GREETED.slice(0, 2),
    [350, { type: 'speech-started', onsetMs: 60 }],
    [1_030, { type: 'speech-taken-back', onsetMs: 60 }],
    [3_000, { type: 'tick' }],
  ]);
  t.match(early.effects.slice(-2), [
    [1_030, { do: 'forget' }],
    [1_030, { do: 'speak', what: 'greeting' }],
  ]);
  t.equal(early.state.verdict, 'silent');

  const silent = play(fresh({ greets: false }), [
    ...GREETED.slice(0, 2),
    [350, { type: 'speech-started', onsetMs: 60 }],
    [1_030, { type: 'speech-taken-back', onsetMs: 60 }],
    [3_000, { type: 'tick' }],
  ]);
  t.same(silent.did.slice(-2), ['forget', 'floor']);
  t.equal(silent.state.phase.at, 'open');

  const after = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [7_000, { type: 'speech-ended', endMs: 6_800 }],
    [7_200, { type: 'speech-started', onsetMs: 7_100 }],
    [7_400, { type: 'speech-taken-back', onsetMs: 7_100 }],
    [9_000, { type: 'tick' }],
  ]);
  t.equal(after.did.at(-1), 'commit', 'the words before it are answered');

  const over = play(fresh(), [
    ...GREETED.slice(0, 3),
    [900, { type: 'voice', voice: { is: 'starting', onsetMs: 700 } }],
    [1_000, { type: 'voice', voice: { is: 'speaking', onsetMs: 700, stoppedMs: 0 } }],
    [1_000, { type: 'speech-started', onsetMs: 700 }],
    [1_030, { type: 'voice', voice: { is: 'quiet' } }],
    [1_030, { type: 'speech-taken-back', onsetMs: 700 }],
  ]);
  t.equal(over.did.at(-1), 'resume');
});

/** Speech over the greeting: begins at 900, is known for speech at 1100. */
const OVER: [number, TurnEvent][] = [
  ...GREETED.slice(0, 3),
  [980, { type: 'voice', voice: { is: 'starting', onsetMs: 900 } }],
  [1_100, { type: 'voice', voice: { is: 'speaking', onsetMs: 900, stoppedMs: 0 } }],
  [1_100, { type: 'speech-started', onsetMs: 900 }],
];
const R = TURN_RULES;
const { confirmMs } = R;

t.test('barge-in: held at the onset, interrupted once the speech has lasted, then listened to', async (t) => {
  const { effects } = play(fresh(), [
    ...OVER,
    [900 + confirmMs - 1, { type: 'tick' }],
    [900 + confirmMs, { type: 'tick' }],
  ]);
  t.match(effects.slice(-4), [
    [980, { do: 'hold', onsetMs: 900 }],
    [900 + confirmMs, { do: 'interrupt', onsetMs: 900, heldMs: 980, pausedMs: 900 + confirmMs - 1 }],
    [900 + confirmMs, { do: 'listen', fromMs: 900 }],
    [900 + confirmMs, { do: 'floor', floor: 'caller' }],
  ]);
});

t.test('speech over the agent`s voice pauses it once it has lasted', async (t) => {
  const pausedSince = (now: number) =>
    holdOf(play(fresh(), [...OVER, [now, { type: 'tick' }]]).state)?.pausedSince;
  const lastsMs = 900 + R.pauseMs;
  t.equal(pausedSince(lastsMs - 1), null);
  t.equal(pausedSince(lastsMs), lastsMs);
  const lasted: [number, TurnEvent][] = [...OVER, [lastsMs, { type: 'tick' }]];
  const { effects } = play(fresh(), [...lasted, [900 + confirmMs, { type: 'tick' }]]);
  t.match(effects.at(-3), [900 + confirmMs, { do: 'interrupt', heldMs: 980, pausedMs: lastsMs }]);
  const short = play(fresh(), [
    ...lasted,
    [lastsMs + 200, { type: 'voice', voice: { is: 'quiet' } }],
    [lastsMs + 200, { type: 'speech-ended', endMs: lastsMs }],
    [lastsMs + R.quietMs - 1, { type: 'tick' }],
    [lastsMs + R.quietMs, { type: 'tick' }],
  ]);
  t.match(short.effects.at(-1), [lastsMs + R.quietMs, { do: 'resume', heldMs: 980, pausedMs: lastsMs }]);
});

t.test('whoever seems to begin to speak as the answer comes: it does not begin beneath him', async (t) => {
  const { state } = play(fresh(), [
    ...GREETED.slice(0, 2),
    [350, { type: 'voice', voice: { is: 'starting', onsetMs: 300 } }],
    [400, { type: 'agent-audio' }],
  ]);
  t.match(holdOf(state), { heldMs: 400, pausedSince: 400 });
});

t.test('a cough of several bursts over the agent`s voice does not interrupt it', async (t) => {
  const { did, state } = play(fresh(), [
    ...OVER,
    [1_250, { type: 'voice', voice: { is: 'stopping', onsetMs: 900, quietMs: 1_150 } }],
    [1_340, { type: 'voice', voice: { is: 'speaking', onsetMs: 900, stoppedMs: 160 } }],
    [900 + confirmMs + 20, { type: 'tick' }],
    [1_850, { type: 'voice', voice: { is: 'quiet' } }],
    [1_850, { type: 'speech-ended', endMs: 1_640 }],
    [1_640 + R.quietMs, { type: 'tick' }],
  ]);
  t.notOk(did.includes('interrupt'));
  t.equal(did.at(-1), 'resume');
  t.match(state, { phase: { at: 'agent', hold: null } });
});

t.test('a click, a breath: the hold is taken back as soon as it is known for no speech', async (t) => {
  const { effects, state } = play(fresh({ plan: 'hangup' }), [
    ...GREETED.slice(0, 3),
    [980, { type: 'voice', voice: { is: 'starting', onsetMs: 900 } }],
    [1_020, { type: 'voice', voice: { is: 'quiet' } }],
    [1_500, { type: 'tick' }],
  ]);
  t.match(effects.slice(-2), [
    [980, { do: 'hold' }],
    [1_020, { do: 'resume' }],
  ]);
  t.match(state, { phase: { at: 'agent', hold: null }, burst: null, verdict: 'silent' });
});

t.test('a sound that lasted a little and was no speech may be a faint word: it is waited for', async (t) => {
  const { effects } = play(fresh(), [
    ...GREETED.slice(0, 3),
    [980, { type: 'voice', voice: { is: 'starting', onsetMs: 900 } }],
    [1_060, { type: 'voice', voice: { is: 'quiet' } }],
    [1_060 + R.fadeMs - 1, { type: 'tick' }],
    [1_060 + R.fadeMs, { type: 'tick' }],
  ]);
  t.match(effects.slice(-2), [
    [980, { do: 'hold' }],
    [1_060 + R.fadeMs, { do: 'resume' }],
  ]);
});

t.test('sound that is neither speech nor silence holds nobody for long', async (t) => {
  const { did } = play(fresh(), [
    ...GREETED.slice(0, 3),
    [980, { type: 'voice', voice: { is: 'starting', onsetMs: 900 } }],
    [980 + confirmMs, { type: 'tick' }],
  ]);
  t.same(did.slice(-2), ['hold', 'resume']);
});

const MHM: [number, TurnEvent][] = [
  ...OVER,
  [1_300, { type: 'voice', voice: { is: 'stopping', onsetMs: 900, quietMs: 1_250 } }],
  [1_440, { type: 'tick' }],
  [1_450, { type: 'voice', voice: { is: 'quiet' } }],
  [1_450, { type: 'speech-ended', endMs: 1_250 }],
];

t.test('a word of assent is taken back, and is no turn while the agent speaks', async (t) => {
  const { effects, state } = play(fresh(), [
    ...MHM,
    [1_250 + R.quietMs - 1, { type: 'tick' }],
    [1_250 + R.quietMs, { type: 'tick' }],
    [4_000, { type: 'tick' }],
  ]);
  t.match(effects.at(-1)?.[1], { do: 'resume', onsetMs: 900, heldMs: 980, pausedMs: null });
  t.same(
    effects.slice(-3).map(([now, { do: what }]) => [now, what]),
    [
      [980, 'hold'],
      [1_440, 'weigh'],
      [1_250 + R.quietMs, 'resume'],
    ],
  );
  const later = play(state, [
    [6_000, { type: 'all-heard', busy: false }],
    [9_000, { type: 'tick' }],
  ]);
  t.same(later.did, ['floor'], 'nor long after');
});

t.test('a short word at the end of what the agent said answers it', async (t) => {
  const { effects } = play(fresh(), [
    ...MHM,
    [1_800, { type: 'all-heard', busy: false }],
    [1_900, { type: 'tick' }],
  ]);
  t.match(effects.slice(-3), [
    [1_800, { do: 'listen', fromMs: 900 }],
    [1_800, { do: 'floor', floor: 'caller' }],
    [1_900, { do: 'commit', respond: true, speechEndMs: 1_250 }],
  ]);
});

t.test('a short word and more words: the agent is held through the pause between them', async (t) => {
  const { effects } = play(fresh(), [
    ...MHM,
    [1_500, { type: 'voice', voice: { is: 'starting', onsetMs: 1_460 } }],
    [1_660, { type: 'tick' }],
    [1_680, { type: 'voice', voice: { is: 'speaking', onsetMs: 1_460, stoppedMs: 0 } }],
    [1_680, { type: 'speech-started', onsetMs: 1_460 }],
    [1_460 + confirmMs, { type: 'tick' }],
  ]);
  t.match(effects.slice(-5), [
    [980, { do: 'hold' }],
    [1_440, { do: 'weigh', onsetMs: 900, endMs: 1_250 }],
    [1_460 + confirmMs, { do: 'interrupt', onsetMs: 900 }],
    [1_460 + confirmMs, { do: 'listen', fromMs: 900 }],
    [1_460 + confirmMs, { do: 'floor' }],
  ]);
  const cough = play(fresh(), [
    ...MHM,
    [1_500, { type: 'voice', voice: { is: 'starting', onsetMs: 1_460 } }],
    [1_530, { type: 'voice', voice: { is: 'quiet' } }],
    [1_250 + R.quietMs, { type: 'tick' }],
  ]);
  t.match(cough.effects.at(-1), [1_250 + R.quietMs, { do: 'resume' }], 'a click in it changes nothing');
});

t.test('words that follow a short one are heard from the first onset on', async (t) => {
  const again: [number, TurnEvent][] = [
    ...MHM,
    [1_250 + R.quietMs, { type: 'tick' }],
    [1_780, { type: 'voice', voice: { is: 'starting', onsetMs: 1_700 } }],
    [1_900, { type: 'voice', voice: { is: 'speaking', onsetMs: 1_700, stoppedMs: 0 } }],
    [1_900, { type: 'speech-started', onsetMs: 1_700 }],
    [1_700 + confirmMs, { type: 'tick' }],
  ];
  t.match(play(fresh(), again).effects.slice(-3), [
    [1_700 + confirmMs, { do: 'interrupt', onsetMs: 900 }],
    [1_700 + confirmMs, { do: 'listen', fromMs: 900 }],
    [1_700 + confirmMs, { do: 'floor' }],
  ]);
});

t.test('speech that goes on when the last word was heard has the floor, whatever held it', async (t) => {
  const { did, state } = play(fresh(), [...OVER, [1_200, { type: 'all-heard', busy: false }]]);
  t.same(did.slice(-4), ['hold', 'resume', 'listen', 'floor'], 'nothing was left to interrupt');
  t.match(state.phase, { at: 'caller', since: 900 });
});

t.test('speech under way when the first audio comes is heard first', async (t) => {
  const { did } = play(fresh(), [
    ...GREETED.slice(0, 2),
    [350, { type: 'voice', voice: { is: 'starting', onsetMs: 300 } }],
    [400, { type: 'agent-audio' }],
    [420, { type: 'voice', voice: { is: 'quiet' } }],
  ]);
  t.same(did.slice(-3), ['floor', 'hold', 'resume']);
});

t.test('early in the answer any speech takes the turn back', async (t) => {
  const { effects, state } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [7_000, { type: 'speech-ended', endMs: 6_900 }],
    [7_600, { type: 'tick' }],
    [7_800, { type: 'agent-audio' }],
    [7_980, { type: 'voice', voice: { is: 'starting', onsetMs: 7_900 } }],
    [8_100, { type: 'speech-started', onsetMs: 7_900 }],
  ]);
  t.match(effects.slice(-4), [
    [7_980, { do: 'hold' }],
    [8_100, { do: 'interrupt' }],
    [8_100, { do: 'listen', fromMs: 7_900 }],
    [8_100, { do: 'floor' }],
  ]);
  t.equal(state.pauseMs, 1_000, 'and this caller is given more time from now on');
});

t.test('a hold ends with the phase it belongs to, and is told once', async (t) => {
  const table: [string, TurnEvent, string[]][] = [
    ['a goodbye', { type: 'end-requested', reason: 'agent_ended', pending: true }, ['resume']],
    ['a transfer', { type: 'end-requested', reason: 'transferred', pending: false }, ['resume', 'finish']],
    [
      'the end of a response',
      { type: 'response-done', pending: false, busy: false, spoke: true },
      ['resume', 'floor'],
    ],
    ['the end of what was said', { type: 'all-heard', busy: true }, ['interrupt', 'listen', 'floor']],
    ['a closing line', { type: 'finish', reason: 'draining', say: 'Goodbye.' }, ['interrupt', 'say']],
    ['typed words', { type: 'typed', text: 'Stop.' }, ['interrupt', 'floor', 'typed']],
  ];
  for (const [name, event, expected] of table) {
    const { did, state, effects } = play(play(fresh(), OVER).state, [[1_200, event]]);
    t.equal(holdOf(state), null, name);
    t.same(did, expected, name);
    t.match(effects[0]?.[1], { heldMs: 980 }, `${name}: with its moment`);
  }
});

t.test('a stream that goes takes its hold with it', async (t) => {
  const { did, state } = play(fresh(), [...OVER, [1_200, { type: 'stream-paused' }]]);
  t.same(did.slice(-2), ['hold', 'resume']);
  t.same(state.voice, { is: 'quiet' });
});

t.test('nothing holds or interrupts what is protected: a message, a closing line', async (t) => {
  const speech: [number, TurnEvent][] = OVER.slice(3).map(([now, event]) => [now + 5_000, event]);
  for (const [name, before] of Object.entries({
    closing: [[5_000, { type: 'finish', reason: 'draining', say: 'Goodbye.' }]],
    goodbye: [[5_000, { type: 'end-requested', reason: 'agent_ended', pending: true }]],
    message: [[5_000, { type: 'machine-detection', verdict: 'machine_ready' }]],
  } satisfies Record<string, [number, TurnEvent][]>)) {
    const start = play(fresh({ plan: name === 'message' ? 'leave_message' : 'none' }), [
      ...GREETED.slice(0, 3),
      ...(before as [number, TurnEvent][]),
      [5_500, { type: 'agent-audio' }],
    ]).state;
    const { did } = play(start, [...speech, [7_000, { type: 'tick' }]]);
    t.same(did, [], name);
  }
});

t.test('the end of a turn waits while speech seems to begin again', async (t) => {
  const turn: [number, TurnEvent][] = [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [8_000, { type: 'speech-ended', endMs: 7_800 }],
    [8_300, { type: 'voice', voice: { is: 'starting', onsetMs: 8_280 } }],
    [8_445, { type: 'tick' }],
  ];
  const paused = play(fresh(), turn);
  t.notOk(paused.did.includes('commit'));
  const more = play(paused.state, [[8_480, { type: 'speech-started', onsetMs: 8_280 }]]);
  t.match(more.state, { phase: { at: 'caller', silentSince: null }, pauseMs: 480 });
  const none = play(paused.state, [
    [8_450, { type: 'voice', voice: { is: 'quiet' } }],
    [8_460, { type: 'tick' }],
  ]);
  t.same(none.did, ['commit'], 'a click does not hold it longer');
});

t.test('a turn ends by sound that was listened to, not by time alone', async (t) => {
  const { unheardMs, behindMs, endOfTurnMs } = R;
  const ended = 7_800;
  const over = ended + endOfTurnMs;
  const paused = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [8_000, { type: 'speech-ended', endMs: ended }],
  ]).state;
  const table: [string, number, number, boolean][] = [
    ['as far behind as listening always is', over, over - behindMs, true],
    ['not yet', over - 1, over - 1, false],
    ['his sound waits: so does the end', over + 500, over - behindMs - 1, false],
    ['it was listened to, and is silence', over + 500, over - behindMs, true],
    ['longest', over + unheardMs - 1, ended, false],
    ['no sound is listened to any more', over + unheardMs, ended, true],
    ['a caller whose clock is ahead of ours', over - 300, over, true],
  ];
  for (const [name, now, heardMs, ends] of table) {
    const { did } = play(paused, [[now, { type: 'tick', heardMs }]]);
    t.same(did, ends ? ['commit'] : [], name);
  }
  const waiting = play(paused, [
    [over + 500, { type: 'tick', heardMs: ended + 200 }],
    [over + 510, { type: 'speech-started', onsetMs: ended + 400 }],
  ]);
  t.match(waiting.state.phase, { at: 'caller', silentSince: null }, 'what waited was speech: one turn');
  t.same(waiting.did, []);
});

t.test('what was not listened to stops nobody, and lets nobody go on', async (t) => {
  const speaks: [number, TurnEvent] = [
    2_100,
    { type: 'voice', voice: { is: 'speaking', onsetMs: 2_000, stoppedMs: 0 } },
  ];
  const held = play(fresh(), [...GREETED.slice(0, 4), speaks]).state;
  const confirmed = 2_000 + R.confirmMs;
  t.same(play(held, [[confirmed + 200, { type: 'tick', heardMs: 2_100 }]]).did, []);
  t.same(play(held, [[confirmed + 200, { type: 'tick', heardMs: confirmed }]]).did.slice(0, 1), [
    'interrupt',
  ]);
  const word = play(held, [
    [2_500, { type: 'voice', voice: { is: 'quiet' } }],
    [2_500, { type: 'speech-ended', endMs: 2_300 }],
  ]).state;
  const quiet = 2_300 + R.quietMs;
  t.same(play(word, [[quiet + 200, { type: 'tick', heardMs: 2_500 }]]).did, []);
  t.same(play(word, [[quiet + 200, { type: 'tick', heardMs: quiet }]]).did, ['resume']);
});

t.test('a caller who goes on before the answer is heard takes the turn back', async (t) => {
  const { did } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [7_000, { type: 'speech-ended', endMs: 6_900 }],
    [7_600, { type: 'tick' }],
    [7_900, { type: 'speech-started', onsetMs: 7_700 }],
  ]);
  t.same(did.slice(-4), ['commit', 'interrupt', 'listen', 'floor']);
});

/** Digits one by one, each 400 ms, `gapMs` apart; told as the voice detector tells them. */
function digits(fromMs: number, count: number, gapMs: number): [number, TurnEvent][] {
  return Array.from({ length: count }, (_, i) => fromMs + i * (400 + gapMs)).flatMap(
    (onsetMs): [number, TurnEvent][] => [
      [onsetMs + 120, { type: 'speech-started', onsetMs }],
      [onsetMs + 600, { type: 'speech-ended', endMs: onsetMs + 400 }],
    ],
  );
}
const withTicks = (events: [number, TurnEvent][], untilMs: number, asked: boolean): [number, TurnEvent][] => {
  const ticks: [number, TurnEvent][] = [];
  for (let at = 5_020; at <= untilMs; at += 20) ticks.push([at, { type: 'tick', asked }]);
  return [...events, ...ticks].sort(([a], [b]) => a - b);
};
const commits = (effects: [number, { do: string }][]) =>
  effects.filter(([, effect]) => effect.do === 'commit').map(([now]) => now);

t.test('what was asked for and is dictated is one turn, and spoils no pause learned', async (t) => {
  const said = digits(6_000, 6, 900);
  const endMs = 6_000 + 5 * 1_300 + 400;
  const { effects, state } = play(fresh(), withTicks([...GREETED, ...said], endMs + 1_500, true));
  const [at, ...others] = commits(effects);
  t.same(others, []);
  t.ok(at! >= endMs + R.dictationMs && at! < endMs + R.dictationMs + 40, `${at! - endMs} ms after`);
  t.equal(state.pauseMs, 0);

  const plain = play(fresh(), withTicks([...GREETED, ...said], endMs + 1_500, false));
  t.ok(commits(plain.effects).length > 1, 'not asked for: cut');
});

t.test('digits that nobody asked for are known by their sound, to the end of the turn', async (t) => {
  const gapMs = 500;
  const said = [...digits(6_000, 4, gapMs), ...digits(6_000 + 3 * (400 + gapMs) + 1_250, 1, 0)];
  const endMs = said.at(-1)![0] - 200;
  const one = play(fresh(), withTicks([...GREETED, ...said], endMs + 1_500, false));
  t.equal(commits(one.effects).length, 1, 'a longer gap after regular ones is waited for');
  t.equal(one.state.pauseMs, 0, 'and is no habit');
  const next = play({ ...one.state, answer: 'heard', phase: { at: 'open', since: 20_000, prompts: 0 } }, [
    [21_120, { type: 'speech-started', onsetMs: 21_000 }],
    [22_200, { type: 'speech-ended', endMs: 22_000 }],
    [22_000 + R.endOfTurnMs, { type: 'tick' }],
  ]);
  t.same(commits(next.effects), [22_000 + R.endOfTurnMs], 'the next turn is as short as any');
});

t.test('a turn that was taken back goes on in its pieces', async (t) => {
  const said = digits(6_000, 5, 760);
  const endMs = 6_000 + 4 * 1_160 + 400;
  const { effects, state } = play(fresh(), withTicks([...GREETED, ...said], endMs + 1_500, false));
  t.equal(commits(effects).length, 2, 'cut once, before anything was known');
  t.equal(state.pauseMs, 0, 'what it took for a habit it has forgotten');
});

t.test('a drawn-out sound is waited for, and the next one is not', async (t) => {
  const turn = (drawnOut: boolean): [number, TurnEvent][] => [
    ...GREETED,
    [6_120, { type: 'speech-started', onsetMs: 6_000 }],
    [7_200, { type: 'speech-ended', endMs: 7_000, drawnOut }],
  ];
  const atMs = (drawnOut: boolean) => commits(play(fresh(), withTicks(turn(drawnOut), 9_000, false)).effects);
  t.same(atMs(false), [7_640]);
  t.same(atMs(true), [7_000 + R.hesitationMs]);
  const more: [number, TurnEvent][] = [
    [7_920, { type: 'speech-started', onsetMs: 7_800 }],
    [8_800, { type: 'speech-ended', endMs: 8_600 }],
  ];
  const goesOn = play(fresh(), withTicks([...turn(true), ...more], 10_000, false));
  t.same(commits(goesOn.effects), [9_240], 'nor is the pause after it a habit');
});

t.test("the caller's silence is counted from heard time, prompted, and ends the call", async (t) => {
  const idle = TURN_RULES.idleMs;
  const events: [number, TurnEvent][] = [...GREETED, [5_000 + idle - 1, { type: 'tick' }]];
  t.same(play(fresh(), events).did.slice(-1), ['floor'], 'not a moment early');
  let now = 5_000;
  const spoken: unknown[] = [];
  let { state } = play(fresh(), GREETED);
  for (let round = 0; round < 4 && state.phase.at !== 'over'; round++) {
    now += idle;
    const asked = play(state, [[now, { type: 'tick' }]]);
    spoken.push(...asked.effects.map(([, effect]) => (effect.do === 'speak' ? effect.silences : effect.do)));
    now += 3_000;
    const heard = play(asked.state, [
      [now - 1_000, { type: 'agent-audio' }],
      [now, { type: 'all-heard', busy: false }],
    ]);
    state = heard.state;
    spoken.push(...heard.did.filter((effect) => effect === 'finish'));
  }
  t.same(spoken, [1, 2, 3, 'finish']);
});

t.test('a goodbye is heard to its end before the line is given up, and nothing interrupts it', async (t) => {
  const { did, state } = play(fresh(), [
    ...GREETED.slice(0, 3),
    [1_000, { type: 'end-requested', reason: 'agent_ended', pending: true }],
    [1_100, { type: 'response-done', pending: true, busy: false, spoke: true }],
    [1_500, { type: 'speech-started', onsetMs: 1_400 }],
    [2_000, { type: 'speech-ended', endMs: 1_900 }],
    [3_000, { type: 'tick' }],
  ]);
  t.notOk(did.includes('interrupt') || did.includes('finish'));
  t.equal(state.phase.at, 'closing');
  t.match(play(state, [[4_000, { type: 'all-heard', busy: false }]]).effects, [
    [4_000, { do: 'finish', reason: 'agent_ended' }],
  ]);
});

t.test('an end without words left to hear is an end now', async (t) => {
  const { effects } = play(fresh(), [
    ...GREETED,
    [6_000, { type: 'end-requested', reason: 'agent_ended', pending: false }],
  ]);
  t.match(effects.at(-1), [6_000, { do: 'finish', reason: 'agent_ended' }]);
});

t.test('a silent model: asked again, a word to the caller, an end with the reason', async (t) => {
  const { effects } = play(fresh(), [
    ...GREETED.slice(0, 2),
    [10 + R.retryAfterMs, { type: 'tick' }],
    [10 + R.retryAfterMs + 500, { type: 'tick' }],
    [10 + R.momentAfterMs, { type: 'tick' }],
    [10 + R.momentAfterMs + 500, { type: 'tick' }],
    [10 + R.giveUpAfterMs, { type: 'tick' }],
  ]);
  t.match(
    effects.map(([, effect]) => effect),
    [
      { what: 'greeting' },
      { what: 'retry' },
      { what: 'moment' },
      { do: 'interrupt' },
      { do: 'finish', reason: 'model_silent' },
    ],
  );
});

t.test('whoever was told to wait a moment is answered then', async (t) => {
  const { did, effects, state } = play(fresh(), [
    ...GREETED.slice(0, 2),
    [10 + R.retryAfterMs, { type: 'tick' }],
    [10 + R.momentAfterMs, { type: 'tick' }],
    [11_000, { type: 'agent-audio' }],
    [12_500, { type: 'all-heard', busy: false }],
  ]);
  t.match(effects.at(-1), [12_500, { do: 'speak', what: 'retry' }]);
  t.equal(did.at(-2), 'floor');
  t.match(state, { phase: { at: 'thinking', since: 12_500 }, owes: false });
});

t.test('a response without a sound is asked for again at once, once', async (t) => {
  const empty: TurnEvent = { type: 'response-done', pending: false, busy: false, spoke: false };
  const { effects, state } = play(fresh(), [...GREETED.slice(0, 2), [600, empty], [900, empty]]);
  t.match(effects.slice(1), [
    [600, { do: 'speak', what: 'retry' }],
    [900, { do: 'floor', floor: 'none' }],
  ]);
  t.equal(state.phase.at, 'open', 'the model chose to say nothing');
});

t.test('an answer that was heard before the model said that it was over is an answer', async (t) => {
  const { did, state } = play(fresh(), [
    ...GREETED.slice(0, 3),
    [2_000, { type: 'all-heard', busy: true }],
    [2_050, { type: 'response-done', pending: false, busy: false, spoke: true }],
    [2_050 + R.retryAfterMs, { type: 'tick' }],
  ]);
  t.match(state.phase, { at: 'open', since: 2_050 });
  t.same(did.slice(-1), ['floor'], 'and not asked for again');
});

t.test('a caller is told to wait so often and no more, when only that is ever answered', async (t) => {
  let { state } = play(fresh(), GREETED.slice(0, 2));
  let now = 10;
  const asked: unknown[] = [];
  for (let round = 0; round < 10 && state.phase.at !== 'over'; round++) {
    for (const waited of [R.retryAfterMs, R.momentAfterMs, R.giveUpAfterMs]) {
      const told = play(state, [[now + waited, { type: 'tick' }]]);
      state = told.state;
      asked.push(...told.effects.map(([, effect]) => (effect.do === 'speak' ? effect.what : effect.do)));
      if (!told.effects.some(([, effect]) => effect.do === 'speak' && effect.what === 'moment')) continue;
      now += waited + 2_000;
      const heard: [number, TurnEvent][] = [
        [now - 1_500, { type: 'agent-audio' }],
        [now, { type: 'all-heard', busy: false }],
      ];
      state = play(state, heard).state;
      break;
    }
  }
  t.equal(asked.filter((what) => what === 'moment').length, R.mostMoments);
  t.equal(asked.at(-1), 'finish');
});

t.test('a tool that never answers is given up, and the model goes on without it', async (t) => {
  const { effects, state } = play(fresh(), [
    ...GREETED.slice(0, 4),
    [5_000, { type: 'all-heard', busy: true }],
    [5_000 + R.toolLimitMs - 1, { type: 'tick', tools: true }],
    [5_000 + R.toolLimitMs, { type: 'tick', tools: true }],
  ]);
  t.match(
    effects.slice(-3).map(([, effect]) => effect),
    [{ do: 'report', stuck: 'tools' }, { do: 'give-up-tools' }, { do: 'speak', what: 'continue' }],
  );
  t.match(state.phase, { at: 'thinking', since: 5_000 + R.toolLimitMs });
});

t.test('a slow tool is no silent model: one word to the caller, and its time', async (t) => {
  const { effects, state } = play(fresh(), [
    ...GREETED.slice(0, 4),
    [5_000, { type: 'all-heard', busy: true }],
    [5_000 + R.fillerAfterMs, { type: 'tick', tools: true }],
    [9_200, { type: 'agent-audio' }],
    [10_500, { type: 'all-heard', busy: true }],
    [10_500 + R.giveUpAfterMs, { type: 'tick', tools: true }],
    [40_000, { type: 'tools-answered' }],
  ]);
  t.match(
    effects.filter(([now, { do: what }]) => now > 5_000 && what === 'speak'),
    [
      [5_000 + R.fillerAfterMs, { what: 'filler' }],
      [40_000, { what: 'continue' }],
    ],
  );
  t.equal(state.filled, false, 'the next tool has its own');
});

/** First words from 500 to 5,900 ms, of somebody who may be a machine; then what follows. */
const LONG: [number, TurnEvent][] = [
  [0, { type: 'model-ready', renewed: false }],
  [10, { type: 'stream-started' }],
  [400, { type: 'agent-audio' }],
  [700, { type: 'speech-started', onsetMs: 500 }],
  [500 + confirmMs, { type: 'tick' }],
  [6_000, { type: 'speech-ended', endMs: 5_900 }],
  [6_600, { type: 'tick' }],
];
/** … whose first answer is being heard. */
const ANSWERED_LONG: [number, TurnEvent][] = [
  ...LONG,
  [7_200, { type: 'agent-audio' }],
  [8_000, { type: 'response-done', pending: true, busy: false, spoke: true }],
];
/** … and who goes on over it, for longer than before. */
const GOES_ON: [number, TurnEvent][] = [
  ...ANSWERED_LONG,
  [8_200, { type: 'speech-started', onsetMs: 8_000 }],
  [8_900, { type: 'tick' }],
  [12_100, { type: 'speech-ended', endMs: 12_000 }],
  [12_800, { type: 'tick' }],
];

t.test('long first words are answered like any others, by whomever they are', async (t) => {
  for (const plan of ['none', 'hangup', 'leave_message'] as const) {
    const { state, effects } = play(fresh({ plan }), LONG);
    t.match(effects.at(-1), [6_600, { do: 'commit', respond: true, speechEndMs: 5_900 }], plan);
    t.equal(state.phase.at, 'thinking');
    t.equal(state.verdict, plan === 'none' ? 'human' : 'suspected');
  }
  const short = play(fresh({ plan: 'hangup' }), [
    ...LONG.slice(0, 4),
    [R.machineSpeechMs + 400, { type: 'speech-ended', endMs: R.machineSpeechMs + 500 }],
    [R.machineSpeechMs + 1_200, { type: 'tick' }],
  ]);
  t.equal(short.state.verdict, 'pending', 'as long as people may speak');
  const late = play(fresh({ plan: 'hangup' }), [
    [0, { type: 'model-ready', renewed: false }],
    [10, { type: 'stream-started' }],
    [400, { type: 'agent-audio' }],
    [R.patienceMs + 300, { type: 'speech-started', onsetMs: R.patienceMs + 100 }],
    [R.patienceMs + 1_000, { type: 'tick' }],
    [R.patienceMs + 6_000, { type: 'speech-ended', endMs: R.patienceMs + 6_000 }],
    [R.patienceMs + 7_000, { type: 'tick' }],
  ]);
  t.equal(late.state.verdict, 'pending', 'a machine begins earlier');
});

t.test('a machine that was answered is found out by its beep, whatever goes on meanwhile', async (t) => {
  const cases: [string, [number, TurnEvent][], boolean][] = [
    ['in the pause after its greeting', LONG.slice(0, -1), true],
    ['while it still counts as speaking', LONG.slice(0, -2), true],
    ['before the answer is heard', LONG, false],
    ['over the answer', ANSWERED_LONG, false],
    [
      'over a held answer',
      [...ANSWERED_LONG, [8_200, { type: 'voice', voice: { is: 'starting', onsetMs: 8_150 } }]],
      false,
    ],
    ['after the answer', [...ANSWERED_LONG, [8_500, { type: 'all-heard', busy: false }]], false],
    [
      'after it went on over the answer',
      [...ANSWERED_LONG, [8_200, { type: 'speech-started', onsetMs: 8_000 }], [8_900, { type: 'tick' }]],
      true,
    ],
    ['once it is waited for', GOES_ON, false],
  ];
  for (const [name, before, listens] of cases) {
    const left = play(fresh({ plan: 'leave_message' }), before).state;
    const message = play(left, [[13_000, { type: 'beep' }]]);
    t.same(
      message.did.filter((what) => what !== 'resume'),
      ['interrupt', 'forget', 'speak'],
      name,
    );
    t.match(message.effects.at(-1), [13_000, { what: 'voicemail' }], name);
    t.equal(message.state.phase.at, 'closing', name);
    t.equal(left.phase.at === 'caller', listens, name);
    const hangup = play(play(fresh({ plan: 'hangup' }), before).state, [[13_000, { type: 'beep' }]]);
    t.match(hangup.effects.at(-1)?.[1], { do: 'finish', reason: 'voicemail' }, name);
    const nobodyAsked = play(play(fresh(), before).state, [[13_000, { type: 'beep' }]]);
    t.same(nobodyAsked.did, [], `${name}: without a plan there are no machines`);
  }
});

t.test('a beep means nothing after a word or two, to a person, in a dialogue', async (t) => {
  const beep: [number, TurnEvent][] = [[30_000, { type: 'beep' }]];
  const plan = 'leave_message' as const;
  const word = play(fresh({ plan }), [
    ...LONG.slice(0, 5),
    [2_000, { type: 'speech-ended', endMs: 1_800 }],
    [2_100, { type: 'beep' }],
  ]);
  t.equal(word.state.phase.at, 'caller', 'a word or two');
  for (const [name, before] of [
    ['nobody has spoken', LONG.slice(0, 3)],
    [
      'short first words',
      [...LONG.slice(0, 5), [2_000, { type: 'speech-ended', endMs: 1_800 }], [2_700, { type: 'tick' }]],
    ],
    ['a verdict of human', [...ANSWERED_LONG, [8_100, { type: 'machine-detection', verdict: 'human' }]]],
    ['typed words', [...ANSWERED_LONG, [8_100, { type: 'typed', text: 'a word' }]]],
  ] as [string, [number, TurnEvent][]][])
    t.same(play(play(fresh({ plan }), before).state, beep).did, [], name);
  let state = play(fresh({ plan }), [...ANSWERED_LONG, [9_000, { type: 'all-heard', busy: false }]]).state;
  for (const at of [10_000, 20_000]) {
    t.equal(state.verdict, 'suspected');
    state = play(state, [
      [at, { type: 'speech-started', onsetMs: at - 200 }],
      [at + 1_000, { type: 'speech-ended', endMs: at + 900 }],
      [at + 2_000, { type: 'tick' }],
      [at + 3_000, { type: 'agent-audio' }],
      [at + 5_000, { type: 'all-heard', busy: false }],
    ]).state;
  }
  t.same(play(state, beep).did, [], 'two exchanges are a dialogue');
});

t.test('a greeting that goes on over its answer stops it and is waited out', async (t) => {
  const { state, effects } = play(fresh({ plan: 'leave_message' }), GOES_ON);
  t.match(effects.slice(-4), [
    [8_900, { do: 'interrupt', onsetMs: 8_000 }],
    [8_900, { do: 'listen' }],
    [8_900, { do: 'floor', floor: 'caller' }],
    [12_800, { do: 'commit', respond: false, speechEndMs: 12_000 }],
  ]);
  t.equal(state.phase.at, 'suspecting');
  const waited = play(state, [
    [12_800 + R.suspectQuietMs - 1, { type: 'tick' }],
    [12_800 + R.suspectQuietMs, { type: 'tick' }],
  ]);
  t.match(waited.effects, [[12_800 + R.suspectQuietMs, { do: 'speak', what: 'continue' }]]);
  t.equal(waited.state.verdict, 'suspected', 'a beep may still come');
  const more = play(state, [
    [13_500, { type: 'voice', voice: { is: 'speaking', onsetMs: 13_400, stoppedMs: 0 } }],
    [25_000, { type: 'tick' }],
    [25_500, { type: 'voice', voice: { is: 'quiet' } }],
    [25_500, { type: 'speech-ended', endMs: 25_300 }],
    [25_300 + R.suspectQuietMs - 1, { type: 'tick' }],
  ]);
  t.same(more.did, [], 'it goes on further');
  const word = play(fresh({ plan: 'leave_message' }), [
    ...ANSWERED_LONG,
    [8_200, { type: 'speech-started', onsetMs: 8_000 }],
    [8_900, { type: 'tick' }],
    [9_400, { type: 'speech-ended', endMs: 9_300 }],
    [10_000, { type: 'tick' }],
  ]);
  t.match(word.effects.at(-1), [10_000, { do: 'commit', respond: true }], 'a person who goes on is answered');
});

t.test('what is said while a machine is suspected is answered when it was a person', async (t) => {
  const { effects } = play(fresh({ plan: 'leave_message' }), [
    ...GOES_ON,
    [13_000, { type: 'speech-started', onsetMs: 12_900 }],
    [13_800, { type: 'speech-ended', endMs: 13_700 }],
    [13_900, { type: 'machine-detection', verdict: 'human' }],
    [14_400, { type: 'tick' }],
  ]);
  t.match(effects.slice(-3), [
    [13_000, { do: 'listen', fromMs: 12_900 }],
    [13_000, { do: 'floor' }],
    [14_400, { do: 'commit', respond: true, speechEndMs: 13_700 }],
  ]);
});

t.test('a machine that was answered is treated as one by the carrier’s verdict, later', async (t) => {
  const answered = play(fresh({ plan: 'leave_message' }), ANSWERED_LONG).state;
  const quiet = play(answered, [[8_300, { type: 'machine-detection', verdict: 'machine' }]]);
  t.same(quiet.did, ['interrupt', 'forget', 'floor']);
  t.equal(quiet.state.phase.at, 'waiting-for-beep');
  const ready = play(answered, [[8_300, { type: 'machine-detection', verdict: 'machine_ready' }]]);
  t.match(ready.effects.at(-1)?.[1], { do: 'speak', what: 'voicemail' });
  const twice = play(ready.state, [[8_900, { type: 'beep' }]]);
  t.same(twice.did, [], 'the message is asked for once');
  const hangup = play(fresh({ plan: 'hangup' }), [
    ...ANSWERED_LONG,
    [8_300, { type: 'machine-detection', verdict: 'machine' }],
  ]);
  t.match(hangup.effects.at(-1)?.[1], { do: 'finish', reason: 'voicemail' });
});

t.test('keys pressed while speaking belong to the turn, which is answered once', async (t) => {
  const { did, effects, state } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [6_500, { type: 'digit', digit: '1' }],
    [8_100, { type: 'tick' }],
    [9_000, { type: 'speech-ended', endMs: 8_900 }],
    [9_600, { type: 'tick' }],
  ]);
  t.match(
    effects.find(([, { do: what }]) => what === 'digits'),
    [8_100, { digits: '1', respond: false }],
  );
  t.same(did.slice(-2), ['digits', 'commit']);
  t.equal(state.phase.at, 'thinking');
});

t.test('sound that goes on for minutes is a turn: the agent is asked what to make of it', async (t) => {
  const { state, effects } = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'voice', voice: { is: 'speaking', onsetMs: 6_000, stoppedMs: 0 } }],
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    [6_000 + R.monologueMs, { type: 'tick' }],
  ]);
  t.match(effects.at(-1)?.[1], { do: 'commit', respond: true });
  const again = play(state, [
    [187_000, { type: 'agent-audio' }],
    [187_020, { type: 'tick' }],
    [188_000, { type: 'tick' }],
  ]);
  t.match(again.state.phase, { at: 'caller', since: 6_000 + R.monologueMs }, 'and he speaks on');
});

t.test('keys pressed close together are one input', async (t) => {
  const { effects } = play(fresh(), [
    ...GREETED,
    [6_000, { type: 'digit', digit: '1' }],
    [6_400, { type: 'digit', digit: '2' }],
    [6_800, { type: 'tick' }],
    [8_000, { type: 'tick' }],
  ]);
  t.match(effects.at(-1), [8_000, { do: 'digits', digits: '12' }]);
});

t.test('tools: the silence while one runs is the agent`s, and its answer is spoken', async (t) => {
  const { state, did } = play(fresh(), [
    ...GREETED.slice(0, 4),
    [5_000, { type: 'all-heard', busy: true }],
    [6_000, { type: 'tools-answered' }],
  ]);
  t.equal(state.phase.at, 'thinking');
  t.same(did.slice(-1), ['speak']);
  const interrupted = play(fresh(), [
    ...GREETED.slice(0, 4),
    [5_200, { type: 'speech-started', onsetMs: 5_000 }],
    [5_800, { type: 'tick' }],
    [6_000, { type: 'tools-answered' }],
  ]);
  t.equal(interrupted.state.phase.at, 'caller', 'after a barge-in the caller`s own turn brings the answer');
});

const ANSWERED: [number, TurnEvent][] = [
  [0, { type: 'model-ready', renewed: false }],
  [10, { type: 'stream-started' }],
  [400, { type: 'agent-audio' }],
];

t.test('voicemail, hang up: the verdict ends the call', async (t) => {
  const { effects } = play(fresh({ plan: 'hangup' }), [
    ...ANSWERED,
    [4_000, { type: 'machine-detection', verdict: 'machine' }],
  ]);
  t.match(
    effects.slice(-3).map(([, effect]) => effect),
    [{ do: 'interrupt' }, { do: 'forget' }, { do: 'finish', reason: 'voicemail' }],
  );
});

t.test(
  'voicemail, leave a message: quiet until the greeting ends, then the message, then its last heard word',
  async (t) => {
    const start = play(fresh({ plan: 'leave_message' }), [
      ...ANSWERED,
      [2_500, { type: 'speech-started', onsetMs: 600 }],
      [4_000, { type: 'machine-detection', verdict: 'machine' }],
      [5_000, { type: 'speech-ended', endMs: 4_900 }],
      [6_000, { type: 'tick' }],
    ]);
    t.notOk(start.did.includes('commit'), 'the greeting is answered by nobody');
    const message = play(start.state, [
      [9_000, { type: 'machine-detection', verdict: 'machine_ready' }],
      [9_500, { type: 'agent-audio' }],
      [10_500, { type: 'response-done', pending: true, busy: false, spoke: true }],
      [15_000, { type: 'all-heard', busy: false }],
    ]);
    t.match(
      message.effects.map(([now, effect]) => [now, effect.do]),
      [
        [9_000, 'interrupt'],
        [9_000, 'forget'],
        [9_000, 'speak'],
        [9_500, 'floor'],
        [15_000, 'finish'],
      ],
    );
  },
);

t.test(
  'voicemail: a person who picks up during the message hears it out, and is then talked with',
  async (t) => {
    const speaking = play(fresh({ plan: 'leave_message' }), [
      ...ANSWERED,
      [4_000, { type: 'machine-detection', verdict: 'machine_ready' }],
      [4_500, { type: 'agent-audio' }],
      [6_000, { type: 'speech-started', onsetMs: 5_900 }],
      [7_000, { type: 'speech-ended', endMs: 6_900 }],
    ]);
    t.notOk(speaking.effects.some(([now, effect]) => now > 4_500 && effect.do === 'interrupt'));
    const heard = play(speaking.state, [[12_000, { type: 'all-heard', busy: false }]]);
    t.notOk(heard.did.includes('finish'), 'the line is kept for a moment');
    const person = play(heard.state, [
      [13_000, { type: 'speech-started', onsetMs: 12_800 }],
      [14_000, { type: 'speech-ended', endMs: 13_900 }],
      [14_600, { type: 'tick' }],
    ]);
    t.same(person.did, ['listen', 'floor', 'commit']);
    const nobody = play(heard.state, [[12_000 + TURN_RULES.lingerMs, { type: 'tick' }]]);
    t.match(nobody.effects.at(-1)?.[1], { do: 'finish', reason: 'voicemail' });
  },
);

t.test(
  'voicemail: our own beep detector does as well, and a greeting without end is spoken over in the end',
  async (t) => {
    const waiting = play(fresh({ plan: 'leave_message' }), [
      ...ANSWERED,
      [4_000, { type: 'machine-detection', verdict: 'machine' }],
    ]).state;
    t.match(play(waiting, [[6_000, { type: 'beep' }]]).effects.at(-1), [6_000, { what: 'voicemail' }]);
    t.match(play(waiting, [[4_000 + TURN_RULES.greetingLimitMs, { type: 'tick' }]]).effects.at(-1)?.[1], {
      what: 'voicemail',
    });
  },
);

t.test(
  'voicemail: long speech that goes on is not answered; a verdict of human brings the answer',
  async (t) => {
    const suspecting = play(fresh({ plan: 'leave_message' }), GOES_ON);
    t.equal(suspecting.state.phase.at, 'suspecting');
    const human = play(suspecting.state, [[13_000, { type: 'machine-detection', verdict: 'human' }]]);
    t.match(human.effects, [[13_000, { do: 'speak', what: 'continue' }]]);
  },
);

t.test('voicemail: a verdict after a real dialogue is ignored', async (t) => {
  let state = play(fresh({ plan: 'hangup' }), GREETED).state;
  for (const at of [10_000, 20_000]) {
    state = play(state, [
      [at, { type: 'speech-started', onsetMs: at - 200 }],
      [at + 1_000, { type: 'speech-ended', endMs: at + 900 }],
      [at + 2_000, { type: 'tick' }],
      [at + 3_000, { type: 'agent-audio' }],
      [at + 5_000, { type: 'all-heard', busy: false }],
    ]).state;
  }
  t.same(play(state, [[30_000, { type: 'machine-detection', verdict: 'machine' }]]).did, []);
});

t.test('finish: a spoken line is heard first; without a stream it ends at once', async (t) => {
  const spoken = play(fresh(), [
    ...GREETED,
    [6_000, { type: 'finish', reason: 'draining', say: 'Goodbye.' }],
  ]);
  t.same(spoken.did.slice(-2), ['interrupt', 'say']);
  const heard = play(spoken.state, [
    [7_000, { type: 'agent-audio' }],
    [9_000, { type: 'all-heard', busy: false }],
  ]);
  t.match(heard.effects.at(-1), [9_000, { do: 'finish', reason: 'draining' }]);
  t.match(play(fresh(), [[0, { type: 'finish', reason: 'draining', say: 'Goodbye.' }]]).effects.at(-1), [
    0,
    { do: 'finish' },
  ]);
  const mute = play(spoken.state, [[6_000 + TURN_RULES.giveUpAfterMs, { type: 'tick' }]]);
  t.match(mute.effects.at(-1)?.[1], { do: 'finish' }, 'a goodbye that never comes does not hold the line');
});

t.test('nothing happens after the end', async (t) => {
  const { state } = play(fresh(), [[0, { type: 'finish', reason: 'agent_ended', say: null }]]);
  t.equal(state.phase.at, 'over');
  t.same(play(state, GREETED).did, []);
});

t.test(
  'a tool that takes the line away waits for the last word heard, and the line may come back',
  async (t) => {
    for (const reason of ['transferred', 'digits'] as const) {
      const asked: [number, TurnEvent][] = [
        ...GREETED,
        [6_000, { type: 'end-requested', reason, pending: true }],
      ];
      const waiting = play(fresh(), [...asked, [6_500, { type: 'speech-started', onsetMs: 6_300 }]]);
      t.equal(waiting.state.phase.at, 'closing', 'nothing interrupts the hand-off line');
      const gone = play(fresh(), [...asked, [8_000, { type: 'all-heard', busy: false }]]);
      t.match(gone.effects.at(-1), [8_000, { do: 'finish', reason }]);
      t.equal(gone.state.phase.at, 'away');
      const quiet = play(fresh(), [
        ...asked,
        [8_000, { type: 'all-heard', busy: false }],
        [8_200, { type: 'stream-paused' }],
        [9_000, { type: 'speech-started', onsetMs: 8_900 }],
        [9_000, { type: 'digit', digit: '5' }],
        [9_000, { type: 'end-requested', reason: 'agent_ended', pending: false }],
        [600_000, { type: 'tick' }],
      ]);
      t.equal(quiet.state.phase.at, 'away', 'ten minutes with somebody else are no silence');
      t.same(quiet.effects.at(-1)?.[0], 8_000, 'and do nothing');
      const back = play(fresh(), [
        ...asked,
        [8_000, { type: 'all-heard', busy: false }],
        [8_200, { type: 'stream-paused' }],
        [30_000, { type: 'stream-started' }],
        [30_050, { type: 'tools-answered' }],
      ]);
      t.match(back.effects.at(-1), [30_050, { do: 'speak', what: 'continue' }]);
      t.equal(back.state.phase.at, 'thinking');
      const ended = play(fresh(), [
        ...asked,
        [8_000, { type: 'all-heard', busy: false }],
        [8_200, { type: 'stream-paused' }],
        [9_000, { type: 'finish', reason: 'draining', say: 'Goodbye.' }],
      ]);
      t.match(
        ended.effects.at(-1),
        [9_000, { do: 'finish', reason: 'draining' }],
        'nobody hears a last line',
      );
    }
  },
);

t.test('typed words are a turn of the caller', async (t) => {
  const answered = { do: 'typed', text: 'hello', respond: true };
  const typed = (at: number): [number, TurnEvent] => [at, { type: 'typed', text: 'hello' }];
  const open = play(fresh(), [...GREETED, typed(6_000)]);
  t.same(open.effects.at(-1), [6_000, answered]);
  t.match(open.state, { phase: { at: 'thinking' }, exchanges: 1 });
  const fast = play(fresh({ plan: 'hangup' }), [...GREETED.slice(0, 3), typed(1_000)]);
  t.equal(fast.state.verdict, 'human', 'no machine types');
  const speaking = play(fresh(), [...GREETED.slice(0, 3), typed(900)]);
  t.same(speaking.did.slice(-3), ['interrupt', 'floor', 'typed'], 'they interrupt the agent');
  const early = play(fresh(), [[5, { type: 'stream-started' }], typed(6), GREETED[0]!]);
  t.same(early.did, ['typed', 'speak'], 'before the model is there they are told, and the greeting follows');
  t.match(early.effects[0]?.[1], { respond: false });
  const meanwhile = play(fresh(), [
    ...GREETED,
    [6_200, { type: 'speech-started', onsetMs: 6_000 }],
    typed(6_500),
  ]);
  t.match(
    meanwhile.effects.at(-1)?.[1],
    { do: 'typed', respond: false },
    'what is being said is answered once',
  );
  t.equal(meanwhile.state.phase.at, 'caller');
  const closing = play(fresh(), [
    ...GREETED.slice(0, 3),
    [1_000, { type: 'end-requested', reason: 'agent_ended', pending: true }],
    typed(1_100),
  ]);
  t.same(closing.did.slice(-1), ['typed'], 'nothing interrupts the goodbye');
  t.equal(closing.state.phase.at, 'closing');
});

t.test('whose voice is unsure pauses the agent, and stops it when it is known for the caller', async (t) => {
  const answering: [number, TurnEvent][] = [
    ...GREETED.slice(0, 3),
    [5_000, { type: 'voice', voice: { is: 'starting', onsetMs: 4_970 } }],
    [5_100, { type: 'voice', voice: { is: 'speaking', onsetMs: 4_970, stoppedMs: 0, unsure: true } }],
    [5_100, { type: 'speech-started', onsetMs: 4_970 }],
    [5_600, { type: 'tick' }],
    [6_900, { type: 'tick' }],
  ];
  const waiting = play(fresh(), answering);
  t.equal(waiting.did.includes('interrupt'), false);
  t.equal(holdOf(waiting.state)?.pausedSince, 5_600);
  const known = play(fresh(), [
    ...answering,
    [6_910, { type: 'voice', voice: { is: 'speaking', onsetMs: 4_970, stoppedMs: 0 } }],
    [6_920, { type: 'tick' }],
  ]);
  t.match(known.effects.slice(-3), [
    [6_920, { do: 'interrupt', onsetMs: 4_970, heldMs: 5_000, pausedMs: 5_600 }],
    [6_920, { do: 'listen', fromMs: 4_970 }],
    [6_920, { do: 'floor', floor: 'caller' }],
  ]);
  const ended = play(fresh(), [
    ...answering,
    [7_400, { type: 'voice', voice: { is: 'quiet' } }],
    [7_400, { type: 'speech-ended', endMs: 6_890 }],
  ]);
  t.ok(ended.did.includes('interrupt'), 'who leaves a pause after his words is the caller');
  const other = play(fresh(), [
    ...answering,
    [7_400, { type: 'voice', voice: { is: 'quiet' } }],
    [7_400, { type: 'speech-taken-back', onsetMs: 4_970 }],
  ]);
  t.match(other.effects.at(-1), [7_400, { do: 'resume', onsetMs: 4_970, heldMs: 5_000, pausedMs: 5_600 }]);
});
