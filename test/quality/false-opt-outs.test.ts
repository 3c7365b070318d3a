// Nothing that is said in the quality sets, in the demo or in the simulations is taken for "do not call me again".
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { asksNotToBeCalled } from '../../bridge/turns/opt-out.ts';
import { TEN_DIGITS } from './recorded.ts';
import { FIRST_TEXTS } from './recordings.ts';
import { SECOND_TEXTS } from './second-recordings.ts';
import { INSTEAD, UNWRITTEN } from './transcription.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Where it is asked for, and what is said there of it. */
const ASKED_FOR = /caller-not-again\.wav|"name": "opt-out"|opt-out\.json/;

/** Every run of words of a text: a transcription may begin and end anywhere. */
function runsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.flatMap((_, from) =>
    words.slice(from).map((_, count) => words.slice(from, from + count + 1).join(' ')),
  );
}

/** What the recordings of a simulator say, and what its agents do. */
function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { file, words, say, ...rest } = value as Record<string, unknown>;
  if (ASKED_FOR.test(String(file))) return [];
  return [
    ...(Array.isArray(words) ? [words.map((word: unknown[]) => String(word[2])).join(' ')] : []),
    ...(typeof say === 'string' ? [say] : []),
    ...Object.values(rest).flatMap(textsIn),
  ];
}

const simulators = [
  ...new Set(
    globSync(['scripts/**/*.json', 'test/e2e/scenarios/*.json'], { cwd: ROOT })
      .filter((file) => !ASKED_FOR.test(file) && !file.endsWith('voice.json'))
      .flatMap((file) => textsIn(JSON.parse(readFileSync(join(ROOT, file), 'utf8')))),
  ),
];
const sets = [
  ...new Set([
    ...FIRST_TEXTS,
    ...SECOND_TEXTS,
    ...Object.values(TEN_DIGITS),
    ...Object.values(INSTEAD).flat(),
    UNWRITTEN,
  ]),
];

for (const [where, texts, least] of [
  ['what the callers of both quality sets say', sets, 60],
  ['what is said in simulated calls, by both sides', simulators, 50],
] as const) {
  t.test(`${where}: whole and cut anywhere, nobody asks not to be called again`, async (t) => {
    const runs = new Set(texts.flatMap(runsOf));
    t.ok(texts.length >= least, `${texts.length} texts`);
    t.same([...runs].filter(asksNotToBeCalled), []);
    t.comment(`${texts.length} texts, ${runs.size} stretches of them`);
  });
}

t.test('where it is asked for, it is found', async (t) => {
  const { hears } = JSON.parse(readFileSync(join(ROOT, 'test/e2e/scenarios/opt-out.json'), 'utf8')) as {
    hears: unknown;
  };
  t.equal(textsIn(hears).filter(asksNotToBeCalled).length, 1);
  t.equal(runsOf('Please do not call me again.').filter(asksNotToBeCalled).length, 5);
});
