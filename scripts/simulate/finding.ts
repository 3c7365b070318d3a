// PURE. What a check answers, and the words that all checks tell it in.
import type { Evidence } from './evidence.ts';

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;

/** What a check found: why it fails, if anything, else one line of what holds. Null: it does not go with this call. */
export type Finding = { problems: readonly (string | false | null)[]; detail: string } | null;

export const found = (problems: readonly (string | false | null)[], detail: string): Finding => ({
  problems,
  detail,
});

/** Whether somebody picks up, so that there is sound. */
export const talks = (scenario: Evidence['scenario']) => scenario.expected.status === 'completed';
