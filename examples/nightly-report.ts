// Writes the calls of the last day as CSV, with what each cost: node examples/nightly-report.ts > calls.csv
// OFFHOOK_URL and OFFHOOK_API_KEY say which daemon, and as whom.
import { Offhook } from 'offhook';

const offhook = new Offhook({ baseUrl: process.env.OFFHOOK_URL, apiKey: process.env.OFFHOOK_API_KEY });
const since = new Date(Date.now() - 24 * 3_600_000).toISOString();
const cell = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`;
const line = (cells: unknown[]) => console.log(cells.map(cell).join(','));

line(['created', 'direction', 'from', 'to', 'status', 'seconds', 'cost in dollars', 'result']);
// Pages are fetched as they are wanted.
for await (const call of offhook.calls.list({ created_after: since, limit: 100 })) {
  const dollars = call.cost?.total_milli_cents == null ? null : call.cost.total_milli_cents / 100_000;
  line([
    call.created_at,
    call.direction,
    call.from_number,
    call.to_number,
    call.status,
    call.duration_seconds,
    dollars,
    call.result === null ? null : JSON.stringify(call.result),
  ]);
}
