// `npm run soak`: hours of calls on one daemon. Reads its options, shows how it goes, prints a table, exits 1 when something
// grew, was lost or ended without a reason.
import { join, resolve } from 'node:path';
import { readCampaignOptions, runCampaignScript } from './campaign-options.ts';
import { runSoak, type SoakReport } from './soak/campaign.ts';

const USAGE = `npm run soak -- [options]

Calls of mixed lengths come and go on a daemon for hours, over a simulated carrier and a simulated model, all on this machine.
Reads what the process and each of its threads hold and how they keep time; says at the end whether the second half needed
more than the first, which frames were lost, and which calls ended without a reason.

  --minutes N     how long (default 120)
  --lines N       calls at once (default 20)
  --settle N      minutes of the start that count for neither half (default 5)
  --longest N     seconds of the longest talks (default 600)
  --sample N      seconds between two lines of the table (default 10)
  --late-ms N     MEDIA_LATE_MS of the daemon (default 40); 0: it takes calls however late it is
  --threads N     MEDIA_THREADS of the daemon (default 0: one per core)
  --seed N        the choices of an earlier run (timing is the machine's own)
  --out DIR       soak.csv, soak.svg and verdict.json go here (default soaks/TIME)
  --keep DIR      keep data and logs in this folder
  --help          this text`;

function readOptions() {
  const { numbers, texts, help, keep } = readCampaignOptions({
    numbers: {
      minutes: 120,
      lines: 20,
      settle: 5,
      longest: 600,
      sample: 10,
      'late-ms': 40,
      threads: 0,
      seed: Math.floor(Math.random() * 1_000_000),
    },
    texts: ['out'],
  });
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return { ...numbers, out: resolve(texts.out ?? join('soaks', time)), help, keep };
}

function table({ checks, ends, warnings }: SoakReport): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, value, violations }) =>
      `${name.padEnd(width)}  ${violations.length === 0 ? 'ok  ' : 'FAIL'} ${value}`,
  );
  const said = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
  lines.push('', 'ends:', ...said(ends));
  if (Object.keys(warnings).length > 0) lines.push('', "the daemon's warnings:", ...said(warnings));
  const broken = checks.flatMap(({ violations }) => violations);
  if (broken.length > 0) lines.push('', 'what did not hold:', ...broken.map((line) => `  ${line}`));
  return lines.join('\n');
}

async function run(options: ReturnType<typeof readOptions>, folder: string): Promise<boolean> {
  console.log(`seed ${options.seed}, ${options.minutes} minutes, ${options.lines} lines`);
  const report = await runSoak({
    minutes: options.minutes,
    lines: options.lines,
    settleMinutes: options.settle,
    longestSeconds: options.longest,
    sampleSeconds: options.sample,
    seed: options.seed,
    folder,
    out: options.out,
    env: { MEDIA_LATE_MS: String(options['late-ms']), MEDIA_THREADS: String(options.threads) },
    onSample({ seconds, residentBytes, callsLive, frameAgeP99Ms }, calls) {
      if (seconds % 60 >= options.sample) return;
      const mb = (residentBytes / 1024 / 1024).toFixed(0);
      console.log(
        `${Math.round(seconds / 60)} min: ${calls} calls ended, ${callsLive} live, ${mb} MB, frames waited ${frameAgeP99Ms.toFixed(0)} ms (p99)`,
      );
    },
  });
  console.log(`\n${table(report)}\n\n${options.out}: soak.csv, soak.svg, verdict.json`);
  return report.checks.every(({ violations }) => violations.length === 0);
}

process.exitCode = await runCampaignScript({ usage: USAGE, read: readOptions, run, name: 'soak' });
