// Idempotency keys, a row per key; who may run a request, and what a repeat is answered, is ../idempotent-request.ts's.
import {
  begun,
  finished,
  forgottenUpTo,
  intended,
  type KeptRequest,
  left,
  mayDrop,
  type Progress,
} from '../idempotent-request.ts';
import type { Store } from '../store.ts';
import { accepted, type Connection } from './connection.ts';
import type { Row } from './rows.ts';

type Verbs = 'beginIdempotent' | 'intendIdempotent' | 'finishIdempotent' | 'dropIdempotent';

/** More than a request adds, so that old keys become fewer. */
const FORGOTTEN_AT_ONCE = 20;
/** In the place of an answer's status: an intent. */
const INTENT = 102;

const COLUMNS = 'request_hash, created_at, begun_at, owner, state, status, body';

function progressOf({ state, status, body }: Row): Progress {
  if (state === 'in_progress') return { state };
  if (status === INTENT) return { state: 'intended', body: String(body) };
  return { state: 'done', status: Number(status), body: String(body) };
}

/** When it was made and begun is stored by the steady clock. */
function requestOf({ wall }: Connection, row: Row): KeptRequest {
  return {
    requestHash: String(row.request_hash),
    createdAt: wall(String(row.created_at)),
    begunAt: wall(String(row.begun_at)),
    owner: row.owner === null ? null : Number(row.owner),
    progress: progressOf(row),
  };
}

function rowOf(
  { steady }: Connection,
  { requestHash, createdAt, begunAt, owner, progress }: KeptRequest,
): Row {
  const status = { in_progress: null, intended: INTENT, done: 'status' in progress ? progress.status : null };
  return {
    request_hash: requestHash,
    created_at: steady(createdAt),
    begun_at: steady(begunAt),
    owner,
    state: progress.state === 'in_progress' ? 'in_progress' : 'done',
    status: status[progress.state],
    body: 'body' in progress ? progress.body : null,
  };
}

function read(connection: Connection, orgId: string, key: string): KeptRequest | null {
  const row = connection
    .statement(`SELECT ${COLUMNS} FROM idempotency_keys WHERE org_id = ? AND key = ?`)
    .get(orgId, key);
  return row === undefined ? null : requestOf(connection, row);
}

function write(connection: Connection, orgId: string, key: string, request: KeptRequest): void {
  connection
    .statement(
      `INSERT INTO idempotency_keys (org_id, key, ${COLUMNS})
     VALUES (@org_id, @key, @request_hash, @created_at, @begun_at, @owner, @state, @status, @body)
     ON CONFLICT (org_id, key) DO UPDATE SET request_hash = excluded.request_hash, created_at = excluded.created_at,
       begun_at = excluded.begun_at, owner = excluded.owner, state = excluded.state, status = excluded.status,
       body = excluded.body`,
    )
    .run({ org_id: orgId, key, ...rowOf(connection, request) });
}

function drop({ statement }: Connection, orgId: string, key: string): void {
  statement('DELETE FROM idempotency_keys WHERE org_id = ? AND key = ?').run(orgId, key);
}

/** Within the transaction in which a daemon's heir takes over: what it was running. */
export function inheritRequests(connection: Connection, from: number): void {
  const rows = connection
    .statement(
      `SELECT org_id, key, ${COLUMNS} FROM idempotency_keys INDEXED BY idempotency_keys_owned WHERE owner = ?`,
    )
    .all(from);
  for (const row of rows) {
    const [orgId, key] = [String(row.org_id), String(row.key)];
    const request = left(requestOf(connection, row));
    if (request === null) drop(connection, orgId, key);
    else write(connection, orgId, key, request);
  }
}

export function idempotency(connection: Connection): Pick<Store, Verbs> {
  const { statement, tryWrite, writeFact, owner } = connection;

  /** Of all keys that are old a few at a time, so that a day's keys do not hold up one request. */
  function forget(now: string): void {
    statement(
      `DELETE FROM idempotency_keys INDEXED BY idempotency_keys_by_age
       WHERE created_at <= ? ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE}`,
    ).run(connection.steady(forgottenUpTo(now)));
  }

  return {
    async beginIdempotent(orgId, key, requestHash, now) {
      return connection.write(() => {
        forget(now);
        const { answer, request } = begun(read(connection, orgId, key), { requestHash, owner, now });
        if (request !== null) write(connection, orgId, key, request);
        return answer;
      });
    },

    async intendIdempotent(orgId, key, body) {
      return tryWrite(() => {
        write(connection, orgId, key, accepted(intended(read(connection, orgId, key), owner, body)));
        return null;
      });
    },

    async finishIdempotent(orgId, key, status, body) {
      await writeFact({
        callId: null,
        length: body.length,
        work() {
          const request = finished(read(connection, orgId, key), owner, { status, body });
          if (request !== null) write(connection, orgId, key, request);
        },
        meanwhile: () => {},
      });
    },

    async dropIdempotent(orgId, key) {
      await writeFact({
        callId: null,
        length: 0,
        work() {
          if (mayDrop(read(connection, orgId, key), owner)) drop(connection, orgId, key);
        },
        meanwhile: () => {},
      });
    },
  };
}
