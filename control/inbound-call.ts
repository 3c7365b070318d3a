// The record of a call that came in: what its agent brings, and who called.
import { v7 as uuidv7 } from 'uuid';
import type { AgentView, CallRecord } from '../storage/records.ts';
import { renderPrompt } from './prompt.ts';

/** A ringing call for an inbound agent. */
export function inboundCall(o: {
  agent: AgentView;
  to: string;
  from: string;
  carrier: string;
  carrierCallId: string;
  now: Date;
}): CallRecord {
  const { agent } = o;
  const at = o.now.toISOString();
  return {
    id: uuidv7(),
    agent_id: agent.id,
    to_number: o.to,
    from_number: o.from,
    status: 'ringing',
    direction: 'inbound',
    persona: agent.persona,
    instructions: agent.instructions,
    prompt: renderPrompt({
      persona: agent.persona,
      instructions: agent.instructions,
      language: agent.language,
      context: null,
      direction: 'inbound',
      now: o.now,
    }),
    context: null,
    returns: agent.returns,
    language: agent.language ?? 'en',
    result: null,
    result_status: 'pending',
    result_error: null,
    created_at: at,
    started_at: at,
    answered_at: null,
    ended_at: null,
    duration_seconds: null,
    billed_duration_seconds: null,
    billing_amount_milli_cents: null,
    reservation_status: 'reserved',
    webhook_url: agent.webhook_url,
    webhook_status: 'none',
    webhook_error: null,
    error_code: null,
    error_message: null,
    hangup_cause: null,
    metadata: {},
    updated_at: at,
    org_id: agent.org_id,
    voice: agent.voice,
    tools: agent.tools,
    voicemail_action: agent.voicemail_action,
    carrier: o.carrier,
    carrier_call_id: o.carrierCallId,
    answered_by: null,
    reserved_milli_cents: 0,
    recording_path: null,
    usage: null,
  };
}
