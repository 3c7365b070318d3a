// A call is here until what was said on it is stored, however long the store takes: its result is made of all of it.
import t from 'tap';
import { openCallsRig, START_MS } from './calls-rig.ts';

t.test('hung up while its last words are being stored: let go of after them', async (t) => {
  const rig = await openCallsRig(t);
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  rig.atCarrier.set(carrierCallId, { ...rig.atCarrier.get(carrierCallId)!, status: 'answered' });
  const at = new Date(START_MS).toISOString();
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at });
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const { saveTranscript } = rig.store;
  rig.store.saveTranscript = async (items) => {
    await stored;
    return saveTranscript(items);
  };
  rig.calls.onMedia({
    type: 'transcript',
    callId: call.id,
    items: [
      {
        id: 'last',
        role: 'caller',
        text: 'Goodbye.',
        heardText: 'Goodbye.',
        interrupted: false,
        startMs: 0,
        endMs: 500,
      },
    ],
  });
  // Who hangs up does not wait for the words; it is the call that stays.
  const hungUp = rig.calls.hangUp(rig.org, call.id);
  while ((await rig.store.findCall(call.id))?.status !== 'completed')
    await new Promise((later) => setImmediate(later));
  await new Promise((later) => setImmediate(later));
  t.equal(rig.calls.live().length, 1, 'it is over, and not final');
  t.equal((await rig.store.findCall(call.id))?.result_status, 'pending');
  store();
  await hungUp;
  while (rig.calls.size > 0) await new Promise((later) => setImmediate(later));
  t.match(await rig.store.listTranscript(call.id), [{ id: 'last', text: 'Goodbye.' }]);
  while ((await rig.store.findCall(call.id))?.result_status === 'pending')
    await new Promise((later) => setImmediate(later));
  t.match((await rig.store.listEvents(call.id)).at(-1), { type: 'call.completed' });
});
