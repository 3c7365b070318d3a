// What the routes about what is kept take and answer: erasures, legal holds, retention. PURE.
import { z } from 'zod';
import { ERASURE_STATES, KEPT_KINDS, type KeptKind, SUBJECTS } from '../../storage/kept-records.ts';
import { e164, id, numberQuery, pageQuery, time } from '../http/schemas.ts';
import { CALL, ERASURE, LEGAL_HOLD, RETENTION } from './examples.ts';

const MAX_DAYS = 36_500;
const MAX_REASON = 500;

const reason = z.string().trim().max(MAX_REASON, `may have ${MAX_REASON} characters at most`);

const askedBy = z
  .strictObject({
    kind: z.enum(['key', 'user']).describe('An API key, or a person.'),
    id: z.string().describe('Its id.'),
    name: z.string().describe('What it was called then.'),
  })
  .meta({ id: 'AskedBy', description: 'Who asked for something.' });

const SUBJECT_FIELDS = ['call_id', 'number', 'organization'] as const;

/** @returns what is wrong with which of the three were given; null: one was */
export function subjectFault(
  given: Partial<Record<(typeof SUBJECT_FIELDS)[number], unknown>>,
): string | null {
  const count = SUBJECT_FIELDS.filter((field) => given[field] !== undefined).length;
  return count === 1 ? null : 'Send one of call_id, number and organization.';
}

const subjects = {
  call_id: id.optional().describe('One call.'),
  number: e164
    .optional()
    .describe('All calls with this number on the other side, and what else is kept of it, E.164.'),
};

export const newErasure = z
  .strictObject({
    ...subjects,
    organization: z
      .literal(true)
      .optional()
      .describe(
        'All of your organization, for good: its keys and people end at once. Needs the Operator-Key header, and `confirm`.',
      ),
    confirm: z
      .string()
      .optional()
      .describe('With `organization`: its name, so that nobody does this by mistake.'),
    reason: reason.optional().describe('Why, for the receipt. Name nobody in it: the receipt stays.'),
  })
  .meta({
    id: 'NewErasure',
    description: 'What is to be erased: one of call_id, number and organization.',
    examples: [{ number: CALL.to_number, reason: ERASURE.reason }],
  });

export const listErasures = pageQuery.extend({
  number: numberQuery
    .optional()
    .describe('Only those of this number: whoever knows it finds its receipt, E.164.'),
});

const subject = z.enum(SUBJECTS).describe('What it is about: one call, a number, or the whole organization.');

export const erasure = z
  .strictObject({
    id: id.describe('Erasure id.'),
    subject,
    call_id: id.nullable().describe('The call. Null: it was another subject.'),
    number_hash: z
      .string()
      .nullable()
      .describe(
        'HMAC-SHA-256 of the number under a salt of the organization: the number is kept nowhere, and GET /v1/erasures?number=… finds this by it. Null: it was another subject.',
      ),
    reason: z.string().nullable().describe('Why, as it was sent. Null: nothing was.'),
    state: z
      .enum(ERASURE_STATES)
      .describe(
        '`running`: rows and files are being erased. `clearing`: nothing names it any more; the index of words and the log of the database are being rid of it. `done`. One that a crash cuts off goes on with the next start.',
      ),
    requested_by: askedBy.describe('Who asked for it.'),
    counts: z
      .record(z.string(), z.number())
      .describe('Rows by table, `files` with their `file_bytes`, and `kept_answers` to requests.'),
    files: z
      .array(
        z
          .strictObject({
            path: z.string().describe('Below the data folder.'),
            bytes: z.int().describe('How long it was.'),
            sha256: z.string().describe('Of what was in it, hex.'),
          })
          .meta({ id: 'ErasedFile', description: 'A file that was deleted.' }),
      )
      .describe('What was deleted, with a digest of each taken before.'),
    backups: z
      .array(
        z
          .strictObject({
            path: z
              .string()
              .describe('Where it is, on the host; below the data folder where it begins with no slash.'),
            made_at: time.describe('When it was made.'),
          })
          .meta({ id: 'BackupCopy', description: 'A copy of the database from before an erasure.' }),
      )
      .describe(
        'Copies that still hold it, as far as this daemon knows: those that `offhook backup` made, and those beside the database. Delete them, or let them grow old; after a restore, erase again.',
      ),
    created_at: time.describe('When it was asked for.'),
    done_at: time.nullable().describe('When it was done. Null: it is not.'),
    rewritten_at: time
      .nullable()
      .describe(
        "When the database's file was written anew after it, without even the free space of before. Null: not yet; that waits for a moment without calls, and is left to the operator where the file is large.",
      ),
  })
  .meta({ id: 'Erasure', description: 'An erasure, and its receipt.', examples: [ERASURE] });

export const erasureList = z.strictObject({ data: z.array(erasure).describe('Newest first.') });

export const newHold = z
  .strictObject({
    ...subjects,
    organization: z.literal(true).optional().describe('All of your organization.'),
    reason: reason.min(1, 'needs a reason').describe('Why, for whoever finds that nothing is erased.'),
  })
  .meta({
    id: 'NewLegalHold',
    description: 'What is to be held: one of call_id, number and organization.',
    examples: [{ number: LEGAL_HOLD.number, reason: LEGAL_HOLD.reason }],
  });

export const listHolds = pageQuery.extend({
  call_id: id.optional().describe('Only those in force that cover this call.'),
});

export const hold = z
  .strictObject({
    id: id.describe('Legal hold id.'),
    subject,
    call_id: id.nullable().describe('The call. Null: it is of another subject.'),
    number: z.string().nullable().describe('The number, E.164. Null: it is of another subject.'),
    reason: z.string().describe('Why.'),
    created_by: askedBy.describe('Who asked for it.'),
    created_at: time.describe('Since when.'),
    lifted_by: askedBy.nullable().describe('Who lifted it. Null: it is in force.'),
    lifted_at: time.nullable().describe('Until when. Null: it is in force.'),
  })
  .meta({
    id: 'LegalHold',
    description: 'What it covers is neither erased nor deleted by age.',
    examples: [LEGAL_HOLD],
  });

export const holdList = z.strictObject({ data: z.array(hold).describe('Newest first.') });

const KIND_TEXT: Readonly<Record<KeptKind, string>> = {
  recordings: 'The files of recordings.',
  transcripts: 'What was said, and what it is found by.',
  events: 'Events, with their deliveries.',
  deliveries: 'Deliveries of webhooks, with what receivers answered.',
  calls: 'All that tells of anybody: the call is erased but for what counts (times, lengths, money).',
};

const days = (text: string) =>
  z
    .int('must be a whole number of days, or null')
    .min(1, 'must be a day at least, or null')
    .max(MAX_DAYS, `may be ${MAX_DAYS} days at most, or null`)
    .nullable()
    .describe(`${text} Days from the start of the call on. Null: for ever.`);

const everyKind = Object.fromEntries(
  KEPT_KINDS.map((kind) => [`${kind}_days`, days(KIND_TEXT[kind])]),
) as Record<`${KeptKind}_days`, ReturnType<typeof days>>;

const daysOf = z.strictObject(everyKind).meta({
  id: 'KeptDays',
  description: 'How long what is kept.',
  examples: [RETENTION],
});

export const retention = z
  .strictObject({
    default: daysOf.describe('Of calls whose agent has no days of its own, and of calls without an agent.'),
    agents: z
      .array(
        z
          .strictObject({ agent_id: id.describe('The agent.'), days: daysOf.describe('Of its calls.') })
          .meta({ id: 'AgentKeptDays', description: 'How long what is kept of an agent’s calls.' }),
      )
      .describe('Agents with days of their own.'),
  })
  .meta({
    id: 'Retention',
    description: 'How long what is kept, by organization and agent.',
    examples: [{ default: RETENTION, agents: [] }],
  });

export const changeRetention = z
  .strictObject({
    agent_id: id
      .nullable()
      .optional()
      .describe('Days of this agent’s own, which begin as the default is. Left out or null: the default.'),
    ...(Object.fromEntries(Object.entries(everyKind).map(([name, schema]) => [name, schema.optional()])) as {
      [K in keyof typeof everyKind]: z.ZodOptional<(typeof everyKind)[K]>;
    }),
  })
  .meta({ id: 'RetentionChange', examples: [{ recordings_days: 30, transcripts_days: 90 }] });
