// The tools that docs/tools.md gives to copy: each block is taken as it is by what checks an agent's tools.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { modelTools, parseTools } from '../../../control/agents/tools.ts';

const PAGE = join(import.meta.dirname, '../../../docs/tools.md');

t.test('what the cookbook gives to copy can be saved', async (t) => {
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text);
  t.equal(blocks.length, 3);
  const names = blocks.flatMap((text) =>
    modelTools(parseTools(JSON.parse(text ?? ''))).map(({ name }) => name),
  );
  t.same(
    names.filter((name) => name !== 'end_call'),
    [
      'find_slots',
      'book_slot',
      'find_order',
      'cancel_order',
      'who_calls',
      'ask_for_callback',
      'transfer_call',
    ],
  );
});
