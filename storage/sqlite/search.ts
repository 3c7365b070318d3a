// A search among calls: numbers, agents' names and spoken words, each by an index that gives its hits newest first, so that
// no more are read than the page takes. Newest is by the order in which calls were made.
import type { CallFilters, Page } from '../store.ts';
import type { Connection } from './connection.ts';
import { CALLS, type Row, type Value } from './rows.ts';
import { fact } from './search-index.ts';

/** Fewer digits are in nearly every number. */
const MIN_DIGITS = 3;
/** Hits that are read at once when the ones before did not fill the page. */
const MOST_HITS = 2_000;
/** Calls are made in the order of their times, but for a clock that was set back meanwhile. */
const CLOCK_SET_BACK_MS = 24 * 3_600_000;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, (sign) => `\\${sign}`);

/** Words as the index takes them apart: letters and digits, without accents or case. */
const wordsOf = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];

/** All the words, the last one also as the beginning of one; null where there is no word. Nothing of it is FTS5's syntax. */
export function wordsQuery(text: string): string | null {
  const words = text.match(/[\p{L}\p{N}]+/gu);
  return words === null ? null : `${words.map((word) => `"${word}"`).join(' ')} *`;
}

/** Numbers that hold all of these, wherever: whether they hold them in a row is looked up in what is found. */
function numberQuery(digits: string): string {
  const parts = Array.from({ length: digits.length - 2 }, (_none, at) => `"n${digits.slice(at, at + 3)}"`);
  return parts.join(' AND ');
}

interface Asked {
  text: string;
  digits: string | null;
  agents: ReadonlySet<string>;
}

/** Those that what is found must satisfy besides, and their parameters. */
function conditionsOf(
  orgId: string,
  filters: CallFilters,
): { sql: string; parameters: Record<string, Value> } {
  const asked: [sql: string, name: string, value: string | undefined][] = [
    ['calls.status = @status', 'status', filters.status],
    ['calls.direction = @direction', 'direction', filters.direction],
    ['calls.agent_id = @agent', 'agent', filters.agentId],
    ['calls.to_number = @to', 'to', filters.toNumber],
    ['calls.from_number = @from', 'from', filters.fromNumber],
    ['calls.created_at > @after', 'after', filters.createdAfter],
    ['calls.created_at < @before', 'before', filters.createdBefore],
  ];
  const parameters: Record<string, Value> = { org: orgId };
  const conditions = ['calls.org_id = @org'];
  for (const [sql, name, value] of asked) {
    if (value === undefined) continue;
    conditions.push(sql);
    parameters[name] = value;
  }
  return { sql: conditions.join(' AND '), parameters };
}

/**
 * One page of the calls found, newest first.
 * @param filters times in their stored form
 */
export async function searchCalls(
  connection: Connection,
  orgId: string,
  filters: CallFilters & { search: string },
  page: Page,
): Promise<Row[]> {
  const bounds = await boundsOf(connection, orgId, filters, page);
  if (bounds === null) return [];
  const text = filters.search;
  const digits = /^[\d\s()+./-]+$/.test(text) ? text.replace(/\D/g, '') : '';
  const agents = await connection.read(
    `SELECT id FROM agents INDEXED BY agents_by_org WHERE org_id = ? AND name LIKE ? ESCAPE '\\'`,
    [orgId, `%${escapeLike(text)}%`],
  );
  const asked: Asked = {
    text,
    digits: digits.length >= MIN_DIGITS ? digits : null,
    agents: new Set(agents.map(({ id }) => String(id))),
  };
  const conditions = conditionsOf(orgId, filters);
  const narrowed = [fact.organization(bounds.organization)];
  if (filters.status !== undefined) narrowed.push(fact.status(filters.status));
  if (filters.direction !== undefined) narrowed.push(fact.direction(filters.direction));
  if (filters.agentId !== undefined) narrowed.push(fact.agent(filters.agentId));
  const facts = `facts : (${narrowed.map((one) => `"${one}"`).join(' AND ')})`;

  const words = wordsQuery(text);
  const ways: { match: string; check?: string }[] = [];
  if (words !== null) ways.push({ match: `${facts} AND words : (${words})` });
  if (asked.digits !== null) {
    ways.push({
      match: `${facts} AND numbers : (${numberQuery(asked.digits)})`,
      check: '(calls.to_number LIKE @digits OR calls.from_number LIKE @digits)',
    });
  }
  if (asked.agents.size > 0) {
    const any = [...asked.agents].map((id) => `"${fact.agent(id)}"`).join(' OR ');
    ways.push({ match: `${facts} AND facts : (${any})` });
  }
  const found = [live(connection, asked, conditions, bounds)];
  for (const { match, check } of ways) {
    const parameters = {
      ...conditions.parameters,
      ...(check === undefined ? {} : { digits: `%${asked.digits}%` }),
    };
    const sql = check === undefined ? conditions.sql : `${conditions.sql} AND ${check}`;
    found.push(ended(connection, match, { sql, parameters }, bounds, page.limit));
  }
  const bySeq = new Map((await Promise.all(found)).flat().map((row) => [Number(row.seq), row]));
  return [...bySeq.values()].sort((a, b) => Number(b.seq) - Number(a.seq)).slice(0, page.limit);
}

interface Bounds {
  /** The organization's own seq, by which the index knows it. */
  organization: number;
  /** Calls between these, neither included. */
  above: number;
  below: number;
}

/** Where the calls asked for lie; null where there can be none. */
async function boundsOf(
  connection: Connection,
  orgId: string,
  { createdAfter, createdBefore }: CallFilters,
  page: Page,
): Promise<Bounds | null> {
  const organization = connection.statement('SELECT seq FROM organizations WHERE id = ?').get(orgId);
  if (organization === undefined) return null;
  const bounds: Bounds = { organization: Number(organization.seq), above: 0, below: Number.MAX_SAFE_INTEGER };
  if (page.startingAfter !== undefined) {
    const last = connection
      .statement('SELECT seq FROM calls WHERE id = ? AND org_id = ?')
      .get(page.startingAfter, orgId);
    if (last === undefined) return null;
    bounds.below = Number(last.seq);
  }
  const off = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();
  if (createdBefore !== undefined) {
    const last = await outermost(
      connection,
      'max',
      orgId,
      off(createdBefore, -CLOCK_SET_BACK_MS),
      createdBefore,
    );
    if (last === null) return null;
    bounds.below = Math.min(bounds.below, last + 1);
  }
  if (createdAfter !== undefined) {
    const first = await outermost(
      connection,
      'min',
      orgId,
      createdAfter,
      off(createdAfter, CLOCK_SET_BACK_MS),
    );
    if (first === null) return null;
    bounds.above = first - 1;
  }
  return bounds;
}

/**
 * The last (or first) seq of the calls before (or after) a time: of the day next to it, within which the clock may have been
 * set, else of the nearest one. Null where there is none.
 */
async function outermost(
  connection: Connection,
  which: 'min' | 'max',
  orgId: string,
  after: string,
  before: string,
): Promise<number | null> {
  const [day] = await connection.read(
    `SELECT ${which}(seq) AS seq FROM calls INDEXED BY calls_by_org
     WHERE org_id = ? AND created_at > ? AND created_at < ?`,
    [orgId, after, before],
  );
  if (day?.seq != null) return Number(day.seq);
  const [nearest] = await connection.read(
    which === 'max'
      ? `SELECT seq FROM calls INDEXED BY calls_by_org WHERE org_id = ? AND created_at < ?
         ORDER BY created_at DESC, seq DESC LIMIT 1`
      : `SELECT seq FROM calls INDEXED BY calls_by_org WHERE org_id = ? AND created_at > ?
         ORDER BY created_at, seq LIMIT 1`,
    [orgId, which === 'max' ? before : after],
  );
  return nearest === undefined ? null : Number(nearest.seq);
}

/** Ended calls that match, as many as the page takes. */
async function ended(
  connection: Connection,
  match: string,
  { sql, parameters }: { sql: string; parameters: Record<string, Value> },
  { above, below }: Bounds,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let [from, many] = [below, limit]; ; many = Math.min(MOST_HITS, many * 4)) {
    const hits = await connection.read(
      `SELECT rowid AS seq FROM call_words
       WHERE call_words MATCH ? AND rowid < ? AND rowid > ? ORDER BY rowid DESC LIMIT ?`,
      [match, from, above, many],
    );
    const seqs = hits.map(({ seq }) => Number(seq));
    if (seqs.length > 0) {
      const found = await connection.read(
        `/* sorts: a page of hits */ SELECT ${CALLS.selected}, calls.seq FROM json_each(@seqs) AS hit
         CROSS JOIN calls ON calls.seq = hit.value WHERE ${sql} ORDER BY calls.seq DESC LIMIT @limit`,
        { ...parameters, seqs: JSON.stringify(seqs), limit: limit - rows.length },
      );
      rows.push(...found);
    }
    if (rows.length >= limit || seqs.length < many) return rows;
    from = seqs.at(-1) ?? 0;
  }
}

/** Live calls that match: as many as there are lines. */
async function live(
  connection: Connection,
  { text, digits, agents }: Asked,
  { sql, parameters }: { sql: string; parameters: Record<string, Value> },
  { above, below }: Bounds,
): Promise<Row[]> {
  const rows = await connection.read(
    `SELECT ${CALLS.selected}, calls.seq, (SELECT words FROM call_documents WHERE call_documents.id = calls.id) AS said
     FROM calls INDEXED BY calls_unfinished WHERE status IN ('queued', 'initiated', 'ringing', 'in_progress') AND ${sql}`,
    parameters,
  );
  const wanted = wordsOf(text);
  const start = wanted.pop();
  return rows.filter((row) => {
    if (Number(row.seq) >= below || Number(row.seq) <= above) return false;
    if (agents.has(String(row.agent_id))) return true;
    if (digits !== null && `${row.to_number} ${row.from_number}`.includes(digits)) return true;
    if (start === undefined) return false;
    const said = new Set(wordsOf(String(row.said ?? '')));
    return wanted.every((word) => said.has(word)) && [...said].some((word) => word.startsWith(start));
  });
}
