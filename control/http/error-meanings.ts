// What each error code means and what to do about it, for the reference. PURE.
import type { ErrorCode } from '../../errors.ts';

export const ERROR_MEANING: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'A value is wrong; `param` names the field where there is one.',
  invalid_json: 'The body is not JSON in UTF-8.',
  unknown_parameter: 'A field, query parameter or body that this request does not take.',
  missing_parameter: 'A required field is not there.',
  invalid_number: 'Not an E.164 number.',
  invalid_model: 'A speech model that this daemon does not have; the message lists those it has.',
  invalid_voice: 'A voice that the speech model does not have; the message lists those it has.',
  invalid_language: 'Not a BCP-47 language code.',
  invalid_returns: 'The returns schema cannot be used; `param` names the field of it.',
  invalid_tool: 'A tool cannot be used; `param` names the place.',
  invalid_url: 'Not a URL that may be called: https, no user name, no unusual port.',
  blocked_address: 'The URL leads to an address that is not public; the operator can open ranges.',
  agent_not_found: 'The organization has no agent with the `agent_id` of the body.',
  agent_archived: 'The agent is archived: it can be read, not changed or used.',
  agent_not_outbound: 'The agent answers calls; only outbound ones place them.',
  agent_has_no_number: 'The agent has no number to call from; attach one.',
  from_number_not_attached: '`from_number` is not attached to the agent.',
  from_number_not_owned: '`from_number` is not an active number of the organization.',
  no_active_number: 'The organization has no number to call from; buy one.',
  number_not_found: 'The organization has no active number with an id of the body.',
  primary_number_not_attached: 'The primary number must be one of those attached.',
  unauthorized: 'The API key is missing, mistyped, unknown, revoked or expired.',
  insufficient_credit: 'The credit does not cover it.',
  forbidden:
    'The scopes of the API key do not allow this, or the API key alone does not; or, in the dashboard, the role of who is signed in does not, the request does not come from its own page, or the password or link is not the one in force.',
  daily_spend_reached:
    'The organization has spent in the last 24 hours what its rules for outbound calls allow in a day.',
  destination_not_allowed:
    "The number is of no country or prefix that the organization's rules for outbound calls allow, or no number at all.",
  destination_closed:
    'The number is of a closed range: premium, shared cost, satellite, personal, or one that the rules close.',
  do_not_call: 'The number is on the do-not-call list.',
  consent_missing: 'Calls to it need a consent, and none is known that was not revoked.',
  outside_calling_hours:
    'It is outside the calling hours where the number is; Retry-After says when they begin.',
  not_found: 'There is nothing here, or it belongs to another organization: the two look the same.',
  method_not_allowed: 'The path takes other methods; the Allow header lists them.',
  conflict: 'The state of things does not allow it now; the message says which.',
  number_taken: 'Another inbound agent answers the number; a number has one at most.',
  number_attached: 'The number is attached to an agent; detach it first.',
  number_unavailable: 'The number is not for sale, or somebody else bought it first; search for another one.',
  price_unknown:
    'The carrier names no price for such a number, and an unknown price is not taken for free; the operator can name one.',
  call_ended: 'The call has ended already.',
  legal_hold: 'A legal hold covers it: nothing of it is erased until the hold is lifted.',
  endpoint_disabled:
    'The webhook endpoint is disabled and is sent nothing; enable it with PATCH /v1/webhook_endpoints/{id} first.',
  endpoint_deleted:
    'The webhook endpoint that the delivery went to was removed: there is nobody to send it to. Its event can be read with GET /v1/events.',
  idempotency_key_reused: 'The Idempotency-Key was used with another request.',
  idempotency_in_progress:
    'The first request with this Idempotency-Key is still running; ask again for its answer.',
  changed_meanwhile:
    'Somebody else changed it after the time in `If-Match`: read it again, and repeat the change on what it is now.',
  body_too_large: 'The body has more than 256 KB; a file of contacts, more than 5 MB.',
  unsupported_media_type:
    'Send JSON in UTF-8, as Content-Type: application/json, without Content-Encoding; a file of contacts as text/csv.',
  call_elsewhere:
    'Several daemons run on one set of data, and the one that has the call does not answer now. Wait as long as Retry-After says: it answers by then, or another has the call.',
  rate_limited: 'Too many requests; wait as long as Retry-After says.',
  too_many_to_destination:
    'The number was called as often as the rules for outbound calls allow in 24 hours.',
  calls_per_minute: 'The organization places as many calls a minute as its rules for outbound calls allow.',
  internal: 'A fault of the service. Try again; if it stays, give the request_id to whoever runs it.',
  carrier_error: "The carrier refused or could not be reached; `carrier_code` has the carrier's own code.",
  at_capacity:
    'As many calls as the service takes are live, or it is too busy to take another well; of a recording, as many are being converted as may be at once. Wait as long as Retry-After says.',
  draining: 'The service is shutting down and takes no new calls.',
  storage_low: 'The disk is full, or so nearly that no new calls are taken until there is room.',
};
