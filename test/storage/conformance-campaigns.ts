// Conformance: campaigns, their contacts, who runs them, and attempts, which begin and end with their calls.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { CampaignRecord } from '../../storage/campaign-records.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import {
  addOrganization,
  at,
  makeCall,
  makeCampaign,
  makeContact,
  type OpenEmpty,
  START,
  stoppedClock,
  succeeded,
} from './makers.ts';

const MINUTE = 60_000;

export function campaignConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock, org: await addOrganization(store) };
  }

  /** One that runs here, with as many contacts. */
  async function running(store: Store, org: string, contacts = 1, fields: Partial<CampaignRecord> = {}) {
    const campaign = await store.createCampaign(makeCampaign(org, fields));
    const all = Array.from({ length: contacts }, (_, index) =>
      makeContact(campaign, { to_number: `+1415555${String(1000 + index)}` }),
    );
    succeeded(await store.addContacts(org, campaign.id, all));
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
    await store.takeCampaigns();
    return { campaign, contacts: all };
  }

  const attemptAt = (contact: { id: string; campaign_id: string; org_id: string }, attempt: number) =>
    makeCall(contact.org_id, { campaign_id: contact.campaign_id, contact_id: contact.id, attempt });
  const create = (store: Store, call: CallRecord) =>
    store.createCall(call, { events: ['call.queued'], reserve: 0 });
  const end = async (store: Store, call: CallRecord, change: Partial<CallRecord>) =>
    succeeded(await store.saveCall(call.id, { from: ['queued'], change }));
  const counts = async (store: Store, id: string) =>
    Object.fromEntries(
      (await store.campaignTallies(id)).map(({ kind, hour, value, count }) => [
        [kind, hour, value].filter(Boolean).join(' '),
        count,
      ]),
    );

  t.test('campaigns: what is stored comes back to its own organization, newest first', async (t) => {
    const { store, org } = await open(t);
    const other = await addOrganization(store);
    const first = makeCampaign(org, { windows: [{ days: ['mon'], from: '09:00', to: '12:00' }] });
    const second = makeCampaign(org, { name: 'Second' });
    for (const one of [first, second]) t.strictSame(await store.createCampaign(one), one);
    t.strictSame(await store.getCampaign(org, first.id), first);
    t.equal(await store.getCampaign(other, first.id), null, 'organization scope');
    const ids = async (filters: Parameters<Store['listCampaigns']>[1], startingAfter?: string) =>
      (await store.listCampaigns(org, filters, { limit: 10, startingAfter })).map(({ id }) => id);
    t.same(await ids({}), [second.id, first.id]);
    t.same(await ids({}, second.id), [first.id]);
    t.same(await ids({ status: 'running' }), []);
    t.match(await store.updateCampaign(org, first.id, { name: 'Renamed' }), { name: 'Renamed' });
    t.equal(await store.updateCampaign(other, first.id, { name: 'No' }), null);
    t.same(await store.updateCampaign(org, first.id, { name: 'No' }, ['running']), { conflict: 'status' });
    t.same(await store.updateCampaign(org, first.id, { status: 'running' }), { conflict: 'no_contacts' });
    t.equal(await store.deleteCampaign(other, first.id), null);
    t.equal(await store.deleteCampaign(org, first.id), true);
    t.equal(await store.getCampaign(org, first.id), null);
  });

  t.test('contacts: each number once, listed by how they stand, with the result of their call', async (t) => {
    const { store, org } = await open(t);
    const campaign = await store.createCampaign(makeCampaign(org));
    const [one, two, again] = ['+14155551001', '+14155551002', '+14155551001'].map((to_number) =>
      makeContact(campaign, { to_number, context: { name: 'Zoë' } }),
    ) as [ReturnType<typeof makeContact>, ReturnType<typeof makeContact>, ReturnType<typeof makeContact>];
    t.same(await store.addContacts(org, campaign.id, [one, two, again]), { added: [one.id, two.id] });
    t.same(await store.addContacts(org, campaign.id, [again]), { added: [] });
    t.equal(await store.addContacts(org, uuid(), []), null);
    t.equal(await store.addContacts(await addOrganization(store), campaign.id, [one]), null);
    const list = async (filters: Parameters<Store['listContacts']>[2]) =>
      (await store.listContacts(org, campaign.id, filters, { limit: 10 })).map(({ id }) => id);
    t.same(await list({}), [two.id, one.id]);
    t.same(await list({ search: '51001' }), [one.id]);
    t.same(await list({ status: 'done' }), []);
    await store.refuseContact(one.id, 'do_not_call');
    t.same(await list({ outcome: 'refused:do_not_call', status: 'refused' }), [one.id]);
    await store.refuseContact(one.id, 'other');
    t.strictSame(
      await store.getContact(org, campaign.id, two.id),
      { ...two, result: null, result_status: null },
      'as it was given',
    );
    t.equal(await store.getContact(org, uuid(), two.id), null);
    const order = async (after: string | null) =>
      (await store.contactsInOrder(org, campaign.id, after, 5)).map(({ id }) => id);
    t.same(await order(null), [one.id, two.id]);
    t.same(await order(one.id), [two.id]);
    t.same(await order(uuid()), []);
    t.same(await counts(store, campaign.id), {
      'status refused': 1,
      'status waiting': 1,
      'outcome refused:do_not_call': 1,
    });
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
    t.same(await store.deleteCampaign(org, campaign.id), { conflict: 'status' });
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'stopped' }));
    t.same(await store.addContacts(org, campaign.id, []), { conflict: 'status' });
  });

  t.test('an attempt is its call: begun with it, once, and ended with it', async (t) => {
    const { store, clock, org } = await open(t);
    const { campaign, contacts } = await running(store, org);
    const [contact] = contacts as [ReturnType<typeof makeContact>];
    const first = attemptAt(contact, 1);
    succeeded(await create(store, first));
    t.same(await create(store, attemptAt(contact, 1)), { conflict: 'attempt_taken' });
    t.same(await create(store, attemptAt(contact, 2)), { conflict: 'attempt_taken' }, 'while it is called');
    t.match(await store.getContact(org, campaign.id, contact.id), {
      status: 'calling',
      attempts: 1,
      last_call_id: first.id,
    });
    clock.tick(1_000);
    await end(store, first, { status: 'busy' });
    t.match(await store.getContact(org, campaign.id, contact.id), {
      status: 'waiting',
      outcome: null,
      tries: { busy: 1 },
      due_at: at(1_000 + 15 * MINUTE),
      due_reason: 'retry',
    });
    t.same(await store.dueContacts(campaign.id, clock.iso(), 10), {
      contacts: [],
      nextDueAt: at(1_000 + 15 * MINUTE),
    });
    clock.tick(15 * MINUTE);
    t.match((await store.dueContacts(campaign.id, clock.iso(), 10)).contacts, [{ id: contact.id }]);
    t.same(await create(store, attemptAt(contact, 1)), { conflict: 'attempt_taken' });
    const second = attemptAt(contact, 2);
    succeeded(await create(store, second));
    await end(store, second, {
      status: 'completed',
      answered_at: START,
      result: { confirmed: true },
      result_status: 'completed',
    });
    t.match(await store.getContact(org, campaign.id, contact.id), {
      status: 'done',
      outcome: 'answered',
      attempts: 2,
      result: { confirmed: true },
      result_status: 'completed',
    });
    t.match(await store.listAttempts(contact.id), [
      { attempt: 1, call_id: first.id, outcome: 'busy', ended_at: at(1_000) },
      { attempt: 2, call_id: second.id, outcome: 'answered' },
    ]);
    t.same(await counts(store, campaign.id), {
      'attempt 2026-03-01T12 answered': 1,
      'attempt 2026-03-01T12 busy': 1,
      'outcome answered': 1,
      'status done': 1,
    });
    t.equal(await store.settleAttempts(campaign.id), 0, 'nothing is left to settle');
  });

  t.test('a call of a campaign is refused where nobody may begin it', async (t) => {
    const { store, clock, org } = await open(t);
    const { campaign, contacts } = await running(store, org, 3, { max_concurrent: 2 });
    const [one, two, three] = contacts as [
      ReturnType<typeof makeContact>,
      ReturnType<typeof makeContact>,
      ReturnType<typeof makeContact>,
    ];
    succeeded(await create(store, attemptAt(one, 1)));
    t.same(await create(store, attemptAt(two, 1)), { conflict: 'campaign_pace' }, 'a second is one a second');
    clock.tick(999);
    t.same(await create(store, attemptAt(two, 1)), { conflict: 'campaign_pace' });
    clock.tick(1);
    const live = attemptAt(two, 1);
    succeeded(await create(store, live));
    clock.tick(1_000);
    t.same(await create(store, attemptAt(three, 1)), { conflict: 'campaign_full' });
    await end(store, live, { status: 'failed' });
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'paused' }));
    t.same(await create(store, attemptAt(three, 1)), { conflict: 'campaign_not_running' });
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
    t.same(await create(store, attemptAt(three, 1)), { conflict: 'campaign_not_owner' }, 'nobody runs it');
    await store.takeCampaigns();
    t.same(await create(store, attemptAt({ ...three, campaign_id: uuid() }, 1)), {
      conflict: 'campaign_not_running',
    });
    succeeded(await create(store, attemptAt(three, 1)));
    t.same((await store.listCalls(org, {}, { limit: 10 })).length, 3, 'what was refused left no row');
  });

  t.test('who runs it: taken, left, held, completed', async (t) => {
    const { store, clock, org } = await open(t);
    const { campaign, contacts } = await running(store, org);
    const [contact] = contacts as [ReturnType<typeof makeContact>];
    t.match(await store.ownCampaigns(), [{ id: campaign.id }]);
    await store.leaveCampaigns();
    t.same(await store.ownCampaigns(), []);
    await store.takeCampaigns();
    t.match(await store.ownCampaigns(), [{ id: campaign.id, held_code: null }]);
    await store.holdCampaign(campaign.id, { code: 'at_capacity', until: at(5_000) });
    t.match(await store.ownCampaigns(), [{ held_code: 'at_capacity', held_until: at(5_000) }]);
    await store.holdCampaign(campaign.id, null);
    t.match(await store.ownCampaigns(), [{ held_code: null, held_until: null }]);
    t.same(await store.completeCampaign(campaign.id), { conflict: 'unfinished' });
    await store.postponeContacts([{ id: contact.id, dueAt: at(MINUTE), reason: 'window' }]);
    t.same(await store.dueContacts(campaign.id, clock.iso(), 10), { contacts: [], nextDueAt: at(MINUTE) });
    succeeded(await store.updateCampaign(org, campaign.id, { windows: [] }));
    t.match(
      (await store.dueContacts(campaign.id, clock.iso(), 10)).contacts,
      [{ id: contact.id, due_at: '', due_reason: 'new' }],
      'hours that were changed are looked at again',
    );
    await store.refuseContact(contact.id, 'destination_closed');
    t.match(await store.completeCampaign(campaign.id), { status: 'completed', at_work: false });
    t.same(await store.completeCampaign(campaign.id), { conflict: 'status' });
    t.same(await store.ownCampaigns(), []);
    t.match(await store.getCampaign(org, campaign.id), { status: 'completed', ended_at: START });
  });

  t.test('a campaign that is stopped skips who waits, and is at work until nobody does', async (t) => {
    const { store, clock, org } = await open(t);
    const { campaign, contacts } = await running(store, org, 4);
    const live = attemptAt(contacts[0] as ReturnType<typeof makeContact>, 1);
    succeeded(await create(store, live));
    clock.tick(1_000);
    succeeded(await store.updateCampaign(org, campaign.id, { status: 'stopped' }));
    t.match(await store.ownCampaigns(), [{ status: 'stopped', at_work: true }]);
    t.same(await store.skipContacts(campaign.id, 2), { left: true });
    t.same(await store.skipContacts(campaign.id, 2), { left: false });
    t.same(await store.ownCampaigns(), []);
    await end(store, live, { status: 'busy' });
    t.same(
      await counts(store, campaign.id),
      {
        'attempt 2026-03-01T12 busy': 1,
        'outcome busy': 1,
        'outcome skipped': 3,
        'status done': 1,
        'status skipped': 3,
      },
      'nobody is called again',
    );
  });

  t.test('who is first: by priority, then by when he is due', async (t) => {
    const { store, clock, org } = await open(t);
    const campaign = await store.createCampaign(makeCampaign(org));
    const [low, late, high, higher] = [0, 0, 5, 9].map((priority, index) =>
      makeContact(campaign, { priority, to_number: `+1415555200${index}` }),
    ) as ReturnType<typeof makeContact>[];
    const all = [low, late, high, higher].flatMap((one) => one ?? []);
    succeeded(await store.addContacts(org, campaign.id, all));
    await store.postponeContacts([
      { id: late?.id ?? '', dueAt: at(-5), reason: 'gate' },
      { id: higher?.id ?? '', dueAt: at(5), reason: 'gate' },
    ]);
    const due = await store.dueContacts(campaign.id, clock.iso(), 10);
    t.same(
      due.contacts.map(({ id }) => id),
      [high?.id, low?.id, late?.id],
    );
    t.equal(due.nextDueAt, at(5));
    t.same(
      (await store.dueContacts(campaign.id, clock.iso(), 1)).contacts.map(({ id }) => id),
      [high?.id],
    );
  });
}
