// Numbers of an account at Twilio: searched, bought, pointed at our hooks, given back.
// https://www.twilio.com/docs/phone-numbers/api
import * as z from 'zod';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import { type AvailableNumber, NO_ANSWER, type Numbers, type OwnedNumber } from '../carrier.ts';
import { countryOf } from '../dial-codes.ts';
import { kindOf, text } from './fields.ts';
import { hookUrl } from './hook-url.ts';
import type { PriceList } from './prices.ts';
import type { TwilioRest } from './rest.ts';

const MAX_REMEMBERED = 1_000;
const MAX_NAME = 64;

const TYPES = { local: 'Local', mobile: 'Mobile', toll_free: 'TollFree', national: 'National' } as const;

const available = z.looseObject({
  available_phone_numbers: z.array(
    z.looseObject({
      phone_number: z.string(),
      friendly_name: text,
      locality: text,
      region: text,
      iso_country: text,
    }),
  ),
});
const owned = z.looseObject({ sid: z.string(), phone_number: z.string(), friendly_name: text, type: text });
export const ownedList = z.looseObject({ incoming_phone_numbers: z.array(owned) });

type Owned = z.infer<typeof owned>;

/** What a search said of a number. */
interface Found {
  country: string;
  type: string;
  cents: number | null;
}

/** What the last searches found, for a purchase that follows. */
class FoundNumbers {
  readonly #byNumber = new Map<string, Found>();

  get(e164: string): Found | undefined {
    return this.#byNumber.get(e164);
  }

  remember({ e164, country_code, number_type, monthly_cost_cents }: AvailableNumber): void {
    this.#byNumber.delete(e164);
    this.#byNumber.set(e164, { country: country_code, type: number_type, cents: monthly_cost_cents });
    for (const oldest of this.#byNumber.keys()) {
      if (this.#byNumber.size <= MAX_REMEMBERED) break;
      this.#byNumber.delete(oldest);
    }
  }
}

/** What a number that is asked for costs: known before it is bought, since afterwards nothing may fail any more. */
interface Sale {
  known: Found | undefined;
  country: string;
  cents: number;
}

/**
 * @param o.account URL of the account
 * @param o.hooks URL of our hooks, which numbers are pointed at
 */
export function openTwilioNumbers(
  rest: TwilioRest,
  o: { account: string; hooks: string; prices: PriceList; log: Log },
): Numbers {
  const { account, prices } = o;
  const found = new FoundNumbers();

  const settings = (friendlyName: string | undefined) => ({
    VoiceUrl: hookUrl(o.hooks, '/voice'),
    VoiceMethod: 'POST',
    StatusCallback: hookUrl(o.hooks, '/status'),
    StatusCallbackMethod: 'POST',
    ...(friendlyName === undefined ? {} : { FriendlyName: friendlyName.slice(0, MAX_NAME) }),
  });

  /** @throws AppError price_unknown */
  async function sale(e164: string): Promise<Sale> {
    const known = found.get(e164);
    const country = known?.country ?? countryOf(e164);
    const cents = known === undefined ? await prices.highestCents(country) : known.cents;
    if (cents === null) throw priceUnknown(country, known?.type);
    return { known, country, cents };
  }

  async function describe(
    number: Owned,
    { known, country, cents }: Sale,
    friendlyName: string | undefined,
  ): Promise<OwnedNumber> {
    const numberType = kindOf(number.type ?? known?.type ?? 'local');
    return {
      carrierNumberId: number.sid,
      e164: number.phone_number,
      friendlyName: number.friendly_name ?? friendlyName ?? number.phone_number,
      countryCode: country,
      numberType,
      // Of what nobody has searched for, the kind is known once it is ours: the highest price of the country stands
      // in for one that the carrier does not name.
      monthlyCostCents: known?.cents ?? (await prices.monthlyCents(country, numberType)) ?? cents,
    };
  }

  async function findOwned(e164: string): Promise<Owned | null> {
    const query = new URLSearchParams({ PhoneNumber: e164 });
    const list = await rest.get(`${account}/IncomingPhoneNumbers.json?${query}`, ownedList);
    return list.incoming_phone_numbers.find((number) => number.phone_number === e164) ?? null;
  }

  return {
    async search({ country, type, areaCode, contains, locality, region, limit }) {
      const query = new URLSearchParams({ VoiceEnabled: 'true', PageSize: String(limit) });
      if (areaCode !== undefined) query.set('AreaCode', areaCode);
      if (contains !== undefined) query.set('Contains', contains);
      if (locality !== undefined) query.set('InLocality', locality);
      if (region !== undefined) query.set('InRegion', region);
      const url = `${account}/AvailablePhoneNumbers/${encodeURIComponent(country)}/${TYPES[type]}.json?${query}`;
      let list: z.infer<typeof available>['available_phone_numbers'];
      try {
        list = (await rest.get(url, available)).available_phone_numbers.slice(0, limit);
      } catch (error) {
        // Numbers of this type are not sold in this country.
        if (error instanceof AppError && error.carrierCode === '20404') return [];
        throw error;
      }
      const cents = list.length === 0 ? null : await prices.monthlyCents(country, type);
      const numbers = list.map(
        (number): AvailableNumber => ({
          e164: number.phone_number,
          friendly_name: number.friendly_name ?? number.phone_number,
          country_code: number.iso_country ?? country,
          number_type: type,
          locality: number.locality || null,
          region: number.region || null,
          monthly_cost_cents: cents,
        }),
      );
      for (const number of numbers) found.remember(number);
      return numbers;
    },

    async adopt({ e164, friendlyName }) {
      const at = await sale(e164);
      const ours = await findOwned(e164);
      if (ours === null) return null;
      const url = `${account}/IncomingPhoneNumbers/${encodeURIComponent(ours.sid)}.json`;
      const pointed = await rest.post(url, settings(friendlyName), { schema: owned, repeat: true });
      return describe(pointed, at, friendlyName);
    },

    async buy({ e164, friendlyName }) {
      const at = await sale(e164);
      try {
        const url = `${account}/IncomingPhoneNumbers.json`;
        const order = { PhoneNumber: e164, ...settings(friendlyName) };
        return await describe(await rest.post(url, order, { schema: owned }), at, friendlyName);
      } catch (error) {
        const carrierCode = error instanceof AppError ? (error.carrierCode ?? '') : '';
        const refused = PURCHASE_REFUSALS[carrierCode];
        if (refused !== undefined) {
          throw new AppError(refused.code, refused.message, { param: 'e164', carrierCode, cause: error });
        }
        // The answer may be lost and the number bought all the same: only the carrier knows.
        if (!(error instanceof AppError) || !(error.carrierCode === NO_ANSWER || error.retryable))
          throw error;
        o.log.warn({ carrier_code: error.carrierCode }, 'carrier.purchase.unanswered');
        const bought = await findOwned(e164);
        if (bought === null) throw error;
        return describe(bought, at, friendlyName);
      }
    },

    async release(carrierNumberId) {
      try {
        await rest.delete(`${account}/IncomingPhoneNumbers/${encodeURIComponent(carrierNumberId)}.json`);
      } catch (error) {
        if (!(error instanceof AppError && error.carrierCode === '20404')) throw error;
      }
    },
  };
}

/** Refusals of a purchase that say something of the number asked for, by the carrier's code. */
const PURCHASE_REFUSALS: Readonly<
  Record<string, { code: 'number_unavailable' | 'invalid_number'; message: string } | undefined>
> = {
  '21422': {
    code: 'number_unavailable',
    message: 'This number is not for sale; search for another one with GET /v1/numbers/available.',
  },
  '21421': {
    code: 'invalid_number',
    message: 'This is no phone number that can be bought; GET /v1/numbers/available finds some that can.',
  },
};

function priceUnknown(country: string, type: string | undefined): AppError {
  const what = `${type === undefined ? 'numbers' : `${type} numbers`} of ${country}`;
  return new AppError(
    'price_unknown',
    `The carrier names no monthly price for ${what}, so nothing was bought. The operator can name one in RATES_FILE, as carriers.twilio.number_month.${country}.`,
    { param: 'e164' },
  );
}
