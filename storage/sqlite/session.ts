// What the verbs share: the connection, the clock, write transactions, news after a commit, and pages.
import Database from 'better-sqlite3';
import { AppError } from '../../errors.ts';
import type { EventRecord } from '../records.ts';
import type { Conflict, DueDelivery, Listener, Page } from '../store.ts';
import type { Row, Table, Value } from './rows.ts';

/** What subscribers hear once the transaction that made it is committed. */
export interface News {
  events: EventRecord[];
  deliveries: DueDelivery[];
}

/** Thrown inside a write transaction to leave nothing of it behind and answer a conflict. */
export class Refusal extends Error {
  readonly conflict: string;

  constructor(conflict: string) {
    super(conflict);
    this.conflict = conflict;
  }
}

export interface Session {
  db: Database.Database;
  /** The time now, ISO 8601 UTC with milliseconds. */
  now(): string;
  /**
   * One BEGIN IMMEDIATE transaction: all of `work` or nothing; its news is told after the commit.
   * @throws AppError storage_low when the disk is full
   */
  write<T>(work: (news: News) => T): T;
  /** As `write`; a Refusal thrown in `work` rolls back and becomes the answer. */
  tryWrite<T>(work: (news: News) => T): T | Conflict;
  subscribe(listener: Listener): () => void;
  /** A statement, prepared once and kept by its text. */
  statement(sql: string): Database.Statement<unknown[], Row>;
}

/** `onListenerError` hears of a subscriber that threw: what is committed stays, and the verb still succeeds. */
export function openSession(
  db: Database.Database,
  clock: () => Date,
  onListenerError: (error: unknown) => void,
): Session {
  const listeners = new Set<Listener>();
  const statements = new Map<string, Database.Statement<unknown[], Row>>();

  function tell(news: News): void {
    const each = (hear: (listener: Listener) => void) => {
      for (const listener of [...listeners]) {
        try {
          hear(listener);
        } catch (error) {
          onListenerError(error);
        }
      }
    };
    for (const event of news.events) each((listener) => listener.event?.(event));
    if (news.deliveries.length > 0) each((listener) => listener.deliveries?.(news.deliveries));
  }

  function write<T>(work: (news: News) => T): T {
    const news: News = { events: [], deliveries: [] };
    let result: T;
    try {
      result = db.transaction(() => work(news)).immediate();
    } catch (error) {
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_FULL') {
        throw new AppError('storage_low', 'the disk is full', { cause: error });
      }
      throw error;
    }
    tell(news);
    return result;
  }

  return {
    db,
    now: () => clock().toISOString(),
    write,
    tryWrite(work) {
      try {
        return write(work);
      } catch (error) {
        if (error instanceof Refusal) return { conflict: error.conflict };
        throw error;
      }
    },
    subscribe(listener) {
      // A wrapper, so that the same listener subscribed twice is two subscriptions.
      const own: Listener = {
        deliveries: (due) => listener.deliveries?.(due),
        event: (event) => listener.event?.(event),
      };
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
    statement(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = db.prepare<unknown[], Row>(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
  };
}

/**
 * One page of a table, newest first: by `time`, then by order of insertion.
 * `where` are conditions with ?, each with the values of its own. An unknown `startingAfter`, or one that the conditions of `scope`
 * do not admit, is followed by nothing.
 */
export function readPage<R>(
  session: Session,
  table: Table<R>,
  o: {
    time: string;
    orgId: string;
    where: readonly { sql: string; value: Value | readonly Value[] | undefined }[];
    page: Page;
    /** What to select in place of the table's columns. */
    selected?: string;
  },
): Row[] {
  const { name } = table;
  const conditions = [`${name}.org_id = ?`];
  const values: Value[] = [o.orgId];
  for (const { sql, value } of o.where) {
    if (value === undefined) continue;
    conditions.push(sql);
    if (sql.includes('?')) values.push(...(Array.isArray(value) ? value : [value as Value]));
  }
  if (o.page.startingAfter !== undefined) {
    conditions.push(
      `(${name}.${o.time}, ${name}.seq) < (SELECT last.${o.time}, last.seq FROM ${name} last WHERE last.id = ? AND last.org_id = ?)`,
    );
    values.push(o.page.startingAfter, o.orgId);
  }
  const sql = `SELECT ${o.selected ?? table.selected} FROM ${name} WHERE ${conditions.join(' AND ')}
    ORDER BY ${name}.${o.time} DESC, ${name}.seq DESC LIMIT ?`;
  return session.statement(sql).all(...values, o.page.limit);
}

/** `UPDATE` of the given columns of one row by its id; nothing to change is nothing done. */
export function updateById(session: Session, table: { name: string }, id: string, row: Row): void {
  const columns = Object.keys(row);
  if (columns.length === 0) return;
  const set = columns.map((column) => `${column} = @${column}`).join(', ');
  session.statement(`UPDATE ${table.name} SET ${set} WHERE id = @where_id`).run({ ...row, where_id: id });
}
