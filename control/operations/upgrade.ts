// `node main.js upgrade`: this program goes on for the daemon that runs, which starts it beside itself and ends with the last of
// its calls. Says how far that is.
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../../clock.ts';
import { readConfig } from '../../config.ts';
import { openLog } from '../../log.ts';
import { livingDaemons } from '../../storage/sqlite/host-commands.ts';
import type { HandoverReport } from './handover.ts';
import { ANY, Predecessor } from './predecessor.ts';

const LOOK_MS = 300;
/** While nothing changes. */
const SAY_MS = 10_000;

const PROGRAM = resolve(import.meta.dirname, '../..');

/**
 * @param args `--folder DIR`: the program to go over to (default: this one); `--daemon NUMBER`: of several on the folder;
 *   `--no-wait`: not for the calls of the one before
 * @returns the exit code: 0 when the new one takes calls, and unless it is not to wait, the old one is gone
 * @throws Error with the one line to show
 */
export async function upgrade(
  env: Record<string, string | undefined>,
  args: readonly string[],
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: 'string', default: PROGRAM },
      daemon: { type: 'string', default: ANY },
      'no-wait': { type: 'boolean', default: false },
    },
  });
  const dataDir = resolve(readConfig(env).DATA_DIR);
  const databasePath = join(dataDir, 'offhook.db');
  const before = Predecessor.find({
    databasePath,
    dataDir,
    which: values.daemon,
    clock: { now: systemClock.now, monotonicMs: () => performance.now() },
    log: openLog('silent'),
  });
  if (before === null) throw new Error(`no daemon runs on ${dataDir}: start it`);
  await before.upgrade(resolve(values.folder));
  const { pid, version } = before.daemon;
  console.log(
    `Version ${version} runs as process ${pid}. Starting the program of ${values.folder} beside it.`,
  );

  for (let sayAtMs = 0; ; await sleep(LOOK_MS)) {
    const report = await before.report();
    if (report === null) {
      const [next] = livingDaemons(databasePath).filter(({ epoch }) => epoch > before.daemon.epoch);
      if (next === undefined)
        throw new Error(`Process ${pid} has ended, and nobody goes on for it: start it.`);
      if (sayAtMs === 0) console.log(takes(next));
      console.log(`Process ${pid} has gone: the upgrade is done.`);
      return 0;
    }
    if (report.failed !== null) throw new Error(`${report.failed} Process ${pid} goes on as before.`);
    const { at, heir } = report;
    const nowMs = performance.now();
    if (nowMs >= sayAtMs && heir !== null) {
      if (sayAtMs === 0) console.log(takes(heir));
      console.log(`In process ${pid} ${left(report)}.`);
      sayAtMs = nowMs + SAY_MS;
    }
    if (at === 'leaving' && values['no-wait']) return 0;
  }
}

const takes = ({ version, pid }: { version: string; pid: number }) =>
  `Version ${version} takes all new calls (process ${pid}).`;

function left({ calls, oldestSeconds }: HandoverReport): string {
  if (calls === 0) return 'no call is left';
  const age = oldestSeconds < 120 ? `${oldestSeconds} s` : `${Math.floor(oldestSeconds / 60)} min`;
  return calls === 1
    ? `1 call is left, for ${age} now`
    : `${calls} calls are left, the oldest for ${age} now`;
}
