// The kill campaign: a daemon with live calls is killed again and again, at random and at named points, its Redis is
// emptied and killed, its receiver flaps, its carrier loses answers. Then all is left to settle, and judge.ts looks.
import { appendFileSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { FaultInput } from '../carrier-simulator/options.ts';
import { createRandom, type Random } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Lab, openLab, until } from '../lab.ts';
import { PEOPLE, startCustomers } from './customers.ts';
import { type DayFigures, type DayOptions, held, leftOver, PEOPLE_OF_A_DAY, runDay } from './day.ts';
import { type Check, judge } from './judge.ts';
import { openFlappingReceiver } from './receiver.ts';
import { type ChaosRedis, findRedis, openChaosRedis } from './redis.ts';

export interface CampaignOptions {
  /** Kills of the daemon; with `day`, none but those of its restarts. */
  kills: number;
  /** A day's calls in place of a campaign of kills. */
  day?: DayOptions;
  redisFlushes: number;
  redisKills: number;
  seed: number;
  /** No more kills after this; what is begun still settles. */
  minutes: number;
  /** Customers at once. */
  lines: number;
  /** For data, logs and recordings. */
  folder: string;
  /** Named points to die at, and nowhere else; absent: all of them, and at random. */
  points?: readonly string[];
  /** For a test among others: kills come sooner, and no callback is dropped, which costs half a minute each. */
  short?: boolean;
  onProgress?: (p: Progress) => void;
}

export interface Progress {
  kills: number;
  last: string;
  calls: number;
  deliveries: number;
  redisFlushes: number;
  redisKills: number;
}

export interface CampaignReport {
  seed: number;
  kills: number;
  /** Deaths by the name of the point; `random` for those by the clock. */
  killsAt: Record<string, number>;
  redis: string | null;
  redisFlushes: number;
  redisKills: number;
  /** Orderly fast stops in between. */
  stops: number;
  replays: number;
  seconds: number;
  checks: Check[];
  /** How often the daemon said it, of its warnings and errors. */
  warnings: Record<string, number>;
  day: DayFigures | null;
}

/** Where the daemon can be made to die, and how likely it does each time it passes. */
export const POINTS: Readonly<Record<string, number>> = {
  key_taken: 0.3,
  intent_before_row: 0.3,
  row_before_dial: 0.3,
  dialled_before_record: 0.3,
  accepted_stored: 0.2,
  accepted_before_answer: 0.3,
  ringing_stored: 0.2,
  answered_stored: 0.2,
  media_started: 0.2,
  inbound_before_answer: 0.4,
  finishing_stored: 0.3,
  hung_up_before_end: 0.3,
  ended_stored: 0.2,
  ended_before_settle: 0.3,
  result_before_commit: 0.3,
  one_recovered: 0.15,
  commit_before_enqueue: 0.03,
  after_enqueue: 0.03,
  claimed_before_post: 0.03,
  posted_before_record: 0.03,
  recorded_before_requeue: 0.03,
};
/** A point that is not passed in time: then the clock kills. */
const POINT_MS = { full: 8_000, short: 3_000 };
/** The clock kills within this, mostly much sooner: now and then whole calls go through. */
const CLOCK_MS = { full: 7_000, short: 3_000 };
const BALANCE = 10_000_000_000;
const DRAIN_MS = 180_000;
/** Deliveries that wait, beyond which a day begins no more calls. */
const MOST_BACKLOG = 1_000;
const BACKLOG_EVERY_MS = 1_000;
const PATIENCE_MS = 150_000;

const CARRIER_FAULTS: FaultInput[] = [
  { do: 'lose_response', method: 'POST', path: '/Calls.json' },
  { do: 'hook_duplicate', path: '/status' },
  { do: 'hook_duplicate', path: '/status', times: 5 },
  { do: 'hook_delay', path: '/status', ms: [200, 4_000], times: 5 },
  { do: 'hook_drop', path: '/status' },
  { do: 'latency', method: 'POST', path: '/Calls', ms: [200, 2_500], times: 2 },
  { do: 'stream_abort' },
];

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Gives the first organization a balance, while no daemon runs: rows and balance agree from the start. */
export function fund(databasePath: string): void {
  const db = new Database(databasePath);
  db.prepare('UPDATE organizations SET balance_milli_cents = ?').run(BALANCE);
  db.prepare(
    `INSERT INTO ledger (id, org_id, call_id, kind, amount_milli_cents, created_at)
     SELECT 'chaos-credit', id, NULL, 'credit', ?, created_at FROM organizations`,
  ).run(BALANCE);
  db.close();
}

/** A copy of the database of a stopped daemon, with its log. */
export function copyDatabase(from: string, to: string): void {
  for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, to + end);
}

export async function buyNumber(lab: Lab): Promise<{ id: string; e164: string }> {
  const found = await lab.api<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
  const bought = await lab.api<{ id: string; e164: string }>('POST', '/v1/numbers/purchase', {
    e164: found.body.data[0]?.e164,
  });
  if (bought.status !== 201) throw new Error(`no number: ${JSON.stringify(bought.body)}`);
  return bought.body;
}

export async function makeAgent(lab: Lab, fields: Record<string, unknown>): Promise<string> {
  const made = await lab.api<{ id: string }>('POST', '/v1/agents', fields);
  if (made.status !== 201) throw new Error(`no agent: ${JSON.stringify(made.body)}`);
  return made.body.id;
}

/** Runs a whole campaign and closes everything it opened. */
export async function runCampaign(o: CampaignOptions): Promise<CampaignReport> {
  const began = performance.now();
  const random = createRandom(o.seed);
  mkdirSync(o.folder, { recursive: true });
  const server = o.redisFlushes + o.redisKills > 0 ? findRedis() : null;
  const redis = server === null ? null : await openChaosRedis(server, join(o.folder, 'redis'));
  const receiver = await openFlappingReceiver(createRandom(o.seed, 1));
  const warnings: Record<string, number> = {};
  const logFile = join(o.folder, 'daemon.log');
  let lab: Lab | null = null;
  try {
    lab = await openLab({
      folder: o.folder,
      scenario: [join(import.meta.dirname, 'brief.json'), join(import.meta.dirname, 'listen.json')],
      carrier: {
        callees: o.day === undefined ? PEOPLE : PEOPLE_OF_A_DAY,
        seed: o.seed,
        network: {
          profile: 'clean',
          hookDelayMs: [0, 120],
          hookDuplicateRate: 0.1,
          completedDelayMs: [20, 300],
        },
      },
      env: {
        ...(redis === null ? { REDIS_MODE: 'none' } : { REDIS_URL: redis.url }),
        WEBHOOK_RETRY_SCALE: o.short === true ? '0.0002' : '0.0005',
        ...(o.short === true ? { MEDIA_THREADS: '1' } : {}),
        RATE_LIMIT_PER_SECOND: '2000',
        RATE_LIMIT_BURST: '4000',
        RING_SECONDS: '5',
        CALLER_IDLE_SECONDS: '3',
        MAX_CALL_SECONDS: o.short === true ? '10' : '20',
        DRAIN_SECONDS: '5',
        ...(o.day === undefined ? {} : { MAX_CONCURRENT_CALLS: String(o.lines + 50) }),
        PRICE_PER_MINUTE_MILLI_CENTS: '6000',
        RESERVE_MINUTES: '1',
      },
      onDaemonLine(line) {
        appendFileSync(logFile, `${JSON.stringify(line)}\n`);
        if (line.level !== 'warn' && line.level !== 'error') return;
        warnings[String(line.event)] = (warnings[String(line.event)] ?? 0) + 1;
      },
    });
    return await campaign(lab, { ...o, random, receiver, redis, server, warnings, began });
  } finally {
    await lab?.close();
    await receiver.close();
    await redis?.close();
  }
}

interface Parts extends CampaignOptions {
  random: Random;
  receiver: Awaited<ReturnType<typeof openFlappingReceiver>>;
  redis: ChaosRedis | null;
  server: string | null;
  warnings: Record<string, number>;
  began: number;
}

async function campaign(lab: Lab, o: Parts): Promise<CampaignReport> {
  const { random, receiver, redis } = o;
  const databasePath = join(o.folder, 'data', 'offhook.db');
  const deathsMs: number[] = [];
  const killsAt: Record<string, number> = {};
  let redisFlushes = 0;
  let redisKills = 0;
  const stopsMs: number[] = [];
  let last = 'start';

  const [ownNumber, inboundNumber] = [await buyNumber(lab), await buyNumber(lab)];
  const inline = { webhook_url: receiver.url('/inline'), returns: { outcome: 'string' } };
  const agents = [
    await makeAgent(lab, {
      name: 'Brief',
      type: 'outbound',
      instructions: 'CHAOS-BRIEF',
      number_ids: [ownNumber.id],
      ...inline,
      returns: {},
    }),
    await makeAgent(lab, {
      name: 'Listen',
      type: 'outbound',
      instructions: 'CHAOS-LISTEN',
      number_ids: [ownNumber.id],
      ...inline,
    }),
  ];
  await makeAgent(lab, {
    name: 'Inbound',
    type: 'inbound',
    instructions: 'CHAOS-LISTEN',
    number_ids: [inboundNumber.id],
    ...inline,
  });
  const endpoint = await lab.api<{ id: string }>('POST', '/v1/webhook_endpoints', {
    url: receiver.url('/endpoint'),
  });
  if (endpoint.status !== 201) throw new Error(`no endpoint: ${JSON.stringify(endpoint.body)}`);
  await lab.daemon.stop('SIGINT');
  fund(databasePath);
  await lab.restartDaemon();

  const idle = held(lab, databasePath, 1, performance.now());
  const customers = startCustomers({
    lab,
    random: createRandom(o.seed, 2),
    lines: o.lines,
    agents,
    people: Object.keys(o.day === undefined ? PEOPLE : PEOPLE_OF_A_DAY),
    inboundNumber: inboundNumber.e164,
    patienceMs: PATIENCE_MS,
    // A day in an hour has sixty times its events: no faster than they can be delivered.
    ...(o.day === undefined ? {} : { mayBegin: backlogBelow(lab, MOST_BACKLOG) }),
  });
  const complaints: string[] = [];
  const progress = () =>
    o.onProgress?.({
      kills: deathsMs.length,
      last,
      calls: customers.begun(),
      deliveries: receiver.requests(),
      redisFlushes,
      redisKills,
    });

  /** Starts the daemon, with a point armed or none; one that dies at its start counts, and is started again. */
  async function restart(point: string | null): Promise<void> {
    const armed = point === null ? {} : { FAILPOINTS: `${point}:${POINTS[point]}` };
    try {
      await lab.restartDaemon(armed);
    } catch (error) {
      if (point === null) throw error;
      died(point);
      await restart(null);
    }
  }

  function died(at: string): void {
    deathsMs.push(performance.now());
    killsAt[at] = (killsAt[at] ?? 0) + 1;
    last = at;
    progress();
  }

  const faults = CARRIER_FAULTS.filter((fault) => o.short !== true || fault.do !== 'hook_drop');
  const trouble: Promise<unknown>[] = [];
  function later(ms: number, work: () => Promise<unknown>): void {
    const done = pause(random.next() * ms).then(work);
    trouble.push(
      done.catch((error: unknown) => complaints.push(`the campaign itself failed: ${String(error)}`)),
    );
  }

  let flushesBegun = 0;
  let redisKillsBegun = 0;
  /** Empties and kills Redis as often as is due when `part` of the campaign is done, within `ms`. */
  function disturbRedis(part: number, ms: number): void {
    if (redis === null) return;
    for (; flushesBegun < Math.floor(part * o.redisFlushes); flushesBegun++)
      later(ms, async () => {
        await redis.flush();
        redisFlushes += 1;
      });
    for (; redisKillsBegun < Math.floor(part * o.redisKills); redisKillsBegun++)
      later(ms, async () => {
        await redis.killAndRestart(random.between([50, 3_000]));
        redisKills += 1;
      });
  }

  async function kill(): Promise<void> {
    const pace = o.short === true ? 'short' : 'full';
    const names = o.points ?? Object.keys(POINTS);
    let nextName = random.integer(names.length);
    const endMs = o.began + o.minutes * 60_000;
    let running = true;
    while (deathsMs.length < o.kills && performance.now() < endMs) {
      const isNamed = o.points !== undefined || random.chance(0.75);
      const point = isNamed ? (names[nextName++ % names.length] ?? null) : null;
      const afterMs = point === null ? 300 + CLOCK_MS[pace] * random.next() ** 2 : POINT_MS[pace];
      // The first round finds it running, without a point.
      if (!running) await restart(point);
      // The last of Redis' troubles are left for when the daemon is not killed any more.
      disturbRedis(Math.min(0.95, (deathsMs.length + 1) / o.kills), Math.min(afterMs, 3_000));
      if (random.chance(0.7)) later(3_000, () => lab.ask('carrier', '/faults', random.pick(faults)));
      const { daemon } = lab;
      let timer: NodeJS.Timeout | undefined;
      const byClock = new Promise<'clock'>((due) => {
        timer = setTimeout(() => due('clock'), afterMs);
      });
      const how = await Promise.race([byClock, daemon.ended.then(() => 'itself' as const)]);
      clearTimeout(timer);
      running = false;
      if (how === 'clock' && point === null && random.chance(0.12)) {
        const code = await daemon.stop('SIGINT');
        stopsMs.push(performance.now());
        if (code !== 0) complaints.push(`the daemon ended with exit code ${code} on SIGINT`);
        continue;
      }
      if (how === 'clock') await daemon.stop('SIGKILL');
      died(how === 'itself' ? (point ?? 'by itself, unasked') : 'random');
      if (how === 'itself' && point === null) complaints.push('the daemon died unasked');
    }
    if (!running) await restart(null);
  }

  let figures: DayFigures | null = null;
  if (o.day === undefined) await kill();
  else
    figures = await runDay(o.day, {
      lab,
      random,
      begun: customers.begun,
      idle,
      databasePath,
      endMs: o.began + o.minutes * 60_000,
      disturbRedis,
      onProgress: progress,
      restarted(how) {
        if (how === 'killed') died('random');
        else stopsMs.push(performance.now());
      },
      complaints,
    });
  // All is well again: what was begun has to come to its end.
  await lab.ask('carrier', '/faults', undefined, 'DELETE');
  await lab.ask('model', '/faults', undefined, 'DELETE');
  disturbRedis(1, 2_000);
  await Promise.all(trouble);
  receiver.calmDown();
  await customers.finish();
  const replays = await settle(lab, endpoint.body.id, complaints);
  const { calls: carrierCalls } = await until(
    'the carrier to have no live call',
    async () => {
      const found = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
      return found.calls.every((call) => call.endedAtMs !== null) ? found : null;
    },
    60_000,
  ).catch(() => lab.ask<{ calls: CallReport[] }>('carrier', '/calls'));
  const left = figures === null ? [] : leftOver(figures, held(lab, databasePath, 0, 0));
  const code = await lab.daemon.stop('SIGTERM');
  if (code !== 0) complaints.push(`the daemon ended with exit code ${code} on SIGTERM`);

  const copy = join(o.folder, 'judged.db');
  copyDatabase(databasePath, copy);
  const checks = judge({
    databasePath: copy,
    ledger: receiver.ledger,
    paths: ['/inline', '/endpoint'],
    carrierCalls,
    dispatched: customers.dispatched,
    complaints: [...customers.complaints, ...receiver.complaints, ...complaints],
    deathsMs: [...deathsMs, ...stopsMs],
  });
  if (figures !== null)
    checks.push({ name: 'files and log as before', value: figures.held.length, violations: left });
  return {
    seed: o.seed,
    kills: deathsMs.length,
    killsAt,
    redis: o.server,
    redisFlushes,
    redisKills,
    stops: stopsMs.length,
    replays,
    seconds: Math.round((performance.now() - o.began) / 1000),
    checks,
    warnings: o.warnings,
    day: figures,
  };
}

/**
 * Waits until every call is over, every result settled and every delivery done; what was given up while the receiver
 * flapped is listed, and sent again. Answers how many were.
 */
export async function settle(lab: Lab, endpointId: string, complaints: string[]): Promise<number> {
  let replays = 0;
  await lab.api('PATCH', `/v1/webhook_endpoints/${endpointId}`, { status: 'enabled' });
  const listed = async (path: string) => {
    const { body } = await lab.api<{ data?: { id: string }[] } | { id: string }[]>('GET', path);
    return Array.isArray(body) ? body : (body.data ?? []);
  };
  const unsettled = async () => {
    for (const status of ['queued', 'initiated', 'ringing', 'in_progress'])
      if ((await listed(`/v1/calls?limit=1&status=${status}`)).length > 0) return `a call is ${status}`;
    const recent = await lab.api<{ result_status: string }[]>('GET', '/v1/calls?limit=100&status=completed');
    if (recent.body.some((call) => call.result_status === 'pending')) return 'a result is pending';
    if ((await listed('/v1/webhook_deliveries?limit=1&status=pending')).length > 0) return 'deliveries pend';
    const exhausted = await listed('/v1/webhook_deliveries?limit=100&status=exhausted');
    for (const { id } of exhausted) {
      await lab.api('POST', `/v1/webhook_deliveries/${id}/redeliver`);
      replays += 1;
    }
    return exhausted.length > 0 ? 'deliveries are sent again' : null;
  };
  let why: string | null = null;
  let calm = 0;
  const settled = () =>
    until(
      'everything to settle',
      async () => {
        why = await unsettled();
        // Between two of the looks, a result may have become an event with deliveries.
        calm = why === null ? calm + 1 : 0;
        return calm >= 5;
      },
      DRAIN_MS,
    ).then(
      () => true,
      () => false,
    );
  // As long as fewer and fewer wait, it is only slow.
  for (let before = Number.POSITIVE_INFINITY, now = before; !(await settled()); before = now) {
    now = await pendingDeliveries(lab);
    if (now < before) continue;
    complaints.push(`not settled after ${DRAIN_MS / 1000} s: ${why}, ${now} deliveries wait`);
    break;
  }
  return replays;
}

/** How many deliveries wait, as the daemon tells; endlessly many where it does not. */
async function pendingDeliveries(lab: Lab): Promise<number> {
  const { body } = await lab.api<string>('GET', '/metrics').catch(() => ({ body: '' }));
  return Number(/^offhook_deliveries_pending (\d+)$/m.exec(String(body))?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Waits until fewer deliveries wait; the daemon is asked once a second, however many ask. */
function backlogBelow(lab: Lab, most: number): () => Promise<void> {
  let asked: { atMs: number; count: Promise<number> } | null = null;
  return async () => {
    for (;;) {
      if (asked === null || performance.now() - asked.atMs > BACKLOG_EVERY_MS)
        asked = { atMs: performance.now(), count: pendingDeliveries(lab) };
      const count = await asked.count;
      // While the daemon starts anew nobody can be asked, and whoever calls finds that out by himself.
      if (count < most || count === Number.POSITIVE_INFINITY) return;
      await new Promise((later) => setTimeout(later, BACKLOG_EVERY_MS / 4));
    }
  };
}
