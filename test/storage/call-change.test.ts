// What a change makes of a call.
import t from 'tap';
import { changedCall, isTerminal } from '../../storage/call-change.ts';
import { CALL_STATUSES } from '../../storage/records.ts';
import { at, makeCall } from './makers.ts';

const LIVE_STATUSES = ['queued', 'initiated', 'ringing', 'in_progress'] as const;
const found = makeCall('org', { reserved_milli_cents: 300, webhook_url: 'https://hooks.example.com/' });

for (const status of CALL_STATUSES) {
  const live = (LIVE_STATUSES as readonly string[]).includes(status);
  t.test(`${status}, changed from the live ones`, async (t) => {
    const changed = changedCall(
      { ...found, status },
      { from: LIVE_STATUSES, change: { answered_by: 'human' } },
      at(3),
    );
    if (live) t.same(changed, { ...found, status, answered_by: 'human', updated_at: at(3) });
    else t.same(changed, { conflict: 'status' });
    t.equal(isTerminal(status), !live);
  });
}

t.test('what no change touches, and what is not given, stays', async (t) => {
  const change = {
    id: 'x',
    org_id: 'x',
    created_at: 'x',
    reserved_milli_cents: 9,
    hangup_cause: undefined,
  } as object;
  t.same(changedCall(found, { from: ['queued'], change }, at(3)), { ...found, updated_at: at(3) });
});

t.test('with its call.completed the inline delivery is pending', async (t) => {
  const change = { from: ['queued'], change: {}, events: ['call.completed'] } as const;
  t.match(changedCall(found, change, at(3)), { webhook_status: 'pending' });
});
