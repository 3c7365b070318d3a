// What the campaign of lost streams takes for gone on, for lost and for untrue, by table; its sounds are put together here.
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import {
  type HeardLine,
  type LostStream,
  lostStreams,
  personWordsLost,
  type Seam,
  seamOf,
} from '../../scripts/chaos/lost-streams.ts';
import { openClips, readClip } from '../../scripts/simulate/clips.ts';

const MS = 8;
const speech = readClip(join(import.meta.dirname, '../fixtures/audio/voicemail-greeting-with-beep.wav'));
const part = (fromMs: number, toMs: number) => speech.slice(fromMs * MS, toMs * MS);
/** Two sentences of ten words each, of 3 and 2 s. */
const FIRST = { text: 'one two three four five six seven eight nine ten', samples: part(100, 3_100) };
const SECOND = { text: 'red blue green black white pink gold grey brown teal', samples: part(5_000, 7_000) };
const sentences = [FIRST, SECOND];
/** The first sentence begins here; the line breaks 1.5 s into it. */
const BEGAN = 4_000;
const BROKE = 5_500;

const lost = (fields: Partial<LostStream> = {}): LostStream => ({
  sid: 'CA1',
  fromMs: BROKE,
  toMs: BROKE + 400,
  outcome: 'gone_on',
  wasSpeaking: true,
  ...fields,
});
const line = (fields: Partial<HeardLine> = {}): HeardLine => ({
  role: 'agent',
  text: FIRST.text,
  heard_text: FIRST.text,
  interrupted: false,
  start_ms: BEGAN,
  end_ms: BEGAN + 3_500,
  ...fields,
});
/** A line on which these are heard. */
function heard(...parts: [samples: Float32Array, atMs: number][]): Float32Array {
  const sound = Float32Array.from({ length: 15_000 * MS }, (_, i) => ((i * 7919) % 5) - 2);
  for (const [samples, atMs] of parts) sound.set(samples, atMs * MS);
  return sound;
}
/** Of the first sentence from so many ms on, and of the second. */
const first = (fromMs: number, toMs = 3_000) => FIRST.samples.slice(fromMs * MS, toMs * MS);
const tone = Float32Array.from({ length: 1_000 * MS }, (_, i) => 8_000 * Math.sin(i / 3));
const lowered = first(1_900).map((sample) => sample / 5);
const before: [Float32Array, number] = [first(0, 1_500), BEGAN];

const seam = (
  sound: Float32Array,
  o: {
    lost?: Partial<LostStream>;
    lines?: HeardLine[];
    person?: { startMs: number; endMs: number }[];
    untilMs?: number;
  } = {},
): Seam | null =>
  seamOf(lost(o.lost), {
    heard: sound,
    sentences,
    lines: o.lines ?? [line()],
    streamMs: 0,
    person: o.person ?? [],
    untilMs: o.untilMs ?? Number.POSITIVE_INFINITY,
  });

t.test('what was heard on both sides of a break', async (t) => {
  const went = { became: 'went_on', lostMs: 0, wordsLost: 0, untrue: null };
  const cases: [string, Seam | null, object | null][] = [
    ['at the very place', seam(heard(before, [first(1_500), 6_100])), { ...went, silentMs: 600, againMs: 0 }],
    ['a little of it again', seam(heard(before, [first(1_300), 6_100])), went],
    ['lowered at once', seam(heard(before, [first(1_500, 1_900), 6_100], [lowered, 6_500])), went],
    [
      'half a second skipped',
      seam(heard(before, [first(2_000), 6_100])),
      { became: 'went_on', wordsLost: 1, untrue: 'the transcript has all of it as heard' },
    ],
    [
      'skipped, and the transcript knows',
      seam(heard(before, [first(2_000), 6_100]), {
        lines: [line({ interrupted: true, heard_text: 'one two' })],
      }),
      { wordsLost: 1, untrue: null },
    ],
    [
      'the next sentence instead',
      seam(heard(before, [SECOND.samples, 6_100])),
      { became: 'stopped', wordsLost: 4, untrue: 'the transcript has 10 words of it as heard, and 6 were' },
    ],
    [
      'the next sentence, for the person spoke',
      seam(heard(before, [SECOND.samples, 9_000]), {
        person: [{ startMs: 5_600, endMs: 8_000 }],
        lines: [line({ interrupted: true, heard_text: 'one two three four five' })],
      }),
      { became: 'stopped', wordsLost: 0, untrue: null },
    ],
    [
      'the person spoke, and more is claimed than was heard',
      seam(heard(before, [SECOND.samples, 9_000]), { person: [{ startMs: 5_600, endMs: 8_000 }] }),
      { became: 'stopped', wordsLost: 0, untrue: 'the transcript has 10 words of it as heard, and 6 were' },
    ],
    ['never again', seam(heard(before)), { became: 'stopped', silentMs: null, wordsLost: 4 }],
    ['never again, since it broke once more', seam(heard(before), { untilMs: 6_000 }), null],
    [
      'it had just ended',
      seam(heard([FIRST.samples, BROKE - 2_980], [SECOND.samples, 6_100]), {
        lines: [line({ start_ms: BROKE - 3_000 })],
      }),
      went,
    ],
    [
      'no line of it',
      seam(heard(before, [first(1_500), 6_100]), { lines: [] }),
      { became: 'went_on', untrue: 'no line of the transcript has it' },
    ],
    ['other sound', seam(heard(before, [tone, 6_100])), { became: 'unknown', untrue: null }],
    ['the agent was silent', seam(heard([FIRST.samples, 1_000], [SECOND.samples, 6_100])), null],
    ['nothing was unheard', seam(heard(before), { lost: { wasSpeaking: false } }), null],
    ['no other stream', seam(heard(before), { lost: { toMs: null } }), null],
  ];
  for (const [name, found, wanted] of cases) {
    if (wanted === null) t.equal(found, null, name);
    else t.match(found, wanted, name);
  }
  const again = seam(heard(before, [first(1_300), 6_100]))?.againMs ?? 0;
  t.ok(again > 60 && again <= 220, `${again} ms heard twice`);
});

t.test('a phrase that two sentences share is that of the line which the transcript has there', async (t) => {
  const other = { text: 'alpha beta gamma delta', samples: part(100, 2_200) };
  const shared = (lines: HeardLine[]) =>
    seamOf(lost(), {
      heard: heard(before, [first(1_500), 6_100]),
      sentences: [other, ...sentences],
      lines,
      streamMs: 0,
      person: [],
      untilMs: Number.POSITIVE_INFINITY,
    });
  t.match(shared([line()]), { became: 'went_on', wordsLost: 0, untrue: null });
  t.match(shared([]), { untrue: 'no line of the transcript has it' });
});

t.test('streams that broke: with another one after them, or none', async (t) => {
  const stream = (startedMs: number, endedMs: number, by: string, unplayed = 0) => ({
    startedMs,
    endedMs,
    end: { by },
    received: { bytes: 8_000 },
    playedBytes: 8_000 - unplayed,
    clears: [{ droppedBytes: 0 }],
  });
  const report = (streams: object[], ended: [number, string] = [60_000, 'application']) =>
    ({
      sid: 'CA1',
      answeredAtMs: 1_000,
      streams,
      endedAtMs: ended[0],
      endedBy: ended[1],
    }) as unknown as CallReport;
  const cases: [string, CallReport, object[]][] = [
    ['none', report([stream(1_100, 60_000, 'carrier')]), []],
    [
      'one',
      report([stream(1_100, 20_000, 'error', 160), stream(20_500, 60_000, 'carrier')]),
      [{ fromMs: 19_000, toMs: 19_500, outcome: 'gone_on', wasSpeaking: true }],
    ],
    [
      'two, the second for good',
      report([stream(1_100, 20_000, 'error'), stream(20_500, 40_000, 'error')]),
      [
        { outcome: 'gone_on', wasSpeaking: false },
        { fromMs: 39_000, toMs: null, outcome: 'lost' },
      ],
    ],
    ['the person left', report([stream(1_100, 20_000, 'error')], [21_000, 'callee']), [{ outcome: 'left' }]],
    [
      'the person left much later',
      report([stream(1_100, 20_000, 'error')], [40_000, 'callee']),
      [{ outcome: 'lost' }],
    ],
  ];
  for (const [name, given, wanted] of cases) {
    const found = lostStreams(given);
    t.equal(found.length, wanted.length, name);
    t.match(found, wanted, name);
  }
});

t.test('words of the person: those that were carried are written down', async (t) => {
  const { byFile } = openClips(null, '');
  const clip = byFile['jfk-8k.wav']!;
  const all = clip.words.map(([, , word]) => word).join(' ');
  const look = (
    text: string,
    o: { gaps?: LostStream[]; endMs?: number; agent?: { startMs: number; endMs: number }[] } = {},
  ) =>
    personWordsLost({
      said: [{ clip, startMs: 1_000, endMs: 12_000 }],
      gaps: o.gaps ?? [],
      lines: [{ role: 'caller', text, start_ms: 0, end_ms: null }],
      agent: o.agent ?? [],
      endMs: o.endMs ?? 60_000,
    });
  // "ask not" stands between two pauses, too short for the simulated ears.
  t.same(look(all), { said: 20, intoGaps: 0, lost: [] });
  t.same(look(all.replace('fellow ', '')).lost, ['fellow']);
  t.equal(look('').lost.length, 20);
  t.same(look(`And so you ${all}`).lost, [], 'what is there beside is no loss');
  // 6.2 to 6.6 s of the call are 5.2 to 5.6 s of the recording, and what was on its way is lost with them.
  const gap = lost({ fromMs: 6_200, toMs: 6_600 });
  const around = look('And so my fellow Americans, can do for you, ask what you can do for your country.', {
    gaps: [gap],
  });
  t.same(around, { said: 17, intoGaps: 3, lost: [] }, 'what was said into a gap is nobody’s fault');
  t.same(look('', { gaps: [lost({ fromMs: 0, toMs: null })] }), { said: 0, intoGaps: 22, lost: [] });
  t.same(
    look('And so my fellow Americans,', { endMs: 8_000 }).lost,
    [],
    'nor what the end of the call cut off',
  );
  const agent = [{ startMs: 7_000, endMs: 7_300 }];
  t.same(look('', { agent }).lost.length, 5, 'nor what was said over the agent');
});
