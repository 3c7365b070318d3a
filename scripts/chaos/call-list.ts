// The campaign of calls under kills: a list of contacts is called by one campaign while the daemon is killed again and again,
// at random and at named points. Then call-list-judge.ts looks whether everybody has one outcome, and nobody was called twice
// for one attempt, too soon, or outside of his hours.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CalleeInput } from '../carrier-simulator/options.ts';
import { createRandom } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Lab, openLab, until } from '../lab.ts';
import { type Hours, judgeCallList, type Listed } from './call-list-judge.ts';
import { buyNumber, makeAgent } from './campaign.ts';
import type { Check } from './judge.ts';

export interface CallListOptions {
  contacts: number;
  /** Kills at most; it ends with the campaign. */
  kills: number;
  /** Upgrades before the first kill, each to the same program (default: none). */
  upgrades?: number;
  perMinute: number;
  atOnce: number;
  seed: number;
  /** No longer than this. */
  minutes: number;
  folder: string;
  /** So long after its start the hours of a quarter of them begin (default 2 minutes). */
  laterMinutes?: number;
  onProgress?: (line: string) => void;
}

export interface CallListReport {
  seed: number;
  kills: number;
  seconds: number;
  rows: [string, string][];
  checks: Check[];
}

/** Where it is made to die, and how likely each time it passes. */
const POINTS: Readonly<Record<string, number>> = {
  row_before_dial: 0.05,
  dialled_before_record: 0.05,
  accepted_stored: 0.05,
  ringing_stored: 0.05,
  answered_stored: 0.05,
  finishing_stored: 0.05,
  ended_stored: 0.05,
  ended_before_settle: 0.05,
  one_recovered: 0.1,
  commit: 0.004,
};
const POINT_MS = 12_000;
const CLOCK_MS = [2_000, 9_000] as const;
const RETRY_MINUTES = 0.05;
const LATER_MINUTES = 2;
const LOOK_MS = 500;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const hangsUp = (ms: number): CalleeInput => ({
  ringMs: [50, 500],
  steps: [{ do: 'wait', ms }, { do: 'hang_up' }],
});

/** Who answers, by the number's last digit: most talk, others are busy, away, or cannot be reached. */
const BY_LAST_DIGIT: readonly CalleeInput[] = [
  { ringMs: [50, 400] },
  hangsUp(700),
  hangsUp(1_500),
  { ringMs: [100, 900] },
  { ringMs: [50, 400], outcome: 'busy' },
  hangsUp(2_500),
  { outcome: 'no_answer' },
  { ringMs: [50, 400] },
  { ringMs: [50, 200], outcome: 'hangup_at_once', hangUpAfterMs: 100 },
  { ringMs: [50, 300], outcome: 'rejected' },
];

const numberOf = (index: number) => `+1555${String(3_000_000 + index)}`;
const calleesOf = (contacts: number): Record<string, CalleeInput> =>
  Object.fromEntries(
    Array.from({ length: contacts }, (_, at) => [numberOf(at), BY_LAST_DIGIT[at % 10] ?? {}]),
  );

/** A zone in which it is about that hour now. Etc/GMT counts the other way round. */
function zoneAt(hour: number, now: Date): { zone: string; offsetHours: number } {
  const offset = ((((hour - now.getUTCHours() + 12) % 24) + 24) % 24) - 12;
  return { zone: `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`, offsetHours: offset };
}

/** Three quarters of the contacts may be called at once, the others from a little later on. */
function listOf(contacts: number, laterMinutes: number, now: Date): { list: Listed[]; hours: Hours[] } {
  const [open, later] = [zoneAt(6, now), zoneAt(13, now)];
  const minute = now.getUTCMinutes() + laterMinutes;
  const from = `${String(13 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const list = Array.from({ length: contacts }, (_, at) => ({
    to: numberOf(at),
    ...(at % 4 === 3 ? later : open),
  }));
  return {
    list,
    hours: [
      { from: '05:00', to: '12:00' },
      { from, to: '20:00' },
    ],
  };
}

async function begin(lab: Lab, o: CallListOptions, listed: ReturnType<typeof listOf>): Promise<string> {
  const number = await buyNumber(lab);
  const agent_id = await makeAgent(lab, {
    name: 'Brief',
    type: 'outbound',
    instructions: 'CHAOS-BRIEF',
    number_ids: [number.id],
  });
  const again = (times: number) => ({ times, after_minutes: RETRY_MINUTES });
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const made = await lab.api<{ id: string }>('POST', '/v1/campaigns', {
    name: 'Under kills',
    agent_id,
    calls_per_minute: o.perMinute,
    max_concurrent: o.atOnce,
    free_lines: 0,
    windows: listed.hours.map((hours) => ({ days, ...hours })),
    window_zone: 'contact',
    max_attempts: 3,
    retries: { busy: again(1), no_answer: again(1), voicemail: again(0), cut: again(1), failed: again(1) },
  });
  if (made.status !== 201) throw new Error(`no campaign: ${JSON.stringify(made.body)}`);
  const path = `/v1/campaigns/${made.body.id}`;
  const file = `to,time_zone,place\n${listed.list.map(({ to, zone }, at) => `${to},${zone},${at}`).join('\n')}\n`;
  const added = await lab.api<{ added: number }>('POST', `${path}/contacts/import`, file, {
    'content-type': 'text/csv',
  });
  if (added.body.added !== o.contacts) throw new Error(`not all were added: ${JSON.stringify(added.body)}`);
  const started = await lab.api('POST', `${path}/start`);
  if (started.status !== 200) throw new Error(`not started: ${JSON.stringify(started.body)}`);
  return path;
}

/** Runs it whole and closes everything it opened. */
export async function runCallList(o: CallListOptions): Promise<CallListReport> {
  const began = performance.now();
  mkdirSync(o.folder, { recursive: true });
  const lab = await openLab({
    folder: o.folder,
    scenario: join(import.meta.dirname, 'brief.json'),
    simulatorFiles: false,
    carrier: {
      callees: calleesOf(o.contacts),
      seed: o.seed,
      network: {
        profile: 'clean',
        hookDelayMs: [0, 120],
        hookDuplicateRate: 0.1,
        completedDelayMs: [20, 300],
      },
    },
    env: {
      REDIS_MODE: 'none',
      RATE_LIMIT_PER_SECOND: '2000',
      RATE_LIMIT_BURST: '4000',
      RING_SECONDS: '5',
      CALLER_IDLE_SECONDS: '3',
      MAX_CALL_SECONDS: '15',
      MAX_CONCURRENT_CALLS: String(o.atOnce + 20),
    },
    onDaemonLine: (line) => appendFileSync(join(o.folder, 'daemon.log'), `${JSON.stringify(line)}\n`),
  });
  let calls: CallReport[] = [];
  let listed: ReturnType<typeof listOf>;
  let path: string;
  let kills = 0;
  let polls: number[] = [];
  try {
    listed = listOf(o.contacts, o.laterMinutes ?? LATER_MINUTES, new Date());
    path = await begin(lab, o, listed);
    ({ kills, polls } = await killUntilDone(lab, o, path, began));
    ({ calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls'));
  } finally {
    await lab.close();
  }
  const judged = judgeCallList({
    databasePath: join(o.folder, 'data', 'offhook.db'),
    campaignId: path.split('/').at(-1) ?? '',
    ...listed,
    perMinute: o.perMinute,
    atOnce: o.atOnce,
    carrierCalls: calls,
    pollsMs: polls,
  });
  return { seed: o.seed, kills, seconds: Math.round((performance.now() - began) / 1_000), ...judged };
}

/** Kills and starts it again until the campaign is over; looks at it meanwhile, as its page does. */
async function killUntilDone(
  lab: Lab,
  o: CallListOptions,
  path: string,
  began: number,
): Promise<{ kills: number; polls: number[] }> {
  const random = createRandom(o.seed, 1);
  const polls: number[] = [];
  let kills = 0;
  let status = 'running';
  let isUp = true;
  let over = false;
  const look = async () => {
    while (!over) {
      const asked = performance.now();
      const wasUp = isUp;
      const answer = await lab
        .api<{ status: string; contacts: Record<string, number> }>('GET', path)
        .catch(() => null);
      if (answer?.status === 200) {
        // What a death has broken off is no answer that was slow.
        if (wasUp && isUp) polls.push(performance.now() - asked);
        ({ status } = answer.body);
        if (polls.length % 20 === 0)
          o.onProgress?.(`${kills} kills, ${JSON.stringify(answer.body.contacts)}`);
      }
      await pause(LOOK_MS);
    }
  };
  const looking = look();
  const giveUp = began + o.minutes * 60_000;
  for (let upgrade = 0; upgrade < (o.upgrades ?? 0); upgrade++) {
    await pause(random.between(CLOCK_MS));
    await lab.upgrade();
  }
  const names = Object.keys(POINTS);
  let at = random.integer(names.length);
  while (kills < o.kills && status === 'running' && performance.now() < giveUp) {
    const point = random.chance(0.6) ? names[at++ % names.length] : undefined;
    const armed = point === undefined ? {} : { FAILPOINTS: `${point}:${POINTS[point]}` };
    if (kills > 0) {
      try {
        await lab.restartDaemon(armed);
      } catch {
        // It has died at its point while it started.
        kills += 1;
        await lab.restartDaemon();
      }
      isUp = true;
    }
    const ms = point === undefined ? random.between(CLOCK_MS) : POINT_MS;
    await Promise.race([lab.daemon.ended, pause(ms)]);
    isUp = false;
    await lab.daemon.stop('SIGKILL');
    kills += 1;
  }
  if (kills > 0) await lab.restartDaemon();
  isUp = true;
  await until(
    'the end of the campaign',
    () => status !== 'running',
    Math.max(1_000, giveUp - performance.now()),
  ).catch(() => null);
  over = true;
  await looking;
  // The last calls tell their results.
  await pause(1_000);
  return { kills, polls };
}
