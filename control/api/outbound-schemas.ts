// What the routes of outbound rules, the do-not-call list, consents and refused calls take and answer. PURE.
import { z } from 'zod';
import { DAYS } from '../../storage/outbound/calling-hours.ts';
import { NUMBER_KINDS } from '../../storage/outbound/number-facts.ts';
import { DO_NOT_CALL_SOURCES, GATE_CODES } from '../../storage/outbound/outbound-records.ts';
import { e164, id, numberQuery, pageQuery, time } from '../http/schemas.ts';
import { doer, gateCode, localTimes, numberKind } from './gate-schemas.ts';

const MOST_GIVEN = 500;
const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be two capital letters such as US (ISO 3166)')
  .meta({ examples: ['US'] });
const prefix = z
  .string()
  .regex(/^\+[1-9]\d{0,13}$/, 'must be the beginning of an E.164 number, such as +4420')
  .meta({ examples: ['+4420'] });
const limit = z.int('must be a whole number').min(0, 'may not be below 0').nullable();
const clockTime = (pattern: RegExp) => z.string().regex(pattern, 'must be a time of day such as 08:00');
const hours = z
  .strictObject({
    from: clockTime(/^([01]\d|2[0-3]):[0-5]\d$/).describe('The first minute, `HH:MM`.'),
    to: clockTime(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/).describe(
      'The first minute that is too late; 24:00 is the end of the day.',
    ),
    days: z.array(z.enum(DAYS)).min(1, 'must name a day').max(7).describe('Days of the week, there.'),
  })
  .refine(({ from, to }) => from < to, 'must end after they begin, on the same day');

const rules = {
  countries: z
    .array(country)
    .max(250)
    .describe('Countries that may be called, beside those of the organization’s own numbers.'),
  allowed_prefixes: z
    .array(prefix)
    .max(200)
    .describe('What begins so may be called whatever its country. Its kind must be open all the same.'),
  closed_prefixes: z.array(prefix).max(200).describe('What begins so is closed, whatever else allows it.'),
  closed_kinds: z
    .array(z.enum(NUMBER_KINDS))
    .max(NUMBER_KINDS.length)
    .describe(
      'Kinds of ranges that are closed. By default premium, shared_cost, satellite, personal, pager, uan and voicemail.',
    ),
  calls_per_destination_per_day: limit.describe('Calls to one number in 24 hours. Null: any number.'),
  calls_per_minute: limit.describe('Outbound calls in 60 seconds. Null: any number.'),
  spend_per_day_milli_cents: limit.describe(
    'What may be spent in 24 hours, in thousandths of a cent: the larger of what calls were charged and what they are estimated to have cost, and what live calls hold. Null: any amount.',
  ),
  calling_hours: hours
    .nullable()
    .describe(
      'When calls may be placed, by the clock where the called number is. One that may be in several time zones is called when it is within the hours in all of them. Null: at any time.',
    ),
  consent: z
    .enum(['none', 'required'])
    .describe('`required`: only numbers with a consent are called, whatever the agent says.'),
};
const ruleNames = Object.keys(rules) as (keyof typeof rules)[];

export const changeRules = z
  .strictObject(rules)
  .partial()
  .extend({
    reset: z
      .array(z.enum(ruleNames as [keyof typeof rules, ...(keyof typeof rules)[]]))
      .optional()
      .describe('Rules to give up for those of the daemon’s settings.'),
  })
  .meta({
    id: 'OutboundRulesChange',
    description: 'What is left out stays as it is.',
    examples: [{ countries: ['CA'], calls_per_minute: 20 }],
  });

export const rulesAnswer = z
  .strictObject({
    ...rules,
    number_countries: z
      .array(country)
      .describe('Countries of the organization’s active numbers: they may be called too.'),
    own: z
      .array(z.string())
      .describe('Which of the rules the organization has set itself; the others are the daemon’s.'),
    updated_at: time.nullable().describe('Null: never changed.'),
    updated_by: doer.nullable().describe('Who changed them last.'),
  })
  .meta({ id: 'OutboundRules', description: 'Whom an organization may call, when and how often.' });

export const check = z
  .strictObject({
    to: e164.describe('The number to be tried.'),
    from_number: e164.optional().describe('The number it would be called from; its country may be called.'),
    agent_id: id.optional().describe('The agent that would call: it may need a consent.'),
  })
  .meta({
    id: 'OutboundCheck',
    description: 'A number to be tried without calling it.',
    examples: [{ to: '+14155550123' }],
  });

const refusal = z.strictObject({
  code: gateCode,
  reason: z.string().describe('For people.'),
  evidence: z.record(z.string(), z.unknown()).describe('What the code rests on.'),
  retry_after_seconds: z.int().nullable().describe('When to ask again; null: it is not a matter of waiting.'),
});

export const checkAnswer = z
  .strictObject({
    to: z.string().describe('The number.'),
    allowed: z.boolean().describe('Whether it would be called now.'),
    country: z.string().nullable().describe('ISO 3166; null for a number of no country.'),
    kind: numberKind,
    zones: z.array(z.string()).describe('Time zones that it may be in.'),
    local_times: localTimes,
    refusals: z
      .array(refusal)
      .describe('Everything that speaks against it, in the order in which a call would be refused.'),
  })
  .meta({ id: 'OutboundAnswer', description: 'What the gate would say of a call now.' });

export const listRefused = pageQuery.extend({
  code: z
    .enum(GATE_CODES, `must be one of ${GATE_CODES.join(', ')}`)
    .optional()
    .describe('Refused for this.'),
});
export const refusedList = z
  .strictObject({
    data: z
      .array(
        z
          .strictObject({
            id: id.describe('Id of the refusal.'),
            to_number: z.string().nullable().describe('Whom the call was for; null once that was erased.'),
            last4: z.string().describe('The last four digits.'),
            from_number: z.string().nullable().describe('The number it would have been made from.'),
            agent_id: id.nullable().describe('The agent that would have called.'),
            code: gateCode,
            reason: z.string().describe('For people.'),
            evidence: z.record(z.string(), z.unknown()).describe('What the code rests on.'),
            codes: z.array(gateCode).describe('Everything that spoke against it.'),
            asked_by: doer.nullable().describe('Who asked for the call, where that is known.'),
            created_at: time.describe('When.'),
          })
          .meta({ id: 'RefusedCall', description: 'A call that was not placed.' }),
      )
      .describe('Newest first; the last 10,000 are kept.'),
  })
  .meta({ id: 'RefusedCalls', description: 'Calls that were not placed.' });

const reason = z.string().max(500, 'may have 500 characters at most').nullable().optional();
export const addDoNotCall = z
  .strictObject({
    numbers: z
      .array(e164)
      .min(1, 'must name a number')
      .max(MOST_GIVEN, `may hold ${MOST_GIVEN} at most; more go by /v1/do_not_call/import`)
      .describe('Whom not to call, E.164.'),
    reason: reason.describe('Why, for whoever reads it later.'),
  })
  .meta({
    id: 'NewDoNotCall',
    description: 'Numbers that are not to be called any more.',
    examples: [{ numbers: ['+14155550123'], reason: 'asked in a letter' }],
  });
export const listDoNotCall = pageQuery.extend({
  number: numberQuery.optional().describe('Only this number.'),
});
export const doNotCall = z
  .strictObject({
    id: id.describe('Id of the entry.'),
    number: z
      .string()
      .nullable()
      .describe('The number; null once it was erased: it is known by a hash and not called all the same.'),
    last4: z.string().describe('The last four digits.'),
    reason: z.string().nullable().describe('Why.'),
    source: z.enum(DO_NOT_CALL_SOURCES).describe('Where it came from; `said`: on a call.'),
    call_id: id.nullable().describe('The call on which it was said.'),
    item_id: z.string().nullable().describe('The item of its transcript.'),
    at_ms: z.number().nullable().describe('When, in milliseconds since its stream began.'),
    created_by: doer.nullable().describe('Who added it.'),
    created_at: time.describe('Since when.'),
  })
  .meta({ id: 'DoNotCallEntry', description: 'A number that is not called.' });
export const doNotCallList = z
  .strictObject({ data: z.array(doNotCall).describe('Newest first.') })
  .meta({ id: 'DoNotCall', description: 'Numbers that are not called.' });
export const doNotCallReport = z
  .strictObject({
    lines: z.int().describe('Lines of the file that are not blank, the names of the columns apart.'),
    listed: z.int().describe('Numbers of it that are on the list now.'),
    refused: z
      .array(
        z.strictObject({ line: z.int().describe('Where.'), text: z.string().describe('What stands there.') }),
      )
      .describe('Lines without a number, the first 200.'),
  })
  .meta({ id: 'DoNotCallReport', description: 'What came of a file.' });

export const addConsents = z
  .strictObject({
    numbers: z
      .array(e164)
      .min(1, 'must name a number')
      .max(MOST_GIVEN, `may hold ${MOST_GIVEN} at most`)
      .describe('Who has agreed, E.164.'),
    purpose: z.string().regex(/\S/, 'may not be blank').max(500).describe('What for.'),
    source: z
      .string()
      .regex(/\S/, 'may not be blank')
      .max(500)
      .describe('How it came: a form, a contract, a call.'),
    given_at: z.iso
      .datetime({ offset: true, error: 'must be an ISO 8601 time' })
      .describe('When it was given.'),
    evidence: z
      .record(z.string(), z.unknown(), 'must be a JSON object')
      .refine((value) => JSON.stringify(value).length <= 8_192, 'may be 8 KB of JSON at most')
      .nullable()
      .optional()
      .describe('What shows it: the version of a form, an address. 8 KB at most.'),
  })
  .meta({
    id: 'NewConsents',
    description: 'Consents to be called.',
    examples: [
      {
        numbers: ['+14155550123'],
        purpose: 'reminders',
        source: 'web form',
        given_at: '2026-02-01T10:00:00Z',
      },
    ],
  });
export const listConsents = pageQuery.extend({
  number: numberQuery.optional().describe('Only this number.'),
});
export const consent = z
  .strictObject({
    id: id.describe('Id of the consent.'),
    number: z.string().nullable().describe('The number; null once it was erased.'),
    last4: z.string().describe('The last four digits.'),
    purpose: z.string().describe('What for.'),
    source: z.string().describe('How it came.'),
    given_at: time.describe('When it was given.'),
    evidence: z.record(z.string(), z.unknown()).nullable().describe('What shows it.'),
    revoked_at: time.nullable().describe('When it was revoked. Null: it stands.'),
    created_by: doer.nullable().describe('Who entered it.'),
    created_at: time.describe('When it was entered.'),
  })
  .meta({ id: 'Consent', description: 'Somebody has agreed to be called.' });
export const consentList = z
  .strictObject({ data: z.array(consent).describe('Newest first.') })
  .meta({ id: 'Consents', description: 'Consents to be called.' });
