// People of an organization: invited by a link that works once, signed in by e-mail address, changed and kept out by owners.
import t from 'tap';
import { cheapHash, openDashboardRig, PASSWORD } from './rig.ts';

const tokenOf = (url: string) => new URL(url).hash.slice(1);

t.test('an invitation makes one user with its role, once, and signs in', async (t) => {
  const rig = await openDashboardRig(t);
  const owner = rig.browser();
  await owner.setUp();
  const invited = await owner.ask('POST', '/invitations', {
    body: { email: ' Ann@Example.com ', role: 'viewer', may_listen: true },
  });
  t.equal(invited.status, 201, invited.text);
  t.match(invited.body, { email: 'ann@example.com', role: 'viewer', may_listen: true, created_by: 'Owner' });
  t.match(invited.body.url, /^http:\/\/phone\.example\.com\/invitation#[\w-]{43}$/);
  const token = tokenOf(invited.body.url);
  t.notMatch((await owner.ask('GET', '/people')).text, token, 'shown this once');
  t.notMatch(JSON.stringify(await rig.store.listInvitations(rig.orgId)), token, 'and kept as a hash');

  const ann = rig.browser();
  const look = await ann.ask('POST', '/invitation/look', { body: { token } });
  t.match(look.body, {
    kind: 'invitation',
    organization: 'Default',
    email: 'ann@example.com',
    role: 'viewer',
  });
  const accept = (browser = rig.browser(), more: object = {}) =>
    browser.ask('POST', '/invitation', { body: { token, name: 'Ann Field', password: PASSWORD, ...more } });
  t.same((await accept(ann, { name: undefined })).body.error.param, 'name');
  t.same((await accept(ann, { password: 'short' })).body.error.param, 'password');
  const done = await accept(ann);
  t.equal(done.status, 200, done.text);
  t.match(done.body, {
    state: 'signed_in',
    user: { name: 'Ann Field', email: 'ann@example.com', role: 'viewer', may: ['read', 'listen'] },
  });
  t.equal((await ann.ask('GET', '/v1/calls')).status, 200);
  t.equal((await ann.ask('GET', '/people')).status, 403);
  t.equal((await accept()).status, 403, 'the link has served');
  t.equal((await rig.browser().ask('POST', '/invitation/look', { body: { token } })).status, 403);
  const again = await owner.ask('POST', '/invitations', {
    body: { email: 'ann@example.com', role: 'owner' },
  });
  t.same([again.status, again.body.error.param], [409, 'email']);
  t.notMatch(JSON.stringify(rig.lines), token);
});

t.test('of two at once one is served; too late, taken back or replaced, none is', async (t) => {
  const rig = await openDashboardRig(t);
  const { browser: owner } = await rig.person({ email: 'owner@example.com' });
  const invite = async (email: string) =>
    (await owner.ask('POST', '/invitations', { body: { email, role: 'operator' } })).body;
  const accept = async (url: string) =>
    (
      await rig
        .browser()
        .ask('POST', '/invitation', { body: { token: tokenOf(url), name: 'A', password: PASSWORD } })
    ).status;
  const one = await invite('one@example.com');
  t.same((await Promise.all([accept(one.url), accept(one.url)])).sort(), [200, 403]);
  const first = await invite('two@example.com');
  const second = await invite('two@example.com');
  t.equal(await accept(first.url), 403, 'replaced');
  t.equal((await owner.ask('DELETE', `/invitations/${second.id}`)).status, 204);
  t.equal(await accept(second.url), 403, 'taken back');
  const late = await invite('two@example.com');
  rig.advance(7 * 86_400_000 - 1);
  const { browser: other } = await rig.person({ email: 'later@example.com' });
  t.equal((await other.ask('GET', '/people')).body.invitations.length, 1);
  rig.advance(1);
  t.equal(await accept(late.url), 403, 'seven days');
  t.equal((await rig.store.findUsersByEmail('two@example.com')).length, 0);
});

t.test(
  'signing in tells nobody who has an account, and by whom it is tried makes no difference',
  async (t) => {
    const rig = await openDashboardRig(t);
    const ann = await rig.person({ email: 'ann@example.com' });
    await rig.person({ email: 'out@example.com' });
    await rig.person({ email: 'else@example.com', org_id: rig.other.orgId });
    const [out] = await rig.store.findUsersByEmail('out@example.com');
    await rig.store.saveUser(rig.orgId, out?.id ?? '', { disabled_at: rig.now().toISOString() });
    await rig.store.createUser({
      ...ann.user,
      id: rig.orgId,
      email: 'none@example.com',
      password_hash: null,
    });
    let address = 0;
    const logIn = (body: object) => {
      address += 1;
      return rig.browser({ 'x-forwarded-for': `203.0.113.${address}` }).ask('POST', '/login', { body });
    };
    const told = new Set<string>();
    for (const body of [
      { email: 'ann@example.com', password: 'wrong' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: 'out@example.com', password: PASSWORD },
      { email: 'none@example.com', password: PASSWORD },
      { email: 'none@example.com', password: '' },
      { email: 'ann@example.com', password: PASSWORD, organization: 'Other' },
      { email: 'ann@example.com', password: PASSWORD, organization: 'There is none' },
      { email: 'not an address', password: PASSWORD },
      { email: "' OR 1=1 --", password: PASSWORD },
    ]) {
      const { status, body: answer, headers } = await logIn(body);
      const { request_id: _id, ...error } = answer.error;
      told.add(JSON.stringify([status, error, headers.getSetCookie()]));
    }
    t.same(
      [...told],
      [
        '[401,{"code":"unauthorized","message":"The e-mail address or the password is not right.","param":"password"},[]]',
      ],
    );
    t.equal((await logIn({ email: ' ANN@example.com', password: PASSWORD })).status, 200);
    t.equal(
      (await logIn({ email: 'ann@example.com', password: PASSWORD, organization: 'default' })).status,
      200,
    );
    const other = await logIn({ email: 'else@example.com', password: PASSWORD });
    t.equal(other.body.organization.id, rig.other.orgId, 'each his own organization');
    t.match((await rig.browser().ask('GET', '/session')).body, { state: 'signed_out', by_email: true });
  },
);

t.test('who has an account of his own guesses another’s no faster for it', async (t) => {
  const rig = await openDashboardRig(t);
  await rig.person({ email: 'ann@example.com' });
  await rig.person({ email: 'eve@example.com', role: 'viewer' });
  const eve = rig.browser({ 'x-forwarded-for': '203.0.113.9' });
  let looked = 0;
  for (let i = 0; i < 40; i++) {
    eve.cookies.clear();
    const { status } = await eve.ask('POST', '/login', {
      body: { email: 'ann@example.com', password: `guess ${i}` },
    });
    if (status === 401) looked += 1;
    await eve.ask('POST', '/login', { body: { email: 'eve@example.com', password: PASSWORD } });
  }
  t.ok(looked <= 5, `${looked} of 40 were looked at, each after signing in rightly as somebody else`);
});

t.test('a session begins anew with every sign-in, and nobody can fix one beforehand', async (t) => {
  const rig = await openDashboardRig(t);
  const ann = await rig.person({ email: 'ann@example.com' });
  const eve = await rig.person({ email: 'eve@example.com', role: 'viewer' });
  const planted = eve.browser.cookies.get('offhook_session') ?? '';
  const victim = rig.browser();
  victim.cookies.set('offhook_session', planted);
  await victim.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  t.not(victim.cookies.get('offhook_session'), planted);
  t.equal((await eve.browser.ask('GET', '/account')).status, 401, 'the one that was planted is over');
  t.match((await victim.ask('GET', '/account')).body, { email: 'ann@example.com' });
  const invented = rig.browser();
  invented.cookies.set('offhook_session', 'x'.repeat(43));
  await invented.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  t.not(invented.cookies.get('offhook_session'), 'x'.repeat(43));
  t.equal((await ann.browser.ask('GET', '/account')).body.sessions.length, 3);
});

t.test('an owner changes what somebody may, at once; the last owner stays one', async (t) => {
  const rig = await openDashboardRig(t);
  const owner = await rig.person({ email: 'owner@example.com' });
  const ann = await rig.person({ email: 'ann@example.com', role: 'operator' });
  const change = (id: string, body: object) => owner.browser.ask('PATCH', `/people/${id}`, { body });
  t.equal(
    (await ann.browser.ask('POST', '/v1/agents', { body: { name: 'A', type: 'inbound' } })).status,
    201,
  );
  t.match((await change(ann.user.id, { role: 'viewer' })).body, { role: 'viewer', may_listen: true });
  t.equal((await ann.browser.ask('GET', '/v1/calls')).status, 401, 'signed out: a session is of one role');
  await ann.browser.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  t.equal(
    (await ann.browser.ask('POST', '/v1/agents', { body: { name: 'A', type: 'inbound' } })).status,
    403,
  );
  t.match((await change(ann.user.id, { may_listen: false })).body, { may_listen: false });
  for (const body of [{ role: 'viewer' }, { disabled: true }]) {
    const refused = await change(owner.user.id, body);
    t.same([refused.status, refused.body.error.code], [409, 'conflict'], JSON.stringify(body));
  }
  t.equal((await change(ann.user.id, { disabled: true })).status, 200);
  const out = await rig
    .browser()
    .ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  t.equal(out.status, 401);
  t.equal((await owner.browser.ask('POST', `/people/${ann.user.id}/password_link`)).status, 409);
  t.equal((await change(ann.user.id, { disabled: false })).status, 200);
  const back = await rig
    .browser()
    .ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  t.equal(back.status, 200);
  t.match((await owner.browser.ask('GET', '/people')).body.users.length, 2);
  t.notMatch((await owner.browser.ask('GET', '/people')).text, /hash|secret/);
});

t.test('a password link sets one password, and an account is its owner’s to change', async (t) => {
  const rig = await openDashboardRig(t);
  const owner = await rig.person({ email: 'owner@example.com' });
  const ann = await rig.person({ email: 'ann@example.com', role: 'viewer', may_listen: false });
  const link = await owner.browser.ask('POST', `/people/${ann.user.id}/password_link`);
  const token = tokenOf(link.body.url);
  t.match((await rig.browser().ask('POST', '/invitation/look', { body: { token } })).body, {
    kind: 'password',
    name: 'Owner',
    email: 'ann@example.com',
  });
  const set = () =>
    rig.browser().ask('POST', '/invitation', { body: { token, password: 'one of ten characters' } });
  t.equal((await set()).body.state, 'signed_in');
  t.equal((await set()).status, 403);
  t.equal((await ann.browser.ask('GET', '/account')).status, 401);
  await rig.store.saveUser(rig.orgId, ann.user.id, { password_hash: cheapHash() });
  await ann.browser.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
  const patch = (body: object) => ann.browser.ask('PATCH', '/account', { body });
  t.equal((await patch({ name: 'Ann' })).body.name, 'Ann');
  t.same((await patch({ email: 'a@example.com' })).body.error.param, 'current');
  t.same((await patch({ email: 'a@example.com', current: 'wrong' })).body.error.param, 'current');
  t.same((await patch({ email: 'owner@example.com', current: PASSWORD })).body.error.param, 'email');
  t.same((await patch({ email: 'nowhere', current: PASSWORD })).body.error.param, 'email');
  t.equal((await patch({ email: 'A@example.com', current: PASSWORD })).body.email, 'a@example.com');
  t.equal((await patch({ role: 'owner' })).body.error.code, 'unknown_parameter');
});

t.test('one sees where one is signed in, and ends the others', async (t) => {
  const rig = await openDashboardRig(t);
  const ann = await rig.person({ email: 'ann@example.com' });
  const logIn = async (agent: string) => {
    const browser = rig.browser({ 'user-agent': agent, 'x-forwarded-for': '203.0.113.50' });
    await browser.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD } });
    return browser;
  };
  const [phone, tablet] = [await logIn('A phone'), await logIn('A tablet')];
  const { sessions } = (await ann.browser.ask('GET', '/account')).body;
  t.equal(sessions.length, 3);
  t.match(
    sessions.find(({ agent }: { agent: string }) => agent === 'A phone'),
    { how: 'password', address: '203.0.113.50', current: false },
  );
  const id = sessions.find(({ agent }: { agent: string }) => agent === 'A phone').id;
  t.equal((await ann.browser.ask('DELETE', `/account/sessions/${id}`)).status, 204);
  t.equal((await phone.ask('GET', '/account')).status, 401);
  const eve = await rig.person({ email: 'eve@example.com' });
  const own = sessions.find(({ current }: { current: boolean }) => current).id;
  t.equal((await eve.browser.ask('DELETE', `/account/sessions/${own}`)).status, 404, 'nobody else’s');
  t.equal((await ann.browser.ask('POST', '/account/sessions/end_others')).status, 204);
  t.equal((await tablet.ask('GET', '/account')).status, 401);
  t.equal((await ann.browser.ask('GET', '/account')).status, 200);
});

t.test('the first owner signs in by the password alone until there is an e-mail address', async (t) => {
  const rig = await openDashboardRig(t);
  const owner = rig.browser();
  await owner.setUp();
  t.match((await owner.ask('GET', '/session')).body.user, { name: 'Owner', email: null, role: 'owner' });
  t.equal((await rig.browser().signIn()).status, 200);
  const set = await owner.ask('PATCH', '/account', { body: { email: 'me@example.com', current: PASSWORD } });
  t.equal(set.status, 200, set.text);
  t.equal((await rig.browser().signIn()).status, 401);
  const byEmail = await rig
    .browser()
    .ask('POST', '/login', { body: { email: 'me@example.com', password: PASSWORD } });
  t.equal(byEmail.status, 200);
  t.equal(
    (await rig.browser().setUp('by the link of the host')).body.user.email,
    'me@example.com',
    'whose password the host sets',
  );
});
