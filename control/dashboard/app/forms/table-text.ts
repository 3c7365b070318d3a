// A table and the JSON beside it, kept in step: whichever was edited last leads. PURE.
import { readJson, sayFault, writeJson } from './json-text.ts';

export interface TableText<Row> {
  rows: Row[];
  text: string;
  /** Why the rows are not what the text says: it is no JSON, or JSON that the table cannot show. Null: they are in step. */
  problem: { kind: 'json' | 'shape'; message: string } | null;
}

type Read<Row> = (value: unknown) => { ok: true; rows: Row[] } | { ok: false; message: string };

export function ofValue<Row>(value: unknown, read: Read<Row>): TableText<Row> {
  return ofText({ rows: [], text: '', problem: null }, writeJson(value), read);
}

/** The rows were edited: the text follows. */
export function ofRows<Row>(rows: Row[], write: (rows: readonly Row[]) => unknown): TableText<Row> {
  return { rows, text: writeJson(write(rows)), problem: null };
}

/** The text was edited: the rows follow as soon as it can be read, and stay as they were until then. */
export function ofText<Row>(before: TableText<Row>, text: string, read: Read<Row>): TableText<Row> {
  if (text.trim() === '') return { rows: [], text, problem: null };
  const json = readJson(text);
  if (!json.ok) return { rows: before.rows, text, problem: { kind: 'json', message: sayFault(json.fault) } };
  const table = read(json.value);
  if (!table.ok) return { rows: before.rows, text, problem: { kind: 'shape', message: table.message } };
  return { rows: table.rows, text, problem: null };
}
