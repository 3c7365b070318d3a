// What the number routes take and answer, with what the reference says of each field. PURE.
import { z } from 'zod';
import { e164, id, pageQuery, time } from '../http/schemas.ts';
import { ATTACHED_NUMBER, AVAILABLE_NUMBER } from './examples.ts';

export const listNumbers = pageQuery;

const carrier = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be the name of a carrier, such as twilio');

export const searchNumbers = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code such as US')
    .toUpperCase()
    .default('US')
    .describe('Two-letter country code (ISO 3166-1).'),
  type: z.enum(['local', 'mobile', 'toll_free', 'national']).default('local').describe('Kind of number.'),
  area_code: z
    .string()
    .regex(/^\d{1,6}$/, 'must be digits, such as 415')
    .optional()
    .describe('Only numbers of this area code, such as 415.'),
  contains: z
    .string()
    .regex(/^[0-9A-Za-z*+]{1,20}$/, 'may hold digits, letters and *, 20 at most')
    .optional()
    .describe('Digits or letters that the number holds; * stands for any digit.'),
  locality: z
    .string()
    .min(1, 'may not be empty')
    .max(100, 'may have 100 characters at most')
    .optional()
    .describe('City.'),
  region: z
    .string()
    .min(1, 'may not be empty')
    .max(100, 'may have 100 characters at most')
    .optional()
    .describe('State or province, such as CA.'),
  carrier: carrier
    .optional()
    .describe('Only numbers of this carrier. Left out: of the first one that sells any.'),
  limit: pageQuery.shape.limit,
});

export const purchaseNumber = z
  .strictObject({
    e164: e164.describe('The number to buy, E.164.'),
    friendly_name: z
      .string()
      .min(1, 'may not be empty')
      .max(64, 'may have 64 characters at most')
      .optional()
      .describe("Label. Left out: the carrier's."),
    carrier: carrier
      .optional()
      .describe('The carrier to buy it of, as in the search. Left out: the first one that sells any.'),
  })
  .meta({ id: 'NumberPurchase', examples: [{ e164: '+14155550100', friendly_name: 'Front desk' }] });

export const number = z
  .strictObject({
    id: id.describe('Number id.'),
    e164: z.string().describe('The number, E.164.'),
    friendly_name: z.string().describe('Label.'),
    country_code: z.string().describe('Two-letter country code.'),
    number_type: z.string().describe('Kind of number: local, mobile, toll_free or national.'),
    status: z
      .enum(['active', 'released'])
      .describe('`active`: can be called and called from. `released`: given back, kept for the record.'),
    monthly_cost_cents: z.int().describe('What it costs a month, in cents.'),
    purchased_at: time.describe('When it was bought.'),
    carrier: z.string().describe('The carrier that it is at: calls from it go out there.'),
    inbound_agent_id: id
      .nullable()
      .describe('The inbound agent that answers it. Null: calls to it are rejected.'),
    outbound_agent_ids: z.array(id).describe('The outbound agents that may call from it.'),
  })
  .meta({
    id: 'Number',
    description: 'A phone number that the organization has bought.',
    examples: [ATTACHED_NUMBER],
  });
export const numberList = z.strictObject({ data: z.array(number).describe('Newest first.') });

export const availableNumberList = z.strictObject({
  data: z.array(
    z
      .strictObject({
        e164: z.string().describe('The number, E.164; POST /v1/numbers/purchase buys it.'),
        friendly_name: z.string().describe("The carrier's label."),
        country_code: z.string().describe('Two-letter country code.'),
        number_type: z.string().describe('Kind of number.'),
        locality: z.string().nullable().describe('City. Null: the carrier does not say.'),
        region: z.string().nullable().describe('State or province. Null: the carrier does not say.'),
        monthly_cost_cents: z
          .int()
          .nullable()
          .describe(
            'What it would cost a month, in cents. Null: the carrier names no price, and it cannot be bought until the operator does.',
          ),
      })
      .meta({
        id: 'AvailableNumber',
        description: 'A number that can be bought at the carrier.',
        examples: [AVAILABLE_NUMBER],
      }),
  ),
});
