// What `npm run chaos` does with a campaign of breaks under people in talk: runs it, and prints its table.
import { type Breaker, type BreaksOptions, runBreaks } from './breaks.ts';
import { killer } from './kills.ts';
import { streamBreaker } from './streams.ts';
import { columns, rowsOf, tellViolations } from './table.ts';

/** People in talk, where nothing else is asked for. */
export const LINES_IN_TALK = 20;

const BREAKERS: Record<'kills' | 'resume', (of: number) => Breaker> = {
  kills: killer,
  resume: streamBreaker,
};

const SAID: Record<keyof typeof BREAKERS, string> = { kills: 'kills', resume: 'rounds' };

/** Answers whether all held. */
export async function runBreaksScript(
  o: Pick<BreaksOptions, 'times' | 'lines' | 'seed' | 'minutes' | 'folder'> & {
    kind: keyof typeof BREAKERS;
    /** How many of them are to break in all. */
    of: number;
  },
): Promise<boolean> {
  const report = await runBreaks({ ...o, onProgress: console.log }, BREAKERS[o.kind](o.of));
  const rows = report.rows.map(([name, value]): [string, string, string] => [name, value, '']);
  console.log(
    `\n${columns([['seed', String(report.seed), ''], [SAID[o.kind], String(report.breaks), ''], ...rows, ...rowsOf(report.checks)])}`,
  );
  return tellViolations(report.checks);
}
