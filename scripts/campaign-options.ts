// What the campaigns read from their command line in the same way: whole numbers, --keep, --help, and what to say when
// one of them is wrong.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface CampaignOptions<Number extends string, Text extends string> {
  /** Those of the flags that were given. */
  flags: ReadonlySet<string>;
  numbers: Record<Number, number>;
  /** Null: not given. */
  texts: Record<Text, string | null>;
  help: boolean;
  /** Where to keep data and logs; null: a folder that is removed when all held. */
  keep: string | null;
}

/**
 * Reads `--name value` for each of the numbers (with their defaults) and texts.
 * @throws Error in plain words for what is unknown or no whole number
 */
export function readCampaignOptions<Number extends string, Text extends string = never>(
  given: { numbers: Record<Number, number>; texts?: readonly Text[]; flags?: readonly string[] },
  args: readonly string[] = process.argv.slice(2),
): CampaignOptions<Number, Text> {
  const names = Object.keys(given.numbers) as Number[];
  const texts = given.texts ?? [];
  const { values } = parseArgs({
    args: [...args],
    options: {
      keep: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      ...Object.fromEntries((given.flags ?? []).map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries([...names, ...texts].map((name) => [name, { type: 'string' as const }])),
    },
  }) as { values: Record<string, string | boolean | undefined> };
  const whole = (name: Number): number => {
    const text = values[name];
    const value = text === undefined ? given.numbers[name] : Number(text);
    if (text === '' || !Number.isInteger(value) || value < 0)
      throw new Error(`--${name} takes a whole number, not "${text}".`);
    return value;
  };
  return {
    numbers: Object.fromEntries(names.map((name) => [name, whole(name)])) as Record<Number, number>,
    texts: Object.fromEntries(texts.map((name) => [name, values[name] ?? null])) as Record<
      Text,
      string | null
    >,
    flags: new Set((given.flags ?? []).filter((name) => values[name] === true)),
    help: values.help === true,
    keep: typeof values.keep === 'string' ? values.keep : null,
  };
}

/** Reads the options and runs the campaign; a wrong option is told with the usage. Answers the exit code. */
export async function runCampaignScript<O extends { help: boolean; keep: string | null }>(o: {
  usage: string;
  read: () => O;
  /** Answers whether all held. */
  run: (options: O, folder: string) => Promise<boolean>;
  /** Names the temporary folder. */
  name: string;
}): Promise<number> {
  let options: O;
  try {
    options = o.read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${o.usage}`);
    return 2;
  }
  if (options.help) {
    console.log(o.usage);
    return 0;
  }
  const folder =
    options.keep === null ? mkdtempSync(join(tmpdir(), `offhook-${o.name}-`)) : resolve(options.keep);
  const held = await o.run(options, folder);
  if (options.keep === null && held) rmSync(folder, { recursive: true, force: true });
  else console.log(`\ndata and logs: ${folder}`);
  console.log(held ? '\nAll held.' : '\nNOT all held.');
  return held ? 0 : 1;
}
