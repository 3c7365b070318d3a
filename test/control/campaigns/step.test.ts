// What a campaign does next, by table; and what refusals mean for it.
import t from 'tap';
import { refusedBy } from '../../../control/campaigns/refusals.ts';
import { countsOf, reportOf } from '../../../control/campaigns/report.ts';
import { type CampaignFacts, campaignStep, zonesOf } from '../../../control/campaigns/step.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import { makeCampaign, makeContact, START } from '../../storage/makers.ts';

const NOW = Date.parse(START);
// A Sunday, 12:00 UTC.
const campaign = makeCampaign('o', { status: 'running', window_zone: 'contact' });
const contact = makeContact(campaign, { time_zones: ['Europe/Berlin'] });
const facts = (fields: Partial<CampaignFacts> = {}): CampaignFacts => ({
  campaign,
  nowMs: NOW,
  calling: 0,
  waiting: 1,
  isBeginning: false,
  due: [contact],
  nextDueAt: null,
  sinceLastMs: null,
  freeLines: 10,
  ...fields,
});
const SUNDAY = [{ days: ['sun' as const], from: '09:00', to: '14:00' }];
const MONDAY = [{ days: ['mon' as const], from: '09:00', to: '14:00' }];

const starts: [string, Partial<CampaignFacts>, boolean][] = [
  ['somebody is due', {}, true],
  ['nobody is', { due: [] }, false],
  ['it is paused', { campaign: { ...campaign, status: 'paused' } }, false],
  ['one is beginning', { isBeginning: true }, false],
  ['the last began a second ago', { sinceLastMs: 1_000 }, true],
  ['the last began less than that ago', { sinceLastMs: 999 }, false],
  ['as many are called as may be', { calling: 10 }, false],
  ['the lines are for others', { campaign: { ...campaign, free_lines: 10 } }, false],
  ['one line more is free', { campaign: { ...campaign, free_lines: 9 } }, true],
  [
    'something is in the way',
    { campaign: { ...campaign, held_until: new Date(NOW + 1).toISOString() } },
    false,
  ],
  ['it was', { campaign: { ...campaign, held_until: START } }, true],
  ['his window is open', { campaign: { ...campaign, windows: SUNDAY } }, true],
  ['his window is closed', { campaign: { ...campaign, windows: MONDAY } }, false],
];
for (const [name, fields, starts_] of starts) {
  t.test(`${name}: ${starts_ ? 'calls' : 'does not call'}`, async (t) => {
    t.equal(campaignStep(facts(fields)).start, starts_ ? contact : null);
  });
}

t.test('who is outside of his window waits for it, and the next one is called', async (t) => {
  const west = makeContact(campaign, { time_zones: ['America/Los_Angeles'] });
  const step = campaignStep(facts({ campaign: { ...campaign, windows: SUNDAY }, due: [west, contact] }));
  t.equal(step.start, contact);
  t.same(step.postpone, [{ id: west.id, dueAt: '2026-03-01T17:00:00.000Z' }]);
  const late = campaignStep(facts({ campaign: { ...campaign, windows: SUNDAY }, due: [west] }));
  t.match(late, { start: null, againInMs: 0 }, 'who comes behind him is asked for at once');
  const both = makeContact(campaign, { time_zones: ['UTC', 'Pacific/Auckland'] });
  const never = [{ days: ['sun' as const], from: '09:00', to: '10:00' }];
  t.same(campaignStep(facts({ campaign: { ...campaign, windows: never }, due: [both] })).neverOpen, [
    both.id,
  ]);
});

t.test('whose zone counts', async (t) => {
  const zones = (window_zone: 'contact' | 'campaign' | 'both', time_zones: string[]) =>
    zonesOf({ window_zone, time_zone: 'UTC' }, { time_zones });
  t.same(zones('contact', ['Asia/Tokyo']), ['Asia/Tokyo']);
  t.same(zones('contact', []), ['UTC'], 'of who is nowhere, the campaign’s');
  t.same(zones('campaign', ['Asia/Tokyo']), ['UTC']);
  t.same(zones('both', ['Asia/Tokyo', 'UTC']), ['UTC', 'Asia/Tokyo']);
});

t.test('it is asked again when something may have changed', async (t) => {
  const again = (fields: Partial<CampaignFacts>) => campaignStep(facts(fields)).againInMs;
  t.equal(again({ sinceLastMs: 400 }), 600);
  t.equal(again({ due: [], nextDueAt: new Date(NOW + 250).toISOString() }), 250);
  t.equal(again({ due: [], nextDueAt: new Date(NOW + 9e6).toISOString() }), 1_000);
});

t.test('its end: completed with its last contact; stopped, whoever waits is skipped', async (t) => {
  t.equal(campaignStep(facts({ waiting: 0, due: [] })).complete, true);
  t.equal(campaignStep(facts({ waiting: 0, calling: 1, due: [] })).complete, false);
  t.match(campaignStep(facts({ campaign: { ...campaign, status: 'stopped' } })), { skip: true, start: null });
});

const refusals: [ErrorCode, number | undefined, object][] = [
  ['outside_calling_hours', 120, { means: 'postpone', ms: 120_000 }],
  ['outside_calling_hours', undefined, { means: 'postpone', ms: 3_600_000 }],
  ['too_many_to_destination', undefined, { means: 'postpone' }],
  ['calls_per_minute', 7, { means: 'hold', ms: 7_000 }],
  ['daily_spend_reached', undefined, { means: 'hold' }],
  ['insufficient_credit', undefined, { means: 'hold' }],
  ['at_capacity', 5, { means: 'hold', ms: 5_000 }],
  ['do_not_call', undefined, { means: 'never' }],
  ['destination_closed', undefined, { means: 'never' }],
  ['destination_not_allowed', undefined, { means: 'never' }],
  ['consent_missing', undefined, { means: 'never' }],
  ['carrier_error', undefined, { means: 'made' }],
  ['conflict', undefined, { means: 'again' }],
  ['not_found', undefined, { means: 'hold' }],
];
for (const [code, retryAfterSeconds, means] of refusals) {
  t.test(`${code} -> ${JSON.stringify(means)}`, async (t) => {
    t.match(
      refusedBy(new AppError(code, '', retryAfterSeconds === undefined ? {} : { retryAfterSeconds })),
      means,
    );
  });
}
t.test('what nobody knows holds it for a while', async (t) => t.match(refusedBy(null), { means: 'hold' }));

t.test('a report is what was counted', async (t) => {
  const tally = (kind: 'status' | 'outcome' | 'attempt', value: string, count: number, hour = '') => ({
    kind,
    hour,
    value,
    count,
  });
  const tallies = [
    tally('status', 'done', 3),
    tally('status', 'waiting', 2),
    tally('outcome', 'answered', 2),
    tally('outcome', 'busy', 1),
    tally('attempt', 'answered', 2, '2026-03-01T13'),
    tally('attempt', 'busy', 1, '2026-03-01T12'),
    tally('attempt', 'busy', 1, '2026-03-01T13'),
  ];
  t.match(countsOf(tallies), { total: 5, done: 3, waiting: 2, calling: 0 });
  t.match(reportOf(tallies), {
    outcomes: { answered: 2, busy: 1 },
    attempts: { total: 4, by_outcome: { answered: 2, busy: 2 } },
    hours: [
      { hour: '2026-03-01T12:00:00.000Z', by_outcome: { busy: 1 } },
      { hour: '2026-03-01T13:00:00.000Z', by_outcome: { answered: 2, busy: 1 } },
    ],
  });
});
