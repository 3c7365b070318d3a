// Operators of before there were people, one an organization: made its first owner when the store is opened, with the sessions
// there are. A program of before that goes on beside reads its own tables; what it sets there is taken over at the next start.
import type Database from 'better-sqlite3';

const ADOPT = `INSERT INTO users (id, org_id, name, role, may_listen, password_hash, recovery_codes, created_at, updated_at)
  SELECT id, org_id, 'Owner', 'owner', 1, password_hash, '[]', created_at, updated_at FROM operators
  WHERE id NOT IN (SELECT id FROM users)`;

const CHANGED = `UPDATE users SET password_hash = operators.password_hash, updated_at = operators.updated_at
  FROM operators WHERE operators.id = users.id AND operators.updated_at > users.updated_at AND operators.password_hash <> ''`;

const SIGNED_IN = `INSERT OR IGNORE INTO user_sessions (id, hash, user_id, org_id, how, created_at, last_seen_at, expires_at)
  SELECT hash, hash, operator_id, org_id, 'password', created_at, last_seen_at, expires_at FROM dashboard_sessions`;

/** In a moment: there are few of them, and mostly none. */
export function adoptOperators(db: Database.Database): void {
  // What is there already is not written again: the disk may be full.
  if (db.prepare('SELECT 1 FROM operators LIMIT 1').get() === undefined) return;
  const waiting = db
    .prepare(
      `SELECT 1 FROM operators LEFT JOIN users ON users.id = operators.id
       WHERE users.id IS NULL OR (operators.updated_at > users.updated_at AND operators.password_hash <> '')
       UNION ALL SELECT 1 FROM dashboard_sessions LIMIT 1`,
    )
    .get();
  if (waiting === undefined) return;
  db.transaction(() => {
    db.exec(ADOPT);
    db.exec(CHANGED);
    db.exec(SIGNED_IN);
    db.exec('DELETE FROM dashboard_sessions');
  }).immediate();
}
