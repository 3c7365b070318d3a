// The feed of events: read back in pages, and followed without a gap by whoever asks again and again.
import { join } from 'node:path';
import t from 'tap';
import { keyRecord } from '../../../control/http/keys.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { makeCall } from '../../storage/makers.ts';
import { type ApiAnswer, openRig } from '../rig.ts';

t.test('events are listed newest first, by call and type, each organization its own', async (t) => {
  const rig = await openRig(t);
  const call = makeCall(rig.orgId);
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  await rig.store.saveCall(call.id, {
    from: ['queued'],
    change: { status: 'ringing' },
    events: ['call.ringing'],
  });
  const foreign = makeCall(rig.other.orgId);
  await rig.store.createCall(foreign, { events: ['call.queued'], reserve: 0 });

  const all = await rig.api('GET', '/v1/events');
  t.same(
    all.body.data.map((event: { type: string; sequence: number; call_id: string }) => [
      event.type,
      event.sequence,
      event.call_id,
    ]),
    [
      ['call.ringing', 2, call.id],
      ['call.queued', 1, call.id],
    ],
  );
  t.equal(all.body.data[1].call.status, 'queued', 'as it was then');
  t.equal((await rig.api('GET', '/v1/events?type=call.queued')).body.data.length, 1);
  t.same((await rig.api('GET', `/v1/events?call_id=${foreign.id}`)).body.data, []);
  const page = await rig.api('GET', '/v1/events?limit=1');
  t.match(page.headers.get('link'), new RegExp(`starting_after=${all.body.data[0].id}`));
  t.equal((await rig.api('GET', '/v1/events?type=call.lost')).status, 400);
});

t.test('following: what another daemon of the folder stores ends the wait too', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const rig = await openRig(t, { path });
  rig.store.letOthersIn(true);
  const another = await openStore({ path, shared: true });
  t.teardown(() => another.close());
  const follow = (wait: number, key?: string) =>
    rig.api('GET', `/v1/events/follow?wait=${wait}`, key === undefined ? {} : { key });
  const nothing = follow(15, rig.other.key);
  const waiting = follow(25);
  const call = makeCall(rig.orgId);
  await another.createCall(call, { events: ['call.queued'], reserve: 0 });
  const first = await Promise.race([waiting, nothing]);
  t.match(first.body.data, [{ type: 'call.queued', call_id: call.id }], 'before somebody who waits for 15 s');
  await nothing;
});

t.test('following: what came after, oldest first; waiting ends with the next event', async (t) => {
  const rig = await openRig(t);
  const follow = (query: string) => rig.api('GET', `/v1/events/follow?${query}`);
  t.same((await follow('')).body.data, [], 'nothing yet, and nobody waits');

  const waiting = follow('wait=20');
  const call = makeCall(rig.orgId);
  // Another organization's event wakes nobody; whether the wait has begun by now or not, the first own event ends it.
  await rig.store.createCall(makeCall(rig.other.orgId), { events: ['call.queued'], reserve: 0 });
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  const [first] = (await waiting).body.data;
  t.match(first, { type: 'call.queued', call_id: call.id });

  const more = follow(`wait=20&after=${first.id}`);
  await rig.store.saveCall(call.id, {
    from: ['queued'],
    change: { status: 'ringing' },
    events: ['call.ringing'],
  });
  t.match((await more).body.data, [{ type: 'call.ringing', sequence: 2 }]);
  t.same(
    (await follow('limit=1')).body.data.map((event: { id: string }) => event.id),
    [first.id],
  );

  const [foreign] = (await rig.api('GET', '/v1/events', { key: rig.other.key })).body.data;
  const refused = await follow(`after=${foreign.id}`);
  t.equal(refused.status, 400, "another organization's event is none");
  t.equal(refused.body.error.param, 'after');
  t.equal((await follow('wait=26')).status, 400);
});

t.test('a key that is revoked hears nothing more, also by what it asked before', async (t) => {
  const rig = await openRig(t);
  const { subscribe } = rig.store;
  let serial = 0;
  /** A key of the organization, and a request with it that waits for half a minute. */
  async function waiting() {
    serial++;
    const key = `sk_revoked${serial}${'x'.repeat(40)}`;
    const record = keyRecord(key, { orgId: rig.orgId, name: 'Lost', now: rig.now() });
    await rig.store.insertKey(record);
    let answer: Promise<ApiAnswer> | undefined;
    await new Promise<void>((heard) => {
      rig.store.subscribe = (listener) => {
        heard();
        return subscribe.call(rig.store, listener);
      };
      answer = rig.api('GET', '/v1/events/follow?wait=25', { key });
    });
    const revoke = () => rig.store.revokeKey(rig.orgId, record.id, rig.now().toISOString());
    return { answer, revoke };
  }

  const quiet = await waiting();
  const begun = performance.now();
  await quiet.revoke();
  const ended = await quiet.answer;
  t.same([ended?.status, ended?.body.error.code], [401, 'unauthorized']);
  t.ok(performance.now() - begun < 20_000, 'long before its wait is over');

  const busy = await waiting();
  await busy.revoke();
  await rig.store.createCall(makeCall(rig.orgId), { events: ['call.queued'], reserve: 0 });
  const late = await busy.answer;
  t.same([late?.status, late?.body.data], [401, undefined], 'not what happened in that moment either');
});

t.test('whoever leaves while waiting leaves nothing behind', async (t) => {
  const rig = await openRig(t);
  const stop = new AbortController();
  const asking = fetch(`${rig.url}/v1/events/follow?wait=25`, {
    headers: { authorization: `Bearer ${rig.key}` },
    signal: stop.signal,
  });
  stop.abort();
  await t.rejects(asking, { name: 'AbortError' });
  t.equal((await rig.api('GET', '/v1/balance')).status, 200);
});

t.test('fifty may wait at once, of each organization', async (t) => {
  const rig = await openRig(t);
  // One too many, whichever comes last.
  const asking = Array.from({ length: 51 }, () => rig.api('GET', '/v1/events/follow?wait=25'));
  const { refused, by } = await Promise.race(asking.map(async (by) => ({ refused: await by, by })));
  const waiting = asking.filter((one) => one !== by);
  t.same([refused.status, refused.body.error.code], [429, 'rate_limited']);
  t.match(refused.body.error.message, /50 requests wait/);
  t.equal((await rig.api('GET', '/v1/events/follow')).status, 200, 'who does not wait is answered');
  const other = rig.api('GET', '/v1/events/follow?wait=20', { key: rig.other.key });
  await rig.store.createCall(makeCall(rig.other.orgId), { events: ['call.queued'], reserve: 0 });
  t.equal((await other).body.data.length, 1, 'another organization has its own fifty');

  await rig.store.createCall(makeCall(rig.orgId), { events: ['call.queued'], reserve: 0 });
  const answered = await Promise.all(waiting);
  t.same(new Set(answered.map(({ status }) => status)), new Set([200]));
  t.equal((await rig.api('GET', '/v1/events/follow?wait=1')).status, 200, 'and then there is room again');
});
