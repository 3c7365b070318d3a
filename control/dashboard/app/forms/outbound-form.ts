// The form of the rules of outbound calls: what stands in its fields, what of it is wrong, what is changed by it. PURE.
import type { OutboundRules, OutboundRulesChange } from '../../../sdk/index.ts';

export interface OutboundForm {
  countries: string;
  allowedPrefixes: string;
  closedPrefixes: string;
  closedKinds: readonly string[];
  perDestination: string;
  perMinute: string;
  /** Dollars a day. */
  spend: string;
  anyTime: boolean;
  from: string;
  to: string;
  days: readonly string[];
  consent: boolean;
}

export const DAYS = [
  { value: 'mon', label: 'Monday' },
  { value: 'tue', label: 'Tuesday' },
  { value: 'wed', label: 'Wednesday' },
  { value: 'thu', label: 'Thursday' },
  { value: 'fri', label: 'Friday' },
  { value: 'sat', label: 'Saturday' },
  { value: 'sun', label: 'Sunday' },
] as const;

/** Kinds of ranges that may be closed or opened here, in the words of people. */
export const KINDS = [
  { value: 'premium', label: 'Premium rate' },
  { value: 'shared_cost', label: 'Shared cost' },
  { value: 'satellite', label: 'Satellite and global networks' },
  { value: 'personal', label: 'Personal numbers' },
  { value: 'pager', label: 'Pagers' },
  { value: 'uan', label: 'Company-wide numbers (UAN)' },
  { value: 'voicemail', label: 'Voicemail access' },
  { value: 'toll_free', label: 'Toll-free' },
  { value: 'unassigned', label: 'Of no assigned range' },
] as const;

const MILLI_CENTS_A_DOLLAR = 100_000;
const numberText = (value: number | null) => (value === null ? '' : String(value));

export function outboundForm(rules: OutboundRules): OutboundForm {
  const { calling_hours: hours, spend_per_day_milli_cents: spend } = rules;
  return {
    countries: rules.countries.join(', '),
    allowedPrefixes: rules.allowed_prefixes.join(', '),
    closedPrefixes: rules.closed_prefixes.join(', '),
    closedKinds: rules.closed_kinds,
    perDestination: numberText(rules.calls_per_destination_per_day),
    perMinute: numberText(rules.calls_per_minute),
    spend: spend === null ? '' : String(spend / MILLI_CENTS_A_DOLLAR),
    anyTime: hours === null,
    from: hours?.from ?? '08:00',
    to: hours?.to ?? '21:00',
    days: hours?.days ?? DAYS.map(({ value }) => value),
    consent: rules.consent === 'required',
  };
}

const listOf = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
const isCount = (text: string) => /^\d{1,6}$/.test(text.trim());
const countOf = (text: string) => (text.trim() === '' ? null : Number(text));

/** What is wrong, by its field. */
export function outboundFaults(form: OutboundForm): Partial<Record<keyof OutboundForm, string>> {
  const faults: Partial<Record<keyof OutboundForm, string>> = {};
  const badCountry = listOf(form.countries).find((one) => !/^[A-Za-z]{2}$/.test(one));
  if (badCountry !== undefined)
    faults.countries = `${badCountry} is no country code of two letters, such as CA.`;
  for (const name of ['allowedPrefixes', 'closedPrefixes'] as const) {
    const bad = listOf(form[name]).find((one) => !/^\+[1-9]\d{0,13}$/.test(one));
    if (bad !== undefined)
      faults[name] = `${bad} is not how a number begins: a plus and digits, such as +4420.`;
  }
  for (const name of ['perDestination', 'perMinute'] as const) {
    if (form[name].trim() !== '' && !isCount(form[name]))
      faults[name] = 'A whole number, or nothing: no limit.';
  }
  if (form.spend.trim() !== '' && !/^\d{1,7}([.,]\d{1,5})?$/.test(form.spend.trim()))
    faults.spend = 'An amount in dollars, or nothing: no limit.';
  if (!form.anyTime) {
    if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(form.from)) faults.from = 'A time such as 08:00.';
    if (!/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(form.to))
      faults.to = 'A time such as 21:00; 24:00 is the end of the day.';
    else if (faults.from === undefined && form.from >= form.to)
      faults.to = 'Later than they begin, on the same day.';
    if (form.days.length === 0) faults.days = 'Choose a day.';
  }
  return faults;
}

/** The rules that the form changes; nothing where it changes none. */
export function outboundChange(form: OutboundForm, rules: OutboundRules): OutboundRulesChange {
  const spend = form.spend.trim().replace(',', '.');
  const wanted: OutboundRulesChange = {
    countries: [...new Set(listOf(form.countries).map((one) => one.toUpperCase()))],
    allowed_prefixes: listOf(form.allowedPrefixes),
    closed_prefixes: listOf(form.closedPrefixes),
    closed_kinds: [...form.closedKinds] as OutboundRules['closed_kinds'],
    calls_per_destination_per_day: countOf(form.perDestination),
    calls_per_minute: countOf(form.perMinute),
    spend_per_day_milli_cents: spend === '' ? null : Math.round(Number(spend) * MILLI_CENTS_A_DOLLAR),
    calling_hours: form.anyTime
      ? null
      : {
          from: form.from,
          to: form.to,
          days: [...form.days] as NonNullable<OutboundRules['calling_hours']>['days'],
        },
    consent: form.consent ? 'required' : 'none',
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(rules[name as keyof OutboundRules]),
    ),
  );
}

/** The number as the API has it, from how people write it. */
export const typedNumber = (text: string) => text.replace(/[\s().\-/]/g, '');

const CODE_WORDS: Readonly<Record<string, string>> = {
  destination_closed: 'Closed range',
  destination_not_allowed: 'Country not allowed',
  do_not_call: 'Not to be called',
  consent_missing: 'No consent',
  outside_calling_hours: 'Outside calling hours',
  too_many_to_destination: 'Called too often',
  calls_per_minute: 'Too many a minute',
  daily_spend_reached: 'Money of the day spent',
};
export const GATE_CODES = Object.keys(CODE_WORDS);

export const codeWords = (code: string) => CODE_WORDS[code] ?? code;
