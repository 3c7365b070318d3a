// The machine's clock is set, by Debian's faketime, under a daemon with live calls and retries that wait: nobody is cut off,
// bills are right, retries come at their time, and keys of requests keep their age.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { findRedis } from '../../scripts/chaos/redis.ts';
import { openRig, until } from './rig.ts';

const HOUR_SECONDS = 3_600;
const STEPS = [
  ['an hour forth', HOUR_SECONDS],
  ['an hour back', -HOUR_SECONDS],
  ['a day forth', 24 * HOUR_SECONDS],
  ['a day back', -24 * HOUR_SECONDS],
] as const;
const RETRY_MS = 5_000 * 0.8;
/** The daemon counts a call from before the carrier was asked for it until its last hook was read. */
const REQUEST_SECONDS = 5;

/** The library that `faketime` puts before the system's clock, or null. */
function findLibrary(): string | null {
  const folders = ['/usr/lib', '/usr/local/lib'].filter((folder) => existsSync(folder));
  return (
    folders
      .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
      .map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'))
      .find((file) => existsSync(file)) ?? null
  );
}

const library = findLibrary();
t.setTimeout(180_000);
t.jobs = 2;

for (const queue of ['none', 'auto'] as const) {
  const skip =
    library === null
      ? 'no faketime here (apt-get install faketime)'
      : queue === 'auto' && findRedis() === null && 'no Redis here';
  const name = `the clock is set forth and back under live calls and retries, ${queue === 'none' ? 'without' : 'with'} Redis`;
  t.test(name, { skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-clock-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'offset');
    let setSeconds = 0;
    const set = (seconds: number) => {
      setSeconds = seconds;
      writeFileSync(file, `${seconds >= 0 ? '+' : ''}${seconds}`);
    };
    set(0);
    /** When an attempt of an event came, by its id; the first of `call.answered` is refused. */
    const arrivals = new Map<string, { atMs: number; attempt: string; ageSeconds: number; body: string }[]>();
    const amd = { verdict: 'human', afterMs: 500 } as const;
    const rig = await openRig(t, {
      env: {
        REDIS_MODE: queue,
        CALLER_IDLE_SECONDS: '60',
        LD_PRELOAD: library ?? '',
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
      carrier: {
        defaultCallee: { ringMs: 200, amd, steps: [{ do: 'wait', ms: 60_000 }] },
        callees: {
          '+15550400009': { ringMs: 5_000, amd, steps: [{ do: 'wait', ms: 1_500 }, { do: 'hang_up' }] },
        },
      },
      answer(request, body) {
        const id = String(request.headers['service-event-id']);
        const of = arrivals.get(id) ?? [];
        arrivals.set(id, of);
        const signedAt = Number(request.headers['webhook-timestamp']);
        of.push({
          atMs: performance.now(),
          attempt: String(request.headers['service-delivery-attempt']),
          ageSeconds: Date.now() / 1000 + setSeconds - signedAt,
          body,
        });
        return request.headers['service-event-type'] === 'call.answered' && of.length === 1 ? 500 : 204;
      },
    });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
    const key = { 'idempotency-key': 'before-the-clock-was-set' };
    const made = { name: 'Once', type: 'outbound', instructions: 'TEST-BRIEF' };
    const once = await lab.api<{ id: string }>('POST', '/v1/agents', made, key);
    t.equal(once.status, 201);

    for (const [index, [what, bySeconds]] of STEPS.entries()) {
      await t.test(what, async (t) => {
        const talk = await rig.dial(agent.id, `+1555040000${index}`);
        await until('the talk', async () => (await rig.call(talk.id)).status === 'in_progress');
        const ringing = await rig.dial(agent.id, '+15550400009');
        const answered = await until('the first attempt of its answer', () =>
          [...arrivals.values()].find(
            ([first]) => first?.body.includes(talk.id) && first.body.includes('"in_progress"'),
          ),
        );
        // Its retry waits, one call talks, one rings.
        set(setSeconds + bySeconds);
        const [first, second] = await until('the retry', () => (answered.length > 1 ? answered : null));
        t.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= RETRY_MS - 500, 'not before its time');
        t.equal(second?.attempt, '2');
        t.ok(
          Math.abs(second?.ageSeconds ?? 1e9) < 120,
          `signed by the clock as it is: ${second?.ageSeconds} s`,
        );
        t.match(await rig.call(talk.id), { status: 'in_progress' }, 'the call has noticed nothing');
        // The watch has looked at it since.
        await until('the ringing call to have been answered, and hung up', async () =>
          ['completed', 'failed'].includes((await rig.call(ringing.id)).status),
        );
        t.match(await lab.api('POST', `/v1/calls/${talk.id}/hangup`), { status: 200 });
        const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
        for (const id of [talk.id, ringing.id]) {
          const call = await rig.ended(id);
          t.match(call, {
            status: 'completed',
            error_code: null,
            hangup_cause: id === talk.id ? 'hangup_requested' : 'remote_hangup',
          });
          const leg = calls.findLast((one) => one.to === call.to_number);
          const seconds = leg?.durationSeconds ?? 0;
          const billed = call.billed_duration_seconds ?? 1e9;
          const slack = leg === undefined ? 0 : await rig.billedSlack(leg);
          t.ok(Math.abs(billed - seconds) <= slack, `billed ${billed} s of ${seconds} s`);
          const lasted = call.duration_seconds ?? 1e9;
          const wholeSeconds = (leg?.endedAtMs ?? 0) / 1000;
          t.ok(
            lasted >= billed && lasted <= wholeSeconds + slack + REQUEST_SECONDS,
            `${lasted} s in all, ${wholeSeconds} s at the carrier`,
          );
        }
        await until('its last event', () =>
          rig.events(talk.id).some(({ type }) => type === 'call.completed'),
        );
        const again = await lab.api<{ id: string }>('POST', '/v1/agents', made, key);
        t.equal(again.headers.get('idempotent-replayed'), 'true');
        t.equal(again.body.id, once.body.id, 'a repeat is a repeat');
      });
    }
    const lines = lab.daemon.lines.filter((line) => line.includes('"clock.set"'));
    t.equal(lines.length, STEPS.length, 'the log says when the clock was set');
    t.same(
      lab.daemon.lines.filter((line) => line.includes('"level":"error"')),
      [],
    );
  });
}
