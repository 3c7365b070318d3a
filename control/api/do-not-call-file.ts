// Numbers out of a CSV file for the do-not-call list, line by line. PURE.
import { parse } from 'csv-parse/sync';

const NUMBER_COLUMN = /^(to|to_number|number|phone|phone_?number|telephone|mobile|e164|tel)$/i;
const MOST_TOLD = 200;

export interface DoNotCallFile {
  lines: number;
  numbers: string[];
  refused: { line: number; text: string }[];
}

/** A number as people write it, `+1 (415) 555-0123`; null for what has no country code, or is none. */
function numberOf(text: string): string | null {
  const digits = text.replace(/[\s().\-/]/g, '').replace(/^00(?=[1-9])/, '+');
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : null;
}

/**
 * The column that is called as one of numbers is, else the first; names of columns may be missing.
 * @throws Error for what is no CSV
 */
export function readDoNotCallFile(text: string): DoNotCallFile {
  const rows = parse(text, {
    bom: true,
    delimiter: [',', ';', '\t'],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  }) as unknown as { record: string[]; info: { lines: number } }[];
  const names = rows[0]?.record ?? [];
  const column = names.findIndex((name) => NUMBER_COLUMN.test(name));
  const read: DoNotCallFile = { lines: 0, numbers: [], refused: [] };
  const numbers = new Set<string>();
  for (const { record, info } of column === -1 ? rows : rows.slice(1)) {
    const text = record[Math.max(0, column)] ?? '';
    const number = numberOf(text);
    read.lines += 1;
    if (number !== null) numbers.add(number);
    else if (read.refused.length < MOST_TOLD)
      read.refused.push({ line: info.lines, text: text.slice(0, 40) });
  }
  read.numbers = [...numbers];
  return read;
}
