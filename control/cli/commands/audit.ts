// offhook audit: who did what.
import type { Command } from 'commander';
import { atLeastOne, type Run } from '../context.ts';
import { when } from '../output.ts';

export function addAuditCommands(program: Command, run: Run): void {
  program
    .command('audit')
    .description('who did what, newest first (a key with the scope admin)')
    .option('--actor <id>', 'only what this key or person did')
    .option('--action <name>', 'only this operation: createCall, signIn')
    .option('--target <id>', 'only what was done to this')
    .option('--limit <count>', 'how many at most', atLeastOne, 50)
    .action(
      run(
        async (
          { offhook, output, now },
          o: { actor?: string; action?: string; target?: string; limit: number },
        ) => {
          const query = {
            limit: Math.min(100, o.limit),
            ...(o.actor === undefined ? {} : { actor_id: o.actor }),
            ...(o.action === undefined ? {} : { action: o.action }),
            ...(o.target === undefined ? {} : { target_id: o.target }),
          };
          const items = await offhook.auditLog.list(query).all(o.limit);
          if (output.json) return output.data(items);
          output.table(
            ['when', 'who', 'did', 'to', 'from'],
            items.map((one) => [
              when(one.created_at, now()),
              one.actor_name,
              one.action,
              [one.target_kind, one.target_id].filter((part) => part !== null).join(' '),
              one.address ?? '',
            ]),
            'Nothing has been done yet.',
          );
        },
      ),
    );
}
