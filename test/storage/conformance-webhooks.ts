// Conformance: endpoints, the outbox, deliveries, attempts.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { AttemptOutcome, DueDelivery, Store } from '../../storage/store.ts';
import {
  addOrganization,
  at,
  makeCall,
  makeEndpoint,
  type OpenEmpty,
  stoppedClock,
  succeeded,
} from './makers.ts';

const INLINE = 'https://inline.example.com/hook';
const INLINE_RECEIVER = 'https://inline.example.com';

function outcome(
  fields: Partial<AttemptOutcome> & { error?: string | null; http?: number | null },
): AttemptOutcome {
  const { error = null, http = null, ...rest } = fields;
  const attempt = {
    started_at: at(0),
    latency_ms: 12,
    response_status: http,
    error,
    response_excerpt: http === null ? null : 'ok',
  };
  return { attempt, status: 'delivered', ...rest };
}

export function webhookConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    const org = await addOrganization(store);
    const told: DueDelivery[] = [];
    store.subscribe({ deliveries: (due) => told.push(...due) });
    return { store, clock, org, told };
  }

  /** A completed call with an inline receiver: its one delivery. */
  async function oneInline(store: Store, org: string) {
    const call = makeCall(org, { webhook_url: INLINE, status: 'in_progress' });
    await store.createCall(call, { events: [], reserve: 0 });
    await store.saveCall(call.id, {
      from: ['in_progress'],
      change: { status: 'completed' },
      events: ['call.completed'],
    });
    const [delivery] = await store.listDeliveries(org, { callId: call.id }, { limit: 1 });
    return { call, id: succeeded(delivery ?? null).id };
  }

  async function addCall(store: Store, org: string) {
    const call = makeCall(org);
    await store.createCall(call, { events: ['call.queued'], reserve: 0 });
    const [delivery] = await store.listDeliveries(org, { callId: call.id }, { limit: 1 });
    return succeeded(delivery ?? null).id;
  }

  t.test('endpoints', async (t) => {
    const { store, clock, org } = await open(t);
    const other = await addOrganization(store);
    const first = makeEndpoint(org, { enabled_events: ['call.completed', 'call.busy'] });
    const second = makeEndpoint(org, { created_at: at(1), description: 'CRM' });
    t.strictSame(await store.createEndpoint(first), first);
    await store.createEndpoint(second);
    t.strictSame(await store.getEndpoint(org, first.id), first);
    t.equal(await store.getEndpoint(other, first.id), null, 'organization scope');
    t.strictSame(await store.listEndpoints(org, { limit: 10 }), [second, first]);
    t.strictSame(await store.listEndpoints(org, { limit: 1, startingAfter: second.id }), [first]);
    t.strictSame(await store.listEndpoints(other, { limit: 10 }), []);

    const now = clock.tick(50);
    t.equal(await store.updateEndpoint(other, first.id, { url: 'https://x.example.com' }), null);
    t.strictSame(
      await store.updateEndpoint(org, first.id, { url: 'https://x.example.com', description: 'new' }),
      { ...first, url: 'https://x.example.com', description: 'new', updated_at: now },
    );
    const disabled = await store.updateEndpoint(org, first.id, { status: 'disabled' });
    t.match(disabled, { status: 'disabled', disabled_reason: 'manual', disabled_at: now });
    clock.tick(50);
    const again = await store.updateEndpoint(org, first.id, { status: 'disabled' });
    t.equal(again?.disabled_at, now, 'disabling twice is once');
    const enabled = await store.updateEndpoint(org, first.id, { status: 'enabled' });
    t.match(enabled, {
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      consecutive_failures: 0,
    });

    t.equal(await store.deleteEndpoint(other, first.id), false, 'organization scope');
    t.equal(await store.deleteEndpoint(org, first.id), true);
    t.equal(await store.deleteEndpoint(org, first.id), false);
    t.equal(await store.getEndpoint(org, first.id), null);
    t.equal(await store.updateEndpoint(org, first.id, { status: 'enabled' }), null);
    t.strictSame(await store.listEndpoints(org, { limit: 10 }), [second]);
  });

  t.test('an event goes to the call’s own URL and to each endpoint that wants it', async (t) => {
    const { store, org, told } = await open(t);
    const other = await addOrganization(store);
    const all = makeEndpoint(org);
    const some = makeEndpoint(org, { enabled_events: ['call.ringing', 'call.busy'] });
    const gone = makeEndpoint(org);
    for (const endpoint of [all, some, gone, makeEndpoint(other)]) await store.createEndpoint(endpoint);
    await store.deleteEndpoint(org, gone.id);
    const call = makeCall(org, { webhook_url: INLINE });
    await store.createCall(call, { events: ['call.queued'], reserve: 0 });
    await store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'ringing' },
      events: ['call.ringing'],
    });
    const deliveries = (await store.listDeliveries(org, {}, { limit: 100 })).reverse();
    t.strictSame(
      deliveries.map((d) => [d.event_type, d.endpoint_id, d.url]),
      [
        ['call.queued', null, INLINE],
        ['call.queued', all.id, all.url],
        ['call.ringing', null, INLINE],
        ['call.ringing', all.id, all.url],
        ['call.ringing', some.id, some.url],
      ],
    );
    t.strictSame(
      told,
      deliveries.map((d) => ({
        id: d.id,
        attempt: 0,
        at: at(0),
        receiver: d.endpoint_id ?? INLINE_RECEIVER,
        callId: call.id,
      })),
      'subscribers hear of each, due now, and whose turn it is',
    );
    t.strictSame(await store.dueDeliveries(at(0), 100), told);
    const events = await store.listEvents(call.id);
    for (const delivery of deliveries) {
      t.equal(delivery.event_id, events.find((event) => event.type === delivery.event_type)?.id);
      t.match(delivery, { status: 'pending', attempt_count: 0, call_id: call.id, org_id: org });
    }
    t.equal(new Set(deliveries.map((d) => d.id)).size, 5, 'each with an id of its own');
    t.strictSame(await store.listDeliveries(other, {}, { limit: 100 }), [], 'organization scope');
    t.equal(await store.getDelivery(other, deliveries[0]?.id ?? ''), null, 'organization scope');
  });

  t.test('deliveries are listed by what they are', async (t) => {
    const { store, org } = await open(t);
    const endpoint = makeEndpoint(org);
    await store.createEndpoint(endpoint);
    const { call, id } = await oneInline(store, org);
    const theirs = await addCall(store, org);
    const list = async (filters: Parameters<Store['listDeliveries']>[1]) =>
      (await store.listDeliveries(org, filters, { limit: 100 })).map((d) => d.id);
    t.equal((await list({})).length, 3);
    t.equal((await list({ callId: call.id })).length, 2);
    t.equal((await list({ endpointId: endpoint.id })).length, 2);
    t.strictSame(await list({ eventType: 'call.queued' }), [theirs]);
    t.strictSame(await list({ endpointId: endpoint.id, eventType: 'call.queued' }), [theirs]);
    t.strictSame(await list({ status: 'delivered' }), []);
    await store.claimDelivery(theirs, 0, at(0), 1000);
    await store.recordAttempt(theirs, outcome({ http: 200 }));
    t.strictSame(await list({ status: 'delivered' }), [theirs]);
    const [newest, ...rest] = await list({});
    t.strictSame(
      (await store.listDeliveries(org, {}, { limit: 100, startingAfter: newest })).map((d) => d.id),
      rest,
    );
    t.ok(rest.length === 2 && id !== theirs);
  });

  t.test('a claim is one at a time, and ends with its lease', async (t) => {
    const { store, org } = await open(t);
    const { call, id } = await oneInline(store, org);
    const claims = await Promise.all(
      Array.from({ length: 50 }, () => store.claimDelivery(id, 0, at(0), 30_000)),
    );
    const [claimed] = claims.filter((claim) => claim !== null);
    t.equal(claims.filter((claim) => claim !== null).length, 1, 'one of many gets it');
    const [event] = await store.listEvents(call.id);
    t.equal(claimed?.body, event?.body, 'the stored bytes');
    t.equal(claimed?.sequence, 1);
    t.equal(claimed?.replay, false);
    t.strictSame(claimed?.secrets, ['whsec_b3Jn'], "inline deliveries carry the organization's secret");
    t.equal(claimed?.delivery.id, id);
    t.strictSame(await store.dueDeliveries(at(29_999), 10), [], 'a leased delivery is not due');
    t.equal(await store.claimDelivery(id, 0, at(29_999), 30_000), null);
    t.equal((await store.dueDeliveries(at(30_000), 10)).length, 1, 'until the lease ends');
    t.equal(await store.claimDelivery(id, 1, at(30_000), 30_000), null, 'another attempt than the next');
    t.ok(await store.claimDelivery(id, 0, at(30_000), 30_000));
    t.equal(await store.claimDelivery(uuid(), 0, at(0), 30_000), null);
  });

  t.test('two secrets sign while the old one lives', async (t) => {
    const { store, org } = await open(t);
    const endpoint = makeEndpoint(org, {
      secret: 'whsec_new',
      previous_secret: 'whsec_old',
      previous_secret_expires_at: at(1000),
    });
    await store.createEndpoint(endpoint);
    const id = await addCall(store, org);
    t.strictSame((await store.claimDelivery(id, 0, at(999), 1))?.secrets, ['whsec_new', 'whsec_old']);
    t.strictSame((await store.claimDelivery(id, 0, at(1000), 1))?.secrets, ['whsec_new']);
    await store.updateEndpoint(org, endpoint.id, {
      secret: 'whsec_newer',
      previous_secret: 'whsec_new',
      previous_secret_expires_at: at(9000),
    });
    t.strictSame((await store.claimDelivery(id, 0, at(2000), 1))?.secrets, ['whsec_newer', 'whsec_new']);
    const two = await addOrganization(store, {
      webhook_secret: 'whsec_b',
      previous_webhook_secret: 'whsec_a',
      previous_webhook_secret_expires_at: at(1000),
    });
    const inline = await oneInline(store, two);
    t.strictSame((await store.claimDelivery(inline.id, 0, at(0), 1))?.secrets, ['whsec_b', 'whsec_a']);
    t.strictSame((await store.claimDelivery(inline.id, 0, at(5000), 1))?.secrets, ['whsec_b']);
  });

  t.test('attempts: fail, fail, deliver', async (t) => {
    const { store, clock, org, told } = await open(t);
    const { call, id } = await oneInline(store, org);
    told.length = 0;
    t.strictSame(
      await store.recordAttempt(id, outcome({})),
      { conflict: 'not_claimed' },
      'an attempt needs a claim',
    );
    await store.claimDelivery(id, 0, at(0), 30_000);
    clock.tick(100);
    const failed = await store.recordAttempt(
      id,
      outcome({ status: 'pending', nextAttemptAt: at(5000), error: 'HTTP 500', http: 500 }),
    );
    t.match(failed, {
      status: 'pending',
      attempt_count: 1,
      next_attempt_at: at(5000),
      last_error: 'HTTP 500',
      last_response_status: 500,
      delivered_at: null,
      updated_at: at(100),
    });
    const again = { id, attempt: 1, at: at(5000), receiver: INLINE_RECEIVER, callId: call.id };
    t.strictSame(told, [again], 'subscribers hear when it is due again');
    t.match(await store.findCall(call.id), { webhook_status: 'pending', webhook_error: 'HTTP 500' });
    t.strictSame(
      await store.recordAttempt(id, outcome({})),
      { conflict: 'not_claimed' },
      'a claim is used up',
    );
    t.strictSame(await store.dueDeliveries(at(4999), 10), []);
    t.strictSame(await store.dueDeliveries(at(5000), 10), [again]);

    await store.claimDelivery(id, 1, at(5000), 30_000);
    await t.rejects(store.recordAttempt(id, outcome({ status: 'pending' })), 'pending needs a time');
    await store.recordAttempt(id, outcome({ status: 'pending', nextAttemptAt: at(9000), error: 'timeout' }));
    t.match((await store.getDelivery(org, id))?.delivery, {
      last_response_status: null,
      last_error: 'timeout',
    });
    await store.claimDelivery(id, 2, at(9000), 30_000);
    clock.tick(100);
    const delivered = await store.recordAttempt(id, outcome({ http: 204 }));
    t.match(delivered, {
      status: 'delivered',
      attempt_count: 3,
      delivered_at: at(200),
      last_error: null,
      last_response_status: 204,
    });
    t.match(await store.findCall(call.id), {
      webhook_status: 'delivered',
      webhook_error: null,
      updated_at: at(200),
    });
    const found = await store.getDelivery(org, id);
    t.strictSame(found?.delivery, delivered);
    t.strictSame(
      found?.attempts.map((a) => [a.attempt, a.response_status, a.error, a.latency_ms, a.response_excerpt]),
      [
        [1, 500, 'HTTP 500', 12, 'ok'],
        [2, null, 'timeout', 12, null],
        [3, 204, null, 12, 'ok'],
      ],
    );
    t.equal(await store.claimDelivery(id, 3, at(99_000), 1), null, 'nothing is left to do');
    t.strictSame(await store.dueDeliveries(at(999_000), 10), []);
  });

  t.test('an exhausted inline call.completed shows on the call, and can be replayed', async (t) => {
    const { store, clock, org, told } = await open(t);
    const other = await addOrganization(store);
    const { call, id } = await oneInline(store, org);
    await store.claimDelivery(id, 0, at(0), 30_000);
    await store.recordAttempt(id, outcome({ status: 'exhausted', error: 'HTTP 410', http: 410 }));
    t.match(await store.findCall(call.id), { webhook_status: 'failed', webhook_error: 'HTTP 410' });

    told.length = 0;
    clock.tick(500);
    t.equal(await store.redeliver(other, id, at(500)), null, 'organization scope');
    t.equal(await store.redeliver(org, uuid(), at(500)), null);
    const again = await store.redeliver(org, id, at(500));
    t.match(
      again,
      {
        status: 'pending',
        manual_retry_count: 1,
        attempt_count: 1,
        attempts_before: 1,
        next_attempt_at: at(500),
      },
      'its schedule from the start, and what was tried stays counted',
    );
    const due = { id, attempt: 1, at: at(500), receiver: INLINE_RECEIVER, callId: call.id };
    t.strictSame(told, [due], 'due now');
    t.match(await store.findCall(call.id), { webhook_status: 'pending' });
    const claimed = await store.claimDelivery(id, 1, at(500), 30_000);
    t.equal(claimed?.replay, true);
    await store.recordAttempt(id, outcome({ http: 200 }));
    t.match(await store.findCall(call.id), { webhook_status: 'delivered', webhook_error: null });
    t.strictSame(
      (await store.getDelivery(org, id))?.attempts.map((attempt) => attempt.attempt),
      [1, 2],
      'attempts count on',
    );
    t.match(await store.redeliver(org, id, at(600)), { manual_retry_count: 2, delivered_at: null });
    const inFlight = await store.claimDelivery(id, 2, at(600), 30_000);
    t.ok(inFlight);
    await store.redeliver(org, id, at(700));
    t.strictSame(
      await store.recordAttempt(id, outcome({ http: 200 })),
      { conflict: 'not_claimed' },
      'a replay outlives the attempt that was under way',
    );
  });

  t.test('other deliveries leave the call’s webhook fields alone', async (t) => {
    const { store, org } = await open(t);
    await store.createEndpoint(makeEndpoint(org));
    const call = makeCall(org, { webhook_url: INLINE });
    await store.createCall(call, { events: ['call.queued'], reserve: 0 });
    await store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'completed' },
      events: ['call.completed'],
    });
    for (const delivery of await store.listDeliveries(org, { callId: call.id }, { limit: 10 })) {
      if (delivery.endpoint_id === null && delivery.event_type === 'call.completed') continue;
      await store.claimDelivery(delivery.id, 0, at(0), 1000);
      succeeded(await store.recordAttempt(delivery.id, outcome({ status: 'exhausted', error: 'HTTP 500' })));
    }
    t.match(await store.findCall(call.id), { webhook_status: 'pending', webhook_error: null });
  });

  t.test('ten exhausted deliveries in a row disable an endpoint', async (t) => {
    const { store, clock, org, told } = await open(t);
    const endpoint = makeEndpoint(org);
    await store.createEndpoint(endpoint);
    const state = async () => store.getEndpoint(org, endpoint.id);
    async function attempt(status: 'delivered' | 'exhausted' | 'pending') {
      const id = await addCall(store, org);
      await store.claimDelivery(id, 0, at(0), 1000);
      const error = status === 'delivered' ? null : 'HTTP 503';
      const nextAttemptAt = status === 'pending' ? { nextAttemptAt: at(60_000) } : {};
      succeeded(await store.recordAttempt(id, outcome({ status, error, ...nextAttemptAt })));
      return id;
    }
    for (let i = 0; i < 9; i++) await attempt('exhausted');
    const held = await attempt('pending');
    t.match(await state(), { consecutive_failures: 9, status: 'enabled' }, 'a failed try does not count');
    await attempt('delivered');
    t.match(await state(), { consecutive_failures: 0 }, 'a success starts over');
    for (let i = 0; i < 9; i++) await attempt('exhausted');
    const waiting = await addCall(store, org);
    clock.tick(77);
    t.match(await state(), { status: 'enabled' });
    await attempt('exhausted');
    t.match(await state(), {
      status: 'disabled',
      disabled_reason: 'too_many_failures',
      disabled_at: at(77),
      consecutive_failures: 10,
    });

    t.strictSame(await store.dueDeliveries(at(99_000), 10), [], 'what is pending is held');
    t.equal(await store.claimDelivery(waiting, 0, at(99_000), 1), null);
    t.equal((await store.stats()).pendingDeliveries, 0, 'and is no backlog');
    told.length = 0;
    const missed = await addCall(store, org);
    t.strictSame(told, [], 'an event while disabled is told to nobody');
    t.match((await store.getDelivery(org, missed))?.delivery, {
      status: 'exhausted',
      last_error: 'endpoint_disabled',
      attempt_count: 0,
    });
    t.equal((await state())?.consecutive_failures, 10, 'and counts as no failure');
    const refused = { conflict: 'endpoint_disabled' };
    t.strictSame(await store.redeliver(org, missed, at(80)), refused, 'it would wait for ever');
    const all = { since: at(0), until: null, only: 'all', at: at(80), limit: 100 } as const;
    t.strictSame(await store.replayDeliveries(org, endpoint.id, all), refused);
    t.match(await store.getDelivery(org, missed), {
      delivery: { status: 'exhausted', manual_retry_count: 0 },
    });
    t.strictSame(told, []);

    await store.updateEndpoint(org, endpoint.id, { status: 'enabled' });
    t.match(await state(), { status: 'enabled', consecutive_failures: 0, disabled_reason: null });
    t.strictSame(
      told.map((due) => due.id).sort(),
      [held, waiting].sort(),
      'enabled again: what was held goes on',
    );
    t.match(await store.redeliver(org, missed, at(81)), { status: 'pending', manual_retry_count: 1 });
    t.ok(await store.claimDelivery(waiting, 0, at(99_000), 1));
  });

  t.test('an attempt under way when its endpoint goes', async (t) => {
    const { store, org } = await open(t);
    const endpoint = makeEndpoint(org);
    await store.createEndpoint(endpoint);
    const [first, second] = [await addCall(store, org), await addCall(store, org)];
    await store.claimDelivery(first, 0, at(0), 1000);
    await store.updateEndpoint(org, endpoint.id, { status: 'disabled' });
    t.match(
      await store.recordAttempt(first, outcome({ http: 200 })),
      { status: 'delivered' },
      'disabled: recorded',
    );
    await store.updateEndpoint(org, endpoint.id, { status: 'enabled' });
    await store.claimDelivery(second, 0, at(0), 1000);
    await store.deleteEndpoint(org, endpoint.id);
    t.strictSame(await store.recordAttempt(second, outcome({ http: 200 })), { conflict: 'not_claimed' });
    t.match((await store.getDelivery(org, second))?.delivery, {
      status: 'exhausted',
      last_error: 'endpoint_deleted',
      endpoint_id: endpoint.id,
    });
    t.strictSame(
      await store.redeliver(org, second, at(1)),
      { conflict: 'endpoint_deleted' },
      'there is nobody to send to',
    );
    t.strictSame(await store.dueDeliveries(at(9999), 10), []);
  });

  t.test('an attempt that is not charged gives the delivery back for another time', async (t) => {
    const { store, org, told } = await open(t);
    const { id } = await oneInline(store, org);
    t.equal(await store.releaseDelivery(id, at(9000)), false, 'nobody has it');
    await store.claimDelivery(id, 0, at(0), 30_000);
    told.length = 0;
    t.equal(await store.releaseDelivery(id, at(9000)), true);
    t.match(told, [{ id, attempt: 0, at: at(9000), receiver: INLINE_RECEIVER }]);
    t.strictSame(await store.dueDeliveries(at(8999), 10), []);
    t.match(await store.dueDeliveries(at(9000), 10), [{ id, attempt: 0 }], 'long before its lease would end');
    t.match(await store.getDelivery(org, id), {
      delivery: { attempt_count: 0, status: 'pending', next_attempt_at: at(9000) },
      attempts: [],
    });
    t.ok(await store.claimDelivery(id, 0, at(9000), 30_000), 'anybody may take it');
    // Its time stays what it was, also where the clock is set while it is held.
    await store.moveTimes(-3_600_000);
    t.equal(await store.releaseDelivery(id, null), true);
    t.match(await store.getDelivery(org, id), { delivery: { next_attempt_at: at(9000 - 3_600_000) } });
    await store.moveTimes(3_600_000);
    t.ok(await store.claimDelivery(id, 0, at(9000), 30_000), 'as due as before');
    await store.recordAttempt(id, outcome({ http: 200 }));
    t.equal(await store.releaseDelivery(id, at(9000)), false, 'a delivered one stays so');
    t.equal(await store.releaseDelivery(uuid(), at(9000)), false);
  });

  t.test('the wall clock is set: what is still to come stays as far off as it was', async (t) => {
    const { store, org } = await open(t);
    const { id } = await oneInline(store, org);
    await store.claimDelivery(id, 0, at(0), 30_000);
    await store.recordAttempt(id, outcome({ http: 500, status: 'pending', nextAttemptAt: at(5000) }));
    const done = await oneInline(store, org);
    await store.claimDelivery(done.id, 0, at(0), 30_000);
    await store.recordAttempt(done.id, outcome({ http: 200 }));
    await store.beginIdempotent(org, 'k', 'hash', at(0));
    await store.finishIdempotent(org, 'k', 201, '{}');
    for (const byMs of [86_400_000, -3_600_000]) {
      const before = Date.parse((await store.getDelivery(org, id))?.delivery.next_attempt_at ?? '');
      await store.moveTimes(byMs);
      t.match(await store.getDelivery(org, id), {
        delivery: { next_attempt_at: new Date(before + byMs).toISOString() },
      });
      t.match(
        await store.getDelivery(org, done.id),
        { delivery: { next_attempt_at: at(0) } },
        'what is past stays',
      );
    }
    const day = 86_400_000 - 3_600_000;
    t.match(await store.beginIdempotent(org, 'k', 'hash', at(day + 86_399_000)), { state: 'done' });
    t.match(await store.beginIdempotent(org, 'k', 'hash', at(day + 86_401_000)), { state: 'new' });
  });

  t.test('at start a retry is no further off than its wait', async (t) => {
    const { store, org } = await open(t);
    const waits = [0, 5000, 30_000];
    const { id } = await oneInline(store, org);
    await store.claimDelivery(id, 0, at(0), 30_000);
    await store.recordAttempt(id, outcome({ http: 500, status: 'pending', nextAttemptAt: at(5000) }));
    await store.pullDueDeliveries(at(0), waits);
    t.match(
      await store.getDelivery(org, id),
      { delivery: { next_attempt_at: at(5000) } },
      'as it was planned',
    );
    await store.pullDueDeliveries(at(-3_600_000), waits);
    t.match(await store.getDelivery(org, id), { delivery: { next_attempt_at: at(-3_595_000) } });
  });

  t.test('an organization has as many endpoints as its limit, deleted ones not counted', async (t) => {
    const { store, org } = await open(t);
    const other = await addOrganization(store);
    await store.createEndpoint(makeEndpoint(other));
    const [first, second] = [makeEndpoint(org), makeEndpoint(org)];
    succeeded(await store.createEndpoint(first, { limit: 2 }));
    succeeded(await store.createEndpoint(second, { limit: 2 }));
    t.strictSame(await store.createEndpoint(makeEndpoint(org), { limit: 2 }), {
      conflict: 'too_many_endpoints',
    });
    t.equal((await store.listEndpoints(org, { limit: 10 })).length, 2);
    await store.deleteEndpoint(org, first.id);
    succeeded(await store.createEndpoint(makeEndpoint(org), { limit: 2 }));
  });

  t.test(
    'a deleted endpoint with much owed: nothing more is due at once, and the rest is ended by and by',
    async (t) => {
      const { store, clock, org } = await open(t);
      const [gone, other] = [makeEndpoint(org), makeEndpoint(org)];
      await store.createEndpoint(gone);
      for (let i = 0; i < 250; i++)
        await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 });
      await store.createEndpoint(other);
      await addCall(store, org);
      const owed = async (endpointId: string) => {
        const filters = { endpointId, status: 'pending' } as const;
        const first = await store.listDeliveries(org, filters, { limit: 1000 });
        return first.map(({ id }) => id);
      };
      t.equal(await store.endDeletedDeliveries(), false, 'nothing is deleted yet');
      t.equal((await owed(gone.id)).length, 251);
      const last = (await owed(gone.id))[0] ?? '';
      await store.claimDelivery(last, 0, at(0), 3_600_000);
      const now = clock.tick(1000);
      t.equal(await store.deleteEndpoint(org, gone.id), true);
      const left = await owed(gone.id);
      t.equal(left.length, 151, 'a hundred in the transaction of the deletion');
      t.same(
        (await store.dueDeliveries(at(9999), 1000)).map(({ id }) => id),
        await owed(other.id),
        'due is what others are owed',
      );
      for (const id of left.slice(0, 3)) t.equal(await store.claimDelivery(id, 0, at(9999), 1000), null);
      t.equal((await store.stats()).pendingDeliveries, 1);
      let times = 0;
      while (await store.endDeletedDeliveries()) t.ok(++times <= 2, 'a hundred at a time');
      t.equal(times, 2);
      t.same(await owed(gone.id), []);
      t.equal((await owed(other.id)).length, 1);
      for (const id of left.slice(0, 3)) {
        t.match((await store.getDelivery(org, id))?.delivery, {
          status: 'exhausted',
          last_error: 'endpoint_deleted',
          updated_at: now,
        });
      }
      t.strictSame(
        await store.recordAttempt(last, outcome({ http: 500, status: 'pending', nextAttemptAt: at(1) })),
        {
          conflict: 'not_claimed',
        },
      );
    },
  );

  t.test('a changed URL is where what is still pending goes', async (t) => {
    const { store, org } = await open(t);
    const endpoint = makeEndpoint(org);
    await store.createEndpoint(endpoint);
    const [pending, done] = [await addCall(store, org), await addCall(store, org)];
    await store.claimDelivery(done, 0, at(0), 1000);
    await store.recordAttempt(done, outcome({ http: 200 }));
    await store.updateEndpoint(org, endpoint.id, { url: 'https://new.example.com' });
    t.equal((await store.getDelivery(org, pending))?.delivery.url, 'https://new.example.com');
    t.same(
      (await store.listDeliveries(org, { endpointId: endpoint.id, status: 'pending' }, { limit: 10 })).map(
        (delivery) => delivery.url,
      ),
      ['https://new.example.com'],
    );
    t.equal((await store.getDelivery(org, done))?.delivery.url, endpoint.url, 'history stays');
    t.match(await store.redeliver(org, done, at(1)), { url: 'https://new.example.com' });
    const taken = await store.claimDelivery(pending, 0, at(0), 1000);
    t.equal(taken?.delivery.url, 'https://new.example.com');
    await store.updateEndpoint(org, endpoint.id, { url: 'https://newer.example.com' });
    t.match(await store.recordAttempt(pending, outcome({ http: 200 })), {
      status: 'delivered',
      url: 'https://new.example.com',
    });
  });

  t.test('the most overdue is due first, and the backlog shows', async (t) => {
    const { store, clock, org } = await open(t);
    await store.createEndpoint(makeEndpoint(org));
    const ids = [await addCall(store, org), await addCall(store, org), await addCall(store, org)] as const;
    for (const [i, next] of [3000, 1000, 2000].entries()) {
      await store.claimDelivery(ids[i] ?? '', 0, at(0), 1000);
      await store.recordAttempt(
        ids[i] ?? '',
        outcome({ status: 'pending', nextAttemptAt: at(next), error: 'x' }),
      );
    }
    t.strictSame(
      (await store.dueDeliveries(at(5000), 2)).map((due) => due.id),
      [ids[1], ids[2]],
    );
    t.match(await store.stats(), { pendingDeliveries: 3, oldestPendingSeconds: 0 });
    clock.tick(8500);
    t.match(await store.stats(), { pendingDeliveries: 3, oldestPendingSeconds: 7.5 });
  });

  t.test('a subscriber that throws changes nothing, and one that left hears nothing', async (t) => {
    const { store, org } = await open(t);
    await store.createEndpoint(makeEndpoint(org));
    const heard: string[] = [];
    const leave = store.subscribe({
      event() {
        throw new Error('broken subscriber');
      },
    });
    const stop = store.subscribe({ event: (event) => heard.push(event.type) });
    succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
    t.strictSame(heard, ['call.queued']);
    leave();
    stop();
    succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
    t.equal(heard.length, 1);
  });

  t.test('a subscriber may use the store: it is told after the commit', async (t) => {
    const { store, org } = await open(t);
    await store.createEndpoint(makeEndpoint(org));
    const claims: ReturnType<Store['claimDelivery']>[] = [];
    store.subscribe({
      deliveries: (due) => claims.push(...due.map((d) => store.claimDelivery(d.id, d.attempt, d.at, 1000))),
    });
    await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 });
    t.equal((await Promise.all(claims)).filter((claim) => claim !== null).length, 1);
  });
}
