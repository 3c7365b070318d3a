// Conformance: whom an organization may call.
import type { Test } from 'tap';
import { addOrganization, at, makeCall, type OpenEmpty, stoppedClock, succeeded } from './makers.ts';

export function outboundConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock, org: await addOrganization(store), other: await addOrganization(store) };
  }

  t.test('numbers that are not to be called', async (t) => {
    const { store, clock, org, other } = await open(t);
    const number = '+14155550123';
    t.equal(await store.isDoNotCall(org, number), false);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const by = { kind: 'key' as const, id: 'k', name: 'Key' };
    const [said] = await store.addDoNotCall(org, [
      { number, source: 'said', reason: 'stop calling', call_id: call.id, item_id: 'item', at_ms: 1_200.5 },
    ]);
    t.match(said, {
      org_id: org,
      number,
      last4: '0123',
      source: 'said',
      reason: 'stop calling',
      call_id: call.id,
      item_id: 'item',
      at_ms: 1_200.5,
      created_by: null,
      created_at: at(0),
    });
    clock.tick(1000);
    const [again, second] = await store.addDoNotCall(org, [
      { number, source: 'api', created_by: by },
      { number: '+442079460000', source: 'csv', created_by: by },
    ]);
    t.strictSame(again, said, 'one that is there stays as it is');
    t.match(second, { created_by: by, created_at: at(1000), reason: null });
    t.strictSame(await store.listDoNotCall(org, {}, { limit: 9 }), [second, said]);
    t.strictSame(await store.listDoNotCall(org, {}, { limit: 9, startingAfter: second?.id ?? '' }), [said]);
    t.strictSame(await store.listDoNotCall(org, { number }, { limit: 9 }), [said]);
    t.strictSame(await store.listDoNotCall(org, { number: '+14155550124' }, { limit: 9 }), []);
    t.strictSame(await store.getDoNotCall(org, said?.id ?? ''), said);

    t.equal(await store.isDoNotCall(org, number), true);
    t.equal(await store.isDoNotCall(other, number), false, 'another organization has its own list');
    const [foreign] = await store.addDoNotCall(other, [{ number, source: 'api' }]);
    t.not(foreign?.number_hash, said?.number_hash, 'nor is it the same text there');
    t.equal(await store.getDoNotCall(other, said?.id ?? ''), null);
    t.equal(await store.removeDoNotCall(other, said?.id ?? ''), false);
    t.equal(await store.removeDoNotCall(org, said?.id ?? ''), true);
    t.equal(await store.removeDoNotCall(org, said?.id ?? ''), false);
    t.equal(await store.isDoNotCall(org, number), false);
    t.strictSame(await store.addDoNotCall(org, []), []);
  });
}
