// What `npm run chaos` does with a campaign of breaks under people in talk: runs it, and prints its table.
import { type Breaker, type BreaksOptions, runBreaks } from './breaks.ts';
import { freezer } from './frozen.ts';
import { handovers } from './handovers.ts';
import { killer } from './kills.ts';
import { streamBreaker } from './streams.ts';
import { columns, rowsOf, tellViolations } from './table.ts';

/** People in talk, where nothing else is asked for. */
export const LINES_IN_TALK = 20;

interface BreaksScriptOptions extends Pick<BreaksOptions, 'times' | 'lines' | 'seed' | 'minutes' | 'folder'> {
  kind: 'kills' | 'resume' | 'handover' | 'frozen';
  /** How many of them are to break in all. */
  of: number;
  /** For how long a daemon stands still. */
  frozenMs: number;
}

const BREAKERS: Record<
  BreaksScriptOptions['kind'],
  { said: string; open: (o: BreaksScriptOptions) => Breaker }
> = {
  kills: { said: 'kills', open: killer },
  resume: { said: 'rounds', open: ({ of }) => streamBreaker(of) },
  handover: { said: 'upgrades', open: handovers },
  frozen: { said: 'daemons that stood still', open: freezer },
};

/** Answers whether all held. */
export async function runBreaksScript(o: BreaksScriptOptions): Promise<boolean> {
  const { said, open } = BREAKERS[o.kind];
  const report = await runBreaks({ ...o, onProgress: console.log }, open(o));
  const rows = report.rows.map(([name, value]): [string, string, string] => [name, value, '']);
  console.log(
    `\n${columns([['seed', String(report.seed), ''], [said, String(report.breaks), ''], ...rows, ...rowsOf(report.checks)])}`,
  );
  return tellViolations(report.checks);
}
