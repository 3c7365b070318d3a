// Rows as CSV (RFC 4180) for people's spreadsheets and for programs: a page at a time, only as fast as it is read, and no cell
// that a spreadsheet would run as a formula.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import type { Response } from 'express';
import { AppError } from '../../errors.ts';
import { concurrencyQueue } from '../http/concurrency-queue.ts';

export type CsvValue = string | number | boolean | null;

/** Exports at once: each reads page after page, beside everything else that reads. */
const underWay = concurrencyQueue({ atOnce: 4, ofOne: 2, waiting: 16, waitMs: 10_000 });
const TRY_AGAIN_SECONDS = 10;

/** What a spreadsheet takes for the beginning of a formula, also in its wide forms. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** A telephone number, which as a formula is itself. */
const NUMBER = /^\+\d{1,15}$/;
/** Without it spreadsheets read UTF-8 as something else. */
const BYTE_ORDER_MARK = '\uFEFF';

/** A text as a cell: with an apostrophe before what would be a formula. Telephone numbers stay as they are. PURE. */
export const safeCell = (text: string): string =>
  FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;

/** Lines of CSV, each with its end. PURE. */
export function csvLines(rows: readonly (readonly CsvValue[])[]): string {
  return stringify(
    rows.map((row) => row.map((value) => (typeof value === 'string' ? safeCell(value) : value))),
    { record_delimiter: 'windows', cast: { boolean: (value) => String(value) } },
  );
}

/**
 * Answers with a file of CSV. The first page is read before anything is sent, so that what cannot be read is refused.
 * @param o.of whose it is, for so many at once
 * @param o.forSpreadsheet begins with a byte order mark
 * @throws AppError at_capacity; whatever the first page throws
 */
export async function sendCsv(
  res: Response,
  o: {
    of: string;
    name: string;
    header: readonly string[];
    pages: AsyncGenerator<(readonly CsvValue[])[]>;
    forSpreadsheet: boolean;
  },
): Promise<void> {
  if (res.destroyed) return;
  const gone = new AbortController();
  const leaving = () => gone.abort();
  res.once('close', leaving);
  const leave = await underWay.enter(o.of, gone.signal);
  res.off('close', leaving);
  if (gone.signal.aborted) return leave?.();
  if (leave === null) {
    throw new AppError(
      'at_capacity',
      'As many exports are being made as may be at once; wait as long as Retry-After says.',
      { retryAfterSeconds: TRY_AGAIN_SECONDS, retryable: true },
    );
  }
  try {
    const first = await o.pages.next();
    res.set('Content-Type', 'text/csv; charset=utf-8; header=present');
    res.set('Content-Disposition', `attachment; filename="${o.name}"`);
    if (res.req.method === 'HEAD') {
      res.end();
      return;
    }
    // One who goes away ends the reading; where that fails, the file is broken off, so that nobody takes it for whole.
    await pipeline(Readable.from(textOf(o, first)), res).catch(() => {});
  } finally {
    await o.pages.return(undefined);
    leave();
  }
}

async function* textOf(
  o: Parameters<typeof sendCsv>[1],
  first: IteratorResult<(readonly CsvValue[])[]>,
): AsyncGenerator<string> {
  yield `${o.forSpreadsheet ? BYTE_ORDER_MARK : ''}${csvLines([o.header])}`;
  for (let next = first; !next.done; next = await o.pages.next()) {
    if (next.value.length > 0) yield csvLines(next.value);
  }
}
