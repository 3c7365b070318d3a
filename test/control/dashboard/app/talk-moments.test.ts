// What happened over the agent's voice, and what nobody heard, as the page of a call tells it.
import t from 'tap';
import { talkLanes, talkMoments } from '../../../../control/dashboard/app/talk-moments.ts';
import type { CallGap, Interruption, TranscriptItem, Turn } from '../../../../control/sdk/index.ts';

const sound = (fields: Partial<Interruption>): Interruption => ({
  id: 'one',
  at_ms: 3_000,
  onset_ms: 2_000,
  held_ms: 2_100,
  paused_ms: null,
  silenced_ms: null,
  taken_back: true,
  ...fields,
});
const stop = { taken_back: false, silenced_ms: 2_650, at_ms: 2_700 };
const line = (fields: Partial<TranscriptItem>): TranscriptItem => ({
  id: 'line',
  role: 'caller',
  text: 'Mhm.',
  heard_text: 'Mhm.',
  interrupted: false,
  started_at: '2026-03-01T12:00:00.000Z',
  start_ms: 2_000,
  end_ms: 2_400,
  ...fields,
});
const turn = (fields: Partial<Turn>) => ({ id: 'turn', thrown_away: 0, ...fields }) as Turn;
const of = (interruptions: Interruption[], words: TranscriptItem[] = [], turns: Turn[] = []) =>
  talkMoments({ turns, interruptions, words, gaps: [], over: true });

t.test('a sound, by what it did to the voice', async (t) => {
  const table: [string, Interruption, object][] = [
    ['lowered', sound({}), { kind: 'passed', what: 'lowered for 900 ms, then went on', loweredMs: 2_100 }],
    [
      'lowered, then paused',
      sound({ paused_ms: 2_600 }),
      { kind: 'passed', what: 'lowered for 500 ms, paused for 400 ms, then went on', pausedMs: 2_600 },
    ],
    [
      'paused from the first moment on',
      sound({ paused_ms: 2_100 }),
      { what: 'paused for 900 ms, then went on', loweredMs: null, pausedMs: 2_100 },
    ],
    ['not known since when', sound({ held_ms: null }), { what: 'then went on', loweredMs: null }],
    [
      'an interruption',
      sound({ ...stop, paused_ms: 2_600 }),
      {
        kind: 'stopped',
        what: 'lowered after 100 ms, paused after 600 ms, silent after 650 ms',
        atMs: 2_000,
      },
    ],
    ['keys were pressed', sound({ ...stop, onset_ms: null, held_ms: null }), { what: 'cut short' }],
    [
      'an answer that had not begun to be heard',
      sound({ ...stop, held_ms: null }),
      { kind: 'stopped', what: 'silent after 650 ms' },
    ],
  ];
  for (const [name, one, is] of table) t.match(of([one]), [is], name);
});

t.test('a word that was let pass and then stopped the agent by its words is one moment', async (t) => {
  const held = sound({ at_ms: 2_800 });
  const word = sound({ id: 'word', ...stop, held_ms: null, onset_ms: 1_990, silenced_ms: 3_400 });
  const other = sound({ id: 'other', onset_ms: 9_000, held_ms: 9_100, at_ms: 9_500 });
  t.match(of([held, word, other], [line({ text: 'Stop!' })]), [
    {
      id: 'word',
      kind: 'stopped',
      what: 'lowered for 700 ms, stopped by its words, silent after 1.41 s',
      loweredMs: 2_100,
      untilMs: 2_800,
      said: 'Stop!',
    },
    { id: 'other', kind: 'passed', said: null },
  ]);
});

t.test(
  'words are those of the sound: not of the agent, not of another time, not those to come',
  async (t) => {
    const said = (fields: Partial<TranscriptItem>) => of([sound({})], [line(fields)])[0]?.said;
    t.equal(said({}), 'Mhm.');
    t.equal(said({ start_ms: 2_500 }), null);
    t.equal(said({ role: 'agent' }), null);
    t.equal(said({ text: '' }), null);
  },
);

t.test('answers thrown away stand at the turn in which they were begun, in order of time', async (t) => {
  const turns = [
    turn({ id: 'none', speech_end_ms: 500 }),
    turn({ id: 'one', speech_end_ms: 1_000, thrown_away: 1 }),
    turn({ id: 'two', speech_end_ms: null, decided_ms: 5_000, thrown_away: 2 }),
  ];
  t.match(of([sound({})], [], turns), [
    { id: 'one', kind: 'thrown', atMs: 1_000, what: '1 answer begun in a pause of this turn, never heard' },
    { id: 'one', kind: 'passed', atMs: 2_000 },
    { id: 'two', kind: 'thrown', atMs: 5_000, what: /^2 answers/ },
  ]);
});

t.test('the lanes: what was heard, what became of the voice, and nothing beyond the call', async (t) => {
  const words = [
    line({ id: 'hers', start_ms: 2_000, end_ms: 2_500 }),
    line({
      id: 'his',
      role: 'agent',
      text: 'A long answer',
      heard_text: 'A long',
      start_ms: 0,
      end_ms: 5_000,
    }),
    line({ id: 'unheard', role: 'agent', heard_text: '', start_ms: 6_000, end_ms: 6_000 }),
    line({ id: 'live', role: 'agent', heard_text: '', start_ms: 9_000, end_ms: null }),
    line({ id: 'tool', role: 'tool' }),
  ];
  const moments = of([sound({ paused_ms: 2_600, at_ms: 11_000 })], words);
  const { caller, agent, marks } = talkLanes({ words, moments, gaps: [], lengthMs: 10_000 });
  const places = (list: typeof agent) => list.map(({ is, left, width }) => [is, left, width]);
  t.same(places(caller), [['spoken', 20, 5]]);
  t.same(places(agent), [
    ['spoken', 0, 50],
    ['spoken', 90, 10],
    ['lowered', 21, 5],
    ['paused', 26, 74],
  ]);
  t.match(marks, [{ is: 'passed', left: 20, width: 0, title: /^“Mhm.”: lowered for 500 ms/ }]);
  t.same(talkLanes({ words: [], moments: [], gaps: [], lengthMs: 0 }), { caller: [], agent: [], marks: [] });
});

t.test('a gap is a moment and lies over both lanes; one that is open, to their end', async (t) => {
  const gap = (fields: Partial<CallGap>): CallGap => ({
    why: 'stream_lost',
    started_at: '2026-03-01T12:00:00.000Z',
    from_ms: 4_000,
    to_ms: 5_000,
    ...fields,
  });
  const gaps = [gap({}), gap({ why: 'thread_lost', from_ms: 9_000, to_ms: null })];
  const moments = (over: boolean) =>
    talkMoments({ turns: [], interruptions: [sound({})], words: [], gaps, over });
  t.match(moments(true), [
    { kind: 'passed' },
    { kind: 'gap', atMs: 4_000, untilMs: 5_000, what: 'The line to the carrier broke. No sound for 1.00 s' },
    { kind: 'gap', atMs: 9_000, what: 'A part of the daemon broke down. No sound from here to the end' },
  ]);
  t.match(moments(false)[2]?.what, /not back yet$/);
  const lanes = talkLanes({ words: [], moments: moments(true), gaps, lengthMs: 10_000 });
  const places = (list: typeof lanes.agent) =>
    list.flatMap(({ is, left, width }) => (is === 'gap' ? [[left, width]] : []));
  for (const lane of [lanes.caller, lanes.agent]) {
    t.same(places(lane), [
      [40, 10],
      [90, 10],
    ]);
  }
  t.same(places(lanes.marks), [
    [40, 0],
    [90, 0],
  ]);
});
