// Who receives an event, by what its call and the endpoints say.
import t from 'tap';
import { beforePublishing, newDelivery, receiversOf } from '../../storage/event-receivers.ts';
import { at, makeCall, makeEndpoint } from './makers.ts';

const INLINE = 'https://inline.example.com/';
const all = makeEndpoint('org', { url: 'https://all.example.com/' });
const busy = makeEndpoint('org', { enabled_events: ['call.busy'] });
const both = makeEndpoint('org', { enabled_events: ['call.busy', 'call.completed'] });
const off = makeEndpoint('org', { status: 'disabled' });
const deaf = makeEndpoint('org', { enabled_events: [] });

const CASES = [
  { name: 'nobody', webhook: null, endpoints: [], wanted: [] },
  { name: 'the call’s own URL alone', webhook: INLINE, endpoints: [], wanted: [null] },
  {
    name: 'all that want it, the call’s own first',
    webhook: INLINE,
    endpoints: [all, both],
    wanted: [null, all.id, both.id],
  },
  { name: 'not who asked for others', webhook: null, endpoints: [busy, both, deaf], wanted: [both.id] },
  { name: 'the disabled one too', webhook: null, endpoints: [off, all], wanted: [off.id, all.id] },
];
for (const { name, webhook, endpoints, wanted } of CASES) {
  t.test(name, async (t) => {
    const receivers = receiversOf({ webhook_url: webhook }, 'call.completed', endpoints);
    t.same(
      receivers.map(({ endpointId }) => endpointId),
      wanted,
    );
    t.same(
      receivers.filter(({ enabled }) => !enabled).map(({ endpointId }) => endpointId),
      wanted.filter((id) => id === off.id),
    );
  });
}

t.test('a delivery is due at once; to a disabled endpoint it is exhausted from the start', async (t) => {
  const event = {
    id: 'e',
    org_id: 'org',
    call_id: 'c',
    type: 'call.busy',
    sequence: 3,
    created_at: at(7),
  } as const;
  const enabled = newDelivery('d', event, { endpointId: all.id, url: all.url, enabled: true });
  t.match(enabled, {
    id: 'd',
    event_id: 'e',
    event_type: 'call.busy',
    endpoint_id: all.id,
    status: 'pending',
    attempt_count: 0,
    next_attempt_at: at(7),
    last_error: null,
  });
  const missed = newDelivery('d', event, { endpointId: off.id, url: off.url, enabled: false });
  t.match(missed, { status: 'exhausted', attempt_count: 0, last_error: 'endpoint_disabled' });
});

t.test('a call shows its inline call.completed as pending, and no other event', async (t) => {
  const call = makeCall('org', { webhook_url: INLINE, webhook_error: 'before' });
  t.match(beforePublishing(call, ['call.completed']), { webhook_status: 'pending', webhook_error: null });
  t.equal(beforePublishing(call, ['call.busy']), call);
  const without = makeCall('org');
  t.equal(beforePublishing(without, ['call.completed']), without);
});
