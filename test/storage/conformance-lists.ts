// Conformance: organizations as they are found, changed and listed, and what is read over many calls, an hour or an event at a
// time.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import {
  addOrganization,
  at,
  makeCall,
  makeTurn,
  type OpenEmpty,
  START,
  stoppedClock,
  succeeded,
} from './makers.ts';

const HOUR = 3_600_000;

export function listConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock };
  }

  t.test('organizations are found by id and by name, and listed newest first', async (t) => {
    const { store } = await open(t);
    const first = await addOrganization(store, { name: 'Zoë’s Clinic' });
    const second = await addOrganization(store, { name: 'Harbour', created_at: at(1) });
    const third = await addOrganization(store, { name: 'harbour', created_at: at(2) });
    t.equal((await store.findOrganization(first))?.id, first);
    t.equal((await store.findOrganization(' ZOË’S CLINIC '))?.id, first, 'whatever the case');
    t.equal((await store.findOrganization('Harbour'))?.id, second, 'the oldest of that name');
    t.equal(await store.findOrganization('nobody'), null);
    const page = async (limit: number, startingAfter?: string) =>
      (await store.listOrganizations({ limit, startingAfter })).map(({ id }) => id);
    t.same(await page(2), [third, second]);
    t.same(await page(2, second), [first]);
    t.same(await page(2, uuid()), [], 'nothing follows one that is not there');
    t.match(await store.updateOrganization(second, { name: 'Quay' }), { id: second, name: 'Quay' });
    t.equal(await store.updateOrganization(uuid(), { name: 'Quay' }), null);
  });

  t.test('secrets of an organization rotate, its credit stays', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 5 });
    const rotated = {
      webhook_secret: 'whsec_b',
      previous_webhook_secret: 'whsec_a',
      previous_webhook_secret_expires_at: at(1000),
    };
    t.match(await store.updateOrganization(org, rotated), { ...rotated, balance_milli_cents: 5 });
    t.match(await store.getOrganization(org), rotated);
  });

  t.test('events of all calls: listed, read, and followed without a gap', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const [one, two] = [makeCall(org), makeCall(org)];
    for (const call of [one, two, makeCall(other)]) {
      succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
    }
    await store.saveCall(one.id, {
      from: ['queued'],
      change: { status: 'ringing' },
      events: ['call.ringing'],
    });
    const list = (filters: Parameters<typeof store.listOrgEvents>[1], startingAfter?: string) =>
      store.listOrgEvents(org, filters, { limit: 10, startingAfter });
    const all = await list({});
    t.same(
      all.map(({ call_id, type }) => [call_id, type]),
      [
        [one.id, 'call.ringing'],
        [two.id, 'call.queued'],
        [one.id, 'call.queued'],
      ],
    );
    t.same(await list({}, all[0]?.id), all.slice(1));
    t.same(await list({ type: 'call.queued' }), all.slice(1));
    t.same(await list({ callId: one.id }), [all[0], all[2]]);
    t.same(await store.getEvent(org, all[1]?.id ?? ''), all[1]);
    t.equal(await store.getEvent(other, all[1]?.id ?? ''), null, 'organization scope');
    const forth = [...all].reverse();
    t.same(await store.eventsAfter(org, null, 10), forth);
    t.same(await store.eventsAfter(org, forth[0]?.id ?? '', 1), [forth[1]]);
    t.same(await store.eventsAfter(org, forth[2]?.id ?? '', 10), []);
    t.equal(await store.eventsAfter(org, uuid(), 10), null);
    t.equal(await store.eventsAfter(other, forth[0]?.id ?? '', 10), null, 'organization scope');
  });

  t.test('deliveries of one call, oldest first', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = makeCall(org, { webhook_url: 'https://inline.example.com/' });
    await store.createCall(call, { events: ['call.queued', 'call.ringing'], reserve: 0 });
    t.match(await store.listCallDeliveries(call.id), [
      { event_type: 'call.queued', call_id: call.id },
      { event_type: 'call.ringing', call_id: call.id },
    ]);
    t.same(await store.listCallDeliveries(uuid()), []);
  });

  t.test('the overview counts calls, failures and answers by the hour', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const completed = makeCall(org, { status: 'in_progress' });
    const failed = makeCall(org, { direction: 'inbound' });
    for (const call of [completed, failed, makeCall(org, { created_at: at(HOUR) })]) {
      await store.createCall(call, { events: [], reserve: 0 });
    }
    await store.saveTurns({ turns: [makeTurn(completed.id)], interruptions: [] });
    const talk = { billed_duration_seconds: 42, billing_amount_milli_cents: 700 };
    await store.saveCall(completed.id, {
      from: ['in_progress'],
      change: { status: 'completed', ...talk },
      ledger: [{ kind: 'settle', amountMilliCents: 0 }],
    });
    await store.saveCall(failed.id, {
      from: ['queued'],
      change: { status: 'failed', error_code: 'model_lost' },
    });
    t.match(await store.callHours(org, at(0), at(2 * HOUR)), [
      {
        hour: START.slice(0, 13),
        calls: 2,
        inbound: 1,
        ended: 2,
        completed: 1,
        failed: 1,
        talkSeconds: 42,
        billedMilliCents: 700,
      },
      { hour: at(HOUR).slice(0, 13), calls: 1, ended: 0 },
    ]);
    t.equal(
      (await store.callHours(org, at(HOUR), at(2 * HOUR))).length,
      1,
      'from one hour to before another',
    );
    t.same(await store.failureReasons(org, at(0), at(HOUR)), [{ reason: 'model_lost', count: 1 }]);
    t.match(await store.answerLatencies(org, at(0), at(HOUR)), [{ answers: 1 }]);
    t.same(await store.answerLatencies(org, at(HOUR), at(2 * HOUR)), []);
  });

  t.test('nothing is kept in memory where the writes are taken', async (t) => {
    const { store } = await open(t);
    const call = makeCall(await addOrganization(store));
    await store.createCall(call, { events: [], reserve: 0 });
    t.equal(store.writable(), true);
    await store.stored(call.id);
  });
}
