// After a crash: what the carrier did with the calls meanwhile decides which go on and how the others end; nobody is dialled.
import t from 'tap';
import { AppError } from '../../../errors.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeItem, succeeded } from '../../storage/makers.ts';
import { type CallsRig, openCallsRig, START_MS, snapshot } from './calls-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();

/** A call as a dead process left it. */
async function leftBehind(rig: CallsRig, fields: Partial<CallRecord> = {}): Promise<CallRecord> {
  const call = rig.newCall();
  succeeded(await rig.store.createCall(call, { events: ['call.queued'], reserve: 30_000 }));
  return succeeded(await rig.store.saveCall(call.id, { from: ['queued'], change: fields }));
}

async function stored(rig: CallsRig, id: string) {
  const call = await rig.store.findCall(id);
  const events = (await rig.store.listEvents(id)).map((event) => event.type);
  return { ...call!, events };
}

t.test('answered while nobody was there: it begins, and its stream is brought', async (t) => {
  const rig = await openCallsRig(t, { carried: true });
  const { id } = await leftBehind(rig, { status: 'ringing', carrier_call_id: 'CA1', started_at: at(1) });
  rig.atCarrier.set('CA1', snapshot({ carrierCallId: 'CA1', status: 'answered', startedAt: at(4) }));
  rig.clock.ms = START_MS + 10_000;
  await rig.calls.recover(await rig.store.unfinishedCalls());
  t.match(await stored(rig, id), {
    status: 'in_progress',
    answered_at: at(4),
    gaps: [],
    events: ['call.queued', 'call.answered'],
  });
  t.match(rig.prepared, [{ callId: id, resumed: null }]);
  rig.clock.ms += 2_000;
  await rig.calls.watch.look();
  t.match(rig.commanded.get('CA1'), { callId: id });
  t.strictSame(rig.asked, [], 'nobody is dialled, and nothing ended');
  // Nothing comes: as of any stream that is lost.
  rig.clock.ms += 20_000;
  await rig.calls.watch.look();
  t.match(await stored(rig, id), {
    status: 'failed',
    error_code: 'stream_lost',
    billed_duration_seconds: 28,
    reservation_status: 'settled',
    events: ['call.queued', 'call.answered', 'call.failed'],
  });
});

t.test('a talk of a dead process goes on: told what was said, at the thread that there is', async (t) => {
  const rig = await openCallsRig(t, { carried: true });
  const { id } = await leftBehind(rig, {
    status: 'in_progress',
    carrier_call_id: 'CA1',
    started_at: at(1),
    answered_at: at(4),
    stream_began_at: at(5),
    usage: { output_text_tokens: 7 },
    running_tools: [{ tool_call_id: 'tool 1', name: 'order', arguments_json: '{"n":1}', at_ms: 900 }],
  });
  await rig.store.saveTranscript([
    makeItem(id, { role: 'agent', text: 'Hello. How are you?', heard_text: 'Hello.', end_ms: null }),
    makeItem(id, { role: 'caller', text: 'Fine.', heard_text: 'Fine.', start_ms: 800, end_ms: 850 }),
  ]);
  rig.atCarrier.set('CA1', snapshot({ carrierCallId: 'CA1', status: 'answered', startedAt: at(4) }));
  rig.clock.ms = START_MS + 30_000;
  const [left] = await rig.store.unfinishedCalls();
  const asked = rig.calls.recover([{ ...left!, owner_alive_at: at(20) }]);
  // The carrier asks while nobody knows yet what becomes of the call: it waits, and is answered.
  const question = rig.tell({ type: 'stream-over', callId: id, carrierCallId: 'CA1' });
  await Promise.all([asked, question]);
  t.match(rig.prepared, [
    {
      callId: id,
      resumed: {
        elapsedMs: 25_000,
        lostAtMs: 15_000,
        talk: [
          { role: 'agent', text: 'Hello.' },
          { role: 'caller', text: 'Fine.' },
        ],
        unfinishedTools: [{ name: 'order', argumentsJson: '{"n":1}' }],
      },
    },
  ]);
  t.match(rig.commanded.get('CA1'), { callId: id });
  t.match(await stored(rig, id), {
    status: 'in_progress',
    running_tools: [],
    gaps: [{ why: 'daemon_restart', to_ms: null }],
  });
  const words = await rig.store.listTranscript(id);
  t.match(
    words.find(({ role }) => role === 'tool'),
    { text: /not known/ },
  );
  t.match(
    words.find(({ role }) => role === 'agent'),
    { interrupted: true, heard_text: 'Hello.' },
  );

  rig.calls.onMedia({
    type: 'media-started',
    callId: id,
    streamId: 's',
    carrierCallId: 'CA1',
    at: at(30),
    atMs: 25_400,
  });
  rig.calls.onMedia({ type: 'usage', callId: id, usage: { output_text_tokens: 1 } });
  rig.clock.ms = START_MS + 64_000;
  t.match(await rig.calls.hangUp(rig.org, id), {
    status: 'completed',
    billed_duration_seconds: 60,
    usage: { output_text_tokens: 8 },
    gaps: [{ why: 'daemon_restart', to_ms: 25_400 }],
  });
  t.strictSame(rig.asked, ['hang up CA1']);
});

t.test('a talk that goes on while the disk is low is recorded no further', async (t) => {
  let low = false;
  const rig = await openCallsRig(t, { carried: true, storageLow: () => low });
  for (const [how, recorded] of [
    ['low', null],
    ['not', /part-/],
  ] as const) {
    const { id } = await leftBehind(rig, {
      status: 'in_progress',
      carrier_call_id: `CA-${how}`,
      answered_at: at(4),
      stream_began_at: at(5),
      recording_path: `recordings/${how}.wav`,
    });
    rig.atCarrier.set(`CA-${how}`, snapshot({ carrierCallId: `CA-${how}`, status: 'answered' }));
    rig.clock.ms = START_MS + 30_000;
    low = how === 'low';
    await rig.calls.recover((await rig.store.unfinishedCalls()).filter((one) => one.id === id));
    t.match(rig.prepared.at(-1), { callId: id, recordingPath: recorded }, how);
  }
});

t.test('cut long ago with the process: ended then, and billed by the count of the carrier', async (t) => {
  const rig = await openCallsRig(t);
  const { id } = await leftBehind(rig, {
    status: 'in_progress',
    carrier_call_id: 'CA1',
    started_at: at(1),
    answered_at: at(4),
  });
  rig.atCarrier.set(
    'CA1',
    snapshot({
      carrierCallId: 'CA1',
      status: 'completed',
      startedAt: at(4),
      endedAt: at(24),
      durationSeconds: 20,
    }),
  );
  rig.clock.ms = START_MS + 8 * 3_600_000;
  await rig.calls.recover(await rig.store.unfinishedCalls());
  t.match(await stored(rig, id), {
    status: 'failed',
    error_code: 'daemon_restart',
    hangup_cause: 'daemon_restart',
    ended_at: at(24),
    duration_seconds: 23,
    billed_duration_seconds: 20,
    billing_amount_milli_cents: 2_000,
    events: ['call.queued', 'call.failed'],
  });
});

t.test(
  'dialled, and the answer of the carrier lost with the process: found, rings on, not dialled again',
  async (t) => {
    const rig = await openCallsRig(t);
    const other = await leftBehind(rig, { status: 'ringing', carrier_call_id: 'CA1' });
    rig.atCarrier.set('CA1', snapshot({ carrierCallId: 'CA1', status: 'ringing', startedAt: at(0) }));
    rig.atCarrier.set('CA2', snapshot({ carrierCallId: 'CA2', status: 'ringing', startedAt: at(0) }));
    const { id } = await leftBehind(rig);
    await rig.calls.recover(await rig.store.unfinishedCalls());
    t.match(await stored(rig, id), { status: 'initiated', carrier_call_id: 'CA2', events: ['call.queued'] });
    t.match(await stored(rig, other.id), { status: 'ringing', carrier_call_id: 'CA1' });
    t.same(
      [...rig.atCarrier.values()].map((call) => call.status),
      ['ringing', 'ringing'],
    );
    t.notOk(rig.asked.some((request) => request.startsWith('dial')));
  },
);

t.test('a line that may belong to two calls becomes the call of neither, and is hung up', async (t) => {
  const rig = await openCallsRig(t);
  const calls = [await leftBehind(rig), await leftBehind(rig)];
  rig.atCarrier.set('CA1', snapshot({ carrierCallId: 'CA1', status: 'answered', startedAt: at(0) }));
  await rig.calls.recover(await rig.store.unfinishedCalls());
  for (const { id } of calls) {
    t.match(await stored(rig, id), {
      status: 'failed',
      carrier_call_id: null,
      billed_duration_seconds: null,
      reservation_status: 'released',
      events: ['call.queued', 'call.failed'],
    });
  }
  t.ok(rig.asked.includes('cancel CA1'));
});

const lost = () =>
  new AppError('carrier_error', 'no answer', { carrierCode: 'no_answer_from_carrier', retryable: false });

t.test('an answer lost after the first callback: the call is what the callback says', async (t) => {
  const rig: CallsRig = await openCallsRig(t, {
    async placeCall(callId, accept) {
      await rig.tell({
        type: 'status',
        callId,
        carrierCallId: accept(),
        status: 'ringing',
        at: at(0),
        durationSeconds: null,
        cause: null,
        errorCode: null,
        errorMessage: null,
      });
      throw lost();
    },
  });
  // Somebody else's call to the same number, which nobody has claimed yet.
  rig.atCarrier.set('CA9', snapshot({ carrierCallId: 'CA9', startedAt: at(0) }));
  const call = await rig.calls.dispatch(rig.newCall());
  t.match(call, { status: 'ringing', carrier_call_id: 'CA1' });
  t.equal((await stored(rig, call.id)).status, 'ringing', 'not failed');
});

t.test('an answer lost before any callback: the call is looked for, and else has failed', async (t) => {
  let reached = true;
  const rig: CallsRig = await openCallsRig(t, {
    async placeCall(_callId, accept) {
      if (reached) accept();
      throw lost();
    },
  });
  const found = await rig.calls.dispatch(rig.newCall());
  t.match(found, { status: 'initiated', carrier_call_id: 'CA1' });
  reached = false;
  const call = rig.newCall();
  await t.rejects(rig.calls.dispatch(call), { code: 'carrier_error' });
  t.match(await stored(rig, call.id), { status: 'failed', events: ['call.queued', 'call.failed'] });
});

t.test('the end of all: a call that cannot be written is told, and every other one ends', async (t) => {
  const errors: unknown[] = [];
  const rig = await openCallsRig(t, { onError: (...line) => errors.push(line) });
  const calls = [];
  for (let count = 0; count < 3; count++) calls.push(await rig.calls.dispatch(rig.newCall()));
  const [bad, ...good] = calls;
  const { saveCall } = rig.store;
  rig.store.saveCall = async (id, o) => {
    if (id === bad?.id) throw new Error('the disk is full');
    return saveCall(id, o);
  };
  await rig.calls.endAll('draining', 200);
  for (const { id } of good) t.match(await stored(rig, id), { status: 'canceled' });
  t.equal((await stored(rig, bad?.id ?? '')).status, 'initiated', 'for the next start to find');
  t.match(
    errors.filter((line) => (line as unknown[])[1] === 'call.not_ended'),
    [[{ call_id: bad?.id, err: { message: 'the disk is full' } }, 'call.not_ended']],
  );
});

/** A call that is talked on, looked after by its media thread. */
async function talking(rig: CallsRig) {
  const call = await rig.calls.dispatch(rig.newCall());
  const there = rig.atCarrier.get(call.carrier_call_id ?? '')!;
  rig.atCarrier.set(there.carrierCallId, { ...there, status: 'answered' });
  rig.calls.onMedia({
    type: 'media-started',
    callId: call.id,
    streamId: 's',
    carrierCallId: there.carrierCallId,
    at: at(1),
    atMs: 0,
  });
  await until(async () => (await stored(rig, call.id)).status === 'in_progress');
  return call;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((later) => setImmediate(later));
}

t.test('a media side that says nothing more of a call: it ends, says so, and is hung up', async (t) => {
  const rig = await openCallsRig(t);
  const call = await talking(rig);
  for (let seconds = 5; seconds <= 60; seconds += 5) {
    rig.clock.ms += 5_000;
    rig.calls.onMedia({ type: 'alive', callId: call.id });
    await rig.calls.watch.look();
  }
  t.equal((await stored(rig, call.id)).status, 'in_progress', 'while it says that it looks after the call');
  rig.clock.ms += 30_000;
  await rig.calls.watch.look();
  t.equal((await stored(rig, call.id)).status, 'in_progress', 'not a moment early');
  rig.clock.ms += 1;
  await rig.calls.watch.look();
  t.match(await stored(rig, call.id), {
    status: 'failed',
    hangup_cause: 'stalled',
    error_code: 'media_silent',
  });
  t.same(rig.asked.slice(1), [`hang up ${call.carrier_call_id}`]);
});

t.test('a process that stood still reads what it was told meanwhile before it judges', async (t) => {
  const rig = await openCallsRig(t);
  const call = await talking(rig);
  const { watch } = rig.calls;
  rig.calls.onMedia({ type: 'alive', callId: call.id });
  rig.clock.ms += 5_000;
  await watch.round();
  rig.clock.ms += 60_000;
  await watch.round();
  t.equal((await stored(rig, call.id)).status, 'in_progress', 'nobody could say anything');
  rig.calls.onMedia({ type: 'alive', callId: call.id });
  for (let seconds = 5; seconds <= 30; seconds += 5) {
    rig.clock.ms += 5_000;
    await watch.round();
  }
  t.equal((await stored(rig, call.id)).status, 'in_progress');
  rig.clock.ms += 10_000;
  await watch.round();
  t.match(await stored(rig, call.id), { hangup_cause: 'stalled', error_code: 'media_silent' });
});

t.test('a media thread that does not let go of a call: its line is free all the same', async (t) => {
  const errors: unknown[] = [];
  const rig = await openCallsRig(t, { carried: true, maxCalls: 1, onError: (...line) => errors.push(line) });
  const call = await talking(rig);
  await rig.calls.hangUp(rig.org, call.id);
  await rig.calls.watch.look();
  await t.rejects(rig.calls.dispatch(rig.newCall()), { code: 'at_capacity' });
  rig.clock.ms += 30_000;
  await rig.calls.watch.look();
  t.match(errors, [[{ call_id: call.id }, 'media.not_released']]);
  await until(async () => (await stored(rig, call.id)).result_status === 'completed');
  t.match(await stored(rig, call.id), { status: 'completed' });
  t.match(await rig.calls.dispatch(rig.newCall()), { status: 'initiated' });
});

t.test('a talk whose end could not be written down is ended by the watch, for its own reason', async (t) => {
  const errors: unknown[] = [];
  const rig = await openCallsRig(t, { onError: (...line) => errors.push(line) });
  const call = await talking(rig);
  const { saveCall } = rig.store;
  rig.store.saveCall = async () => {
    throw new Error('broken');
  };
  rig.calls.onMedia({
    type: 'finished',
    callId: call.id,
    reason: 'model_failed',
    errorCode: 'model_lost',
    errorMessage: 'gone',
    speak: null,
  });
  await until(async () => errors.length > 0);
  rig.store.saveCall = saveCall;
  rig.clock.ms += 10_000;
  await rig.calls.watch.look();
  t.match(await stored(rig, call.id), {
    status: 'failed',
    hangup_cause: 'model_failed',
    error_code: 'model_lost',
  });
  t.same(rig.asked.slice(1), [`hang up ${call.carrier_call_id}`]);
});

t.test('a call whose look does not come to an end holds up no other, now or in the next round', async (t) => {
  const rig = await openCallsRig(t);
  /** A talk of which its media thread has said something, and says no more. */
  const silent = async () => {
    const call = await talking(rig);
    rig.calls.onMedia({ type: 'alive', callId: call.id });
    await rig.calls.watch.look();
    return call;
  };
  const [slow, other] = [await silent(), await silent()];
  const { findCall } = rig.store;
  const answer = Promise.withResolvers<void>();
  rig.store.findCall = async (id) => {
    if (id === slow.id) await answer.promise;
    return findCall(id);
  };
  const status = async (id: string) => (await findCall(id))?.status;
  rig.clock.ms += 31_000;
  const looked = rig.calls.watch.look();
  await until(async () => (await status(other.id)) === 'failed');
  const third = await silent();
  rig.clock.ms += 31_000;
  await rig.calls.watch.look();
  t.equal(await status(third.id), 'failed', 'a round does not wait for the one before');
  t.equal(await status(slow.id), 'in_progress');
  answer.resolve();
  await looked;
  t.equal(await status(slow.id), 'failed');
});

t.test('of many calls a few are looked at at once, and all of them', async (t) => {
  const rig = await openCallsRig(t);
  const calls = [];
  for (let count = 0; count < 30; count++) calls.push(await rig.calls.dispatch(rig.newCall()));
  const { findCall } = rig.store;
  const looked: string[] = [];
  let atOnce = 0;
  let most = 0;
  rig.store.findCall = async (id) => {
    looked.push(id);
    most = Math.max(most, ++atOnce);
    // Longer than a late store puts two questions apart that were asked at once.
    for (let turn = 0; turn < 30; turn++) await new Promise((later) => setImmediate(later));
    atOnce--;
    return findCall(id);
  };
  await rig.calls.watch.look();
  t.strictSame(looked.sort(), calls.map(({ id }) => id).sort(), 'each once');
  t.ok(most > 1 && most <= 8, `${most} at once`);
});
