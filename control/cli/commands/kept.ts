// offhook erase, erasures, holds, retention: what is kept and for how long, and what is erased, with its receipt.
import type { Command } from 'commander';
import type { Run } from '../context.ts';
import { atLeastOne, type Context } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';

type Erasure = Awaited<ReturnType<Context['offhook']['erasures']['get']>>;
type Retention = Awaited<ReturnType<Context['offhook']['retention']['get']>>;

const KINDS = ['recordings', 'transcripts', 'events', 'deliveries', 'calls'] as const;

const days = (count: number | null) =>
  count === null ? 'for ever' : count === 1 ? '1 day' : `${count} days`;

/** What is to be erased or held, of what stands for it on the command line. */
function subjectOf(given: string): { call_id: string } | { number: string } {
  return given.startsWith('+') ? { number: given } : { call_id: given };
}

function showReceipt({ output }: Context, erasure: Erasure): void {
  if (output.json) {
    output.data(erasure);
    return;
  }
  const counts = Object.entries(erasure.counts).map(
    ([name, count]) => `${count} ${name.replaceAll('_', ' ')}`,
  );
  output.facts([
    ['receipt', erasure.id],
    ['state', erasure.state === 'done' ? 'done' : `under way: offhook erasures get ${erasure.id}`],
    ['erased', counts.join(', ') || 'nothing'],
    ['asked for by', `${erasure.requested_by.name}, ${erasure.created_at}`],
    ...erasure.files.map((file): [string, string] => ['file', `${file.path} (sha256 ${file.sha256})`]),
    ...erasure.backups.map((copy): [string, string] => ['still in', `${copy.path} (${copy.made_at})`]),
  ]);
}

function addErasureCommands(program: Command, run: Run): void {
  program
    .command('erase <call-or-number>')
    .description('erase a call (its id) or all calls with a number (+…), for good, and show the receipt')
    .option('--reason <text>', 'why, for the receipt; name nobody in it')
    .option('-y, --yes', 'without asking')
    .action(
      run(async (context, o: { reason?: string; yes?: boolean }, given) => {
        if (!o.yes)
          throw new Ending(
            EXIT.usage,
            `This erases all that stands of ${given}, for good. Say so with --yes.`,
          );
        const reason = o.reason === undefined ? {} : { reason: o.reason };
        showReceipt(context, await context.offhook.erasures.create({ ...subjectOf(given), ...reason }));
      }),
    );
  const erasures = program.command('erasures').description('erasures and their receipts');
  erasures
    .command('list', { isDefault: true })
    .alias('ls')
    .option('--number <number>', 'only those of this number')
    .option('--limit <count>', 'how many at most', atLeastOne, 50)
    .action(
      run(async ({ offhook, output }, o: { number?: string; limit: number }) => {
        const query = o.number === undefined ? {} : { number: o.number };
        const items = await offhook.erasures.list(query).all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['receipt', 'of', 'state', 'calls', 'asked for', 'by'],
          items.map((one) => [
            one.id,
            one.call_id ?? `a ${one.subject}`,
            one.state,
            String(one.counts.calls ?? 0),
            one.created_at,
            one.requested_by.name,
          ]),
          'Nothing has been erased.',
        );
      }),
    );
  erasures
    .command('get <id>')
    .description('a receipt')
    .action(run(async (context, _o, id) => showReceipt(context, await context.offhook.erasures.get(id))));
}

function addHoldCommands(program: Command, run: Run): void {
  const holds = program.command('holds').description('legal holds: what may not be erased');
  holds
    .command('list', { isDefault: true })
    .alias('ls')
    .option('--limit <count>', 'how many at most', atLeastOne, 50)
    .action(
      run(async ({ offhook, output }, o: { limit: number }) => {
        const items = await offhook.legalHolds.list().all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['id', 'of', 'reason', 'since', 'lifted'],
          items.map((one) => [
            one.id,
            one.call_id ?? one.number ?? 'everything',
            one.reason,
            one.created_at,
            one.lifted_at ?? '',
          ]),
          'Nothing is held.',
        );
      }),
    );
  holds
    .command('add <call-or-number-or-all>')
    .description('hold a call (its id), all calls with a number (+…), or "all"')
    .requiredOption('--reason <text>', 'why')
    .action(
      run(async ({ offhook, output }, o: { reason: string }, given) => {
        const subject = given === 'all' ? { organization: true as const } : subjectOf(given);
        const made = await offhook.legalHolds.create({ ...subject, reason: o.reason });
        if (output.json) return output.data(made);
        output.line(`Held: ${made.id}. offhook holds lift ${made.id} ends it.`);
      }),
    );
  holds
    .command('lift <id>')
    .description('end a hold')
    .action(
      run(async ({ offhook, output }, _o, id) => {
        const lifted = await offhook.legalHolds.lift(id);
        if (output.json) return output.data(lifted);
        output.line(`Lifted ${lifted.lifted_at ?? ''}.`);
      }),
    );
}

function showRetention({ output }: Context, retention: Retention): void {
  if (output.json) {
    output.data(retention);
    return;
  }
  const rows = [{ who: 'all agents', days: retention.default }].concat(
    retention.agents.map(({ agent_id, days }) => ({ who: agent_id, days })),
  );
  output.table(
    ['of', ...KINDS],
    rows.map(({ who, days: of }) => [who, ...KINDS.map((kind) => days(of[`${kind}_days`]))]),
    '',
  );
}

/** @throws UsageError for what is neither */
function daysOf(given: string): number | null {
  if (given === 'forever') return null;
  if (!/^[1-9]\d{0,4}$/.test(given))
    throw new UsageError(`"${given}" is neither a number of days nor "forever".`);
  return Number(given);
}

function addRetentionCommands(program: Command, run: Run): void {
  const retention = program.command('retention').description('how long what is kept');
  retention
    .command('get', { isDefault: true })
    .action(run(async (context) => showRetention(context, await context.offhook.retention.get())));
  const set = retention
    .command('set')
    .description('days from the start of a call on, or "forever"; what is older goes within the hour')
    .option('--agent <id>', 'of this agent alone');
  for (const kind of KINDS) set.option(`--${kind} <days>`, `how long ${kind} are kept`);
  set.action(
    run(async (context, o: { agent?: string } & Partial<Record<(typeof KINDS)[number], string>>) => {
      const given = KINDS.flatMap((kind) => {
        const value = o[kind];
        return value === undefined ? [] : [[`${kind}_days`, daysOf(value)] as const];
      });
      if (given.length === 0) throw new UsageError('Say how long what is kept: --recordings 30.');
      const agent = o.agent === undefined ? {} : { agent_id: o.agent };
      showRetention(
        context,
        await context.offhook.retention.update({ ...agent, ...Object.fromEntries(given) }),
      );
    }),
  );
  retention
    .command('unset <agent-id>')
    .description('the days of all agents hold for this one again')
    .action(
      run(async (context, _o, id) => showRetention(context, await context.offhook.retention.removeAgent(id))),
    );
}

export function addKeptCommands(program: Command, run: Run): void {
  addErasureCommands(program, run);
  addHoldCommands(program, run);
  addRetentionCommands(program, run);
}
