// What an exhausted delivery does to its endpoint, and what its owner does.
import t from 'tap';
import {
  endpointAfter,
  endpointChange,
  endpointDeleted,
  MAX_CONSECUTIVE_FAILURES,
} from '../../storage/endpoint-state.ts';
import type { DeliveryStatus, EndpointRecord } from '../../storage/records.ts';
import { at, makeEndpoint } from './makers.ts';

const NOW = at(9);
const LAST = MAX_CONSECUTIVE_FAILURES - 1;
const disabled = { status: 'disabled', disabled_reason: 'too_many_failures', disabled_at: NOW } as const;

const AFTER: {
  failures: number;
  status?: EndpointRecord['status'];
  outcome: DeliveryStatus;
  wanted: Partial<EndpointRecord> | null;
}[] = [
  { failures: 0, outcome: 'delivered', wanted: null },
  { failures: 3, outcome: 'delivered', wanted: { consecutive_failures: 0 } },
  { failures: 3, outcome: 'pending', wanted: null },
  { failures: 3, outcome: 'exhausted', wanted: { consecutive_failures: 4 } },
  { failures: LAST, outcome: 'exhausted', wanted: { consecutive_failures: LAST + 1, ...disabled } },
  { failures: LAST + 5, outcome: 'exhausted', wanted: { consecutive_failures: LAST + 6, ...disabled } },
  { failures: LAST, status: 'disabled', outcome: 'exhausted', wanted: { consecutive_failures: LAST + 1 } },
];
for (const { failures, status = 'enabled', outcome, wanted } of AFTER) {
  t.test(`${status}, ${failures} failures + ${outcome}`, async (t) => {
    const found = makeEndpoint('org', { consecutive_failures: failures, status });
    t.same(endpointAfter(found, outcome, NOW), wanted && { ...wanted, updated_at: NOW });
  });
}

const MANUAL = { status: 'disabled', disabled_reason: 'manual', disabled_at: NOW } as const;
const FAILED = {
  status: 'disabled',
  disabled_reason: 'too_many_failures',
  disabled_at: at(1),
  consecutive_failures: 10,
} as const;
const CHANGES: {
  name: string;
  found?: Partial<EndpointRecord>;
  asked: Partial<EndpointRecord>;
  wanted: Partial<EndpointRecord>;
  released?: boolean;
}[] = [
  { name: 'another url', asked: { url: 'https://b.example.com' }, wanted: { url: 'https://b.example.com' } },
  { name: 'disabled', asked: { status: 'disabled' }, wanted: MANUAL },
  {
    name: 'disabled twice is once',
    found: { ...MANUAL, disabled_at: at(2) },
    asked: { status: 'disabled' },
    wanted: { ...MANUAL, disabled_at: at(2) },
  },
  {
    name: 'disabled after its failures keeps why',
    found: FAILED,
    asked: { status: 'disabled' },
    wanted: { status: 'disabled', disabled_reason: 'too_many_failures', disabled_at: at(1) },
  },
  {
    name: 'enabled again: the counter is cleared, and what was held goes on',
    found: FAILED,
    asked: { status: 'enabled' },
    wanted: { status: 'enabled', consecutive_failures: 0, disabled_reason: null, disabled_at: null },
    released: true,
  },
  {
    name: 'enabled while it is: nothing was held',
    found: { consecutive_failures: 4 },
    asked: { status: 'enabled' },
    wanted: { status: 'enabled', consecutive_failures: 0, disabled_reason: null, disabled_at: null },
  },
  {
    name: 'what is not to be changed is left',
    asked: { consecutive_failures: 7, id: 'other', org_id: 'other' },
    wanted: {},
  },
];
for (const { name, found = {}, asked, wanted, released = false } of CHANGES) {
  t.test(name, async (t) => {
    t.same(endpointChange(makeEndpoint('org', found), asked, NOW), {
      change: { ...wanted, updated_at: NOW },
      released,
    });
  });
}

t.test('deleted: it gets nothing more, and keeps no secret', async (t) => {
  t.match(endpointDeleted(NOW), { status: 'disabled', secret: '', previous_secret: null, deleted_at: NOW });
});
