// What the number routes take and answer. PURE.
import { z } from 'zod';
import { e164, id, pageQuery, time } from './schemas.ts';

export const listNumbers = pageQuery;

export const searchNumbers = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code such as US')
    .toUpperCase()
    .default('US'),
  type: z.enum(['local', 'mobile', 'toll_free', 'national']).default('local'),
  area_code: z
    .string()
    .regex(/^\d{1,6}$/, 'must be digits, such as 415')
    .optional(),
  contains: z
    .string()
    .regex(/^[0-9A-Za-z*+]{1,20}$/, 'may hold digits, letters and *, 20 at most')
    .optional(),
  locality: z.string().min(1, 'may not be empty').max(100, 'may have 100 characters at most').optional(),
  region: z.string().min(1, 'may not be empty').max(100, 'may have 100 characters at most').optional(),
  limit: pageQuery.shape.limit,
});

export const purchaseNumber = z.strictObject({
  e164,
  friendly_name: z.string().min(1, 'may not be empty').max(64, 'may have 64 characters at most').optional(),
});

export const number = z.strictObject({
  id,
  e164: z.string(),
  friendly_name: z.string(),
  country_code: z.string(),
  number_type: z.string(),
  status: z.enum(['active', 'released']),
  monthly_cost_cents: z.int(),
  purchased_at: time,
  inbound_agent_id: id.nullable(),
  outbound_agent_ids: z.array(id),
});
export const numberList = z.strictObject({ data: z.array(number) });

export const availableNumberList = z.strictObject({
  data: z.array(
    z.strictObject({
      e164: z.string(),
      friendly_name: z.string(),
      country_code: z.string(),
      number_type: z.string(),
      locality: z.string().nullable(),
      region: z.string().nullable(),
      monthly_cost_cents: z.int(),
    }),
  ),
});
