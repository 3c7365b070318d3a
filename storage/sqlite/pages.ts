// Pages of a table, newest first, each read by an index in the order it is shown: which index is said here and not left to
// the planner, whose choice depends on statistics. A list by several conditions is put together from arms: one a
// combination of the values that the index has before the time, each a seek and a page at most.
import type { Page } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Parameters } from './reader.ts';
import type { Row, Table, Value } from './rows.ts';

/** A condition with ?, and their values; left out where `value` is undefined. */
export interface Where {
  sql: string;
  value: Value | readonly Value[] | undefined;
}

export interface PageOptions {
  /** The column of time; null: the order of insertion alone. */
  time: string | null;
  orgId: string;
  where: readonly Where[];
  page: Page;
  index: string;
  /** Columns that the index has before the time: the value asked for, or all that there can be. */
  arms?: readonly { column: string; values: readonly string[] }[];
  /** What to select in place of the table's columns. */
  selected?: string;
  /** Where the index has another order: why there is little to sort. */
  sorts?: string;
}

/** Every combination of a value of each. */
function combinations(arms: NonNullable<PageOptions['arms']>): string[][] {
  return arms.reduce<string[][]>(
    (all, { values }) => all.flatMap((left) => values.map((value) => [...left, value])),
    [[]],
  );
}

/** The statement of a page and its parameters; null where nothing can follow `startingAfter`. */
function pageQuery<R>(
  connection: Connection,
  table: Pick<Table<R>, 'name' | 'selected'>,
  o: PageOptions,
): { sql: string; parameters: Parameters } | null {
  const { name } = table;
  const { time, arms = [] } = o;
  const parameters: Record<string, Value> = { org: o.orgId, limit: o.page.limit };
  let count = 0;
  const named = (value: Value) => {
    count++;
    parameters[`p${count}`] = value;
    return `@p${count}`;
  };
  const conditions = [`${name}.org_id = @org`];
  for (const { sql, value } of o.where) {
    if (value === undefined) continue;
    const values = [...(Array.isArray(value) ? value : [value as Value])];
    conditions.push(sql.replaceAll('?', () => named(values.shift() ?? null)));
  }
  if (o.page.startingAfter !== undefined) {
    const last = connection
      .statement(`SELECT ${time ?? 'seq'} AS time, seq FROM ${name} WHERE id = ? AND org_id = ?`)
      .get(o.page.startingAfter, o.orgId);
    if (last === undefined) return null;
    const seq = named(Number(last.seq));
    conditions.push(
      time === null
        ? `${name}.seq < ${seq}`
        : `(${name}.${time}, ${name}.seq) < (${named(last.time ?? null)}, ${seq})`,
    );
  }
  const order = `ORDER BY ${time === null ? '' : `${name}.${time} DESC, `}${name}.seq DESC LIMIT @limit`;
  const selected = o.selected ?? table.selected;
  const from = `FROM ${name} INDEXED BY ${o.index} WHERE ${conditions.join(' AND ')}`;
  const each = combinations(arms);
  if (each.length === 1) {
    const fixed = arms.map(({ column }, at) => ` AND ${name}.${column} = ${named(each[0]?.[at] ?? null)}`);
    const sorts = o.sorts === undefined ? '' : `/* sorts: ${o.sorts} */ `;
    return { sql: `${sorts}SELECT ${selected} ${from}${fixed.join('')} ${order}`, parameters };
  }
  const names = new Map(arms.flatMap(({ values }) => values).map((value) => [value, named(value)]));
  const parts = each.map((values) => {
    const fixed = arms.map(({ column }, at) => ` AND ${name}.${column} = ${names.get(values[at] ?? '')}`);
    return `SELECT * FROM (SELECT ${name}.seq, ${name}.${time} AS at ${from}${fixed.join('')} ${order})`;
  });
  const sql = `/* sorts: a page of each arm */ SELECT ${selected} FROM (
    SELECT seq AS found FROM (${parts.join('\n    UNION ALL ')}) ORDER BY at DESC, seq DESC LIMIT @limit
  ) CROSS JOIN ${name} ON ${name}.seq = found ORDER BY ${name}.${time} DESC, ${name}.seq DESC`;
  return { sql, parameters };
}

/** One page, read beside the writer. An unknown `startingAfter` is followed by nothing. */
export async function readPage<R>(connection: Connection, table: Table<R>, o: PageOptions): Promise<Row[]> {
  const query = pageQuery(connection, table, o);
  return query === null ? [] : connection.read(query.sql, query.parameters);
}
