// Prints the settings from the one table that holds them: `--env` as .env.example, else as the README's table.
// `npm run settings` rewrites both files; a test holds them to the table.
import { readFileSync, writeFileSync } from 'node:fs';
import { SETTINGS } from '../config.ts';

type Row = { kind: string; default: string | null; help: string; advanced?: true };
const rows = Object.entries(SETTINGS) as [string, Row][];

export function asEnv(): string {
  const lines = rows.map(
    ([name, row]) => `# ${row.help}\n${row.default === null ? `# ${name}=` : `# ${name}=${row.default}`}`,
  );
  return `# Settings of the daemon. Uncomment what you change.\n\n${lines.join('\n\n')}\n`;
}

function asTable(): string {
  const lines = rows
    .filter(([, row]) => row.advanced !== true)
    .map(
      ([name, row]) =>
        `| \`${name}\` | ${row.default === null || row.default === '' ? '' : `\`${row.default}\``} | ${row.help} |`,
    );
  return ['| setting | default | what it does |', '|---|---|---|', ...lines].join('\n');
}

const START = '<!-- settings -->';
const END = '<!-- /settings -->';

export function inReadme(readme: string): string {
  const from = readme.indexOf(START);
  const to = readme.indexOf(END);
  if (from < 0 || to < 0) throw new Error(`README.md has no ${START} … ${END}`);
  return `${readme.slice(0, from + START.length)}\n${asTable()}\n${readme.slice(to)}`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync('.env.example', asEnv());
  writeFileSync('README.md', inReadme(readFileSync('README.md', 'utf8')));
}
