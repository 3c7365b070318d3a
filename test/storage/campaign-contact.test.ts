// What becomes of a contact: how an attempt ended by its call, when he is called again, and what that adds to the counts.
import t from 'tap';
import { HANGUP_CAUSES } from '../../bridge/protocol/call-reasons.ts';
import {
  begunAttempt,
  CUT_CAUSES,
  endedAttempt,
  outcomeOf,
  talliesAdded,
} from '../../storage/campaign-contact.ts';
import type { CallRecord } from '../../storage/records.ts';
import { at, makeCall, makeCampaign, makeContact, START } from './makers.ts';

const outcomes: [Partial<CallRecord>, ReturnType<typeof outcomeOf>][] = [
  [{ status: 'queued' }, null],
  [{ status: 'in_progress', answered_at: START }, null],
  [{ status: 'busy' }, 'busy'],
  [{ status: 'no_answer' }, 'no_answer'],
  [{ status: 'canceled' }, 'canceled'],
  [{ status: 'failed' }, 'failed'],
  [{ status: 'failed', answered_at: START }, 'cut'],
  [{ status: 'completed', answered_at: START, hangup_cause: 'agent_ended' }, 'answered'],
  [{ status: 'completed', answered_at: START, hangup_cause: 'remote_hangup' }, 'answered'],
  [{ status: 'completed', answered_at: START, hangup_cause: 'daemon_restart' }, 'cut'],
  [{ status: 'completed', answered_at: START, hangup_cause: 'voicemail' }, 'voicemail'],
  [
    { status: 'completed', answered_at: START, answered_by: 'machine', hangup_cause: 'agent_ended' },
    'voicemail',
  ],
];
const optedOut = { at_ms: 5_000, text: 'Do not call me again.', by: 'words' } as const;
outcomes.push(
  [{ status: 'completed', answered_at: START, opted_out: optedOut }, 'opted_out'],
  [{ status: 'failed', answered_at: START, opted_out: optedOut }, 'opted_out'],
);
for (const [fields, outcome] of outcomes) {
  t.test(`${JSON.stringify(fields)} -> ${outcome}`, (t) => {
    t.equal(outcomeOf(makeCall('o', fields)), outcome);
    t.end();
  });
}

t.test('what cuts a call is a cause that calls have', (t) => {
  t.same(
    [...CUT_CAUSES].filter((cause) => !Object.hasOwn(HANGUP_CAUSES, cause)),
    [],
  );
  t.end();
});

t.test('he is called again as often as his outcome and the whole allow', (t) => {
  const campaign = makeCampaign('o', { status: 'running', max_attempts: 4 });
  const after = (attempts: number, tries: Record<string, number>, status = campaign.status) =>
    endedAttempt({ ...campaign, status }, { attempts, tries }, 'busy', START);
  t.match(after(1, {}), { status: 'waiting', outcome: null, tries: { busy: 1 }, due_at: at(900_000) });
  t.match(after(3, { no_answer: 1, busy: 1 }), { status: 'waiting', tries: { no_answer: 1, busy: 2 } });
  t.match(after(3, { busy: 2 }), { status: 'done', outcome: 'busy' }, 'busy twice again is enough');
  t.match(after(4, { busy: 1 }), { status: 'done', outcome: 'busy' }, 'so are four attempts');
  t.match(after(1, {}, 'paused'), { status: 'waiting' }, 'a pause keeps what is to come');
  t.match(after(1, {}, 'stopped'), { status: 'done', outcome: 'busy' });
  for (const outcome of ['answered', 'canceled', 'opted_out'] as const)
    t.match(endedAttempt(campaign, { attempts: 1, tries: {} }, outcome, START), { status: 'done', outcome });
  t.end();
});

t.test('a clock that was set back keeps nobody waiting', (t) => {
  const campaign = makeCampaign('o', { status: 'running', last_started_at: at(3_600_000) });
  const o = { campaign, contact: makeContact(campaign), calling: 0, attempt: 1, callId: 'c' };
  t.match(begunAttempt(o, START), { status: 'calling' });
  t.same(begunAttempt(o, at(3_600_001)), { conflict: 'campaign_pace' });
  t.end();
});

t.test('the counts follow each change', (t) => {
  t.same(talliesAdded(null, { status: 'waiting', outcome: null }), [
    { kind: 'status', hour: '', value: 'waiting', count: 1 },
  ]);
  t.same(talliesAdded({ status: 'calling', outcome: null }, { status: 'done', outcome: 'busy' }), [
    { kind: 'status', hour: '', value: 'calling', count: -1 },
    { kind: 'status', hour: '', value: 'done', count: 1 },
    { kind: 'outcome', hour: '', value: 'busy', count: 1 },
  ]);
  t.same(talliesAdded({ status: 'waiting', outcome: null }, { status: 'waiting', outcome: null }), []);
  t.end();
});
