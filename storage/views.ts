// Agent, Number, Endpoint, Delivery and Attempt as the API shows them: secrets and our own columns stay behind. PURE.
import { disclosureOf } from './disclosure.ts';
import type {
  AgentRecord,
  AgentView,
  AttemptRecord,
  DeliveryRecord,
  EndpointRecord,
  NumberView,
} from './records.ts';

export const NUMBER_FIELDS = [
  'id',
  'e164',
  'friendly_name',
  'country_code',
  'number_type',
  'status',
  'monthly_cost_cents',
  'purchased_at',
  'carrier',
  'inbound_agent_id',
  'outbound_agent_ids',
] as const satisfies readonly (keyof NumberView)[];

export const AGENT_FIELDS = [
  'id',
  'org_id',
  'user_id',
  'name',
  'type',
  'persona',
  'instructions',
  'voice',
  'model',
  'language',
  'returns',
  'tools',
  'webhook_url',
  'voicemail_action',
  'interruption_words',
  'patience',
  'eagerness',
  'interruption',
  'summarize',
  'mask',
  'consent',
  'disclosure',
  'primary_number_id',
  'archived_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AgentRecord)[];

export const ENDPOINT_FIELDS = [
  'id',
  'org_id',
  'url',
  'description',
  'enabled_events',
  'status',
  'disabled_reason',
  'disabled_at',
  'consecutive_failures',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof EndpointRecord)[];

export const DELIVERY_FIELDS = [
  'id',
  'org_id',
  'endpoint_id',
  'call_id',
  'event_type',
  'url',
  'status',
  'attempt_count',
  'manual_retry_count',
  'next_attempt_at',
  'last_error',
  'last_response_status',
  'delivered_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof DeliveryRecord)[];

export const ATTEMPT_FIELDS = [
  'id',
  'attempt',
  'started_at',
  'latency_ms',
  'response_status',
  'error',
  'response_excerpt',
] as const satisfies readonly (keyof AttemptRecord)[];

export type PublicNumber = Pick<NumberView, (typeof NUMBER_FIELDS)[number]>;
export type PublicAgent = Pick<AgentRecord, (typeof AGENT_FIELDS)[number]> & { numbers: PublicNumber[] };
export type PublicEndpoint = Pick<EndpointRecord, (typeof ENDPOINT_FIELDS)[number]>;
export type PublicDelivery = Pick<DeliveryRecord, (typeof DELIVERY_FIELDS)[number]>;
export type PublicAttempt = Pick<AttemptRecord, (typeof ATTEMPT_FIELDS)[number]>;

function pick<R, F extends keyof R & string>(record: R, fields: readonly F[]): Pick<R, F> {
  return Object.fromEntries(fields.map((field) => [field, record[field]])) as unknown as Pick<R, F>;
}

export function numberView(record: NumberView): PublicNumber {
  return pick(record, NUMBER_FIELDS);
}

/** What stands in the place of a value that is never shown again. */
export const MASK = '********';

function maskedTools(tools: AgentRecord['tools']): AgentRecord['tools'] {
  if (tools === null) return null;
  return tools.map((tool) => {
    if (tool.type !== 'http' || tool.headers === undefined) return tool;
    return { ...tool, headers: Object.fromEntries(Object.keys(tool.headers).map((name) => [name, MASK])) };
  });
}

/** The values of tools' headers are masked: they open something. */
export function agentView(record: AgentView): PublicAgent {
  return {
    ...pick(record, AGENT_FIELDS),
    tools: maskedTools(record.tools),
    disclosure: disclosureOf(record),
    numbers: record.numbers.map(numberView),
  };
}

/** Never with its secret; the answer to a registration adds that itself. */
export function endpointView(record: EndpointRecord): PublicEndpoint {
  return pick(record, ENDPOINT_FIELDS);
}

export function deliveryView(record: DeliveryRecord): PublicDelivery {
  return pick(record, DELIVERY_FIELDS);
}

export function attemptView(record: AttemptRecord): PublicAttempt {
  return pick(record, ATTEMPT_FIELDS);
}
