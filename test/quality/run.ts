// `npm run quality`: the whole set, the tables in the terminal, everything as JSON and a picture in quality/.
// --quick a quarter of the set and no neighbours; --model v4|v5|v6; --notes what went wrong, call by call; --docs docs/quality.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { COSTS } from './cost.ts';
import { measure } from './measure.ts';
import { pictureOf } from './picture.ts';
import { readRecordings } from './recordings.ts';
import { asMarkdown, asText, costRows, detectorRows, type Results, talkRows } from './report.ts';

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, 'quality');

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    model: { type: 'string' },
    notes: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});
if (options.model !== undefined && !Object.hasOwn(VAD_MODELS, options.model)) {
  process.stderr.write(`--model is one of ${Object.keys(VAD_MODELS).join(', ')}\n`);
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

const recordings = readRecordings();
const results = await measure(recordings, {
  size: options.quick ? 0.25 : 1,
  neighbours: !options.quick,
  onProgress: progress,
  ...(options.model !== undefined && { vadModel: options.model as VadModelName }),
});
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

const say = (text = '') => process.stdout.write(`${text}\n`);
const detectorNames = results.detectors.map(({ name }) => name);
const costNames = COSTS;
say(paint('bold', 'Conversations'));
say(asText(['Offhook'], talkRows(results.talks), verdict));
say();
say(paint('bold', 'Detectors'));
say(asText(detectorNames, detectorRows(results.streams, results.detectors), verdict));
if (results.costs.length > 0) {
  say();
  say(asText(costNames, costRows(results.costs), verdict));
}
say();
say(paint('dim', `made from ${results.sources.join(', ')}`));
for (const one of results.missing) say(paint('yellow', `left out: ${one}`));
if (options.notes) for (const note of results.talks.notes) say(note);

mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
writeFileSync(join(OUT, 'quality.svg'), pictureOf(results));
say(paint('dim', 'quality/results.json, quality/quality.svg'));
if (options.docs) writeDocs(results);

/** The committed run: the picture, and the tables between their marks. */
function writeDocs(run: Results): void {
  const path = join(ROOT, 'docs/quality.md');
  const page = readFileSync(path, 'utf8');
  const [start, end] = ['<!-- run -->', '<!-- /run -->'];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`docs/quality.md has no ${start} … ${end}`);
  const tables = [
    `${run.calls} calls of ${run.callMinutes.toFixed(0)} minutes together, ${run.streamMinutes.toFixed(0)} minutes of streams; made from ${run.sources.join(', ')}.`,
    asMarkdown(['Offhook'], talkRows(run.talks)),
    asMarkdown(detectorNames, detectorRows(run.streams, run.detectors)),
    asMarkdown(costNames, costRows(run.costs)),
    `CPU time on ${cpus()[0]?.model ?? 'this host'}, Node ${process.version}, best of three rounds.`,
  ];
  writeFileSync(path, `${page.slice(0, from + start.length)}\n\n${tables.join('\n\n')}\n\n${page.slice(to)}`);
  writeFileSync(join(ROOT, 'docs/quality.svg'), pictureOf(run));
  say('docs/quality.md, docs/quality.svg');
}
