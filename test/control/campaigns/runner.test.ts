// The runner on a real store, with calls that are stored as the bridge does and end as a test says: refusals, pauses, its end,
// and two of them on one folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CampaignRunner } from '../../../control/campaigns/runner.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import { openLog } from '../../../log.ts';
import type { CampaignRecord } from '../../../storage/campaign-records.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall, makeCampaign, makeContact, succeeded } from '../../storage/makers.ts';

const until = async <T>(look: () => Promise<T | null | false>): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found !== null && found !== false) return found;
    await new Promise((again) => setTimeout(again, 10));
  }
};

interface Line {
  /** What comes of a call to a number; default: answered. */
  ends?: (call: CallRecord) => Partial<CallRecord> | { refused: ErrorCode } | null;
  callTo?: () => Promise<CallRecord>;
}

function runnerOn(t: Test, store: Store, line: Line = {}) {
  const dialled: CallRecord[] = [];
  let accepting = true;
  const runner = new CampaignRunner({
    store,
    calls: {
      async dispatch(call) {
        const end = line.ends?.(call) ?? null;
        if (end !== null && 'refused' in end) throw new AppError(end.refused, 'No.');
        const made = await store.createCall(call, { events: ['call.queued'], reserve: 0 });
        if ('conflict' in made) throw new AppError('conflict', made.conflict);
        dialled.push(call);
        const change = end ?? {
          status: 'completed',
          answered_at: call.created_at,
          hangup_cause: 'agent_ended',
        };
        return succeeded(
          await store.saveCall(call.id, { from: ['queued'], change, events: ['call.completed'] }),
        );
      },
      live: () => [],
      accepting: () => accepting,
    },
    maxCalls: 10,
    callTo:
      line.callTo ?? (async ({ org_id }, { to_number, context }) => makeCall(org_id, { to_number, context })),
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    log: openLog('silent', []),
  });
  t.teardown(() => runner.close());
  return { runner, dialled, drain: () => (accepting = false) };
}

async function begun(store: Store, contacts: number, fields: Partial<CampaignRecord> = {}) {
  const org = await addOrganization(store);
  const campaign = await store.createCampaign(makeCampaign(org, { calls_per_minute: 6_000, ...fields }));
  const list = Array.from({ length: contacts }, (_, at) =>
    makeContact(campaign, { to_number: `+1415555${1000 + at}`, context: { at } }),
  );
  succeeded(await store.addContacts(org, campaign.id, list));
  succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
  const now = async () => succeeded(await store.getCampaign(org, campaign.id));
  const all = () => store.contactsInOrder(org, campaign.id, null, 1_000);
  return { org, campaign, now, all };
}

async function opened(t: Test) {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  return store;
}

t.test('everybody is called once, told what is his, and the campaign is completed', async (t) => {
  const store = await opened(t);
  const { now, all } = await begun(store, 12);
  const { runner, dialled } = runnerOn(t, store);
  runner.start();
  await until(async () => (await now()).status === 'completed');
  t.same(
    dialled.map(({ context, attempt }) => [context?.at, attempt]),
    Array.from({ length: 12 }, (_, at) => [at, 1]),
  );
  t.ok(
    (await all()).every(
      ({ status, outcome, attempts }) => status === 'done' && outcome === 'answered' && attempts === 1,
    ),
  );
});

t.test(
  'a rule that lasts ends a contact, one that passes puts him off, what is in everybody’s way holds it',
  async (t) => {
    const store = await opened(t);
    const { now, all } = await begun(store, 4);
    const refusals: Record<string, ErrorCode> = {
      '+14155551000': 'do_not_call',
      '+14155551001': 'outside_calling_hours',
      '+14155551003': 'insufficient_credit',
    };
    const { runner, dialled } = runnerOn(t, store, {
      ends: ({ to_number }) => {
        const refused = refusals[to_number];
        return refused === undefined ? null : { refused };
      },
    });
    runner.start();
    await until(async () => (await now()).held_code === 'insufficient_credit');
    t.match(await all(), [
      { status: 'refused', outcome: 'refused:do_not_call', attempts: 0 },
      { status: 'waiting', due_reason: 'gate', attempts: 0 },
      { status: 'done', outcome: 'answered', attempts: 1 },
      { status: 'waiting', due_at: '', attempts: 0 },
    ]);
    t.equal(dialled.length, 1);
  },
);

t.test('a contact with whom something is wrong that nobody knows keeps nobody else waiting', async (t) => {
  const store = await opened(t);
  const { campaign, now, all } = await begun(store, 2);
  const { runner, dialled } = runnerOn(t, store, {
    ends: ({ to_number }) => (to_number === '+14155551000' ? { refused: 'internal' } : null),
  });
  runner.start();
  await until(async () => (await now()).held_code === 'internal');
  await until(async () => (await all())[0]?.due_reason === 'gate');
  await store.holdCampaign(campaign.id, null);
  await until(async () => (await all())[1]?.outcome === 'answered');
  t.match(await all(), [{ status: 'waiting', attempts: 0 }, { status: 'done' }]);
  t.equal(dialled.length, 1);
});

t.test('where storage refuses what the runner may begin, it is asked again a little later', async (t) => {
  const store = await opened(t);
  await begun(store, 1);
  let asked = 0;
  const { runner } = runnerOn(t, store, {
    ends: () => {
      asked += 1;
      return { refused: 'conflict' };
    },
  });
  const began = performance.now();
  runner.start();
  await until(async () => asked >= 3);
  await until(async () => performance.now() - began > 300);
  const most = 2 + (performance.now() - began) / 100;
  t.ok(asked <= most, `asked ${asked} times`);
});

t.test('an agent that cannot call pauses it, and says why; it goes on once he can', async (t) => {
  const store = await opened(t);
  const { org, campaign, now } = await begun(store, 2);
  let can = false;
  const { runner, dialled } = runnerOn(t, store, {
    async callTo() {
      if (!can) throw new AppError('agent_has_no_number', 'It has no number.');
      return makeCall(org);
    },
  });
  runner.start();
  const paused = await until(async () => {
    const campaign = await now();
    return campaign.status === 'paused' && campaign;
  });
  t.equal(paused.status_reason, 'agent_has_no_number: It has no number.');
  can = true;
  succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
  runner.wake();
  await until(async () => (await now()).status === 'completed');
  t.equal(dialled.length, 2);
});

t.test('a carrier that refuses call after call is left alone for a while', async (t) => {
  const store = await opened(t);
  const { now } = await begun(store, 8, {
    retries: { ...makeCampaign('o').retries, failed: { times: 0, after_minutes: 0 } },
  });
  let made = 0;
  const { runner } = runnerOn(t, store, {
    ends: () => {
      made += 1;
      return { refused: 'carrier_error' };
    },
  });
  runner.start();
  await until(async () => (await now()).held_code === 'carrier_error');
  t.equal(made, 5);
});

t.test('a campaign that is stopped skips whoever waits', async (t) => {
  const store = await opened(t);
  const { org, campaign, all } = await begun(store, 500, { windows: [] });
  succeeded(await store.updateCampaign(org, campaign.id, { status: 'stopped' }));
  const { runner, dialled } = runnerOn(t, store);
  runner.start();
  await until(async () => (await all()).every(({ status }) => status === 'skipped'));
  await until(async () => (await store.ownCampaigns()).length === 0);
  t.same(dialled, []);
});

t.test('of two daemons one runs it, and the other goes on when that is gone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-runner-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'offhook.db');
  const [here, there] = [await openStore({ path, shared: true }), await openStore({ path, shared: true })];
  t.teardown(() => there.close());
  const { now, all } = await begun(here, 40, { calls_per_minute: 600 });
  const [first, second] = [runnerOn(t, here), runnerOn(t, there)];
  first.runner.start();
  second.runner.start();
  await until(async () => first.dialled.length + second.dialled.length >= 5);
  const [runs, waits] = first.dialled.length > 0 ? [first, second] : [second, first];
  t.equal(waits.dialled.length, 0, 'one of them alone');
  await runs.runner.close();
  const left = runs.dialled.length;
  await until(async () => (await now()).status === 'completed');
  t.equal(runs.dialled.length, left, 'who has left calls nobody');
  t.equal(left + waits.dialled.length, 40);
  t.equal(new Set([...runs.dialled, ...waits.dialled].map(({ contact_id }) => contact_id)).size, 40);
  t.ok((await all()).every(({ outcome, attempts }) => outcome === 'answered' && attempts === 1));
  await here.close();
});
