// Contacts out of a CSV file, line by line: the column of the number, what each line is, and what of it is not
// taken. The library reads CSV; what the cells mean is contact.ts's.
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../errors.ts';
import type { CampaignRecord, ContactRecord } from '../../storage/campaign-records.ts';
import type { Conflict } from '../../storage/store.ts';
import { contactOf, type NotTaken } from './contact.ts';

/** Columns that may hold the number, the first of these that there is. */
const NUMBER_COLUMNS = [
  'to',
  'to_number',
  'number',
  'phone',
  'phone_number',
  'telephone',
  'mobile',
  'e164',
  'tel',
];
const PRIORITY = 'priority';
const TIME_ZONE = 'time_zone';
const CHUNK = 500;
const BETWEEN = 10;
const MOST_LINES_TOLD = 200;
const SHOWN = 5;
const MOST_COLUMNS = 100;
const MOST_LINES = 100_000;

export interface ImportReport {
  lines: number;
  added: number;
  /** Numbers that the file has twice, or the campaign had already. */
  duplicates: number;
  refused: number;
  /** The first of those that were not taken; `line` as the file has them. */
  not_taken: (NotTaken & { line: number })[];
  number_column: string;
  context_columns: string[];
  /** The first contacts as they were read. */
  preview: Pick<ContactRecord, 'to_number' | 'context' | 'priority' | 'time_zones'>[];
}

export interface ImportOptions {
  campaign: Pick<CampaignRecord, 'id' | 'org_id'>;
  /** The column with the number; null: the first that is called as one. */
  numberColumn: string | null;
  country: string | null;
  now: string;
  /** Stores some; null: nothing is stored, the file is only looked at. */
  add: ((contacts: ContactRecord[]) => Promise<{ added: string[] } | Conflict>) | null;
  /** What a refusal of `add` says to whoever asked. */
  refusal(conflict: Conflict, added: number): AppError;
}

/** The columns of a file, by their places. */
interface Columns {
  names: string[];
  number: number;
}

const wrong = (message: string) => new AppError('invalid_request', message);

function columnsOf(header: readonly string[], wanted: string | null): Columns {
  const names = header.map((name) => name.trim());
  if (names.length > MOST_COLUMNS) throw wrong(`The file may have ${MOST_COLUMNS} columns at most.`);
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
  if (twice !== undefined) throw wrong('The first line of the file names a column twice.');
  const lower = names.map((name) => name.toLowerCase().replaceAll(/[\s-]+/g, '_'));
  const number =
    wanted === null
      ? (NUMBER_COLUMNS.map((name) => lower.indexOf(name)).find((at) => at >= 0) ?? -1)
      : names.indexOf(wanted);
  if (number < 0) {
    throw wrong(
      wanted === null
        ? `The first line of the file must name its columns, one of them ${NUMBER_COLUMNS.slice(0, 4).join(', ')}; or say which with number_column.`
        : 'The file has no column of the name that number_column says.',
    );
  }
  return { names, number };
}

/** What stands between the cells, as the first line shows. */
function delimiterOf(begin: string): string {
  const [first = ''] = begin.split(/\r?\n/, 1);
  const count = (mark: string) => first.split(mark).length;
  return [',', ';', '\t'].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/** The records of a file with their lines. @throws AppError invalid_request where it is no CSV */
async function* recordsOf(content: Iterable<Buffer>): AsyncGenerator<{ record: string[]; line: number }> {
  const head: Buffer[] = [];
  for (const chunk of content) {
    head.push(chunk);
    if (chunk.includes(0x0a)) break;
  }
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(Buffer.concat(head).toString('utf8')),
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: 262_144,
  });
  const source = Readable.from(content);
  source.once('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>)
      yield { record, line: info.lines };
  } catch (error) {
    if (error instanceof AppError || !(error instanceof Error) || !('code' in error)) throw error;
    if (!String(error.code).startsWith('CSV_')) throw error;
    throw new AppError('invalid_request', 'The file is no CSV: a quote is open, or a line is too long.', {
      cause: error,
    });
  }
}

/** @throws AppError invalid_request for a file that cannot be read; what `refusal` makes of a refusal */
export async function importContacts(content: Iterable<Buffer>, o: ImportOptions): Promise<ImportReport> {
  let columns: Columns | null = null;
  const seen = new Set<string>();
  const report: ImportReport = {
    lines: 0,
    added: 0,
    duplicates: 0,
    refused: 0,
    not_taken: [],
    number_column: '',
    context_columns: [],
    preview: [],
  };
  const tell = (line: number, why: NotTaken) => {
    if (report.not_taken.length < MOST_LINES_TOLD) report.not_taken.push({ line, ...why });
  };
  let chunk: { contact: ContactRecord; line: number }[] = [];
  const twice = (line: number, where: string) => {
    report.duplicates += 1;
    tell(line, { code: 'duplicate', message: `${where} has this number already` });
  };
  const store = async () => {
    const these = chunk;
    chunk = [];
    if (o.add === null || these.length === 0) {
      report.added += these.length;
      return;
    }
    const stored = await o.add(these.map(({ contact }) => contact));
    if ('conflict' in stored) throw o.refusal(stored, report.added);
    const added = new Set(stored.added);
    report.added += added.size;
    for (const { contact, line } of these) if (!added.has(contact.id)) twice(line, 'the campaign');
  };
  for await (const { record, line } of recordsOf(content)) {
    if (columns === null) {
      columns = columnsOf(record, o.numberColumn);
      report.number_column = columns.names[columns.number] ?? '';
      report.context_columns = contextColumns(columns).map(({ name }) => name);
      continue;
    }
    report.lines += 1;
    if (report.lines > MOST_LINES) throw wrong(`The file may have ${MOST_LINES} lines at most.`);
    // What a number says of itself takes a while to work out: calls come in between.
    if (report.lines % BETWEEN === 0) await setImmediate();
    const contact = contactOf(givenOf(record, columns), { ...o, id: uuidv7() });
    if ('code' in contact) {
      report.refused += 1;
      tell(line, contact);
    } else if (seen.has(contact.to_number)) twice(line, 'the file');
    else {
      seen.add(contact.to_number);
      const { to_number, context, priority, time_zones } = contact;
      if (report.preview.length < SHOWN) report.preview.push({ to_number, context, priority, time_zones });
      chunk.push({ contact, line });
      if (chunk.length === CHUNK) await store();
    }
  }
  if (columns === null) throw wrong('The file is empty: its first line must name its columns.');
  await store();
  return report;
}

function contextColumns({ names, number }: Columns): { name: string; at: number }[] {
  return names.flatMap((name, at) =>
    at === number || name === '' || [PRIORITY, TIME_ZONE].includes(name.toLowerCase()) ? [] : [{ name, at }],
  );
}

function givenOf(record: readonly string[], columns: Columns) {
  const cell = (name: string) => record[columns.names.findIndex((one) => one.toLowerCase() === name)];
  const context = Object.fromEntries(
    contextColumns(columns).flatMap(({ name, at }) => {
      const value = record[at]?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
  return {
    to: record[columns.number] ?? '',
    context,
    priority: cell(PRIORITY)?.trim(),
    time_zone: cell(TIME_ZONE),
  };
}
