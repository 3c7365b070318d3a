// A stream that is lost in the middle of a talk, over a real store: what the carrier is told, what the media thread is, and
// what the row says of it.
import t, { type Test } from 'tap';
import { openCallsRig, START_MS } from './calls-rig.ts';

const turn = () => new Promise((next) => setImmediate(next));

async function talking(t: Test) {
  const rig = await openCallsRig(t, { carried: true });
  const call = await rig.calls.dispatch(rig.newCall());
  const { id } = call;
  const carrierCallId = call.carrier_call_id ?? '';
  const line = rig.atCarrier.get(carrierCallId);
  if (line !== undefined) rig.atCarrier.set(carrierCallId, { ...line, status: 'answered' });
  const row = async () => (await rig.store.findCall(id)) ?? call;
  const until = async (holds: () => Promise<boolean>) => {
    for (let tries = 0; !(await holds()); tries++) {
      if (tries > 10_000) throw new Error('it never came');
      await turn();
    }
  };
  const begin = (atMs: number) => {
    const at = new Date(rig.clock.ms).toISOString();
    rig.calls.onMedia({ type: 'media-started', callId: id, streamId: 's', carrierCallId, at, atMs });
  };
  begin(0);
  await until(async () => (await row()).status === 'in_progress');
  const expected = () => rig.toMedia.filter((message) => message === `expect-stream ${id}`).length;
  return {
    rig,
    row,
    begin,
    expected,
    async lose(atMs: number) {
      const gaps = (await row()).gaps.length;
      rig.calls.onMedia({ type: 'stream-ended', callId: id, how: 'lost', why: 'closed', atMs });
      await until(async () => (await row()).gaps.length > gaps);
    },
    ask: () => rig.tell({ type: 'stream-over', callId: id, carrierCallId }),
    backAt: (to: number) => until(async () => (await row()).gaps.at(-1)?.to_ms === to),
  };
}

t.test('the carrier asks: it is told at once, and the gap is as long as nothing was heard', async (t) => {
  const { rig, row, begin, expected, lose, ask, backAt } = await talking(t);
  t.equal((await row()).stream_began_at, new Date(START_MS).toISOString());
  rig.clock.ms += 5_000;
  await lose(4_960);
  t.match((await row()).gaps, [{ why: 'stream_lost', from_ms: 4_960, to_ms: null }]);
  await ask();
  t.equal(expected(), 1, 'with a token of its own');
  rig.clock.ms += 400;
  begin(5_400);
  await backAt(5_400);
  const gap = { why: 'stream_lost', started_at: new Date(START_MS + 4_960).toISOString() } as const;
  t.same((await row()).gaps, [{ ...gap, from_ms: 4_960, to_ms: 5_400 }]);
  t.match(await row(), { status: 'in_progress', stream_began_at: new Date(START_MS).toISOString() });
  await ask();
  t.match(await row(), { status: 'in_progress', hangup_cause: null }, 'told twice, it still talks');
  t.equal((await row()).gaps.length, 1);
});

t.test('the carrier does not ask: it is told all the same, and given up at last', async (t) => {
  const { rig, row, expected, lose } = await talking(t);
  rig.clock.ms += 5_000;
  await lose(5_000);
  rig.clock.ms += 1_000;
  await rig.calls.watch.look();
  t.equal(expected(), 0, 'it has its time to ask');
  rig.clock.ms += 500;
  await rig.calls.watch.look();
  t.equal(expected(), 1);
  rig.clock.ms += 5_000;
  await rig.calls.watch.look();
  t.equal(expected(), 1, 'the token that nobody has used is good still');
  t.match(await row(), { status: 'in_progress', hangup_cause: null });
  rig.clock.ms += 13_500;
  await rig.calls.watch.look();
  t.match(await row(), { hangup_cause: 'stream_lost', error_code: 'stream_lost' });
  t.match((await row()).gaps, [{ to_ms: null }], 'it ended in the gap');
  t.ok(rig.asked.some((request) => request.startsWith('hang up')));
});
