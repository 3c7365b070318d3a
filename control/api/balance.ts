// The balance routes: what the organization may still spend, and how the operator sets it. Reading takes an API key like
// everything else; changing takes the operator's key as well, so that a key that leaks cannot lift its own limit.
import { z } from 'zod';
import type { Store } from '../../storage/store.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { type Route, route } from '../http/route.ts';
import { operatorKeyHeader, operatorOnly } from './operator-key.ts';

const MAX_MILLI_CENTS = 1_000_000_000_000;
const NO_ORGANIZATION = 'The organization is gone.';

const balance = z
  .strictObject({
    balance_milli_cents: z
      .int()
      .nullable()
      .describe('What may still be spent, in milli-cents; null: without limit.'),
    held_milli_cents: z
      .int()
      .describe('Held for live calls beside the balance, in milli-cents; what is not used comes back.'),
  })
  .meta({
    id: 'Balance',
    description: "The organization's credit.",
    examples: [{ balance_milli_cents: 2_500_000, held_milli_cents: 50_000 }],
  });

const setBalance = z
  .strictObject({
    balance_milli_cents: z
      .int('must be a whole number of milli-cents, or null for no limit')
      .min(0)
      .max(MAX_MILLI_CENTS)
      .nullable()
      .describe('What may be spent, in milli-cents; null: without limit.'),
  })
  .meta({ id: 'BalanceSetting', examples: [{ balance_milli_cents: 5_000_000 }] });

const addCredit = z
  .strictObject({
    amount_milli_cents: z
      .int('must be a whole number of milli-cents')
      .min(-MAX_MILLI_CENTS)
      .max(MAX_MILLI_CENTS)
      .describe('Milli-cents to add; a negative amount takes away.'),
  })
  .meta({ id: 'Credit', examples: [{ amount_milli_cents: 1_000_000 }] });

const OPERATOR_KEY_HEADER = operatorKeyHeader('the balance cannot be changed');

async function answer(store: Store, orgId: string) {
  const credit = found(await store.getCredit(orgId), NO_ORGANIZATION);
  return {
    body: { balance_milli_cents: credit.balanceMilliCents, held_milli_cents: credit.heldMilliCents },
  };
}

export const balanceRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/balance',
    operation: 'getBalance',
    summary: 'Read what may still be spent, and what live calls hold',
    status: 200,
    answer: balance,
    run: ({ store, orgId }) => answer(store, orgId),
  }),

  route({
    method: 'put',
    path: '/v1/balance',
    operation: 'setBalance',
    needs: 'admin',
    errors: ['forbidden'],
    header: OPERATOR_KEY_HEADER,
    summary: 'Set what may still be spent, or lift the limit with null (needs the Operator-Key header)',
    status: 200,
    body: setBalance,
    answer: balance,
    async run({ store, orgId, keyId, config, log, body }, res) {
      operatorOnly(config.OPERATOR_KEY, res, 'The balance is');
      await store.setBalance(orgId, body.balance_milli_cents);
      log.info({ org_id: orgId, key_id: keyId, ...body }, 'balance.set');
      return answer(store, orgId);
    },
  }),

  route({
    method: 'post',
    path: '/v1/balance/credits',
    operation: 'addCredit',
    needs: 'admin',
    errors: ['forbidden', 'insufficient_credit', 'conflict'],
    header: OPERATOR_KEY_HEADER,
    summary: 'Add to what may still be spent, or take from it (needs the Operator-Key header)',
    status: 200,
    body: addCredit,
    answer: balance,
    once: { failures: 'dropped' },
    async run({ store, orgId, keyId, config, log, body }, res) {
      operatorOnly(config.OPERATOR_KEY, res, 'The balance is');
      settled(await store.addCredit(orgId, body.amount_milli_cents), 'amount_milli_cents');
      log.info({ org_id: orgId, key_id: keyId, ...body }, 'balance.credited');
      return answer(store, orgId);
    },
  }),
];
