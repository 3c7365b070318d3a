// Calls as a table: which columns there are and what of a call stands in each. The lines are csv.ts's.
import { AppError } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { CallFilters, Store } from '../../storage/store.ts';
import type { CsvValue } from './csv.ts';

type Column = (call: CallRecord, agentName: string | null) => unknown;

const COLUMNS = {
  id: (call) => call.id,
  created_at: (call) => call.created_at,
  direction: (call) => call.direction,
  from_number: (call) => call.from_number,
  to_number: (call) => call.to_number,
  agent_id: (call) => call.agent_id,
  agent_name: (_call, agentName) => agentName,
  status: (call) => call.status,
  hangup_cause: (call) => call.hangup_cause,
  answered_at: (call) => call.answered_at,
  ended_at: (call) => call.ended_at,
  duration_seconds: (call) => call.duration_seconds,
  billed_duration_seconds: (call) => call.billed_duration_seconds,
  billing_amount_milli_cents: (call) => call.billing_amount_milli_cents,
  cost_milli_cents: (call) => call.cost?.total_milli_cents,
  language: (call) => call.language,
  result_status: (call) => call.result_status,
  result: (call) => call.result,
  summary: (call) => call.summary,
  sentiment: (call) => call.sentiment,
  error_code: (call) => call.error_code,
  error_message: (call) => call.error_message,
  webhook_status: (call) => call.webhook_status,
  metadata: (call) => call.metadata,
} as const satisfies Record<string, Column>;

/** The columns by their names, as they stand when none is asked for. */
const CALL_COLUMNS = Object.keys(COLUMNS) as readonly (keyof typeof COLUMNS)[];

/** Calls that are read at once: as many as a page of the list may have. */
const PAGE = 100;
const PART = /^(result|metadata)\.(.{1,100})$/s;

const inCell = (value: unknown): CsvValue => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
};

/** One field of what a call has by names of others' choice. */
const partOf = (of: Readonly<Record<string, unknown>> | null, name: string): unknown =>
  of !== null && Object.hasOwn(of, name) ? of[name] : null;

/**
 * What is to stand in the table: the columns asked for, else all; with the fields of one agent's result in the place of `result`.
 * @throws AppError invalid_request for a column that there is not
 */
export function callColumns(asked: string | undefined, returns: Record<string, unknown> | null) {
  const names =
    asked === undefined
      ? CALL_COLUMNS.flatMap((name): string[] =>
          name === 'result' && returns !== null
            ? Object.keys(returns).map((field) => `result.${field}`)
            : [name],
        )
      : asked.split(',').map((name) => name.trim());
  return names.map((name) => {
    if (Object.hasOwn(COLUMNS, name)) {
      const column: Column = COLUMNS[name as keyof typeof COLUMNS];
      return { name, of: (...given: Parameters<Column>) => inCell(column(...given)) };
    }
    const [, source, field = ''] = PART.exec(name) ?? [];
    if (source === undefined) {
      throw new AppError(
        'invalid_request',
        `columns takes ${CALL_COLUMNS.join(', ')}, result.<field> and metadata.<field>, with commas between.`,
        { param: 'columns' },
      );
    }
    const key = source as 'result' | 'metadata';
    return { name, of: (call: CallRecord) => inCell(partOf(call[key], field)) };
  });
}

/** The rows, newest first, a page at a time. */
export async function* callRows(
  store: Pick<Store, 'listCalls' | 'getAgent'>,
  o: { orgId: string; filters: CallFilters; columns: ReturnType<typeof callColumns> },
): AsyncGenerator<CsvValue[][]> {
  const names = new Map<string, string | null>();
  const nameOf = async (id: string | null) => {
    if (id === null) return null;
    if (!names.has(id)) names.set(id, (await store.getAgent(o.orgId, id))?.name ?? null);
    return names.get(id) ?? null;
  };
  for (let startingAfter: string | undefined; ; ) {
    const calls = await store.listCalls(o.orgId, o.filters, { limit: PAGE, startingAfter });
    const rows: CsvValue[][] = [];
    for (const call of calls) {
      const agentName = await nameOf(call.agent_id);
      rows.push(o.columns.map((column) => column.of(call, agentName)));
    }
    yield rows;
    if (calls.length < PAGE) return;
    startingAfter = calls.at(-1)?.id;
  }
}
