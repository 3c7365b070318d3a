// What every store must do about what is kept: legal holds, erasures with their receipts, retention.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { ErasureRecord, HoldRecord, KeptDays } from '../../storage/kept-records.ts';
import type { InvitationRecord } from '../../storage/people-records.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import {
  addOrganization,
  at,
  makeAgent,
  makeCall,
  makeCampaign,
  makeContact,
  makeItem,
  makeNumber,
  makeTurn,
  type OpenEmpty,
  START,
  stoppedClock,
  succeeded,
} from './makers.ts';

const BY = { kind: 'key', id: 'k', name: 'Back office' } as const;
const PERSON = '+14155550100';
const DAY = 24 * 3_600_000;
const FIRST = { limit: 50 };

const anErasure = (org_id: string, fields: Partial<ErasureRecord>): ErasureRecord => ({
  id: uuid(),
  org_id,
  subject: 'call',
  call_id: null,
  number: null,
  number_hash: null,
  reason: 'asked for',
  state: 'running',
  requested_by: BY,
  counts: {},
  backups: [],
  created_at: START,
  done_at: null,
  rewritten_at: null,
  ...fields,
});

const aHold = (org_id: string, fields: Partial<HoldRecord>): HoldRecord => ({
  id: uuid(),
  org_id,
  subject: 'call',
  call_id: null,
  number: null,
  reason: 'a case',
  created_by: BY,
  created_at: START,
  lifted_by: null,
  lifted_at: null,
  ...fields,
});

const DAYS: KeptDays = { recordings: null, transcripts: null, events: null, deliveries: null, calls: null };

const INVITED = 'a'.repeat(64);
const anInvitation = (org_id: string): InvitationRecord => ({
  id: uuid(),
  org_id,
  hash: INVITED,
  email: 'zorblatt@example.com',
  role: 'owner',
  may_listen: false,
  user_id: null,
  created_by: 'Ann',
  created_at: START,
  expires_at: at(DAY),
  used_at: null,
});

/** A call that is over, with words of both sides, an event and its delivery. */
async function aCall(store: Store, org: string, fields: Partial<CallRecord> = {}): Promise<CallRecord> {
  const { status = 'completed', ...rest } = fields;
  const made = makeCall(org, {
    webhook_url: 'https://hooks.example.com/?of=ann',
    recording_path: `recordings/${uuid()}.wav`,
    ...rest,
  });
  const call = succeeded(await store.createCall(made, { events: ['call.queued'], reserve: 0 }));
  await store.saveTranscript([makeItem(call.id, { role: 'caller', text: 'zorblatt is my name' })]);
  await store.saveTurns({ turns: [makeTurn(call.id)], interruptions: [] });
  if (status === 'queued') return call;
  const over = await store.saveCall(call.id, {
    from: ['queued'],
    change: { status, result_status: 'completed', result: { name: 'zorblatt' }, ended_at: at(1) },
  });
  return succeeded(over);
}

/** Carries one out as far as storage goes. */
async function carryOut(store: Store, id: string): Promise<ErasureRecord> {
  for (let after: string | null = null; ; ) {
    const call = await store.nextToErase(id, after);
    if (call === null) break;
    if (call.recording_path !== null)
      await store.noteErasedFiles(id, [{ path: call.recording_path, bytes: 3, sha256: 'ab' }]);
    await store.eraseCall(id, call.id);
    after = call.id;
  }
  while (await store.eraseRest(id));
  await store.advanceErasure(id, { state: 'clearing' });
  while (await store.clearIndex());
  await store.emptyLog();
  await store.advanceErasure(id, { state: 'done', backups: [{ path: 'x', made_at: START }] });
  const done = await store.getErasure(null, id);
  if (done === null) throw new Error('no erasure');
  return done;
}

export function keptConformance(t: Test, open: OpenEmpty): void {
  t.test('what is kept', async (t) => {
    const opened = async () => {
      const clock = stoppedClock();
      const store = await open({ now: clock.now });
      t.teardown(() => store.close());
      return { store, clock, org: await addOrganization(store) };
    };

    t.test('a call is erased: what is left of it counts, and names nobody', async (t) => {
      const { store, org } = await opened();
      const call = await aCall(store, org);
      const other = await aCall(store, org, { to_number: '+14155550777' });
      const said = { source: 'said', reason: 'zorblatt, do not call me again', item_id: 'i1' } as const;
      await store.addDoNotCall(org, [
        { ...said, number: PERSON, call_id: call.id },
        { ...said, number: '+14155550777', call_id: other.id },
      ]);
      const before = await store.getCall(org, other.id);
      const begun = await store.beginErasure(anErasure(org, { subject: 'call', call_id: call.id }));
      t.notOk('conflict' in begun);
      const done = await carryOut(store, succeeded(begun).id);
      t.match(done, { state: 'done', call_id: call.id, backups: [{ path: 'x' }] });
      t.match(done.counts, {
        calls: 1,
        transcript_items: 1,
        turns: 1,
        events: 1,
        deliveries: 1,
        files: 1,
        file_bytes: 3,
      });
      const husk = await store.getCall(org, call.id);
      t.match(husk, { to_number: 'erased', from_number: 'erased', prompt: '', result: null, context: null });
      t.match(husk, { status: 'completed', created_at: call.created_at, metadata: {}, recording_path: null });
      t.ok(husk?.erased_at);
      t.strictSame(await store.listTranscript(call.id), []);
      t.strictSame(await store.listTurns(call.id), []);
      const [event] = await store.listEvents(call.id);
      t.equal(
        (JSON.parse(event?.body ?? '{}') as CallRecord).to_number,
        'erased',
        'its events say what is left',
      );
      t.match(await store.listCallDeliveries(call.id), [{ status: 'exhausted', last_error: 'erased' }]);
      t.strictSame(await store.dueDeliveries(at(DAY), 10).then((due) => due.map(({ callId }) => callId)), [
        other.id,
      ]);
      t.strictSame(
        (await store.listCalls(org, { search: 'zorblatt' }, FIRST)).map(({ id }) => id),
        [other.id],
      );
      t.strictSame(await store.getCall(org, other.id), before, 'others stay as they are');
      t.match(
        await store.listDoNotCall(org, {}, FIRST),
        [
          { number: '+14155550777', reason: said.reason, item_id: 'i1' },
          { number: PERSON, reason: null, item_id: null, call_id: call.id },
        ],
        'the number is still not called; what was said is gone',
      );
      t.strictSame(await store.listErasedFiles(done.id), [
        { path: call.recording_path, bytes: 3, sha256: 'ab' },
      ]);
      // Whoever comes late.
      t.strictSame(await store.saveTranscript([makeItem(call.id)]), [call.id]);
      t.match(await store.saveCall(call.id, { from: ['completed'], change: { result: {} } }), {
        conflict: 'not_owner',
      });
      t.ok(await store.awaitsRewriting());
      const rewritten = await store.rewriteFile();
      t.equal(rewritten, true);
      t.ok((await store.getErasure(org, done.id))?.rewritten_at);
      t.equal(await store.getErasure(await addOrganization(store), done.id), null, 'another’s receipt');
    });

    t.test('a number is erased: its calls in both directions, and what else is kept of it', async (t) => {
      const { store, org } = await opened();
      const theirs = await addOrganization(store);
      const ours = [
        await aCall(store, org, { to_number: PERSON, from_number: '+14155550199' }),
        await aCall(store, org, { direction: 'inbound', from_number: PERSON, to_number: '+14155550199' }),
      ];
      const others = [
        await aCall(store, org, { direction: 'inbound', from_number: '+14155550300', to_number: PERSON }),
        await aCall(store, theirs, { to_number: PERSON }),
      ];
      await store.addDoNotCall(org, [{ number: PERSON, source: 'api', reason: 'zorblatt asked' }]);
      await store.beginIdempotent(org, 'k1', 'h', at(0));
      await store.finishIdempotent(org, 'k1', 201, JSON.stringify({ id: ours[0]?.id, to_number: PERSON }));
      await store.beginIdempotent(org, 'k2', 'h', at(0));
      await store.finishIdempotent(org, 'k2', 201, '{}');

      const begun = succeeded(
        await store.beginErasure(anErasure(org, { subject: 'number', number: PERSON })),
      );
      t.match(begun.number_hash, /^[0-9a-f]{64}$/);
      t.match(await store.takeErasure(), { id: begun.id, number: PERSON });
      const answers = await store.keptAnswers(org, null);
      t.strictSame(
        answers.map(({ key }) => key),
        ['k1', 'k2'],
      );
      t.strictSame(
        (await store.keptAnswers(org, 'k1')).map(({ key }) => key),
        ['k2'],
      );
      t.ok(answers[0]?.body.includes(PERSON), 'read as it was stored');
      await store.replaceAnswer(begun.id, { orgId: org, key: 'k1', status: 409, body: '{"gone":true}' });
      t.match(await store.beginIdempotent(org, 'k1', 'h', at(1)), {
        state: 'done',
        status: 409,
        body: '{"gone":true}',
      });

      const done = await carryOut(store, begun.id);
      t.equal(done.number, null);
      t.match(done.counts, { calls: 2, do_not_call: 1, kept_answers: 1 });
      for (const { id } of ours) t.ok((await store.findCall(id))?.erased_at);
      for (const { id } of others) t.equal((await store.findCall(id))?.erased_at, null);
      t.equal(await store.isDoNotCall(org, PERSON), true, 'it is still not called');
      t.match(await store.listDoNotCall(org, {}, FIRST), [{ number: null, reason: null, last4: '' }]);
      t.equal(await store.takeErasure(), null);
      t.match(await store.listErasures(org, { number: PERSON }, FIRST), [{ id: done.id }]);
      t.strictSame(await store.listErasures(org, { number: '+14155550999' }, FIRST), []);
      t.match(await store.listErasures(org, {}, FIRST), [{ id: done.id }]);
    });

    t.test('what is live, unknown, held or has numbers is not erased', async (t) => {
      const { store, org } = await opened();
      const call = await aCall(store, org);
      const conflictOf = async (fields: Partial<ErasureRecord>) => {
        const answer = await store.beginErasure(anErasure(org, fields));
        return 'conflict' in answer ? answer.conflict : null;
      };
      t.equal(await conflictOf({ subject: 'call', call_id: uuid() }), 'not_found');
      const live = await aCall(store, org, { status: 'queued', to_number: '+14155550333' });
      t.equal(await conflictOf({ subject: 'call', call_id: live.id }), 'call_live');
      t.equal(await conflictOf({ subject: 'number', number: '+14155550333' }), 'call_live');
      t.equal(await conflictOf({ subject: 'organization' }), 'call_live');

      const hold = succeeded(await store.createHold(aHold(org, { subject: 'number', number: PERSON })));
      t.match(await store.holdsOf(org, call.id), [{ id: hold.id }]);
      t.strictSame(await store.holdsOf(org, live.id), []);
      t.equal(await conflictOf({ subject: 'call', call_id: call.id }), 'legal_hold');
      t.equal(await conflictOf({ subject: 'number', number: PERSON }), 'legal_hold');
      t.equal(await conflictOf({ subject: 'organization' }), 'legal_hold');
      t.match(await store.liftHold(org, hold.id, BY, at(5)), { lifted_at: at(5), lifted_by: BY });
      t.match(await store.liftHold(org, hold.id, BY, at(9)), { lifted_at: at(5) }, 'once');
      t.equal(await store.liftHold(org, uuid(), BY, at(5)), null);
      t.match(await store.getHold(org, hold.id), { lifted_at: at(5) });
      t.match(await store.listHolds(org, FIRST), [{ id: hold.id }]);
      const ofCall = succeeded(await store.createHold(aHold(org, { subject: 'call', call_id: call.id })));
      t.equal(await conflictOf({ subject: 'number', number: PERSON }), 'legal_hold', 'a part of it');
      await store.liftHold(org, ofCall.id, BY, at(6));
      t.match(await store.createHold(aHold(org, { subject: 'call', call_id: uuid() })), {
        conflict: 'not_found',
      });
      const begun = succeeded(
        await store.beginErasure(anErasure(org, { subject: 'call', call_id: call.id })),
      );
      t.match(await store.createHold(aHold(org, { subject: 'number', number: PERSON })), {
        conflict: 'being_erased',
      });
      await carryOut(store, begun.id);
    });

    t.test('an organization is erased: what is left has no name, no key and no words', async (t) => {
      const { store, org } = await opened();
      const number = makeNumber(org);
      await store.insertNumber(number);
      await store.createAgent(makeAgent(org, { name: 'zorblatt' }), []);
      const call = await aCall(store, org);
      await store.setRetention(org, null, { ...DAYS, calls: 10 });
      const erasure = anErasure(org, { subject: 'organization' });
      t.match(await store.beginErasure(erasure), { conflict: 'numbers_active' });
      await store.releaseNumber(org, number.id);
      const campaign = await store.createCampaign(makeCampaign(org));
      succeeded(await store.addContacts(org, campaign.id, [makeContact(campaign)]));
      succeeded(await store.updateCampaign(org, campaign.id, { status: 'running' }));
      succeeded(await store.createInvitation(anInvitation(org)));
      t.notOk('conflict' in (await store.beginErasure(erasure)));
      t.ok(
        (await store.listKeys(org)).every(({ revoked_at }) => revoked_at !== null),
        'its keys end at once',
      );
      t.match(await store.getCampaign(org, campaign.id), { status: 'paused' }, 'nobody is called for it');
      t.equal(await store.findInvitation(INVITED), null, 'nor comes anybody new');
      await carryOut(store, erasure.id);
      t.strictSame(await store.listKeys(org), []);
      t.match(await store.getOrganization(org), { name: 'erased', webhook_secret: '' });
      t.equal(await store.findOrganization('Bluebird Clinic'), null);
      t.strictSame(await store.listOrganizations(FIRST), []);
      t.match(await store.listAgents(org, { includeArchived: true }, FIRST), [{ name: 'erased' }]);
      t.ok((await store.findCall(call.id))?.erased_at);
      t.strictSame(await store.listRetention(org), []);
      t.ok((await store.listLedger(org)).length > 0, 'the money stays');
    });

    t.test('numbers that are not to be stored are not, wherever they are said', async (t) => {
      const { store, org } = await opened();
      const card = '4111 1111 1111 1111';
      for (const mask of [[], ['card']] as const) {
        const call = await aCall(store, org, { status: 'queued', mask: [...mask] });
        await store.saveTranscript([
          makeItem(call.id, { role: 'caller', text: `It is ${card}.`, heard_text: `It is ${card}.` }),
          makeItem(call.id, { text: `So it is ${card}?`, heard_text: 'So it is 4111 11', interrupted: true }),
          makeItem(call.id, { role: 'tool', text: `pay({"card":"${card}"})`, heard_text: '' }),
        ]);
        await store.saveCall(call.id, {
          from: ['queued'],
          change: {
            status: 'completed',
            result: { card },
            summary: `They paid with ${card}.`,
            running_tools: [
              { tool_call_id: 'x', name: 'pay', arguments_json: `{"card":"${card}"}`, at_ms: 1 },
            ],
          },
          events: ['call.completed'],
        });
        const stored = JSON.stringify([
          await store.listTranscript(call.id),
          await store.getCall(org, call.id),
          await store.listEvents(call.id),
        ]);
        t.equal(stored.includes('4111'), mask.length === 0);
        t.equal(stored.includes('•••• 1111'), mask.length > 0);
      }
      t.equal((await store.listCalls(org, { search: '4111' }, FIRST)).length, 1, 'nor is it found by');
    });

    t.test('what is older than its rule says goes, by agent and kind; what is held stays', async (t) => {
      const { store, org, clock } = await opened();
      const agent = succeeded(await store.createAgent(makeAgent(org), []));
      const old = await aCall(store, org);
      const ofAgent = await aCall(store, org, { agent_id: agent.id });
      const held = await aCall(store, org, { to_number: '+14155550888' });
      clock.tick(20 * DAY);
      const young = await aCall(store, org, { created_at: clock.iso() });
      const opted_out = { at_ms: 5, text: 'zorblatt, do not call me again', by: 'words' } as const;
      for (const { id } of [old, held]) {
        await store.saveCall(id, { from: ['completed'], change: { opted_out } });
        const number = id === old.id ? PERSON : '+14155550888';
        await store.addDoNotCall(org, [{ number, source: 'said', reason: opted_out.text, call_id: id }]);
      }
      const hold = succeeded(
        await store.createHold(aHold(org, { subject: 'number', number: '+14155550888' })),
      );
      t.match(await store.setRetention(org, uuid(), DAYS), { conflict: 'agent_not_found' });
      await store.setRetention(org, null, { ...DAYS, recordings: 10, transcripts: 10, deliveries: 10 });
      const rules = await store.setRetention(org, agent.id, { ...DAYS, events: 30, calls: 15 });
      t.match(rules, [
        { agent_id: null, days: { recordings: 10 } },
        { agent_id: agent.id, days: { calls: 15 } },
      ]);
      t.strictSame(await store.listRetention(org), rules);

      async function sweepAll(): Promise<Record<string, string[]>> {
        const swept: Record<string, string[]> = {};
        for (;;) {
          const due = await store.dueToSweep(clock.iso());
          if (due === null) return swept;
          await store.sweep(due.kind, due.calls);
          await store.markSwept(due.done);
          for (const { id } of due.calls) swept[due.kind] = [...(swept[due.kind] ?? []), id];
        }
      }
      t.strictSame(await sweepAll(), {
        recordings: [old.id],
        transcripts: [old.id],
        deliveries: [old.id],
        calls: [ofAgent.id],
      });
      t.match(await store.findCall(old.id), { recording_path: null, to_number: PERSON, erased_at: null });
      t.strictSame(await store.listTranscript(old.id), []);
      t.match(await store.findCall(old.id), { opted_out: { at_ms: 5, text: '', by: 'words' } });
      t.match(await store.findCall(held.id), { opted_out });
      t.strictSame(
        (await store.listDoNotCall(org, {}, FIRST)).map(({ number, reason }) => [number, reason]),
        [
          ['+14155550888', opted_out.text],
          [PERSON, null],
        ],
        'what was said on it has gone everywhere',
      );
      t.strictSame(await store.listCallDeliveries(old.id), []);
      t.equal((await store.listEvents(old.id)).length, 1);
      t.ok((await store.findCall(ofAgent.id))?.erased_at);
      for (const { id } of [held, young]) t.equal((await store.listTranscript(id)).length, 1);
      t.strictSame(await sweepAll(), {}, 'once');
      await store.liftHold(org, hold.id, BY, clock.iso());
      t.strictSame(await sweepAll(), {
        recordings: [old.id, held.id],
        transcripts: [old.id, held.id],
        deliveries: [old.id, held.id],
      });
      await store.setRetention(org, null, { ...DAYS, events: 10 });
      await sweepAll();
      t.strictSame(await store.listEvents(old.id), []);
      t.match(
        await store.setRetention(org, agent.id, null),
        [{ agent_id: null }],
        'no rule of its own any more',
      );
    });
  });
}
