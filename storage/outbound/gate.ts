// The outbound gate: may this call be placed now, by these rules and facts? One answer with its evidence. PURE.
// It decides alone: whoever stores a call asks it in the same transaction (storage/sqlite/outbound-gate.ts).
import { hoursThere } from './calling-hours.ts';
import type { NumberFacts, NumberKind } from './number-facts.ts';
import {
  type CallGate,
  type DoNotCallRecord,
  GATE_CODES,
  type GateCode,
  type GateOverride,
  type GateRefusal,
} from './outbound-records.ts';
import type { OutboundRules } from './rules.ts';

export interface GateAsk {
  /** E.164. */
  to: string;
  at: Date;
  override: GateOverride | null;
}

export interface GateFacts {
  number: NumberFacts;
  /** Of the organization's active numbers, and of the one that it calls from. */
  ownCountries: readonly string[];
  doNotCall: Pick<DoNotCallRecord, 'id' | 'source' | 'created_at' | 'call_id'> | null;
  /** Who asks for a consent. */
  consentAskedBy: 'rules' | 'agent' | null;
  consent: { id: string } | null;
  /** In the 24 hours before, and when there may be another. A count is null where no limit asks for it. */
  callsToDestination: number | null;
  destinationFreeAt: Date | null;
  callsInMinute: number | null;
  spentMilliCents: number | null;
}

/** Something that speaks against a call. */
export type Found = Omit<GateRefusal, 'codes'>;

const KIND_WORDS: Readonly<Record<NumberKind, string>> = {
  fixed_line: 'a fixed line',
  mobile: 'a mobile number',
  fixed_line_or_mobile: 'a fixed line or mobile number',
  voip: 'an internet telephone number',
  toll_free: 'a toll-free number',
  premium: 'a premium-rate number',
  shared_cost: 'a shared-cost number',
  satellite: 'a number of a satellite or global network',
  personal: 'a personal number',
  pager: 'a pager',
  uan: 'a company-wide number',
  voicemail: 'a voicemail access number',
  unassigned: 'of no range that is assigned',
};

const secondsUntil = (at: Date, later: Date | null) =>
  later === null ? null : Math.max(1, Math.ceil((later.getTime() - at.getTime()) / 1000));

const beginning = (to: string, prefixes: readonly string[]) =>
  prefixes.find((prefix) => to.startsWith(prefix)) ?? null;

/** The range itself: what it is, and where. No other fact matters to it. */
export function destinationRefusals(
  to: string,
  rules: OutboundRules,
  facts: Pick<GateFacts, 'number' | 'ownCountries'>,
): Found[] {
  const { country, kind, possible } = facts.number;
  const found: Found[] = [];
  const prefix = beginning(to, rules.closed_prefixes);
  if (prefix !== null || rules.closed_kinds.includes(kind)) {
    const reason =
      prefix === null
        ? `It is ${KIND_WORDS[kind]}, and calls to such are closed.`
        : `Calls to numbers that begin with ${prefix} are closed.`;
    found.push({
      code: 'destination_closed',
      reason,
      evidence: { kind, country, prefix },
      retry_after_seconds: null,
    });
  }
  if (!possible) {
    found.push({
      code: 'destination_not_allowed',
      reason: 'No number is like this in any country: the code is nobody’s, or the length is wrong.',
      evidence: { country, possible },
      retry_after_seconds: null,
    });
    return found;
  }
  const countries = [...new Set([...facts.ownCountries, ...rules.countries])].sort();
  const allowed =
    (country !== null && countries.includes(country)) || beginning(to, rules.allowed_prefixes) !== null;
  if (!allowed) {
    found.push({
      code: 'destination_not_allowed',
      reason: `It is ${country === null ? 'of no country' : `in ${country}`}; calls go to ${countries.join(', ') || 'no country yet'}${rules.allowed_prefixes.length === 0 ? '' : ` and ${rules.allowed_prefixes.join(', ')}`}.`,
      evidence: { country, countries, allowed_prefixes: [...rules.allowed_prefixes] },
      retry_after_seconds: null,
    });
  }
  return found;
}

function personRefusals(facts: GateFacts): Found[] {
  const found: Found[] = [];
  if (facts.doNotCall !== null) {
    const { id, source, created_at, call_id } = facts.doNotCall;
    found.push({
      code: 'do_not_call',
      reason: `The number is not to be called: ${source === 'said' ? 'it was said on a call' : `on the list (${source})`} since ${created_at.slice(0, 10)}.`,
      evidence: { do_not_call_id: id, source, since: created_at, call_id },
      retry_after_seconds: null,
    });
  }
  if (facts.consentAskedBy !== null && facts.consent === null) {
    found.push({
      code: 'consent_missing',
      reason: `${facts.consentAskedBy === 'agent' ? 'The agent' : 'The organization'} calls nobody without a consent, and none of this number is known that stands.`,
      evidence: { asked_by: facts.consentAskedBy },
      retry_after_seconds: null,
    });
  }
  return found;
}

function limitRefusals({ at }: GateAsk, rules: OutboundRules, facts: GateFacts): Found[] {
  const found: Found[] = [];
  const {
    calls_per_destination_per_day: daily,
    calls_per_minute: minutely,
    spend_per_day_milli_cents: money,
  } = rules;
  if (daily !== null && (facts.callsToDestination ?? 0) >= daily) {
    found.push({
      code: 'too_many_to_destination',
      reason: `The number was called ${facts.callsToDestination} times in the last 24 hours; ${daily} are allowed.`,
      evidence: { calls: facts.callsToDestination, limit: daily },
      retry_after_seconds: secondsUntil(at, facts.destinationFreeAt),
    });
  }
  if (minutely !== null && (facts.callsInMinute ?? 0) >= minutely) {
    found.push({
      code: 'calls_per_minute',
      reason: `${facts.callsInMinute} calls were placed in the last minute; ${minutely} are allowed.`,
      evidence: { calls: facts.callsInMinute, limit: minutely },
      retry_after_seconds: minutely === 0 ? null : 60,
    });
  }
  if (money !== null && facts.spentMilliCents !== null && facts.spentMilliCents >= money) {
    found.push({
      code: 'daily_spend_reached',
      reason: `${facts.spentMilliCents} thousandths of a cent were spent in the last 24 hours; ${money} are allowed.`,
      evidence: { spent_milli_cents: facts.spentMilliCents, limit_milli_cents: money },
      retry_after_seconds: 3600,
    });
  }
  return found;
}

/** Everything that speaks against a call, in the order of the codes; nothing is overridden here. */
export function refusalsOf(ask: GateAsk, rules: OutboundRules, facts: GateFacts): Found[] {
  const { number } = facts;
  const found = [
    ...destinationRefusals(ask.to, rules, facts),
    ...personRefusals(facts),
    ...limitRefusals(ask, rules, facts),
  ];
  const hours = hoursThere(rules.calling_hours, number.zones, ask.at);
  if (!hours.open && rules.calling_hours !== null) {
    const { from, to, days } = rules.calling_hours;
    found.push({
      code: 'outside_calling_hours',
      reason: `It is ${hours.local.map(({ time, zone }) => `${time.slice(11)} in ${zone}`).join(', ') || 'not known what time it is'} there; calls are placed from ${from} to ${to}.`,
      evidence: {
        local_times: hours.local,
        from,
        to,
        days: [...days],
        opens_at: hours.opensAt?.toISOString() ?? null,
      },
      retry_after_seconds: secondsUntil(ask.at, hours.opensAt),
    });
  }
  return found.sort((a, b) => GATE_CODES.indexOf(a.code) - GATE_CODES.indexOf(b.code));
}

/** What the gate says: the facts by which the call goes out, or why it does not. */
export function decide(
  ask: GateAsk,
  rules: OutboundRules,
  facts: GateFacts,
): { allowed: CallGate } | { refusal: GateRefusal } {
  const refusals = refusalsOf(ask, rules, facts);
  const overridden = new Set<GateCode>(ask.override?.codes ?? []);
  const codes = refusals.map(({ code }) => code);
  const first = refusals.find(({ code }) => !overridden.has(code));
  if (first !== undefined) return { refusal: { ...first, codes } };
  const { number } = facts;
  return {
    allowed: {
      decided_at: ask.at.toISOString(),
      country: number.country,
      kind: number.kind,
      zones: [...number.zones],
      local_times: hoursThere(null, number.zones, ask.at).local,
      calls_to_destination: facts.callsToDestination,
      calls_in_minute: facts.callsInMinute,
      spent_milli_cents: facts.spentMilliCents,
      consent_id: facts.consent?.id ?? null,
      // Of what it named, what was needed: the rest let nothing through.
      overridden: ask.override === null || codes.length === 0 ? null : { ...ask.override, codes },
    },
  };
}
