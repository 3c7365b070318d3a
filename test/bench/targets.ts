// PURE. What the bench is run to see: the daemon as it comes, in ratios of one run on one machine.
import { median } from './load/samples.ts';
import type { Climb, Results } from './results.ts';
import {
  memoryOfOneMoreKb,
  type Row,
  roundsOf,
  rowOf,
  rowsOf,
  type Spread,
  shareOfFloor,
  toOneThread,
} from './rows.ts';
import { fixed, ranged, whole } from './text.ts';

export interface Target {
  text: string;
  value: string;
  /** Null: could not be measured here. */
  met: boolean | null;
}

function judge(text: string, value: number, shown: string, ok: (value: number) => boolean): Target {
  const known = !Number.isNaN(value);
  return { text, value: known ? shown : 'not measured', met: known ? ok(value) : null };
}

/** A ratio at most so large, of calls that were carried. */
function ratioTarget(text: string, row: Row | null, ratio: Spread | undefined, most: number): Target {
  const { notCarried = null } = row ?? {};
  const shown = `${ranged(ratio)}${notCarried === null ? '' : `, and not carried: ${notCarried}`}`;
  return judge(text, ratio?.middle ?? Number.NaN, shown, (value) => value <= most && notCarried === null);
}

const open = (climb: Climb | undefined) => climb !== undefined && climb.ended.why !== 'not carried';

/** The daemon's largest number of calls to the floor's. */
function shareTarget(results: Results): Target {
  const { daemon, json } = results.climbs;
  const share = shareOfFloor(results, 'daemon');
  const bound = open(json) ? (open(daemon) ? '' : 'at most ') : open(daemon) ? 'at least ' : '';
  return judge(
    "largest number of calls at least 0.75 of the bare bridge's",
    share,
    `${bound}${fixed(share, 2)} (${daemon?.calls} of ${json?.calls})`,
    (value) => value >= 0.75,
  );
}

/** The targets, each with what this run says. */
export function targetsOf(results: Results): Target[] {
  const { calls, scaling } = results.options;
  const fewer = scaling.filter((one) => one < calls);
  const more = scaling.filter((one) => one > calls);
  const daemon = rowsOf(results).find(({ column }) => column === 'daemon') ?? null;
  const two = toOneThread(results, 'daemon-2-threads');
  const memory = memoryOfOneMoreKb(results, 'daemon');
  const rounds = roundsOf(results, 'daemon', calls);
  const greeting = median(rounds.map(({ greetingOwnMs }) => greetingOwnMs));
  const turn = daemon === null ? Number.NaN : daemon.newestFrame[0] + daemon.firstAudio[0];
  const under30 = (value: number) => value < 30;
  /** At the fewest, and at the most. */
  const scaled = [
    ...(more.length > 0 ? [{ at: Math.max(...more), most: 1.1 }] : []),
    ...(fewer.length > 0 ? [{ at: Math.min(...fewer), most: 1.3 }] : []),
  ].map(({ at, most }) => {
    const row = rowOf(results, 'daemon', at);
    return ratioTarget(
      `CPU at ${at} calls to the bare bridge at ${at}: at most ${most}`,
      row,
      row?.toFloor,
      most,
    );
  });
  return [
    ratioTarget(
      `CPU at ${calls} calls to the bare bridge at ${calls}: at most 1.0 (aim: 0.9)`,
      daemon,
      daemon?.toFloor,
      1.0,
    ),
    ratioTarget(
      `CPU at ${calls} calls to the Agents SDK's transport at ${calls}: at most 0.62`,
      daemon,
      daemon?.toAgents,
      0.62,
    ),
    ...scaled,
    shareTarget(results),
    judge(
      `two media threads at ${2 * calls} calls to one at ${calls}: at least 1.9`,
      two.byCpu.middle,
      `${ranged(two.byCpu)} by CPU${Number.isNaN(two.byCalls) ? '' : `, ${fixed(two.byCalls, 2)} by the largest number of calls`}`,
      (value) => value >= 1.9,
    ),
    judge('memory of a further call: at most 500 kB', memory, `${whole(memory)} kB`, (value) => value <= 500),
    judge('nothing lost', daemon?.lost ?? Number.NaN, String(daemon?.lost), (value) => value === 0),
    judge('answer to first audio, own share p50: under 30 ms', greeting, `${fixed(greeting)} ms`, under30),
    judge(
      'end of turn to first carrier frame, own share p50: under 30 ms',
      turn,
      `${fixed(turn)} ms`,
      under30,
    ),
  ];
}
