// Conformance: organizations, keys, numbers, agents, idempotency keys.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { AgentView } from '../../storage/records.ts';
import {
  addOrganization,
  at,
  makeAgent,
  makeCall,
  makeKey,
  makeNumber,
  makeOrganization,
  type OpenEmpty,
  START,
  stoppedClock,
  succeeded,
} from './makers.ts';

export function accountConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock };
  }

  t.test('organizations and keys', async (t) => {
    const { store } = await open(t);
    t.equal(await store.firstOrganization(), null, 'an empty store has no organization');
    const first = makeOrganization({ balance_milli_cents: 5000 });
    const key = makeKey(first.id);
    await store.createOrganization(first, key);
    const second = await addOrganization(store, { created_at: at(1) });
    t.strictSame(await store.firstOrganization(), first, 'the oldest is the first, as it was given');
    t.strictSame(await store.getOrganization(first.id), first);
    t.equal(await store.getOrganization(uuid()), null);

    t.strictSame(await store.findKey(key.hash), key);
    t.equal(await store.findKey('0'.repeat(64)), null, 'an unknown hash finds nothing');
    const later = makeKey(first.id, { created_at: at(5), name: 'ci' });
    await store.insertKey(later);
    t.strictSame(await store.listKeys(first.id), [later, key], 'newest first');
    t.equal((await store.listKeys(second)).length, 1, "another organization's keys stay its own");

    await store.touchKey(key.id, at(1000));
    t.equal((await store.findKey(key.hash))?.last_used_at, at(1000));
    await store.touchKey(key.id, at(61_000));
    t.equal((await store.findKey(key.hash))?.last_used_at, at(61_000));

    t.equal(await store.revokeKey(second, key.id, at(2000)), false, 'another organization cannot revoke it');
    t.equal(await store.revokeKey(first.id, key.id, at(2000)), true);
    t.equal(await store.findKey(key.hash), null, 'a revoked key is not found');
    t.equal(await store.revokeKey(first.id, key.id, at(3000)), false, 'once');
    t.equal((await store.listKeys(first.id))[1]?.revoked_at, at(2000), 'it stays listed');
    await t.rejects(store.insertKey(makeKey(first.id, { hash: later.hash })), 'a hash belongs to one key');
  });

  t.test('an organization and its key are created together or not at all', async (t) => {
    const { store } = await open(t);
    const key = makeKey(await addOrganization(store));
    await store.insertKey(key);
    const organization = makeOrganization({ created_at: at(-1000) });
    await t.rejects(store.createOrganization(organization, makeKey(organization.id, { hash: key.hash })));
    t.equal(await store.getOrganization(organization.id), null);
  });

  t.test('balance', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 700 });
    const balance = async () => (await store.getOrganization(org))?.balance_milli_cents;
    const sum = async () =>
      (await store.listLedger(org)).reduce((all, row) => all + row.amount_milli_cents, 0);
    t.equal(await balance(), 700);
    t.equal(await sum(), 700, 'the first balance is a credit');
    await store.setBalance(org, 250);
    t.equal(await balance(), 250);
    t.equal(await sum(), 250);
    await store.setBalance(org, null);
    t.equal(await balance(), null, 'null is unlimited');
    await store.setBalance(org, 0);
    t.equal(await balance(), 0);
    t.equal(await sum(), 0);
    t.strictSame(await store.addCredit(org, 70), { balanceMilliCents: 70 });
    t.strictSame(await store.addCredit(org, -20), { balanceMilliCents: 50 });
    t.strictSame(await store.addCredit(org, -51), { conflict: 'insufficient_credit' });
    await t.rejects(store.addCredit(org, 0.5), 'nor a fraction');
    await store.createCall(makeCall(org), { events: [], reserve: 30 });
    t.strictSame(await store.getCredit(org), { balanceMilliCents: 20, heldMilliCents: 30 });
    t.equal(await store.getCredit(uuid()), null);
    await store.setBalance(org, null);
    t.strictSame(await store.getCredit(org), { balanceMilliCents: null, heldMilliCents: 30 });
    t.strictSame(await store.addCredit(org, 1), { conflict: 'unlimited' });
    await t.rejects(store.setBalance(org, -1), 'a balance is never negative');
    await t.rejects(store.setBalance(org, 0.5), 'nor a fraction');
    t.equal(await balance(), null, 'what is refused changes nothing');
  });

  t.test('a balance that is set after calls without limit is the sum of all that was booked', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store, { balance_milli_cents: 5 });
    const sum = async (of: string) =>
      (await store.listLedger(of)).reduce((all, row) => all + row.amount_milli_cents, 0);
    for (const reserve of [30, 50, 0]) {
      const call = makeCall(org, { status: 'in_progress', billing_amount_milli_cents: 70 });
      await store.createCall(call, { events: [], reserve });
      await store.saveCall(call.id, {
        from: ['in_progress'],
        change: { status: 'completed' },
        ledger: [{ kind: 'settle', amountMilliCents: 0 }],
      });
    }
    t.equal(await sum(org), -210);
    for (const target of [1_000, 0, 400]) {
      await store.setBalance(org, target);
      t.same([(await store.getCredit(org))?.balanceMilliCents, await sum(org)], [target, target]);
      await store.setBalance(org, null);
    }
    t.same([(await store.getCredit(other))?.balanceMilliCents, await sum(other)], [5, 5]);
  });

  t.test('numbers', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const old = makeNumber(org, { purchased_at: at(-5000) });
    const young = makeNumber(org);
    t.equal(await store.oldestActiveNumber(org), null);
    const view = { inbound_agent_id: null, outbound_agent_ids: [] };
    t.strictSame(await store.insertNumber(young), { ...young, ...view });
    await store.insertNumber(old);
    t.strictSame(await store.getNumber(org, old.id), { ...old, ...view });
    t.equal(await store.getNumber(other, old.id), null, 'organization scope');
    t.strictSame(
      (await store.listNumbers(org, { limit: 10 })).map((n) => n.id),
      [young.id, old.id],
    );
    t.strictSame(await store.listNumbers(other, { limit: 10 }), []);
    t.equal((await store.oldestActiveNumber(org))?.id, old.id, 'the oldest by purchase');
    t.equal((await store.findActiveNumber(young.e164))?.id, young.id, 'found without an organization');

    const twin = makeNumber(other, { e164: young.e164 });
    t.strictSame(await store.insertNumber(twin), { conflict: 'number_exists' });
    t.equal(await store.releaseNumber(other, young.id), null, 'organization scope');
    t.equal(succeeded(await store.releaseNumber(org, young.id)).status, 'released');
    t.equal(succeeded(await store.releaseNumber(org, young.id)).status, 'released', 'twice is once');
    t.equal(await store.findActiveNumber(young.e164), null, 'a released number is not active');
    succeeded(await store.insertNumber(twin));
    t.equal((await store.findActiveNumber(young.e164))?.org_id, other, 'it may be bought again');
  });

  t.test('agents: what is stored comes back', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const agent = makeAgent(org, {
      tools: [
        {
          type: 'http',
          name: 'lookup',
          description: 'Finds a slot',
          parameters: { type: 'object', properties: { day: { type: 'string' } } },
          url: 'https://tools.example.com/lookup',
          method: 'POST',
          headers: { authorization: 'Bearer x' },
        },
        { type: 'transfer_call', targets: [{ name: 'desk', number: '+14155550123' }] },
      ],
    });
    t.strictSame(await store.createAgent(agent, []), { ...agent, numbers: [] });
    t.strictSame(await store.getAgent(org, agent.id), { ...agent, numbers: [] });
    t.equal(await store.getAgent(other, agent.id), null, 'organization scope');

    const changed = await store.updateAgent(org, agent.id, {
      name: 'Second',
      persona: 'Polite.',
      tools: null,
      returns: { a: 'string[]' },
      patience: 'long',
      eagerness: 'eager',
      interruption: 'hard',
      summarize: true,
      mask: ['card'],
      updated_at: at(9),
    });
    const expected = {
      ...agent,
      name: 'Second',
      persona: 'Polite.',
      tools: null,
      returns: { a: 'string[]' },
      patience: 'long',
      eagerness: 'eager',
      interruption: 'hard',
      summarize: true,
      mask: ['card'],
      updated_at: at(9),
      numbers: [],
    };
    t.strictSame(changed, expected);
    t.equal(await store.updateAgent(other, agent.id, { name: 'Theirs' }), null, 'organization scope');
    await store.updateAgent(org, agent.id, { type: 'inbound', org_id: other, id: uuid(), created_at: at(1) });
    const after = await store.getAgent(org, agent.id);
    t.equal(after?.type, 'outbound', 'the type never changes');
    t.equal(after?.created_at, START);
  });

  t.test('agents: numbers and the primary one', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const numbers = [makeNumber(org), makeNumber(org), makeNumber(org)];
    for (const number of numbers) await store.insertNumber(number);
    const [a, b, c] = numbers.map((number) => number.id) as [string, string, string];
    const foreign = makeNumber(other);
    await store.insertNumber(foreign);
    const ids = (view: { numbers: { id: string }[] }) => view.numbers.map((number) => number.id);

    const agent = succeeded(await store.createAgent(makeAgent(org), [b, a, b]));
    t.strictSame(ids(agent), [b, a], 'a number given twice is attached once');
    t.equal(agent.primary_number_id, b, 'the first one given is primary');
    const chosen = succeeded(await store.createAgent(makeAgent(org, { primary_number_id: a }), [b, a]));
    t.equal(chosen.primary_number_id, a);
    t.strictSame(
      chosen.numbers[0]?.outbound_agent_ids,
      [agent.id, chosen.id],
      'it serves several outbound agents',
    );

    const failed = makeAgent(org, { primary_number_id: c });
    t.strictSame(await store.createAgent(failed, [a]), { conflict: 'primary_number_not_attached' });
    t.equal(await store.getAgent(org, failed.id), null, 'nothing is left of it');
    const foreigner = makeAgent(org);
    t.strictSame(await store.createAgent(foreigner, [a, foreign.id]), { conflict: 'number_not_found' });
    t.equal(await store.getAgent(org, foreigner.id), null, 'nothing is left of it');
    t.strictSame(
      await store.attachNumber(org, agent.id, foreign.id, { primary: false, at: at(1) }),
      { conflict: 'number_not_found' },
      "another organization's number",
    );
    t.equal(await store.attachNumber(other, agent.id, foreign.id, { primary: false, at: at(1) }), null);

    const more = succeeded(await store.attachNumber(org, agent.id, c, { primary: false, at: at(2) }));
    t.strictSame(ids(more), [b, a, c], 'oldest attachment first');
    t.equal(more.primary_number_id, b);
    t.equal(more.updated_at, at(2));
    const again = succeeded(await store.attachNumber(org, agent.id, c, { primary: true, at: at(3) }));
    t.strictSame(ids(again), [b, a, c], 'attaching twice is once');
    t.equal(again.primary_number_id, c, 'primary when asked');

    t.strictSame(await store.releaseNumber(org, c), { conflict: 'number_attached' });
    t.equal(await store.detachNumber(other, agent.id, c, at(4)), null, 'organization scope');
    t.equal(succeeded(await store.detachNumber(org, agent.id, a, at(4))).primary_number_id, c);
    t.equal(
      succeeded(await store.detachNumber(org, agent.id, c, at(5))).primary_number_id,
      b,
      'the oldest left becomes primary',
    );
    t.equal(await store.detachNumber(org, agent.id, c, at(5)), null, 'not attached any more');
    t.strictSame(await store.setPrimaryNumber(org, agent.id, c, at(6)), {
      conflict: 'primary_number_not_attached',
    });
    t.equal(await store.setPrimaryNumber(other, agent.id, b, at(6)), null, 'organization scope');
    const empty = succeeded(await store.detachNumber(org, agent.id, b, at(7)));
    t.equal(empty.primary_number_id, null);
    const first = succeeded(await store.attachNumber(org, agent.id, a, { primary: false, at: at(8) }));
    t.equal(first.primary_number_id, a, 'the first number attached becomes primary');

    const released = makeNumber(org, { status: 'released' });
    await store.insertNumber(released);
    t.strictSame(await store.attachNumber(org, agent.id, released.id, { primary: false, at: at(9) }), {
      conflict: 'number_not_found',
    });
  });

  t.test('at most one inbound agent a number', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const number = makeNumber(org);
    await store.insertNumber(number);
    const inbound = succeeded(await store.createAgent(makeAgent(org, { type: 'inbound' }), [number.id]));
    const outbound = succeeded(await store.createAgent(makeAgent(org), [number.id]));
    t.equal(outbound.numbers[0]?.inbound_agent_id, inbound.id, 'beside outbound ones');
    const late = makeAgent(org, { type: 'inbound' });
    t.strictSame(await store.createAgent(late, [number.id]), { conflict: 'number_taken' });
    t.equal(await store.getAgent(org, late.id), null);
    succeeded(await store.createAgent(late, []));
    t.strictSame(await store.attachNumber(org, late.id, number.id, { primary: true, at: at(1) }), {
      conflict: 'number_taken',
    });
    t.equal((await store.getAgent(org, late.id))?.primary_number_id, null, 'nothing of it is left');
    await store.archiveAgent(org, inbound.id, at(2));
    succeeded(await store.attachNumber(org, late.id, number.id, { primary: true, at: at(3) }));
    t.equal(
      (await store.getNumber(org, number.id))?.inbound_agent_id,
      late.id,
      'free once that one is archived',
    );
  });

  t.test('100 inbound agents ask for one number at once: one gets it', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const number = makeNumber(org);
    await store.insertNumber(number);
    const agents = Array.from({ length: 100 }, () => makeAgent(org, { type: 'inbound' }));
    await Promise.all(agents.map((agent) => store.createAgent(agent, [])));
    const answers = await Promise.all(
      agents.map((agent) => store.attachNumber(org, agent.id, number.id, { primary: false, at: at(1) })),
    );
    const winners = answers.filter((answer) => answer !== null && !('conflict' in answer));
    t.equal(winners.length, 1);
    t.equal(answers.filter((a) => a !== null && 'conflict' in a && a.conflict === 'number_taken').length, 99);
    t.equal((await store.getNumber(org, number.id))?.inbound_agent_id, succeeded(winners[0])?.id);
  });

  t.test('archiving an agent', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const number = makeNumber(org);
    await store.insertNumber(number);
    const agent = succeeded(await store.createAgent(makeAgent(org), [number.id]));
    t.equal(await store.archiveAgent(other, agent.id, at(1)), null, 'organization scope');
    const archived = await store.archiveAgent(org, agent.id, at(1));
    t.equal(archived?.archived_at, at(1));
    t.strictSame(archived?.numbers, [], 'its numbers are detached');
    t.equal(archived?.primary_number_id, null);
    t.equal((await store.archiveAgent(org, agent.id, at(2)))?.archived_at, at(1), 'twice is once');
    t.equal((await store.getAgent(org, agent.id))?.id, agent.id, 'it stays readable');
    t.strictSame(await store.listAgents(org, {}, { limit: 10 }), [], 'and is left out of the list');
    t.equal((await store.listAgents(org, { includeArchived: true }, { limit: 10 })).length, 1);
    t.strictSame(await store.attachNumber(org, agent.id, number.id, { primary: true, at: at(3) }), {
      conflict: 'agent_archived',
    });
    t.equal(succeeded(await store.releaseNumber(org, number.id)).status, 'released');
  });

  t.test('lists: filters, and pages that stay put while rows are added', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    // All in one millisecond: the order of insertion decides.
    const agents: AgentView[] = [];
    for (let i = 0; i < 7; i++) {
      agents.push(
        succeeded(await store.createAgent(makeAgent(org, { type: i % 2 ? 'inbound' : 'outbound' }), [])),
      );
    }
    const foreign = succeeded(await store.createAgent(makeAgent(other), []));
    const newestFirst = agents.map((agent) => agent.id).reverse();
    const seen: string[] = [];
    let startingAfter: string | undefined;
    for (;;) {
      const page = await store.listAgents(org, {}, { limit: 3, startingAfter });
      if (page.length === 0) break;
      seen.push(...page.map((agent) => agent.id));
      startingAfter = page.at(-1)?.id;
      await store.createAgent(makeAgent(org, { created_at: at(10) }), []);
    }
    t.strictSame(seen, newestFirst, 'each once, newest first');
    const inbound = await store.listAgents(org, { type: 'inbound' }, { limit: 10 });
    t.strictSame(
      inbound.map((agent) => agent.id),
      newestFirst.filter((id) => agents.some((agent) => agent.id === id && agent.type === 'inbound')),
    );
    t.strictSame(await store.listAgents(org, {}, { limit: 3, startingAfter: uuid() }), []);
    t.strictSame(
      await store.listAgents(org, {}, { limit: 3, startingAfter: foreign.id }),
      [],
      "another organization's id is an unknown one",
    );
  });

  t.test('idempotency keys', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const minute = 60_000;
    const day = 24 * 60 * minute;
    t.strictSame(await store.beginIdempotent(org, 'k', 'h1', at(0)), { state: 'new' });
    t.strictSame(await store.beginIdempotent(org, 'k', 'h1', at(1)), { state: 'in_progress' });
    t.strictSame(await store.beginIdempotent(org, 'k', 'h2', at(1)), { state: 'reused' });
    t.strictSame(
      await store.beginIdempotent(other, 'k', 'h2', at(1)),
      { state: 'new' },
      'a key is its owner’s',
    );
    await store.finishIdempotent(org, 'k', 201, '{"id":"é"}');
    const done = { state: 'done' as const, status: 201, body: '{"id":"é"}' };
    t.strictSame(await store.beginIdempotent(org, 'k', 'h1', at(day - 1)), done);
    t.strictSame(await store.beginIdempotent(org, 'k', 'h2', at(day - 1)), { state: 'reused' });
    t.strictSame(
      await store.beginIdempotent(org, 'k', 'h2', at(day)),
      { state: 'new' },
      'forgotten after a day',
    );

    await store.dropIdempotent(org, 'k');
    t.strictSame(
      await store.beginIdempotent(org, 'k', 'h3', at(day)),
      { state: 'new' },
      'dropped: free again',
    );
    t.strictSame(await store.beginIdempotent(org, 'k', 'h3', at(day + 2 * minute - 1)), {
      state: 'in_progress',
    });
    t.strictSame(
      await store.beginIdempotent(org, 'k', 'h3', at(day + 2 * minute)),
      { state: 'new' },
      'abandoned for two minutes: taken over',
    );
    t.strictSame(
      await store.beginIdempotent(org, 'k', 'h3', at(day + 3 * minute)),
      { state: 'in_progress' },
      'once',
    );
    await store.beginIdempotent(other, 'k', 'h2', at(day + 3 * minute));
    await store.finishIdempotent(other, 'k', 201, '{"id":"é"}');
    t.strictSame(await store.beginIdempotent(other, 'k', 'h2', at(day + 3 * minute)), done, 'answers stay');
  });

  t.test('100 requests with one idempotency key at once: one goes on', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => store.beginIdempotent(org, 'k', 'h', at(0))),
    );
    t.equal(answers.filter((answer) => answer.state === 'new').length, 1);
    t.equal(answers.filter((answer) => answer.state === 'in_progress').length, 99);
  });
}
