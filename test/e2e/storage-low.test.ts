// A disk that fills up under live calls: they go on, their recordings end, new calls are refused, and when there is
// space again everything is as before, without a restart.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openRig, POLITE, type Rig, until } from './rig.ts';

// Each has a daemon of its own.
t.jobs = 2;

const MB = 1024 * 1024;
/** What the test takes from the disk for a few seconds, and half of it the room for what others write meanwhile. */
const BALLAST_MB = 600;

const ready = (rig: Rig) =>
  rig.lab.api<{ checks: { storage: { free_mb: number; low: boolean } } }>('GET', '/readyz');

async function refusesCalls(t: Test, rig: Rig, agent: { id: string; number: string }) {
  const refused = await rig.lab.api('POST', '/v1/calls', { agent_id: agent.id, to: '+15550600008' });
  t.match(refused, { status: 503, body: { error: { code: 'storage_low' } } });
  t.ok(Number(refused.headers.get('retry-after')) > 0);
  t.match((await rig.lab.api('GET', '/v1/calls?to_number=%2B15550600008')).body, [], 'nothing was recorded');
}

t.test('thresholds that no disk meets: refused from the start, to callers too', async (t) => {
  const rig = await openRig(t, { env: { STORAGE_LOW_MB: '1000000000' } });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  await refusesCalls(t, rig, agent);
  const { status, body, headers } = await ready(rig);
  t.match({ status, body }, { status: 503, body: { checks: { storage: { low: true, free_mb: Number } } } });
  t.ok(headers.get('retry-after'));
  const inbound = await rig.agent({ type: 'inbound', instructions: 'TEST-BRIEF' });
  await rig.lab.ask('carrier', '/inbound-calls', { to: inbound.number, from: '+15550600009', callee: {} });
  const leg = await until('the rejection', async () => {
    const { calls } = await rig.lab.ask<{
      calls: { from: string; endedAtMs: number | null; answeredAtMs: number | null }[];
    }>('carrier', '/calls');
    return calls.find((call) => call.from === '+15550600009' && call.endedAtMs !== null);
  });
  t.equal(leg.answeredAtMs, null);
  t.same((await rig.lab.api('GET', '/v1/calls')).body, []);
  t.match((await rig.lab.api<string>('GET', '/metrics')).body, /offhook_calls_refused\S*storage_low"\} 2/);
  t.equal((await rig.lab.api('GET', '/v1/agents')).status, 200, 'the rest works on');
});

const ballast = join(mkdtempSync(join(tmpdir(), 'offhook-ballast-')), 'ballast');
t.teardown(() => rmSync(join(ballast, '..'), { recursive: true, force: true }));
const freeMb = () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  return (bavail * bsize) / MB;
};

function whyNot(): string | false {
  if (freeMb() < 4 * BALLAST_MB) return 'too little space on the disk of the temporary folder';
  try {
    const before = freeMb();
    execFileSync('fallocate', ['--length', '32M', ballast], { stdio: 'ignore' });
    const took = before - freeMb();
    rmSync(ballast);
    return took < 16 && 'space of the temporary folder cannot be taken at once here';
  } catch {
    return 'no fallocate here';
  }
}

t.test('the disk fills up under a call, and empties again', { skip: whyNot() }, async (t) => {
  const rig = await openRig(t, {
    env: {
      RECORD_CALLS: 'true',
      CALLER_IDLE_SECONDS: '60',
      STORAGE_LOW_MB: String(Math.floor(freeMb() - BALLAST_MB / 2)),
    },
    carrier: { defaultCallee: { ringMs: 200 }, callees: { '+15550600002': POLITE } },
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const live = await rig.dial(agent.id, '+15550600001');
  await until('a talk', async () => (await rig.call(live.id)).status === 'in_progress');
  t.equal((await ready(rig)).status, 200);
  const recorded = async () => {
    const answer = await fetch(`${rig.lab.daemon.url}/v1/calls/${live.id}/recording`, {
      headers: { authorization: `Bearer ${rig.lab.apiKey}` },
    });
    return answer.ok ? (await answer.arrayBuffer()).byteLength : 0;
  };

  execFileSync('fallocate', ['--length', `${BALLAST_MB}M`, ballast]);
  await until('the daemon to see it', async () => (await ready(rig)).body.checks.storage.low);
  await refusesCalls(t, rig, agent);
  t.match(await rig.call(live.id), { status: 'in_progress' });

  rmSync(ballast);
  await until('the daemon to see it', async () => (await ready(rig)).status === 200);
  t.match(await rig.call(live.id), { status: 'in_progress' }, 'the call has noticed nothing');
  const short = await rig.agent({ instructions: 'TEST-BRIEF' });
  const next = await rig.ended((await rig.dial(short.id, '+15550600002')).id);
  t.match(next, { status: 'completed', error_code: null });

  t.match(await rig.lab.api('POST', `/v1/calls/${live.id}/hangup`), { status: 200 });
  const call = await rig.ended(live.id);
  t.match(call, { status: 'completed', error_code: null });
  const seconds = (await until('its recording', recorded)) / (8_000 * 2 * 2);
  t.ok(seconds > 0.5, `recorded ${seconds} s until the disk was full`);
  // At least one look of five seconds, and the next call, lay between the end of the recording and that of the call.
  t.ok(seconds < (call.billed_duration_seconds ?? 0) - 4, `of ${call.billed_duration_seconds} s`);
});
