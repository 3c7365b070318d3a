// The organization and the key of the first start, and what is stored of them.
import { createHash } from 'node:crypto';
import t from 'tap';
import { ensureFirstKey } from '../../../control/operations/first-key.ts';
import { openStore } from '../../../storage/sqlite/store.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const CHOSEN = 'sk_chosen_by_the_operator_1234';

t.test('the first start makes an organization and prints its key once', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  const { printed } = await ensureFirstKey(store, { OFFHOOK_API_KEY: null }, NOW);
  t.match(printed, /^sk_/);
  const organization = await store.firstOrganization();
  t.match(organization?.webhook_secret, /^whsec_/);
  t.equal(organization?.balance_milli_cents, null);
  const [record, ...more] = await store.listKeys(organization?.id ?? '');
  t.same(more, []);
  t.equal(
    record?.hash,
    createHash('sha256')
      .update(printed ?? '')
      .digest('hex'),
  );
  t.same([record?.prefix, record?.last4], [printed?.slice(0, 8), printed?.slice(-4)]);
  t.notMatch(JSON.stringify(record), printed ?? '', 'the key itself is nowhere');
  t.same(
    await ensureFirstKey(store, { OFFHOOK_API_KEY: null }, NOW),
    { printed: null },
    'the next start: nothing new',
  );
  t.equal((await store.listKeys(organization?.id ?? '')).length, 1);
});

t.test('OFFHOOK_API_KEY is the first key, is not printed, and is added where it is new', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  t.same(await ensureFirstKey(store, { OFFHOOK_API_KEY: CHOSEN }, NOW), { printed: null });
  const orgId = (await store.firstOrganization())?.id ?? '';
  const count = async () => (await store.listKeys(orgId)).length;
  t.equal(await count(), 1);
  await ensureFirstKey(store, { OFFHOOK_API_KEY: CHOSEN }, NOW);
  t.equal(await count(), 1, 'known: not added again');
  await ensureFirstKey(store, { OFFHOOK_API_KEY: `${CHOSEN}_two` }, NOW);
  t.equal(await count(), 2);

  const [newest] = await store.listKeys(orgId);
  await store.revokeKey(orgId, newest?.id ?? '', NOW.toISOString());
  await ensureFirstKey(store, { OFFHOOK_API_KEY: `${CHOSEN}_two` }, NOW);
  t.equal(
    (await store.listKeys(orgId)).filter((key) => key.revoked_at === null).length,
    1,
    'revoked stays revoked',
  );
});
