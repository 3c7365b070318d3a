// A clock that nobody sets: the wall's, without what it has been set by. What waits is stored by it, so that setting the
// wall clock changes one number, however much waits.
import type Database from 'better-sqlite3';
import { keepNote, readNote } from './notes.ts';

/** By how much the wall clock has been set in all since the database was made, in milliseconds. */
const SET_NOTE = 'times_moved_ms';
/** Of that, what had come to pass before times were stored by this clock: it began with the wall's of then. */
const FROM_NOTE = 'steady_from_ms';
/** Several daemons measure one setting of the clock to within this; less is none (clock.ts). */
const SAME_MS = 1_000;

/** How far the wall clock of this daemon is from the steady one. */
export class SteadyClock {
  readonly #db: Database.Database;
  readonly #fromMs: number;
  #setMs: number;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#fromMs = Number(readNote(db, FROM_NOTE) ?? 0);
    this.#setMs = this.#noted();
  }

  /** Milliseconds that the wall clock is ahead. */
  aheadMs(): number {
    return this.#setMs - this.#fromMs;
  }

  /** The wall clock was set. @returns by how much in all */
  set(byMs: number): number {
    this.#setMs += byMs;
    return this.#setMs;
  }

  /**
   * Within a transaction: writes down by how much the wall clock has been set in all, unless another daemon has.
   * @returns by how much what is stored by the wall clock is to be moved; 0: it has been
   */
  note(allMs: number): number {
    const noted = this.#noted();
    if (Math.abs(allMs - noted) >= SAME_MS) {
      keepNote(this.#db, SET_NOTE, String(allMs));
      return allMs - noted;
    }
    // So that all daemons mean the same time.
    if (this.#setMs === allMs) this.#setMs = noted;
    return 0;
  }

  #noted(): number {
    return Number(readNote(this.#db, SET_NOTE) ?? 0);
  }
}

/** What the wall clock said, and how far it was ahead of the steady one. */
export interface Moment {
  at: string;
  aheadMs: number;
}

/** Both clocks, as those who read and write have them: in a transaction they stand still. */
export class StorageClocks {
  readonly #wall: () => Date;
  readonly #steady: SteadyClock;
  /** Of the transaction that is under way; of what was kept, when it happened. */
  #writing: Moment | null = null;

  constructor(wall: () => Date, steady: SteadyClock) {
    this.#wall = wall;
    this.#steady = steady;
  }

  read(): Moment {
    // First: a clock that finds that it was set says so before it shows it.
    const at = this.#wall().toISOString();
    return { at, aheadMs: this.#steady.aheadMs() };
  }

  /** Runs a transaction as of a moment. */
  during<T>(moment: Moment, work: () => T): T {
    this.#writing = moment;
    try {
      return work();
    } finally {
      this.#writing = null;
    }
  }

  now(): string {
    return this.#writing?.at ?? this.#wall().toISOString();
  }

  /** A time of the wall clock as the steady one has it. */
  steady(time: string): string {
    return later(time, -this.#aheadMs());
  }

  /** A time of the steady clock as the wall's has it. */
  wall(time: string): string {
    return later(time, this.#aheadMs());
  }

  #aheadMs(): number {
    return this.#writing?.aheadMs ?? this.#steady.aheadMs();
  }
}

function later(time: string, byMs: number): string {
  return byMs === 0 ? time : new Date(Date.parse(time) + byMs).toISOString();
}
