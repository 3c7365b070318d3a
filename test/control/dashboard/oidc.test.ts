// Sign-in by OpenID Connect against an issuer of its own on a socket: the way through, and what an attacker may bring: another
// state, nonce, issuer, audience or key, a code or an answer twice, an address nobody has verified, another place to go.
import { OAuth2Server } from 'oauth2-mock-server';
import t, { type Test } from 'tap';
import { safePath } from '../../../control/dashboard/oidc.ts';
import type { Browser } from './rig.ts';
import { openDashboardRig, PASSWORD } from './rig.ts';

const CALLBACK = '/dashboard/api/oidc/callback';

async function open(t: Test, env: Record<string, string> = {}) {
  const issuer = new OAuth2Server();
  await issuer.issuer.keys.generate('RS256');
  await issuer.start(0, '127.0.0.1');
  t.teardown(() => issuer.stop());
  const url = issuer.issuer.url ?? '';
  const rig = await openDashboardRig(t, {
    env: { OIDC_ISSUER: url, OIDC_CLIENT_ID: 'offhook', OIDC_CLIENT_SECRET: 'the secret', ...env },
  });
  /** What the issuer says of whoever signs in there. */
  const says: Record<string, unknown> = {
    sub: '42',
    aud: 'offhook',
    email: 'ann@example.com',
    email_verified: true,
    name: 'Ann Quay',
  };
  issuer.service.on('beforeTokenSigning', (token: { payload: Record<string, unknown> }) =>
    Object.assign(token.payload, says),
  );
  /** The way to the issuer: the address it is asked by. */
  async function begin(browser: Browser, to = '/calls') {
    const answer = await browser.go(`/dashboard/api/oidc/start?to=${encodeURIComponent(to)}`, 'same-origin');
    return {
      status: answer.status,
      at: new URL(answer.headers.get('location') ?? '', 'http://nowhere.invalid'),
    };
  }
  /** What the issuer answers there: the address that the browser is sent back to. */
  async function agree(at: URL): Promise<URL> {
    const answer = await fetch(at, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '');
  }
  const back = (browser: Browser, at: URL) => browser.go(`${CALLBACK}${at.search}`, 'cross-site');
  async function through(browser: Browser, to?: string) {
    return back(browser, await agree((await begin(browser, to)).at));
  }
  const stateOf = async (browser: Browser) => (await browser.ask('GET', '/session')).body;
  return { rig, issuer, url, says, begin, agree, back, through, stateOf };
}

/** It came to nothing: back at the sign-in page, and nobody is signed in. */
async function refused(
  t: Test,
  { stateOf }: Awaited<ReturnType<typeof open>>,
  browser: Browser,
  answer: { status: number; headers: Headers },
  why: string,
  what: string,
): Promise<void> {
  t.same([answer.status, answer.headers.get('location')], [303, `/login?oidc=${why}`], what);
  t.notOk(browser.cookies.has('offhook_session'), `${what}: no session`);
  t.not((await stateOf(browser)).state, 'signed_in', what);
}

t.test(
  'somebody who is invited signs in, becomes a user once, and is known by the subject then',
  async (t) => {
    const o = await open(t);
    const { rig, says } = o;
    const owner = await rig.person({ email: 'owner@example.com' });
    t.equal((await rig.browser().ask('GET', '/session')).body.oidc, new URL(o.url).host);
    const stranger = rig.browser();
    await refused(t, o, stranger, await o.through(stranger), 'refused', 'not invited');
    await owner.browser.ask('POST', '/invitations', { body: { email: 'ann@example.com', role: 'operator' } });
    const ann = rig.browser();
    const { at, status } = await o.begin(ann);
    t.equal(status, 303);
    t.match(Object.fromEntries(at.searchParams), {
      response_type: 'code',
      client_id: 'offhook',
      redirect_uri: `http://phone.example.com${CALLBACK}`,
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    });
    const done = await o.back(ann, await o.agree(at));
    t.same([done.status, done.headers.get('location')], [303, '/calls']);
    t.match(await o.stateOf(ann), {
      state: 'signed_in',
      user: { name: 'Ann Quay', email: 'ann@example.com', role: 'operator' },
    });
    t.same((await owner.browser.ask('GET', '/people')).body.invitations, []);
    const [session] = (await ann.ask('GET', '/account')).body.sessions;
    t.equal(session.how, 'oidc');
    // The address changes there; the person stays.
    says.email = 'ann.quay@example.com';
    const again = rig.browser();
    await o.through(again);
    t.equal((await o.stateOf(again)).user.email, 'ann@example.com');
    t.equal((await rig.store.listUsers(rig.orgId)).length, 2);
    const { body } = await rig.api('GET', '/v1/audit_log?action=signIn');
    t.equal(
      body.data.filter(({ detail }: { detail: { by: string } }) => detail.by === new URL(o.url).host).length,
      2,
    );
    await rig.store.saveUser(rig.orgId, (await o.stateOf(again)).user.id, {
      disabled_at: rig.now().toISOString(),
    });
    const out = rig.browser();
    await refused(t, o, out, await o.through(out), 'refused', 'kept out');
    const password = await rig
      .browser()
      .ask('POST', '/login', { body: { email: 'ann@example.com', password: '' } });
    t.equal(password.status, 401, 'no password opens an account that has none');
  },
);

t.test('whose address it is must be verified; another’s account is not taken over by it', async (t) => {
  const o = await open(t);
  const { rig, says } = o;
  const ann = await rig.person({ email: 'ann@example.com' });
  for (const email_verified of [false, undefined, 'true', 1]) {
    says.email_verified = email_verified;
    const browser = rig.browser();
    await refused(t, o, browser, await o.through(browser), 'refused', `email_verified: ${email_verified}`);
  }
  says.email_verified = true;
  const mine = rig.browser();
  await o.through(mine);
  t.equal((await o.stateOf(mine)).user.id, ann.user.id, 'verified: her account, linked');
  says.sub = '43';
  const heir = rig.browser();
  await refused(t, o, heir, await o.through(heir), 'refused', 'another subject with the same address');
});

t.test('who has typed somebody else’s address into his account is out when its owner comes', async (t) => {
  const o = await open(t);
  const { rig } = o;
  const mallory = await rig.person({ role: 'operator', email: 'mallory@example.com' });
  t.equal((await mallory.browser.ask('GET', '/account')).status, 200);
  await rig.store.saveUser(rig.orgId, mallory.user.id, { email: 'ann@example.com' });
  const ann = rig.browser();
  await o.through(ann);
  t.equal((await o.stateOf(ann)).user.id, mallory.user.id);
  t.equal((await mallory.browser.ask('GET', '/account')).status, 401, 'signed out');
  const body = { email: 'ann@example.com', password: PASSWORD };
  t.equal(
    (await rig.browser().ask('POST', '/login', { body })).status,
    401,
    'and the password opens it no more',
  );
});

t.test('domains, and who is new', async (t) => {
  const o = await open(t, { OIDC_ALLOWED_DOMAINS: 'example.com', OIDC_NEW_USERS: 'viewer' });
  const { rig, says } = o;
  const browser = rig.browser();
  await o.through(browser);
  t.match((await o.stateOf(browser)).user, { role: 'viewer', may: ['read'] });
  for (const email of ['eve@example.org', 'eve@sub.example.com', 'eve@example.com@evil.example', 'eve']) {
    Object.assign(says, { sub: email, email });
    const eve = rig.browser();
    await refused(t, o, eve, await o.through(eve), 'refused', email);
  }
  const anywhere = await open(t, { OIDC_NEW_USERS: 'viewer' });
  const eve = anywhere.rig.browser();
  await refused(t, anywhere, eve, await anywhere.through(eve), 'refused', 'without domains nobody is new');
});

t.test('an answer counts once, in the browser that asked, for ten minutes', async (t) => {
  const o = await open(t);
  const { rig } = o;
  await rig.person({ email: 'ann@example.com' });
  const ann = rig.browser();
  const { at } = await o.begin(ann);
  const cookies = new Map(ann.cookies);
  const [, line] = [...cookies][0] ?? [];
  t.ok(line !== undefined && line.length > 100);
  const back = await o.agree(at);

  const eve = rig.browser();
  await refused(t, o, eve, await o.back(eve, back), 'expired', 'a link from elsewhere signs nobody in');
  await o.begin(eve);
  await refused(t, o, eve, await o.back(eve, back), 'failed', 'nor with a cookie of his own: another state');

  const forged = rig.browser();
  for (const [name, value] of cookies) forged.cookies.set(name, `${value.slice(0, -2)}AA`);
  await refused(t, o, forged, await o.back(forged, back), 'expired', 'a cookie that was changed');

  t.equal((await o.back(ann, back)).headers.get('location'), '/calls');
  const replay = rig.browser();
  for (const [name, value] of cookies) replay.cookies.set(name, value);
  await refused(t, o, replay, await o.back(replay, back), 'expired', 'the same once more');

  const late = rig.browser();
  const begun = await o.begin(late);
  const answer = await o.agree(begun.at);
  rig.advance(10 * 60_000);
  await refused(t, o, late, await o.back(late, answer), 'expired', 'ten minutes later');
  t.equal(
    (await rig.browser().go('/dashboard/api/oidc/start', 'cross-site')).status,
    403,
    'no other site begins it',
  );
});

t.test('an answer that is not the issuer’s own is none', async (t) => {
  const o = await open(t);
  const { rig, says, issuer } = o;
  await rig.person({ email: 'ann@example.com' });
  const tries = async (what: string, change: (at: URL) => URL | Promise<URL>) => {
    // Wrong answers are counted by address, as wrong passwords are.
    rig.advance(16 * 60_000);
    const browser = rig.browser();
    const back = await o.agree((await o.begin(browser)).at);
    await refused(t, o, browser, await o.back(browser, await change(back)), 'failed', what);
  };
  const withParam = (name: string, value: string | null) => (at: URL) => {
    if (value === null) at.searchParams.delete(name);
    else at.searchParams.set(name, value);
    return at;
  };
  await tries('another state', withParam('state', 'x'.repeat(43)));
  await tries('no state', withParam('state', null));
  await tries('no code', withParam('code', null));
  await tries('an invented code', withParam('code', 'invented'));
  await tries('another issuer in the answer (RFC 9207)', withParam('iss', 'https://evil.example'));
  await tries('an error', withParam('error', 'access_denied'));
  for (const [what, claims] of [
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another client' }],
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['no nonce', { nonce: undefined }],
    ['expired', { exp: 1 }],
    ['no subject', { sub: undefined }],
  ] as [string, Record<string, unknown>][]) {
    const before = { ...says };
    Object.assign(says, claims);
    await tries(what, (at) => at);
    for (const name of Object.keys(claims)) delete says[name];
    Object.assign(says, before);
  }
  // A code that was got with another verifier: PKCE.
  rig.advance(16 * 60_000);
  const [one, two] = [rig.browser(), rig.browser()];
  const [first, second] = [await o.begin(one), await o.begin(two)];
  const [mine, stolen] = [await o.agree(first.at), await o.agree(second.at)];
  mine.searchParams.set('code', stolen.searchParams.get('code') ?? '');
  await refused(t, o, one, await o.back(one, mine), 'failed', 'a code of another’s, injected');
  // Signed with a key that the issuer does not show.
  issuer.service.once('beforeResponse', (answer: { body: { id_token?: string } }) => {
    const [head, body, signature = ''] = (answer.body.id_token ?? '').split('.');
    answer.body.id_token = `${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`;
  });
  await tries('a signature that is not right', (at) => at);
  t.notMatch(JSON.stringify(rig.lines), /code=|eyJ/, 'no code, no token in the log');
});

t.test('afterwards one comes to a path of the dashboard, whatever was asked for', async (t) => {
  for (const path of ['/', '/calls', '/calls/a?x=1#b', '/audit-log']) t.equal(safePath(path), path);
  for (const evil of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/calls\r\nSet-Cookie: a=b',
    '/\t/evil.example',
    '/a\\b',
    '',
    undefined,
    ['/a'],
    `/${'x'.repeat(600)}`,
  ])
    t.equal(safePath(evil), '/', String(evil));
  const o = await open(t);
  await o.rig.person({ email: 'ann@example.com' });
  const browser = o.rig.browser();
  t.equal((await o.through(browser, '//evil.example/')).headers.get('location'), '/');
});

t.test('an issuer that cannot be reached says so, and passwords go on', async (t) => {
  const rig = await openDashboardRig(t, { env: { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'x' } });
  await rig.person({ email: 'ann@example.com' });
  const answer = await rig.browser().go('/dashboard/api/oidc/start', 'same-origin');
  t.same([answer.status, answer.headers.get('location')], [303, '/login?oidc=unreachable']);
  const browser = rig.browser();
  t.equal(
    (await browser.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } })).status,
    200,
  );
});
