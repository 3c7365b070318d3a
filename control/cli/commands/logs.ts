// offhook logs: the newest lines of the daemon's log, for reading, and those that come.
import type { Command } from 'commander';
import type { LogLine } from '../../sdk/index.ts';
import { atLeastOne, type Context, type Run } from '../context.ts';
import { Ending, EXIT } from '../exit.ts';

/** Seconds that one request waits for the next line: below the time limit of a request. */
const FOLLOW_S = 20;
const LOOKS = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const;

interface Flags {
  follow?: boolean;
  lines: number;
  level?: LogLine['level'];
  call?: string;
  operatorKey?: string;
}

/** One line: when, what, and its fields as `name=value`. */
function told({ output }: Context, line: LogLine): string {
  const at = new Date(line.time).toLocaleTimeString('en-GB');
  const fields = Object.entries(line.fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${output.paint('dim', `${name}=`)}${text}`;
  });
  return [output.paint('dim', at), output.paint(LOOKS[line.level], line.event.padEnd(22)), ...fields].join(
    '  ',
  );
}

async function logs(context: Context, o: Flags): Promise<void> {
  const { offhook, output, signal } = context;
  const operatorKey = o.operatorKey ?? context.env.OPERATOR_KEY;
  const request = {
    signal,
    maxRetries: 20,
    ...(operatorKey === undefined ? {} : { headers: { 'operator-key': operatorKey } }),
  };
  const filters = {
    ...(o.level === undefined ? {} : { level: o.level }),
    ...(o.call === undefined ? {} : { call_id: o.call }),
  };
  try {
    let { data, next } = await offhook.logs.read({ ...filters, limit: o.lines }, request);
    for (;;) {
      for (const line of data) output.line(output.json ? JSON.stringify(line) : told(context, line));
      if (o.follow !== true) return;
      ({ data, next } = await offhook.logs.read({ ...filters, after: next, wait: FOLLOW_S }, request));
    }
  } catch (error) {
    if (signal.aborted) throw new Ending(EXIT.ok);
    throw error;
  }
}

export function addLogsCommand(program: Command, run: Run): void {
  program
    .command('logs')
    .description("the newest lines of the daemon's log: your organization's, or all with the operator's key")
    .option('-f, --follow', 'and those that come, until Ctrl-C')
    .option('-n, --lines <n>', 'how many to begin with', atLeastOne, 50)
    .option('--level <level>', 'debug, info, warn or error, and what is graver')
    .option('--call <id>', 'of this call alone')
    .option('--operator-key <key>', 'for the lines of all organizations and of none (OPERATOR_KEY)')
    .action(run((context, o: Flags) => logs(context, o)));
}
