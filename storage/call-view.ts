// The Call object as the API and webhooks show it: which fields, in which order. PURE.
import type { CallRecord } from './records.ts';

/** The public fields in the order of the specification. Fields are added at the end, never changed. */
export const CALL_FIELDS = [
  'id',
  'agent_id',
  'to_number',
  'from_number',
  'status',
  'direction',
  'persona',
  'instructions',
  'prompt',
  'context',
  'returns',
  'language',
  'result',
  'result_status',
  'result_error',
  'created_at',
  'started_at',
  'answered_at',
  'ended_at',
  'duration_seconds',
  'billed_duration_seconds',
  'billing_amount_milli_cents',
  'reservation_status',
  'webhook_url',
  'webhook_status',
  'webhook_error',
  'error_code',
  'error_message',
  'hangup_cause',
  'metadata',
  'updated_at',
  'cost',
  'model',
  'gaps',
  'erased_at',
  'campaign_id',
  'contact_id',
  'attempt',
  'gate',
  'disclosure',
  'opted_out',
  'summary',
  'sentiment',
] as const satisfies readonly (keyof CallRecord)[];

export type PublicCall = Pick<CallRecord, (typeof CALL_FIELDS)[number]>;

/** The Call object of a record; everything the daemon keeps beside it stays behind. */
export function callView(record: CallRecord): PublicCall {
  return Object.fromEntries(CALL_FIELDS.map((field) => [field, record[field]])) as unknown as PublicCall;
}
