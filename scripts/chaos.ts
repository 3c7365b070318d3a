// `npm run chaos`: the kill campaign. Reads its options, shows how it goes, prints a table, exits 1 on any violation.

import { readCampaignOptions, runCampaignScript } from './campaign-options.ts';
import { LINES_IN_TALK, runBreaksScript } from './chaos/breaks-script.ts';
import { runCallList } from './chaos/call-list.ts';
import { type CampaignReport, POINTS, runCampaign } from './chaos/campaign.ts';
import type { DayFigures } from './chaos/day.ts';
import { columns, rowsOf, tellViolations } from './chaos/table.ts';

const USAGE = `npm run chaos -- [options]

Kills a daemon that has live calls, again and again, at random and at named points; empties and kills its Redis; has its
receiver fail and its carrier lose answers. Then checks that no event was lost or invented, every call has one end, all
money adds up and nobody was dialled twice. Everything runs on this machine.

  --crashes N         kills of the daemon under short calls (default 200)
  --redis-flushes N   times that Redis is emptied (default 20; needs redis-server or valkey-server on the path)
  --redis-kills N     times that Redis is killed (default 10)
  --lines N           callers and customers at once (default 14, with --day 100, people in talk 20)
  --points A,B        kill at these named points only
  --day N             in place of kills, a day of N calls (28800 are 20 a minute): a fault each 10 seconds, a restart each
                      5 minutes, by a stop and by a kill in turn; says what the daemon held meanwhile
  --kills N           in place of all that: N kills under people in talk, each with a start at once, as a supervisor's;
                      the talks have to go on
  --resume N          in place of all that: N media streams lost under people in talk, each at a moment of its own; tells what
                      was heard of it, and every talk has to go on at the last heard word
  --handover N        in place of all that: N upgrades with people in talk, by \`offhook upgrade\`, from the program to itself:
                      nobody may notice
  --frozen N          in place of all that: N times a daemon that stands still (SIGSTOP) with people in talk, until another
                      of its folder has taken them, and wakes (SIGCONT): it must touch nothing any more, and end
  --frozen-seconds N  for how long each stands still (default 60)
  --campaign          in place of all that: a campaign of --contacts (default 2000) is called while the daemon is killed, up to
                      --crashes times: everybody has one outcome, nobody is called twice for one attempt, too soon, or
                      outside of his hours
  --minutes N         no more kills after so long (default 60)
  --seed N            the choices of an earlier run (timing is the machine's own)
  --keep DIR          keep data and logs in this folder
  --help              this text`;

function readOptions() {
  const { numbers, texts, flags, help, keep } = readCampaignOptions({
    numbers: {
      crashes: 200,
      kills: 0,
      resume: 0,
      handover: 0,
      frozen: 0,
      'frozen-seconds': 60,
      'redis-flushes': 20,
      'redis-kills': 10,
      lines: 0,
      day: 0,
      contacts: 2_000,
      minutes: 60,
      seed: Math.floor(Math.random() * 1_000_000),
    },
    texts: ['points'],
    flags: ['campaign'],
  });
  const isDay = numbers.day > 0;
  const isBreaks = numbers.kills + numbers.resume + numbers.handover + numbers.frozen > 0;
  const inTalk = Math.floor((numbers.lines || LINES_IN_TALK) * 0.8) || 1;
  const points = texts.points?.split(',');
  const unknown = points?.find((name) => !(name in POINTS));
  if (unknown !== undefined)
    throw new Error(`--points: there is no ${unknown}; there are ${Object.keys(POINTS).join(', ')}.`);
  return {
    ...(points === undefined ? {} : { points }),
    ...(isDay ? { day: { calls: numbers.day, faultMs: 10_000, restartMs: 300_000 } } : {}),
    help,
    keep,
    contacts: flags.has('campaign') ? numbers.contacts : 0,
    breaks:
      numbers.kills > 0
        ? { kind: 'kills' as const, times: numbers.kills, of: numbers.kills }
        : numbers.resume > 0
          ? { kind: 'resume' as const, times: Math.ceil(numbers.resume / inTalk), of: numbers.resume }
          : numbers.handover > 0
            ? { kind: 'handover' as const, times: numbers.handover, of: numbers.handover }
            : numbers.frozen > 0
              ? { kind: 'frozen' as const, times: numbers.frozen, of: numbers.frozen }
              : null,
    frozenMs: numbers['frozen-seconds'] * 1_000,
    kills: numbers.crashes,
    redisFlushes: numbers['redis-flushes'],
    redisKills: numbers['redis-kills'],
    lines: numbers.lines || (isDay ? 100 : isBreaks ? LINES_IN_TALK : 14),
    minutes: numbers.minutes,
    seed: numbers.seed,
  };
}

/** What the daemon held early and late in each of its lives. */
function lives({ held }: DayFigures): string[] {
  return [...Map.groupBy(held, (one) => one.life)].map(([life, of]) => {
    const early = of.find((one) => one.atSeconds >= 60) ?? of[0];
    const late = of.at(-1);
    const say = (one: typeof early) =>
      one === undefined
        ? ''
        : `${one.rssMb} MB, ${one.files} files, log ${one.walMb} MB at ${one.atSeconds} s`;
    return `life ${life}: ${say(early)}; ${say(late)}`;
  });
}

function table(report: CampaignReport): string {
  const named = Object.entries(report.killsAt).filter(([name]) => name !== 'random');
  const atNamed = named.reduce((sum, [, count]) => sum + count, 0);
  const redis =
    report.redis === null
      ? 'skipped: no redis-server or valkey-server was found (or none was asked for)'
      : `${report.redis}: emptied ${report.redisFlushes} times, killed ${report.redisKills} times`;
  const day: [string, string, string][] =
    report.day === null
      ? []
      : [
          [
            'calls of the day',
            `${report.day.calls}, ${report.day.faults} faults, ${report.day.restarts} restarts`,
            '',
          ],
          ...lives(report.day).map((life): [string, string, string] => ['held', life, '']),
        ];
  const rows: [string, string, string][] = [
    ['seed', String(report.seed), ''],
    ...day,
    ['kills', `${report.kills} (${atNamed} at ${named.length} named points)`, ''],
    ['orderly stops in between', String(report.stops), ''],
    ['redis', redis, ''],
    ['took', `${report.seconds} s`, ''],
    ['deliveries given up, then sent again', String(report.replays), ''],
    ...rowsOf(report.checks),
  ];
  return columns(rows);
}

async function callList(options: ReturnType<typeof readOptions>, folder: string): Promise<boolean> {
  const report = await runCallList({
    ...options,
    folder,
    perMinute: 240,
    atOnce: 30,
    onProgress: (line) => console.log(line),
  });
  const rows = report.rows.map(([name, value]): [string, string, string] => [name, value, '']);
  const head: [string, string, string][] = [
    ['seed', String(report.seed), ''],
    ['kills', String(report.kills), ''],
    ['took', `${report.seconds} s`, ''],
  ];
  console.log(`\n${columns([...head, ...rows, ...rowsOf(report.checks)])}`);
  return tellViolations(report.checks);
}

async function run(options: ReturnType<typeof readOptions>, folder: string): Promise<boolean> {
  console.log(`seed ${options.seed}`);
  if (options.contacts > 0) return callList(options, folder);
  if (options.breaks !== null) return runBreaksScript({ ...options, ...options.breaks, folder });
  const live = process.stdout.isTTY === true;
  const report = await runCampaign({
    ...options,
    folder,
    onProgress(p) {
      const line = `${p.kills}/${options.kills} kills (last: ${p.last}), ${p.calls} calls, ${p.deliveries} deliveries, redis emptied ${p.redisFlushes}, killed ${p.redisKills}`;
      if (live) process.stdout.write(`\r\x1b[K${line}`);
      else if (options.day !== undefined || p.kills % 10 === 0) console.log(line);
    },
  });
  if (live) process.stdout.write('\r\x1b[K');
  console.log(`\n${table(report)}`);
  const points = Object.entries(report.killsAt).sort(([a], [b]) => a.localeCompare(b));
  console.log(`\nkilled at: ${points.map(([name, count]) => `${name} ${count}`).join(', ')}`);
  const said = Object.entries(report.warnings).sort(([, a], [, b]) => b - a);
  if (said.length > 0) console.log(`warnings: ${said.map(([name, count]) => `${name} ${count}`).join(', ')}`);
  return tellViolations(report.checks);
}

process.exitCode = await runCampaignScript({ usage: USAGE, read: readOptions, run, name: 'chaos' });
