// Every statement that storage prepares, by running all verbs and all combinations of filters: none walks through a table
// that grows, none sorts more than a page. Times are no matter of tests; docs/queries.md has them.
import Database from 'better-sqlite3';
import t from 'tap';
import { CAMPAIGN_STATUSES, CONTACT_STATUSES } from '../../../storage/campaign-records.ts';
import { CALL_STATUSES, DELIVERY_STATUSES, DIRECTIONS, EVENT_TYPES } from '../../../storage/records.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { planOf } from '../../scale/plans.ts';
import { storeConformance } from '../conformance.ts';
import { addOrganization, at, makeCall, makeCampaign, makeContact, succeeded } from '../makers.ts';

/** Statement -> a verb that was running when it was first used. */
const statements = new Map<string, string>();
const asked = new Set<string>();
const verbs = new Set<string>();
const WITHOUT_STATEMENTS: ReadonlySet<string> = new Set(['writable', 'stored', 'self']);

async function openSpied(now: () => Date): Promise<Store> {
  let verb = 'open';
  const store = await openStore({ path: ':memory:', now, onPrepare: (sql) => statements.set(sql, verb) });
  for (const name of Object.keys(store)) verbs.add(name);
  return new Proxy(store, {
    get(target, name: keyof Store & string) {
      asked.add(name);
      verb = name;
      return target[name];
    },
  });
}

/** Each filter with and without a value, all combined. */
function combinations<F extends object>(values: { [K in keyof F]: readonly F[K][] }): Partial<F>[] {
  return (Object.keys(values) as (keyof F)[]).reduce<Partial<F>[]>(
    (all, key) => all.flatMap((left) => [left, ...values[key].map((value) => ({ ...left, [key]: value }))]),
    [{}],
  );
}

storeConformance(t, ({ now }) => openSpied(now));

t.test('every list with every combination of its filters', async (t) => {
  const store = await openSpied(() => new Date(at(0)));
  const org = await addOrganization(store);
  const call = succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
  const [event] = await store.listEvents(call.id);
  for (const startingAfter of [undefined, call.id]) {
    for (const filters of combinations({
      status: CALL_STATUSES,
      direction: DIRECTIONS,
      agentId: ['a'],
      toNumber: ['+1'],
      fromNumber: ['+1'],
      createdAfter: [at(0)],
      createdBefore: [at(1)],
      search: ['broken glasses', '5550'],
    })) {
      await store.listCalls(org, filters, { limit: 50, startingAfter });
      if (filters.search === undefined) await store.sumCalls(org, filters, 1_000);
    }
  }
  for (const startingAfter of [undefined, event?.id]) {
    for (const filters of combinations({ callId: [call.id], type: EVENT_TYPES })) {
      await store.listOrgEvents(org, filters, { limit: 50, startingAfter });
    }
    await store.eventsAfter(org, startingAfter ?? null, 50);
    for (const filters of combinations({
      endpointId: ['e'],
      callId: [call.id],
      eventType: EVENT_TYPES,
      status: DELIVERY_STATUSES,
    })) {
      await store.listDeliveries(org, filters, { limit: 50, startingAfter });
    }
  }
  for (const startingAfter of [undefined, call.id]) {
    for (const number of [undefined, '+14155550100'])
      await store.listDoNotCall(org, { number }, { limit: 50, startingAfter });
  }
  const campaign = await store.createCampaign(makeCampaign(org));
  for (const startingAfter of [undefined, campaign.id]) {
    for (const filters of combinations({ status: CAMPAIGN_STATUSES }))
      await store.listCampaigns(org, filters, { limit: 50, startingAfter });
  }
  const contact = makeContact(campaign);
  await store.addContacts(org, campaign.id, [contact]);
  for (const startingAfter of [undefined, contact.id]) {
    for (const filters of combinations({ status: CONTACT_STATUSES, outcome: ['busy'], search: ['55'] }))
      await store.listContacts(org, campaign.id, filters, { limit: 50, startingAfter });
  }
  await store.updateCampaign(org, campaign.id, { status: 'running' });
  await store.takeCampaigns();
  const attempt = { campaign_id: campaign.id, contact_id: contact.id, attempt: 1 };
  await store.createCall(makeCall(org, attempt), { events: [], reserve: 0 });
  await store.settleAttempts(campaign.id);
  await store.setOutboundRules(
    org,
    {
      set: {
        calls_per_destination_per_day: 3,
        calls_per_minute: 9,
        spend_per_day_milli_cents: 9,
        consent: 'required',
      },
      unset: [],
    },
    { kind: 'user', id: 'u', name: 'Ada' },
  );
  await store.decideOutbound(org, { to: '+14155550100' });
  for (const startingAfter of [undefined, call.id]) {
    for (const number of [undefined, '+14155550100'])
      await store.listConsents(org, { number }, { limit: 50, startingAfter });
    for (const code of [undefined, 'do_not_call' as const])
      await store.listRefusedCalls(org, { code }, { limit: 50, startingAfter });
  }
  for (const verb of ['callHours', 'failureReasons', 'answerLatencies'] as const) {
    await store[verb](org, at(0), at(3_600_000));
  }
  for (const startingAfter of [undefined, call.id]) {
    for (const filters of combinations({ actorId: ['a'], action: ['createCall'], targetId: [call.id] }))
      await store.listActions(org, filters, { limit: 50, startingAfter });
  }
  await store.getEvent(org, call.id);
  await store.listCallDeliveries(call.id);
  await store.findOrganization('Bluebird');
  await store.listOrganizations({ limit: 50 });
  await store.listOrganizations({ limit: 50, startingAfter: org });
  await store.updateOrganization(org, { name: 'Bluebird' });
  await store.intendIdempotent(org, 'key', 'x');
  await store.stats();
  await store.unfinishedCalls();
  await store.pendingResults();
  await store.daemons();
  await store.tellSelf({ state: 'leaving' });
  store.letOthersIn(true);
  await store.ownerOf(call.id);
  await store.mayWrite(call.id);
  // There is always something left: what ran before owners were written down.
  await store.takeOver({ standStill: [{ epoch: 99, alive_at: at(0) }] });
  await store.close();
  t.ok(statements.size > 100, `${statements.size} statements`);
});

t.test('a balance is set without reading the ledger, which grows with every call', async (t) => {
  const used: string[] = [];
  const store = await openStore({ path: ':memory:', onPrepare: (sql) => used.push(sql) });
  const org = await addOrganization(store);
  await store.createCall(makeCall(org), { events: [], reserve: 30 });
  used.length = 0;
  for (const balance of [500, null, 700]) await store.setBalance(org, balance);
  t.ok(used.some((sql) => /\borganizations\b/.test(sql)));
  t.same(
    used.filter((sql) => /\b(FROM|JOIN) ledger\b/i.test(sql)),
    [],
  );
  await store.close();
});

t.test('no statement walks through what grows, or sorts it', (t) => {
  const db = new Database(':memory:');
  for (const { sql } of MIGRATIONS) db.exec(sql);
  for (const [sql, verb] of statements) {
    const { steps, faults } = planOf(db, sql);
    if (faults.length > 0) t.fail(`${verb}: ${faults.join('; ')}`, { sql, steps });
  }
  db.close();
  t.strictSame(
    [...verbs].filter((verb) => !asked.has(verb) && !WITHOUT_STATEMENTS.has(verb)),
    [],
    'every verb was asked: a new one is added above',
  );
  t.end();
});
