// Calls of another daemon, and calls that another daemon has taken over: nothing is written of them here, nobody commanded.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { succeeded } from '../../storage/makers.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
const ELSEWHERE = { code: 'call_elsewhere', status: 421 };

/** A daemon, and the store of another one on the same data. */
async function openTwo(t: Test, o: Parameters<typeof openCallsRig>[1] = {}) {
  const path = join(t.testdir(), 'offhook.db');
  const rig = await openCallsRig(t, { path, ...o });
  const other = await openStore({ path, shared: true });
  t.teardown(() => other.close());
  return { rig, other, path };
}

function hook(rig: CallsRig, carrierCallId: string, status: 'answered' | 'completed') {
  const event = { type: 'status', callId: null, carrierCallId, at: at(5), durationSeconds: null } as const;
  return rig.tell({ ...event, cause: null, errorCode: null, errorMessage: null, status });
}

t.test('whoever asks for a call of another daemon is told where it is, and nothing is done', async (t) => {
  const { rig, other } = await openTwo(t);
  const call = rig.newCall({ status: 'in_progress', carrier_call_id: 'CA9', answered_at: at(1) });
  succeeded(await other.createCall(call, { events: ['call.queued'], reserve: 0 }));
  const before = await other.findCall(call.id);
  await t.rejects(rig.calls.hangUp(rig.org, call.id), {
    ...ELSEWHERE,
    message: new RegExp(`number ${other.self().epoch}, process ${process.pid} on `),
  });
  await t.rejects(hook(rig, 'CA9', 'completed'), ELSEWHERE);
  await t.rejects(
    rig.tell({ type: 'stream-wanted', callId: call.id, carrierCallId: 'CA9' }),
    ELSEWHERE,
    'no line is ended',
  );
  await t.rejects(rig.tell({ type: 'stream-over', callId: call.id, carrierCallId: 'CA9' }), ELSEWHERE);
  await t.rejects(rig.offer('CA9', '+14155550100'), ELSEWHERE);
  const ringing = rig.newCall({ status: 'ringing', carrier_call_id: 'CA8' });
  succeeded(await other.createCall(ringing, { events: [], reserve: 0 }));
  await t.rejects(rig.calls.cancel(rig.org, ringing.id), ELSEWHERE);
  t.strictSame(await other.findCall(call.id), before);
  t.strictSame(rig.asked, []);
  t.equal(rig.calls.size, 0);
});

t.test(
  'of a call that is over nothing is commanded, whoever had it, and the carrier ends its line',
  async (t) => {
    const { rig, other } = await openTwo(t);
    const call = rig.newCall({ status: 'failed', carrier_call_id: 'CA9', ended_at: at(1) });
    succeeded(await other.createCall(call, { events: [], reserve: 0 }));
    await rig.tell({ type: 'stream-wanted', callId: call.id, carrierCallId: 'CA9' });
    await t.rejects(rig.calls.hangUp(rig.org, call.id), { code: 'call_ended' });
  },
);

t.test('a call that was taken over is let go of at the first write', async (t) => {
  const { rig, other, path } = await openTwo(t, { carried: true });
  const { id, carrier_call_id } = await rig.calls.dispatch(rig.newCall());
  // As if it had been proven dead.
  const shell = new Database(path);
  shell.prepare('UPDATE daemons SET ended_at = ? WHERE epoch = ?').run(at(1), rig.store.self().epoch);
  shell.close();
  t.match(await other.takeOver(), [{ id }]);
  const before = await other.findCall(id);
  const asked = [...rig.asked];

  await t.rejects(hook(rig, carrier_call_id ?? '', 'answered'), ELSEWHERE);
  t.equal(rig.calls.size, 0, 'nothing of it is held any more');
  await rig.calls.watch.look();
  rig.calls.onMedia({ type: 'alive', callId: id });
  await t.rejects(rig.calls.hangUp(rig.org, id), ELSEWHERE);
  await rig.calls.endAll('draining', 500);
  t.strictSame(await other.findCall(id), before);
  t.strictSame(rig.asked, asked, 'the carrier is asked for nothing');
  t.match(await other.saveCall(id, { from: ['initiated'], change: { status: 'ringing' } }), {
    status: 'ringing',
  });
});

t.test(
  'a line that is being dialled for another call is not taken for the one of a dead process',
  async (t) => {
    const answer = Promise.withResolvers<void>();
    let looks = 0;
    const rig = await openCallsRig(t, {
      async placeCall(_callId, accept) {
        const carrierCallId = accept();
        await answer.promise;
        return { carrierCallId };
      },
      onCarrier(verb) {
        if (verb !== 'find') return;
        looks += 1;
        if (looks === 3) answer.resolve();
      },
    });
    const left = rig.newCall();
    succeeded(await rig.store.createCall(left, { events: ['call.queued'], reserve: 0 }));
    const dialling = rig.calls.dispatch(rig.newCall());
    await rig.calls.recover([left]);
    t.ok(looks >= 3, 'it waits for the carrier to answer the other');
    t.match(await dialling, { status: 'initiated', carrier_call_id: 'CA1' });
    t.match(await rig.store.findCall(left.id), { status: 'failed', carrier_call_id: null });
    t.strictSame(
      rig.asked.filter((request) => !request.startsWith('dial')),
      [],
      'and ends no line',
    );
  },
);
