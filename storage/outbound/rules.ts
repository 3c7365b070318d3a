// What an organization allows itself to call: the rules, and what they are where it says nothing. PURE.
import { type CallingHours, DAYS, isAlways } from './calling-hours.ts';
import type { NumberKind } from './number-facts.ts';

export interface OutboundRules {
  /** ISO 3166 countries, beside those of the organization's own numbers. */
  countries: readonly string[];
  /** What begins so may be called whatever its country; its kind must be open all the same. */
  allowed_prefixes: readonly string[];
  /** What begins so is closed. */
  closed_prefixes: readonly string[];
  closed_kinds: readonly NumberKind[];
  /** Null: as many as there are; as with all limits. In 24 hours. */
  calls_per_destination_per_day: number | null;
  calls_per_minute: number | null;
  /** Of what the organization spends in 24 hours. */
  spend_per_day_milli_cents: number | null;
  /** Where the other side is. Null: any time. */
  calling_hours: CallingHours | null;
  /** Whether every call needs a consent; an agent may ask for one by itself. */
  consent: 'none' | 'required';
}

/** What a daemon's settings say for organizations that have no rules of their own about it. */
export type OutboundDefaults = Pick<
  OutboundRules,
  'countries' | 'calls_per_destination_per_day' | 'calls_per_minute' | 'calling_hours'
>;

/** Ranges whose calls cost what somebody else asks, or reach no person. */
export const CLOSED_KINDS: readonly NumberKind[] = [
  'premium',
  'shared_cost',
  'satellite',
  'personal',
  'pager',
  'uan',
  'voicemail',
];

/** No limit of times and numbers; closed ranges and countries are as always. */
export const UNLIMITED: OutboundDefaults = {
  countries: [],
  calls_per_destination_per_day: null,
  calls_per_minute: null,
  calling_hours: null,
};

/** The rules in force: what the organization has said, over what the daemon says. */
export function rulesOf(stored: Partial<OutboundRules>, defaults: OutboundDefaults): OutboundRules {
  return {
    allowed_prefixes: [],
    closed_prefixes: [],
    closed_kinds: CLOSED_KINDS,
    spend_per_day_milli_cents: null,
    consent: 'none',
    ...defaults,
    ...stored,
  };
}

/** What a daemon's settings say; a limit of 0 is none. */
export function defaultsOf(settings: {
  OUTBOUND_COUNTRIES: readonly string[];
  OUTBOUND_PER_DESTINATION_PER_DAY: number;
  OUTBOUND_PER_MINUTE: number;
  OUTBOUND_HOURS: string;
}): OutboundDefaults {
  const [from = '', to = ''] = settings.OUTBOUND_HOURS.split('-');
  const hours: CallingHours = { from, to, days: DAYS };
  return {
    countries: settings.OUTBOUND_COUNTRIES,
    calls_per_destination_per_day: settings.OUTBOUND_PER_DESTINATION_PER_DAY || null,
    calls_per_minute: settings.OUTBOUND_PER_MINUTE || null,
    calling_hours: isAlways(hours) ? null : hours,
  };
}
