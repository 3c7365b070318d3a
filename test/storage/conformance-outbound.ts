// Conformance: whom an organization may call.
import type { Test } from 'tap';
import type { Store } from '../../storage/store.ts';
import {
  addOrganization,
  at,
  makeAgent,
  makeCall,
  makeNumber,
  type OpenEmpty,
  stoppedClock,
  succeeded,
} from './makers.ts';

export function outboundConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    const place = (
      org: string,
      o: Omit<Parameters<Store['createCall']>[1], 'events' | 'reserve'> & { to?: string } = {},
    ) => {
      const { to = '+14155550123', ...asked } = o;
      const call = makeCall(org, { to_number: to, created_at: clock.iso() });
      return store.createCall(call, { events: ['call.queued'], reserve: 0, ...asked });
    };
    return { store, clock, place, org: await addOrganization(store), other: await addOrganization(store) };
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

  const ada = { kind: 'user' as const, id: 'u', name: 'Ada' };

  t.test('rules of outbound calls: what the organization says, over what the daemon says', async (t) => {
    const { store, clock, org, other } = await open(t);
    const before = await store.getOutboundRules(org);
    t.match(before, {
      own: [],
      updated_at: null,
      updated_by: null,
      rules: { consent: 'none', countries: [] },
    });
    clock.tick(10);
    const hours = { from: '09:00', to: '18:00', days: ['mon' as const] };
    const set = await store.setOutboundRules(
      org,
      { set: { countries: ['GB'], calling_hours: hours }, unset: [] },
      ada,
    );
    t.match(set, { own: ['countries', 'calling_hours'], updated_at: at(10), updated_by: ada });
    t.strictSame(set.rules, { ...before.rules, countries: ['GB'], calling_hours: hours });
    await store.setOutboundRules(org, { set: { calls_per_minute: 2 }, unset: ['calling_hours'] }, ada);
    const after = await store.getOutboundRules(org);
    t.strictSame(after.rules, { ...before.rules, countries: ['GB'], calls_per_minute: 2 });
    t.strictSame(await store.getOutboundRules(other), before, 'nobody else’s');
  });

  t.test('the gate stands in the transaction that stores a call', async (t) => {
    const { store, clock, org, place } = await open(t);
    const page = { limit: 9 };
    t.match(succeeded(await place(org)).gate, {
      decided_at: at(0),
      country: 'US',
      zones: ['America/Los_Angeles'],
      local_times: [{ time: '2026-03-01T04:00' }],
      overridden: null,
    });
    t.match(await place(org, { to: '+442079460000', by: ada }), {
      conflict: 'refused',
      refusal: { code: 'destination_not_allowed', evidence: { country: 'GB', countries: ['US'] } },
    });
    t.match(await place(org, { to: '+19005551234' }), { refusal: { code: 'destination_closed' } });
    t.equal((await store.listCalls(org, {}, page)).length, 1, 'what is refused is not there');
    clock.tick(5);
    await store.addDoNotCall(org, [{ number: '+14155550123', source: 'said' }]);
    t.match(await place(org), { refusal: { code: 'do_not_call', evidence: { source: 'said' } } });
    const override = { by: ada, codes: ['do_not_call' as const], reason: 'he asked to be called back' };
    const overridden = succeeded(await place(org, { override }));
    t.strictSame(overridden.gate?.overridden, override, 'who, what and why');
    t.strictSame((await store.getCall(org, overridden.id))?.gate, overridden.gate);

    const refused = await store.listRefusedCalls(org, {}, page);
    t.match(refused, [
      { code: 'do_not_call', to_number: '+14155550123', last4: '0123', asked_by: null, created_at: at(5) },
      { code: 'destination_closed', codes: ['destination_closed'] },
      { code: 'destination_not_allowed', asked_by: ada, from_number: '+14155550199', created_at: at(0) },
    ]);
    const [first, second, third] = refused;
    t.strictSame(await store.listRefusedCalls(org, { code: 'destination_closed' }, page), [second]);
    t.strictSame(await store.listRefusedCalls(org, {}, { limit: 9, startingAfter: second?.id ?? '' }), [
      third,
    ]);
    t.strictSame(await store.getRefusedCall(org, first?.id ?? ''), first);

    // Not by telephone, and not placed by us: no matter of the gate.
    for (const fields of [{ direction: 'inbound' as const }, { telephone: false, carrier: 'browser' }]) {
      const call = makeCall(org, { ...fields, to_number: '+19005551234' });
      t.equal(succeeded(await store.createCall(call, { events: [], reserve: 0 })).gate, null);
    }
  });

  t.test(
    'limits: to one number in a day, in a minute, of money; a call that is refused counts for nothing',
    async (t) => {
      const { store, clock, org, other, place } = await open(t);
      await store.setOutboundRules(
        org,
        { set: { calls_per_destination_per_day: 2, calls_per_minute: 3 }, unset: [] },
        ada,
      );
      for (const count of [0, 1]) {
        t.match(succeeded(await place(org)).gate, {
          calls_to_destination: count,
          calls_in_minute: count,
        });
        clock.tick(10_000);
      }
      t.match(await place(org), {
        refusal: {
          code: 'too_many_to_destination',
          evidence: { calls: 2, limit: 2 },
          retry_after_seconds: 86_400 - 20,
        },
      });
      succeeded(await place(org, { to: '+14155550124' }));
      t.match(await place(org, { to: '+14155550125' }), {
        refusal: { code: 'calls_per_minute', evidence: { calls: 3 } },
      });
      succeeded(await place(other, { to: '+14155550125' }));
      clock.tick(62_000);
      succeeded(await place(org, { to: '+14155550125' }));
      clock.tick(86_400_000 - 82_000);
      t.match(await place(org), { gate: { calls_to_destination: 1 } }, 'the first is a day ago');
      t.match(await place(org), { refusal: { code: 'too_many_to_destination' } });

      await store.setOutboundRules(
        org,
        { set: { calls_per_destination_per_day: null, spend_per_day_milli_cents: 500 }, unset: [] },
        ada,
      );
      clock.tick(100_000);
      const dear = succeeded(await place(org));
      t.equal(dear.gate?.spent_milli_cents, 0);
      succeeded(
        await store.saveCall(dear.id, { from: ['queued'], change: { billing_amount_milli_cents: 500 } }),
      );
      t.match(await place(org), {
        refusal: { code: 'daily_spend_reached', evidence: { spent_milli_cents: 500 } },
      });
      clock.tick(26 * 3_600_000);
      t.match(await place(org), { gate: { spent_milli_cents: 0 } });
    },
  );

  t.test('200 asks at once with room for seven: exactly seven', async (t) => {
    const { store, org, place } = await open(t);
    await store.setOutboundRules(org, { set: { calls_per_minute: 7 }, unset: [] }, ada);
    const asked = await Promise.all(
      Array.from({ length: 200 }, (_, i) => place(org, { to: `+1415555${String(1000 + i)}` })),
    );
    t.equal(asked.filter((one) => !('conflict' in one)).length, 7);
    t.equal(asked.filter((one) => 'conflict' in one && one.refusal?.code === 'calls_per_minute').length, 193);
    await store.setOutboundRules(
      org,
      { set: { calls_per_minute: null, calls_per_destination_per_day: 3 }, unset: [] },
      ada,
    );
    const same = await Promise.all(Array.from({ length: 200 }, () => place(org, { to: '+14155559999' })));
    t.equal(same.filter((one) => !('conflict' in one)).length, 3);
  });

  t.test('consents: an agent that needs one calls nobody without', async (t) => {
    const { store, clock, org, other, place } = await open(t);
    const agent = succeeded(await store.createAgent(makeAgent(org, { consent: 'required' }), []));
    const call = () =>
      store.createCall(makeCall(org, { agent_id: agent.id, to_number: '+14155550123' }), {
        events: [],
        reserve: 0,
      });
    t.match(await call(), { refusal: { code: 'consent_missing', evidence: { asked_by: 'agent' } } });
    succeeded(await place(org));
    const [consent] = await store.addConsents(org, [
      {
        number: '+14155550123',
        purpose: 'reminders',
        source: 'form',
        given_at: at(0),
        evidence: { form: 7 },
        created_by: ada,
      },
    ]);
    t.match(consent, {
      number: '+14155550123',
      last4: '0123',
      purpose: 'reminders',
      evidence: { form: 7 },
      revoked_at: null,
    });
    t.equal(succeeded(await call()).gate?.consent_id, consent?.id);
    const id = consent?.id ?? '';
    t.strictSame(await store.getConsent(org, id), consent);
    t.equal(await store.getConsent(other, id), null);
    t.strictSame(await store.listConsents(org, { number: '+14155550123' }, { limit: 9 }), [consent]);
    t.strictSame(await store.listConsents(org, { number: '+14155550124' }, { limit: 9 }), []);
    t.strictSame(await store.listConsents(org, {}, { limit: 9 }), [consent]);
    clock.tick(50);
    t.equal(await store.revokeConsent(other, id), null);
    t.match(await store.revokeConsent(org, id), { revoked_at: at(50) });
    clock.tick(50);
    t.match(await store.revokeConsent(org, id), { revoked_at: at(50) }, 'once');
    t.match(await call(), { refusal: { code: 'consent_missing' } });
    await store.setOutboundRules(org, { set: { consent: 'required' }, unset: [] }, ada);
    t.match(await place(org), {
      refusal: { code: 'consent_missing', evidence: { asked_by: 'rules' } },
    });
  });

  t.test('the gate is asked without a call', async (t) => {
    const { store, org } = await open(t);
    await store.setOutboundRules(
      org,
      { set: { closed_prefixes: ['+1415'], calls_per_minute: 0 }, unset: [] },
      ada,
    );
    const ask = { to: '+14155550123', from: '+14155550199' };
    const { number, refusals, local_times } = await store.decideOutbound(org, ask);
    t.match(number, { country: 'US', kind: 'fixed_line_or_mobile' });
    t.strictSame(
      refusals.map(({ code }) => code),
      ['destination_closed', 'calls_per_minute'],
    );
    t.strictSame(local_times, [{ zone: 'America/Los_Angeles', time: '2026-03-01T04:00' }]);
    const only = await store.decideOutbound(org, { ...ask, only: 'destination' });
    t.strictSame(
      only.refusals.map(({ code }) => code),
      ['destination_closed'],
    );
    t.match(
      (await store.decideOutbound(org, { to: '+14155550123' })).refusals,
      [{ code: 'destination_closed' }, { code: 'destination_not_allowed' }, {}],
      'without numbers it calls nowhere',
    );
    await store.insertNumber(makeNumber(org));
    t.strictSame((await store.decideOutbound(org, { to: '+12125550123', only: 'destination' })).refusals, []);
    t.strictSame(await store.listRefusedCalls(org, {}, { limit: 9 }), [], 'nothing is written');
  });
}
