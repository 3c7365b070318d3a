// Calls from a browser: nobody is dialled and the phone carrier is never asked; the stream is the call.
import t from 'tap';
import type { CallRecord } from '../../../storage/records.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();

async function stored(rig: CallsRig, id: string) {
  const call = await rig.store.findCall(id);
  const events = (await rig.store.listEvents(id)).map((event) => event.type);
  return { ...call!, events };
}

const fromBrowser = (rig: CallsRig, fields: Partial<CallRecord> = {}) =>
  rig.newCall({
    carrier: 'browser',
    telephone: false,
    direction: 'inbound',
    status: 'ringing',
    started_at: at(0),
    from_number: 'browser',
    ...fields,
  });

const awaited = (rig: CallsRig, fields: Partial<CallRecord> = {}) =>
  rig.calls.awaitStream(fromBrowser(rig, fields), { patience: 1 });

/** The stream came, and what it brings is written. */
async function talk(rig: CallsRig, id: string): Promise<void> {
  const carrierCallId = id;
  rig.clock.ms = Math.max(rig.clock.ms, START_MS + 2_000);
  rig.calls.onMedia({ type: 'media-started', callId: id, streamId: id, carrierCallId, at: at(2), atMs: 0 });
  await until(async () => (await rig.store.findCall(id))?.status === 'in_progress');
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await look()) return;
    await new Promise((again) => setTimeout(again, 5));
  }
  throw new Error('in vain');
}

t.test('a page opens a call: it is stored, and its stream is awaited under a token', async (t) => {
  const rig = await openCallsRig(t);
  const { call, path, token } = await awaited(rig);
  t.equal(path, `/media/${rig.store.self().epoch}/1/browser/${call.id}`);
  t.match(token, /^[\w-]{43}$/);
  t.match(await stored(rig, call.id), {
    status: 'ringing',
    carrier_call_id: call.id,
    events: ['call.ringing'],
  });
  const outbound = await awaited(rig, { direction: 'outbound', status: 'queued', started_at: null });
  t.match(await stored(rig, outbound.call.id), { status: 'initiated', events: ['call.queued'] });
  t.not(outbound.token, token);
  await talk(rig, outbound.call.id);
  t.same((await stored(rig, outbound.call.id)).events, ['call.queued', 'call.ringing', 'call.answered']);
  t.same(rig.asked, []);
});

t.test('no stream comes: over by itself soon, and credit is given back', async (t) => {
  const rig = await openCallsRig(t);
  const { call } = await awaited(rig);
  rig.clock.ms = START_MS + 14_000;
  await rig.calls.watch.look();
  t.equal((await stored(rig, call.id)).status, 'ringing');
  rig.clock.ms = START_MS + 16_000;
  await rig.calls.watch.look();
  t.match(await stored(rig, call.id), {
    status: 'no_answer',
    reservation_status: 'released',
    billed_duration_seconds: null,
    events: ['call.ringing', 'call.no_answer'],
  });
  t.equal(rig.calls.size, 0, 'its line is free');
  t.same(rig.asked, []);
});

for (const how of ['stopped', 'lost'] as const) {
  t.test(`the stream is ${how}: the person has left, and the call is over at once`, async (t) => {
    const rig = await openCallsRig(t);
    const { call } = await awaited(rig);
    await talk(rig, call.id);
    rig.clock.ms = START_MS + 12_000;
    rig.calls.onMedia({ type: 'stream-ended', callId: call.id, how, why: 'closed', atMs: 1_000 });
    await until(async () => (await rig.store.findCall(call.id))?.status === 'completed');
    t.match(await stored(rig, call.id), {
      hangup_cause: 'remote_hangup',
      billed_duration_seconds: 10,
      reservation_status: 'settled',
    });
    t.same(rig.asked, []);
  });
}

t.test('hung up by the organization: one end', async (t) => {
  const rig = await openCallsRig(t);
  const { call } = await awaited(rig);
  await talk(rig, call.id);
  const ended = await rig.calls.hangUp(rig.org, call.id);
  t.match(ended, { status: 'completed', hangup_cause: 'hangup_requested' });
  rig.calls.onMedia({ type: 'stream-ended', callId: call.id, how: 'lost', why: 'closed', atMs: 1_000 });
  await new Promise((later) => setTimeout(later, 20));
  const { events } = await stored(rig, call.id);
  t.equal(events.filter((type) => type === 'call.completed').length, 1);
  t.same(rig.asked, []);
});

t.test('after a crash: one end each by our own records, charged up to the last sign of life', async (t) => {
  const rig = await openCallsRig(t);
  const talking = (await awaited(rig)).call;
  const silent = (await awaited(rig)).call;
  await talk(rig, talking.id);
  rig.clock.ms = START_MS + 20_000;
  rig.calls.onMedia({ type: 'usage', callId: talking.id, usage: { output_text_tokens: 1 } });
  await until(async () => (await rig.store.findCall(talking.id))?.usage !== null);
  // The process dies here, and is started again an hour later; the phone carrier cannot even be reached.
  rig.clock.ms = START_MS + 3_600_000;
  rig.down = true;
  await rig.calls.recover(await rig.store.unfinishedCalls());
  t.match(await stored(rig, talking.id), {
    status: 'failed',
    error_code: 'daemon_restart',
    ended_at: at(20),
    billed_duration_seconds: 18,
    reservation_status: 'settled',
    events: ['call.ringing', 'call.answered', 'call.failed'],
  });
  t.match(await stored(rig, silent.id), { status: 'no_answer', reservation_status: 'released' });
  t.same(rig.asked, []);
});
