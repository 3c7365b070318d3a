// Conformance: people, their sessions, invitations, the audit log.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { ActionRecord, InvitationRecord } from '../../storage/people-records.ts';
import {
  addOrganization,
  at,
  makeSession,
  makeUser,
  type OpenEmpty,
  stoppedClock,
  succeeded,
} from './makers.ts';

function makeInvitation(orgId: string, fields: Partial<InvitationRecord> = {}): InvitationRecord {
  return {
    id: uuid(),
    org_id: orgId,
    hash: uuid(),
    email: 'ann@example.com',
    role: 'viewer',
    may_listen: false,
    user_id: null,
    created_by: 'Owner',
    created_at: at(0),
    expires_at: at(1000),
    used_at: null,
    ...fields,
  };
}

function makeAction(orgId: string, fields: Partial<ActionRecord> = {}): ActionRecord {
  return {
    id: uuid(),
    org_id: orgId,
    created_at: at(0),
    actor_kind: 'user',
    actor_id: 'a',
    actor_name: 'Ann',
    action: 'createCall',
    target_kind: 'call',
    target_id: 'c',
    detail: { status: 201 },
    address: '203.0.113.7',
    request_id: uuid(),
    ...fields,
  };
}

export function peopleConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock, org: await addOrganization(store) };
  }

  t.test('people: made, found by e-mail and by subject, each e-mail once in an organization', async (t) => {
    const { store, org } = await open(t);
    const other = await addOrganization(store);
    t.same([await store.hasUsers(), await store.hasEmails()], [false, false]);
    t.equal(await store.firstOwner(org), null);
    const owner = makeUser(org, { totp_secret: 'JBSWY3DPEHPK3PXP' });
    t.strictSame(await store.createUser(owner, { first: true }), owner);
    t.strictSame(await store.createUser(makeUser(org), { first: true }), { conflict: 'has_users' });
    t.same([await store.hasUsers(), await store.hasEmails()], [true, false]);
    t.strictSame(await store.getUser(org, owner.id), owner, 'its secret comes back as it was');
    t.equal(await store.getUser(other, owner.id), null);
    const ann = makeUser(org, {
      email: 'ann@example.com',
      role: 'viewer',
      may_listen: false,
      oidc_issuer: 'https://id.example.com',
      oidc_subject: '42',
    });
    await store.createUser(ann);
    t.equal(await store.hasEmails(), true);
    t.strictSame(await store.createUser(makeUser(org, { email: ann.email })), { conflict: 'email_taken' });
    const namesake = makeUser(other, { email: ann.email });
    t.strictSame(await store.createUser(namesake), namesake, 'another organization has its own');
    t.strictSame(await store.findUsersByEmail('ann@example.com'), [ann, namesake]);
    t.strictSame(await store.findUsersBySubject('https://id.example.com', '42'), [ann]);
    t.strictSame(await store.findUsersBySubject('https://other.example.com', '42'), []);
    t.strictSame(await store.listUsers(org), [owner, ann]);
    t.strictSame(await store.saveUser(org, owner.id, { email: ann.email }), { conflict: 'email_taken' });
    t.equal(await store.saveUser(other, owner.id, { name: 'Mine' }), null);
    t.strictSame(await store.firstOwner(org), owner);
  });

  t.test('an organization that has an owner keeps one', async (t) => {
    const { store, org } = await open(t);
    const [one, two] = [makeUser(org), makeUser(org)];
    for (const user of [one, two]) await store.createUser(user);
    const both = await Promise.all(
      [one, two].map((user) => store.saveUser(org, user.id, { role: 'viewer', updated_at: at(1) })),
    );
    t.strictSame(both[1], { conflict: 'last_owner' }, 'of two at once, one');
    t.match(both[0], { id: one.id, role: 'viewer' });
    t.strictSame(await store.saveUser(org, two.id, { disabled_at: at(2) }), { conflict: 'last_owner' });
    t.match(await store.saveUser(org, one.id, { role: 'owner' }), { role: 'owner' });
    t.match(await store.saveUser(org, two.id, { disabled_at: at(2) }), { disabled_at: at(2) });
    t.equal((await store.firstOwner(org))?.id, one.id);
  });

  t.test('sessions: they end one by one, with their time, and all with a change that says so', async (t) => {
    const { store, org } = await open(t);
    const user = makeUser(org);
    await store.createUser(user);
    const session = (hash: string, expiresMs: number) =>
      makeSession(user, { hash, expires_at: at(expiresMs) });
    const [a, b] = [session('a', 100), session('b', 200)];
    await store.createSession(a);
    await store.createSession(b);
    t.strictSame(await store.findSession('a'), a);
    t.equal(await store.findSession('c'), null);
    t.equal((await store.getUser(org, user.id))?.signed_in_at, at(0));
    await store.touchSession('a', at(50));
    t.strictSame(await store.listSessions(user.id), [{ ...a, last_seen_at: at(50) }, b]);
    await store.createSession({ ...session('c', 300), created_at: at(100) });
    t.equal(await store.findSession('a'), null, 'what has expired goes with the next sign-in');
    t.strictSame([await store.endSession('b'), await store.endSession('b')], [true, false]);
    await store.saveUser(org, user.id, { name: 'Ann' });
    t.not(await store.findSession('c'), null);
    t.strictSame(
      await store.saveUser(org, user.id, { password_hash: 'x' }, { ifPassword: 'other', endSessions: true }),
      { conflict: 'changed_meanwhile' },
    );
    t.not(await store.findSession('c'), null, 'what is refused changes nothing');
    await store.saveUser(org, user.id, { password_hash: 'x' }, { ifPassword: 'scrypt$1', endSessions: true });
    t.equal(await store.findSession('c'), null);
  });

  t.test('a code and a recovery code are taken once, also of many at once', async (t) => {
    const { store, org } = await open(t);
    const user = makeUser(org, { recovery_codes: ['h1', 'h2'] });
    await store.createUser(user);
    const steps = await Promise.all([7, 7, 8, 7, 8].map((step) => store.takeTotpStep(user.id, step)));
    t.same(steps, [true, false, true, false, false]);
    const codes = await Promise.all(['h1', 'h1', 'h3'].map((hash) => store.takeRecoveryCode(user.id, hash)));
    t.same(codes, [true, false, false]);
    t.match(await store.getUser(org, user.id), { totp_last_step: 8, recovery_codes: ['h2'] });
  });

  t.test('an invitation makes one user, and the newest of an address holds', async (t) => {
    const { store, org } = await open(t);
    const other = await addOrganization(store);
    const first = makeInvitation(org);
    const second = makeInvitation(org, { created_at: at(1) });
    const elsewhere = makeInvitation(other);
    for (const one of [first, second, elsewhere]) succeeded(await store.createInvitation(one));
    t.equal(await store.findInvitation(first.hash), null, 'void by the one after it');
    t.strictSame(await store.findInvitation(second.hash), second);
    t.strictSame(await store.listInvitations(org), [second]);
    t.strictSame(await store.findInvitationsByEmail('ann@example.com'), [elsewhere, second]);
    const ann = () => makeUser(org, { email: 'ann@example.com' });
    const both = await Promise.all([1, 2].map(() => store.createUser(ann(), { invitation: second.id })));
    t.match(both[0], { email: 'ann@example.com' });
    t.strictSame(both[1], { conflict: 'invitation_used' });
    t.strictSame(await store.createInvitation(makeInvitation(org)), { conflict: 'email_taken' });
    const mine = both[0] !== undefined && 'id' in both[0] ? both[0] : ann();
    const link = makeInvitation(org, { user_id: mine.id, email: null });
    succeeded(await store.createInvitation(link));
    t.match(await store.saveUser(org, mine.id, { password_hash: 'new' }, { invitation: link.id }), {
      password_hash: 'new',
    });
    t.strictSame(await store.saveUser(org, mine.id, { password_hash: 'newer' }, { invitation: link.id }), {
      conflict: 'invitation_used',
    });
    t.equal((await store.getUser(org, mine.id))?.password_hash, 'new');
    t.equal(await store.dropInvitation(org, elsewhere.id), false, 'another organization’s stays');
    t.same([await store.dropInvitation(other, elsewhere.id), await store.listInvitations(other)], [true, []]);
  });

  t.test('the audit log: newest first, filtered, in pages', async (t) => {
    const { store, org } = await open(t);
    const other = await addOrganization(store);
    const rows = Array.from({ length: 5 }, (_, i) =>
      makeAction(org, { created_at: at(i), actor_id: i % 2 ? 'b' : 'a', action: i < 2 ? 'createCall' : 'x' }),
    );
    for (const row of rows) await store.noteAction(row, { patient: row.action === 'x' });
    await store.noteAction(makeAction(other));
    const ids = async (filters: Parameters<typeof store.listActions>[1], startingAfter?: string) =>
      (await store.listActions(org, filters, { limit: 2, startingAfter })).map(({ id }) =>
        rows.findIndex((row) => row.id === id),
      );
    t.same(await ids({}), [4, 3]);
    t.same(await ids({}, rows[3]?.id), [2, 1]);
    t.same(await ids({ actorId: 'b' }), [3, 1]);
    t.same(await ids({ action: 'createCall' }), [1, 0]);
    t.same(await ids({ targetId: 'nothing' }), []);
    t.strictSame(await store.getAction(org, rows[0]?.id ?? ''), rows[0]);
    t.equal(await store.getAction(other, rows[0]?.id ?? ''), null);
  });
}
