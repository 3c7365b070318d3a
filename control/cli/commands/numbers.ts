// `offhook numbers`: list those of the organization, search and buy at the carrier, give back.
import type { Command } from 'commander';
import { confirmed } from '../asking.ts';
import type { Run } from '../context.ts';
import { atLeastOne, numberId } from '../context.ts';

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;

interface Search {
  country?: string;
  type?: 'local' | 'mobile' | 'toll_free' | 'national';
  areaCode?: string;
  contains?: string;
  locality?: string;
  region?: string;
  carrier?: string;
  limit?: number;
}

export function addNumberCommands(program: Command, run: Run): void {
  const numbers = program
    .command('numbers')
    .alias('number')
    .description('phone numbers: search, buy, release');

  numbers
    .command('list')
    .alias('ls')
    .description('your numbers')
    .option('--limit <count>', 'how many at most', atLeastOne, 100)
    .action(
      run(async ({ offhook, output }, o: { limit: number }) => {
        const items = await offhook.numbers.list({ limit: 100 }).all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['number', 'name', 'status', 'type', 'a month', 'answered by', 'id'],
          items.map((number) => [
            output.paint(number.status === 'active' ? 'bold' : 'dim', number.e164),
            number.friendly_name,
            number.status,
            number.number_type,
            dollars(number.monthly_cost_cents),
            number.inbound_agent_id ?? 'nobody',
            number.id,
          ]),
          'No numbers yet. Look for one: offhook numbers search --area-code 415',
        );
      }),
    );

  numbers
    .command('search')
    .description('numbers that the carrier sells')
    .option('--country <code>', 'two letters', 'US')
    .option('--type <type>', 'local, mobile, toll_free or national')
    .option('--area-code <code>')
    .option('--contains <digits>', 'digits or letters in it')
    .option('--locality <town>')
    .option('--region <region>', 'state or province')
    .option('--carrier <name>', 'of this carrier, where there are several')
    .option('--limit <count>', 'how many at most', atLeastOne, 20)
    .action(
      run(async ({ offhook, output }, o: Search) => {
        const { areaCode, ...rest } = o;
        const items = await offhook.numbers.available({
          ...rest,
          ...(areaCode === undefined ? {} : { area_code: areaCode }),
        });
        if (output.json) return output.data(items);
        output.table(
          ['number', 'where', 'type', 'a month'],
          items.map((number) => [
            output.paint('bold', number.e164),
            [number.locality, number.region, number.country_code].filter((part) => part !== null).join(', '),
            number.number_type,
            number.monthly_cost_cents === null ? 'unknown' : dollars(number.monthly_cost_cents),
          ]),
          'The carrier has none like that now: search more widely.',
        );
      }),
    );

  numbers
    .command('buy <number>')
    .description('buy a number (E.164, from "numbers search"): it costs money each month')
    .option('--name <name>', 'a name for people')
    .option('--carrier <name>', 'of this carrier, where there are several')
    .option('-y, --yes', 'without asking')
    .action(
      run(async (context, o: { name?: string; carrier?: string; yes?: boolean }, e164) => {
        await confirmed(context, o.yes, `Buy ${e164}? It costs money each month.`);
        const number = await context.offhook.numbers.purchase({
          e164,
          ...(o.name === undefined ? {} : { friendly_name: o.name }),
          ...(o.carrier === undefined ? {} : { carrier: o.carrier }),
        });
        if (context.output.json) return context.output.data(number);
        context.output.line(`${context.output.paint('bold', number.e164)} is yours (${number.id}).`);
        context.output.line(`Next: offhook agents attach <agent> ${number.e164}`);
      }),
    );

  numbers
    .command('release <number>')
    .description('give a number back to the carrier, for good')
    .option('-y, --yes', 'without asking')
    .action(
      run(async (context, o: { yes?: boolean }, given) => {
        const id = await numberId(given, context);
        await confirmed(context, o.yes, `Give ${given} back? It may never be had again.`);
        const number = await context.offhook.numbers.release(id);
        if (context.output.json) return context.output.data(number);
        context.output.line(`${number.e164} is released.`);
      }),
    );
}
