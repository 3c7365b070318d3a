// Every table and every column of text is named in the plan of erasures: whoever adds one says what is to become of it.
import Database from 'better-sqlite3';
import t from 'tap';
import { ERASURE_PLAN, INDEX_TABLES } from '../../../storage/erasure-plan.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';

const db = new Database(':memory:');
for (const { sql } of MIGRATIONS) db.exec(sql);
const tables = db
  .prepare<[], string>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
  .pluck()
  .all()
  .filter((name) => !INDEX_TABLES.has(name));

interface Column {
  name: string;
  type: string;
  notnull: number;
}
const columnsOf = (table: string) => db.pragma(`table_info(${table})`) as Column[];
const rowsOf = (table: string) => {
  const { call, number, organization } = ERASURE_PLAN[table] ?? {};
  return [call, number, organization].flatMap((rows) => (rows === undefined ? [] : [rows]));
};

t.test('every table is in the plan of erasures, and none that is not there', (t) => {
  t.strictSame(
    Object.keys(ERASURE_PLAN).sort(),
    tables,
    'storage/erasure-plan.ts says what becomes of each table',
  );
  t.end();
});

for (const table of tables) {
  t.test(`${table}: every column of text is erased, or kept for a reason`, (t) => {
    const columns = columnsOf(table);
    const texts = columns.filter(({ type }) => type !== 'INTEGER' && type !== 'REAL').map(({ name }) => name);
    const rows = rowsOf(table);
    const kept = Object.keys(ERASURE_PLAN[table]?.kept ?? {}).flatMap((names) => names.split(' '));
    const isDeleted = rows.some(({ to }) => to === 'deleted');
    const overwritten = rows.flatMap(({ to }) => (to === 'deleted' ? [] : Object.keys(to)));
    const missing = texts.filter((name) => !isDeleted && !overwritten.includes(name) && !kept.includes(name));
    t.strictSame(missing, [], `storage/erasure-plan.ts says what becomes of each column of ${table}`);
    t.strictSame(
      [...overwritten, ...kept].filter((name) => !columns.some((column) => column.name === name)),
      [],
      'no column that is not there',
    );
    t.strictSame(
      overwritten.filter((name) => kept.includes(name)),
      [],
      'none is both',
    );
    for (const { by, through, to } of rows) {
      t.ok(
        columns.some(({ name }) => name === by),
        `${table}.${by} is there`,
      );
      if (through !== undefined)
        t.ok(
          columnsOf(through.table).some(({ name }) => name === through.by),
          `${through.table}.${through.by} is there`,
        );
      if (to === 'deleted') continue;
      for (const { name, notnull } of columns) {
        if (notnull === 1) t.not(to[name], null, `${table}.${name} may not be null`);
      }
    }
    t.end();
  });
}

t.test('who refers to rows that are deleted comes before them', (t) => {
  const order = Object.keys(ERASURE_PLAN);
  for (const [table, plan] of Object.entries(ERASURE_PLAN)) {
    for (const whose of ['call', 'number', 'organization'] as const) {
      if (plan[whose]?.to !== 'deleted') continue;
      for (const child of tables) {
        const keys = db.pragma(`foreign_key_list(${child})`) as { table: string; from: string }[];
        for (const { from } of keys.filter((key) => key.table === table && child !== table)) {
          const rows = ERASURE_PLAN[child]?.[whose];
          const frees = rows !== undefined && (rows.to === 'deleted' || rows.to[from] === null);
          t.ok(
            frees && order.indexOf(child) < order.indexOf(table),
            `${child}.${from} refers to ${table}, whose rows go with a ${whose}`,
          );
        }
      }
    }
  }
  t.end();
});
