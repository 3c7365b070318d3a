// How a campaign tells what it found: a table of names, values and verdicts, then what broke each check.
import type { Check } from './judge.ts';

const SHOWN = 20;

type Row = [name: string, value: string, verdict: string];

export function rowsOf(checks: readonly Check[]): Row[] {
  return checks.map((check) => [
    check.name,
    String(check.value),
    check.violations.length === 0 ? 'ok' : `${check.violations.length} VIOLATIONS`,
  ]);
}

export function columns(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, value, verdict]) =>
      `${name.padEnd(width)}  ${verdict.padEnd(verdict === '' ? 0 : 4)} ${value}`.trimEnd(),
    )
    .join('\n');
}

/** Says what broke each check. Answers whether all held. */
export function tellViolations(checks: readonly Check[]): boolean {
  const broken = checks.filter((check) => check.violations.length > 0);
  for (const check of broken) {
    console.log(`\n${check.name}:`);
    for (const violation of check.violations.slice(0, SHOWN)) console.log(`  ${violation}`);
  }
  return broken.length === 0;
}
