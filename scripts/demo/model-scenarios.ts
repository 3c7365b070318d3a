// What the simulated model says in the demo: the scenarios that come with it, each for the agents of the demo that it is
// about, and what it makes of the order system's answer.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the people of the demo say. */
const AUDIO = join(import.meta.dirname, '../simulate/audio');
const SHIPPED = join(import.meta.dirname, '../model-simulator/scenarios');
/** Which agents each is for, by what stands in their instructions; the last is for every other one. */
const MEANT = { reminder: 'Riverside Dental', 'order-line': 'order line|lookup_order', demo: undefined };

/** A tool's answer comes inside of what the daemon tells of it: `status` beside it is that of HTTP. */
const ORDER_FOUND = {
  on: 'tool_result',
  tool_name: 'lookup_order',
  result: '^(?!.*"error").*"answer"',
  say: 'I have found your order. The order number is {{tool.answer.order_number|missing}}. The status is {{tool.answer.status|missing}}. Delivery is planned for {{tool.answer.delivery_date|missing}}. Is there anything else I can do for you?',
};

/** Writes them into a folder. @returns their files */
export function writeScenarios(folder: string): string[] {
  const recordings = JSON.parse(readFileSync(join(AUDIO, 'words.json'), 'utf8')) as {
    file: string;
    words: unknown;
  }[];
  return Object.entries(MEANT).map(([name, about]) => {
    const scenario = JSON.parse(readFileSync(join(SHIPPED, `${name}.json`), 'utf8')) as {
      rules: unknown[];
    };
    const file = join(folder, `${name}.json`);
    writeFileSync(
      file,
      JSON.stringify({
        ...scenario,
        rules: name === 'order-line' ? [ORDER_FOUND, ...scenario.rules] : scenario.rules,
        hears: recordings.map(({ file, words }) => ({ file: join(AUDIO, file), words })),
        for: about,
      }),
    );
    return file;
  });
}
