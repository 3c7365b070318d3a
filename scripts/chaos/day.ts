// A day's calls in a fraction of the time: short calls on many lines, a fault every few seconds, a restart every few
// minutes, by an orderly stop and by a kill in turn. Notes what the daemon holds meanwhile; whether all held is judge.ts.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { CalleeInput, FaultInput } from '../carrier-simulator/options.ts';
import type { Random } from '../carrier-simulator/random.ts';
import type { Lab } from '../lab.ts';
import type { Fault as ModelFault } from '../model-simulator/faults.ts';

export interface DayOptions {
  /** Goes on until so many calls were begun. */
  calls: number;
  /** Between two faults. */
  faultMs: number;
  /** Between two restarts. */
  restartMs: number;
}

/** What the daemon held, at the end of a minute of one life. */
export interface Held {
  life: number;
  /** Seconds since this life began. */
  atSeconds: number;
  rssMb: number;
  files: number;
  walMb: number;
}

export interface DayFigures {
  calls: number;
  faults: number;
  restarts: number;
  /** Before the first call, and minute by minute. */
  idle: Held | null;
  held: Held[];
}

export interface DayParts {
  lab: Lab;
  random: Random;
  /** Calls begun so far. */
  begun(): number;
  /** What the daemon held before the first call. */
  idle: Held | null;
  databasePath: string;
  /** No later than this, by performance.now(). */
  endMs: number;
  /** Redis' troubles that are due when this part of the day is over, within `ms`. */
  disturbRedis(part: number, ms: number): void;
  restarted(how: 'killed' | 'stopped'): void;
  onProgress(): void;
  complaints: string[];
}

/** Who answers: mostly people who are short, so that a day fits into minutes. */
export const PEOPLE_OF_A_DAY: Record<string, CalleeInput> = {
  '+15550200001': { ringMs: [50, 200] },
  '+15550200002': { ringMs: [50, 200], steps: [{ do: 'wait', ms: 1_000 }, { do: 'hang_up' }] },
  '+15550200003': { ringMs: [50, 200], steps: [{ do: 'wait', ms: 2_500 }, { do: 'hang_up' }] },
  '+15550200004': { ringMs: [50, 400], steps: [{ do: 'wait', ms: 500 }, { do: 'hang_up' }] },
  '+15550200005': { ringMs: [50, 400], outcome: 'busy' },
  '+15550200006': { ringMs: [50, 400], outcome: 'rejected' },
  '+15550200007': { outcome: 'no_answer' },
  '+15550200008': { ringMs: [50, 200], outcome: 'hangup_at_once', hangUpAfterMs: 100 },
  '+15550200009': { outcome: 'invalid' },
};

const CARRIER_FAULTS: FaultInput[] = [
  { do: 'lose_response', method: 'POST', path: '/Calls.json' },
  { do: 'hook_duplicate', path: '/status', times: 5 },
  { do: 'hook_delay', path: '/status', ms: [200, 4_000], times: 5 },
  { do: 'hook_drop', path: '/status' },
  { do: 'latency', method: 'POST', path: '/Calls', ms: [200, 2_500], times: 2 },
  { do: 'stream_abort' },
];
const MODEL_FAULTS: ModelFault[] = [
  { kind: 'upgrade_status', status: 503 },
  { kind: 'close_on_open' },
  { kind: 'session_created_late', ms: 2_000 },
  { kind: 'tcp_reset', trigger: 'response' },
  { kind: 'close', trigger: 'speaking' },
  { kind: 'half_open', trigger: 'commit' },
  { kind: 'malformed_json', trigger: 'response' },
  { kind: 'response_failed' },
  { kind: 'response_never' },
  { kind: 'stall', after_ms: 300 },
];
const SAMPLE_MS = 20_000;
/** Connections to Redis and to receivers that are kept for a while. */
const SPARE_FILES = 24;
const MOST_LOG_MB = 64;
const MB = 1024 * 1024;

/** What the daemon holds now; null where nobody tells, or when it is just ending. */
export function held(lab: Lab, databasePath: string, life: number, bornMs: number): Held | null {
  try {
    const { pid } = lab.daemon;
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return {
      life,
      atSeconds: Math.round((performance.now() - bornMs) / 1000),
      rssMb: Math.round(Number(kb) / 1024),
      files: readdirSync(`/proc/${pid}/fd`).length,
      walMb: Math.round((statSync(`${databasePath}-wal`, { throwIfNoEntry: false })?.size ?? 0) / MB),
    };
  } catch {
    return null;
  }
}

/** Lets a day pass. The daemon runs at its end, without faults of ours under way but those already armed. */
export async function runDay(o: DayOptions, parts: DayParts): Promise<DayFigures> {
  const { lab, random } = parts;
  const began = performance.now();
  const figures: DayFigures = { calls: 0, faults: 0, restarts: 0, idle: parts.idle, held: [] };
  let bornMs = began;
  let nextFaultMs = began + o.faultMs;
  let nextRestartMs = began + o.restartMs;
  let nextSampleMs = began + SAMPLE_MS;
  const first = parts.begun();

  while (parts.begun() - first < o.calls && performance.now() < parts.endMs) {
    const now = performance.now();
    if (now >= nextFaultMs) {
      nextFaultMs += o.faultMs;
      figures.faults += 1;
      const armed = random.chance(0.5)
        ? lab.ask('carrier', '/faults', random.pick(CARRIER_FAULTS))
        : lab.ask('model', '/faults', random.pick(MODEL_FAULTS));
      await armed.catch((error: unknown) => parts.complaints.push(`no fault was armed: ${String(error)}`));
      parts.disturbRedis((parts.begun() - first) / o.calls, 2_000);
    }
    if (now >= nextSampleMs) {
      nextSampleMs += SAMPLE_MS;
      const sample = held(lab, parts.databasePath, figures.restarts + 1, bornMs);
      if (sample !== null) figures.held.push(sample);
      parts.onProgress();
    }
    if (lab.daemon.exitCode() !== undefined) {
      parts.complaints.push('the daemon died unasked');
      parts.restarted('killed');
      await lab.restartDaemon();
      bornMs = performance.now();
    } else if (now >= nextRestartMs) {
      nextRestartMs += o.restartMs;
      const how = figures.restarts++ % 2 === 0 ? 'stopped' : 'killed';
      const code = await lab.daemon.stop(how === 'stopped' ? 'SIGTERM' : 'SIGKILL');
      if (how === 'stopped' && code !== 0)
        parts.complaints.push(`the daemon ended with exit code ${code} on SIGTERM`);
      parts.restarted(how);
      await lab.restartDaemon();
      bornMs = performance.now();
    }
    await new Promise((later) => setTimeout(later, 100));
  }
  figures.calls = parts.begun() - first;
  return figures;
}

/** What is amiss when the day is over and no call is left: files that stay open, a database log that grows. */
export function leftOver(figures: DayFigures, now: Held | null): string[] {
  const { idle } = figures;
  if (idle === null || now === null) return [];
  const log = Math.max(0, ...figures.held.map((one) => one.walMb));
  return [
    ...(now.files > idle.files + SPARE_FILES
      ? [`${now.files} files are open, ${idle.files} were before`]
      : []),
    ...(log > MOST_LOG_MB ? [`the database's log has come to ${log} MB`] : []),
  ];
}
