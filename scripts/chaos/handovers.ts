// The campaign of upgrades: the daemon goes over to another process of the program with people in talk, there and back, and
// nobody may notice: the talks go on where they are, what comes goes to the next one, and each that leaves ends.
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Lab, Program } from '../lab.ts';
import { until } from '../lab.ts';
import type { Aftermath, Breaker, BreaksReport } from './breaks.ts';
import { spread } from './hits.ts';

/** So many that leave beside the one that takes calls. */
const MOST_AT_ONCE = 3;
const APART_MS = [1_000, 5_000] as const;
/** Who asks for something does so this often, and for so long after the other took the port. */
const VISIT_MS = 10;
const AFTER_MS = 1_000;
const LEAVING_MS = 240_000;
/** After the last of its calls. */
const MOST_END_MS = 20_000;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const isThere = (one: Program) => one.exitCode() === undefined;

export function handovers(): Breaker {
  const before: Program[] = [];
  let stayed: string[] = [];
  const failures: string[] = [];
  let visited = 0;
  return {
    listens: false,
    kills: false,
    network: 'typical',
    // Each that leaves waits for its last call.
    exchanges: [1, 3],
    async once(lab, random) {
      await pause(random.between(APART_MS));
      await until(
        'those that were before to end',
        () => before.filter(isThere).length < MOST_AT_ONCE,
        LEAVING_MS,
      );
      const visits = visit(lab, failures);
      const atMs = Date.now();
      const { before: one } = await lab.upgrade();
      const backMs = Date.now();
      before.push(one);
      await pause(AFTER_MS);
      visited += await visits.end();
      return { atMs, backMs };
    },
    async finish() {
      await until('those that were before to end', () => !before.some(isThere), MOST_END_MS).catch(() => {
        stayed = before.filter(isThere).map(({ pid }) => `process ${pid} is still there`);
      });
    },
    look(after) {
      const { rows, checks } = look(after, before.length, stayed);
      const asked = {
        name: 'requests that failed',
        value: `${failures.length} of ${visited}`,
        violations: failures,
      };
      return { rows, checks: [...checks, asked] };
    },
  };
}

/** Somebody who asks the daemon for something all the time, each time by a connection of its own. */
function visit(lab: Lab, failures: string[]): { end(): Promise<number> } {
  let isHere = true;
  let count = 0;
  const visits = (async () => {
    for (; isHere; count++) {
      const failed = await lab.api('GET', '/v1/calls?limit=1').then(
        ({ status }) => (status === 200 ? null : String(status)),
        (error: unknown) => String((error as { cause?: unknown }).cause ?? error),
      );
      if (failed !== null) failures.push(`at ${new Date().toISOString()}: ${failed}`);
      await pause(VISIT_MS);
    }
  })();
  return {
    async end() {
      isHere = false;
      await visits;
      return count;
    },
  };
}

function look(
  { talks, people, breaks, rows }: Aftermath,
  processes: number,
  stayed: readonly string[],
): Pick<BreaksReport, 'rows' | 'checks'> {
  const reports = talks.map(({ report }) => report);
  const name = ({ sid }: CallReport) => `${sid} (${rows.get(sid)?.id ?? 'no row'})`;
  const dropped = reports.flatMap((report) => {
    const ended =
      report.endedBy === 'callee' ? [] : [`ended by ${report.endedBy ?? 'nobody'}: ${report.endedWhy}`];
    const streams = report.streams.length > 1 ? [`lost ${report.streams.length - 1} streams`] : [];
    return [...ended, ...streams].map((why) => `${name(report)}: ${why}`);
  });
  const hooks = reports.flatMap((report) => report.hooks.map((hook) => ({ report, hook })));
  const lost = hooks.filter(({ hook }) => hook.error !== null || (hook.status ?? 0) >= 400);
  const { taken, refused } = people.begun();
  const isOn = (report: CallReport, atMs: number) => {
    const from = Date.parse(report.createdAt);
    const { answeredAtMs, endedAtMs } = report;
    return (
      answeredAtMs !== null && from + answeredAtMs < atMs && (endedAtMs === null || from + endedAtMs > atMs)
    );
  };
  const hit = breaks.reduce(
    (sum, { atMs }) => sum + reports.filter((report) => isOn(report, atMs)).length,
    0,
  );
  return {
    rows: [
      ['talks that were on', `${hit} at ${breaks.length} upgrades`],
      ['an upgrade took', spread(breaks.map(({ atMs, backMs }) => backMs - atMs))],
    ],
    checks: [
      { name: 'calls dropped', value: `${dropped.length} of ${reports.length}`, violations: dropped },
      {
        name: 'hooks lost',
        value: `${lost.length} of ${hooks.length}`,
        violations: lost.map(
          ({ report, hook }) => `${name(report)}: ${hook.kind}, ${hook.error ?? hook.status}`,
        ),
      },
      {
        name: 'new calls refused',
        value: `${Object.values(refused).reduce((sum, count) => sum + count, 0)} of ${taken}`,
        violations: Object.entries(refused).map(([why, count]) => `${why}: ${count}`),
      },
      {
        name: 'processes that left and ended',
        value: `${processes - stayed.length} of ${processes}`,
        violations: [...stayed],
      },
      { name: 'upgrades under talk', value: hit, violations: hit === 0 ? ['nobody was in talk'] : [] },
    ],
  };
}
