// What a telephone number says of itself: country, kind of range, and the time zones that it may be in. PURE.
// Ranges are those of libphonenumber-js, zones those of the table beside (Google's, by prefix) and of the countries (Intl).
import { type CountryCode, type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import table from './number-zones.json' with { type: 'json' };

/** Kinds of ranges. `unassigned`: of a numbering plan, and no range of it is known to have the number. */
export const NUMBER_KINDS = [
  'fixed_line',
  'mobile',
  'fixed_line_or_mobile',
  'voip',
  'toll_free',
  'premium',
  'shared_cost',
  'satellite',
  'personal',
  'pager',
  'uan',
  'voicemail',
  'unassigned',
] as const;
export type NumberKind = (typeof NUMBER_KINDS)[number];

export interface NumberFacts {
  /** ISO 3166 of the country; null for what is no country's, and for what is no telephone number. */
  country: string | null;
  kind: NumberKind;
  /** As long as numbers of its country are; a number that is not reaches nobody. */
  possible: boolean;
  /** IANA names; several where the number does not tell which. None for what is no country's, or nobody's. */
  zones: readonly string[];
}

const KINDS: Readonly<Record<NonNullable<NumberType>, NumberKind>> = {
  FIXED_LINE: 'fixed_line',
  MOBILE: 'mobile',
  FIXED_LINE_OR_MOBILE: 'fixed_line_or_mobile',
  VOIP: 'voip',
  TOLL_FREE: 'toll_free',
  PREMIUM_RATE: 'premium',
  SHARED_COST: 'shared_cost',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'pager',
  UAN: 'uan',
  VOICEMAIL: 'voicemail',
};

// Codes of ITU E.164 (list of assigned country codes) that are no country's: whatever libphonenumber knows of their ranges,
// each costs what its operator asks.
const GLOBAL_CODES: Readonly<Record<string, NumberKind>> = {
  '800': 'toll_free', // international freephone
  '808': 'shared_cost', // international shared cost
  '870': 'satellite', // Inmarsat
  '878': 'personal', // universal personal telecommunications
  '881': 'satellite', // global mobile satellite systems
  '882': 'satellite', // international networks, satellite and ships among them
  '883': 'satellite',
  '888': 'satellite', // disaster relief
  '979': 'premium', // international premium rate
};

// Premium, though libphonenumber has only those that are in use: every 900 of North America.
const PREMIUM_PREFIXES: readonly string[] = ['1900'];

/** Whose main country an unassigned number of a shared code is. */
const MAIN_COUNTRY: Readonly<Record<string, CountryCode>> = {
  '1': 'US',
  '7': 'RU',
  '39': 'IT',
  '44': 'GB',
  '47': 'NO',
  '61': 'AU',
  '212': 'MA',
  '262': 'RE',
  '290': 'SH',
  '358': 'FI',
  '590': 'GP',
  '599': 'CW',
};

// Mobile numbers have an area's prefix there (libphonenumber's PhoneNumberUtil, GEO_MOBILE_COUNTRIES).
const MOBILE_BY_AREA: ReadonlySet<string> = new Set(['52', '54', '55']);
const BY_AREA: ReadonlySet<NumberKind> = new Set(['fixed_line', 'fixed_line_or_mobile']);

/** Kinds that an unassigned number may be near to: it is taken for one where its first digits are of such a range. */
const COSTLY: ReadonlySet<NumberKind> = new Set([
  'premium',
  'shared_cost',
  'personal',
  'pager',
  'uan',
  'voicemail',
]);

const zonesByPrefix: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(table.zones).flatMap(([zones, prefixes]) =>
    prefixes.split(' ').map((prefix): [string, string[]] => [prefix, zones.split(' ')]),
  ),
);
const LONGEST_PREFIX = Math.max(...[...zonesByPrefix.keys()].map((prefix) => prefix.length));

const NOBODYS: NumberFacts = { country: null, kind: 'unassigned', possible: false, zones: [] };

/** Of numbers asked lately: a gate asks for the same ones again. */
const lately = new Map<string, NumberFacts>();
const LATELY = 2000;

/** @param e164 a plus and digits; anything else is no number */
export function numberFacts(e164: string): NumberFacts {
  const known = lately.get(e164);
  if (known !== undefined) return known;
  const facts = workOut(e164);
  if (lately.size >= LATELY) lately.clear();
  lately.set(e164, facts);
  return facts;
}

function workOut(e164: string): NumberFacts {
  if (!/^\+[1-9]\d{3,14}$/.test(e164)) return NOBODYS;
  const digits = e164.slice(1);
  const global = GLOBAL_CODES[digits.slice(0, 3)];
  if (global !== undefined) return { country: null, kind: global, possible: true, zones: [] };
  const parsed = parsePhoneNumberFromString(e164);
  if (parsed === undefined) return NOBODYS;
  const code = parsed.countryCallingCode;
  const country = parsed.country ?? MAIN_COUNTRY[code] ?? null;
  const kind = kindOf(digits, code, parsed.getType());
  const possible = parsed.isPossible();
  return { country, kind, possible, zones: possible ? zonesOf({ digits, code, kind, country }) : [] };
}

function kindOf(digits: string, code: string, type: NumberType): NumberKind {
  if (PREMIUM_PREFIXES.some((prefix) => digits.startsWith(prefix))) return 'premium';
  return type === undefined ? nearKind(digits, code) : KINDS[type];
}

/** Of a number that no range has: the costly range that begins as it does, else `unassigned`. */
function nearKind(digits: string, code: string): NumberKind {
  const begins = digits.slice(0, code.length + 3);
  for (let length = begins.length + 2; length <= 14; length++) {
    for (const filler of ['0', '2', '5', '9']) {
      const type = parsePhoneNumberFromString(`+${begins.padEnd(length, filler)}`)?.getType();
      if (type !== undefined && COSTLY.has(KINDS[type])) return KINDS[type];
    }
  }
  return 'unassigned';
}

function zonesOf(o: {
  digits: string;
  code: string;
  kind: NumberKind;
  country: string | null;
}): readonly string[] {
  const { digits, code, kind, country } = o;
  const byArea = BY_AREA.has(kind) || (kind === 'mobile' && MOBILE_BY_AREA.has(code));
  if (byArea || (kind === 'mobile' && code === '1')) {
    for (let length = Math.min(LONGEST_PREFIX, digits.length); length > code.length; length--) {
      const zones = zonesByPrefix.get(digits.slice(0, length));
      if (zones !== undefined) return zones;
    }
  }
  return country === null ? (zonesByPrefix.get(code) ?? []) : zonesOfCountry(country, code);
}

function zonesOfCountry(country: string, code: string): readonly string[] {
  // In ECMA-402 since 2025 (Intl Locale Info); not in TypeScript's library of es2024.
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined };
  const zones = locale.getTimeZones() ?? [];
  return zones.length > 0 ? zones : (zonesByPrefix.get(code) ?? []);
}
