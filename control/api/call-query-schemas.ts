// What lists and exports of calls, and recordings, are asked for by. PURE.
import { z } from 'zod';
import { A_PAGE } from '../../bridge/carriers/carrier.ts';
import { id, numberQuery, pageQuery, timeQuery } from '../http/schemas.ts';
import { direction, status } from './call-schemas.ts';

/** How inbound calls show callers that have no number of their own, or withhold it. */
const CALLER_WITHOUT_NUMBER = new RegExp(
  `^(anonymous|${A_PAGE}|\\d{2,15}|(sips?|client):[\\x21-\\x7e]{1,250})$`,
);

export const recordingShape = z.strictObject({
  channels: z
    .enum(['stereo', 'mono', 'caller', 'agent'])
    .default('stereo')
    .describe('`stereo`: the caller left, the agent right; `mono`: both in one; or one side alone.'),
  rate: z
    .enum(['8000', '16000'])
    .default('8000')
    .describe('Samples a second: 8000 as on the phone, 16000 for programs that take no less.'),
});

const callFilters = {
  status: status.optional().describe('Only calls in this status.'),
  direction: direction.optional().describe('Only calls in this direction.'),
  agent_id: id.optional().describe('Only calls of this agent.'),
  to_number: numberQuery.optional().describe('Only calls to this number, E.164.'),
  from_number: z
    .union([z.string().regex(CALLER_WITHOUT_NUMBER, 'must be a caller as from_number shows it'), numberQuery])
    .optional()
    .describe('Only calls from this number, E.164, or from this caller as `from_number` shows it.'),
  created_after: timeQuery.optional().describe('Only calls created after this time, ISO 8601.'),
  created_before: timeQuery.optional().describe('Only calls created before this time, ISO 8601.'),
  search: z
    .string()
    .trim()
    .min(1, 'may not be blank')
    .max(100, 'may have 100 characters at most')
    .optional()
    .describe(
      "Only calls with this in one of their numbers (three digits or more), in the agent's name, or among the words that were said on it, by either side: all of them, the last one also as the start of a word. The newest made first. Five searches per second and organization, then 429.",
    ),
};

export const listCalls = pageQuery.extend(callFilters);

export const exportCalls = z.strictObject({
  ...callFilters,
  columns: z
    .string()
    .trim()
    .min(1, 'may not be blank')
    .max(2_000, 'may have 2,000 characters at most')
    .optional()
    .describe(
      "Which columns, in their order, with commas between: fields of a Call, `agent_name`, `cost_milli_cents`, `result.<field>` and `metadata.<field>`. Without it all of them; with `agent_id` the fields of that agent's result each in a column.",
    ),
  bom: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether the file begins with a byte order mark, by which Excel knows UTF-8.'),
});
