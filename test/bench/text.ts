// PURE. Figures as text, tables of them, errors: for the terminal and as Markdown.
import type { Spread } from './rows.ts';

export const whole = (value: number) => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en'));
export const fixed = (value: number, digits = 1) => (Number.isNaN(value) ? '–' : value.toFixed(digits));

/** A ratio with the rounds it is the middle of: `1.05 (1.02–1.17)`. */
export function ranged(spread: Spread | undefined): string {
  if (spread === undefined || Number.isNaN(spread.middle)) return '–';
  const { middle, least, most } = spread;
  return least === most ? fixed(middle, 2) : `${fixed(middle, 2)} (${fixed(least, 2)}–${fixed(most, 2)})`;
}

/** Percentiles beside each other: `0.1 / 1.8 / 20.8`. */
export const sideBySide = (values: readonly number[], digits = 1) =>
  values.map((value) => fixed(value, digits)).join(' / ');

/** An error in a line, with what caused it: of a request that failed, its own message says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/** A table with what it shows. The first column of `head` and `rows` is the name of a row. */
export interface Section {
  title: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

export function markdown({ title, head, rows }: Section): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [`**${title}**`, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const widthsOf = (lines: readonly (readonly string[])[]) =>
  (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));

/** For a terminal. A table that is too wide stands on its side, its rows beside each other: a broken line compares nothing. */
export function terminal({ title, head, rows }: Section, width: number): string {
  const upright = [head, ...rows];
  const fits = widthsOf(upright).reduce((sum, cells) => sum + cells + 2, 0) <= width;
  const lines = fits ? upright : head.map((name, at) => [name, ...rows.map((row) => row[at] ?? '')]);
  const widths = widthsOf(lines);
  const text = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '),
  );
  return [title, '', ...text].join('\n');
}
