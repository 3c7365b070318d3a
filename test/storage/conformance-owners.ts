// Conformance: several daemons on one set of data. What is one's own the others leave alone, until it is gone.
import type { Test } from 'tap';
import type { Store } from '../../storage/store.ts';
import {
  addOrganization,
  at,
  makeCall,
  makeInterruption,
  makeItem,
  makeTurn,
  stoppedClock,
  succeeded,
} from './makers.ts';

/** Opens a store for one more daemon on the same data, which nobody has written to before the first. */
export type OpenAnother = () => Promise<Store>;

const MINUTE = 60_000;
const DONE = { started_at: at(0), latency_ms: 12, response_status: 200, error: null, response_excerpt: null };

/** `openData` makes a fresh set of data; the suite closes what is opened on it. */
export function ownerConformance(t: Test, openData: (o: { now: () => Date }) => OpenAnother): void {
  async function open(t: Test, count = 2) {
    const clock = stoppedClock();
    const openAnother = openData({ now: clock.now });
    const stores: Store[] = [];
    for (let i = 0; i < count; i++) stores.push(await openAnother());
    t.teardown(async () => {
      for (const store of stores) await store.close();
    });
    const [first, second] = stores as [Store, Store];
    // What was left from before any of them is nobody's business here.
    await first.takeOver();
    return { first, second, stores, openAnother, org: await addOrganization(first) };
  }

  async function liveCall(store: Store, org: string, fields: Parameters<typeof makeCall>[1] = {}) {
    const call = makeCall(org, { status: 'in_progress', answered_at: at(0), ...fields });
    return succeeded(await store.createCall(call, { events: [], reserve: 0 }));
  }

  const END = { from: ['in_progress'], change: { status: 'completed', ended_at: at(9) } } as const;

  t.test('each daemon has an epoch of its own, higher than any before', async (t) => {
    const { first, second, openAnother } = await open(t);
    t.ok(second.self().epoch > first.self().epoch);
    t.strictSame(await first.daemons(), [first.self(), second.self()]);
    await second.close();
    t.strictSame(await first.daemons(), [first.self()], 'who closes says so');
    const third = await openAnother();
    t.ok(third.self().epoch > second.self().epoch, 'none is given twice');
    await third.close();
  });

  t.test('who lets others in goes on beside them, and may be alone again', async (t) => {
    const { first, second, org } = await open(t);
    t.equal(first.letOthersIn(true), true);
    t.equal(first.letOthersIn(true), true, 'as often as one likes');
    await second.close();
    t.equal(first.letOthersIn(false), true);
    t.equal((await first.firstOrganization())?.id, org);
    t.equal(first.letOthersIn(true), true);
  });

  t.test('what a daemon says of itself others read', async (t) => {
    const { first, second } = await open(t);
    t.match(first.self(), { version: '', state: 'running', private_port: null, alive_at: null });
    await first.tellSelf({ version: '1.2.3', private_port: 4_711 });
    await first.tellSelf({ state: 'leaving', alive_at: at(5) });
    const told = { version: '1.2.3', private_port: 4_711, state: 'leaving', alive_at: at(5) } as const;
    t.match(first.self(), told);
    t.match((await second.daemons())[0], told);
    t.match((await second.daemons())[1], { version: '', state: 'running' }, 'of itself alone');
    const lives = first.tellSelf({ alive_at: at(6) });
    await first.tellSelf({ state: 'running' });
    await lives;
    t.match((await second.daemons())[0], { state: 'running', alive_at: at(6) }, 'each thing for itself');
    await Promise.all([first.tellSelf({ state: 'leaving' }), first.tellSelf({ alive_at: at(7) })]);
    t.match(first.self(), { state: 'leaving', alive_at: at(7) });
    t.match((await second.daemons())[0], first.self());
  });

  t.test("a call is written by its owner alone: another's write changes nothing and says so", async (t) => {
    const { first, second, org } = await open(t);
    const call = await liveCall(first, org);
    t.strictSame(await second.ownerOf(call.id), first.self());
    t.equal(await second.ownerOf('nobody'), null);
    const writes: [string, Parameters<Store['saveCall']>[1]][] = [
      ['an end', { ...END, events: ['call.completed'] }],
      [
        'its money',
        { from: ['in_progress'], change: {}, ledger: [{ kind: 'top_up', amountMilliCents: -5 }] },
      ],
      ['from a status that it has not', { from: ['ringing'], change: {} }],
      ['nothing at all', { from: ['in_progress'], change: {} }],
    ];
    for (const [what, change] of writes) {
      t.strictSame(await second.saveCall(call.id, change), { conflict: 'not_owner' }, what);
    }
    t.strictSame(await second.saveTranscript([makeItem(call.id)]), [call.id]);
    const times = { turns: [makeTurn(call.id)], interruptions: [makeInterruption(call.id)] };
    t.strictSame(await second.saveTurns(times), [call.id]);
    t.strictSame(await second.findCall(call.id), call, 'and everybody may read it as it was');
    t.strictSame(await second.listTranscript(call.id), []);
    t.strictSame(await second.listTurns(call.id), []);
    t.strictSame(await second.listInterruptions(call.id), []);
    t.strictSame(await second.listEvents(call.id), []);
    t.strictSame(await second.listLedger(org, call.id), await first.listLedger(org, call.id));

    const own = await liveCall(second, org);
    const [theirs, ours] = [makeItem(call.id), makeItem(own.id)];
    t.strictSame(await second.saveTranscript([theirs, ours]), [call.id]);
    t.strictSame(await second.listTranscript(own.id), [ours], 'its own among them are stored');
    t.strictSame(await first.saveTranscript([theirs]), []);
    t.strictSame(await first.saveTurns(times), []);
    t.match(await first.saveCall(call.id, END), { status: 'completed' }, 'the owner goes on');
  });

  t.test(
    'one that stands still: what it has is another’s, and nothing of it is written any more',
    async (t) => {
      const { first, second, org } = await open(t);
      const call = await liveCall(first, org);
      const own = await liveCall(second, org);
      await first.tellSelf({ alive_at: at(1) });
      const { epoch } = first.self();
      t.strictSame(
        await second.takeOver({ standStill: [{ epoch, alive_at: at(0) }] }),
        [],
        'it went on since',
      );
      t.equal(await first.mayWrite(call.id), true);
      t.equal(await second.mayWrite(call.id), false);
      let told = 0;
      first.subscribe({ replaced: () => void told++ });

      t.match(await second.takeOver({ standStill: [{ epoch, alive_at: at(1) }] }), [{ id: call.id }]);
      t.strictSame(await second.ownerOf(call.id), second.self());
      t.strictSame(await second.takeOver({ standStill: [{ epoch, alive_at: at(1) }] }), [], 'once');
      t.strictSame(await second.daemons(), [second.self()], 'it counts as ended');
      for (const { id } of [call, own]) {
        t.equal(await first.mayWrite(id), false);
        t.equal(await second.mayWrite(id), true);
      }
      const before = await second.findCall(call.id);
      t.strictSame(await first.saveCall(call.id, END), { conflict: 'not_owner' });
      const replaced = { code: 'replaced' };
      await t.rejects(first.tellSelf({ alive_at: at(2) }), replaced);
      await t.rejects(liveCall(first, org), replaced, 'no new call has an owner that is gone');
      await t.rejects(first.updateOrganization(org, { name: 'Theirs' }), replaced);
      await new Promise((next) => setTimeout(next, 20));
      t.equal(told, 1, 'it is told once');
      t.strictSame(await second.findCall(call.id), before);
      t.equal((await second.unfinishedCalls()).length, 2);
      t.match(await second.saveCall(call.id, END), { status: 'completed' }, 'its heir goes on');
    },
  );

  t.test('what is over', async (t) => {
    const { first, second, org } = await open(t);
    const call = await liveCall(first, org, { returns: {} });
    await first.saveCall(call.id, END);
    const settle = { from: ['completed'], change: { result_status: 'completed' } } as const;
    const late = { from: ['completed'], change: { answered_by: 'human' } } as const;
    t.strictSame(await second.saveCall(call.id, settle), { conflict: 'not_owner' });
    await first.saveCall(call.id, settle);
    t.strictSame(await second.saveCall(call.id, late), { conflict: 'not_owner' }, 'is the owner’s still');
    await first.close();
    t.strictSame(await second.saveCall(call.id, late), { conflict: 'not_owner' }, 'until it has an heir');
    await second.takeOver();
    t.match(await second.saveCall(call.id, late), { answered_by: 'human' }, 'then anybody completes it');
    t.strictSame(await second.saveTranscript([makeItem(call.id)]), []);
  });

  t.test('a daemon that is gone has one heir, of all that it has not finished', async (t) => {
    const { first, second, stores, org } = await open(t, 4);
    const later = await liveCall(first, org, { created_at: at(20) });
    const earlier = await liveCall(first, org, { created_at: at(10), status: 'ringing' });
    const pending = await liveCall(first, org);
    const settled = await liveCall(first, org);
    for (const { id } of [pending, settled]) await first.saveCall(id, END);
    await first.saveCall(settled.id, { from: ['completed'], change: { result_status: 'completed' } });
    const own = await liveCall(second, org);
    t.strictSame(await second.takeOver(), [], 'a daemon that lives is left alone');
    t.strictSame(
      (await first.pendingResults()).map(({ id }) => id),
      [pending.id],
    );
    t.strictSame(await second.pendingResults(), []);

    await first.tellSelf({ alive_at: at(30) });
    await first.close();
    t.strictSame(await second.saveCall(later.id, END), { conflict: 'not_owner' }, 'nobody writes before');
    const others = stores.slice(1);
    const taken = await Promise.all(others.map((store) => store.takeOver()));
    t.strictSame(
      taken.flat().map(({ id }) => id),
      [earlier.id, later.id],
      'of several that look at once one takes, the oldest first',
    );
    t.ok(
      taken.flat().every(({ owner_alive_at }) => owner_alive_at === at(30)),
      'with when their daemon last said that it lived',
    );
    t.strictSame(await Promise.all(others.map((store) => store.takeOver())), [[], [], []], 'once');
    const heir = others[taken.findIndex((calls) => calls.length > 0)] as Store;
    t.strictSame(await heir.ownerOf(later.id), heir.self());
    t.strictSame(
      (await heir.pendingResults()).map(({ id }) => id),
      [pending.id],
    );
    t.match(await heir.saveCall(later.id, END), { status: 'completed' });
    const [other] = others.filter((store) => store !== heir);
    t.strictSame(await other?.saveCall(earlier.id, END), { conflict: 'not_owner' });
    t.strictSame(await second.ownerOf(own.id), second.self(), 'what was others’ stays theirs');
  });

  t.test('an heir that goes before it has finished leaves it to the next', async (t) => {
    const { first, second, stores, org } = await open(t, 3);
    const call = await liveCall(first, org);
    await first.close();
    t.equal((await second.takeOver()).length, 1);
    await second.close();
    t.match(await stores[2]?.takeOver(), [{ id: call.id }]);
  });

  t.test('a delivery that another has in hand is left to it, however long its lease is over', async (t) => {
    const { first, second, org } = await open(t);
    const call = makeCall(org, { webhook_url: 'https://inline.example.com/hook' });
    await first.createCall(call, { events: ['call.queued'], reserve: 0 });
    const [delivery] = await first.listDeliveries(org, { callId: call.id }, { limit: 1 });
    const { id } = succeeded(delivery ?? null);
    t.ok(await first.claimDelivery(id, 0, at(0), 30_000));
    const late = at(60 * MINUTE);
    t.equal(await second.claimDelivery(id, 0, late, 30_000), null);
    t.strictSame(await second.dueDeliveries(late, 10), []);
    t.equal((await first.dueDeliveries(late, 10)).length, 1, 'its own lease ends by time');
    t.strictSame(await second.recordAttempt(id, { attempt: DONE, status: 'delivered' }), {
      conflict: 'not_owner',
    });
    t.equal(await second.releaseDelivery(id, at(0)), false);
    t.match(await second.getDelivery(org, id), { delivery: { attempt_count: 0 }, attempts: [] });

    await first.close();
    t.equal(await second.claimDelivery(id, 0, late, 30_000), null);
    await second.takeOver();
    t.equal((await second.dueDeliveries(at(0), 10)).length, 1, 'and at once with its life');
    t.ok(await second.claimDelivery(id, 0, at(0), 30_000));
    t.match(await second.recordAttempt(id, { attempt: DONE, status: 'delivered' }), { status: 'delivered' });
  });

  t.test('a request that another runs is in progress for as long as that lives', async (t) => {
    const { first, second, org } = await open(t);
    const begin = (store: Store, key: string, ms: number) => store.beginIdempotent(org, key, 'h', at(ms));
    for (const key of ['begun', 'intended', 'answered']) {
      t.strictSame(await begin(first, key, 0), { state: 'new' });
    }
    t.equal(await first.intendIdempotent(org, 'intended', '{"id":1}'), null);
    await first.finishIdempotent(org, 'answered', 201, '{}');
    const late = 60 * MINUTE;
    for (const key of ['begun', 'intended']) {
      t.strictSame(await begin(second, key, late), { state: 'in_progress' }, key);
      t.strictSame(await second.intendIdempotent(org, key, '{}'), { conflict: 'not_owner' });
      await second.finishIdempotent(org, key, 201, '{"not":"mine"}');
      await second.dropIdempotent(org, key);
      t.strictSame(await begin(second, key, late), { state: 'in_progress' }, 'which is left as it was');
    }
    t.match(await begin(second, 'answered', late), { state: 'done', status: 201 });

    await first.close();
    await second.takeOver();
    t.strictSame(await begin(second, 'begun', late), { state: 'new' });
    t.strictSame(await begin(second, 'intended', late), { state: 'intended', body: '{"id":1}' });
    await second.finishIdempotent(org, 'intended', null, '{"id":null}');
    t.strictSame(await begin(second, 'intended', late), { state: 'intended', body: '{"id":null}' });
    await second.finishIdempotent(org, 'intended', 201, '{}');
    t.match(await begin(second, 'intended', late), { state: 'done', status: 201, body: '{}' });
  });

  t.test('the wall clock is set once, though every daemon says so', async (t) => {
    const { first, second, openAnother, org } = await open(t);
    const call = makeCall(org, { webhook_url: 'https://inline.example.com/hook' });
    await first.createCall(call, { events: ['call.queued'], reserve: 0 });
    const dueAt = async () =>
      (await first.listDeliveries(org, { callId: call.id }, { limit: 1 }))[0]?.next_attempt_at;
    t.equal(await dueAt(), at(0));
    // Each measures it for itself, a little differently.
    await first.moveTimes(60 * MINUTE);
    await second.moveTimes(60 * MINUTE + 3);
    t.equal(await dueAt(), at(60 * MINUTE));
    // One hears of two settings at once, the other of each.
    await second.moveTimes(-10 * MINUTE);
    await second.moveTimes(-10 * MINUTE);
    await first.moveTimes(-20 * MINUTE);
    const third = await openAnother();
    await third.moveTimes(5 * MINUTE);
    await first.moveTimes(5 * MINUTE);
    await third.close();
    const off = Math.abs(Date.parse((await dueAt()) ?? '') - Date.parse(at(45 * MINUTE)));
    t.ok(off < 100, `${off} ms`);
  });
}
