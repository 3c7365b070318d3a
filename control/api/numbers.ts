// The number routes: list, search, buy, release. Numbers are bought at the carrier, owned by an organization.
import { v7 as uuidv7 } from 'uuid';
import type { Carriers, Seller } from '../../bridge/carriers/registry.ts';
import { AppError } from '../../errors.ts';
import { numberView } from '../../storage/views.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './number-schemas.ts';

const NO_NUMBER = 'Your organization has no number with this id; GET /v1/numbers lists them.';
const NOT_FOR_SALE = 'This number is not for sale; search for another one with GET /v1/numbers/available.';

export const numberRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/numbers',
    operation: 'listNumbers',
    summary: 'List the numbers of the organization, newest first',
    status: 200,
    query: schemas.listNumbers,
    answer: schemas.numberList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getNumber(orgId, id),
        list: (at) => store.listNumbers(orgId, at),
        body: (numbers) => ({ data: numbers.map(numberView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/numbers/available',
    operation: 'searchNumbers',
    errors: ['carrier_error'],
    summary: 'Search numbers that can be bought',
    status: 200,
    query: schemas.searchNumbers,
    answer: schemas.availableNumberList,
    async run({ carriers, query }) {
      const numbers = await sellerOf(carriers, query.carrier).numbers.search({
        country: query.country,
        type: query.type,
        areaCode: query.area_code,
        contains: query.contains,
        locality: query.locality,
        region: query.region,
        limit: query.limit,
      });
      return {
        body: {
          data: numbers.map((number) => ({
            e164: number.e164,
            friendly_name: number.friendly_name,
            country_code: number.country_code,
            number_type: number.number_type,
            locality: number.locality,
            region: number.region,
            monthly_cost_cents: number.monthly_cost_cents,
          })),
        },
      };
    },
  }),

  route({
    method: 'post',
    path: '/v1/numbers/purchase',
    operation: 'purchaseNumber',
    errors: ['invalid_number', 'conflict', 'number_unavailable', 'price_unknown', 'carrier_error'],
    summary: 'Buy a number',
    description:
      'The number is pointed at this service. The carrier is asked first whether it is ours already, so that a repeat after a lost answer buys nothing twice. What somebody else has is refused with `number_unavailable`, what has no known price with `price_unknown`.',
    status: 201,
    body: schemas.purchaseNumber,
    answer: schemas.number,
    // A purchase asks the carrier first whether the number is ours, so trying again after a failure buys nothing twice.
    once: { failures: 'dropped' },
    async run({ store, carriers, orgId, body, now }) {
      // The carrier's account is one for all organizations: without this, a number of another one would be "ours already".
      const owner = await store.findActiveNumber(body.e164);
      if (owner !== null) {
        throw owner.org_id === orgId
          ? new AppError('conflict', `You own this number already: its id is ${owner.id}.`, { param: 'e164' })
          : new AppError('number_unavailable', NOT_FOR_SALE, { param: 'e164' });
      }
      const { name, numbers } = sellerOf(carriers, body.carrier);
      const order = { e164: body.e164, friendlyName: body.friendly_name };
      const bought = (await numbers.adopt(order)) ?? (await numbers.buy(order));
      const number = await store.insertNumber({
        id: uuidv7(),
        org_id: orgId,
        e164: bought.e164,
        friendly_name: body.friendly_name ?? bought.friendlyName,
        country_code: bought.countryCode,
        number_type: bought.numberType,
        status: 'active',
        monthly_cost_cents: bought.monthlyCostCents,
        purchased_at: now().toISOString(),
        carrier: name,
        carrier_number_id: bought.carrierNumberId,
      });
      return { body: numberView(settled(number, 'e164')) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/numbers/:id',
    operation: 'releaseNumber',
    errors: ['number_attached', 'carrier_error'],
    summary: 'Release a number that is attached to no agent',
    status: 200,
    answer: schemas.number,
    async run({ store, carriers, orgId, params }) {
      const number = found(await store.getNumber(orgId, params.id), NO_NUMBER);
      const already = number.status === 'released';
      // Ours first, in one transaction with the check that nothing uses it; then the carrier's, which a repeat can make up
      // for when it fails, unless somebody has the number again.
      const released = already
        ? number
        : settled(found(await store.releaseNumber(orgId, params.id), NO_NUMBER));
      if (!already || (await store.findActiveNumber(number.e164)) === null) {
        await carriers.named(number.carrier).numbers?.release(number.carrier_number_id);
      }
      return { body: numberView(released) };
    },
  }),
];

/** @throws AppError invalid_request for a carrier that sells no numbers, carrier_error where none does */
function sellerOf(carriers: Pick<Carriers, 'seller'>, name: string | undefined): Seller {
  const seller = carriers.seller(name);
  if (seller !== null) return seller;
  if (name === undefined)
    throw new AppError('carrier_error', 'No carrier of this daemon sells numbers.', { retryable: false });
  throw new AppError('invalid_request', `No carrier ${name} of this daemon sells numbers.`, {
    param: 'carrier',
  });
}
