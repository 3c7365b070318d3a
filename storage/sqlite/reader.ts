// A connection that only reads, in a thread of its own beside the writer's: what may be long in reading (lists, searches,
// sums) keeps nothing else waiting. In write-ahead mode neither waits for the other, and a read sees every commit before it.
import { Worker } from 'node:worker_threads';
import type { Row, Value } from './rows.ts';

/** Values of a statement's ? in their order, or of its @names. */
export type Parameters = readonly Value[] | Readonly<Record<string, Value>>;

export interface Reader {
  /** @throws Error of SQLite; Error when the reader is closed, or its thread died under the question */
  read(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Answers what is asked already, then ends. Safe to call twice. */
  close(): Promise<void>;
}

export type Question = { id: number; sql: string; parameters: Parameters } | 'close';
export type Answer = { id: number; rows: Row[]; ms: number } | { id: number; error: string };

interface Waiting {
  sql: string;
  resolve(rows: Row[]): void;
  reject(error: Error): void;
}

/**
 * Its thread starts with the first question, and starts anew should it die.
 * @param onRead told each statement and the milliseconds it took in SQLite
 */
export function openReader(path: string, onRead?: (sql: string, ms: number) => void): Reader {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let ended: Promise<void> = Promise.resolve();
  let closed = false;
  let last = 0;

  function take(id: number): Waiting | undefined {
    const one = waiting.get(id);
    waiting.delete(id);
    // An idle reader keeps no process alive.
    if (waiting.size === 0 && !closed) worker?.unref();
    return one;
  }

  function start(): Worker {
    const started = new Worker(new URL('./reader-thread.ts', import.meta.url), {
      name: 'storage-reader',
      workerData: path,
      env: {},
      execArgv: [],
      // It writes nothing; joined to it, this process's own output would no longer block.
      stdout: true,
      stderr: true,
    });
    let fault = new Error('the reader of the database ended');
    ended = new Promise((resolve) => {
      started.once('exit', () => {
        if (worker === started) worker = null;
        for (const id of [...waiting.keys()]) take(id)?.reject(fault);
        resolve();
      });
    });
    started.on('error', (error) => {
      fault = error instanceof Error ? error : new Error(String(error));
    });
    started.on('message', (answer: Answer) => {
      const one = take(answer.id);
      if (one === undefined) return;
      if ('error' in answer) return one.reject(new Error(answer.error));
      onRead?.(one.sql, answer.ms);
      one.resolve(answer.rows);
    });
    return started;
  }

  return {
    read(sql, parameters) {
      if (closed) return Promise.reject(new Error('The database connection is not open'));
      return new Promise((resolve, reject) => {
        worker ??= start();
        worker.ref();
        last++;
        waiting.set(last, { sql, resolve, reject });
        worker.postMessage({ id: last, sql, parameters } satisfies Question);
      });
    },
    async close() {
      if (!closed) {
        closed = true;
        worker?.ref();
        worker?.postMessage('close' satisfies Question);
      }
      await ended;
    },
  };
}
