// Secrets at rest: sealed wherever they are stored, opened nowhere but in their place and under their key; an older
// database is sealed as a whole, and nothing of before stays readable in its files.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Log } from '../../../log.ts';
import type { Tool } from '../../../storage/records.ts';
import { openSealer, secretKey } from '../../../storage/sealing.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { keyFileText } from '../../../storage/sqlite/secret-keys.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { at, makeAgent, makeCall, makeEndpoint, makeKey, makeOrganization, makeUser } from '../makers.ts';

const newKey = () => randomBytes(32).toString('base64');
const PLACE = 'endpoints.secret of e1';

/** Every secret of the store's records, each to be found again by its own word. */
const SECRETS = {
  organization: 'whsec_canaryOrganizationNow',
  organizationBefore: 'whsec_canaryOrganizationBefore',
  endpoint: 'whsec_canaryEndpointNow',
  endpointBefore: 'whsec_canaryEndpointBefore',
  header: 'canaryHeaderOfTheAgent',
  other: 'canaryOtherHeader',
  answer: 'canaryAnswerShownOnce',
  secondFactor: 'CANARYSECONDFACTOR22',
};
const TOOLS: Tool[] = [
  {
    type: 'http',
    name: 'find',
    description: 'finds',
    parameters: { type: 'object', properties: {} },
    url: 'https://example.com/find',
    method: 'GET',
    headers: { 'X-Key': SECRETS.header, 'X-Other': SECRETS.other, 'X-None': '' },
  },
  { type: 'send_dtmf' },
];

/** The names of the secrets that stand readable in any file of the folder. */
function readable(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
  return Object.entries(SECRETS).flatMap(([name, value]) => (all.includes(value) ? [name] : []));
}

async function fill(store: Store) {
  const organization = makeOrganization({
    webhook_secret: SECRETS.organization,
    previous_webhook_secret: SECRETS.organizationBefore,
    previous_webhook_secret_expires_at: '2099-01-01T00:00:00.000Z',
  });
  await store.createOrganization(organization, makeKey(organization.id));
  const endpoint = makeEndpoint(organization.id, {
    secret: SECRETS.endpoint,
    previous_secret: SECRETS.endpointBefore,
    previous_secret_expires_at: '2099-01-01T00:00:00.000Z',
  });
  await store.createEndpoint(endpoint);
  const agent = makeAgent(organization.id, { tools: TOOLS });
  await store.createAgent(agent, []);
  const call = makeCall(organization.id, {
    tools: TOOLS,
    agent_id: agent.id,
    webhook_url: 'https://example.com/h',
  });
  await store.createCall(call, { events: ['call.queued'], reserve: 0 });
  const user = makeUser(organization.id, { totp_secret: SECRETS.secondFactor, email: 'a@example.com' });
  await store.createUser(user);
  await store.beginIdempotent(organization.id, 'once', 'hash', at(0));
  await store.finishIdempotent(organization.id, 'once', 201, `{"secret":"${SECRETS.answer}"}`);
  return { organization, endpoint, agent, call, user };
}

async function check(t: Test, store: Store, made: Awaited<ReturnType<typeof fill>>) {
  const { organization, endpoint, agent, call, user } = made;
  t.match(await store.firstOrganization(), organization);
  t.match(await store.getOrganization(organization.id), organization);
  t.match(await store.getEndpoint(organization.id, endpoint.id), endpoint);
  t.equal((await store.getUser(organization.id, user.id))?.totp_secret, SECRETS.secondFactor);
  t.equal((await store.findUsersByEmail('a@example.com'))[0]?.totp_secret, SECRETS.secondFactor);
  t.match((await store.getAgent(organization.id, agent.id))?.tools, TOOLS);
  t.match((await store.findCall(call.id))?.tools, TOOLS);
  t.match(
    (await store.unfinishedCalls()).map((one) => one.tools),
    [TOOLS],
  );
  t.match(await store.beginIdempotent(organization.id, 'once', 'hash', at(1)), {
    state: 'done',
    body: `{"secret":"${SECRETS.answer}"}`,
  });
  const deliveries = await store.listCallDeliveries(call.id);
  const secrets = new Map<string, string[]>();
  for (const { id, endpoint_id, attempt_count } of deliveries) {
    const claimed = await store.claimDelivery(id, attempt_count, at(1), 60_000);
    secrets.set(endpoint_id === null ? 'inline' : 'endpoint', claimed?.secrets ?? []);
    await store.releaseDelivery(id, at(1));
  }
  t.same(secrets.get('inline'), [SECRETS.organization, SECRETS.organizationBefore]);
  t.same(secrets.get('endpoint'), [SECRETS.endpoint, SECRETS.endpointBefore]);
}

t.test(
  'a sealed value opens in its place and under its key alone, and never twice looks the same',
  async (t) => {
    const [one, two] = [secretKey(randomBytes(32)), secretKey(randomBytes(32))];
    const sealer = openSealer([one]);
    for (const text of ['whsec_abc', 'ä€😀', ' ', 'x'.repeat(5000)]) {
      const sealed = sealer.seal(text, PLACE);
      t.notMatch(sealed, text);
      t.match(sealed, new RegExp(`^sealed:${one.id}:[\\w-]+$`));
      t.equal(sealer.open(sealed, PLACE), text);
      t.equal(openSealer([two, one]).open(sealed, PLACE), text, 'also when another key is newer');
      t.not(sealer.seal(text, PLACE), sealed);
      for (const wrong of ['endpoints.secret of e2', 'endpoints.previous_secret of e1', '']) {
        t.throws(() => sealer.open(sealed, wrong), /has been changed, or was moved/);
      }
      t.throws(() => openSealer([two]).open(sealed, PLACE), /not sealed under a key that is known/);
    }
    t.equal(sealer.seal('', PLACE), '');
    t.equal(sealer.open('', PLACE), '');

    const sealed = sealer.seal('whsec_abc', PLACE);
    const [head, data] = [
      sealed.slice(0, sealed.lastIndexOf(':') + 1),
      sealed.slice(sealed.lastIndexOf(':') + 1),
    ];
    const bytes = Buffer.from(data, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      t.throws(() => sealer.open(head + changed.toString('base64url'), PLACE), /has been changed/);
    }
    t.throws(() => sealer.open(head + bytes.subarray(0, 20).toString('base64url'), PLACE));
    for (const never of ['whsec_plain', 'sealed:', `${head}!`]) t.throws(() => sealer.open(never, PLACE));
  },
);

t.test('what the store keeps is read back, and stands readable in no file', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  const store = await openStore({ path });
  const made = await fill(store);
  await check(t, store, made);
  t.same(readable(folder), [], 'while it is open, with its log');
  await store.updateEndpoint(made.organization.id, made.endpoint.id, { secret: 'whsec_other' });
  await store.updateAgent(made.organization.id, made.agent.id, { tools: [] });
  await store.saveCall(made.call.id, { from: ['queued'], change: { status: 'initiated' } });
  t.match((await store.findCall(made.call.id))?.tools, TOOLS, 'a call keeps what it had');
  await store.deleteEndpoint(made.organization.id, made.endpoint.id);
  t.same(readable(folder), []);
  await store.close();
  t.same(readable(folder), []);

  const db = new Database(path);
  const row = db.prepare('SELECT tools FROM calls').pluck().get() as string;
  t.match(
    JSON.parse(row)[0].url,
    TOOLS[0]?.type === 'http' ? TOOLS[0].url : '',
    'the rest of a tool is as it was',
  );
  db.prepare('UPDATE organizations SET webhook_secret = previous_webhook_secret').run();
  db.close();
  const moved = await openStore({ path });
  await t.rejects(moved.firstOrganization(), /was moved there from another place/);
  await moved.close();
});

t.test('a file for the key that a killed process left empty is made whole at the next start', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  await (await openStore({ path })).close();
  const db = new Database(path);
  db.exec("DELETE FROM notes WHERE name = 'secret_key'");
  db.close();
  writeFileSync(join(folder, 'secret.key'), '');
  await (await openStore({ path })).close();
  const key = readFileSync(join(folder, 'secret.key'), 'utf8');
  t.match(key, /^[\w+/]{43}=$/m);
  await (await openStore({ path })).close();
  t.equal(readFileSync(join(folder, 'secret.key'), 'utf8'), key);
});

t.test('the key: made once for its owner, and no start without it', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  const file = join(folder, 'secret.key');
  const first = await openStore({ path });
  const made = await fill(first);
  await first.close();
  t.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(file, 'utf8');
  const key = text.split('\n').at(-2) ?? '';
  t.equal(Buffer.from(key, 'base64').length, 32);
  t.notOk(readFileSync(path, 'latin1').includes(key), 'which is not in the database');

  const again = await openStore({ path });
  await check(t, again, made);
  await again.close();
  t.equal(readFileSync(file, 'utf8'), text);

  const wrong = {
    code: 'secret_key',
    message:
      /^the secrets in .* are sealed under key [0-9a-f]{12}; found [0-9a-f]{12}: set SECRET_KEY to it or put it back in [^\n]*$/,
  };
  rmSync(file);
  await t.rejects(openStore({ path }), { code: 'secret_key', message: /there is none: set SECRET_KEY/ });
  t.notOk(existsSync(file), 'and no new one is made');
  await t.rejects(openStore({ path, secretKeys: newKey() }), wrong);
  writeFileSync(file, newKey());
  await t.rejects(openStore({ path }), wrong);
  for (const nonsense of ['short', newKey().slice(2), '!'.repeat(43)]) {
    await t.rejects(openStore({ path, secretKeys: nonsense }), {
      code: 'secret_key',
      message: /SECRET_KEY holds no key/,
    });
  }
  for (const right of [key, Buffer.from(key, 'base64').toString('hex'), ` ${key} # of the first day\n`]) {
    const store = await openStore({ path, secretKeys: right });
    await check(t, store, made);
    await store.close();
  }
});

t.test('a newer key takes over at the start; then the one before is not needed', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  const file = join(folder, 'secret.key');
  const [one, two] = [newKey(), newKey()];
  let store = await openStore({ path, secretKeys: one });
  const made = await fill(store);
  await store.close();
  t.notOk(existsSync(file), 'a key that is set makes no file');

  const sealedIn = () => {
    const ids = readFileSync(path, 'latin1').match(/sealed:[0-9a-f]{12}/g) ?? [];
    return [...new Set(ids)];
  };
  const before = sealedIn();
  t.equal(before.length, 1);
  store = await openStore({ path, secretKeys: `${two},${one}` });
  await check(t, store, made);
  await store.close();
  t.equal(sealedIn().length, 1);
  t.notSame(sealedIn(), before, 'nothing is left under the old one, not in free pages either');
  store = await openStore({ path, secretKeys: two });
  await check(t, store, made);
  await store.close();
  await t.rejects(openStore({ path, secretKeys: one }), { code: 'secret_key' });

  // From the setting to a file, and to a newer key in that.
  writeFileSync(file, keyFileText(two));
  store = await openStore({ path });
  await check(t, store, made);
  await store.close();
  const [, newest] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .reverse();
  t.equal(newest, two, 'the one before stands last');
  writeFileSync(file, readFileSync(file, 'utf8').replace(`${two}\n`, ''));
  store = await openStore({ path });
  await check(t, store, made);
  await store.close();
});

t.test('a database of before there were keys is sealed as a whole', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  const old = openDatabase({ path, migrations: MIGRATIONS.slice(0, 7) });
  const scratch = join(folder, 'scratch');
  const source = await openStore({ path: join(scratch, 'offhook.db') });
  const made = await fill(source);
  await source.close();
  rmSync(scratch, { recursive: true });
  const { db } = old;
  const put = (table: string, row: Record<string, unknown>) => {
    const known = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const columns = Object.keys(row).filter((column) => known.includes(column));
    const value = (one: unknown) => (typeof one === 'object' && one !== null ? JSON.stringify(one) : one);
    db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ).run(...columns.map((column) => value(row[column])));
  };
  put('organizations', { ...made.organization });
  put('endpoints', { ...made.endpoint });
  put('agents', { ...made.agent });
  put('calls', { ...made.call, cost: null });
  const body = `{"secret":"${SECRETS.answer}"}`;
  put('idempotency_keys', {
    org_id: made.organization.id,
    key: 'once',
    request_hash: 'hash',
    state: 'done',
    begun_at: at(0),
    created_at: at(0),
    status: 201,
    body,
  });
  // Secrets of earlier still: overwritten and deleted, and so in free space.
  for (let n = 0; n < 200; n++) {
    db.prepare('UPDATE endpoints SET previous_secret = ?').run(
      `${SECRETS.endpointBefore}${'x'.repeat(n * 30)}`,
    );
  }
  db.prepare('UPDATE endpoints SET previous_secret = ?').run(SECRETS.endpointBefore);
  old.close();
  // Of then: nobody had a second factor yet.
  t.equal(readable(folder).length, Object.keys(SECRETS).length - 1, 'all of it was readable');

  const told: string[] = [];
  const note = (fields: unknown, event?: unknown) =>
    void told.push(`${event} ${Object.keys(fields as object).join(' ')}`);
  const log = { debug: note, info: note, warn: note, error: note } as unknown as Log;
  const store = await openStore({ path, log });
  t.same(
    told.slice(-4),
    [
      'storage.sealing megabytes',
      'storage.sealed key before values',
      'storage.rewriting megabytes',
      'storage.rewritten seconds',
    ],
    'what takes minutes of a large one is told before it begins',
  );
  const copies = readdirSync(folder).filter((name) => name.endsWith('.bak'));
  t.equal(copies.length, 1);
  for (const copy of copies) rmSync(join(folder, copy));
  t.same(readable(folder), [], 'now nothing is, in the database or its log');
  t.match(await store.firstOrganization(), made.organization);
  t.match(await store.getEndpoint(made.organization.id, made.endpoint.id), made.endpoint);
  t.match((await store.findCall(made.call.id))?.tools, TOOLS);
  t.match(await store.beginIdempotent(made.organization.id, 'once', 'hash', at(1)), { state: 'done', body });
  await store.close();
  t.same(readable(folder), []);
});
