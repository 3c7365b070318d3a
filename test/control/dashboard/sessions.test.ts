// Signing in to the dashboard: the one-time link, the password, the cookie and its flags, what a change must bring, and how
// a session ends. Each of these fails when what it guards is loosened.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makePasswordLink } from '../../../control/http/password-link.ts';
import { cheapHash, openDashboardRig, PASSWORD } from './rig.ts';

/** Makes the password cheap to compare, where what counts is how often it is. */
async function makeCheap({ store, orgId }: Awaited<ReturnType<typeof openDashboardRig>>): Promise<void> {
  const owner = await store.firstOwner(orgId);
  const change = { password_hash: cheapHash() };
  if (owner !== null) await store.saveUser(orgId, owner.id, change, { endSessions: true });
}

t.test('the one-time link sets the password, once', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  t.same((await browser.ask('GET', '/session')).body, {
    state: 'setup',
    several: true,
    by_email: false,
    oidc: null,
    version: '1.2.3',
  });
  t.equal((await browser.signIn()).body.error.code, 'conflict', 'there is no default password');

  const token = makePasswordLink(rig.dataDir, null);
  const kept = readFileSync(join(rig.dataDir, 'password-link.json'), 'utf8');
  t.notMatch(kept, token, 'the token itself is kept nowhere');
  t.equal(statSync(join(rig.dataDir, 'password-link.json')).mode & 0o777, 0o600);
  const short = await browser.ask('POST', '/setup', { body: { token, password: 'short' } });
  t.same([short.status, short.body.error.param], [400, 'password']);
  t.match(short.body.error.message, /at least 10 characters/);
  const wrong = await browser.ask('POST', '/setup', { body: { token: 'x'.repeat(43), password: PASSWORD } });
  t.same([wrong.status, wrong.body.error.code], [403, 'forbidden']);

  const made = await browser.ask('POST', '/setup', { body: { token, password: PASSWORD } });
  t.equal(made.status, 200, made.text);
  t.same(
    [made.body.state, made.body.organization, typeof made.body.csrf_token],
    ['signed_in', { id: rig.orgId, name: 'Default' }, 'string'],
  );
  const again = await rig.browser().ask('POST', '/setup', { body: { token, password: 'another password' } });
  t.equal(again.status, 403, 'a used link is void');
  t.equal((await rig.browser().signIn()).status, 200, 'and has changed nothing');

  const owner = await rig.store.firstOwner(rig.orgId);
  t.match(owner?.password_hash, /^scrypt\$16\$8\$2\$/);
  t.notMatch(JSON.stringify(rig.lines), /bluebirds/, 'no log holds it');
});

t.test('a link made after another voids it, and one with an end ends', async (t) => {
  const rig = await openDashboardRig(t);
  const first = makePasswordLink(rig.dataDir, null);
  const second = makePasswordLink(rig.dataDir, new Date(rig.now().getTime() + 60_000));
  const set = (token: string) => rig.browser().ask('POST', '/setup', { body: { token, password: PASSWORD } });
  t.equal((await set(first)).status, 403);
  rig.advance(60_000);
  t.equal((await set(second)).status, 403);
  const third = makePasswordLink(rig.dataDir, new Date(rig.now().getTime() + 60_000));
  const both = await Promise.all([set(third), set(third)]);
  t.same(both.map(({ status }) => status).sort(), [200, 403], 'of two at once one is served');
});

t.test(
  'the cookie cannot be read by scripts, sent by other sites, or sent in the clear behind TLS',
  async (t) => {
    const plain = await openDashboardRig(t, { publicUrl: 'http://phone.example.com' });
    const clear = (await plain.browser().setUp()).headers.getSetCookie();
    t.equal(clear.length, 2);
    t.match(
      clear[0],
      /^offhook_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
      'exactly these flags',
    );
    t.match(
      clear[1],
      /^offhook_device=[\w-]{22}\.[\w-]{43}; Path=\/dashboard\/api\/login; Max-Age=31536000; HttpOnly; SameSite=Strict$/,
      'what tells the browser again opens nothing',
    );
    const byProxy = (await plain.browser({ 'x-forwarded-proto': 'https' }).signIn()).headers.getSetCookie();
    t.match(byProxy[0], /^__Host-offhook_session=.*; SameSite=Strict; Secure$/, 'a TLS proxy asked');
    t.match(byProxy[1], /^__Secure-offhook_device=.*; SameSite=Strict; Secure$/);

    const tls = await openDashboardRig(t, { publicUrl: 'https://phone.example.com' });
    const secure = tls.browser({ 'x-forwarded-for': '203.0.113.9' });
    t.match(
      (await secure.setUp()).headers.getSetCookie()[0],
      /^__Host-offhook_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
    );
    const value = secure.cookies.get('__Host-offhook_session') ?? '';
    secure.cookies.clear();
    secure.cookies.set('offhook_session', value);
    t.equal((await secure.ask('GET', '/keys')).status, 401, 'the unprotected name does not count behind TLS');
    secure.cookies.set('__Host-offhook_session', value);
    t.equal((await secure.ask('GET', '/keys')).status, 200);
    t.equal(await tls.store.findSession(value), null, 'storage holds a hash of it');
  },
);

t.test('a change needs the page of the dashboard and its token', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const make = (headers: Record<string, string | null>) =>
    browser.ask('POST', '/keys', { body: { name: 'A' }, headers });
  const host = new URL(rig.url).host;
  for (const [what, headers, status] of [
    ['all as it should be', {}, 201],
    ['no token', { 'offhook-csrf': null }, 403],
    ['an empty token', { 'offhook-csrf': '' }, 403],
    ['another token', { 'offhook-csrf': 'x'.repeat(43) }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sister site', { 'sec-fetch-site': 'same-site' }, 403],
    ['typed into the address bar', { 'sec-fetch-site': 'none' }, 403],
    ['neither header', { 'sec-fetch-site': null }, 403],
    ['Origin alone, ours', { 'sec-fetch-site': null, origin: `http://${host}` }, 201],
    ['Origin alone, PUBLIC_URL', { 'sec-fetch-site': null, origin: 'http://phone.example.com' }, 201],
    ['Origin alone, another', { 'sec-fetch-site': null, origin: 'http://evil.example' }, 403],
    ['Origin alone, none', { 'sec-fetch-site': null, origin: 'null' }, 403],
    ['another site with our Origin', { 'sec-fetch-site': 'cross-site', origin: `http://${host}` }, 403],
  ] as [string, Record<string, string | null>, number][]) {
    t.equal((await make(headers)).status, status, what);
  }
  // Every route that changes something, not only that one.
  for (const [method, path] of [
    ['POST', '/logout'],
    ['POST', '/password'],
    ['POST', '/keys'],
    ['DELETE', `/keys/${rig.orgId}`],
    ['POST', '/v1/agents'],
    ['PATCH', `/v1/agents/${rig.orgId}`],
    ['PUT', '/v1/balance'],
    ['DELETE', `/v1/agents/${rig.orgId}`],
  ] as const) {
    const answer = await browser.ask(method, path, { headers: { 'offhook-csrf': null } });
    t.same(
      [answer.status, answer.body.error.code],
      [403, 'forbidden'],
      `${method} ${path} without the token`,
    );
    const elsewhere = await browser.ask(method, path, { headers: { 'sec-fetch-site': 'cross-site' } });
    t.equal(elsewhere.status, 403, `${method} ${path} from elsewhere`);
  }
  const before = rig.browser();
  for (const path of ['/login', '/setup']) {
    const answer = await before.ask('POST', path, {
      body: { password: PASSWORD, token: 'x' },
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    t.equal(answer.status, 403, `${path}: nobody is signed in by another site's page`);
  }
  const read = await browser.ask('GET', '/keys', { headers: { 'sec-fetch-site': 'cross-site' } });
  t.equal(read.status, 403, 'another site does not even read');
  t.equal((await browser.ask('GET', '/keys', { headers: { 'sec-fetch-site': 'none' } })).status, 200);
  t.equal((await browser.ask('GET', '/session')).body.state, 'signed_in', 'and nobody was signed out');
});

t.test('the cookie opens nothing of /v1, and a key nothing of the dashboard', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const path of ['/v1/calls', '/v1/agents', '/v1/balance']) {
    const headers = { cookie, 'offhook-csrf': browser.csrf ?? '', 'sec-fetch-site': 'same-origin' };
    t.equal((await rig.api('GET', path, { key: null, headers })).status, 401, path);
    t.equal((await rig.api('GET', path)).status, 200, `${path} with a key`);
    t.equal(
      (await rig.api('GET', `/dashboard/api${path}`)).status,
      401,
      `${path} by the dashboard, with a key`,
    );
    t.equal((await browser.ask('GET', path)).status, 200, `${path} by the dashboard, signed in`);
  }
  const metrics = await rig.api('GET', '/metrics', { key: null, headers: { cookie, via: 'a proxy' } });
  t.equal(metrics.status, 401);
  for (const path of ['/keys', '/v1/calls', '/nothing']) {
    const { status, body } = await rig.browser().ask('GET', path);
    t.same([status, body.error.code], [401, 'unauthorized'], `${path} signed out`);
  }
  t.equal((await browser.ask('GET', '/nothing')).status, 404);
});

t.test('the routes of /v1 work by the session, for its organization', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const numberId = await rig.number('+14155550123');
  const agent = await browser.ask('POST', '/v1/agents', {
    body: { name: 'Front desk', type: 'outbound', number_ids: [numberId] },
  });
  t.equal(agent.status, 201, agent.text);
  t.equal((await rig.api('GET', `/v1/agents/${agent.body.id}`)).body.name, 'Front desk', 'seen by a key too');
  t.equal((await rig.api('GET', `/v1/agents/${agent.body.id}`, { key: rig.other.key })).status, 404);
  for (const to of ['+14155550101', '+14155550102', '+14155550103']) {
    const call = await browser.ask('POST', '/v1/calls', { body: { agent_id: agent.body.id, to } });
    t.equal(call.status, 201, call.text);
  }
  const page = await browser.ask('GET', '/v1/calls?limit=2');
  t.equal(page.body.length, 2);
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  t.match(next, /^\/dashboard\/api\/v1\/calls\?/, 'the next page is below the same prefix');
  t.equal((await browser.ask('GET', next.replace('/dashboard/api', ''))).body.length, 1);
  t.equal((await browser.ask('PATCH', '/v1/calls')).status, 405);
});

t.test('a session ends by signing out, by a new password, by idleness and by age', async (t) => {
  const rig = await openDashboardRig(t);
  const [one, two] = [rig.browser(), rig.browser()];
  await one.setUp();
  await two.signIn();
  const kept = new Map(two.cookies);
  const out = await two.ask('POST', '/logout');
  t.same(out.body, { state: 'signed_out', several: true, by_email: false, oidc: null, version: '1.2.3' });
  t.match(out.headers.getSetCookie()[0], /^offhook_session=; Path=\/; Max-Age=0; HttpOnly/);
  for (const [name, value] of kept) two.cookies.set(name, value);
  t.equal((await two.ask('GET', '/keys')).status, 401, 'the old cookie is worth nothing');

  await two.signIn();
  const replaced = new Map(two.cookies);
  await two.signIn();
  const stale = rig.browser();
  for (const [name, value] of replaced) stale.cookies.set(name, value);
  t.equal((await stale.ask('GET', '/keys')).status, 401, 'signing in again leaves no session behind');
  const [before, csrf] = [new Map(one.cookies), one.csrf];
  const wrong = await one.ask('POST', '/password', {
    body: { current: 'not this one', password: 'new and longer' },
  });
  t.same([wrong.status, wrong.body.error.param], [403, 'current']);
  const changed = await one.ask('POST', '/password', {
    body: { current: PASSWORD, password: 'new and longer' },
  });
  t.equal(changed.status, 200, changed.text);
  t.not(one.csrf, csrf);
  t.equal((await one.ask('GET', '/keys')).status, 200, 'who changed it goes on in a new session');
  t.equal((await two.ask('GET', '/keys')).status, 401, 'everybody else is signed out');
  const thief = rig.browser();
  for (const [name, value] of before) thief.cookies.set(name, value);
  t.equal((await thief.ask('GET', '/keys')).status, 401, 'and so is the session it was changed in');
  t.equal((await two.signIn(PASSWORD)).status, 401);
  t.equal((await two.signIn('new and longer')).status, 200);

  rig.advance(23 * 3_600_000);
  t.equal((await one.ask('GET', '/keys')).status, 200, 'in use');
  rig.advance(23 * 3_600_000);
  t.equal((await one.ask('GET', '/keys')).status, 200, 'use keeps it');
  t.equal((await two.ask('GET', '/keys')).status, 401, 'not used for a day');
  for (let day = 0; day < 31; day++) {
    rig.advance(20 * 3_600_000);
    await one.ask('GET', '/session');
  }
  rig.advance(20 * 3_600_000);
  t.equal((await one.ask('GET', '/session')).body.state, 'signed_in', '28 days');
  rig.advance(3 * 20 * 3_600_000 - 1);
  t.equal((await one.ask('GET', '/session')).body.state, 'signed_out');
  t.equal((await one.signIn('new and longer')).status, 200);
});

t.test('a password that is changed while it is being compared begins no session', async (t) => {
  const rig = await openDashboardRig(t);
  await rig.browser().setUp();
  const read = rig.store.listUsers;
  rig.store.listUsers = async (orgId) => {
    rig.store.listUsers = read;
    const before = await read(orgId);
    for (const { id } of before)
      await rig.store.saveUser(orgId, id, { password_hash: 'another' }, { endSessions: true });
    return before;
  };
  const late = rig.browser();
  t.equal((await late.signIn()).status, 401);
  t.equal((await late.ask('GET', '/keys')).status, 401);
});

t.test('wrong passwords wait longer and longer, by address, and say how long', async (t) => {
  const rig = await openDashboardRig(t);
  await rig.browser().setUp();
  await makeCheap(rig);
  const attacker = rig.browser({ 'x-forwarded-for': '203.0.113.7' });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await attacker.signIn('wrong')).status);
  t.same(statuses, [401, 401, 401, 401, 401, 429]);
  const late = await attacker.signIn(PASSWORD);
  t.same([late.status, late.body.error.code, late.headers.get('retry-after')], [429, 'rate_limited', '1']);
  rig.advance(1_000);
  t.equal((await attacker.signIn('wrong')).status, 401);
  t.equal((await attacker.signIn(PASSWORD)).headers.get('retry-after'), '2', 'twice as long');
  const invented = rig.browser({ 'x-forwarded-for': '198.51.100.1, 203.0.113.7' });
  t.equal(
    (await invented.signIn(PASSWORD)).status,
    429,
    'what the client writes before the proxy does not count',
  );
  const other = rig.browser({ 'x-forwarded-for': '203.0.113.8' });
  t.equal((await other.signIn(PASSWORD)).status, 200, 'others are not kept waiting');
  rig.advance(2_000);
  t.equal((await attacker.signIn(PASSWORD)).status, 200, 'and neither is the right one, in its time');
  while ((await attacker.signIn('wrong')).status !== 429);
  for (let i = 0; i < 50; i++) await attacker.signIn('wrong');
  const lines = (event: string) => rig.lines.filter((line) => line.message === event).length;
  t.ok(lines('dashboard.too_many_attempts') <= 5, 'the log is not his to fill');
  t.ok(lines('dashboard.sign_in_failed') <= 5);
  t.equal((await attacker.setUp()).status, 200, 'who has a link of the host does not wait');
});

t.test('behind a proxy elsewhere that is trusted, attempts are counted by who makes them', async (t) => {
  const rig = await openDashboardRig(t, { env: { TRUSTED_PROXIES: '198.51.100.0/24' } });
  await rig.browser().setUp();
  await makeCheap(rig);
  const through = (address: string) => rig.browser({ 'x-forwarded-for': `${address}, 198.51.100.9` });
  const attacker = through('203.0.113.7');
  while ((await attacker.signIn('wrong')).status !== 429);
  t.equal((await through('203.0.113.8').signIn()).status, 200);
});

t.test('however many guess, and from wherever, the operator signs in', async (t) => {
  const rig = await openDashboardRig(t);
  await rig.browser().setUp();
  await makeCheap(rig);
  const from = (address: string) => rig.browser({ 'x-forwarded-for': address });
  const laptop = from('198.51.100.1');
  t.equal((await laptop.signIn()).status, 200);

  const guess = async (address: string) => {
    const attacker = from(address);
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await attacker.signIn('guessed')).status);
    return statuses;
  };
  const all = await Promise.all(Array.from({ length: 70 }, (_, i) => guess(`203.0.113.${i}`)));
  t.ok(all.every((statuses) => statuses.at(-1) === 429));
  const tried = all.flat().filter((status) => status === 401).length;
  t.ok(tried <= 70 + 30, `${tried} of 490 guesses were looked at`);
  t.equal((await from('192.0.2.1').signIn()).status, 200, 'from an address nobody has seen');

  // The same browser, where the attack comes from: as behind a proxy that tells nothing.
  const moved = rig.browser({ 'x-forwarded-for': '203.0.113.1' });
  t.equal((await moved.signIn()).status, 429);
  for (const [name, value] of laptop.cookies) if (name.includes('device')) moved.cookies.set(name, value);
  t.equal((await moved.signIn()).status, 200, 'a browser that was signed in before');
  const value = laptop.cookies.get('offhook_device') ?? '';
  const other = (sign: string | undefined) => (sign === 'x' ? 'y' : 'x');
  const changed = [`${other(value[0])}${value.slice(1)}`, `${value.slice(0, -1)}${other(value.at(-1))}`];
  for (const forged of [...changed, value.slice(0, 22), '', '.']) {
    const thief = rig.browser({ 'x-forwarded-for': '203.0.113.2' });
    thief.cookies.set('offhook_device', forged);
    t.equal((await thief.signIn()).status, 429, `a cookie that is none: ${forged}`);
  }
  const stolen = rig.browser({ 'x-forwarded-for': '203.0.113.3' });
  stolen.cookies.set('offhook_device', value);
  t.equal((await stolen.ask('GET', '/keys')).status, 401, 'it opens nothing');
  for (let i = 0; i < 5; i++) t.equal((await stolen.signIn('guessed')).status, 401);
  t.equal((await stolen.signIn()).status, 429, 'and has no more attempts than anybody');

  t.equal((await moved.setUp('another, just as long')).status, 200, 'the link of the host works in any case');
  moved.cookies.clear();
  moved.cookies.set('offhook_device', value);
  t.equal((await moved.signIn('another, just as long')).status, 200, 'forgiven with its address');
  const old = rig.browser({ 'x-forwarded-for': '203.0.113.4' });
  old.cookies.set('offhook_device', value);
  t.equal(
    (await old.signIn('another, just as long')).status,
    429,
    'a new password voids what is signed by the old',
  );
});

t.test('a session that has run out is signed out also when that cannot be written', async (t) => {
  const rig = await openDashboardRig(t);
  const one = rig.browser();
  await one.setUp();
  rig.advance(24 * 3_600_000);
  let asked = 0;
  rig.store.endSession = async () => {
    asked += 1;
    throw new Error('the disk is full');
  };
  const session = await one.ask('GET', '/session');
  t.match(session, { status: 200, body: { state: 'signed_out' } });
  t.equal((await one.ask('GET', '/keys')).status, 401);
  t.ok(asked > 0);
});
