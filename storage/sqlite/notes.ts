// What an installation notes about its database file itself; no record of anybody's.
import type Database from 'better-sqlite3';

const hasNotes = (db: Database.Database) =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").get() !== undefined;

/** Null where there is no such note, or the schema has none yet. */
export function readNote(db: Database.Database, name: string): string | null {
  if (!hasNotes(db)) return null;
  return (
    (db.prepare('SELECT value FROM notes WHERE name = ?').pluck().get(name) as string | undefined) ?? null
  );
}

export function keepNote(db: Database.Database, name: string, value: string): void {
  if (!hasNotes(db) || readNote(db, name) === value) return;
  db.prepare(
    'INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ).run(name, value);
}
