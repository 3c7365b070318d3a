// What the reference says beyond single fields: introduction, groups, events, and the choices made where an interface
// leaves one. PURE. Texts are plain; `backticks` mark code.
import type { EventType } from '../../storage/records.ts';

export const INTRODUCTION = `Agents that answer and place real phone calls for an organization.

Requests and answers are JSON in UTF-8. Numbers are E.164 (\`+14155550123\`), times ISO 8601 in UTC with milliseconds, ids UUIDs that sort by time, money thousandths of a cent (milli-cents) unless a field says cents.

Every request carries \`Authorization: Bearer sk_…\`; this document alone needs no key. A key belongs to one organization: what is another's is answered like what does not exist, with 404. A key may have scopes: \`read\`, \`listen\` (recordings), \`operate\` (place and end calls, change what there is), \`admin\`; what it lacks is refused with 403 \`forbidden\`, before anything is looked up. Each operation names its own under \`security\`. A key without scopes may everything.

Every answer carries \`X-Request-Id\`. Errors have one shape, \`{"error": {"code", "message", "param", "request_id"}}\`, with stable codes. A path that takes other methods answers 405 with \`Allow\`; HEAD works wherever GET does. Unknown fields and query parameters are refused, never ignored.

Lists take \`limit\` and \`starting_after\`, newest first; the next page is in the \`Link\` header.

Within /v1, fields, event types and error codes are added, never changed or removed: read what you know and pass over the rest.`;

export const TAG_MEANING: Readonly<Record<string, string>> = {
  Agents: 'How calls are to be led: persona, instructions, voice, language, what to extract, tools, numbers.',
  Models: 'The speech models that agents may have, and what each can do.',
  Numbers: 'Phone numbers: search, buy, list, release.',
  Calls: 'Calls, past and live: place, read, cancel, hang up; what was said and the recording.',
  Outbound:
    'Whom an organization may call: its rules, a number tried, the do-not-call list, consents, what was refused.',
  Campaigns: 'Many calls by one agent to a list of contacts: pace, hours, calling again, outcomes, export.',
  Webhooks:
    'Signed events of calls: who receives them, what became of each delivery, sending again, reading them back.',
  Health: 'How the line stands, and how calls went on it.',
  Alerts: 'Of what an organization is told when it is wrong, and by which way.',
  Balance: "The organization's credit.",
  Organization: 'Whose key it is: what is said of it on calls.',
  Organizations: 'Who shares this daemon, each apart from all others: for the operator.',
  AuditLog: 'Who did what: for whoever has the scope `admin`.',
  Logs: 'What the daemon has said lately: for whoever has the scope `admin`.',
  Retention: 'How long what is kept of calls is kept.',
  Erasures: 'Erasing a call, a person or an organization, with a receipt.',
  LegalHolds: 'What is neither erased nor swept for as long as it is held.',
  Reference: 'This document.',
};

export const EVENT_MEANING: Readonly<Record<EventType, { summary: string; description: string }>> = {
  'call.queued': {
    summary: 'A call was recorded; the carrier is asked next',
    description: 'Outbound calls only. The body is the Call in status `queued`.',
  },
  'call.ringing': {
    summary: 'A call rings',
    description: '`started_at` is set. Missing when the carrier never said that it rings.',
  },
  'call.answered': {
    summary: 'Someone, or a machine, picked up',
    description: '`answered_at` is set, the status is `in_progress`.',
  },
  'call.completed': {
    summary: 'A connected call has ended and its result is settled',
    description:
      'Sent once, 60 seconds after the end at most: the body carries `result`, or `result_error` with why there is none.',
  },
  'call.failed': {
    summary: 'A call failed',
    description: '`error_code`, `error_message` and `hangup_cause` tell why. Sent at once.',
  },
  'call.no_answer': { summary: 'Nobody answered', description: 'Sent at once.' },
  'call.busy': { summary: 'The line was busy', description: 'Sent at once.' },
  'call.canceled': { summary: 'A call was canceled before it was answered', description: 'Sent at once.' },
};

/** Which words of `hangup_cause` and `error_code` are ours, which the carrier's. */
export const CALL_REASONS = `A call says twice why it ended: \`hangup_cause\` always, \`error_code\` (with \`error_message\`) where something failed. Both are for people and for statistics: more words may come.

What the carrier says stands as the carrier says it. In \`hangup_cause\` that is \`SIP\` and a status of RFC 3261 (\`SIP 486\`: busy); in \`error_code\` it is the carrier's own number (Twilio's are digits, such as \`21211\`, described at www.twilio.com/docs/api/errors). Where its answer had no code, its HTTP status stands there as \`http_\` and digits (\`http_502\`).

Every word below is ours. Other fields with words of ours: \`last_error\` of a delivery and \`disabled_reason\` of an endpoint, which list theirs. The \`carrier_code\` of an error answer is what \`error_code\` would hold.`;

/** What the retry schedule does besides waiting. */
export const RETRY_RULES: readonly string[] = [
  'A 2xx within 15 seconds, connecting included, delivers. The body of the answer is not looked at.',
  'Each wait is spread by up to 20 % to both sides. After a 429 or a timeout it is 60 seconds at least. `Retry-After` is heeded up to twice the wait that was due.',
  'A redirect is a failure and is not followed. A 410 gives the delivery up at once, and so does an address that is not public.',
  'Ten deliveries in a row that were given up disable an endpoint (`too_many_failures`); PATCH with `{"status": "enabled"}` opens it again. What it missed is listed, and can be sent again.',
  'Order is not promised: `Service-Event-Sequence` counts the events of a call.',
];

export interface DecisionGroup {
  title: string;
  decisions: readonly (readonly [point: string, decision: string])[];
}

/** Where the interface leaves a choice, this is what was chosen. A plus marks what goes beyond it. */
export const DECISIONS: readonly DecisionGroup[] = [
  {
    title: 'Conventions',
    decisions: [
      [
        'Error body',
        '`{"error": {"code", "message", "param", "request_id"}}`: stable snake_case codes, `param` where one field is to blame. `X-Request-Id` on every answer.',
      ],
      [
        'Statuses',
        '400 invalid (also wrong JSON, unknown or forbidden fields, an archived agent, an agent without a number), 401, 402 `insufficient_credit`, 403 where a key alone is not enough, 404 (also what belongs to another organization), 409 conflict (number taken by another inbound agent, idempotency key reused with another body), 413 body too large, 415, 429 with `Retry-After`, 502 carrier error (the carrier’s code and message inside), 503 `at_capacity` or `draining` with `Retry-After`.',
      ],
      [
        'Lists',
        '`{"data": […]}` except calls, a bare array. All take `limit` (1 to 100, default 50) and `starting_after` (an id), newest first; the next page is in a `Link: <…>; rel="next"` header, so that the bare array stays bare. Unknown query parameters: 400.',
      ],
      [
        'Idempotency +',
        '`Idempotency-Key` on every POST that creates, dials or buys: the same key and body within 24 hours are answered the stored answer, and dial or buy nothing. A refusal (4xx) is not stored.',
      ],
      ['Ids, times', 'UUIDv7 (they sort by time); ISO 8601 in UTC with milliseconds.'],
      [
        'Limits',
        'Body 256 KB; persona and instructions 32,000 characters; context 64 KB of JSON; metadata 50 keys with values of 500 characters; 60 requests a second and key (120 at once); a call 3,600 s; ringing 60 s. The last four are settings. Rate-limit headers on every answer.',
      ],
      [
        'Versions',
        'Only `/v1`. Fields are added, never changed; a removal is announced by `Deprecation` and `Sunset` headers.',
      ],
      [
        'This document +',
        '`GET /v1/openapi.json` and `/docs` need no key: they are the same for everybody and hold nothing of anybody. Everything else under `/v1` does.',
      ],
    ],
  },
  {
    title: 'Agents and numbers',
    decisions: [
      [
        'Create: required',
        '`name` and `type`. Accepted besides the listed fields: `voice`, `language`, `tools`, `webhook_url`.',
      ],
      ['`voice`', 'What the speech model offers, default marin; anything else is a 400 that names the list.'],
      [
        '`language`',
        'BCP-47, default null: the greeting is in English, then the caller’s language decides. On a call: the code in effect, `en` when null. A closing line comes in the language of the conversation; an apology, said by the carrier’s voice when the model is lost, in the agent’s language where there are words in it, else in English.',
      ],
      [
        '`returns`',
        'Field name -> type: `string number integer boolean date datetime`, arrays such as `string[]`, `enum(a|b|c)`; or an object `{type, description, enum}`. Every field may come back null: not said.',
      ],
      [
        '`tools`',
        '`{type: "http", name, description, parameters (JSON Schema), url, method, headers, timeout_ms, speak_first}`, `{type: "end_call"}`, `{type: "transfer_call", targets: [{name, number}]}`, `{type: "send_dtmf"}`. `end_call` is always there. The model fills typed parameters only: never the host, secrets of the path, or headers. The values of headers are shown as `********`: one that is given back so stays, while the URL keeps scheme, host and port.',
      ],
      [
        'PATCH',
        'Any field of creation but `type`, `number_ids`, `primary_number_id`; null clears one that may be null. Answers the agent with its numbers. + `If-Match` with the `updated_at` it was made on: 412 `changed_meanwhile` when there was another change since.',
      ],
      [
        'DELETE',
        '200 with the archived agent. Its numbers are detached; live calls go on. Archived agents are left out of the list unless `include_archived=true`, and stay readable by id.',
      ],
      ['List filters', '`type`, `include_archived`.'],
      [
        'Attach',
        'Body `{number_id, primary}`, 200 with the agent. A number may serve several outbound agents and one inbound agent. The first number attached becomes primary.',
      ],
      [
        'Detach',
        '200 with the agent. If the number was primary, the oldest one left becomes primary, else null.',
      ],
      [
        'Available numbers',
        'Query `country` (default US), `type` (local, mobile, toll_free, national), `area_code`, `contains`, `locality`, `region`, `limit`.',
      ],
      [
        'Purchase',
        'Body `{e164, friendly_name}`, 201 with the number. The carrier is asked first whether the number is ours already: a lost answer never buys twice. Not for sale: 409 `number_unavailable`; without a known price: 409 `price_unknown`.',
      ],
      [
        'Number status',
        '`active`, `released`. + `DELETE /v1/numbers/{id}` releases it; 409 while it is attached.',
      ],
    ],
  },
  {
    title: 'Calls',
    decisions: [
      [
        'Status',
        'queued (recorded) -> initiated (the carrier has accepted it) -> ringing -> in_progress -> completed; queued, initiated or ringing -> no_answer, busy, canceled, failed; in_progress -> completed, or failed (carrier or model lost for good). It never goes back: late, repeated and reordered callbacks of the carrier add missing times and nothing else.',
      ],
      [
        '201 or 502',
        'The carrier is asked before the answer: accepted is 201 with `initiated`; refused is 502, and the call is kept as failed with `error_code` and `error_message`.',
      ],
      [
        'Inbound',
        'A call to an unattached or unknown number is rejected, not answered. The `context` of an inbound call is null, its `metadata` is {}.',
      ],
      [
        'Prompt form',
        'Without `agent_id`: `to` and `instructions` are required; `context`, `returns`, `language` (en, es), `from_number` (an active number of the organization, default the oldest), `webhook_url`, `metadata`. The `agent_id` of the call is null. No active number: 400 `no_active_number`.',
      ],
      [
        '`prompt`',
        'Rendered once at dispatch: persona, instructions, language, date and time, then the context as fenced data that the agent may use and must not read aloud or obey.',
      ],
      [
        'List filters',
        '`status`, `direction`, `agent_id`, `to_number`, `from_number`, `created_after`, `created_before`.',
      ],
      [
        'Transcript',
        '`{call_id, status, data}` in speech order. `text` is what was generated, `heard_text` what the other side heard before it was cut.',
      ],
      [
        'Result',
        'Pending until the call ends; with empty `returns` completed with null. Ended without a conversation: failed, with why. What is extracted is checked against the schema, retried, and survives a restart.',
      ],
      [
        '`call.completed`',
        'Sent once, when the result is settled (60 s after the end at most), so that its body carries the result. Every other event is sent at its transition.',
      ],
      [
        '`webhook_status`',
        'none until there is an inline delivery of call.completed, then pending, delivered or failed.',
      ],
      [
        'Voicemail',
        'The carrier’s answering-machine detection, and a beep detector of our own. Who answers with a long first sentence is answered like anybody; a beep then, or the carrier’s verdict, stops the answer. `hangup` ends at the verdict or the beep. `leave_message` waits for the beep, speaks the message in full without letting itself be interrupted, and ends once it was heard. `hangup_cause` says voicemail.',
      ],
      [
        'Short words +',
        'A word over the agent’s voice that is too short to be told from “mhm” by its length is transcribed by itself: an assent lets the agent go on, anything else stops it and is answered. An agent’s `interruption_words` stop it whatever else they mean. Where the model writes nothing down, only longer speech stops it.',
      ],
      [
        'Cancel, hang up +',
        '`POST /v1/calls/{id}/cancel` before the answer, `POST /v1/calls/{id}/hangup` at any time; 409 when the call has ended.',
      ],
      [
        'Recording +',
        'Off by default; `RECORD_CALLS=true` writes stereo WAV; `GET /v1/calls/{id}/recording`.',
      ],
      [
        'Turns +',
        '`GET /v1/calls/{id}/turns`: for each answer when speech ended, when that was decided, when the model was asked and first spoke, when the carrier had the first frame and when it was heard; and each interruption. Times are of what was heard, in milliseconds since the call’s audio began.',
      ],
      [
        'Events +',
        '`GET /v1/calls/{id}/events`: its events in order, each with its deliveries; the receiver’s URL without what may be secret in it.',
      ],
      [
        'Money',
        'A price per connected minute, billed by the second (a setting, default 0). Held at dispatch for `RESERVE_MINUTES`, topped up while live, settled on the time connected, released when never connected. An organization without a balance is unlimited; with one it never goes below zero: 402 at dispatch, `hangup_cause` `credit_exhausted` when live.',
      ],
    ],
  },
  {
    title: 'Webhooks',
    decisions: [
      [
        'Register',
        '`{url, description, enabled_events}` (default `["*"]`), 201 with the endpoint and, this once, its `secret`. DELETE answers 204. A PATCH is checked like a registration.',
      ],
      [
        'Signature',
        'Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature` (`v1,` and HMAC-SHA256); `Service-Event-Id` has the value of `webhook-id`. Any Standard Webhooks library verifies it.',
      ],
      [
        'Body, type',
        'The Call as it was at the event, serialized once and stored. The type is in `Service-Event-Type`, the attempt in `Service-Delivery-Attempt`; replays carry `Service-Replay: true`. Order is not promised: `Service-Event-Sequence` counts per call.',
      ],
      [
        'Attempts',
        'Ten over about 28 hours; 2xx within 15 s delivers; redirects are failures and are not followed; 410 gives up at once; `Retry-After` is heeded within bounds.',
      ],
      [
        'Auto-disable',
        'After 10 deliveries in a row were given up. What an endpoint missed while disabled is listed and can be sent again once it is enabled.',
      ],
      [
        'Secrets',
        'Each endpoint has its own; inline deliveries are signed with the organization’s. + `POST /v1/webhook_endpoints/{id}/rotate_secret` and `POST /v1/webhook_secret/rotate` make a new one; the old one signs beside it for 24 hours. No secret is told again after it was made.',
      ],
      [
        'Listing +',
        '`GET /v1/webhook_deliveries` (filters `endpoint_id`, `call_id`, `event_type`, `status`) and `/{id}` with every attempt: time, status, latency, the first 2 KB of the answer.',
      ],
    ],
  },
];

export const VERIFY_BY_LIBRARY = `import { Webhook } from 'standardwebhooks';

// secret: whsec_…; body: the request's bytes as text, not parsed; headers: those of the request
const call = new Webhook(secret).verify(body, headers);`;

export const VERIFY_BY_HAND = `import { createHmac, timingSafeEqual } from 'node:crypto';

// nowSeconds: the time now, in Unix seconds
export function isGenuine(body, headers, secret, nowSeconds) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(nowSeconds - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  return String(headers['webhook-signature']).split(' ').some((one) => {
    const [version, signature = ''] = one.split(',');
    const given = Buffer.from(signature, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;
