// The operators of before become first owners, whatever a program of before does beside.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, at, makeUser } from '../makers.ts';

t.test(
  'an operator is the first owner, goes on signed in, and changes of either side reach the other',
  async (t) => {
    const path = join(t.testdir({}), 'offhook.db');
    const open = () => openStore({ path, now: () => new Date(at(0)) });
    const first = await open();
    const org = await addOrganization(first);
    await first.close();
    /** As the program of before writes, and reads. */
    const beside = <T>(work: (db: Database.Database) => T) => {
      const db = new Database(path);
      try {
        return work(db);
      } finally {
        db.close();
      }
    };
    beside((db) => {
      db.prepare(
        'INSERT INTO operators (id, org_id, password_hash, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
      ).run('op', org, 'old', at(0), at(0));
      db.prepare(
        `INSERT INTO dashboard_sessions (hash, operator_id, org_id, created_at, last_seen_at, expires_at)
       VALUES ('cookie', 'op', ?, ?, ?, ?)`,
      ).run(org, at(0), at(5), at(1000));
    });
    const password = () => beside((db) => db.prepare('SELECT password_hash FROM operators').pluck().get());

    let store = await open();
    t.match(await store.firstOwner(org), { id: 'op', role: 'owner', email: null, password_hash: 'old' });
    t.match(await store.findSession('cookie'), { user_id: 'op', last_seen_at: at(5) });
    await store.endSession('cookie');
    await store.saveUser(org, 'op', { password_hash: 'new', updated_at: at(10) });
    t.equal(password(), 'new', 'a program of before takes the new one');
    await store.close();

    store = await open();
    t.equal(await store.findSession('cookie'), null, 'what was ended stays so');
    t.match(await store.firstOwner(org), { password_hash: 'new' });
    await store.close();
    beside((db) => db.prepare("UPDATE operators SET password_hash = 'reset', updated_at = ?").run(at(20)));
    store = await open();
    t.match(await store.firstOwner(org), { password_hash: 'reset' }, 'what is set there holds here');
    await store.saveUser(org, 'op', { email: 'a@example.com', updated_at: at(30) });
    await store.createUser(makeUser(org, { email: 'b@example.com' }));
    await store.saveUser(org, 'op', { disabled_at: at(40), updated_at: at(40) });
    t.equal(password(), '', 'who is disabled is let in by neither');
    await store.close();
    store = await open();
    t.match(await store.getUser(org, 'op'), { password_hash: 'reset', disabled_at: at(40) });
    await store.close();
  },
);
