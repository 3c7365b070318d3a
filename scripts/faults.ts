// `npm run faults`: faults of the line and of the model's session at their real length: readers that stop for 30 s, sessions
// of 60 s in calls of minutes, sockets that break at twenty stages ten times over; and a disk that is full. Prints a table, exits 1 on any violation.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readCampaignOptions, runCampaignScript } from './campaign-options.ts';
import type { CalleeInput, FaultInput, StreamStage } from './carrier-simulator/options.ts';
import type { CallReport } from './carrier-simulator/report.ts';
import { fullDisk, whyNoVolume } from './faults/full-disk.ts';
import { type Lab, openLab, until } from './lab.ts';

const USAGE = `npm run faults -- [options]

Runs calls over lines that fail, on this machine, and checks that each call has one right end, that nothing is left behind,
and that what is heard across the renewals of a model's session has no seam.

  --minutes N     length of the calls whose sessions are renewed, or cut, every minute (default 5)
  --rounds N      times that a socket breaks at each of twenty stages (default 10)
  --readers N     carriers that read nothing for 30 s (default 10)
  --disk N        calls under which a volume of 64 MB is full for a while (default 50; 0: none; takes root on Linux)
  --keep DIR      keep data and logs in this folder
  --help          this text`;

interface PublicCall {
  id: string;
  to_number: string;
  status: string;
  hangup_cause: string | null;
  error_code: string | null;
}
interface Line {
  role: string;
  text: string;
  heard_text: string;
}
interface SessionReport {
  config: { instructions: string };
  violations: { code: string }[];
  items: unknown[];
}
interface Check {
  name: string;
  value: string | number;
  violations: string[];
}

const STAGES: [stage: StreamStage, count: number][] = [
  ['open', 1],
  ['connected', 1],
  ['start', 1],
  ...[1, 5, 20, 60, 120, 200, 260].map((count): [StreamStage, number] => ['media', count]),
  ...[1, 2, 15, 40, 80].map((count): [StreamStage, number] => ['app_media', count]),
  ...[1, 5].map((count): [StreamStage, number] => ['app_mark', count]),
  ...[1, 10, 30].map((count): [StreamStage, number] => ['mark_echo', count]),
];
const BREAKS_AT_ONCE = 20;
const RENEW_SECONDS = 60;
/** Before the daemon would renew a session by itself. */
const CUT_MS = 55_000;
/** A lost session's answer is asked for again on the next one. */
const MOST_SILENCE_MS = 12_000;
/** The most that the daemon may grow for a call whose carrier reads nothing. */
const MOST_BYTES_A_CALL = 8 * 1024 * 1024;
/** From the first free byte of a disk that was full until every record is right. */
const MOST_RECOVERY_SECONDS = 10;
/** What a renewal may cost, audibly. */
const MOST_GAP_MS = 1_500;
const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const ANSWER = 'Our office is open from nine in the morning to five in the afternoon.';
const SCENARIO = {
  name: 'faults',
  hears: '../hears.json',
  pacing: 'hosted',
  rules: [
    { on: 'greeting', say: GREETING },
    { on: 'caller', say: ANSWER },
    { on: 'silence', say: 'Are you still there?' },
    { on: 'any', say: 'All right.' },
  ],
};

function readOptions() {
  const { numbers, help, keep } = readCampaignOptions({
    numbers: { minutes: 5, rounds: 10, readers: 10, disk: 50 },
  });
  return { ...numbers, help, keep };
}

function gauge(text: string, name: string): number {
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}

async function campaign(lab: Lab, o: { minutes: number; rounds: number; readers: number }): Promise<Check[]> {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await lab.api<T>(method, path, body);
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await lab.ask('model', '/scenario', SCENARIO);
  const { data: found } = await ask<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
  const number = await ask<{ id: string }>('POST', '/v1/numbers/purchase', { e164: found[0]?.e164 });
  const agent = await ask<{ id: string }>('POST', '/v1/agents', {
    name: 'Faults',
    type: 'outbound',
    number_ids: [number.id],
    webhook_url: lab.receiverUrl,
    instructions: 'You answer.',
  });
  const metrics = () => ask<string>('GET', '/metrics');
  const callee = (to: string, script: CalleeInput) =>
    lab.ask(
      'carrier',
      `/callees/${encodeURIComponent(to)}`,
      { amd: { verdict: 'human', afterMs: 500 }, ...script },
      'PUT',
    );
  const fault = (to: string, given: Omit<FaultInput, 'number'>) =>
    lab.ask('carrier', '/faults', { ...given, number: to });
  const dial = (to: string) =>
    ask<PublicCall>('POST', '/v1/calls', { agent_id: agent.id, to, instructions: `Call to ${to};` });
  const ended = (id: string, timeoutMs: number) =>
    until(
      `the end of call ${id}`,
      async () => {
        const call = await ask<PublicCall>('GET', `/v1/calls/${id}`);
        return ['completed', 'failed', 'busy', 'no_answer', 'canceled'].includes(call.status) ? call : null;
      },
      timeoutMs,
    );
  const atCarrier = async (to: string) =>
    (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find((call) => call.to === to);
  const fdsBefore = gauge(await metrics(), 'process_open_fds');

  async function renewals(): Promise<Check> {
    const numbers = [1, 2, 3].map((n) => `+1555070000${n}`);
    const violations: string[] = [];
    let renewed = 0;
    let longest = 0;
    await Promise.all(
      numbers.map(async (to, index) => {
        await callee(to, {
          ringMs: 300,
          network: { clockSkewPpm: 200 },
          steps: Array.from({ length: o.minutes * 6 }, () => ({
            do: 'say' as const,
            file: 'caller-thanks.wav',
            when: { afterAgentSilenceMs: 800 + 700 * index, timeoutMs: 20_000 },
          })),
        });
        const { id } = await dial(to);
        await pause(o.minutes * 60_000);
        await ask('POST', `/v1/calls/${id}/hangup`);
        const call = await ended(id, 30_000);
        if (call.status !== 'completed') violations.push(`${to}: ${call.status} ${call.error_code}`);
        const { data: sessions } = await lab.ask<{ data: SessionReport[] }>('model', '/sessions');
        const own = sessions.filter(({ config }) => config.instructions.includes(`Call to ${to};`));
        renewed += own.length - 1;
        if (own.length < o.minutes - 1) violations.push(`${to}: only ${own.length} sessions`);
        for (const { code } of own.flatMap((session) => session.violations))
          violations.push(`${to}: model complains of ${code}`);
        // The newest may still have waited for its turn when the call was ended.
        const last = own.findLast(({ items }) => items.length > 0);
        if (!JSON.stringify(last?.items ?? []).includes(GREETING))
          violations.push(`${to}: the context was lost`);
        const { data: lines } = await ask<{ data: Line[] }>('GET', `/v1/calls/${id}/transcript`);
        const greetings = lines.filter((line) => line.text === GREETING).length;
        if (greetings !== 1) violations.push(`${to}: greeted ${greetings} times`);
        for (const gap of (await atCarrier(to))?.streams[0]?.gaps ?? []) {
          if (gap.afterMark) continue;
          longest = Math.max(longest, gap.ms);
          if (gap.ms > MOST_GAP_MS) violations.push(`${to}: a gap of ${gap.ms} ms`);
        }
      }),
    );
    return {
      name: `sessions renewed in ${numbers.length} calls of ${o.minutes} min`,
      value: `${renewed}, longest gap ${longest} ms`,
      violations,
    };
  }

  /** A server that ends each session by its own clock, without having said when: the talk goes on all the same. */
  async function cuts(): Promise<Check> {
    const to = '+15550700009';
    const violations: string[] = [];
    await callee(to, {
      ringMs: 300,
      steps: Array.from({ length: o.minutes * 6 }, () => ({
        do: 'say' as const,
        file: 'caller-thanks.wav',
        when: { afterAgentSilenceMs: 1_200, timeoutMs: 20_000 },
      })),
    });
    await lab.ask('model', '/faults', {
      kind: 'session_expired',
      trigger: 'configured',
      after_ms: CUT_MS,
      times: 100,
      for: `Call to ${to};`,
    });
    const { id } = await dial(to);
    await pause(o.minutes * 60_000);
    await ask('POST', `/v1/calls/${id}/hangup`);
    const call = await ended(id, 30_000);
    if (call.status !== 'completed') violations.push(`${to}: ${call.status} ${call.error_code}`);
    const { data: sessions } = await lab.ask<{ data: SessionReport[] }>('model', '/sessions');
    const own = sessions.filter(({ config }) => config.instructions.includes(`Call to ${to};`));
    if (own.length < o.minutes) violations.push(`${to}: only ${own.length} sessions`);
    const last = own.findLast(({ items }) => items.length > 0);
    if (!JSON.stringify(last?.items ?? []).includes(GREETING)) violations.push(`${to}: the context was lost`);
    const { data: lines } = await ask<{ data: Line[] }>('GET', `/v1/calls/${id}/transcript`);
    const greetings = lines.filter((line) => line.heard_text === GREETING).length;
    if (greetings !== 1) violations.push(`${to}: greeted ${greetings} times`);
    const silentMs = (await atCarrier(to))?.conversation?.longestSilenceMs ?? 0;
    if (silentMs > MOST_SILENCE_MS) violations.push(`${to}: ${silentMs} ms without a sound`);
    return {
      name: `sessions cut by the model's server every ${CUT_MS / 1000} s`,
      value: `${own.length - 1}, longest silence ${silentMs} ms`,
      violations,
    };
  }

  async function readers(): Promise<Check> {
    const violations: string[] = [];
    const before = gauge(await metrics(), 'process_resident_memory_bytes');
    let most = before;
    const numbers = Array.from({ length: o.readers }, (_, n) => `+155507001${String(n).padStart(2, '0')}`);
    const over = Promise.all(
      numbers.map(async (to, index) => {
        await callee(to, { ringMs: 200 });
        await fault(to, { do: 'stream_deaf', ms: 30_000, at: { stage: 'app_media', count: 5 + 8 * index } });
        const call = await ended((await dial(to)).id, 90_000);
        // It is given up, another is brought, and whoever says nothing is left at last.
        if (call.hangup_cause !== 'caller_silent')
          violations.push(`${to}: ${call.status} ${call.hangup_cause} ${call.error_code}`);
      }),
    );
    let done = false;
    const measured = over.finally(() => {
      done = true;
    });
    while (!done) {
      most = Math.max(most, gauge(await metrics(), 'process_resident_memory_bytes'));
      await Promise.race([measured, pause(1_000)]);
    }
    await measured;
    const each = o.readers === 0 ? 0 : (most - before) / o.readers;
    if (each > MOST_BYTES_A_CALL) violations.push(`${(each / 1024 / 1024).toFixed(1)} MB a call`);
    return {
      name: 'carriers that read nothing for 30 s',
      value: `${o.readers}, ${(each / 1024 / 1024).toFixed(1)} MB a call at most`,
      violations,
    };
  }

  async function breaks(): Promise<Check> {
    const violations: string[] = [];
    const all = Array.from({ length: o.rounds }, () => STAGES).flat();
    for (let from = 0; from < all.length; from += BREAKS_AT_ONCE) {
      await Promise.all(
        all.slice(from, from + BREAKS_AT_ONCE).map(async ([stage, count], index) => {
          const to = `+15550800${String(from + index).padStart(4, '0')}`;
          await callee(to, { ringMs: 200 });
          await fault(to, { do: 'stream_abort', at: { stage, count } });
          const { id } = await dial(to);
          const call = await ended(id, 60_000);
          const cause = `${call.status} ${call.hangup_cause}`;
          // Whoever picks up and says nothing is left at last, whatever became of the line.
          if (cause !== 'completed caller_silent')
            violations.push(`${stage} ${count}: ${cause} ${call.error_code}`);
          const ends = await until(`the last webhook of ${id}`, () => {
            const seen = new Set(
              lab.received
                .filter(
                  ({ headers, body }) =>
                    body.includes(id) && /completed|failed/.test(headers['service-event-type'] ?? ''),
                )
                .map(({ headers }) => headers['service-event-id']),
            );
            return seen.size > 0 ? seen : null;
          });
          if (ends.size !== 1) violations.push(`${stage} ${count}: ${ends.size} ends were told`);
        }),
      );
    }
    return { name: 'sockets that broke', value: `${all.length} at ${STAGES.length} stages`, violations };
  }

  async function leftovers(): Promise<Check> {
    const violations: string[] = [];
    const settled = await until(
      'everything to be closed',
      async () => {
        const text = await metrics();
        const held = gauge(text, 'offhook_calls_live') + gauge(text, 'offhook_media_calls');
        const open = gauge(text, 'process_open_fds');
        return held === 0 && open <= fdsBefore + 4 ? { open } : null;
      },
      60_000,
    ).catch((error: Error) => {
      violations.push(error.message);
      return { open: Number.NaN };
    });
    const errors = lab.daemon.lines.filter((line) => /"level":"(?:error|fatal)"/.test(line));
    for (const line of errors.slice(0, 5)) violations.push(line);
    return {
      name: 'files and sockets open, before and after',
      value: `${fdsBefore}, ${settled.open}`,
      violations,
    };
  }

  // What a daemon takes for its first calls is no measure of a slow reader: those come last.
  const together = await Promise.all([
    renewals(),
    cuts(),
    breaks().then(async (check) => [check, await readers()]),
  ]);
  return [...together.flat(), await leftovers()];
}

async function disk(calls: number, folder: string): Promise<Check[]> {
  const why = whyNoVolume();
  if (why !== null) return [{ name: 'a full disk', value: `not tried: ${why}`, violations: [] }];
  const { fullSeconds, recoveredSeconds, checks } = await fullDisk({ calls, megabytes: 64, folder });
  const violations =
    recoveredSeconds > MOST_RECOVERY_SECONDS ? [`records were right after ${recoveredSeconds} s`] : [];
  const value = `full for ${fullSeconds.toFixed(1)} s, all right ${recoveredSeconds.toFixed(1)} s after`;
  return [
    { name: `a full disk under ${calls} calls`, value, violations },
    ...checks.map((check) => ({ ...check, name: `… ${check.name}` })),
  ];
}

async function run(options: ReturnType<typeof readOptions>, folder: string): Promise<boolean> {
  const lab = await openLab({
    folder,
    scenario: join(import.meta.dirname, 'model-simulator/scenarios/default.json'),
    carrier: { audioDir: join(import.meta.dirname, '../test/fixtures/audio') },
    env: {
      REDIS_MODE: 'none',
      MODEL_SESSION_SECONDS: String(RENEW_SECONDS),
      RATE_LIMIT_PER_SECOND: '10000',
      RATE_LIMIT_BURST: '10000',
    },
  });
  let checks: Check[];
  try {
    checks = await campaign(lab, options);
  } finally {
    await lab.close();
  }
  if (options.disk > 0) checks.push(...(await disk(options.disk, join(folder, 'disk'))));
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, value, violations } of checks)
    console.log(`${name.padEnd(width)}  ${violations.length === 0 ? 'ok  ' : 'FAIL'} ${value}`);
  const broken = checks.flatMap(({ violations }) => violations);
  for (const violation of broken.slice(0, 40)) console.log(`  ${violation}`);
  return broken.length === 0;
}

process.exitCode = await runCampaignScript({ usage: USAGE, read: readOptions, run, name: 'faults' });
