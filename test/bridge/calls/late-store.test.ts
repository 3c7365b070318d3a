// The same calls over a store that answers late, and does what nobody waited for in any order: whoever relies on an order
// that is not awaited fails here. LATE_STORE in the environment has another seed, or another lateness.
import t from 'tap';
import { beLate } from '../../storage/late-switch.ts';

beLate('0-20turns@20261104');

const { openCallsRig, START_MS } = await import('./calls-rig.ts');

t.test('what is made of a call is made of all its words, each as it was last told', async (t) => {
  const rig = await openCallsRig(t);
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  const at = new Date(START_MS).toISOString();
  const said = (id: string, text: string, startMs: number) =>
    rig.calls.onMedia({
      type: 'transcript',
      callId: call.id,
      items: [{ id, role: 'caller', text, heardText: text, interrupted: false, startMs, endMs: null }],
    });
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 'MZ1', carrierCallId, at, atMs: 0 });
  for (let item = 0; item < 20; item++) {
    said(`item ${item}`, 'as it began', item);
    await new Promise((next) => setImmediate(next));
    said(`item ${item}`, 'as it ended', item);
  }
  const finished = { type: 'finished', callId: call.id, reason: 'agent_ended', speak: null } as const;
  rig.calls.onMedia({ ...finished, errorCode: null, errorMessage: null });
  said('last', 'goodbye', 2_000);
  const settled = new Promise((resolve) => {
    rig.store.subscribe({ event: ({ type }) => type === 'call.completed' && resolve(type) });
  });
  await settled;
  const items = await rig.store.listTranscript(call.id);
  t.same(
    items.map(({ text }) => text),
    [...Array.from({ length: 20 }, () => 'as it ended'), 'goodbye'],
  );
  t.same(
    items.map(({ started_at, start_ms }) => Date.parse(started_at) - start_ms),
    items.map(() => START_MS),
    'by when the stream began',
  );
});

t.test('a call is here until its turns are stored, and only then is its result settled', async (t) => {
  const rig = await openCallsRig(t);
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  const at = new Date(START_MS).toISOString();
  const { saveTurns } = rig.store;
  let stored = 0;
  rig.store.saveTurns = async (batch) => {
    const others = await saveTurns(batch);
    stored += batch.turns.length;
    return others;
  };
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 'MZ1', carrierCallId, at, atMs: 0 });
  while ((await rig.store.findCall(call.id))?.status !== 'in_progress')
    await new Promise((next) => setImmediate(next));
  for (let turn = 0; turn < 5; turn++) {
    const times = { speechEndMs: turn, decidedMs: turn, requestedMs: turn, firstModelAudioMs: turn };
    const heard = { firstSentMs: turn, firstHeardMs: turn, bargedIn: false, thrownAway: 0 };
    rig.calls.onMedia({ type: 'turn', callId: call.id, times: { kind: 'answer', ...times, ...heard } });
  }
  const finished = { type: 'finished', callId: call.id, reason: 'agent_ended', speak: null } as const;
  rig.calls.onMedia({ ...finished, errorCode: null, errorMessage: null });
  while (rig.calls.size > 0) await new Promise((next) => setImmediate(next));
  t.equal(stored, 5);
  t.equal((await rig.store.listTurns(call.id)).length, 5);
});

await import('./call-words.test.ts');
await import('./money.test.ts');
await import('./hang-up.test.ts');
await import('./call-watch.test.ts');
await import('./browser-calls.test.ts');
await import('./slots.test.ts');
