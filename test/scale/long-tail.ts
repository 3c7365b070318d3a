// `npm run long-tail -- PATH`: the daemon on a filled database: how long a start takes, and how fast lists and replays answer
// over HTTP while the file is checked beside them, one call runs to its longest and one ends at once. Fails when a start takes
// 5 s, or the 95th of a hundred answers 200 ms.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openLab, until } from '../../scripts/lab.ts';
import type { PublicCall } from '../../storage/call-view.ts';

const MAX_START_MS = 5_000;
const MAX_ANSWER_MS = 200;
const LONGEST_SECONDS = 20;
const STARTS = 3;
const TIMES = 60;

const [path] = process.argv.slice(2);
if (path === undefined)
  throw new Error('say which: npm run long-tail -- PATH of a filled database, named offhook.db');
const folder = mkdtempSync(join(tmpdir(), 'offhook-long-tail-'));
symlinkSync(dirname(resolve(path)), join(folder, 'data'));
const env = {
  REDIS_MODE: 'none',
  RATE_LIMIT_PER_SECOND: '10000',
  RATE_LIMIT_BURST: '10000',
  MAX_CALL_SECONDS: String(LONGEST_SECONDS),
};
const LISTENS = { ringMs: 300, amd: { verdict: 'human' as const, afterMs: 2_000 } };
const lab = await openLab({
  folder,
  scenario: join(import.meta.dirname, '../e2e/scenarios/brief.json'),
  simulatorFiles: false,
  carrier: {
    defaultCallee: LISTENS,
    callees: { '+15550600001': { ...LISTENS, outcome: 'hangup_at_once' } },
  },
  env,
});
const failures: string[] = [];
const check = (what: string, ms: number, most: number) => {
  console.log(`${what}: ${Math.round(ms)} ms`);
  if (ms > most) failures.push(`${what}: ${Math.round(ms)} ms`);
};

try {
  for (let at = 1; at <= STARTS; at++) {
    await lab.daemon.stop('SIGINT');
    const begun = performance.now();
    await lab.restartDaemon(env);
    check(`start ${at}`, performance.now() - begun, MAX_START_MS);
  }
  const state = async () =>
    (await lab.api<{ checks: { storage: { check: string } } }>('GET', '/readyz')).body.checks.storage.check;
  console.log(`the check beside: ${await state()}`);

  /** What was made, or why not. */
  const made = <T>({ status, body }: { status: number; body: T }): T => {
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  // The simulated carrier offers the same ones each time, and the database remembers those it has.
  const found = await lab.api<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=50');
  let bought: { id: string } | null = null;
  for (const { e164 } of found.body.data) {
    const answer = await lab.api<{ id: string }>('POST', '/v1/numbers/purchase', { e164 });
    if (answer.status !== 409) {
      bought = made(answer);
      break;
    }
  }
  if (bought === null) throw new Error('no number left to buy');
  const agent = made(
    await lab.api<{ id: string }>('POST', '/v1/agents', {
      name: 'Long tail',
      type: 'outbound',
      instructions: 'TEST-BRIEF Talk.',
      number_ids: [bought.id],
    }),
  );
  const dial = async (to: string) =>
    made(await lab.api<PublicCall>('POST', '/v1/calls', { agent_id: agent.id, to })).id;
  const calls = [await dial('+15550600002'), await dial('+15550600001')];

  const endpoints = await lab.api<{ data: { id: string; status: string }[] }>('GET', '/v1/webhook_endpoints');
  const endpoint = endpoints.body.data.at(-1)?.id ?? '';
  await lab.api('PATCH', `/v1/webhook_endpoints/${endpoint}`, { url: lab.receiverUrl, status: 'enabled' });
  const old = await lab.api<PublicCall[]>('GET', '/v1/calls?created_before=2026-09-01T00:00:00Z&limit=100');
  const day = old.body.at(-1)?.created_at ?? '';
  const since = new Date(Date.parse(day) - 6 * 3_600_000).toISOString();
  const questions: [string, () => Promise<{ status: number }>][] = [
    ['GET /v1/calls', () => lab.api('GET', '/v1/calls')],
    ['GET /v1/calls?status&direction', () => lab.api('GET', '/v1/calls?status=failed&direction=inbound')],
    ['GET /v1/events?type', () => lab.api('GET', '/v1/events?type=call.canceled')],
    ['GET /v1/events/follow', () => lab.api('GET', '/v1/events/follow?limit=50')],
    ['GET /v1/webhook_deliveries', () => lab.api('GET', '/v1/webhook_deliveries?status=exhausted')],
    [
      'POST replay',
      () =>
        lab.api('POST', `/v1/webhook_endpoints/${endpoint}/replay`, { since, until: day, only: 'failed' }),
    ],
  ];
  for (const [name, ask] of questions) {
    const times: number[] = [];
    for (let at = 0; at < TIMES; at++) {
      const begun = performance.now();
      const { status } = await ask();
      times.push(performance.now() - begun);
      if (status !== 200) failures.push(`${name}, time ${at + 1}: ${status}`);
    }
    times.sort((a, b) => a - b);
    check(`${name}, 95th of a hundred`, times[Math.floor(0.95 * TIMES)] ?? 0, MAX_ANSWER_MS);
  }
  for (const id of calls) {
    const call = await until(`the end of call ${id}`, async () => {
      const { body } = await lab.api<PublicCall>('GET', `/v1/calls/${id}`);
      return body.ended_at === null ? null : body;
    });
    console.log(`call: ${call.status}, ${call.hangup_cause}, ${call.billed_duration_seconds} s`);
  }
  console.log(`the check beside: ${await state()}`);
} finally {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(`not held: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
