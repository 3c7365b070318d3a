// What the verbs share: the connection, the clock, write transactions, news after a commit, and pages.
import type Database from 'better-sqlite3';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { StorageError } from '../storage-error.ts';
import type { Conflict, Listener } from '../store.ts';
import { OWN_HEIR, refuseReplaced } from './enrolment.ts';
import { GroupCommit, type Sharing } from './group-commit.ts';
import { KeptWrites } from './kept-writes.ts';
import type { Parameters, Reader } from './reader.ts';
import type { Row } from './rows.ts';
import { type Moment, SteadyClock, StorageClocks } from './steady-clock.ts';
import { type News, Subscribers } from './subscribers.ts';

/** Thrown inside a write transaction to leave nothing of it behind and answer a conflict. */
export class Refusal extends Error {
  readonly conflict: string;

  constructor(conflict: string) {
    super(conflict);
    this.conflict = conflict;
  }
}

/** What was decided, within a write transaction. @throws Refusal where that is a conflict */
export function accepted<T extends object | string>(decided: T): Exclude<T, Conflict> {
  if (typeof decided === 'object' && 'conflict' in decided) throw new Refusal(String(decided.conflict));
  return decided as Exclude<T, Conflict>;
}

/** Something that has happened, whether or not the disk takes it. */
export interface Fact<T> {
  callId: string | null;
  /** One transaction; what it reads must be the database's own, whatever else is kept. */
  work(news: News): T;
  /** The answer while it is kept. A Refusal thrown here keeps nothing. */
  meanwhile(): T;
  /** A newer one of this name takes its place while it is kept. */
  name?: string;
  /** Characters of what may be given up when too much is kept; without it, it is never given up. */
  length?: number;
}

export interface Connection {
  db: Database.Database;
  /** The epoch of the daemon as which the store was opened: what it makes is its own. */
  owner: number;
  /** The time now, ISO 8601 UTC with milliseconds; of what was kept, when it happened. */
  now(): string;
  steadyClock: SteadyClock;
  /** A time of the wall clock as the steady one has it; of what was kept, when it happened. */
  steady(time: string): string;
  /** The other way. */
  wall(time: string): string;
  /**
   * A request: all of `work` or nothing, in a transaction that is BEGIN IMMEDIATE and may have other writes too; its news is
   * told after the commit.
   * @throws AppError storage_low when the disk does not take it, or while something that has happened waits to be stored
   */
  write<T>(work: (news: News) => T, sharing?: Sharing): Promise<T>;
  /** As `write`; a Refusal thrown in `work` leaves nothing of it and becomes the answer. */
  tryWrite<T>(work: (news: News) => T, sharing?: Sharing): Promise<T | Conflict>;
  /**
   * The same of what has happened: what the disk does not take is kept, and written in its order as soon as it can be.
   * @throws AppError storage_low for what may be given up, when too much is kept
   */
  writeFact<T>(fact: Fact<T>, sharing?: Sharing): Promise<T>;
  /** Several at once, all or none where the disk takes them; kept, each is for itself. */
  writeFacts(facts: readonly Omit<Fact<void>, 'meanwhile'>[], sharing?: Sharing): Promise<void>;
  /** As `writeFact`, and Refusals as with `tryWrite`. */
  tryWriteFact<T>(fact: Fact<T>, sharing?: Sharing): Promise<T | Conflict>;
  /** Resolves when all that was asked for is written, kept or refused. */
  flush(): Promise<void>;
  kept: KeptWrites;
  subscribe(listener: Listener): () => void;
  /** Stored times have moved with the wall clock. */
  moved(byMs: number): void;
  /** Aborted when the store closes: what takes many transactions leaves the rest. */
  closing: AbortController;
  /** Writes all that waits, as far as the disk takes it; the file is closed next. */
  close(): void;
  /** A statement, prepared once and kept by its text: what a change needs, and single rows by an index. */
  statement(sql: string): Database.Statement<unknown[], Row>;
  /** Rows of what may be long in reading: beside this thread where the database is a file. Sees every commit before it. */
  read(sql: string, parameters: Parameters): Promise<Row[]>;
}

export interface ConnectionOptions {
  db: Database.Database;
  owner: number;
  clock: () => Date;
  log?: Log | undefined;
  /** For tests: called in each write transaction, and may throw what a disk would, or take as long. */
  onWrite?: (() => void) | undefined;
  /** Without one, everything is read by `db`. */
  reader?: Reader | undefined;
  /** For tests: told each statement once, when it is first used. */
  onPrepare?: ((sql: string) => void) | undefined;
  /** Told how long each write transaction held this thread, the disk included; milliseconds. */
  onWritten?: ((ms: number) => void) | undefined;
  /** By which a transaction of several writes is kept short. */
  monotonicMs?: (() => number) | undefined;
}

const notTaken = (cause?: unknown) =>
  new AppError('storage_low', 'The disk of the daemon is full, or takes no writes.', {
    retryAfterSeconds: 5,
    ...(cause === undefined ? {} : { cause }),
  });

export function openConnection(o: ConnectionOptions): Connection {
  const { db, clock, log, onWrite, reader, onPrepare, onWritten } = o;
  const subscribers = new Subscribers(log);
  const closing = new AbortController();
  const statements = new Map<string, Database.Statement<unknown[], Row>>();
  const steadyClock = new SteadyClock(db);
  const clocks = new StorageClocks(clock, steadyClock);
  const group = new GroupCommit({
    db,
    clocks,
    mayWrite: () => kept.flush(),
    note: (error) => kept.note(error),
    tell: (news) => subscribers.tell(news),
    onWrite,
    mayCommit: refuseIfReplaced,
    onWritten,
    monotonicMs: o.monotonicMs ?? (() => performance.now()),
  });
  // As it is now: a newer program may have added to the schema meanwhile.
  const probe = () =>
    group.commit(() => void db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`));
  const kept = new KeptWrites({ log, probe });
  kept.onRecovered(() => subscribers.recovered());

  // Also of who is alone: he may let another in, as in an upgrade.
  let isReplaced = false;
  function refuseIfReplaced(): void {
    try {
      refuseReplaced(statement(OWN_HEIR).get(o.owner));
    } catch (error) {
      if (!isReplaced && error instanceof StorageError) setImmediate(() => subscribers.replaced());
      isReplaced = true;
      throw error;
    }
  }

  function write<T>(work: (news: News) => T, sharing?: Sharing): Promise<T> {
    const untaken = (cause: unknown) => {
      throw notTaken(cause ?? undefined);
    };
    return group.ask({ work, untaken }, sharing);
  }

  function keep({ work, ...fact }: Omit<Fact<unknown>, 'meanwhile'>, at: Moment): void {
    kept.keep({ ...fact, write: () => group.commit(work, at) });
  }

  function writeFact<T>(fact: Fact<T>, sharing?: Sharing): Promise<T> {
    const untaken = (_cause: unknown, at: Moment) => {
      const answer = fact.meanwhile();
      keep(fact, at);
      return answer;
    };
    return group.ask({ work: fact.work, untaken }, sharing);
  }

  function writeFacts(facts: readonly Omit<Fact<void>, 'meanwhile'>[], sharing?: Sharing): Promise<void> {
    return group.ask(
      {
        work(news) {
          for (const fact of facts) fact.work(news);
        },
        untaken(_cause, at) {
          for (const fact of facts) keep(fact, at);
        },
      },
      sharing,
    );
  }

  function statement(sql: string): Database.Statement<unknown[], Row> {
    let prepared = statements.get(sql);
    if (!prepared) {
      onPrepare?.(sql);
      prepared = db.prepare<unknown[], Row>(sql);
      statements.set(sql, prepared);
    }
    return prepared;
  }

  async function orConflict<T>(answer: Promise<T>): Promise<T | Conflict> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Refusal) return { conflict: error.conflict };
      throw error;
    }
  }

  return {
    db,
    owner: o.owner,
    now: () => clocks.now(),
    steadyClock,
    steady: (time) => clocks.steady(time),
    wall: (time) => clocks.wall(time),
    write,
    tryWrite: (work, sharing) => orConflict(write(work, sharing)),
    writeFact,
    writeFacts,
    tryWriteFact: (fact, sharing) => orConflict(writeFact(fact, sharing)),
    flush: () => group.flush(),
    kept,
    subscribe: (listener) => subscribers.add(listener),
    moved: (byMs) => subscribers.moved(byMs),
    closing,
    close() {
      closing.abort();
      group.close();
      kept.close();
    },
    statement,
    async read(sql, parameters) {
      if (reader !== undefined) return reader.read(sql, parameters);
      return statement(sql).all(...(Array.isArray(parameters) ? parameters : [parameters]));
    },
  };
}

/** `UPDATE` of the given columns of one row by its id; nothing to change is nothing done. */
export function updateById(connection: Connection, table: { name: string }, id: string, row: Row): void {
  const columns = Object.keys(row);
  if (columns.length === 0) return;
  const set = columns.map((column) => `${column} = @${column}`).join(', ');
  connection.statement(`UPDATE ${table.name} SET ${set} WHERE id = @where_id`).run({ ...row, where_id: id });
}
