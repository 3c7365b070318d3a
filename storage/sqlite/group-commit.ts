// Writes that are asked for at about the same time, committed together: what costs is the commit. Each is a savepoint of its
// own in the transaction: all of it or nothing, and one that fails takes no other with it. They are made in the order in which
// they were asked for, and one has happened when its promise resolves.
import type Database from 'better-sqlite3';
import { isDiskFault } from './kept-writes.ts';
import type { Moment, StorageClocks } from './steady-clock.ts';
import type { News } from './subscribers.ts';

/** What nobody waits for waits for other writes, for so long at most. */
export const PATIENCE_MS = 100;
/** So many wait for no others any more. */
const MOST_PATIENT = 500;
/** A transaction that has written for so long is committed, and the rest is the next one's: other work comes in between. */
const LONGEST_MS = 10;

/** Thrown in a transaction of which every write has failed: a refusal costs no commit. */
const NOTHING = new Error('nothing is written');

/** How a write may share its transaction. */
export interface Sharing {
  /** Nobody waits for it. */
  patient?: boolean | undefined;
  /** It is long by itself: its transaction has no other write. */
  alone?: boolean | undefined;
}

/** One write. */
export interface Asked<T> {
  /** Within the transaction: may be undone, and is not asked again. */
  work(news: News): T;
  /** The disk does not take it: what comes of it then, or throws. `cause`: null where it was not tried; `at`: when it happened. */
  untaken(cause: unknown, at: Moment): T;
}

export interface GroupCommitOptions {
  db: Database.Database;
  clocks: StorageClocks;
  /** Whether writes may be tried now. */
  mayWrite(): boolean;
  /** A transaction has failed (`error`), or has not (null). */
  note(error: unknown): void;
  /** What was committed, in its order. */
  tell(news: News): void;
  /** Called last in each transaction that has written: what it throws leaves nothing of it. */
  mayCommit?: () => void;
  /** For tests: called before anything else in each transaction. */
  onWrite: (() => void) | undefined;
  /** Told how long each transaction held the thread, in milliseconds. */
  onWritten: ((ms: number) => void) | undefined;
  monotonicMs(): number;
}

/** A write that waits for its transaction. */
interface Waiting {
  alone: boolean;
  /** @returns what is to be done once it is committed. @throws what `work` does; then nothing of it is left */
  write(): () => void;
  fail(error: unknown): void;
  refuse(cause: unknown): void;
}

export class GroupCommit {
  readonly #o: GroupCommitOptions;
  readonly #inTransaction: Database.Transaction<(work: () => void) => void>;
  readonly #inSavepoint: Database.Transaction<(work: () => unknown) => unknown>;
  #waiting: Waiting[] = [];
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(o: GroupCommitOptions) {
    this.#o = o;
    this.#inTransaction = o.db.transaction((work: () => void) => work());
    // Within a transaction it is a savepoint.
    this.#inSavepoint = o.db.transaction((work: () => unknown) => work());
  }

  /** Has it written with what else is asked for in this turn of the loop, or a little later. Rejects with what it throws. */
  ask<T>(asked: Asked<T>, { patient = false, alone = false }: Sharing = {}): Promise<T> {
    const { clocks } = this.#o;
    // When it was asked for is when it happened.
    const moment = clocks.read();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        alone,
        write: () => this.#write(moment, asked.work, resolve),
        fail: reject,
        refuse(cause) {
          try {
            resolve(clocks.during(moment, () => asked.untaken(cause, moment)));
          } catch (error) {
            reject(error);
          }
        },
      });
      if (patient && this.#waiting.length < MOST_PATIENT)
        this.#later ??= setTimeout(() => this.#next(), PATIENCE_MS);
      else this.#hurry();
    });
  }

  /** Resolves when all that was asked for is written, or refused. What is patient waits no longer. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({
      alone: false,
      write: () => resolve,
      fail: () => resolve(),
      refuse: () => resolve(),
    });
    this.#hurry();
    await promise;
  }

  /** One transaction as it is, at once: of what is written again, as of its moment. @throws what the disk does, or `work` */
  commit(work: (news: News) => void, moment = this.#o.clocks.read()): void {
    let done = () => {};
    this.#transact(() => {
      done = this.#write(moment, work, () => {});
    });
    done();
  }

  /** Writes what waits, at once. */
  close(): void {
    while (this.#waiting.length > 0) this.#next();
  }

  #hurry(): void {
    this.#soon ??= setImmediate(() => this.#next());
  }

  /** Within a transaction. @returns what is to be done once it is committed */
  #write<T>(moment: Moment, work: Asked<T>['work'], resolve: (answer: T) => void): () => void {
    const { clocks, tell } = this.#o;
    const news: News = { events: [], deliveries: [] };
    const answer = this.#inSavepoint(() => clocks.during(moment, () => work(news))) as T;
    return () => {
      tell(news);
      resolve(answer);
    };
  }

  /** The next transaction: of all that waits, or as much of it as may be together. */
  #next(): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#later = undefined;
    if (!this.#o.mayWrite()) {
      for (const one of this.#waiting.splice(0)) one.refuse(null);
      return;
    }
    const done: (() => void)[] = [];
    let isWritten = false;
    try {
      this.#transact(() => {
        isWritten = this.#writeSome(done);
        if (!isWritten) throw NOTHING;
      });
    } catch (error) {
      if (error !== NOTHING) {
        this.#undone(error, done.length);
        return;
      }
    }
    this.#waiting.splice(0, done.length);
    if (this.#waiting.length > 0) this.#hurry();
    for (const settle of done) settle();
    if (isWritten) this.#o.note(null);
  }

  /** The transaction has left nothing: `before` writes were made in it when one failed. */
  #undone(error: unknown, before: number): void {
    this.#o.note(error);
    // A disk that does not take these takes no others now; anything else is the fault of one of them.
    if (isDiskFault(error)) for (const one of this.#waiting.splice(0)) one.refuse(error);
    else for (const one of this.#waiting.splice(0, before + 1)) one.fail(error);
    if (this.#waiting.length > 0) this.#hurry();
  }

  /**
   * Within a transaction: at least one, and those after it for as long as there is time.
   * @returns whether there is anything to commit
   */
  #writeSome(done: (() => void)[]): boolean {
    const { monotonicMs } = this.#o;
    let isWritten = false;
    const until = monotonicMs() + LONGEST_MS;
    for (const one of this.#waiting) {
      if (done.length > 0 && (one.alone || monotonicMs() > until)) break;
      try {
        done.push(one.write());
        isWritten = true;
      } catch (error) {
        // With a fault of the disk SQLite may have undone everything before it too.
        if (isDiskFault(error) || !this.#o.db.inTransaction) throw error;
        done.push(() => one.fail(error));
      }
      if (one.alone) break;
    }
    return isWritten;
  }

  #transact(work: () => void): void {
    const { onWrite, mayCommit, onWritten, monotonicMs } = this.#o;
    const begun = monotonicMs();
    try {
      this.#inTransaction.immediate(() => {
        onWrite?.();
        work();
        mayCommit?.();
      });
    } finally {
      onWritten?.(monotonicMs() - begun);
    }
  }
}
