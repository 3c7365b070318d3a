// Calls of another daemon, and calls that another daemon has taken over: nothing is written of them here, nobody commanded.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { succeeded } from '../../storage/makers.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
const ELSEWHERE = { code: 'call_elsewhere', status: 503 };

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

/** A talk, its stream there, which the other daemon then has as if this one had been proven dead. */
async function takenOver(t: Test) {
  const { rig, other, path } = await openTwo(t, { carried: true });
  const call = await rig.calls.dispatch(rig.newCall());
  const { id, carrier_call_id } = call;
  const carrierCallId = carrier_call_id ?? '';
  rig.calls.onMedia({ type: 'media-started', callId: id, streamId: 's', carrierCallId, at: at(1), atMs: 0 });
  while ((await rig.store.findCall(id))?.status !== 'in_progress') await turn();
  const shell = new Database(path);
  shell.prepare('UPDATE daemons SET ended_at = ? WHERE epoch = ?').run(at(1), rig.store.self().epoch);
  shell.close();
  t.match(await other.takeOver(), [{ id }]);
  return { rig, other, call, carrierCallId };
}

const turn = () => new Promise((next) => setImmediate(next));

const item = { id: 'one', role: 'caller' as const, text: 'Yes.', heardText: 'Yes.', interrupted: false };
const times = {
  kind: 'answer' as const,
  speechEndMs: 1,
  decidedMs: 2,
  requestedMs: 3,
  firstModelAudioMs: 4,
  firstSentMs: 5,
  firstHeardMs: 6,
  bargedIn: false,
  thrownAway: 0,
};

/** By whichever write it is that does not hold. */
const FIRST_WRITES: [string, (rig: CallsRig, callId: string, carrierCallId: string) => unknown][] = [
  ['a hook', (rig, _callId, carrierCallId) => t.rejects(hook(rig, carrierCallId, 'completed'), ELSEWHERE)],
  ['a hang-up', (rig, callId) => t.rejects(rig.calls.hangUp(rig.org, callId), ELSEWHERE)],
  ['usage', (rig, callId) => rig.calls.onMedia({ type: 'usage', callId, usage: { input_text_tokens: 5 } })],
  [
    'the end of the talk',
    (rig, callId) => {
      const finished = { type: 'finished', callId, reason: 'agent_ended', speak: null } as const;
      rig.calls.onMedia({ ...finished, errorCode: null, errorMessage: null });
    },
  ],
  ['the end of its thread', (rig, callId) => rig.calls.onThreadLost([callId])],
  [
    'words',
    (rig, callId) =>
      rig.calls.onMedia({ type: 'transcript', callId, items: [{ ...item, startMs: 0, endMs: 5 }] }),
  ],
  [
    'a turn',
    async (rig, callId) => {
      rig.calls.onMedia({ type: 'turn', callId, times });
      await rig.calls.flush();
    },
  ],
  [
    'credit',
    async (rig) => {
      rig.clock.ms += 4 * 60_000;
      await rig.calls.watch.look();
    },
  ],
];

for (const [what, write] of FIRST_WRITES) {
  t.test(`a call that was taken over is let go of at the first write: ${what}`, async (t) => {
    const { rig, other, call, carrierCallId } = await takenOver(t);
    const { id } = call;
    const stand = async () => ({
      call: await other.findCall(id),
      events: await other.listEvents(id),
      words: await other.listTranscript(id),
      turns: await other.listTurns(id),
      ledger: await other.listLedger(rig.org, id),
    });
    const before = await stand();
    const asked = [...rig.asked];
    rig.toMedia.length = 0;

    await write(rig, id, carrierCallId);
    while (rig.calls.size > 0) await turn();
    t.strictSame(rig.toMedia, [`release ${id}`, `unassign ${id}`], 'its thread lets go of it');
    await rig.calls.watch.look();
    rig.calls.onMedia({ type: 'alive', callId: id });
    await t.rejects(rig.calls.hangUp(rig.org, id), ELSEWHERE);
    await rig.calls.endAll('draining', 500);
    t.strictSame(await stand(), before, 'nothing of it is written, and no event is told');
    t.strictSame(rig.asked, asked, 'the carrier is asked for nothing');
    t.match(await other.saveCall(id, { from: ['in_progress'], change: { hangup_cause: 'draining' } }), {
      hangup_cause: 'draining',
    });
  });
}

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
    while (rig.asked.length === 0) await new Promise((later) => setImmediate(later));
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
