// The balance over HTTP: everybody may read it, and only the operator may change it.
import t from 'tap';
import { openRig } from '../rig.ts';

const OPERATOR_KEY = 'operator-key-of-the-test';
const PRICE = { PRICE_PER_MINUTE_MILLI_CENTS: '1000', RESERVE_MINUTES: '5' };
const asOperator = { 'operator-key': OPERATOR_KEY };

t.test('without a balance, credit is unlimited, and only live calls hold something', async (t) => {
  const rig = await openRig(t, { env: PRICE });
  t.same((await rig.api('GET', '/v1/balance')).body, { balance_milli_cents: null, held_milli_cents: 0 });
  const agent = await rig.agent();
  await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+15557654321' } });
  t.same((await rig.api('GET', '/v1/balance')).body, { balance_milli_cents: null, held_milli_cents: 5000 });
});

t.test('a key alone cannot lift its own limit', async (t) => {
  const body = { balance_milli_cents: 1_000_000 };
  const closed = await openRig(t);
  const answer = await closed.api('PUT', '/v1/balance', { body, headers: { 'operator-key': '' } });
  t.match([answer.status, answer.body.error], [403, { code: 'forbidden', message: /set OPERATOR_KEY/ }]);

  const rig = await openRig(t, { env: { OPERATOR_KEY } });
  for (const headers of [{}, { 'operator-key': 'guess' }, { 'operator-key': rig.key }] as Record<
    string,
    string
  >[]) {
    t.equal((await rig.api('PUT', '/v1/balance', { body, headers })).status, 403);
    const credits = await rig.api('POST', '/v1/balance/credits', {
      body: { amount_milli_cents: 5 },
      headers,
    });
    t.equal(credits.status, 403);
  }
  t.equal((await rig.api('PUT', '/v1/balance', { body, headers: asOperator, key: null })).status, 401);
  t.equal((await rig.api('GET', '/v1/balance')).body.balance_milli_cents, null, 'nothing has changed');
  t.notMatch(JSON.stringify(rig.lines), OPERATOR_KEY, 'the key is in no log');
});

t.test('set, add, take away, lift; each organization its own', async (t) => {
  const rig = await openRig(t, { env: { OPERATOR_KEY } });
  const set = (balance: unknown) =>
    rig.api('PUT', '/v1/balance', { body: { balance_milli_cents: balance }, headers: asOperator });
  const add = (amount: unknown, headers: Record<string, string> = {}) =>
    rig.api('POST', '/v1/balance/credits', {
      body: { amount_milli_cents: amount },
      headers: { ...asOperator, ...headers },
    });
  t.equal((await add(5)).status, 409, 'there is no balance to add to');
  t.same((await set(9000)).body, { balance_milli_cents: 9000, held_milli_cents: 0 });
  t.equal((await add(500, { 'idempotency-key': 'top-up-1' })).body.balance_milli_cents, 9500);
  t.equal((await add(500, { 'idempotency-key': 'top-up-1' })).body.balance_milli_cents, 9500, 'once');
  t.equal((await add(-9000)).body.balance_milli_cents, 500);
  const refused = await add(-501);
  t.match([refused.status, refused.body.error.code], [402, 'insufficient_credit']);
  const theirs = await rig.api('GET', '/v1/balance', { key: rig.other.key });
  t.equal(theirs.body.balance_milli_cents, null);
  const rows = await rig.store.listLedger(rig.orgId);
  t.same(
    rows.map((row) => [row.kind, row.amount_milli_cents, row.call_id]),
    [
      ['credit', 9000, null],
      ['credit', 500, null],
      ['credit', -9000, null],
    ],
  );
  for (const wrong of [-1, 0.5, '5', undefined, 1e13]) t.equal((await set(wrong)).status, 400, String(wrong));
  for (const wrong of [0.5, null, 'all']) t.equal((await add(wrong)).status, 400, String(wrong));
  t.equal((await set(null)).body.balance_milli_cents, null);
});

t.test('a dispatch that the balance does not cover is 402, before any phone rings', async (t) => {
  const rig = await openRig(t, { env: { ...PRICE, OPERATOR_KEY } });
  const agent = await rig.agent();
  const dial = () => rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+15557654321' } });
  await rig.api('PUT', '/v1/balance', { body: { balance_milli_cents: 9_999 }, headers: asOperator });
  t.equal((await dial()).status, 201);
  const refused = await dial();
  t.match([refused.status, refused.body.error.code], [402, 'insufficient_credit']);
  t.same((await rig.api('GET', '/v1/balance')).body, { balance_milli_cents: 4999, held_milli_cents: 5000 });
  t.equal((await rig.api('GET', '/v1/calls')).body.length, 1, 'the refused one is no call');
});
