// API keys: their form, what is stored of them, and the first one.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import t from 'tap';
import { ensureFirstKey, newApiKey } from '../../../control/http/keys.ts';
import { openStore } from '../../../storage/sqlite/store.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const CHOSEN = 'sk_chosen_by_the_operator_1234';

t.test('a key is sk_, 43 random characters and a checksum of six', (t) => {
  const keys = new Set(Array.from({ length: 200 }, newApiKey));
  t.equal(keys.size, 200);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (const key of keys) {
    if (!/^sk_[0-9A-Za-z]{49}$/.test(key)) t.fail(key);
    const sum = [...key.slice(-6)].reduce((n, digit) => n * 62 + alphabet.indexOf(digit), 0);
    if (sum !== crc32(key.slice(0, -6))) t.fail(`${key}: checksum`);
  }
  const used = new Set([...keys].flatMap((key) => [...key.slice(3, -6)]));
  t.equal(used.size, 62, 'all characters are used');
  t.end();
});

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
