// What stands on a call of how it passed the outbound gate, and what may be said against the gate. PURE.
import { z } from 'zod';
import { NUMBER_KINDS } from '../../storage/outbound/number-facts.ts';
import { GATE_CODES } from '../../storage/outbound/outbound-records.ts';
import { time } from '../http/schemas.ts';

export const gateCode = z
  .enum(GATE_CODES)
  .describe('What speaks against a call, as the table of errors has it.');
export const numberKind = z
  .enum(NUMBER_KINDS)
  .describe(
    'The kind of range that the number is of, as Google’s libphonenumber knows it. `satellite`: of a satellite or another global network. `unassigned`: of a numbering plan, and no range of it is known to have the number.',
  );
export const localTimes = z
  .array(
    z.strictObject({
      zone: z.string().describe('A time zone, as `America/New_York`.'),
      time: z.string().describe('What its clocks show, as `2026-03-01T08:05`.'),
    }),
  )
  .describe('What the clocks show where the number may be, each different time once.');
export const doer = z.strictObject({
  kind: z.enum(['key', 'user', 'campaign', 'call']).describe('What it is.'),
  id: z.string().describe('Its id.'),
  name: z.string().describe('What it is called.'),
});

export const override = z
  .strictObject({
    codes: z
      .array(gateCode)
      .min(1, 'must name at least one code')
      .max(GATE_CODES.length)
      .describe('What may speak against the call: every code that does must be named, `do_not_call` too.'),
    reason: z
      .string()
      .regex(/\S/, 'may not be blank')
      .max(500, 'may have 500 characters at most')
      .describe('Why, for whoever reads it later.'),
  })
  .describe(
    'Places the call though the rules of outbound calls would refuse it. For whoever may administer the organization; who it was is kept with the call, and logged.',
  );

export const gate = z.strictObject({
  decided_at: time.describe('When.'),
  country: z.string().nullable().describe('ISO 3166; null for a number of no country.'),
  kind: numberKind,
  zones: z.array(z.string()).describe('Time zones that the number may be in.'),
  local_times: localTimes,
  calls_to_destination: z
    .int()
    .nullable()
    .describe('Calls to the number in the 24 hours before; null where no limit asks for it.'),
  calls_in_minute: z
    .int()
    .nullable()
    .describe('Calls of the organization in the minute before; null where no limit asks for it.'),
  spent_milli_cents: z
    .int()
    .nullable()
    .describe('What the organization had spent in the 24 hours before; null where no limit asks for it.'),
  consent_id: z.string().nullable().describe('The consent that it rests on, where one was needed.'),
  overridden: z
    .strictObject({
      by: doer.describe('Who.'),
      codes: z.array(gateCode).describe('What would have refused it.'),
      reason: z.string().describe('Why.'),
    })
    .nullable()
    .describe('What was let pass, and by whom. Null: nothing spoke against it.'),
});
