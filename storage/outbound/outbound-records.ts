// What is kept of whom an organization may call: who asked for what, the numbers not to call, consents, and what was refused. PURE.
import type { NumberKind } from './number-facts.ts';

/** Who did something, as it is written down beside it. */
export interface Doer {
  kind: 'key' | 'user' | 'campaign' | 'call';
  id: string;
  name: string;
}

/** Where a number that is not to be called came from. */
const DO_NOT_CALL_SOURCES = ['api', 'csv', 'said', 'dashboard', 'campaign'] as const;
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
  'destination_not_allowed',
  'destination_closed',
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

/** By which facts an outbound call was let through. */
export interface CallGate {
  decided_at: string;
  country: string | null;
  kind: NumberKind;
  /** Time zones that the number may be in. */
  zones: string[];
  /** What the clocks there showed, each different time once, as `2026-03-01T08:05`. */
  local_times: { zone: string; time: string }[];
  /** Calls to the number in the 24 hours before, and of the organization in the minute before. */
  calls_to_destination: number;
  calls_in_minute: number;
  /** What the organization had spent in the 24 hours before; null where no limit asks for it. */
  spent_milli_cents: number | null;
  /** The consent that it rests on, where one is needed. */
  consent_id: string | null;
  /** Null: nothing would have refused it. */
  overridden: GateOverride | null;
}
