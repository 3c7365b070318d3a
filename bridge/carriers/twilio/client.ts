// Twilio's REST API as a Carrier: calls, numbers and prices. https://www.twilio.com/docs/voice/api.
// Requests and errors are rest.ts, documents twiml.ts; what the calls mean is bridge/calls'.
import * as z from 'zod';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { AvailableNumber, Carrier, CarrierCallSnapshot, OwnedNumber } from '../carrier.ts';
import { countryOf } from '../dial-codes.ts';
import { createTwilioRest, NO_ANSWER, type TwilioRest } from './rest.ts';
import { carrierStatus } from './status.ts';
import { MAX_INLINE_TWIML, renderDigits, renderSpeech, renderTransfer } from './twiml.ts';

/** How long a third party rings when a call is handed over. */
const TRANSFER_RING_SECONDS = 25;
const PRICES_FRESH_MS = 3_600_000;
/** What the last searches found, for a purchase that follows. */
const MAX_REMEMBERED = 1_000;

/** Monthly prices in cents by the kind of number. */
export type NumberPrices = Readonly<Record<string, number>>;

const TYPES = { local: 'Local', mobile: 'Mobile', toll_free: 'TollFree', national: 'National' } as const;

// Twilio writes numbers as strings or null; both are taken.
const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => value ?? null);
const call = z.looseObject({
  sid: z.string(),
  status: z.string(),
  to: text,
  from: text,
  duration: text,
  date_created: text,
  start_time: text,
  end_time: text,
});
const calls = z.looseObject({ calls: z.array(call) });
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
const ownedList = z.looseObject({ incoming_phone_numbers: z.array(owned) });
const prices = z.looseObject({
  phone_number_prices: z.array(
    z.looseObject({ number_type: z.string(), current_price: text, base_price: text }),
  ),
});

export interface TwilioOptions {
  accountSid: string;
  authToken: string;
  /** `https://api.twilio.com`, or a Twilio-compatible carrier. */
  baseUrl: string;
  /** What the carrier reaches us at, without a slash at the end. */
  publicUrl: string;
  /** Where the hooks are mounted below it, e.g. `/carriers/twilio`. */
  hooksPath: string;
  log: Log;
  /** What the operator says numbers of a country cost; it goes over what the carrier says. */
  numberPrices?: (country: string) => NumberPrices;
  timeoutMs?: number;
  /** Wait before a request that may be repeated is repeated, doubling. */
  retryDelayMs?: number;
}

export function openTwilio(o: TwilioOptions): Carrier {
  const rest = createTwilioRest({
    accountSid: o.accountSid,
    authToken: o.authToken,
    timeoutMs: o.timeoutMs ?? 10_000,
    retryDelayMs: o.retryDelayMs ?? 250,
  });
  const baseUrl = o.baseUrl.replace(/\/+$/, '');
  const account = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(o.accountSid)}`;
  const hooks = o.publicUrl + o.hooksPath;
  const callUrl = (carrierCallId: string) => `${account}/Calls/${encodeURIComponent(carrierCallId)}.json`;
  const hookUrl = (callId: string, step: string) => `${hooks}/calls/${callId}/${step}`;
  const priceList = createPriceList(rest, { url: pricingUrl(baseUrl), log: o.log, own: o.numberPrices });
  const found = new Map<string, { country: string; type: string; cents: number | null }>();

  async function end(
    carrierCallId: string,
    status: 'completed' | 'canceled',
  ): Promise<'ended' | 'already_ended'> {
    try {
      await rest.post(callUrl(carrierCallId), { Status: status }, { repeat: true });
      return 'ended';
    } catch (error) {
      if (isGone(error)) return 'already_ended';
      throw error;
    }
  }

  async function redirect(carrierCallId: string, twiml: string): Promise<void> {
    if (twiml.length > MAX_INLINE_TWIML)
      throw new AppError('internal', 'a document is too long for the carrier');
    await rest.post(callUrl(carrierCallId), { Twiml: twiml });
  }

  async function fetchCall(carrierCallId: string): Promise<CarrierCallSnapshot | null> {
    try {
      return snapshot(await rest.get(callUrl(carrierCallId), call));
    } catch (error) {
      if (error instanceof AppError && error.carrierCode === '20404') return null;
      throw error;
    }
  }

  async function findOwned(e164: string): Promise<z.infer<typeof owned> | null> {
    const query = new URLSearchParams({ PhoneNumber: e164 });
    const list = await rest.get(`${account}/IncomingPhoneNumbers.json?${query}`, ownedList);
    return list.incoming_phone_numbers.find((number) => number.phone_number === e164) ?? null;
  }

  return {
    name: 'twilio',
    capabilities: {
      marks: true,
      clearReturnsMarks: true,
      detectsMachines: true,
      streamIsCall: false,
      answerSeconds: null,
    },

    async placeCall({ callId, to, from, ringSeconds, maxSeconds, machineDetection }) {
      const form: Record<string, string | string[]> = {
        To: to,
        From: from,
        Url: hookUrl(callId, 'answer'),
        Method: 'POST',
        StatusCallback: hookUrl(callId, 'status'),
        StatusCallbackMethod: 'POST',
        StatusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
        Timeout: String(ringSeconds),
        TimeLimit: String(maxSeconds),
      };
      if (machineDetection !== null) {
        Object.assign(form, {
          MachineDetection: machineDetection === 'detect' ? 'Enable' : 'DetectMessageEnd',
          // Greetings run 10 to 40 s; where only the verdict counts, 20 s are enough.
          MachineDetectionTimeout: machineDetection === 'detect' ? '20' : '45',
          AsyncAmd: 'true',
          AsyncAmdStatusCallback: hookUrl(callId, 'machine'),
          AsyncAmdStatusCallbackMethod: 'POST',
        });
      }
      const created = await rest.post(`${account}/Calls.json`, form, { schema: call, outcomeUnknown: true });
      return { carrierCallId: created.sid };
    },

    hangUp: (carrierCallId) => end(carrierCallId, 'completed'),
    async cancel(carrierCallId) {
      if ((await end(carrierCallId, 'canceled')) === 'ended') return 'ended';
      // The same refusal is given for a call that has ended and for one that was answered meanwhile.
      const seen = await fetchCall(carrierCallId);
      return seen?.status === 'answered' ? end(carrierCallId, 'completed') : 'already_ended';
    },

    async transfer(carrierCallId, to, { callId, from }) {
      const resultUrl = hookUrl(callId, 'transfer-result');
      await redirect(
        carrierCallId,
        renderTransfer({ to, from, resultUrl, ringSeconds: TRANSFER_RING_SECONDS }),
      );
    },
    async sendDigits(carrierCallId, digits, { callId }) {
      if (!/^[0-9A-Da-d*#wW]{1,64}$/.test(digits)) throw new AppError('internal', 'these are no key tones');
      await redirect(carrierCallId, renderDigits({ digits, thenUrl: hookUrl(callId, 'answer') }));
    },
    async speakAndHangUp(carrierCallId, line) {
      try {
        await redirect(carrierCallId, renderSpeech(line));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },

    fetchCall,
    async findCalls({ to, from, since }) {
      // Not filtered by StartTime at the carrier: a call that is queued there has none yet.
      const query = new URLSearchParams({ To: to, From: from, PageSize: '50' });
      const list = await rest.get(`${account}/Calls.json?${query}`, calls);
      // The carrier's times are whole seconds.
      const earliest = Math.floor(Date.parse(since) / 1000) * 1000;
      return list.calls
        .filter((one) => {
          const at = Date.parse(one.date_created ?? one.start_time ?? '');
          return Number.isNaN(at) || at >= earliest;
        })
        .map(snapshot);
    },

    async searchNumbers({ country, type, areaCode, contains, locality, region, limit }) {
      const query = new URLSearchParams({ VoiceEnabled: 'true', PageSize: String(limit) });
      if (areaCode !== undefined) query.set('AreaCode', areaCode);
      if (contains !== undefined) query.set('Contains', contains);
      if (locality !== undefined) query.set('InLocality', locality);
      if (region !== undefined) query.set('InRegion', region);
      const url = `${account}/AvailablePhoneNumbers/${encodeURIComponent(country)}/${TYPES[type]}.json?${query}`;
      let list: z.infer<typeof available>;
      try {
        list = await rest.get(url, available);
      } catch (error) {
        // Numbers of this type are not sold in this country.
        if (error instanceof AppError && error.carrierCode === '20404') return [];
        throw error;
      }
      const cents =
        list.available_phone_numbers.length === 0 ? null : await priceList.monthlyCents(country, type);
      const numbers = list.available_phone_numbers.slice(0, limit).map(
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
      for (const number of numbers) {
        found.delete(number.e164);
        found.set(number.e164, { country: number.country_code, type, cents });
      }
      for (const oldest of found.keys()) {
        if (found.size <= MAX_REMEMBERED) break;
        found.delete(oldest);
      }
      return numbers;
    },

    async buyNumber({ e164, friendlyName }) {
      const settings = {
        VoiceUrl: `${hooks}/voice`,
        VoiceMethod: 'POST',
        StatusCallback: `${hooks}/status`,
        StatusCallbackMethod: 'POST',
        ...(friendlyName === undefined ? {} : { FriendlyName: friendlyName.slice(0, 64) }),
      };
      // Its price is asked before it is bought: afterwards nothing may fail any more.
      const known = found.get(e164);
      const country = known?.country ?? countryOf(e164);
      const price = known === undefined ? await priceList.highestCents(country) : known.cents;
      if (price === null) throw priceUnknown(country, known?.type);
      const describe = async (number: z.infer<typeof owned>): Promise<OwnedNumber> => {
        const numberType = kindOf(number.type ?? known?.type ?? 'local');
        return {
          carrierNumberId: number.sid,
          e164: number.phone_number,
          friendlyName: number.friendly_name ?? friendlyName ?? number.phone_number,
          countryCode: country,
          numberType,
          // Of what nobody has searched for, the kind is known once it is ours: the highest price of the country stands
          // in for one that the carrier does not name.
          monthlyCostCents: known?.cents ?? (await priceList.monthlyCents(country, numberType)) ?? price,
        };
      };

      const ours = await findOwned(e164);
      if (ours !== null) {
        const url = `${account}/IncomingPhoneNumbers/${encodeURIComponent(ours.sid)}.json`;
        return describe(await rest.post(url, settings, { schema: owned, repeat: true }));
      }
      try {
        const url = `${account}/IncomingPhoneNumbers.json`;
        return await describe(await rest.post(url, { PhoneNumber: e164, ...settings }, { schema: owned }));
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
        return describe(bought);
      }
    },

    async check() {
      await rest.get(`${account}/IncomingPhoneNumbers.json?PageSize=1`, ownedList);
    },

    async releaseNumber(carrierNumberId) {
      try {
        await rest.delete(`${account}/IncomingPhoneNumbers/${encodeURIComponent(carrierNumberId)}.json`);
      } catch (error) {
        if (!(error instanceof AppError && error.carrierCode === '20404')) throw error;
      }
    },
  };
}

/** A call that is not there, or not in a state that can be changed, has ended as far as we are concerned. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && (error.carrierCode === '21220' || error.carrierCode === '20404');
}

function snapshot(it: z.infer<typeof call>): CarrierCallSnapshot {
  const status = carrierStatus(it.status);
  if (status === null) {
    throw new AppError(
      'carrier_error',
      `The carrier reports a call status that is not known (${it.status}).`,
      {
        retryable: false,
      },
    );
  }
  return {
    carrierCallId: it.sid,
    status,
    to: it.to ?? '',
    from: it.from ?? '',
    durationSeconds: it.duration !== null && /^\d+$/.test(it.duration) ? Number(it.duration) : null,
    startedAt: isoTime(it.start_time),
    endedAt: isoTime(it.end_time),
  };
}

function isoTime(rfc2822: string | null): string | null {
  const time = Date.parse(rfc2822 ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
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

/** A kind of number as the API spells it, from any of the carrier's spellings: `toll free`, `tollfree`, `TollFree`. */
function kindOf(said: string): string {
  const letters = said.toLowerCase().replace(/[^a-z]/g, '');
  return letters === 'tollfree' ? 'toll_free' : letters;
}

/** Prices are on a host of their own at Twilio; a compatible carrier has them beside the rest. */
export function pricingUrl(baseUrl: string): string {
  return baseUrl.replace(/^https:\/\/api\.(?:[a-z0-9-]+\.)*twilio\.com$/i, 'https://pricing.twilio.com');
}

/** Monthly prices by country and kind of number, asked at most once an hour. */
function createPriceList(
  rest: TwilioRest,
  { url, log, own }: { url: string; log: Log; own: TwilioOptions['numberPrices'] },
) {
  const known = new Map<string, { at: number; cents: Map<string, number> }>();

  async function load(country: string): Promise<Map<string, number>> {
    const cached = known.get(country);
    if (cached && performance.now() - cached.at < PRICES_FRESH_MS) return cached.cents;
    const cents = new Map<string, number>();
    try {
      const list = await rest.get(`${url}/v1/PhoneNumbers/Countries/${encodeURIComponent(country)}`, prices);
      for (const price of list.phone_number_prices) {
        const amount = Number(price.current_price ?? price.base_price ?? Number.NaN);
        if (Number.isFinite(amount)) cents.set(kindOf(price.number_type), Math.round(amount * 100));
      }
    } catch (error) {
      if (!(error instanceof AppError && error.carrierCode === '20404')) throw error;
      log.warn({ country }, 'carrier.prices.none');
    }
    for (const [type, price] of Object.entries(own?.(country) ?? {})) cents.set(type, price);
    known.set(country, { at: performance.now(), cents });
    return cents;
  }

  return {
    /** Null where nobody names a price: that is not 0. */
    async monthlyCents(country: string, type: string): Promise<number | null> {
      return (await load(country)).get(type) ?? null;
    },
    /** The highest of any kind; null where there is none. */
    async highestCents(country: string): Promise<number | null> {
      const all = [...(await load(country)).values()];
      return all.length === 0 ? null : Math.max(...all);
    },
  };
}
