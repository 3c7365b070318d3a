// `offhook calls list`, `offhook calls export`: calls by filters, to be looked at or kept as CSV.
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Call } from '../../sdk/index.ts';
import type { Run } from '../context.ts';
import { agentId, atLeastOne, type Context } from '../context.ts';
import { saveAs } from '../download.ts';
import { duration, money, when } from '../output.ts';
import { paintStatus } from './call-watch.ts';

interface Filters {
  status?: Call['status'];
  direction?: Call['direction'];
  agent?: string;
  to?: string;
  from?: string;
  search?: string;
  after?: string;
  before?: string;
}

const filtered = (command: Command): Command =>
  command
    .option(
      '--status <status>',
      'queued, initiated, ringing, in_progress, completed, no_answer, busy, canceled, failed',
    )
    .option('--direction <direction>', 'inbound or outbound')
    .option('--agent <agent>', 'by name or id')
    .option('--to <number>')
    .option('--from <number>')
    .option('--search <words>', 'part of a number, an agent, words that were said')
    .option('--after <time>', 'ISO 8601')
    .option('--before <time>', 'ISO 8601');

const queryOf = async (o: Filters, context: Context) => ({
  ...(o.status === undefined ? {} : { status: o.status }),
  ...(o.direction === undefined ? {} : { direction: o.direction }),
  ...(o.agent === undefined ? {} : { agent_id: await agentId(o.agent, context) }),
  ...(o.to === undefined ? {} : { to_number: o.to }),
  ...(o.from === undefined ? {} : { from_number: o.from }),
  ...(o.search === undefined ? {} : { search: o.search }),
  ...(o.after === undefined ? {} : { created_after: o.after }),
  ...(o.before === undefined ? {} : { created_before: o.before }),
});

/** Calls: list, export. */
export function addCallLists(calls: Command, run: Run): void {
  filtered(calls.command('list').alias('ls').description('calls, newest first'))
    .option('--limit <count>', 'how many at most', atLeastOne, 20)
    .action(
      run(async (context, o: Filters & { limit: number }) => {
        const { offhook, output, now } = context;
        const items = await offhook.calls
          .list({ limit: Math.min(100, o.limit), ...(await queryOf(o, context)) })
          .all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['created', 'status', 'from', 'to', 'duration', 'price', 'id'],
          items.map((call) => [
            when(call.created_at, now()),
            paintStatus(context, call),
            call.from_number,
            call.to_number,
            duration(call.duration_seconds),
            money(call.billing_amount_milli_cents),
            call.id,
          ]),
          'No calls like that. Place one: offhook call +1… --agent <name> --watch',
        );
      }),
    );

  filtered(calls.command('export').description('all calls that fit, as CSV'))
    .option('--columns <names>', 'which, with commas between (default: all)')
    .option('-o, --output <file>', 'where to (default: stdout)', '-')
    .action(
      run(async (context, o: Filters & { columns?: string; output: string }) => {
        const { offhook, output, signal } = context;
        const response = await offhook.calls.exportCsv(
          { ...(await queryOf(o, context)), ...(o.columns === undefined ? {} : { columns: o.columns }) },
          { signal },
        );
        if (response.body === null) throw new Error('The export is empty.');
        const source = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
        if (o.output === '-') return output.bytes(source);
        await saveAs(source, o.output, signal);
        if (output.json) output.data({ file: o.output });
        else output.line(o.output);
      }),
    );
}
