// Two carriers of telephone calls at once: what is asked about a call is asked of its own, and nobody tells of another's.
import t from 'tap';
import type { CarrierEvent, StreamOffer } from '../../../bridge/carriers/carrier.ts';
import { makeAgent, makeNumber, succeeded } from '../../storage/makers.ts';
import { standInCarrier } from '../carriers/stand-in.ts';
import { openCallsRig } from './calls-rig.ts';

function secondCarrier() {
  const asked: string[] = [];
  const connected: StreamOffer[] = [];
  const carrier = standInCarrier({
    name: 'second',
    line: {
      async place({ to }) {
        asked.push(`place ${to}`);
        return { carrierCallId: 'S1' };
      },
      async connect(_id, stream) {
        connected.push(stream);
      },
      async reject(id, reason) {
        asked.push(`reject ${id} ${reason}`);
      },
      async hangUp(id) {
        asked.push(`hang up ${id}`);
        return 'ended';
      },
    },
  });
  return { carrier, asked, connected };
}

const status = (callId: string | null, carrierCallId: string): CarrierEvent => ({
  type: 'status',
  callId,
  carrierCallId,
  status: 'busy',
  at: '2026-03-01T12:00:00.000Z',
  durationSeconds: null,
  cause: null,
  errorCode: null,
  errorMessage: null,
});

t.test('a call is placed and hung up at its own carrier', async (t) => {
  const second = secondCarrier();
  const rig = await openCallsRig(t, { others: [second.carrier] });
  const call = await rig.calls.dispatch(rig.newCall({ carrier: 'second' }));
  t.match(call, { status: 'initiated', carrier: 'second', carrier_call_id: 'S1' });
  await rig.calls.hangUp(rig.org, call.id);
  t.same(second.asked, [`place ${call.to_number}`, 'hang up S1']);
  t.same(rig.asked, [], 'nothing was asked of the other');
});

t.test('an event about a call of another carrier is none', async (t) => {
  const second = secondCarrier();
  const rig = await openCallsRig(t, { others: [second.carrier] });
  const call = await rig.calls.dispatch(rig.newCall({ carrier: 'second' }));
  await rig.tell(status(call.id, 'S1'));
  await rig.tell({ type: 'stream-wanted', callId: call.id, carrierCallId: 'S1' });
  t.match(await rig.store.findCall(call.id), { status: 'initiated' });
  t.same(second.connected, []);
  await rig.calls.onCarrier(second.carrier, status(call.id, 'S1'));
  t.match(await rig.store.findCall(call.id), { status: 'busy' });
});

t.test("a call that comes in is taken for a number of its own carrier, and is that carrier's", async (t) => {
  const second = secondCarrier();
  const rig = await openCallsRig(t, { others: [second.carrier], carried: true });
  const offer = (carrierCallId: string, to: string) =>
    rig.calls.onCarrier(second.carrier, { type: 'call-offered', carrierCallId, to, from: '+14155550199' });
  const numbers = [];
  for (const carrier of ['simulated', 'second']) {
    const number = succeeded(await rig.store.insertNumber(makeNumber(rig.org, { carrier })));
    succeeded(await rig.store.createAgent(makeAgent(rig.org, { type: 'inbound' }), [number.id]));
    numbers.push(number.e164);
  }
  const [theirs = '', own = ''] = numbers;
  await offer('S7', theirs);
  t.same(second.asked, ['reject S7 rejected'], "a number of another carrier is not this one's to bring");
  t.same(rig.refused, ['no_agent']);
  await offer('S8', own);
  t.equal(second.connected.length, 1);
  t.match(await rig.store.findCallByCarrierId('second', 'S8'), { carrier: 'second', to_number: own });
  t.match(second.connected[0]?.url, /\/media\/\d+\/1\/second\//, "its stream comes as that carrier's");
});

t.test('how a refused call ended is told, and is no news; of a call that nobody knows it is', async (t) => {
  const second = secondCarrier();
  const warned: [string, string][] = [];
  const onWarning = (fields: unknown, message: string) => {
    warned.push([(fields as { carrier_call_id: string }).carrier_call_id, message]);
  };
  const rig = await openCallsRig(t, { others: [second.carrier], onWarning });
  const offer = (carrierCallId: string) =>
    rig.calls.onCarrier(second.carrier, {
      type: 'call-offered',
      carrierCallId,
      to: '+14155550100',
      from: '+14155550199',
    });
  await offer('S1');
  t.same(second.asked, ['reject S1 rejected']);
  await rig.calls.onCarrier(second.carrier, status(null, 'S1'));
  await rig.calls.onCarrier(second.carrier, status(null, 'S1'));
  t.same(warned, []);
  await rig.tell(status(null, 'S1'));
  await rig.calls.onCarrier(second.carrier, status(null, 'S2'));
  const unknown = 'carrier.event.unknown_call';
  t.same(warned, [
    ['S1', unknown],
    ['S2', unknown],
  ]);
  for (let n = 0; n < 1_000; n++) await offer(`N${n}`);
  await rig.calls.onCarrier(second.carrier, status(null, 'N0'));
  t.equal(warned.length, 2);
  await rig.calls.onCarrier(second.carrier, status(null, 'S1'));
  t.same(warned.at(-1), ['S1', unknown], 'no more than the last thousand are known');
});
