// What is kept of whom an organization may call: who asked for what, the numbers not to call, consents, and what was refused. PURE.
import type { NumberKind } from './number-facts.ts';

/** Who did something, as it is written down beside it. */
export interface Doer {
  kind: 'key' | 'user' | 'campaign' | 'call';
  id: string;
  name: string;
}

/** Where a number that is not to be called came from. */
export const DO_NOT_CALL_SOURCES = ['api', 'csv', 'said', 'dashboard', 'campaign'] as const;
export type DoNotCallSource = (typeof DO_NOT_CALL_SOURCES)[number];

/** A number that the organization does not call any more. */
export interface DoNotCallRecord {
  id: string;
  org_id: string;
  /** HMAC-SHA-256 of the number by the organization's own salt, hex: it is recognized by this alone. */
  number_hash: string;
  /** Null once it was erased. */
  number: string | null;
  last4: string;
  reason: string | null;
  source: DoNotCallSource;
  /** Where it was said on a call: which, the transcript's item, and when, in milliseconds since the stream's start. */
  call_id: string | null;
  item_id: string | null;
  at_ms: number | null;
  created_by: Doer | null;
  created_at: string;
}

/** A number to be kept from being called. */
export interface NewDoNotCall {
  /** E.164. */
  number: string;
  source: DoNotCallSource;
  reason?: string | null;
  call_id?: string | null;
  item_id?: string | null;
  at_ms?: number | null;
  created_by?: Doer | null;
}

/** What the gate refuses a call for; each is the code of the API's error too. */
export const GATE_CODES = [
  'destination_closed',
  'destination_not_allowed',
  'do_not_call',
  'consent_missing',
  'outside_calling_hours',
  'too_many_to_destination',
  'calls_per_minute',
  'daily_spend_reached',
] as const;
export type GateCode = (typeof GATE_CODES)[number];

/** Who let a call through that would have been refused, for what and why. */
export interface GateOverride {
  by: Doer;
  codes: GateCode[];
  reason: string;
}

/** Why a call is not placed. */
export interface GateRefusal {
  code: GateCode;
  /** For people. */
  reason: string;
  /** What the code rests on. */
  evidence: Record<string, unknown>;
  /** When the same call may go out as far as this goes; null: not by waiting. */
  retry_after_seconds: number | null;
  /** Everything that spoke against it, this one too: what an override must name. */
  codes: GateCode[];
}

/** A call that was not placed. */
export interface RefusedCallRecord {
  id: string;
  org_id: string;
  /** Null once it was erased. */
  to_number: string | null;
  last4: string;
  from_number: string | null;
  agent_id: string | null;
  code: GateCode;
  reason: string;
  evidence: Record<string, unknown>;
  codes: GateCode[];
  /** Who asked for it, where that is known. */
  asked_by: Doer | null;
  created_at: string;
}

/** Somebody has agreed to be called. */
export interface ConsentRecord {
  id: string;
  org_id: string;
  number_hash: string;
  /** Null once it was erased. */
  number: string | null;
  last4: string;
  /** What for, in words. */
  purpose: string;
  /** How it came: a form, a contract, a call. */
  source: string;
  given_at: string;
  evidence: Record<string, unknown> | null;
  revoked_at: string | null;
  created_by: Doer | null;
  created_at: string;
}

/** By which facts an outbound call was let through. */
export interface CallGate {
  decided_at: string;
  country: string | null;
  kind: NumberKind;
  /** Time zones that the number may be in. */
  zones: string[];
  /** What the clocks there showed, each different time once, as `2026-03-01T08:05`. */
  local_times: { zone: string; time: string }[];
  /** Calls to the number in the 24 hours before, of the organization in the minute before, what it had spent in the 24 hours
   * before; each null where no limit asks for it. */
  calls_to_destination: number | null;
  calls_in_minute: number | null;
  spent_milli_cents: number | null;
  /** The consent that it rests on, where one is needed. */
  consent_id: string | null;
  /** Null: nothing would have refused it. */
  overridden: GateOverride | null;
}
