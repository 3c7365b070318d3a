// `offhook check`, `offhook do-not-call`: whether a number would be called, and the numbers that are not.
import type { Command } from 'commander';
import { atLeastOne, type Run, textOf } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';
import { short, when } from '../output.ts';

function addCheckCommand(program: Command, run: Run): void {
  program
    .command('check')
    .description('whether a number would be called now, without calling it')
    .argument('<number>', 'E.164, such as +14155550123')
    .option('--from <number>', 'the number it would be called from')
    .option('--agent <id>', 'the agent that would call')
    .action(
      run(async ({ offhook, output }, o: { from?: string; agent?: string }, to) => {
        const answer = await offhook.outbound.check({
          to: to ?? '',
          ...(o.from === undefined ? {} : { from_number: o.from }),
          ...(o.agent === undefined ? {} : { agent_id: o.agent }),
        });
        if (output.json) output.data(answer);
        else {
          output.facts([
            ['number', answer.to],
            ['country', answer.country],
            ['kind', answer.kind.replaceAll('_', ' ')],
            [
              'there it is',
              answer.local_times.map(({ time, zone }) => `${time.slice(11)} (${zone})`).join(', ') || null,
            ],
            ['called now', answer.allowed ? output.paint('green', 'yes') : output.paint('red', 'no')],
          ]);
          for (const { code, reason } of answer.refusals)
            output.line(`${output.paint('bold', code)}: ${reason}`);
        }
        if (!answer.allowed) throw new Ending(EXIT.refused);
      }),
    );
}

export function addOutboundCommands(program: Command, run: Run): void {
  addCheckCommand(program, run);
  const list = program
    .command('do-not-call')
    .alias('dnc')
    .description('numbers that are not called any more');

  list
    .command('list')
    .alias('ls')
    .description('the numbers, newest first')
    .option('--number <number>', 'look this one up')
    .option('--limit <count>', 'how many at most', atLeastOne, 100)
    .action(
      run(async ({ offhook, output, now }, o: { number?: string; limit: number }) => {
        const query = o.number === undefined ? {} : { number: o.number };
        const items = await offhook.doNotCall.list({ limit: 100, ...query }).all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['number', 'since', 'from', 'why', 'id'],
          items.map((one) => [
            one.number ?? `…${one.last4} (erased)`,
            when(one.created_at, now()),
            one.source,
            short(one.reason ?? '', 40),
            one.id,
          ]),
          o.number === undefined ? 'Every number may be called.' : 'It is not on the list.',
        );
      }),
    );

  list
    .command('add')
    .description('have numbers not called any more')
    .argument('<number...>', 'E.164, such as +14155550123')
    .option('--reason <text>', 'why, for whoever reads it later')
    .action(
      run(async ({ offhook, output }, o: { reason?: string }, ...numbers) => {
        const body = { numbers: numbers.flat(), ...(o.reason === undefined ? {} : { reason: o.reason }) };
        const { data } = await offhook.doNotCall.add(body);
        if (output.json) return output.data(data);
        for (const one of data) output.line(`${one.number}: not called any more`);
      }),
    );

  list
    .command('import')
    .description('the numbers of a CSV file')
    .argument('<file>', 'its path, or - for what comes in')
    .action(
      run(async ({ offhook, output }, _o: object, file) => {
        if (file === undefined) throw new UsageError('Name the file.');
        const report = await offhook.doNotCall.import(textOf(file === '-' ? '-' : `@${file}`));
        if (output.json) return output.data(report);
        output.line(`${report.listed} numbers of ${report.lines} lines are not called any more.`);
        for (const { line, text } of report.refused) output.line(`line ${line}: no number: ${text}`);
      }),
    );

  list
    .command('remove')
    .description('take a number off the list: it may be called again')
    .argument('<number>', 'the number, or the id of its entry')
    .action(
      run(async ({ offhook, output }, _o: object, given) => {
        let id = given ?? '';
        if (id.startsWith('+')) {
          const [found] = (await offhook.doNotCall.list({ number: id })).data;
          if (found === undefined) throw new UsageError(`${id} is not on the list.`);
          id = found.id;
        }
        await offhook.doNotCall.remove(id);
        if (output.json) return output.data({ removed: id });
        output.line(`${given} may be called again.`);
      }),
    );
}
