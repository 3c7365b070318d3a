// A process of its own: reads a database table by table and says what it finds. Each table is a transaction of its own, so
// that the daemon's write-ahead log can start afresh between two of them.
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { CheckMessage } from './integrity.ts';

/** Between two tables: the daemon's next checkpoint finds no reader in its way. */
const PAUSE_MS = 100;

const say = (message: CheckMessage) =>
  new Promise<void>((sent) => {
    if (process.connected) process.send?.(message, () => sent());
    else process.exit(1);
  });

/** Everything that has pages of its own, an index being checked with its table; the schema itself last. */
const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rootpage`;

try {
  const db = new Database(process.argv[2], { readonly: true, fileMustExist: true });
  db.pragma('trusted_schema = OFF');
  const tables = db.prepare<[], { name: string }>(TABLES).all();
  for (const { name } of [...tables, { name: 'sqlite_schema' }]) {
    const begun = performance.now();
    let found: string;
    try {
      found = String(db.pragma(`quick_check("${name}")`, { simple: true })).replaceAll(/\s+/g, ' ');
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !/^SQLITE_(CORRUPT|NOTADB)/.test(error.code))
        throw error;
      found = error.message;
    }
    await say({ type: 'table', table: name, found, ms: performance.now() - begun });
    await pause(PAUSE_MS);
  }
  db.close();
  await say({ type: 'done' });
} catch (error) {
  await say({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
}
process.disconnect();
