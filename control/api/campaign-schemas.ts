// What the campaign routes take and answer, with what the reference says of each field. PURE.
import { z } from 'zod';
import { CAMPAIGN_STATUSES, CONTACT_STATUSES, type RETRY_OUTCOMES } from '../../storage/campaign-records.ts';
import { isZone, minuteOf } from '../campaigns/windows.ts';
import { booleanQuery, context, e164, id, pageQuery, time } from '../http/schemas.ts';
import { CAMPAIGN, CAMPAIGN_CONTACT } from './campaign-examples.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** In one request; a file may have more. */
const MOST_GIVEN = 500;

const clockTime = (pattern: RegExp) => z.string().regex(pattern, 'must be a time of day such as 09:00');
const timeZone = z
  .string()
  .max(100, 'may have 100 characters at most')
  .refine(isZone, 'must be the IANA name of a time zone, such as Europe/Berlin')
  .meta({ examples: ['Europe/Berlin'] });
const count = (least: number, most: number) =>
  z.int('must be a whole number').min(least, `must be ${least} or more`).max(most, `must be ${most} or less`);

const window = z
  .strictObject({
    days: z
      .array(z.enum(DAYS))
      .min(1, 'must name a day')
      .max(7, 'may name seven days')
      .describe('Days of the week.'),
    from: clockTime(/^([01]\d|2[0-3]):[0-5]\d$/).describe('The first minute of it, `HH:MM`, local.'),
    to: clockTime(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/).describe(
      'The first minute that is no longer of it, `HH:MM`; 24:00 is the end of the day.',
    ),
  })
  .refine(({ from, to }) => minuteOf(from) < minuteOf(to), 'must end after it begins, on the same day');

const retryRule = z.strictObject({
  times: count(0, 9).describe('How often a contact is called again after this outcome.'),
  after_minutes: z
    .number()
    .min(0, 'must be 0 or more')
    .max(20_160, 'must be two weeks or less')
    .describe('How much later, in minutes.'),
});

const name = z
  .string()
  .min(1, 'may not be empty')
  .max(200, 'may have 200 characters at most')
  .regex(/\S/, 'may not be blank');

const OF = {
  busy: 'The line was busy.',
  no_answer: 'Nobody answered.',
  voicemail: 'A voicemail or another machine answered.',
  cut: 'The conversation was cut: by a fault, or because something ran out.',
  failed: 'The call could not be connected.',
} as const satisfies Record<(typeof RETRY_OUTCOMES)[number], string>;
const retries = z.strictObject({
  busy: retryRule.describe(OF.busy),
  no_answer: retryRule.describe(OF.no_answer),
  voicemail: retryRule.describe(OF.voicemail),
  cut: retryRule.describe(OF.cut),
  failed: retryRule.describe(OF.failed),
});

const rule = {
  name: name.describe('For people.'),
  agent_id: id.describe('The outbound agent that calls.'),
  from_number: e164
    .nullable()
    .describe('A number attached to the agent that it calls from. Null: its primary number.'),
  calls_per_minute: count(1, 600).describe(
    'Calls begin at least 60 seconds divided by this apart; the default 60 is one a second, the rate of a new account at most carriers.',
  ),
  max_concurrent: count(1, 1000).describe('Calls of it at once, at most; default 10.'),
  free_lines: count(0, 1000).describe(
    'Lines that it leaves to other calls: with no more than these free it begins none; default 2.',
  ),
  windows: z
    .array(window)
    .max(20, 'may have 20 at most')
    .describe('When it calls; none: at any time that the rules of outbound calls allow.'),
  time_zone: timeZone.describe("The campaign's own zone; default UTC."),
  window_zone: z
    .enum(['contact', 'campaign', 'both'])
    .describe(
      "In whose zone the windows hold: `contact` (the default): in every zone that the contact's number may be in; `campaign`: in its own; `both`: in all of these at once.",
    ),
  max_attempts: count(1, 10).describe('Calls to one contact in all, whatever their outcomes; default 3.'),
};
const fields = {
  calls_per_minute: rule.calls_per_minute.optional(),
  max_concurrent: rule.max_concurrent.optional(),
  free_lines: rule.free_lines.optional(),
  windows: rule.windows.optional(),
  time_zone: rule.time_zone.optional(),
  window_zone: rule.window_zone.optional(),
  max_attempts: rule.max_attempts.optional(),
  from_number: rule.from_number.optional(),
  retries: retries
    .partial()
    .optional()
    .describe('When a contact is called again, by the outcome; those that are not named stay as they are.'),
};

export const createCampaign = z
  .strictObject({ name: rule.name, agent_id: rule.agent_id, ...fields })
  .meta({ id: 'NewCampaign', examples: [{ name: 'Reminders', agent_id: CAMPAIGN.agent_id }] });
export const changeCampaign = z
  .strictObject({ name: rule.name.optional(), agent_id: rule.agent_id.optional(), ...fields })
  .meta({ id: 'CampaignChange', examples: [{ calls_per_minute: 30 }] });

const counts = z
  .strictObject({
    total: z.int().describe('All of them.'),
    waiting: z.int().describe('To be called, now or later.'),
    calling: z.int().describe('On a call.'),
    done: z.int().describe('With an outcome.'),
    refused: z.int().describe('Not called, by a rule of outbound calls.'),
    skipped: z.int().describe('Not called, because the campaign was stopped.'),
  })
  .meta({ id: 'ContactCounts' });

export const campaign = z
  .strictObject({
    id: id.describe('Campaign id.'),
    ...rule,
    status: z
      .enum(CAMPAIGN_STATUSES)
      .describe(
        '`draft`: never started. `running`. `paused`: calls go on, none begins. `completed`: every contact has its outcome. `stopped`: whoever waited was skipped.',
      ),
    status_reason: z
      .string()
      .nullable()
      .describe('Why it was paused by itself: an error code and what it means; null where it was not.'),
    retries: retries.describe('When a contact is called again, by the outcome.'),
    held: z
      .strictObject({
        code: z.string().describe('The error code that stands in the way.'),
        until: time.describe('When it goes on by itself.'),
      })
      .nullable()
      .describe('Why no call is begun for a while; null: nothing is in the way.'),
    contacts: counts.describe('How many contacts stand where.'),
    created_at: time.describe('When it was made.'),
    updated_at: time.describe('When it was last changed.'),
    started_at: time.nullable().describe('When it was first started.'),
    ended_at: time.nullable().describe('When it was completed or stopped.'),
  })
  .meta({ id: 'Campaign', examples: [CAMPAIGN] });
export const campaignList = z.strictObject({ data: z.array(campaign).describe('Newest first.') });
export const listCampaigns = pageQuery.extend({
  status: z.enum(CAMPAIGN_STATUSES).optional().describe('Only of this status.'),
});

const givenContact = z.strictObject({
  to: z
    .string()
    .max(60, 'may have 60 characters at most')
    .describe('His number with its country code; spaces and the like are taken out.'),
  context: context.optional().describe('What the agent is told of this one; 16 KB of JSON at most.'),
  priority: count(0, 9)
    .optional()
    .describe('When he is called, among the others: 9 first, 0 last; default 0.'),
  time_zone: timeZone.optional().describe('His zone, where it is known better than by his number.'),
});
export const addContacts = z
  .strictObject({
    contacts: z
      .array(givenContact)
      .min(1, 'must have a contact')
      .max(MOST_GIVEN, `may have ${MOST_GIVEN} at most; a file may have more`)
      .describe('Whom to call.'),
  })
  .meta({ id: 'NewContacts', examples: [{ contacts: [{ to: '+14155550123', context: { name: 'Ann' } }] }] });

const notTaken = {
  code: z
    .enum(['invalid_number', 'invalid_priority', 'invalid_time_zone', 'context_too_large', 'duplicate'])
    .describe('Why it was not taken.'),
  message: z.string().describe('The same for people.'),
};
export const addedContacts = z.strictObject({
  added: z.int().describe('How many were added.'),
  not_taken: z
    .array(z.strictObject({ index: z.int().describe('Its place in the request, from 0.'), ...notTaken }))
    .describe('Those that were not, in their order.'),
});

export const importContacts = z.strictObject({
  number_column: z
    .string()
    .max(200)
    .optional()
    .describe('The column with the number. Without it: the first called to, number, phone or the like.'),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be a country of two letters, such as DE')
    .toUpperCase()
    .optional()
    .describe('Numbers without a country code are of this country (ISO 3166).'),
  dry_run: booleanQuery.optional().describe('`true`: nothing is added; the answer says what would be.'),
});
const preview = z.strictObject({
  to_number: e164.describe('The number as it will be called.'),
  context: z.record(z.string(), z.unknown()).describe('What the agent is told.'),
  priority: z.int().describe('When he is called, among the others: 9 first, 0 last.'),
  time_zones: z.array(z.string()).describe('The zones that he may be in.'),
});
export const importReport = z
  .strictObject({
    lines: z.int().describe('Lines with a contact, the first one with the names not among them.'),
    added: z
      .int()
      .describe('Contacts added; with `dry_run`, that would be, but for those that it has already.'),
    duplicates: z.int().describe('Numbers that the file has twice, or the campaign had already.'),
    refused: z.int().describe('Lines that are no contact.'),
    not_taken: z
      .array(z.strictObject({ line: z.int().describe('As the file counts, from 1.'), ...notTaken }))
      .describe('The first 200 lines that were not taken.'),
    number_column: z.string().describe('The column that the numbers were read from.'),
    context_columns: z.array(z.string()).describe('The columns that the agent is told.'),
    preview: z.array(preview).describe('The first five as they were read.'),
  })
  .meta({ id: 'ImportReport' });

export const listContacts = pageQuery.extend({
  status: z.enum(CONTACT_STATUSES).optional().describe('Only of this status.'),
  outcome: z.string().max(100).optional().describe('Only with this outcome.'),
  search: z
    .string()
    .min(2, 'must have two characters')
    .max(20)
    .regex(/^\+?\d+$/, 'must be digits')
    .optional()
    .describe('Digits of the number.'),
});

const contactFields = {
  id: id.describe('Contact id.'),
  campaign_id: id.describe('The campaign.'),
  ...preview.shape,
  to_number: z
    .string()
    .describe('His number, E.164; where it was erased, what stands in its place is none.')
    .meta({ examples: ['+14155550123'] }),
  status: z
    .enum(CONTACT_STATUSES)
    .describe(
      '`waiting`: to be called, now or later. `calling`. `done`: with an outcome. `refused`: not called, by a rule. `skipped`: the campaign was stopped first.',
    ),
  outcome: z
    .string()
    .nullable()
    .describe(
      'Once it is known: answered, voicemail, busy, no_answer, failed, cut, canceled, opted_out, `refused:` and an error code, or skipped.',
    ),
  attempts: z.int().describe('Calls made.'),
  next_attempt_at: time
    .nullable()
    .describe('When he is called again at the earliest; null: at once, or not.'),
  waits_for: z
    .enum(['retry', 'window', 'gate'])
    .nullable()
    .describe(
      'What `next_attempt_at` comes from: the wait after an outcome, the windows, or the rules of outbound calls.',
    ),
  last_call_id: id.nullable().describe('The last call to him.'),
  result: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("What that call brought, by the agent's `returns`."),
  result_status: z
    .enum(['pending', 'completed', 'failed'])
    .nullable()
    .describe('Whether it did; null without a call.'),
  created_at: time.describe('When he was added.'),
  updated_at: time.describe('When he was last changed.'),
};
const contact = z.strictObject(contactFields).meta({ id: 'CampaignContact', examples: [CAMPAIGN_CONTACT] });
export const contactList = z.strictObject({ data: z.array(contact).describe('Newest first.') });
export const contactWithCalls = z
  .strictObject({
    ...contactFields,
    calls: z
      .array(
        z.strictObject({
          attempt: z.int().describe('Counts from 1.'),
          call_id: id.describe('The call.'),
          started_at: time.describe('When it was begun.'),
          ended_at: time.nullable().describe('When it ended.'),
          outcome: z.string().nullable().describe('How it ended; null while it lasts.'),
        }),
      )
      .describe('Every attempt, in order.'),
  })
  .meta({ id: 'CampaignContactWithCalls' });

const byOutcome = z.record(z.string(), z.int());
export const report = z
  .strictObject({
    campaign_id: id.describe('The campaign.'),
    contacts: counts.describe('How many contacts stand where.'),
    outcomes: byOutcome.describe('Contacts by their final outcome.'),
    attempts: z
      .strictObject({
        total: z.int().describe('Calls that have ended.'),
        by_outcome: byOutcome.describe('The same by outcome.'),
      })
      .describe('Calls, retries among them.'),
    hours: z
      .array(
        z.strictObject({
          hour: time.describe('Its beginning.'),
          by_outcome: byOutcome.describe('Calls that ended in it.'),
        }),
      )
      .describe('Hours in which calls ended, in order.'),
  })
  .meta({ id: 'CampaignReport' });
