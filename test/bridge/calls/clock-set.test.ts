// The wall clock is set while calls ring and talk: they go on, and are billed for as long as they lasted.
import t from 'tap';
import { type CallsRig, openCallsRig } from './calls-rig.ts';

const HOUR = 3_600_000;
const STEPS = [
  ['an hour forth', HOUR],
  ['an hour back', -HOUR],
  ['a day forth', 24 * HOUR],
  ['a day back', -24 * HOUR],
] as const;

const now = (rig: CallsRig) => new Date(rig.clock.ms + rig.clock.setMs).toISOString();

async function hook(rig: CallsRig, callId: string, status: 'ringing' | 'answered' | 'completed') {
  await rig.tell({
    type: 'status',
    callId,
    carrierCallId: 'CA1',
    status,
    at: now(rig),
    durationSeconds: null,
    cause: null,
    errorCode: null,
    errorMessage: null,
  });
}

for (const [what, byMs] of STEPS) {
  t.test(`set ${what} while it rings: it rings on as long as it may`, async (t) => {
    const rig = await openCallsRig(t);
    const { id } = await rig.calls.dispatch(rig.newCall());
    await hook(rig, id, 'ringing');
    rig.clock.ms += 5_000;
    rig.clock.setMs = byMs;
    await rig.calls.watch.look();
    t.match(await rig.store.findCall(id), { status: 'ringing' });
    rig.clock.ms += 90_000;
    await rig.calls.watch.look();
    t.match(await rig.store.findCall(id), {
      status: 'canceled',
      hangup_cause: 'no_answer',
      duration_seconds: 95,
    });
  });

  t.test(`set ${what} in the middle of a talk: it goes on, and is billed by what it lasted`, async (t) => {
    const rig = await openCallsRig(t);
    const { id } = await rig.calls.dispatch(rig.newCall());
    rig.clock.ms += 1_000;
    await hook(rig, id, 'ringing');
    rig.clock.ms += 3_000;
    await hook(rig, id, 'answered');
    rig.calls.onMedia({
      type: 'media-started',
      callId: id,
      streamId: 'MZ1',
      carrierCallId: 'CA1',
      at: now(rig),
      atMs: 0,
    });
    rig.clock.ms += 2_000;
    rig.clock.setMs = byMs;
    await rig.calls.watch.look();
    t.match(await rig.store.findCall(id), { status: 'in_progress' });
    rig.clock.ms += 4_000;
    await rig.calls.watch.look();
    const ended = await rig.calls.hangUp(rig.org, id);
    t.match(ended, {
      status: 'completed',
      hangup_cause: 'hangup_requested',
      billed_duration_seconds: 6,
      billing_amount_milli_cents: 600,
      duration_seconds: 9,
    });
    t.ok((ended.ended_at ?? '') >= (ended.answered_at ?? ''), 'its times are in order');
    const rows = await rig.store.listLedger(rig.org, id);
    t.equal(
      rows.reduce((sum, row) => sum + row.amount_milli_cents, 0),
      -600,
    );
  });
}
