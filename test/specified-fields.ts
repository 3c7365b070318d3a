// The fields of the objects of /v1 as the interface specification lists them, in its order: written down here once, never taken
// from the code.

const words = (text: string) => text.trim().split(/\s+/);

export const SPECIFIED_FIELDS = {
  call: words(`id agent_id to_number from_number status direction persona instructions prompt context returns language result
    result_status result_error created_at started_at answered_at ended_at duration_seconds billed_duration_seconds
    billing_amount_milli_cents reservation_status webhook_url webhook_status webhook_error error_code error_message
    hangup_cause metadata updated_at cost model gaps erased_at campaign_id contact_id attempt gate disclosure opted_out summary sentiment`),
  agent:
    words(`id org_id user_id name type persona instructions voice model language returns tools webhook_url
    voicemail_action interruption_words patience eagerness interruption summarize mask consent disclosure primary_number_id archived_at created_at updated_at numbers`),
  number: words(`id e164 friendly_name country_code number_type status monthly_cost_cents purchased_at carrier
    inbound_agent_id outbound_agent_ids`),
  endpoint:
    words(`id org_id url description enabled_events status disabled_reason disabled_at consecutive_failures
    created_at updated_at`),
  delivery:
    words(`id org_id endpoint_id call_id event_type url status attempt_count manual_retry_count next_attempt_at
    last_error last_response_status delivered_at created_at updated_at`),
} as const;
