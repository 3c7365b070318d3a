// The number inventory: what is for sale, what is owned, what it costs, where a number lives. No HTTP.
import { randomBytes } from 'node:crypto';
import { isE164 } from './form.ts';
import type { Random } from './random.ts';
import { RestError } from './rest-errors.ts';

export interface OwnedNumber {
  sid: string;
  phoneNumber: string;
  friendlyName: string;
  voiceUrl: string;
  voiceMethod: 'GET' | 'POST';
  voiceFallbackUrl: string;
  voiceFallbackMethod: 'GET' | 'POST';
  statusCallback: string;
  statusCallbackMethod: 'GET' | 'POST';
  createdAt: number;
  updatedAt: number;
}
export type NumberType = 'Local' | 'TollFree' | 'Mobile' | 'National';

interface Place {
  areaCode: string;
  locality: string;
  region: string;
  postalCode: string;
}
interface Country {
  name: string;
  prefix: string;
  /** Digits after the prefix. */
  length: number;
  places: Place[];
  types: Partial<Record<NumberType, { price: string; starts: string[] }>>;
}

const COUNTRIES: Record<string, Country> = {
  US: {
    name: 'United States',
    prefix: '+1',
    length: 10,
    places: [
      { areaCode: '415', locality: 'San Francisco', region: 'CA', postalCode: '94105' },
      { areaCode: '212', locality: 'New York', region: 'NY', postalCode: '10001' },
      { areaCode: '808', locality: 'Hilo', region: 'HI', postalCode: '96720' },
      { areaCode: '512', locality: 'Austin', region: 'TX', postalCode: '78701' },
    ],
    types: {
      Local: { price: '1.15', starts: ['415', '212', '808', '512'] },
      TollFree: { price: '2.15', starts: ['833', '844', '855'] },
    },
  },
  CA: {
    name: 'Canada',
    prefix: '+1',
    length: 10,
    places: [{ areaCode: '604', locality: 'Vancouver', region: 'BC', postalCode: 'V5K0A1' }],
    types: { Local: { price: '1.15', starts: ['604'] }, TollFree: { price: '2.15', starts: ['833'] } },
  },
  GB: {
    name: 'United Kingdom',
    prefix: '+44',
    length: 10,
    places: [{ areaCode: '20', locality: 'London', region: 'England', postalCode: '' }],
    types: {
      Local: { price: '1.15', starts: ['20'] },
      Mobile: { price: '1.15', starts: ['7'] },
      National: { price: '1.15', starts: ['330'] },
      TollFree: { price: '2.15', starts: ['800'] },
    },
  },
  DE: {
    name: 'Germany',
    prefix: '+49',
    length: 10,
    places: [{ areaCode: '30', locality: 'Berlin', region: 'Berlin', postalCode: '' }],
    types: { Local: { price: '1.15', starts: ['30'] }, National: { price: '1.15', starts: ['32'] } },
  },
};

const PRICE_NAMES: Record<NumberType, string> = {
  Local: 'local',
  TollFree: 'toll free',
  Mobile: 'mobile',
  National: 'national',
};
const KEYPAD = ['', '', 'ABC', 'DEF', 'GHI', 'JKL', 'MNO', 'PQRS', 'TUV', 'WXYZ'];

export interface Search {
  country: string;
  type: NumberType;
  areaCode: string;
  contains: string;
  locality: string;
  region: string;
  limit: number;
}
export interface ForSale {
  phoneNumber: string;
  locality: string;
  region: string;
  postalCode: string;
}

export class NumberBook {
  readonly owned = new Map<string, OwnedNumber>();
  readonly #random: Random;
  readonly #taken: ReadonlySet<string>;
  readonly #trial: boolean;

  constructor(o: { random: Random; taken: string[]; trial: boolean }) {
    this.#random = o.random;
    this.#taken = new Set(o.taken);
    this.#trial = o.trial;
  }

  byNumber(phoneNumber: string): OwnedNumber | undefined {
    for (const number of this.owned.values()) if (number.phoneNumber === phoneNumber) return number;
    return undefined;
  }

  /** A fresh sample, as the carrier gives it: nothing is reserved. @throws RestError 20404, 21451 */
  search(search: Search): ForSale[] {
    const country = COUNTRIES[search.country];
    const kind = country?.types[search.type];
    if (!country || !kind) {
      throw new RestError(20404, `The requested resource ${search.country}/${search.type} was not found`);
    }
    if (search.areaCode && !/^\d{3}$/.test(search.areaCode)) {
      throw new RestError(21451, `Invalid area code: ${search.areaCode}`);
    }
    const places = country.places.filter(
      (place) =>
        (!search.locality || place.locality.toLowerCase() === search.locality.toLowerCase()) &&
        (!search.region || place.region.toLowerCase() === search.region.toLowerCase()) &&
        (!search.areaCode || search.type !== 'Local' || place.areaCode === search.areaCode),
    );
    if (places.length === 0) return [];
    const pattern = patternOf(search.contains);
    const found = new Map<string, ForSale>();
    for (let attempt = 0; attempt < search.limit * 4 && found.size < search.limit; attempt++) {
      const place = this.#random.pick(places);
      const starts =
        search.type === 'Local'
          ? [place.areaCode]
          : kind.starts.filter((start) => !search.areaCode || start === search.areaCode);
      if (starts.length === 0) return [];
      const phoneNumber = this.#number(country, this.#random.pick(starts), pattern);
      if (phoneNumber === null || this.#taken.has(phoneNumber) || this.byNumber(phoneNumber)) continue;
      found.set(phoneNumber, { phoneNumber, ...place });
    }
    return [...found.values()];
  }

  /** @throws RestError 21421, 21422, 21451, 21452, 21404 */
  buy(o: { phoneNumber: string; areaCode: string }): OwnedNumber {
    let { phoneNumber } = o;
    if (!phoneNumber) {
      if (!o.areaCode) throw new RestError(21421, 'PhoneNumber or AreaCode is required');
      const search = { country: 'US', type: 'Local' as const, contains: '', locality: '', region: '' };
      const first = this.search({ ...search, areaCode: o.areaCode, limit: 1 })[0];
      if (!first) throw new RestError(21452, `No phone numbers found in area code ${o.areaCode}`);
      phoneNumber = first.phoneNumber;
    }
    if (!isE164(phoneNumber))
      throw new RestError(21421, `PhoneNumber is not a valid phone number: ${phoneNumber}`);
    if (this.#taken.has(phoneNumber) || this.byNumber(phoneNumber)) {
      throw new RestError(21422, `${phoneNumber} is not available`);
    }
    if (this.#trial && this.owned.size >= 1) {
      throw new RestError(21404, 'Trial accounts are allowed only one phone number');
    }
    return this.add(phoneNumber);
  }

  add(phoneNumber: string): OwnedNumber {
    const now = Date.now();
    const number: OwnedNumber = {
      sid: `PN${randomBytes(16).toString('hex')}`,
      phoneNumber,
      friendlyName: formatted(phoneNumber),
      voiceUrl: '',
      voiceMethod: 'POST',
      voiceFallbackUrl: '',
      voiceFallbackMethod: 'POST',
      statusCallback: '',
      statusCallbackMethod: 'POST',
      createdAt: now,
      updatedAt: now,
    };
    this.owned.set(number.sid, number);
    return number;
  }

  #number(country: Country, start: string, pattern: string): string | null {
    const free = country.length - start.length;
    let digits = start;
    for (let i = 0; i < free; i++) {
      // The exchange of a North American number does not begin with 0 or 1.
      digits += i === 0 && country.prefix === '+1' ? 2 + this.#random.integer(8) : this.#random.integer(10);
    }
    if (pattern === '') return country.prefix + digits;
    if (pattern.length > digits.length) {
      // The pattern covers the country code or more: it has to fit from the left.
      const whole = country.prefix.slice(1) + digits;
      return fits(pattern, whole) ? `+${whole}` : null;
    }
    if (fits(pattern, digits)) return country.prefix + digits;
    const at = digits.length - pattern.length;
    let out = '';
    for (let i = 0; i < digits.length; i++) {
      const wanted = i < at ? '*' : pattern[i - at]!;
      out += wanted === '*' ? digits[i] : wanted;
    }
    return out.startsWith(start) ? country.prefix + out : null;
  }
}

function patternOf(contains: string): string {
  if (contains === '') return '';
  const pattern = [...contains.replace(/^\+/, '').toUpperCase()]
    .map((character) => {
      if (/[0-9*]/.test(character)) return character;
      const key = KEYPAD.findIndex((letters) => letters.includes(character));
      return key >= 2 && /[A-Z]/.test(character) ? String(key) : '';
    })
    .join('');
  if (pattern.length < 2 || pattern.length > 16) throw new RestError(21421, `Invalid pattern: ${contains}`);
  return pattern;
}

function fits(pattern: string, digits: string): boolean {
  for (let at = 0; at + pattern.length <= digits.length; at++) {
    let same = true;
    for (let i = 0; i < pattern.length && same; i++)
      same = pattern[i] === '*' || pattern[i] === digits[at + i];
    if (same) return true;
  }
  return false;
}

/** (500) 555-0006 in North America, the number itself elsewhere. */
export function formatted(phoneNumber: string): string {
  const parts = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(phoneNumber);
  return parts ? `(${parts[1]}) ${parts[2]}-${parts[3]}` : phoneNumber;
}

export function subTypes(countryCode: string): NumberType[] | null {
  const country = COUNTRIES[countryCode];
  return country ? (Object.keys(country.types) as NumberType[]) : null;
}

export function countryName(countryCode: string): string | null {
  return COUNTRIES[countryCode]?.name ?? null;
}

/** Monthly prices, by type and not by number. */
export function numberPrices(
  countryCode: string,
): { number_type: string; base_price: string; current_price: string }[] {
  return Object.entries(COUNTRIES[countryCode]?.types ?? {}).map(([type, { price }]) => ({
    number_type: PRICE_NAMES[type as NumberType],
    base_price: price,
    current_price: price,
  }));
}

/** City, state, zip and country of a number, for the hooks; a number of nowhere has empty fields, never absent ones. */
export function geoOf(phoneNumber: string): { City: string; State: string; Zip: string; Country: string } {
  for (const [code, country] of Object.entries(COUNTRIES)) {
    if (!phoneNumber.startsWith(country.prefix)) continue;
    const place = country.places.find((one) => phoneNumber.startsWith(country.prefix + one.areaCode));
    if (place) {
      return {
        City: place.locality.toUpperCase(),
        State: place.region,
        Zip: place.postalCode,
        Country: code,
      };
    }
  }
  const country = Object.entries(COUNTRIES).find(([, one]) => phoneNumber.startsWith(one.prefix))?.[0];
  return { City: '', State: '', Zip: '', Country: country ?? '' };
}
