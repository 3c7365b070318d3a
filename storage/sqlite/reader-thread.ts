// The thread of reader.ts: one read-only connection, one statement after the other.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { Answer, Question } from './reader.ts';
import type { Row } from './rows.ts';

const BUSY_WAIT_MS = 5_000;

const port = parentPort;
if (port === null) throw new Error('a thread of the daemon');
const db = new Database(workerData as string, { readonly: true, fileMustExist: true, timeout: BUSY_WAIT_MS });
db.pragma('trusted_schema = OFF');
const statements = new Map<string, Database.Statement<unknown[], Row>>();

function answer({ id, sql, parameters }: Exclude<Question, 'close'>): Answer {
  try {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = db.prepare<unknown[], Row>(sql);
      statements.set(sql, statement);
    }
    const begun = performance.now();
    const rows = statement.all(...(Array.isArray(parameters) ? parameters : [parameters]));
    return { id, rows, ms: performance.now() - begun };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

port.on('message', (question: Question) => {
  if (question !== 'close') return port.postMessage(answer(question));
  db.close();
  port.close();
});
