// `npm run bench`: the daemon beside a bare bridge and the OpenAI Agents SDK, on the same load, in one run. Ratios travel between
// machines, microseconds do not. `--short` for a first look, `--write-docs` for docs/bench.md and docs/bench.svg.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { type Campaign, type CampaignOptions, runCampaign, splitCores } from './campaign.ts';
import { killAll } from './peer.ts';
import { picture } from './picture.ts';
import {
  costByCalls,
  fixed,
  HEAD,
  largestText,
  markdown,
  rowsOf,
  TITLES,
  tableOf,
  targetsOf,
  terminal,
  whole,
} from './tables.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a round that has begun may still take. */
const OVERTIME_SECONDS = 120;

const HELP = `npm run bench -- [options]

  --short          20 calls, one round, no search for the largest number: under a minute
  --calls N        calls at once in the comparison (default 100)
  --rounds N       rounds of each subject, one after the other (default 3)
  --seconds N      measured in each round (default 10)
  --threads N      media threads of the daemon (default: one per core it may use)
  --set NAME=VALUE a setting of the daemon, as often as needed (VAD_MODEL=v5)
  --no-agents      without the OpenAI Agents SDK (which npm installs in a temporary folder)
  --no-largest     without the search for the largest number of calls
  --no-pin         leave it to the system which cores the subject and the load use
  --json FILE      write every figure
  --svg FILE       write the picture
  --write-docs     write docs/bench.md and docs/bench.svg
`;

export const SHORT: CampaignOptions = {
  calls: 20,
  rounds: 1,
  seconds: 8,
  warmUpSeconds: 4,
  subjects: ['daemon', 'json', 'agents'],
  scaling: [],
  largest: false,
  mediaThreads: 1,
  settings: {},
  limitSeconds: 40,
  pin: true,
};

const FULL: CampaignOptions = {
  ...SHORT,
  calls: 100,
  rounds: 3,
  seconds: 9,
  warmUpSeconds: 9,
  subjects: ['daemon', 'json', 'agents', 'daemon-joined', 'daemon-recording'],
  scaling: [10, 40],
  largest: true,
  limitSeconds: 580,
};

function readOptions(): { options: CampaignOptions; json?: string; svg?: string; docs: boolean } | null {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      help: { type: 'boolean' },
      short: { type: 'boolean' },
      calls: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      threads: { type: 'string' },
      agents: { type: 'boolean', default: true },
      largest: { type: 'boolean', default: true },
      pin: { type: 'boolean', default: true },
      json: { type: 'string' },
      svg: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      'write-docs': { type: 'boolean' },
    },
  });
  if (values.help) return null;
  const base = values.short ? SHORT : FULL;
  const number = (text: string | undefined, otherwise: number) => {
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`"${text}" is not a number above 0`);
    return value;
  };
  const split = values.pin ? splitCores() : null;
  const own = split === null ? 2 : split.subject.includes('-') ? Number(split.subject.split('-')[1]) + 1 : 1;
  const options: CampaignOptions = {
    ...base,
    calls: number(values.calls, base.calls),
    rounds: number(values.rounds, base.rounds),
    seconds: number(values.seconds, base.seconds),
    mediaThreads: number(values.threads, own),
    settings: Object.fromEntries(
      values.set.map((text) => [text.split('=')[0] ?? '', text.split('=').slice(1).join('=')]),
    ),
    largest: base.largest && values.largest,
    pin: values.pin,
    subjects: base.subjects.filter((name) => name !== 'agents' || values.agents),
  };
  return {
    options,
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
    docs: values['write-docs'] === true,
  };
}

const color = process.stdout.isTTY === true;
const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  color ? styleText(style, text) : text;
const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

function report(campaign: Campaign): void {
  const rows = rowsOf(campaign);
  console.log(`\n${terminal(HEAD, tableOf(rows))}`);
  const { agents, host, cores } = campaign;
  if (agents !== null && 'missing' in agents)
    console.log(
      paint('yellow', `\nThe Agents SDK could not be installed (${agents.missing}): its column is missing.`),
    );
  for (const name of Object.keys(campaign.largest) as (keyof typeof TITLES)[])
    console.log(`\nlargest number of calls, ${TITLES[name]}: ${largestText(campaign.largest[name])}`);
  console.log('');
  for (const { text, value, met } of targetsOf(campaign)) {
    const sign = met === null ? paint('dim', '–') : met ? paint('green', '✓') : paint('red', '✗');
    console.log(`${sign} ${text}: ${paint('bold', value)}`);
  }
  const held =
    cores === null ? 'not held to cores' : `subject on core ${cores.subject}, load on ${cores.load}`;
  console.log(
    paint(
      'dim',
      `\n${host.cpu}, ${host.cores} cores, Node ${host.node.slice(1)}; ${held}; system load ${fixed(host.loadBefore)} before, ` +
        `${fixed(host.loadAfter)} after; ${clock(campaign.tookSeconds)} min`,
    ),
  );
}

const BEGIN = '<!-- figures: written by npm run bench -- --write-docs -->';
const END = '<!-- end of figures -->';

/** The figures in docs/bench.md, between its two marks; the words around them are a person's. */
function writeDocs(campaign: Campaign): void {
  const path = join(ROOT, 'docs/bench.md');
  const text = readFileSync(path, 'utf8');
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${path} has lost the marks between which the figures go`);
  const { host, cores, options, agents } = campaign;
  const parts = [
    BEGIN,
    `Measured on ${host.cpu} (${host.cores} cores), ${host.system}, Node ${host.node.slice(1)}; ${options.calls} calls at once, ` +
      `${options.rounds} rounds of ${options.seconds} s, medians; ` +
      `${cores === null ? 'nothing held to cores' : `the subject on core ${cores.subject}, the load on core ${cores.load}`}; ` +
      `${options.mediaThreads} media thread${options.mediaThreads === 1 ? '' : 's'}; ` +
      `${Object.entries(options.settings)
        .map(([name, value]) => `${name}=${value}; `)
        .join('')}` +
      `Agents SDK ${agents && 'version' in agents ? agents.version : 'not installed'}; system load before ${fixed(host.loadBefore)}.`,
    markdown(HEAD, tableOf(rowsOf(campaign))),
    '**Largest number of calls** with p99 of the added latency under 20 ms and nothing lost:',
    markdown(
      ['', 'calls'],
      (Object.keys(campaign.largest) as (keyof typeof TITLES)[]).map((name) => [
        TITLES[name],
        largestText(campaign.largest[name]),
      ]),
    ),
    '**Cost per call** by the number of calls:',
    markdown(
      [
        'calls',
        'CPU µs per call-second',
        'bare bridge',
        'to the model p99 ms',
        'first audio p99 ms',
        'loop delay p99 ms',
      ],
      costByCalls(campaign).map((one) => [
        String(one.calls),
        whole(one.cpuUs),
        whole(one.jsonUs),
        fixed(one.uplinkP99),
        fixed(one.firstAudioP99),
        fixed(one.loopDelayP99Ms),
      ]),
    ),
    '**Targets**:',
    markdown(
      ['target', 'this run', ''],
      targetsOf(campaign).map(({ text: target, value, met }) => [
        target,
        value,
        met === null ? '–' : met ? 'met' : 'not met',
      ]),
    ),
    END,
  ];
  writeFileSync(path, text.slice(0, from) + parts.join('\n\n') + text.slice(to + END.length));
  writeFileSync(join(ROOT, 'docs/bench.svg'), picture(campaign));
  console.log(`\nwritten: docs/bench.md, docs/bench.svg`);
}

async function main(): Promise<void> {
  const asked = readOptions();
  if (asked === null) {
    console.log(HELP);
    return;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      killAll();
      console.log('\nstopped; nothing is left running');
      process.exit(130);
    });
  const { options } = asked;
  // Whatever hangs, the run ends.
  setTimeout(
    () => {
      killAll();
      console.error('bench: it took too long, something hangs');
      process.exit(1);
    },
    (options.limitSeconds + OVERTIME_SECONDS) * 1000,
  ).unref();
  console.log(
    `${options.calls} calls at once, ${options.rounds} round${options.rounds === 1 ? '' : 's'}, at most ${clock(options.limitSeconds)} min`,
  );
  const began = performance.now();
  const campaign = await runCampaign(options, {
    step: (text) => console.log(`${paint('dim', clock((performance.now() - began) / 1000))}  ${text}`),
    measured: (figures) =>
      console.log(
        `      ${paint('cyan', `${whole(figures.cpuUs)} µs`)} per call-second, to the model p99 ${fixed(figures.uplink.p99)} ms, ` +
          `first audio p99 ${fixed(figures.firstAudio.p99)} ms, ${figures.lostFrames + figures.shortAnswers} lost` +
          `${figures.disturbed ? paint('yellow', ', disturbed by other work') : ''}` +
          `${figures.broken === null ? '' : paint('red', `, ${figures.broken}`)}`,
      ),
  });
  report(campaign);
  if (asked.json !== undefined) writeFileSync(asked.json, `${JSON.stringify(campaign, null, 2)}\n`);
  if (asked.svg !== undefined) writeFileSync(asked.svg, picture(campaign));
  if (asked.docs) writeDocs(campaign);
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
