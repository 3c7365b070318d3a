// What every command works with, and how it takes values that are JSON, files or key=value pairs.
import { readFileSync } from 'node:fs';
import type { Offhook } from '../sdk/index.ts';
import { UsageError } from './exit.ts';
import type { Output } from './output.ts';

export interface Context {
  output: Output;
  env: Record<string, string | undefined>;
  /** Where the daemon is. */
  url: string;
  apiKey: string | undefined;
  offhook: Offhook;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  now(): Date;
}

/**
 * Makes a commander action out of what a command does: `o` are its own flags, then come its arguments, which are what its
 * command line says: the type system does not see them.
 */
export type Run = <O>(
  work: (context: Context, o: O, ...args: string[]) => Promise<void> | void,
) => (...given: unknown[]) => Promise<void>;

/** The text of an argument: itself, of a file with `@name`, or of stdin with `-`. */
export function textOf(argument: string): string {
  if (argument === '-') return readFileSync(0, 'utf8');
  if (!argument.startsWith('@')) return argument;
  try {
    return readFileSync(argument.slice(1), 'utf8');
  } catch (error) {
    throw new UsageError(`${argument.slice(1)} cannot be read: ${(error as Error).message}`);
  }
}

/** An object out of JSON, a file of it (`@name`) or stdin (`-`). @throws UsageError saying what is wrong with it */
export function objectOf(argument: string, flag: string): Record<string, unknown> {
  const value = jsonOf(argument, flag);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UsageError(`${flag} must be a JSON object, such as '{"name": "value"}'.`);
}

/** Any value out of JSON, a file of it or stdin. @throws UsageError naming `flag` */
export function jsonOf(argument: string, flag: string): unknown {
  const text = textOf(argument);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `${flag} must be JSON, a file of it (@name.json) or - for stdin: ${(error as Error).message}`,
    );
  }
}

/** Collects `key=value`, given once or more; a value that is JSON is taken as what it is. */
export function collectPair(argument: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const at = argument.indexOf('=');
  if (at < 1) throw new UsageError(`"${argument}" is not key=value.`);
  const text = argument.slice(at + 1);
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // Most values are plain words.
  }
  return { ...before, [argument.slice(0, at)]: value };
}

export const collect = (argument: string, before: string[] = []): string[] => [...before, argument];

/** A whole number. @throws UsageError */
export function wholeNumber(argument: string): number {
  const value = Number(argument);
  if (!Number.isInteger(value)) throw new UsageError(`"${argument}" is not a whole number.`);
  return value;
}

/** How many, or for how long: a whole number from 1 on. @throws UsageError */
export function atLeastOne(argument: string): number {
  const value = wholeNumber(argument);
  if (value < 1) throw new UsageError(`"${argument}" is too little: 1 at least.`);
  return value;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of an agent that was named by its id or its name. @throws UsageError when none or several have the name */
export async function agentId(given: string, { offhook, signal }: Context): Promise<string> {
  if (UUID.test(given)) return given;
  const found: { id: string; name: string }[] = [];
  for await (const agent of offhook.agents.list({ limit: 100 }, { signal })) {
    if (agent.name.toLowerCase() === given.toLowerCase()) found.push(agent);
  }
  if (found.length === 1 && found[0] !== undefined) return found[0].id;
  throw new UsageError(
    found.length === 0
      ? `There is no agent "${given}"; "offhook agents list" shows them.`
      : `${found.length} agents are named "${given}": give the id (${found.map(({ id }) => id).join(', ')}).`,
  );
}

/** The id of a number that was named by its id or as E.164. */
export async function numberId(given: string, { offhook, signal }: Context): Promise<string> {
  if (UUID.test(given)) return given;
  for await (const number of offhook.numbers.list({ limit: 100 }, { signal })) {
    if (number.e164 === given) return number.id;
  }
  throw new UsageError(`You have no number ${given}; "offhook numbers list" shows them.`);
}
