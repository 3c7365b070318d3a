// Numbers over REST: what is for sale, what is owned, prices. The inventory itself is in numbers.ts.
// https://www.twilio.com/docs/phone-numbers/api
import express, { type Router } from 'express';
import { type Form, formOf, hookUrl, method, rfc2822, text } from './form.ts';
import {
  countryName,
  formatted,
  type NumberType,
  numberPrices,
  type OwnedNumber,
  subTypes,
} from './numbers.ts';
import type { Answer } from './rest-answer.ts';
import { notFound, RestError } from './rest-errors.ts';
import { pageOf } from './rest-page.ts';
import type { World } from './world.ts';

const TYPES: NumberType[] = ['Local', 'TollFree', 'Mobile', 'National'];

export function numberRoutes(world: World, answer: Answer): Router {
  const router = express.Router();
  const { numbers, faults, options } = world;
  const base = `/2010-04-01/Accounts/${options.accountSid}`;

  router.get('/AvailablePhoneNumbers/:country.json', (request, response) => {
    const { country } = request.params;
    const types = subTypes(country);
    if (!types) throw notFound(`${base}/AvailablePhoneNumbers/${country}.json`);
    const uri = `${base}/AvailablePhoneNumbers/${country}`;
    answer(response, 200, {
      country_code: country,
      country: countryName(country),
      beta: false,
      uri: `${uri}.json`,
      subresource_uris: Object.fromEntries(
        types.map((type) => [type.replace(/(?<=.)([A-Z])/g, '_$1').toLowerCase(), `${uri}/${type}.json`]),
      ),
    });
  });

  router.get('/AvailablePhoneNumbers/:country/:type.json', (request, response) => {
    const { country, type } = request.params;
    const query = formOf(request.query);
    const uri = `${base}/AvailablePhoneNumbers/${country}/${type}.json`;
    const known = TYPES.find((one) => one === type);
    if (!known || !subTypes(country)?.includes(known)) throw notFound(uri);
    const found = numbers.search({
      country,
      type: known,
      areaCode: text(query, 'AreaCode'),
      contains: text(query, 'Contains'),
      locality: text(query, 'InLocality'),
      region: text(query, 'InRegion'),
      limit: Math.min(1000, Math.max(1, Number(text(query, 'PageSize')) || 30)),
    });
    answer(response, 200, {
      uri,
      available_phone_numbers: found.map((number) => ({
        friendly_name: formatted(number.phoneNumber),
        phone_number: number.phoneNumber,
        lata: null,
        rate_center: null,
        latitude: null,
        longitude: null,
        locality: known === 'TollFree' ? null : number.locality,
        region: known === 'TollFree' ? null : number.region,
        postal_code: number.postalCode || null,
        iso_country: country,
        address_requirements: 'none',
        beta: false,
        capabilities: { voice: true, SMS: true, MMS: country === 'US' },
      })),
    });
  });

  router.post('/IncomingPhoneNumbers.json', (request, response) => {
    const form = formOf(request.body);
    const phoneNumber = text(form, 'PhoneNumber');
    // Checked before the purchase: nothing is bought with a wrong address.
    const changes = changesOf(form);
    if (faults.take('number_taken', { path: phoneNumber })) {
      throw new RestError(21422, `${phoneNumber} is not available`);
    }
    const number = numbers.buy({ phoneNumber, areaCode: text(form, 'AreaCode') });
    Object.assign(number, changes);
    world.events.emit('number.bought', null, { phoneNumber: number.phoneNumber });
    answer(response, 201, resourceOf(world, number));
  });

  router.get('/IncomingPhoneNumbers.json', (request, response) => {
    const query = formOf(request.query);
    const wanted = text(query, 'PhoneNumber');
    const name = text(query, 'FriendlyName');
    const found = [...numbers.owned.values()]
      .reverse()
      .filter((number) => wanted === '' || number.phoneNumber.includes(wanted.replaceAll('*', '')))
      .filter((number) => name === '' || number.friendlyName === name);
    const { items, envelope } = pageOf(found, query, `${base}/IncomingPhoneNumbers.json`);
    answer(response, 200, {
      ...envelope,
      incoming_phone_numbers: items.map((number) => resourceOf(world, number)),
    });
  });

  router.get('/IncomingPhoneNumbers/:sid.json', (request, response) => {
    answer(response, 200, resourceOf(world, find(world, request.params.sid)));
  });

  router.post('/IncomingPhoneNumbers/:sid.json', (request, response) => {
    const number = find(world, request.params.sid);
    Object.assign(number, changesOf(formOf(request.body)), { updatedAt: Date.now() });
    answer(response, 200, resourceOf(world, number));
  });

  router.delete('/IncomingPhoneNumbers/:sid.json', (request, response) => {
    const number = find(world, request.params.sid);
    numbers.owned.delete(number.sid);
    world.events.emit('number.released', null, { phoneNumber: number.phoneNumber });
    answer(response, 204, null);
  });
  return router;
}

function find(world: World, sid: string): OwnedNumber {
  const number = world.numbers.owned.get(sid);
  if (!number)
    throw notFound(`/2010-04-01/Accounts/${world.options.accountSid}/IncomingPhoneNumbers/${sid}.json`);
  return number;
}

/** @throws RestError 21402 (address), 21403 (method) */
function changesOf(form: Form): Partial<OwnedNumber> {
  const changes: Partial<OwnedNumber> = {};
  if (form.FriendlyName !== undefined) {
    const name = text(form, 'FriendlyName');
    // UNVERIFIED: the code for a name that is too long.
    if (name.length > 64) throw new RestError(20001, 'FriendlyName must be at most 64 characters');
    changes.friendlyName = name;
  }
  if (form.VoiceUrl !== undefined) changes.voiceUrl = hookUrl(form, 'VoiceUrl', 21402);
  if (form.VoiceMethod !== undefined) changes.voiceMethod = method(form, 'VoiceMethod');
  if (form.VoiceFallbackUrl !== undefined)
    changes.voiceFallbackUrl = hookUrl(form, 'VoiceFallbackUrl', 21402);
  if (form.VoiceFallbackMethod !== undefined)
    changes.voiceFallbackMethod = method(form, 'VoiceFallbackMethod');
  if (form.StatusCallback !== undefined) changes.statusCallback = hookUrl(form, 'StatusCallback', 21402);
  if (form.StatusCallbackMethod !== undefined) {
    changes.statusCallbackMethod = method(form, 'StatusCallbackMethod');
  }
  return changes;
}

function resourceOf(world: World, number: OwnedNumber): Record<string, unknown> {
  const { accountSid } = world.options;
  const uri = `/2010-04-01/Accounts/${accountSid}/IncomingPhoneNumbers/${number.sid}`;
  return {
    sid: number.sid,
    account_sid: accountSid,
    friendly_name: number.friendlyName,
    phone_number: number.phoneNumber,
    voice_url: number.voiceUrl || null,
    voice_method: number.voiceMethod,
    voice_fallback_url: number.voiceFallbackUrl || null,
    voice_fallback_method: number.voiceFallbackMethod,
    status_callback: number.statusCallback || null,
    status_callback_method: number.statusCallbackMethod,
    voice_caller_id_lookup: false,
    voice_application_sid: null,
    voice_receive_mode: 'voice',
    trunk_sid: null,
    sms_url: null,
    sms_method: 'POST',
    sms_fallback_url: null,
    sms_fallback_method: 'POST',
    sms_application_sid: null,
    address_requirements: 'none',
    address_sid: null,
    identity_sid: null,
    bundle_sid: null,
    emergency_status: 'Inactive',
    emergency_address_sid: null,
    emergency_address_status: 'unregistered',
    beta: false,
    origin: 'twilio',
    status: 'in-use',
    type: /^\+18(00|33|44|55|66|77|88)/.test(number.phoneNumber) ? 'tollfree' : 'local',
    capabilities: { voice: true, sms: true, mms: true, fax: false },
    api_version: '2010-04-01',
    date_created: rfc2822(number.createdAt),
    date_updated: rfc2822(number.updatedAt),
    uri: `${uri}.json`,
    subresource_uris: { assigned_add_ons: `${uri}/AssignedAddOns.json` },
  };
}

/** pricing.twilio.com: v1 sells numbers, v2 sells minutes. */
export function pricingRoutes(answer: Answer, version: 1 | 2): Router {
  const router = express.Router();
  const here = (request: { protocol: string; headers: { host?: string | undefined }; originalUrl: string }) =>
    `${request.protocol}://${request.headers.host ?? 'localhost'}${request.originalUrl}`;
  if (version === 1) {
    router.get('/PhoneNumbers/Countries/:country', (request, response) => {
      const { country } = request.params;
      const name = countryName(country);
      if (name === null) throw notFound(request.originalUrl);
      answer(response, 200, {
        country: name,
        iso_country: country,
        phone_number_prices: numberPrices(country),
        price_unit: 'USD',
        url: here(request),
      });
    });
    return router;
  }
  router.get('/Voice/Numbers/:destination', (request, response) => {
    answer(response, 200, {
      destination_number: request.params.destination,
      origination_number: text(formOf(request.query), 'OriginationNumber') || null,
      country: 'United States',
      iso_country: 'US',
      outbound_call_prices: [
        { base_price: '0.0140', current_price: '0.0140', origination_prefixes: ['ALL'] },
      ],
      inbound_call_price: { base_price: '0.0085', current_price: '0.0085', number_type: 'local' },
      price_unit: 'USD',
      url: here(request),
    });
  });
  return router;
}
