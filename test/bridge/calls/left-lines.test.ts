// A line that is found at the carrier after its call was given up: it is ended there, also when the first request fails.
import t from 'tap';
import { AppError } from '../../../errors.ts';
import { openCallsRig } from './calls-rig.ts';

const lost = () => new AppError('carrier_error', 'no answer', { carrierCode: 'no_answer_from_carrier' });

/** Requests to end the line that are lost. */
const LOST = [1, 20];

for (const count of LOST) {
  t.test(
    `a dial whose answer was lost rings on: hung up as soon as the carrier answers again, after ${count}`,
    async (t) => {
      let failures = 2 + count;
      const rig = await openCallsRig(t, {
        // The answer to the dial, the search for the call, and the requests to end it.
        onCarrier() {
          if (failures-- > 0) throw lost();
        },
      });
      const call = rig.newCall();
      await t.rejects(rig.calls.dispatch(call), { code: 'carrier_error' });
      t.match(await rig.store.findCall(call.id), { status: 'failed' });
      t.equal(rig.atCarrier.get('CA1')?.status, 'queued', 'it rings all the same');
      await rig.tell({
        type: 'status',
        callId: call.id,
        carrierCallId: 'CA1',
        status: 'ringing',
        at: new Date(rig.clock.ms).toISOString(),
        durationSeconds: null,
        cause: null,
        errorCode: null,
        errorMessage: null,
      });
      for (let tries = 0; rig.atCarrier.get('CA1')?.status !== 'canceled'; tries += 1) {
        if (tries > 3_000) throw new Error('in vain');
        await new Promise((again) => setTimeout(again, 20));
      }
      t.same(rig.asked, [`dial ${call.id}`, ...Array.from({ length: count + 1 }, () => 'cancel CA1')]);
    },
  );
}
