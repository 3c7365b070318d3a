// What a run found, all of it, and how it is kept in a file: every round, so that another run can be held against it.
import { readFileSync, writeFileSync } from 'node:fs';
import type { ColumnName } from './columns.ts';
import type { Placement } from './cores.ts';
import type { Figures } from './round.ts';

/** Of the file: counts up when its fields change. */
const FORMAT = 3;

export interface CampaignOptions {
  /** At once, in the comparison. */
  calls: number;
  rounds: number;
  /** Measured in a round, after the warm-up. */
  seconds: number;
  warmUpSeconds: number;
  /** Of few calls the warm-up takes longer: all calls together have been up for so many seconds when a round is measured. */
  warmUpCallSeconds: number;
  columns: readonly ColumnName[];
  /** Calls at which the daemon and the bare bridge are measured besides. */
  scaling: readonly number[];
  /** Columns whose largest number of calls is looked for. */
  climbing: readonly ColumnName[];
  /** Turns that a call has behind it where calls are old. */
  agedTurns: number;
  /** Of the daemon, where the column does not say. */
  threads: number;
  /** Settings of the daemon that are not its defaults. */
  settings: Record<string, string>;
  /** After this nothing new is begun. */
  limitSeconds: number;
  /** Subject and load on cores of their own, where there are two. */
  pin: boolean;
}

export interface Climb {
  /** The most that were carried well. */
  calls: number;
  /** Step by step; the last one may be one that was not carried. */
  steps: Figures[];
  /** Why it went no further: the first number that was not carried; the ladder or the time was over; the load could not keep up. */
  ended: { why: 'not carried'; text: string } | { why: 'ladder' | 'time' | 'load' };
}

export interface Environment {
  cpu: string;
  cores: number;
  node: string;
  system: string;
  /** Of the tree that was measured, with a + when it was changed since; null where it is none of git's. */
  commit: string | null;
  /** When the run began, ISO 8601. */
  at: string;
  loadBefore: number;
  loadAfter: number;
}

export interface Results {
  environment: Environment;
  options: CampaignOptions;
  /** Of the column with one thread; null: nothing was held to cores. */
  placement: Placement | null;
  /** Versions of what other bridges are made of, or why they are missing. */
  packages: Partial<Record<'agents' | 'framework', { version: string } | { missing: string }>>;
  rounds: Figures[];
  /** Rounds that came to nothing. */
  left: { column: ColumnName; calls: number; why: string }[];
  climbs: Partial<Record<ColumnName, Climb>>;
  tookSeconds: number;
}

/** What is not a number is one of the figures too: it was not measured. JSON has no word for it. */
const NOT_A_NUMBER = 'NaN';

export function toText(results: Results): string {
  const spell = (_: string, value: unknown) => (Number.isNaN(value) ? NOT_A_NUMBER : value);
  return `${JSON.stringify({ format: FORMAT, ...results }, spell, 2)}\n`;
}

/** @throws Error when it is no run of this format */
export function fromText(text: string): Results {
  const parsed = JSON.parse(text, (_, value: unknown) => (value === NOT_A_NUMBER ? Number.NaN : value)) as
    | (Results & { format?: number })
    | null;
  if (parsed?.format !== FORMAT) throw new Error('it was kept by another version of the bench');
  const { format: _, ...results } = parsed;
  return results;
}

export function keep(path: string, results: Results): void {
  writeFileSync(path, toText(results));
}

/** @throws Error that names the file */
export function readKept(path: string): Results {
  try {
    return fromText(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
