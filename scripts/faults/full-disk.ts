// A small volume that is full to its last byte while calls ring, talk and end, and is freed again: what callers and clients
// notice meanwhile, and what the records say afterwards. Needs to mount a volume: root on Linux.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { CalleeInput } from '../carrier-simulator/options.ts';
import { createRandom } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Check, judge } from '../chaos/judge.ts';
import { type FlappingReceiver, openFlappingReceiver } from '../chaos/receiver.ts';
import { type Lab, openLab, until } from '../lab.ts';

interface PublicCall {
  id: string;
  to_number: string;
  status: string;
  result_status: string;
}

export interface FullDiskReport {
  /** From the first free byte until every record was right. */
  recoveredSeconds: number;
  /** How long there was no free byte. */
  fullSeconds: number;
  checks: Check[];
}

const TAKE_MS = 50;
const ENDED = ['completed', 'no_answer', 'busy', 'canceled', 'failed'];
const BALANCE = 10_000_000_000;
const OPERATOR_KEY = 'the-operator-of-a-full-disk';
const REFUSED_TO = '+15550909999';
const REFUSED_FROM = '+15550908888';
const NEXT_TO = '+15550907777';

const thanks = {
  do: 'say' as const,
  file: 'caller-thanks.wav',
  when: { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 },
};

/** Who is called, and what ends the call; all but the last while the disk is full. */
const ROLES: readonly { callee: CalleeInput; by: 'themselves' | 'hangup' | 'cancel' | 'later' }[] = [
  {
    callee: { ringMs: 200, steps: [thanks, { do: 'wait', ms: 6_000 }, { do: 'hang_up' }] },
    by: 'themselves',
  },
  { callee: { ringMs: 200, steps: [thanks] }, by: 'hangup' },
  {
    callee: { ringMs: 6_000, steps: [thanks, { do: 'wait', ms: 1_000 }, { do: 'hang_up' }] },
    by: 'themselves',
  },
  { callee: { ringMs: 50_000 }, by: 'cancel' },
  { callee: { ringMs: 6_000, outcome: 'busy' }, by: 'themselves' },
  { callee: { ringMs: 200, steps: [thanks, thanks] }, by: 'later' },
];

/** Why no volume can be mounted here, or null. */
export function whyNoVolume(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-volume-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder], { stdio: 'ignore' });
    return null;
  } catch {
    return 'no volume can be mounted here: that takes root on Linux';
  } finally {
    rmdirSync(folder);
  }
}

/** Takes every byte of a volume, and again what becomes free, until it is told to give it all back. */
function fill(folder: string): { free(): void } {
  const path = join(folder, 'ballast');
  const file = openSync(path, 'w');
  const block = Buffer.alloc(64 * 1024, 1);
  const take = () => {
    for (let length = block.length; length >= 1; ) {
      try {
        if (writeSync(file, block, 0, length) < length) length = Math.floor(length / 2);
      } catch {
        length = Math.floor(length / 2);
      }
    }
  };
  take();
  const timer = setInterval(take, TAKE_MS);
  return {
    free() {
      clearInterval(timer);
      closeSync(file);
      rmSync(path);
    },
  };
}

/** @param o.folder for logs; the data are on a volume of `megabytes`. @throws Error when something does not come about */
export async function fullDisk(o: {
  calls: number;
  megabytes: number;
  folder: string;
}): Promise<FullDiskReport> {
  const data = join(o.folder, 'volume');
  mkdirSync(data, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${o.megabytes}m`, 'tmpfs', data]);
  const receiver = await openFlappingReceiver(createRandom(1));
  receiver.calmDown();
  const scenarios = join(import.meta.dirname, '../chaos');
  let lab: Lab | null = null;
  try {
    lab = await openLab({
      folder: o.folder,
      scenario: [join(scenarios, 'brief.json'), join(scenarios, 'listen.json')],
      carrier: { audioDir: join(import.meta.dirname, '../../test/fixtures/audio') },
      env: {
        DATA_DIR: data,
        REDIS_MODE: 'none',
        RECORD_CALLS: 'true',
        STORAGE_WARN_MB: '2',
        STORAGE_LOW_MB: '1',
        RATE_LIMIT_PER_SECOND: '10000',
        RATE_LIMIT_BURST: '10000',
        CALLER_IDLE_SECONDS: '60',
        PRICE_PER_MINUTE_MILLI_CENTS: '6000',
        RESERVE_MINUTES: '1',
        OPERATOR_KEY,
      },
      onDaemonLine: (line) => appendFileSync(join(o.folder, 'daemon.log'), `${JSON.stringify(line)}\n`),
    });
    return await run(lab, { calls: o.calls, data, receiver });
  } finally {
    await lab?.close();
    await receiver.close();
    execFileSync('umount', ['-l', data]);
  }
}

async function run(
  lab: Lab,
  o: { calls: number; data: string; receiver: FlappingReceiver },
): Promise<FullDiskReport> {
  const violations: string[] = [];
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await lab.api<T>(method, path, body, { 'operator-key': OPERATOR_KEY });
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const legs = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  const callee = (number: string, script: CalleeInput) =>
    lab.ask(
      'carrier',
      `/callees/${encodeURIComponent(number)}`,
      { amd: { verdict: 'human', afterMs: 500 }, ...script },
      'PUT',
    );
  const buy = async () => {
    const { data } = await ask<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
    return ask<{ id: string; e164: string }>('POST', '/v1/numbers/purchase', { e164: data[0]?.e164 });
  };
  const agent = (fields: Record<string, unknown>) =>
    ask<{ id: string }>('POST', '/v1/agents', {
      name: 'Disk',
      instructions: 'CHAOS-LISTEN',
      webhook_url: o.receiver.url('/inline'),
      ...fields,
    });

  await ask('PUT', '/v1/balance', { balance_milli_cents: BALANCE });
  await ask('POST', '/v1/webhook_endpoints', { url: o.receiver.url('/endpoint') });
  const [own, called] = [await buy(), await buy()];
  const { id: agent_id } = await agent({
    type: 'outbound',
    number_ids: [own.id],
    returns: { outcome: 'string' },
  });
  await agent({ type: 'inbound', number_ids: [called.id] });

  const dialled: { id: string; to: string; by: string; key: string }[] = [];
  const dial = async (to: string, by: string, key: string) => {
    const { id } = await ask<PublicCall>('POST', '/v1/calls', { agent_id, to, metadata: { key } });
    dialled.push({ id, to, by, key });
  };
  const of = (by: string) => dialled.filter((one) => one.by === by);
  const settled = async (some: readonly { id: string }[]) => {
    const calls = await Promise.all(some.map(({ id }) => ask<PublicCall>('GET', `/v1/calls/${id}`)));
    if (!calls.every((call) => ENDED.includes(call.status) && call.result_status !== 'pending')) return false;
    const pending = await ask<{ data: unknown[] }>('GET', '/v1/webhook_deliveries?status=pending&limit=1');
    return pending.data.length === 0;
  };

  async function whileFull(): Promise<void> {
    // What the log of the database has room for is still stored; the daemon looks at the space every few seconds.
    await until('the daemon to see it', async () => (await lab.api('GET', '/readyz')).status === 503);
    const refused = await lab.api<{ error?: { code: string } }>('POST', '/v1/calls', {
      agent_id,
      to: REFUSED_TO,
      metadata: { key: 'refused' },
    });
    if (refused.status !== 503 || refused.body.error?.code !== 'storage_low')
      violations.push(`a new call: ${refused.status} ${JSON.stringify(refused.body)}`);
    await lab.ask('carrier', '/inbound-calls', { to: called.e164, from: REFUSED_FROM, callee: {} });
    for (const path of ['hangup', 'cancel']) {
      for (const { id } of of(path)) {
        const { status, body } = await lab.api('POST', `/v1/calls/${id}/${path}`);
        if (status !== 200) violations.push(`${path} of ${id}: ${status} ${JSON.stringify(body)}`);
      }
    }
    const later = new Set(of('later').map(({ to }) => to));
    await until('lines to be down although nothing can be stored', async () => {
      const up = (await legs()).filter((leg) => leg.endedAtMs === null);
      return up.every(({ to }) => later.has(to));
    });
    await until('the daemon to have let go of them', async () => {
      const metrics = await ask<string>('GET', '/metrics');
      const live = [...metrics.matchAll(/^offhook_calls_live\{[^}]*\} (\d+)$/gm)];
      return live.reduce((sum, [, count]) => sum + Number(count), 0) <= later.size;
    }).catch((error: Error) => violations.push(error.message));
  }

  await Promise.all(
    Array.from({ length: o.calls }, async (_, n) => {
      const role = ROLES[n % ROLES.length]!;
      const to = `+1555090${String(n).padStart(4, '0')}`;
      await callee(to, role.callee);
      await dial(to, role.by, `disk-${n}`);
    }),
  );
  await until('talks', async () => {
    const talking = await ask<PublicCall[]>('GET', '/v1/calls?status=in_progress&limit=100');
    return talking.length >= Math.floor(o.calls / 3);
  });

  const ballast = fill(o.data);
  const fullAt = performance.now();
  try {
    await whileFull();
  } finally {
    ballast.free();
  }
  const freeAt = performance.now();
  await until('every record to be right', () => settled(dialled.filter(({ by }) => by !== 'later')));
  const recoveredSeconds = (performance.now() - freeAt) / 1000;

  for (const { id } of of('later')) await ask('POST', `/v1/calls/${id}/hangup`);
  await until('new calls to be taken', async () => (await lab.api('GET', '/readyz')).status === 200);
  await callee(NEXT_TO, { ringMs: 200, steps: [thanks, { do: 'hang_up' }] });
  await dial(NEXT_TO, 'next', 'next');
  await until('the last calls to be settled', () => settled(dialled));
  const carrierCalls = await legs();
  await lab.daemon.stop('SIGINT');

  const databasePath = join(o.data, 'offhook.db');
  const checks = judge({
    databasePath,
    ledger: o.receiver.ledger,
    paths: ['/inline', '/endpoint'],
    carrierCalls,
    dispatched: dialled.map(({ id, key }) => ({ key, ids: new Set([id]), refused: false })),
    complaints: o.receiver.complaints,
    deathsMs: [],
  });
  return {
    recoveredSeconds,
    fullSeconds: (freeAt - fullAt) / 1000,
    checks: [
      ...checks,
      judgeTalks(databasePath, carrierCalls),
      { name: 'what clients were answered while the disk was full', value: o.calls, violations },
    ],
  };
}

/** Whoever was talked with has words, turns and use in the record; and nobody was taken while nothing could be stored. */
function judgeTalks(databasePath: string, legs: readonly CallReport[]): Check {
  const db = new Database(databasePath, { readonly: true });
  const rows = db
    .prepare(
      `SELECT id, carrier_call_id AS sid, to_number, usage,
         (SELECT count(*) FROM transcript_items WHERE call_id = calls.id AND role = 'agent') AS said,
         (SELECT count(*) FROM transcript_items WHERE call_id = calls.id AND role = 'caller') AS heard,
         (SELECT count(*) FROM turns WHERE call_id = calls.id) AS turns FROM calls`,
    )
    .all() as {
    id: string;
    sid: string;
    to_number: string;
    usage: string | null;
    said: number;
    heard: number;
    turns: number;
  }[];
  db.close();
  const violations: string[] = [];
  let talks = 0;
  for (const row of rows) {
    if (row.to_number === REFUSED_TO) violations.push(`${row.id} was taken`);
    const leg = legs.find(({ sid }) => sid === row.sid);
    const said = leg?.steps.find((step) => step.do === 'say');
    // Answered at least: what was said in the last moment before a hang-up may not have been understood.
    if (said === undefined || said.endedMs === null || leg?.endedAtMs == null || leg.answeredAtMs === null)
      continue;
    if (leg.endedAtMs - leg.answeredAtMs - said.endedMs < 3_000) continue;
    talks += 1;
    if (row.usage === null) violations.push(`${row.id} has no use of the model`);
    if (row.said < 1 || row.heard < 1 || row.turns < 1)
      violations.push(`${row.id}: ${row.said} lines said, ${row.heard} heard, ${row.turns} turns`);
  }
  if (legs.some((leg) => leg.from === REFUSED_FROM && leg.answeredAtMs !== null))
    violations.push('a call that came in was answered');
  return { name: 'words, turns and use of each talk', value: talks, violations };
}
