// What `npm run chaos` does with a campaign of breaks under people in talk: runs it, and prints its table.
import { type Breaker, type BreaksOptions, runBreaks } from './breaks.ts';
import { killer } from './kills.ts';
import { columns, rowsOf, tellViolations } from './table.ts';

/** People in talk, where nothing else is asked for. */
export const LINES_IN_TALK = 20;

const BREAKERS: Record<'kills', () => Breaker> = { kills: killer };

/** Answers whether all held. */
export async function runBreaksScript(
  o: Pick<BreaksOptions, 'times' | 'lines' | 'seed' | 'minutes' | 'folder'> & { kind: keyof typeof BREAKERS },
): Promise<boolean> {
  const report = await runBreaks({ ...o, onProgress: console.log }, BREAKERS[o.kind]());
  const rows = report.rows.map(([name, value]): [string, string, string] => [name, value, '']);
  console.log(
    `\n${columns([['seed', String(report.seed), ''], [o.kind, String(report.breaks), ''], ...rows, ...rowsOf(report.checks)])}`,
  );
  return tellViolations(report.checks);
}
