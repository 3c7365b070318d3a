// `npm run bench`: the daemon as it comes beside other bridges, on the same load, in one run. Ratios travel between machines,
// microseconds do not. `--short` for a first look, `--write-docs` for docs/bench.md and docs/bench.svg, `--against` for what changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { runCampaign } from './campaign.ts';
import { COLUMN_NAMES, type ColumnName } from './columns.ts';
import { comparisonOf, differences } from './compare.ts';
import { createTrack, turnsIn } from './load/track.ts';
import { killAll } from './peer.ts';
import { picture } from './picture.ts';
import { type CampaignOptions, keep, type Results, readKept } from './results.ts';
import { missingFrom, sectionsOf } from './tables.ts';
import { fixed, markdown, terminal, whole } from './text.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What has begun when the time is over may still take so long. */
const OVERTIME_SECONDS = 360;
const OLD_SECONDS = 600;
/** Of a terminal that does not say. */
const WIDTH = 150;

const HELP = `npm run bench -- [options]

  --short          20 calls, one round, three columns, no search for the largest number: a minute
  --columns LIST   what is measured (default all: ${COLUMN_NAMES.join(',')})
  --calls N        calls at once in the comparison (default 100)
  --also LIST      numbers of calls at which the daemon and the bare bridge are measured besides (default 10,300)
  --rounds N       rounds of each column, one after the other (default 3; 2 of columns that differ by one setting, 1 of old calls)
  --seconds N      measured in each round (default 9)
  --threads N      media threads of the daemon, each with a core of its own (default 1)
  --set NAME=VALUE a setting of the daemon, as often as needed (VAD_MODEL=v4)
  --no-largest     without the search for the largest number of calls
  --no-pin         leave it to the system which cores the subject and the load use
  --json FILE      keep every figure
  --against FILE   what has changed since the run that FILE keeps
  --read FILE      take the run that FILE keeps in place of a new one
  --svg FILE       write the picture
  --write-docs     write docs/bench.md and docs/bench.svg
`;

export const SHORT: CampaignOptions = {
  calls: 20,
  rounds: 1,
  seconds: 8,
  warmUpSeconds: 4,
  warmUpCallSeconds: 0,
  columns: ['daemon', 'json', 'agents'],
  scaling: [],
  climbing: [],
  agedTurns: Math.round(turnsIn(OLD_SECONDS, createTrack())),
  threads: 1,
  settings: {},
  limitSeconds: 120,
  pin: true,
};

const FULL: CampaignOptions = {
  ...SHORT,
  calls: 100,
  rounds: 3,
  seconds: 9,
  warmUpSeconds: 9,
  warmUpCallSeconds: 900,
  columns: COLUMN_NAMES,
  scaling: [10, 300],
  climbing: ['daemon', 'daemon-2-threads', 'daemon-4-threads', 'json', 'agents'],
  limitSeconds: 1_800,
};

interface Asked {
  options: CampaignOptions;
  json?: string;
  svg?: string;
  against?: string;
  read?: string;
  docs: boolean;
}

function aboveZero(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`"${text}" is not a number above 0`);
  return value;
}

const listOf = (text: string) => text.split(',').filter((part) => part !== '');

function columnsOf(text: string): ColumnName[] {
  return listOf(text).map((name) => {
    const found = COLUMN_NAMES.find((column) => column === name);
    if (found === undefined) throw new Error(`"${name}" is no column; there are ${COLUMN_NAMES.join(', ')}`);
    return found;
  });
}

/** Null: help is asked for. @throws Error */
function readOptions(): Asked | null {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      help: { type: 'boolean' },
      short: { type: 'boolean' },
      columns: { type: 'string' },
      calls: { type: 'string' },
      also: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      threads: { type: 'string' },
      largest: { type: 'boolean', default: true },
      pin: { type: 'boolean', default: true },
      json: { type: 'string' },
      against: { type: 'string' },
      read: { type: 'string' },
      svg: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      'write-docs': { type: 'boolean' },
    },
  });
  if (values.help) return null;
  const base = values.short ? SHORT : FULL;
  const number = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : aboveZero(text);
  const columns = values.columns === undefined ? base.columns : columnsOf(values.columns);
  return {
    options: {
      ...base,
      columns,
      calls: number(values.calls, base.calls),
      scaling: values.also === undefined ? base.scaling : listOf(values.also).map(aboveZero),
      rounds: number(values.rounds, base.rounds),
      seconds: number(values.seconds, base.seconds),
      threads: number(values.threads, base.threads),
      settings: Object.fromEntries(
        values.set.map((text) => [text.split('=')[0] ?? '', text.split('=').slice(1).join('=')]),
      ),
      climbing: values.largest ? base.climbing : [],
      pin: values.pin,
    },
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
    ...(values.against === undefined ? {} : { against: values.against }),
    ...(values.read === undefined ? {} : { read: values.read }),
    docs: values['write-docs'] === true,
  };
}

const color = process.stdout.isTTY === true;
const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  color ? styleText(style, text) : text;
const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

function held({ placement }: Results): string {
  if (placement === null) return 'nothing held to cores';
  const { subject, carrier, model } = placement;
  const load =
    carrier === model ? `the load on ${carrier}` : `the carrier on ${carrier}, the model on ${model}`;
  return `the subject on core ${subject}, ${load}`;
}

function show(results: Results): void {
  const width = process.stdout.columns ?? WIDTH;
  for (const section of sectionsOf(results)) console.log(`\n${terminal(section, width)}`);
  for (const line of missingFrom(results)) console.log(paint('yellow', `\n${line}`));
  const { cpu, cores, node, commit, loadBefore, loadAfter } = results.environment;
  console.log(
    paint(
      'dim',
      `\n${cpu}, ${cores} cores, Node ${node.slice(1)}, ${commit ?? 'no commit'}; ${held(results)}; ` +
        `system load ${fixed(loadBefore)} before, ${fixed(loadAfter)} after; ${clock(results.tookSeconds)} min`,
    ),
  );
}

function showChanges(before: Results, after: Results): void {
  console.log(`\n${terminal(comparisonOf(before, after), process.stdout.columns ?? WIDTH)}`);
  for (const line of differences(before, after)) console.log(paint('yellow', `\nnot the same: ${line}`));
}

const BEGIN = '<!-- figures: written by npm run bench -- --write-docs -->';
const END = '<!-- end of figures -->';

/** The figures in docs/bench.md, between its two marks; the words around them are a person's. */
function writeDocs(results: Results): void {
  const path = join(ROOT, 'docs/bench.md');
  const text = readFileSync(path, 'utf8');
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${path} has lost the marks between which the figures go`);
  const { environment, options, packages } = results;
  const version = (bridge: 'agents' | 'framework') => {
    const found = packages[bridge];
    return found !== undefined && 'version' in found ? found.version : 'not installed';
  };
  const settings = Object.entries(options.settings).map(([name, value]) => `${name}=${value}; `);
  const said =
    `Measured on ${environment.cpu} (${environment.cores} cores), ${environment.system}, Node ${environment.node.slice(1)}, ` +
    `${environment.commit ?? 'no commit'}; ${options.rounds} rounds of ${options.seconds} s, medians, in brackets from where to where they reach; ` +
    `${held(results)}; ${options.threads} media thread${options.threads === 1 ? '' : 's'} where a row says no other number; ${settings.join('')}` +
    `Agents SDK ${version('agents')}, realtime-voice-agents ${version('framework')}; system load before ${fixed(environment.loadBefore)}.`;
  const missing = missingFrom(results).map((line) => `- ${line}`);
  const parts = [
    BEGIN,
    said,
    ...sectionsOf(results).map(markdown),
    ...(missing.length === 0 ? [] : [missing.join('\n')]),
    END,
  ];
  writeFileSync(path, text.slice(0, from) + parts.join('\n\n') + text.slice(to + END.length));
  writeFileSync(join(ROOT, 'docs/bench.svg'), picture(results));
  console.log(`\nwritten: docs/bench.md, docs/bench.svg`);
}

async function run(options: CampaignOptions): Promise<Results> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      killAll();
      console.log('\nstopped; nothing is left running');
      process.exit(130);
    });
  // Whatever hangs, the run ends.
  setTimeout(
    () => {
      killAll();
      console.error('bench: it took too long, something hangs');
      process.exit(1);
    },
    (options.limitSeconds + OVERTIME_SECONDS) * 1000,
  ).unref();
  const { calls, rounds, limitSeconds } = options;
  console.log(
    `${calls} calls at once, ${rounds} round${rounds === 1 ? '' : 's'}, at most ${clock(limitSeconds + OVERTIME_SECONDS)} min`,
  );
  const began = performance.now();
  return runCampaign(options, {
    step: (text) => console.log(`${paint('dim', clock((performance.now() - began) / 1000))}  ${text}`),
    measured: (figures) =>
      console.log(
        `      ${paint('cyan', `${whole(figures.cpuUs)} µs`)} per call-second, newest frame p99 ${fixed(figures.newestFrame.p99)} ms, ` +
          `first audio p99 ${fixed(figures.firstAudio.p99)} ms, ${figures.lostFrames + figures.shortAnswers} lost` +
          `${figures.disturbed ? paint('yellow', ', disturbed by other work') : ''}` +
          `${figures.notCarried === null ? '' : paint('red', `, not carried: ${figures.notCarried}`)}`,
      ),
  });
}

async function main(): Promise<void> {
  const asked = readOptions();
  if (asked === null) {
    console.log(HELP);
    return;
  }
  // A file that cannot be read is found before the run, not after it.
  const before = asked.against === undefined ? null : readKept(asked.against);
  const results = asked.read === undefined ? await run(asked.options) : readKept(asked.read);
  if (asked.json !== undefined) keep(asked.json, results);
  show(results);
  if (before !== null) showChanges(before, results);
  if (asked.svg !== undefined) writeFileSync(asked.svg, picture(results));
  if (asked.docs) writeDocs(results);
  process.exit(0);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    killAll();
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
