// Whoever ends a call, and however many do at once: the carrier is asked once, and its own account of an end holds.
import t from 'tap';
import type { CallRecord } from '../../../storage/records.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
const MODEL_GONE = { code: 'model_lost', message: 'gone' } as const;

/** A call that rings at the carrier, or has been answered there and here. */
async function opened(rig: CallsRig, answered: boolean): Promise<CallRecord & { carrierCallId: string }> {
  const { id, carrier_call_id } = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = carrier_call_id ?? '';
  const there = rig.atCarrier.get(carrierCallId)!;
  rig.atCarrier.set(carrierCallId, { ...there, status: answered ? 'answered' : 'ringing' });
  await hook(rig, id, carrierCallId, 'ringing');
  if (answered) await hook(rig, id, carrierCallId, 'answered');
  return { ...(await rig.store.findCall(id))!, carrierCallId };
}

const hook = (rig: CallsRig, callId: string, carrierCallId: string, status: 'ringing' | 'answered') =>
  rig.tell({
    type: 'status',
    callId,
    carrierCallId,
    status,
    at: at(1),
    durationSeconds: null,
    cause: null,
    errorCode: null,
    errorMessage: null,
  });

const WAYS: [string, boolean, (rig: CallsRig, call: CallRecord) => Promise<unknown>][] = [
  ['hangup', true, (rig, { id }) => rig.calls.hangUp(rig.org, id)],
  ['cancel', false, (rig, { id }) => rig.calls.cancel(rig.org, id)],
  ['hangup of a call that rings', false, (rig, { id }) => rig.calls.hangUp(rig.org, id)],
  ['the end of the talk', true, (rig, { id }) => rig.finish(id, 'agent_ended', null)],
  ['a lost model', true, (rig, { id }) => rig.finish(id, 'model_failed', MODEL_GONE)],
  [
    'the watch: it rings too long',
    false,
    async (rig) => {
      rig.clock.ms += 120_000;
      await rig.calls.watch.look();
    },
  ],
  [
    'the watch: it lasts too long',
    true,
    async (rig, { id, carrier_call_id }) => {
      const carrierCallId = carrier_call_id ?? '';
      rig.calls.onMedia({
        type: 'media-started',
        callId: id,
        streamId: 'MZ1',
        carrierCallId,
        at: at(2),
        atMs: 0,
      });
      rig.clock.ms += 3_700_000;
      await rig.calls.watch.look();
    },
  ],
  ['the end of all', true, (rig) => rig.calls.endAll('draining', 2_000)],
  [
    'all of them at once',
    true,
    (rig, { id }) =>
      Promise.all([
        rig.calls.hangUp(rig.org, id),
        rig.calls.hangUp(rig.org, id),
        rig.finish(id, 'agent_ended', null),
        rig.finish(id, 'model_failed', MODEL_GONE),
        rig.calls.endAll('draining', 2_000),
      ]),
  ],
];

for (const [name, answered, end] of WAYS) {
  t.test(`${name}: the carrier is asked once`, async (t) => {
    const rig = await openCallsRig(t);
    const call = await opened(rig, answered);
    await end(rig, call);
    t.same(rig.asked.slice(1), [`${answered ? 'hang up' : 'cancel'} ${call.carrierCallId}`]);
    t.ok(['completed', 'canceled', 'failed'].includes((await rig.store.findCall(call.id))?.status ?? ''));
  });
}

t.test('a call that the carrier had ended: its account holds, with its seconds', async (t) => {
  const rig = await openCallsRig(t);
  const call = await opened(rig, true);
  rig.atCarrier.set(call.carrierCallId, {
    ...rig.atCarrier.get(call.carrierCallId)!,
    status: 'completed',
    endedAt: at(20),
    durationSeconds: 18,
  });
  rig.clock.ms += 25_000;
  const ended = await rig.calls.hangUp(rig.org, call.id);
  t.match(ended, { status: 'completed', ended_at: at(20), billed_duration_seconds: 18 });
  t.same(rig.asked.slice(1), [`hang up ${call.carrierCallId}`]);

  const busy = await opened(rig, false);
  rig.atCarrier.set(busy.carrierCallId, {
    ...rig.atCarrier.get(busy.carrierCallId)!,
    status: 'busy',
    endedAt: at(26),
  });
  t.match(await rig.calls.cancel(rig.org, busy.id), { status: 'busy', billed_duration_seconds: null });
});

t.test('a carrier that does not answer is asked again by the watch, until it does', async (t) => {
  const rig = await openCallsRig(t);
  const call = await opened(rig, true);
  rig.down = true;
  t.match(await rig.calls.hangUp(rig.org, call.id), { status: 'in_progress' });
  rig.clock.ms += 11_000;
  await rig.calls.watch.look();
  t.equal((await rig.store.findCall(call.id))?.status, 'in_progress');
  rig.down = false;
  await rig.calls.watch.look();
  t.match(await rig.store.findCall(call.id), { status: 'completed', hangup_cause: 'hangup_requested' });
  t.equal(rig.asked.length, 1 + 3);
});
