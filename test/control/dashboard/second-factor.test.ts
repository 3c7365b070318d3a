// The second factor: the codes are those of RFC 6238, each is worth something once, and no other way leads around them.
import t from 'tap';
import { newRecoveryCodes, stepOf } from '../../../control/dashboard/second-factor.ts';
import { openDashboardRig, PASSWORD } from './rig.ts';

// RFC 6238, appendix B, SHA-1: the secret is "12345678901234567890" in ASCII; the last six of its eight digits.
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const;

t.test('the codes of RFC 6238, a step early or late, and no further', async (t) => {
  for (const [seconds, code] of VECTORS) {
    const step = Math.floor(seconds / 30);
    const at = (s: number) => stepOf(RFC_SECRET, code, new Date(s * 1000));
    t.same([at(seconds), at(seconds - 30), at(seconds + 30)], [step, step, step], code);
    t.same([at(seconds - 60 - (seconds % 30)), at(seconds + 61)], [null, null], `${code}, too far off`);
  }
  for (const wrong of ['', '28708', '2870820', 'abcdef', '-87082', '２８７０８２'])
    t.equal(stepOf(RFC_SECRET, wrong, new Date(59_000)), null, wrong);
  t.equal(stepOf(RFC_SECRET, '287 082', new Date(59_000)), 1, 'as apps show them');
  const { shown, hashes } = newRecoveryCodes();
  t.equal(new Set(shown).size, 10);
  t.ok(shown.every((code) => /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/.test(code)));
  t.notMatch(hashes.join(), new RegExp(shown.join('|')));
});

/** The code that an app shows at that time: by the reading of the secret that the test above holds to the RFC. */
async function codeAt(secret: string, now: Date): Promise<string> {
  const { createHmac } = await import('node:crypto');
  const bits = [...secret].map((char) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'),
  );
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now.getTime() / 30_000)));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const at = (mac[19] ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1e6).padStart(6, '0');
}

async function withFactor(t: Parameters<typeof openDashboardRig>[0]) {
  const rig = await openDashboardRig(t);
  const ann = await rig.person({ email: 'ann@example.com', role: 'operator' });
  const begun = await ann.browser.ask('POST', '/account/second_factor', { body: { current: PASSWORD } });
  t.equal(begun.status, 200, begun.text);
  const { secret } = begun.body;
  const code = () => codeAt(secret, rig.now());
  const logIn = (more: object = {}, browser = rig.browser()) =>
    browser.ask('POST', '/login', { body: { email: 'ann@example.com', password: PASSWORD, ...more } });
  const done = await ann.browser.ask('POST', '/account/second_factor/confirm', {
    body: { code: await code() },
  });
  // A new session, with a token of its own.
  await ann.browser.ask('GET', '/session');
  return { rig, ann, begun, secret, code, logIn, done };
}

t.test('it is set up with the password and its first code; then no password alone signs in', async (t) => {
  const { rig, ann, begun, secret, code, logIn, done } = await withFactor(t);
  t.match(begun.body.url, /^otpauth:\/\/totp\/Offhook%20Default:ann%40example.com\?/);
  t.match(begun.body.qr.path, /^M\d/);
  t.equal(done.status, 200, done.text);
  t.equal(done.body.recovery_codes.length, 10);
  t.match((await ann.browser.ask('GET', '/account')).body, {
    second_factor_since: rig.now().toISOString(),
    recovery_codes_left: 10,
  });
  const alone = await logIn();
  t.same([alone.status, alone.body.error.param], [401, 'code']);
  t.same(alone.headers.getSetCookie(), [], 'no session, no half of one');
  const wrongPassword = await logIn({ password: 'wrong', code: await code() });
  t.same(
    [wrongPassword.status, wrongPassword.body.error.param],
    [401, 'password'],
    'a code alone is worth nothing',
  );
  const replayed = await logIn({ code: await code() });
  t.same(
    [replayed.status, replayed.body.error.param],
    [401, 'code'],
    'the code that confirmed it is used up',
  );
  rig.advance(30_000);
  const next = await code();
  t.equal((await logIn({ code: next })).status, 200);
  t.equal((await logIn({ code: next })).status, 401, 'once');
  rig.advance(30_000);
  t.equal((await logIn({ code: next })).status, 401, 'nor in the step after, where it is still near enough');
  rig.advance(30_000);
  const many = await Promise.all([1, 2, 3].map(async () => (await logIn({ code: await code() })).status));
  t.same(many.sort(), [200, 401, 401], 'of several at once, one');

  const stored = await rig.store.getUser(rig.orgId, ann.user.id);
  t.equal(stored?.totp_secret, secret);
  t.notMatch(JSON.stringify(rig.lines), new RegExp(`${secret}|${done.body.recovery_codes.join('|')}`));
  t.notMatch((await ann.browser.ask('GET', '/account')).text, secret, 'it is shown at the beginning alone');
});

t.test('a recovery code opens once; new ones void those before', async (t) => {
  const { rig, ann, code, logIn, done } = await withFactor(t);
  const [first, second] = done.body.recovery_codes as string[];
  const browser = rig.browser();
  t.equal(
    (await logIn({ code: first?.toUpperCase().replaceAll('-', ' ') }, browser)).status,
    200,
    'however it is typed',
  );
  t.equal((await logIn({ code: first })).status, 401, 'once');
  t.equal((await browser.ask('GET', '/account')).body.recovery_codes_left, 9);
  rig.advance(60_000);
  const renewed = await ann.browser.ask('POST', '/account/recovery_codes', {
    body: { current: PASSWORD, code: await code() },
  });
  t.equal(renewed.status, 200, renewed.text);
  t.equal((await logIn({ code: second })).status, 401);
  rig.advance(60_000);
  t.equal((await logIn({ code: renewed.body.recovery_codes[0] })).status, 200);
});

t.test('codes are guessed no faster from many addresses than from one', async (t) => {
  const { rig, logIn, code } = await withFactor(t);
  const from = (address: string) => rig.browser({ 'x-forwarded-for': address });
  let looked = 0;
  for (let i = 0; i < 20; i++) {
    const { status } = await logIn({ code: '000000' }, from(`203.0.113.${i}`));
    if (status === 401) looked += 1;
    else t.equal(status, 429);
  }
  t.ok(looked <= 5, `${looked} of 20 were looked at`);
  rig.advance(16 * 60_000);
  t.equal(
    (await logIn({ code: await code() }, from('198.51.100.1'))).status,
    200,
    'and the right one, in its time',
  );
});

t.test(
  'it is removed with password and code alone; by an owner for another, who signs in anew',
  async (t) => {
    const { rig, ann, code, logIn } = await withFactor(t);
    const remove = (body: object) => ann.browser.ask('POST', '/account/second_factor/remove', { body });
    t.same((await remove({ current: 'wrong', code: '000000' })).body.error.param, 'current');
    t.same((await remove({ current: PASSWORD, code: '000000' })).body.error.param, 'code');
    rig.advance(30_000);
    const old = new Map(ann.browser.cookies);
    t.equal((await remove({ current: PASSWORD, code: await code() })).status, 200);
    t.equal((await ann.browser.ask('GET', '/account')).status, 200, 'in a new session');
    const thief = rig.browser();
    for (const [name, value] of old) thief.cookies.set(name, value);
    t.equal((await thief.ask('GET', '/account')).status, 401, 'the one before is over');
    t.equal((await logIn()).status, 200);

    await ann.browser.ask('GET', '/session');
    const owner = await rig.person({ email: 'owner@example.com' });
    const again = await ann.browser.ask('POST', '/account/second_factor', { body: { current: PASSWORD } });
    t.equal((await logIn()).status, 200, 'what was begun and not confirmed asks for nothing');
    rig.advance(60_000);
    const body = { code: await codeAt(again.body.secret, rig.now()) };
    t.equal((await ann.browser.ask('POST', '/account/second_factor/confirm', { body })).status, 200);
    t.equal((await logIn()).status, 401);
    t.equal((await owner.browser.ask('POST', `/people/${ann.user.id}/remove_second_factor`)).status, 200);
    t.equal((await ann.browser.ask('GET', '/account')).status, 401);
    t.equal((await logIn()).status, 200);
  },
);

t.test('a link for a new password does not lead around it; one of the host does', async (t) => {
  const { rig, ann, code, logIn } = await withFactor(t);
  const owner = await rig.person({ email: 'owner@example.com' });
  const link = await owner.browser.ask('POST', `/people/${ann.user.id}/password_link`);
  const token = new URL(link.body.url).hash.slice(1);
  const set = await rig.browser().ask('POST', '/invitation', { body: { token, password: 'another of ten' } });
  t.equal(set.body.state, 'signed_out');
  t.equal((await ann.browser.ask('GET', '/account')).status, 401, 'a new password signs out');
  t.equal((await logIn({ password: 'another of ten' })).body.error.param, 'code');
  rig.advance(30_000);
  t.equal((await logIn({ password: 'another of ten', code: await code() })).status, 200);
});
