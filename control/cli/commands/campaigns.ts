// `offhook campaigns`: make one, give it contacts, start and end it, and what it has come to.
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Campaign } from '../../sdk/index.ts';
import { confirmed } from '../asking.ts';
import type { Context, Run } from '../context.ts';
import { agentId, atLeastOne } from '../context.ts';
import { UsageError } from '../exit.ts';

const done = ({ contacts }: Campaign) =>
  `${contacts.total - contacts.waiting - contacts.calling} of ${contacts.total}`;

/** The id of a campaign that is named by its id, or by its name, or the beginning of that. @throws UsageError */
async function campaignId({ offhook }: Pick<Context, 'offhook'>, named: string): Promise<string> {
  if (/^[0-9a-f-]{36}$/i.test(named)) return named;
  const all = await offhook.campaigns.list({ limit: 100 }).all(1000);
  const wanted = named.toLowerCase();
  const exact = all.filter(({ name }) => name.toLowerCase() === wanted);
  const found = exact.length > 0 ? exact : all.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const [first, second] = found;
  if (first === undefined)
    throw new UsageError(`No campaign is called "${named}"; offhook campaigns list shows them.`);
  if (second !== undefined)
    throw new UsageError(`Several campaigns are called "${named}"; name one by its id.`);
  return first.id;
}

export function addCampaignCommands(program: Command, run: Run): void {
  const campaigns = program
    .command('campaigns')
    .alias('campaign')
    .description('many calls by one agent to a list of contacts');

  campaigns
    .command('list')
    .alias('ls')
    .description('your campaigns, the newest first')
    .option('--limit <count>', 'how many at most', atLeastOne, 50)
    .action(
      run(async ({ offhook, output }, o: { limit: number }) => {
        const items = await offhook.campaigns.list({ limit: 100 }).all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['name', 'status', 'done', 'calling', 'id'],
          items.map((one) =>
            [output.paint('bold', one.name), one.status, done(one), one.contacts.calling, one.id].map(String),
          ),
          'No campaigns yet. Make one: offhook campaigns create "Reminders" --agent reminder',
        );
      }),
    );

  campaigns
    .command('create')
    .argument('<name>')
    .requiredOption('--agent <agent>', 'id or name of the outbound agent that calls')
    .option('--per-minute <count>', 'calls that begin in a minute', atLeastOne)
    .option('--at-once <count>', 'calls at once', atLeastOne)
    .description('a draft; contacts come next')
    .action(
      run(async (context, o: { agent: string; perMinute?: number; atOnce?: number }, name: string) => {
        const { offhook, output } = context;
        const made = await offhook.campaigns.create({
          name,
          agent_id: await agentId(o.agent, context),
          ...(o.perMinute === undefined ? {} : { calls_per_minute: o.perMinute }),
          ...(o.atOnce === undefined ? {} : { max_concurrent: o.atOnce }),
        });
        if (output.json) return output.data(made);
        output.line(`Made ${made.name} (${made.id}). Now: offhook campaigns import ${made.id} contacts.csv`);
      }),
    );

  campaigns
    .command('import')
    .argument('<campaign>', 'id or name')
    .argument('<file>', 'CSV whose first line names its columns')
    .option('--country <code>', 'of numbers without a country code')
    .option('--number-column <name>', 'the column with the numbers')
    .option('--dry-run', 'only say what would be added')
    .description('add contacts from a file of CSV')
    .action(
      run(
        async (
          context,
          o: { country?: string; numberColumn?: string; dryRun?: boolean },
          named: string,
          file: string,
        ) => {
          const { offhook, output } = context;
          const csv = await readFile(file, 'utf8').catch((error: Error) => {
            throw new UsageError(`${file} cannot be read: ${error.message}`);
          });
          const report = await offhook.campaigns.importContacts(await campaignId(context, named), csv, {
            ...(o.country === undefined ? {} : { country: o.country }),
            ...(o.numberColumn === undefined ? {} : { number_column: o.numberColumn }),
            ...(o.dryRun === true ? { dry_run: true } : {}),
          });
          if (output.json) return output.data(report);
          for (const one of report.not_taken) output.line(`line ${one.line}: ${one.message}`);
          const verb = o.dryRun === true ? 'would be added' : 'added';
          output.line(
            `${report.added} ${verb}, ${report.duplicates} twice, ${report.refused} not understood.`,
          );
        },
      ),
    );

  addTurns(campaigns, run);
}

/** What starts and ends one, and what it has come to. */
function addTurns(campaigns: Command, run: Run): void {
  for (const [verb, description] of [
    ['start', 'call from now on'],
    ['pause', 'let calls go on, begin none'],
    ['resume', 'go on'],
  ] as const) {
    campaigns
      .command(verb)
      .argument('<campaign>', 'id or name')
      .description(description)
      .action(
        run(async (context, _o: object, named: string) => {
          const { offhook, output } = context;
          const campaign = await offhook.campaigns[verb](await campaignId(context, named));
          if (output.json) return output.data(campaign);
          output.line(`${campaign.name} is ${campaign.status}: ${done(campaign)} done.`);
        }),
      );
  }

  campaigns
    .command('stop')
    .argument('<campaign>', 'id or name')
    .option('-y, --yes', 'without asking')
    .description('end it for good: whoever waits is skipped')
    .action(
      run(async (context, o: { yes?: boolean }, named: string) => {
        const { offhook, output } = context;
        const id = await campaignId(context, named);
        const { name, contacts } = await offhook.campaigns.get(id);
        await confirmed(context, o.yes, `Stop ${name}? ${contacts.waiting} contacts will not be called.`);
        const campaign = await offhook.campaigns.stop(id);
        if (output.json) return output.data(campaign);
        output.line(`${campaign.name} is stopped.`);
      }),
    );

  campaigns
    .command('report')
    .argument('<campaign>', 'id or name')
    .description('contacts and calls by outcome')
    .action(
      run(async (context, _o: object, named: string) => {
        const { offhook, output } = context;
        const report = await offhook.campaigns.report(await campaignId(context, named));
        if (output.json) return output.data(report);
        const { total, waiting, calling } = report.contacts;
        output.table(
          ['outcome', 'contacts', 'calls that ended so'],
          Object.entries(report.outcomes).map(([name, of]) =>
            [name, of, report.attempts.by_outcome[name] ?? 0].map(String),
          ),
          'Nobody has an outcome yet.',
        );
        output.line(
          `${total} contacts, ${waiting} waiting, ${calling} on a call; ${report.attempts.total} calls have ended.`,
        );
      }),
    );

  campaigns
    .command('export')
    .argument('<campaign>', 'id or name')
    .description('its contacts with what their calls brought, as CSV on stdout')
    .action(
      run(async (context, _o: object, named: string) => {
        const { offhook, output } = context;
        const response = await offhook.campaigns.exportCsv(await campaignId(context, named));
        if (response.body === null) throw new Error('The export is empty.');
        await output.bytes(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]));
      }),
    );
}
