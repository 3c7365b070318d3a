// Conformance: alerts, and what they are read from.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { AlertMessageRecord, AlertStateRecord } from '../../storage/alert-records.ts';
import {
  addOrganization,
  at,
  makeCall,
  makeEndpoint,
  type OpenEmpty,
  stoppedClock,
  succeeded,
} from './makers.ts';

export function alertConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock, org: await addOrganization(store), other: await addOrganization(store) };
  }

  const pending = { status: 'pending', attempts: 0, error: null, sent_at: null } as const;
  const message = (org: string, fields: Partial<AlertMessageRecord> = {}): AlertMessageRecord => ({
    id: uuid(),
    org_id: org,
    kind: 'disk_low',
    status: 'firing',
    text: '4 MB are free.',
    value: 4.5,
    threshold: 500,
    created_at: at(0),
    webhook: pending,
    email: null,
    next_attempt_at: at(0),
    ...fields,
  });
  const state = (org: string, version: number, fields: Partial<AlertStateRecord> = {}): AlertStateRecord => ({
    org_id: org,
    kind: 'disk_low',
    status: 'firing',
    since_at: at(0),
    fired_at: at(0),
    told_at: at(0),
    version,
    ...fields,
  });

  t.test('settings of alerts are as they were saved last, one an organization', async (t) => {
    const { store, org, other } = await open(t);
    t.equal(await store.getAlertSettings(org), null);
    const settings = {
      org_id: org,
      webhook_url: 'https://example.com/',
      emails: ['a@example.com'],
      rules: [
        {
          kind: 'disk_low' as const,
          enabled: true,
          threshold: 500,
          window_minutes: null,
          hold_minutes: 1,
        },
      ],
      updated_at: at(0),
    };
    t.strictSame(await store.saveAlertSettings(settings), settings);
    const changed = { ...settings, webhook_url: null, rules: [], updated_at: at(1) };
    await store.saveAlertSettings(changed);
    t.strictSame(await store.getAlertSettings(org), changed);
    t.equal(await store.getAlertSettings(other), null);
    await store.saveAlertSettings({ ...settings, org_id: other });
    t.strictSame(await store.listAlertSettings(), [changed, { ...settings, org_id: other }]);
  });

  t.test(
    'of two who change how a rule stands, the first does, and its message is stored with it',
    async (t) => {
      const { store, org, other } = await open(t);
      const told = message(org);
      t.equal(await store.saveAlertState(state(org, 1), told), true);
      t.equal(await store.saveAlertState(state(org, 1), message(org)), false);
      t.equal(await store.saveAlertState(state(org, 3), message(org)), false);
      t.strictSame(await store.listAlertMessages(org, 10), [told], 'what came second left nothing');
      const over = state(org, 2, { status: 'ok', since_at: at(5), fired_at: null, told_at: null });
      t.equal(await store.saveAlertState(over, null), true);
      t.strictSame(await store.listAlertStates(org), [over]);
      t.strictSame(await store.listAlertStates(other), []);
      t.strictSame(await store.listAlertMessages(other, 10), []);
    },
  );

  t.test('messages are due until nothing is left to try; the newest are kept', async (t) => {
    const { store, org } = await open(t);
    const [late, due] = [message(org, { next_attempt_at: at(9) }), message(org, { next_attempt_at: at(1) })];
    await store.saveAlertState(state(org, 1), late);
    await store.saveAlertState(state(org, 2), due);
    await store.saveAlertState(state(org, 3), message(org, { next_attempt_at: null }));
    t.strictSame(await store.dueAlertMessages(at(0)), []);
    t.strictSame(await store.dueAlertMessages(at(9)), [due, late], 'the most overdue first');
    const sent = { status: 'sent', attempts: 1, error: null, sent_at: at(2) } as const;
    await store.recordAlertSending(due.id, { webhook: sent, email: null, next_attempt_at: null });
    t.strictSame(await store.dueAlertMessages(at(9)), [late]);
    t.strictSame((await store.listAlertMessages(org, 2))[1], {
      ...due,
      webhook: sent,
      next_attempt_at: null,
    });
    await store.moveTimes(3_600_000);
    t.strictSame(await store.dueAlertMessages(at(3_600_000)), [], 'as far off as it was');
    t.equal((await store.dueAlertMessages(at(3_600_009))).length, 1);
    for (let version = 4; version < 210; version++) {
      await store.saveAlertState(state(org, version), message(org, { next_attempt_at: null }));
    }
    t.equal((await store.listAlertMessages(org, 1_000)).length, 200);
  });

  t.test('calls that ended last, and how they did; of calls from a page none', async (t) => {
    const { store, clock, org, other } = await open(t);
    const end = async (status: 'completed' | 'failed' | 'busy', fields = {}) => {
      clock.tick(10);
      const call = makeCall(org, { status, carrier_call_id: null, ...fields });
      succeeded(await store.createCall(call, { events: [`call.${status}`], reserve: 0 }));
    };
    t.strictSame(await store.lastEnded(org, 5), []);
    await end('completed');
    await end('failed', { error_code: 'carrier_error', hangup_cause: 'x' });
    await end('failed', { telephone: false });
    await end('busy', { hangup_cause: 'SIP 486' });
    succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
    t.strictSame(await store.lastEnded(org, 5), [
      { ended_at: at(40), failed: false, reason: 'SIP 486' },
      { ended_at: at(20), failed: true, reason: 'carrier_error' },
      { ended_at: at(10), failed: false, reason: null },
    ]);
    t.equal((await store.lastEnded(org, 1)).length, 1);
    t.strictSame(await store.lastEnded(other, 5), []);
  });

  t.test('how many deliveries wait, but for those that somebody holds', async (t) => {
    const { store, clock, org, other } = await open(t);
    const [open_, failed, manual] = [makeEndpoint(org), makeEndpoint(org), makeEndpoint(org)];
    for (const endpoint of [open_, failed, manual]) await store.createEndpoint(endpoint);
    succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
    clock.tick(10);
    t.equal(await store.countWaiting(org, at(0)), 0, 'made no earlier');
    t.equal(await store.countWaiting(org, at(1)), 3);
    const off = { status: 'disabled', disabled_at: at(5) } as const;
    await store.updateEndpoint(org, failed.id, { ...off, disabled_reason: 'too_many_failures' });
    await store.updateEndpoint(org, manual.id, { ...off, disabled_reason: 'manual' });
    t.equal(await store.countWaiting(org, at(1)), 2);
    t.equal(await store.countWaiting(other, at(1)), 0);
  });
}
