// Whether a webhook comes from the daemon, and one as if it did, for tests: Standard Webhooks 1.0 (https://www.standardwebhooks.com), by WebCrypto alone.
import type { Call } from './api.ts';
import { WebhookVerificationError } from './errors.ts';

/** Seconds that a webhook's clock may differ from ours. */
const TOLERANCE_SECONDS = 5 * 60;

type HeaderSource = Headers | Record<string, string | readonly string[] | undefined>;

/** A webhook that was verified. */
export interface WebhookEvent {
  /** The same on every attempt and replay: use it to act once. */
  id: string;
  /** E.g. `call.completed`. */
  type: string;
  /** Counts the events of a call from 1; deliveries may arrive in another order. */
  sequence: number | null;
  /** Counts the attempts from 1. */
  attempt: number | null;
  /** Sent again by hand. */
  replay: boolean;
  sentAt: Date;
  /** The call, as it was at the event. */
  call: Call;
}

/**
 * Checks a webhook's signature and age, and reads it.
 * @param body the very bytes that came, before any parsing: text or bytes
 * @param headers of the request, in any case: a `Headers`, or Node's `request.headers`
 * @param secret `whsec_…` of the endpoint, or several while one is being replaced
 * @throws WebhookVerificationError when it is not signed with the secret, is older than five minutes, or is no event
 */
export async function verify(
  body: string | Uint8Array,
  headers: HeaderSource,
  secret: string | readonly string[],
  o: { toleranceSeconds?: number; now?: Date } = {},
): Promise<WebhookEvent> {
  const read = reader(headers);
  const id = read('webhook-id');
  const timestamp = read('webhook-timestamp');
  const signatures = read('webhook-signature');
  if (id === null || timestamp === null || signatures === null) {
    throw new WebhookVerificationError(
      'The headers webhook-id, webhook-timestamp and webhook-signature are not all there.',
    );
  }
  const sentAt = Number(timestamp);
  const now = (o.now ?? new Date()).getTime() / 1000;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - sentAt) > (o.toleranceSeconds ?? TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError(
      'The webhook is too old or too new: it may be a copy sent again, or a clock is wrong.',
    );
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const given = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => bytesOf(one.slice(3)));
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await keyOf(one);
    for (const signature of given) {
      // WebCrypto compares in constant time.
      if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) {
        return eventOf(new TextDecoder().decode(bytes), id, sentAt, read);
      }
    }
  }
  throw new WebhookVerificationError(
    'No signature fits: the secret is another one, or the body is not as it was sent. Give verify the raw body, not JSON that was parsed and written again.',
  );
}

/** What a test says of the webhook that it makes; what is left out is made up. */
export interface TestWebhook {
  type: string;
  call: Call;
  id?: string | undefined;
  sequence?: number | undefined;
  attempt?: number | undefined;
  replay?: boolean | undefined;
  sentAt?: Date | undefined;
}

/**
 * A webhook as the daemon would send it, for tests of a receiver: post `body` with `headers`, and `verify` takes it.
 * @param secret `whsec_…`
 */
export async function sign(
  event: TestWebhook,
  secret: string,
): Promise<{ headers: Record<string, string>; body: string }> {
  const id = event.id ?? crypto.randomUUID();
  const body = JSON.stringify(event.call);
  const timestamp = String(Math.floor((event.sentAt ?? new Date()).getTime() / 1000));
  const bytes = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), bytes));
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${btoa(String.fromCharCode(...mac))}`,
      'service-event-id': id,
      'service-event-type': event.type,
      'service-event-sequence': String(event.sequence ?? 1),
      'service-delivery-attempt': String(event.attempt ?? 1),
      ...(event.replay === true ? { 'service-replay': 'true' } : {}),
    },
    body,
  };
}

function eventOf(
  body: string,
  id: string,
  sentAt: number,
  read: (name: string) => string | null,
): WebhookEvent {
  let call: unknown;
  try {
    call = JSON.parse(body);
  } catch (cause) {
    throw new WebhookVerificationError('The body is signed but no JSON.', { cause });
  }
  const number = (name: string) => {
    const value = read(name);
    return value === null ? null : Number(value);
  };
  return {
    id,
    type: read('service-event-type') ?? '',
    sequence: number('service-event-sequence'),
    attempt: number('service-delivery-attempt'),
    replay: read('service-replay') === 'true',
    sentAt: new Date(sentAt * 1000),
    call: call as Call,
  };
}

function reader(headers: HeaderSource): (name: string) => string | null {
  if (typeof (headers as Headers).get === 'function') return (name) => (headers as Headers).get(name);
  const lower = new Map(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value : (value?.[0] ?? null),
    ]),
  );
  return (name) => lower.get(name) ?? null;
}

async function keyOf(secret: string): Promise<Awaited<ReturnType<typeof crypto.subtle.importKey>>> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0) throw new TypeError('The secret must be whsec_ and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify', 'sign']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
