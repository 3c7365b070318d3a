// Whoever ends a call, and however many do at once: the carrier is asked once, and its own account of an end holds.
import t from 'tap';
import type { CallRecord } from '../../../storage/records.ts';
import { type DeskRig, openDeskRig, START_MS } from './desk-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
const MODEL_GONE = { code: 'model_lost', message: 'gone' } as const;

/** A call that rings at the carrier, or has been answered there and here. */
async function opened(rig: DeskRig, answered: boolean): Promise<CallRecord & { carrierCallId: string }> {
  const { id, carrier_call_id } = await rig.switchboard.dispatch(rig.newCall());
  const carrierCallId = carrier_call_id ?? '';
  const there = rig.atCarrier.get(carrierCallId)!;
  rig.atCarrier.set(carrierCallId, { ...there, status: answered ? 'answered' : 'ringing' });
  await rig.switchboard.apply(id, { type: 'ringing', at: at(1) });
  if (answered) await rig.switchboard.apply(id, { type: 'answered', at: at(2) });
  return { ...(await rig.store.findCall(id))!, carrierCallId };
}

const WAYS: [string, boolean, (rig: DeskRig, call: CallRecord) => Promise<unknown>][] = [
  ['hangup', true, (rig, { id }) => rig.switchboard.hangUp(rig.org, id)],
  ['cancel', false, (rig, { id }) => rig.switchboard.cancel(rig.org, id)],
  ['hangup of a call that rings', false, (rig, { id }) => rig.switchboard.hangUp(rig.org, id)],
  ['the end of the talk', true, (rig, { id }) => rig.switchboard.endNow(id, 'agent_ended', null)],
  ['a lost model', true, (rig, { id }) => rig.switchboard.endNow(id, 'model_failed', MODEL_GONE)],
  [
    'the watch: it rings too long',
    false,
    async (rig) => {
      rig.clock.ms += 120_000;
      await rig.watch.look();
    },
  ],
  [
    'the watch: it lasts too long',
    true,
    async (rig) => {
      const entry = [...rig.switchboard.entries().values()][0]!;
      entry.mediaStartedAt = at(2);
      entry.streaming = true;
      rig.clock.ms += 3_700_000;
      await rig.watch.look();
    },
  ],
  ['the end of all', true, (rig) => rig.watch.endAll('draining', 2_000)],
  ['a start after a crash', true, async (rig) => rig.watch.recover(await rig.store.unfinishedCalls())],
  [
    'all of them at once',
    true,
    (rig, { id }) =>
      Promise.all([
        rig.switchboard.hangUp(rig.org, id),
        rig.switchboard.hangUp(rig.org, id),
        rig.switchboard.endNow(id, 'agent_ended', null),
        rig.switchboard.endNow(id, 'media_timeout', MODEL_GONE),
        rig.watch.endAll('draining', 2_000),
      ]),
  ],
];

for (const [name, answered, end] of WAYS) {
  t.test(`${name}: the carrier is asked once`, async (t) => {
    const rig = await openDeskRig(t);
    const call = await opened(rig, answered);
    await end(rig, call);
    t.same(rig.asked.slice(1), [`${answered ? 'hang up' : 'cancel'} ${call.carrierCallId}`]);
    t.ok(['completed', 'canceled', 'failed'].includes((await rig.store.findCall(call.id))?.status ?? ''));
  });
}

t.test('a call that the carrier had ended: its account holds, with its seconds', async (t) => {
  const rig = await openDeskRig(t);
  const call = await opened(rig, true);
  rig.atCarrier.set(call.carrierCallId, {
    ...rig.atCarrier.get(call.carrierCallId)!,
    status: 'completed',
    endedAt: at(20),
    durationSeconds: 18,
  });
  rig.clock.ms += 25_000;
  const ended = await rig.switchboard.hangUp(rig.org, call.id);
  t.match(ended, { status: 'completed', ended_at: at(20), billed_duration_seconds: 18 });
  t.same(rig.asked.slice(1), [`hang up ${call.carrierCallId}`]);

  const busy = await opened(rig, false);
  rig.atCarrier.set(busy.carrierCallId, {
    ...rig.atCarrier.get(busy.carrierCallId)!,
    status: 'busy',
    endedAt: at(26),
  });
  t.match(await rig.switchboard.cancel(rig.org, busy.id), { status: 'busy', billed_duration_seconds: null });
});

t.test('a carrier that does not answer is asked again by the watch, until it does', async (t) => {
  const rig = await openDeskRig(t);
  const call = await opened(rig, true);
  rig.down = true;
  t.match(await rig.switchboard.hangUp(rig.org, call.id), { status: 'in_progress' });
  rig.clock.ms += 11_000;
  await rig.watch.look();
  t.equal((await rig.store.findCall(call.id))?.status, 'in_progress');
  rig.down = false;
  await rig.watch.look();
  t.match(await rig.store.findCall(call.id), { status: 'completed', hangup_cause: 'hangup_requested' });
  t.equal(rig.asked.length, 1 + 3);
});
