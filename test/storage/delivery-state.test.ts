// Who may try a delivery, and what becomes of it.
import t from 'tap';
import {
  atPresent,
  attempted,
  callAfter,
  claim,
  givenBack,
  type Lease,
  neverPulled,
  pulledTo,
  replayed,
  sendable,
  signingSecrets,
} from '../../storage/delivery-state.ts';
import { newDelivery } from '../../storage/event-receivers.ts';
import type { DeliveryRecord, EndpointRecord } from '../../storage/records.ts';
import type { AttemptOutcome } from '../../storage/store.ts';
import { at } from './makers.ts';

const NOW = at(1_000);
const OWN = 7;
const ASKING = { owner: OWN, now: NOW };
const INLINE = 'https://inline.example.com/';
const EVENT = {
  id: 'e',
  org_id: 'org',
  call_id: 'c',
  type: 'call.completed',
  sequence: 1,
  created_at: at(0),
} as const;

const toEndpoint = (fields: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  ...newDelivery('d', EVENT, { endpointId: 'p', url: 'https://old.example.com/', enabled: true }),
  ...fields,
});
const inline = (fields: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  ...newDelivery('d', EVENT, { endpointId: null, url: INLINE, enabled: true }),
  ...fields,
});
const enabled = { status: 'enabled', url: 'https://new.example.com/' } as const;
const disabled = { status: 'disabled', url: 'https://new.example.com/' } as const;

const CLAIMS: {
  name: string;
  delivery: DeliveryRecord;
  lease?: Lease;
  endpoint?: Pick<EndpointRecord, 'status' | 'url'> | null;
  attempt?: number;
  url: string | null;
}[] = [
  { name: 'inline', delivery: inline(), url: INLINE },
  { name: 'to an endpoint that has moved', delivery: toEndpoint(), endpoint: enabled, url: enabled.url },
  { name: 'to a disabled endpoint', delivery: toEndpoint(), endpoint: disabled, url: null },
  { name: 'to an endpoint that is not there', delivery: toEndpoint(), endpoint: null, url: null },
  { name: 'delivered', delivery: inline({ status: 'delivered' }), url: null },
  { name: 'exhausted', delivery: inline({ status: 'exhausted' }), url: null },
  { name: 'another attempt than the next', delivery: inline({ attempt_count: 2 }), attempt: 1, url: null },
  { name: 'held', delivery: inline(), lease: { until: at(1_001), owner: OWN }, url: null },
  { name: 'held until now', delivery: inline(), lease: { until: NOW, owner: OWN }, url: INLINE },
  {
    name: 'held by another daemon, however long ago',
    delivery: inline(),
    lease: { until: at(0), owner: 6 },
    url: null,
  },
];
for (const { name, delivery, lease = null, endpoint = null, attempt = 0, url } of CLAIMS) {
  t.test(`claim: ${name}`, async (t) => {
    const claimed = claim({ delivery, lease, endpoint }, { ...ASKING, attempt, leaseMs: 30_000 });
    t.same(claimed, url === null ? null : { url, leaseUntil: at(31_000) });
  });
}

t.test('two secrets sign while the one before lives', async (t) => {
  const keys = { current: 'new', previous: 'old', expiresAt: at(1_001) };
  t.same(signingSecrets(keys, NOW), ['new', 'old']);
  t.same(signingSecrets({ ...keys, expiresAt: NOW }, NOW), ['new']);
  t.same(signingSecrets({ ...keys, previous: null }, NOW), ['new']);
  t.same(signingSecrets({ ...keys, expiresAt: null }, NOW), ['new']);
});

const outcome = (
  status: AttemptOutcome['status'],
  error: string | null,
  nextAttemptAt?: string,
): AttemptOutcome => ({
  attempt: {
    started_at: NOW,
    latency_ms: 1,
    response_status: error === null ? 200 : 500,
    error,
    response_excerpt: null,
  },
  status,
  ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
});
const LEASE = { until: at(2_000), owner: OWN };

t.test('an attempt', async (t) => {
  const delivery = inline({ attempt_count: 1, last_error: 'before' });
  t.match(attempted({ delivery, lease: LEASE }, outcome('delivered', null), ASKING), {
    status: 'delivered',
    attempt_count: 2,
    last_error: null,
    last_response_status: 200,
    delivered_at: NOW,
  });
  t.match(attempted({ delivery, lease: LEASE }, outcome('pending', 'http_status_500', at(5_000)), ASKING), {
    status: 'pending',
    attempt_count: 2,
    last_error: 'http_status_500',
    next_attempt_at: at(5_000),
    delivered_at: null,
  });
  t.match(attempted({ delivery, lease: LEASE }, outcome('exhausted', 'http_status_410'), ASKING), {
    status: 'exhausted',
    next_attempt_at: delivery.next_attempt_at,
  });
  t.throws(() => attempted({ delivery, lease: LEASE }, outcome('pending', 'timeout'), ASKING), TypeError);
});

t.test('what nobody holds, or is over, takes no outcome and is not given back', async (t) => {
  for (const found of [
    null,
    { delivery: inline(), lease: null },
    { delivery: inline({ status: 'exhausted' }), lease: LEASE },
  ]) {
    t.same(attempted(found, outcome('delivered', null), ASKING), { conflict: 'not_claimed' });
    t.equal(givenBack(found, at(7), ASKING), null);
  }
  const others = { delivery: inline(), lease: { ...LEASE, owner: 6 } };
  t.same(attempted(others, outcome('delivered', null), ASKING), { conflict: 'not_owner' });
  t.equal(givenBack(others, at(7), ASKING), null);
  t.match(givenBack({ delivery: inline({ attempt_count: 3 }), lease: LEASE }, at(7_000), ASKING), {
    next_attempt_at: at(7_000),
    attempt_count: 3,
    updated_at: NOW,
  });
  const due = inline({ next_attempt_at: at(7) });
  t.equal(givenBack({ delivery: due, lease: LEASE }, null, ASKING)?.next_attempt_at, at(7), 'as it was');
});

t.test('a replay begins its schedule anew, at where its endpoint is now', async (t) => {
  const before = toEndpoint({
    status: 'exhausted',
    attempt_count: 10,
    manual_retry_count: 1,
    last_error: 'timeout',
  });
  t.match(replayed(before, enabled, at(3), NOW), {
    url: enabled.url,
    status: 'pending',
    attempt_count: 10,
    attempts_before: 10,
    manual_retry_count: 2,
    next_attempt_at: at(3),
    last_error: 'timeout',
  });
  t.match(replayed(inline({ status: 'delivered', delivered_at: at(1) }), null, at(3), NOW), {
    url: INLINE,
    delivered_at: null,
  });
  t.same(replayed(before, null, at(3), NOW), { conflict: 'endpoint_deleted' });
  t.same(replayed(before, disabled, at(3), NOW), { conflict: 'endpoint_disabled' });
  t.equal(sendable(enabled), enabled);
});

t.test('only a pending delivery is shown with where it will go', async (t) => {
  t.equal(atPresent(toEndpoint(), enabled.url).url, enabled.url);
  t.equal(atPresent(toEndpoint({ status: 'delivered' }), enabled.url).url, 'https://old.example.com/');
  t.equal(atPresent(inline(), null).url, INLINE);
});

t.test('a call’s webhook fields speak of its inline call.completed alone', async (t) => {
  t.same(callAfter(inline({ status: 'delivered' })), { webhook_status: 'delivered', webhook_error: null });
  t.same(callAfter(inline({ last_error: 'timeout' })), {
    webhook_status: 'pending',
    webhook_error: 'timeout',
  });
  t.same(callAfter(inline({ status: 'exhausted', last_error: 'timeout' })), {
    webhook_status: 'failed',
    webhook_error: 'timeout',
  });
  t.equal(callAfter(toEndpoint({ status: 'delivered' })), null);
  t.equal(callAfter(inline({ event_type: 'call.busy' })), null);
  t.equal(callAfter(inline({ call_id: null })), null);
});

t.test('a retry stored by a clock that was ahead comes its wait from now', async (t) => {
  const waits = [0, 5_000];
  const retry = (attempt_count: number, ms: number) => ({ attempt_count, next_attempt_at: at(1_000 + ms) });
  t.equal(pulledTo(retry(1, 10_000 + 120_000), NOW, waits), null, 'twice its wait, and a little');
  t.equal(pulledTo(retry(1, 10_000 + 120_001), NOW, waits), at(6_000));
  t.equal(pulledTo(retry(0, 120_001), NOW, waits), NOW, 'a first attempt: at once');
  t.equal(pulledTo(retry(1, -5), NOW, waits), null, 'overdue');
  t.equal(pulledTo(retry(2, 9e9), NOW, waits), null, 'none of the schedule');
  for (const attempts of [0, 1])
    t.equal(pulledTo({ attempt_count: attempts, next_attempt_at: neverPulled(NOW) }, NOW, waits), null);
});
