// `npm run chaos`: the kill campaign. Reads its options, shows how it goes, prints a table, exits 1 on any violation.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type CampaignReport, POINTS, runCampaign } from './chaos/campaign.ts';

const USAGE = `npm run chaos -- [options]

Kills a daemon that has live calls, again and again, at random and at named points; empties and kills its Redis; has its
receiver fail and its carrier lose answers. Then checks that no event was lost or invented, every call has one end, all
money adds up and nobody was dialled twice. Everything runs on this machine.

  --kills N           kills of the daemon (default 200)
  --redis-flushes N   times that Redis is emptied (default 20; needs redis-server or valkey-server on the path)
  --redis-kills N     times that Redis is killed (default 10)
  --lines N           callers and customers at once (default 14)
  --points A,B        kill at these named points only
  --minutes N         no more kills after so long (default 60)
  --seed N            the choices of an earlier run (timing is the machine's own)
  --keep DIR          keep data and logs in this folder
  --help              this text`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '200' },
      'redis-flushes': { type: 'string', default: '20' },
      'redis-kills': { type: 'string', default: '10' },
      lines: { type: 'string', default: '14' },
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      points: { type: 'string' },
      keep: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const whole = (name: 'kills' | 'redis-flushes' | 'redis-kills' | 'lines' | 'minutes' | 'seed') => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number.`);
    return value;
  };
  const points = values.points?.split(',');
  const unknown = points?.find((name) => !(name in POINTS));
  if (unknown !== undefined)
    throw new Error(`--points: there is no ${unknown}; there are ${Object.keys(POINTS).join(', ')}.`);
  return {
    ...(points === undefined ? {} : { points }),
    help: values.help,
    keep: values.keep ?? null,
    kills: whole('kills'),
    redisFlushes: whole('redis-flushes'),
    redisKills: whole('redis-kills'),
    lines: whole('lines'),
    minutes: whole('minutes'),
    seed: whole('seed'),
  };
}

function table(report: CampaignReport): string {
  const named = Object.entries(report.killsAt).filter(([name]) => name !== 'random');
  const atNamed = named.reduce((sum, [, count]) => sum + count, 0);
  const redis =
    report.redis === null
      ? 'skipped: no redis-server or valkey-server was found (or none was asked for)'
      : `${report.redis}: emptied ${report.redisFlushes} times, killed ${report.redisKills} times`;
  const rows: [string, string, string][] = [
    ['seed', String(report.seed), ''],
    ['kills', `${report.kills} (${atNamed} at ${named.length} named points)`, ''],
    ['orderly stops in between', String(report.stops), ''],
    ['redis', redis, ''],
    ['took', `${report.seconds} s`, ''],
    ['deliveries given up, then sent again', String(report.replays), ''],
    ...report.checks.map((check): [string, string, string] => [
      check.name,
      String(check.value),
      check.violations.length === 0 ? 'ok' : `${check.violations.length} VIOLATIONS`,
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value, verdict]) =>
      `${name.padEnd(width)}  ${verdict.padEnd(verdict === '' ? 0 : 4)} ${value}`.trimEnd(),
    )
    .join('\n');
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const folder =
    options.keep === null ? mkdtempSync(join(tmpdir(), 'offhook-chaos-')) : resolve(options.keep);
  console.log(`seed ${options.seed}`);
  const live = process.stdout.isTTY === true;
  const report = await runCampaign({
    ...options,
    folder,
    onProgress(p) {
      const line = `${p.kills}/${options.kills} kills (last: ${p.last}), ${p.calls} calls, ${p.deliveries} deliveries, redis emptied ${p.redisFlushes}, killed ${p.redisKills}`;
      if (live) process.stdout.write(`\r\x1b[K${line}`);
      else if (p.kills % 10 === 0) console.log(line);
    },
  });
  if (live) process.stdout.write('\r\x1b[K');
  console.log(`\n${table(report)}`);
  const points = Object.entries(report.killsAt).sort(([a], [b]) => a.localeCompare(b));
  console.log(`\nkilled at: ${points.map(([name, count]) => `${name} ${count}`).join(', ')}`);
  const said = Object.entries(report.warnings).sort(([, a], [, b]) => b - a);
  if (said.length > 0) console.log(`warnings: ${said.map(([name, count]) => `${name} ${count}`).join(', ')}`);
  const broken = report.checks.filter((check) => check.violations.length > 0);
  for (const check of broken) {
    console.log(`\n${check.name}:`);
    for (const violation of check.violations.slice(0, 20)) console.log(`  ${violation}`);
  }
  if (options.keep === null && broken.length === 0) rmSync(folder, { recursive: true, force: true });
  else console.log(`\ndata and logs: ${folder}`);
  console.log(broken.length === 0 ? '\nAll held.' : '\nNOT all held.');
  return broken.length === 0 ? 0 : 1;
}

process.exitCode = await main();
