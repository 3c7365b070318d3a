// The picture of a simulated call.
import { XMLValidator } from 'fast-xml-parser';
import t from 'tap';
import { drawCall, type Picture } from '../../scripts/simulate/picture.ts';
import { pictureOf } from '../../scripts/simulate/picture-data.ts';
import { escapeText } from '../../scripts/simulate/text.ts';
import {
  bargeInEvidence,
  lineLostEvidence,
  optOutEvidence,
  reminderEvidence,
  saidFirstEvidence,
} from './simulate-evidence.ts';

const textOf = (svg: string) =>
  svg
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replaceAll(/<title>[^<]*<\/title>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

t.test('a call is drawn as XML that stands alone, and says what happened', async (t) => {
  const svg = drawCall(pictureOf(reminderEvidence()));
  t.equal(XMLValidator.validate(svg), true);
  t.notMatch(svg, /NaN|undefined|Infinity/);
  t.notMatch(svg, /(?:href|src|url\()="?https?:/, 'nothing is loaded from elsewhere');
  const text = textOf(svg);
  for (const words of [
    'Appointment reminder: outbound call, completed, 34.0 s',
    'And so my fellow Americans,',
    'your appointment on Tuesday',
    'ringing',
    'picked up',
    'the agent ended the call',
    '2.04 s',
    '1.33 s',
  ]) {
    t.match(text, words);
  }
  t.notMatch(text, 'never heard', 'and of nothing that did not happen');
});

t.test('a barge-in shows the cut: faded sound, struck words, how soon the agent was silent', async (t) => {
  const picture = pictureOf(bargeInEvidence());
  const svg = drawCall(picture);
  t.equal(XMLValidator.validate(svg), true);
  t.match(textOf(svg), 'the agent is silent 0.20 s later');
  t.match(svg, /line-through[^>]*>works\. First,/);
  const [ghost] = picture.ghosts;
  // 4.9 s were said and 2 s were heard.
  t.equal(ghost?.samples.length, 2900 * 8);
  t.equal(ghost?.startMs, 11_500);
  t.same(
    picture.turns.filter(({ who }) => who === 'agent').map(({ text, unheard }) => [text, unheard]),
    [
      ['How can I help you?', ''],
      ['Let me explain how this', 'works. First, we take your request and write it down.'],
      ['You stopped me. Please go on.', ''],
    ],
  );
});

t.test('a line cut before its first sound is not drawn', async (t) => {
  const evidence = reminderEvidence();
  evidence.transcript.data.push({
    id: 'x',
    role: 'agent',
    text: 'Never begun.',
    heard_text: '',
    interrupted: true,
    started_at: '2026-03-02T10:00:00.000Z',
    start_ms: 10_000,
    end_ms: 10_000,
  });
  t.notMatch(textOf(drawCall(pictureOf(evidence))), 'Never begun');
});

const EMPTY: Picture = {
  title: 'Nobody answers',
  subtitle: '',
  names: { person: ['Person', '+1'], agent: ['Agent', '+2'] },
  fromMs: -600,
  toMs: 5600,
  ringing: { fromMs: 0, toMs: 5000 },
  voices: { person: new Float32Array(), agent: new Float32Array() },
  ghosts: [],
  turns: [],
  answers: [],
  bargeIns: [],
  holds: [],
  thrownAway: [],
  gaps: [],
  marks: [],
  waits: [],
};

t.test('a call that nobody picked up is drawn as well', async (t) => {
  const svg = drawCall(EMPTY);
  t.equal(XMLValidator.validate(svg), true);
  t.match(textOf(svg), 'it rings');
  t.notMatch(svg, /NaN/);
});

t.test('where the voice was lowered and paused is drawn, and told in the legend', async (t) => {
  const call = { ...EMPTY, ringing: null };
  t.notMatch(textOf(drawCall(call)), 'lowered, paused');
  const svg = drawCall({
    ...call,
    holds: [
      { fromMs: 1_000, pausedMs: null, toMs: 1_620, passed: true },
      { fromMs: 2_000, pausedMs: 2_400, toMs: 2_700, passed: false },
      { fromMs: 3_000, pausedMs: 3_000, toMs: 3_100, passed: false },
    ],
  });
  t.equal(XMLValidator.validate(svg), true);
  const told = [...svg.matchAll(/voice is (\w+): ([\d.]+) s/g)].map(([, how, long]) => `${how} ${long}`);
  t.same(told, ['lowered 0.62', 'lowered 0.40', 'paused 0.30', 'paused 0.10']);
  t.match(textOf(svg), 'lowered, paused');
  t.equal(
    textOf(svg).split('let pass: the agent goes on').length,
    2,
    'said of the one that was no interruption',
  );
  const evidence = bargeInEvidence();
  evidence.interruptions = [
    { at_ms: 900, held_ms: 300, paused_ms: 500, taken_back: true },
    { at_ms: 2_000, held_ms: null, paused_ms: null, taken_back: false },
  ];
  const [hold, ...others] = pictureOf(evidence).holds;
  t.same(others, []);
  t.same([hold!.pausedMs! - hold!.fromMs, hold!.toMs - hold!.fromMs, hold!.passed], [200, 600, true]);
});

t.test(
  'where there was no line is drawn over both voices, with its length, and told in the legend',
  async (t) => {
    t.notMatch(textOf(drawCall(EMPTY)), 'no line');
    const evidence = lineLostEvidence();
    const picture = pictureOf(evidence);
    t.same(picture.gaps, [{ fromMs: 19_460, toMs: 20_010, back: true }]);
    const svg = drawCall(picture);
    t.equal(XMLValidator.validate(svg), true);
    t.match(textOf(svg), 'line lost: 0.55 s');
    t.match(textOf(svg), 'no line: neither heard the other');
    const [, height = ''] =
      /<rect class="lost" x="[\d.]+" y="[\d.]+" width="[\d.]+" height="(\d+)"><title>/.exec(svg) ?? [];
    t.ok(Number(height) > 200, `over both lanes: ${height}`);
    evidence.call.gaps[0]!.to_ms = null;
    const open = pictureOf(evidence);
    t.same(open.gaps, [{ fromMs: 19_460, toMs: 34_000, back: false }]);
    t.notMatch(textOf(drawCall(open)), 'line lost: ');
  },
);

t.test('answers begun in a pause and thrown away stand at the turn that went on', async (t) => {
  const evidence = reminderEvidence();
  t.notMatch(textOf(drawCall(pictureOf(evidence))), 'thrown away');
  const parts = { end_of_turn_ms: 1, request_ms: 0, model_ms: 1, send_ms: 1, playout_ms: 1 };
  const turn = {
    kind: 'answer' as const,
    decided_ms: 31_000,
    first_heard_ms: 10_200,
    latency_ms: 1_200,
    parts,
  };
  evidence.turns = [
    { ...turn, index: 1, speech_end_ms: 9_000, thrown_away: 1 },
    { ...turn, index: 2, speech_end_ms: 19_000, thrown_away: 2 },
    { ...turn, index: 3, speech_end_ms: 29_000, thrown_away: 0 },
    { ...turn, index: 4, speech_end_ms: null, thrown_away: 1 },
  ];
  const picture = pictureOf(evidence);
  t.same(picture.thrownAway, [
    { atMs: 9_010, count: 1 },
    { atMs: 19_010, count: 2 },
    // No turn came after it.
    { atMs: 31_010, count: 1 },
  ]);
  const svg = drawCall(picture);
  t.equal(XMLValidator.validate(svg), true);
  t.match(textOf(svg), 'an answer begun in a pause, thrown away unheard');
  t.match(textOf(svg), '2 answers begun in a pause, thrown away unheard');
});

t.test('words are text, whatever they hold', async (t) => {
  const nasty = '<script>alert("1")</script> & \u0000\uD800 ok';
  const svg = drawCall({
    ...EMPTY,
    title: nasty,
    subtitle: nasty,
    names: { person: [nasty, nasty], agent: [nasty, nasty] },
    turns: [{ who: 'person', startMs: 0, endMs: 4000, text: nasty, unheard: nasty }],
    marks: [{ atMs: 100, label: nasty }],
  });
  t.equal(XMLValidator.validate(svg), true);
  t.notMatch(svg, '<script');
  t.equal(escapeText(`a<b>&"c"\u0007`), 'a&lt;b&gt;&amp;&quot;c&quot;\uFFFD');
});

t.test('very many words stay a bounded number of lines', async (t) => {
  const text = Array.from({ length: 3000 }, (_, i) => `word${i}`).join(' ');
  const svg = drawCall({
    ...EMPTY,
    turns: [{ who: 'agent', startMs: 0, endMs: 1000, text, unheard: text }],
  });
  t.ok((svg.match(/<text/g) ?? []).length < 40);
  t.match(svg, '…');
});

t.test('labels of moments that lie close together stand in different rows', async (t) => {
  const svg = drawCall({
    ...EMPTY,
    marks: [
      { atMs: 0, label: 'first of them' },
      { atMs: 40, label: 'second of them' },
      { atMs: 80, label: 'third of them' },
    ],
  });
  const rows = [...svg.matchAll(/ y="(\d+)"[^>]*>(?:first|second|third) of them/g)].map(([, y]) => y);
  t.equal(rows.length, 3);
  t.equal(new Set(rows).size, 3);
});

t.test('an hour of a call is drawn within limits', async (t) => {
  const svg = drawCall({
    ...EMPTY,
    ringing: null,
    toMs: 3_600_000,
    voices: { person: new Float32Array(8000), agent: new Float32Array() },
  });
  const width = Number(/width="([\d.]+)"/.exec(svg)?.[1]);
  t.ok(width < 13_000);
});

t.test('each wait is a bar of its parts, below the picture', async (t) => {
  const turn = {
    index: 1,
    first_heard_ms: 330,
    speech_end_ms: null,
    decided_ms: 0,
    latency_ms: 330,
    thrown_away: 0,
  };
  const evidence = reminderEvidence();
  evidence.turns = [
    {
      ...turn,
      kind: 'greeting',
      parts: { end_of_turn_ms: null, request_ms: 1, model_ms: 240, send_ms: 1, playout_ms: 88 },
    },
    {
      ...turn,
      kind: 'answer',
      speech_end_ms: 9_000,
      first_heard_ms: 10_200,
      latency_ms: 1_200,
      parts: { end_of_turn_ms: 500, request_ms: 0, model_ms: 600, send_ms: 20, playout_ms: 80 },
    },
    // Nobody waited for these two.
    {
      ...turn,
      kind: 'prompt',
      parts: { end_of_turn_ms: null, request_ms: 0, model_ms: 1, send_ms: 1, playout_ms: 1 },
    },
    {
      ...turn,
      kind: 'answer',
      first_heard_ms: null,
      latency_ms: null,
      parts: { end_of_turn_ms: 1, request_ms: null, model_ms: null, send_ms: null, playout_ms: null },
    },
  ];
  const picture = pictureOf(evidence);
  t.same(
    picture.waits.map(({ label, totalMs, parts }) => [label, totalMs, parts.length]),
    [
      ['the greeting', 330, 4],
      ['answer at 9.0 s', 1_200, 5],
    ],
  );
  const svg = drawCall(picture);
  t.equal(XMLValidator.validate(svg), true);
  t.notMatch(svg, /NaN|undefined/);
  for (const words of ['What each wait was made of', '1.20 s', '0.33 s', '600 ms'])
    t.match(textOf(svg), words);
  const bars = [
    ...svg.matchAll(
      /class="stage-(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="12"><title>[^:]*: ([\d.]+) ms/g,
    ),
  ];
  t.equal(bars.length, 9);
  const answer = bars.slice(4);
  const perMs = Number(answer[0]?.[4]) / 500;
  for (const [i, [, stage, x, , width, ms]] of answer.entries()) {
    if (Number(ms) > 0)
      t.ok(Math.abs(Number(width) - Number(ms) * perMs) < 0.6, `${stage} is as wide as it is long`);
    const before = answer[i - 1];
    if (before !== undefined && Number(before[5]) > 0)
      t.ok(
        Math.abs(Number(before[2]) + Number(before[4]) - Number(x)) < 0.6,
        `${stage} follows the one before`,
      );
  }
  const height = (text: string) => Number(/height="([\d.]+)" viewBox/.exec(text)?.[1]);
  t.ok(height(svg) > height(drawCall({ ...picture, waits: [] })) + 60, 'it has room of its own');
});

t.test('what is said first is marked from its beginning to its end, and nothing in it as cut', async (t) => {
  const picture = pictureOf(saidFirstEvidence());
  t.match(
    picture.marks.filter(({ label }) => /said first|heard/.test(label)),
    [
      { atMs: 1_000, label: 'said first: nothing interrupts it' },
      { atMs: 8_000, label: 'heard whole' },
    ],
  );
  t.same(picture.bargeIns, []);
  t.match(textOf(drawCall(picture)), 'said first: nothing interrupts it');
});

t.test('who asks not to be called again: when that was said', async (t) => {
  t.match(
    pictureOf(optOutEvidence()).marks.filter(({ label }) => label.startsWith('asks')),
    [{ atMs: 5_800, label: 'asks not to be called again: noted' }],
  );
});
