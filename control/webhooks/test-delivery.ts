// A test event to one endpoint, at once and once, with what came of it as the answer. It is no event of a call: nothing of
// it is stored, nothing is tried again, and the endpoint's count of failures stays as it is.
import { v7 as uuidv7 } from 'uuid';
import type { EndpointRecord } from '../../storage/records.ts';
import { type Egress, EgressError } from '../egress/egress.ts';
import { ATTEMPT_TIMEOUT_MS, ERROR_NAME } from './delivery.ts';
import { signWebhook } from './signature.ts';

const TEST_EVENT = 'endpoint.test';
const MAX_RESPONSE_BYTES = 16 * 1024;

export interface TestOutcome {
  status: 'delivered' | 'failed';
  status_code: number | null;
  latency_ms: number;
  error: string | null;
}

/** Signs with the secrets in force, as a delivery does, and posts. Also to a disabled endpoint: to see whether it is well. */
export async function testEndpoint(
  egress: Pick<Egress, 'request'>,
  endpoint: EndpointRecord,
  now: Date,
): Promise<TestOutcome> {
  const id = uuidv7();
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const body = JSON.stringify({
    type: TEST_EVENT,
    endpoint_id: endpoint.id,
    created_at: now.toISOString(),
    message: 'A test from Offhook. Real events have a Call here.',
  });
  const { secret, previous_secret, previous_secret_expires_at } = endpoint;
  const both =
    previous_secret !== null &&
    previous_secret_expires_at !== null &&
    previous_secret_expires_at > now.toISOString();
  const begun = performance.now();
  let status: number | null = null;
  let error: string | null = null;
  try {
    const answer = await egress.request(endpoint.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Service-Event-Id': id,
        'Service-Event-Type': TEST_EVENT,
        'Service-Event-Sequence': '1',
        'Service-Delivery-Attempt': '1',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signWebhook({
          id,
          timestampSeconds,
          body,
          secrets: both ? [secret, previous_secret] : [secret],
        }),
      },
      body,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    status = answer.status;
    if (status >= 300 && status <= 399) error = 'redirect_not_followed';
    else if (status < 200 || status > 299) error = `http_status_${status}`;
  } catch (cause) {
    if (!(cause instanceof EgressError)) throw cause;
    error = ERROR_NAME[cause.kind];
  }
  return {
    status: error === null ? 'delivered' : 'failed',
    status_code: status,
    latency_ms: Math.round(performance.now() - begun),
    error,
  };
}
