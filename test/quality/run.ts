// `npm run quality`: both sets, the tables in the terminal, everything as JSON and a picture in quality/.
// --set first|second one of them; --theme WORD only the themes of that word; --quick a quarter and no neighbours;
// --model v4|v5|v6; --notes what went wrong, call by call; --docs docs/quality.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { COSTS, type Cost, measureCost } from './cost.ts';
import { holdThemes, measure } from './measure.ts';
import { pictureOf } from './picture.ts';
import { readRecordings } from './recordings.ts';
import {
  asMarkdown,
  asText,
  costRows,
  detectorRows,
  type Results,
  type Row,
  sideBySide,
  type ThemeRows,
  talkRows,
} from './report.ts';
import { SETS, type SetName } from './sounds.ts';
import { THEMES } from './themes.ts';

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, 'quality');

const { values: options } = parseArgs({
  options: {
    set: { type: 'string' },
    theme: { type: 'string' },
    quick: { type: 'boolean', default: false },
    model: { type: 'string' },
    notes: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});
const asked = SETS.filter((name) => options.set === undefined || options.set === name);
const themes = THEMES.filter(({ title }) =>
  title.toLowerCase().includes((options.theme ?? '').toLowerCase()),
);
const refusal =
  options.model !== undefined && !Object.hasOwn(VAD_MODELS, options.model)
    ? `--model is one of ${Object.keys(VAD_MODELS).join(', ')}`
    : asked.length === 0
      ? `--set is one of ${SETS.join(', ')}`
      : themes.length === 0
        ? `--theme is a word of one of: ${THEMES.map(({ title }) => title).join('; ')}`
        : options.docs && (asked.length < SETS.length || options.theme !== undefined || options.quick)
          ? '--docs takes everything'
          : null;
if (refusal !== null) {
  process.stderr.write(`${refusal}\n`);
  process.exit(2);
}

const color = process.stdout.isTTY === true;
const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  color ? styleText(style, text) : text;
const verdict = (met: boolean, text: string) => paint(met ? 'green' : 'red', text);
const startedAt = performance.now();
const progress = (what: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${seconds} s  ${what}`);
  else if (!what.includes('%')) process.stderr.write(`${seconds} s  ${what}\n`);
};
const say = (text = '') => process.stdout.write(`${text}\n`);
const sayTable = (title: string, columns: readonly string[], rows: readonly Row[]) =>
  say(`${paint('bold', title)}\n${asText(columns, rows, verdict)}\n`);

const all = asked.map((set) => readRecordings(set));
/** A set of which nothing is installed is left out. */
const there = all.filter(({ sentences }) => sentences.length > 0);
const sets = there.map(({ set }) => set);
if (there.length === 0) {
  for (const { missing } of all) process.stderr.write(`left out: ${missing.join('; ')}\n`);
  process.exit(2);
}

/** Each theme's table, a column for each set. */
const themeTables = (found: readonly { set: SetName; themes: readonly ThemeRows[] }[]) =>
  themes.map(({ title }) => ({
    title,
    rows: sideBySide(
      found.map(({ set, themes: held }) => ({
        name: set,
        rows: held.find((theme) => theme.title === title)?.rows ?? [],
      })),
    ),
  }));

const o = {
  size: options.quick ? 0.25 : 1,
  themes,
  onProgress: progress,
  ...(options.model !== undefined && { vadModel: options.model as VadModelName }),
};
if (options.theme !== undefined) await tryThemes();
else await measureAll();

/** Only the themes asked for, nothing written. */
async function tryThemes(): Promise<void> {
  const found: { set: SetName; themes: ThemeRows[] }[] = [];
  for (const recordings of there)
    found.push({ set: recordings.set, themes: await holdThemes(recordings, o) });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  for (const { title, rows } of themeTables(found)) sayTable(title, sets, rows);
}

async function measureAll(): Promise<void> {
  const found: Results[] = [];
  for (const recordings of there) found.push(await measure(recordings, { ...o, neighbours: !options.quick }));
  if (!options.quick) progress('counting CPU time');
  const costs = options.quick ? [] : await measureCost();
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

  sayTable('Conversations', sets, conversationRows(found));
  for (const { title, rows } of themeTables(found)) sayTable(title, sets, rows);
  for (const { set, streams, detectors } of found)
    sayTable(
      `Detectors, ${set} set`,
      detectors.map(({ name }) => name),
      detectorRows(streams, detectors),
    );
  if (costs.length > 0) sayTable('Costs', COSTS, costRows(costs));
  for (const { set, sources, missing } of all) {
    say(paint('dim', `${set} set: made from ${sources.join(', ')}`));
    for (const one of missing) say(paint('yellow', `left out: ${one}`));
  }
  if (options.notes) for (const { talks } of found) for (const note of talks.notes) say(note);

  mkdirSync(OUT, { recursive: true });
  const results = { sets: Object.fromEntries(found.map((one) => [one.set, one])), costs };
  writeFileSync(join(OUT, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(join(OUT, 'quality.svg'), pictureOf(found));
  say(paint('dim', 'quality/results.json, quality/quality.svg'));
  if (options.docs) writeDocs(found, costs);
}

function conversationRows(found: readonly Results[]): Row[] {
  return sideBySide(found.map(({ set, talks }) => ({ name: set, rows: talkRows(talks) })));
}

/** The committed run: the picture, and the tables between their marks. */
function writeDocs(found: readonly Results[], costs: readonly Cost[]): void {
  const path = join(ROOT, 'docs/quality.md');
  const page = readFileSync(path, 'utf8');
  const [start, end] = ['<!-- run -->', '<!-- /run -->'];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`docs/quality.md has no ${start} … ${end}`);
  const minutes = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0).toFixed(0);
  const tables = [
    ...found.map((run) => {
      const calls = run.calls + run.themes.reduce((sum, theme) => sum + theme.calls, 0);
      const callMinutes = minutes([run.callMinutes, ...run.themes.map((theme) => theme.minutes)]);
      return `The ${run.set} set: ${calls} calls of ${callMinutes} minutes together, ${minutes([run.streamMinutes])} minutes of streams; made from ${run.sources.join(', ')}.`;
    }),
    '### Conversations',
    asMarkdown(sets, conversationRows(found)),
    ...themeTables(found).flatMap(({ title, rows }) => [`### ${title}`, asMarkdown(sets, rows)]),
    ...found.flatMap(({ set, streams, detectors }) => [
      `### Detectors, ${set} set`,
      asMarkdown(
        detectors.map(({ name }) => name),
        detectorRows(streams, detectors),
      ),
    ]),
    '### Costs',
    asMarkdown(COSTS, costRows(costs)),
    `CPU time on ${cpus()[0]?.model ?? 'this host'}, Node ${process.version}, best of three rounds.`,
  ];
  writeFileSync(path, `${page.slice(0, from + start.length)}\n\n${tables.join('\n\n')}\n\n${page.slice(to)}`);
  writeFileSync(join(ROOT, 'docs/quality.svg'), pictureOf(found));
  say('docs/quality.md, docs/quality.svg');
}
