// What Twilio's numbers cost a month, by its own price list and the operator's over it. https://www.twilio.com/docs/phone-numbers/pricing
import * as z from 'zod';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import { kindOf, text } from './fields.ts';
import type { TwilioRest } from './rest.ts';

const FRESH_MS = 3_600_000;

/** Monthly prices in cents by the kind of number. */
export type NumberPrices = Readonly<Record<string, number>>;

const prices = z.looseObject({
  phone_number_prices: z.array(
    z.looseObject({ number_type: z.string(), current_price: text, base_price: text }),
  ),
});

export interface PriceList {
  /** Null where nobody names a price: that is not 0. */
  monthlyCents(country: string, type: string): Promise<number | null>;
  /** The highest of any kind; null where there is none. */
  highestCents(country: string): Promise<number | null>;
}

/** Prices are on a host of their own at Twilio; a compatible carrier has them beside the rest. */
export function pricingUrl(baseUrl: string): string {
  return baseUrl.replace(/^https:\/\/api\.(?:[a-z0-9-]+\.)*twilio\.com$/i, 'https://pricing.twilio.com');
}

/**
 * The list of each country, asked at most once an hour.
 * @param o.own what the operator says that numbers of a country cost; it goes over what the carrier says
 */
export function openPriceList(
  rest: TwilioRest,
  o: { url: string; log: Log; own: ((country: string) => NumberPrices) | undefined },
): PriceList {
  const known = new Map<string, { at: number; cents: Map<string, number> }>();

  async function load(country: string): Promise<Map<string, number>> {
    const cached = known.get(country);
    if (cached && performance.now() - cached.at < FRESH_MS) return cached.cents;
    const cents = new Map<string, number>();
    try {
      const url = `${o.url}/v1/PhoneNumbers/Countries/${encodeURIComponent(country)}`;
      for (const price of (await rest.get(url, prices)).phone_number_prices) {
        const amount = Number(price.current_price ?? price.base_price ?? Number.NaN);
        if (Number.isFinite(amount)) cents.set(kindOf(price.number_type), Math.round(amount * 100));
      }
    } catch (error) {
      if (!(error instanceof AppError && error.carrierCode === '20404')) throw error;
      o.log.warn({ country }, 'carrier.prices.none');
    }
    for (const [type, price] of Object.entries(o.own?.(country) ?? {})) cents.set(type, price);
    known.set(country, { at: performance.now(), cents });
    return cents;
  }

  return {
    async monthlyCents(country, type) {
      return (await load(country)).get(type) ?? null;
    },
    async highestCents(country) {
      const all = [...(await load(country)).values()];
      return all.length === 0 ? null : Math.max(...all);
    },
  };
}
