// What a call brings back, in types: the fields that `returns` asks for, each null where it was not said. Ids of agents and
// calls carry them, so that `calls.wait(call.id)` knows what the agent asks.
import type { Agent, Call, PromptCall, Returns } from './api.ts';

declare const RETURNS: unique symbol;
/** An id that knows what is asked of the call; for a program a text like any other. */
export type IdOf<R> = string & { readonly [RETURNS]: R };

type Named<T extends string> = T extends `${infer One}[]`
  ? Named<One>[]
  : T extends `enum(${infer Values})`
    ? Listed<Values>
    : T extends 'string' | 'date' | 'datetime'
      ? string
      : T extends 'number' | 'integer'
        ? number
        : T extends 'boolean'
          ? boolean
          : unknown;

type Trimmed<T extends string> = T extends ` ${infer Rest}` | `${infer Rest} ` ? Trimmed<Rest> : T;
type Listed<T extends string> = T extends `${infer One}|${infer Others}`
  ? Trimmed<One> | Listed<Others>
  : Trimmed<T>;

type ValueOf<F> = F extends { type: infer T; enum: readonly (infer One)[] }
  ? T extends `${string}[]`
    ? One[]
    : One
  : F extends { type: infer T extends string }
    ? Named<T>
    : F extends string
      ? Named<F>
      : unknown;

/** `{ will_come: 'boolean', day: 'date' }` is answered by `{ will_come: boolean | null, day: string | null }`. */
export type ResultOf<R> = { -readonly [Name in keyof R]: ValueOf<R[Name]> | null };

/** `Returns`, kept as it is written. */
export type AskedFor = { readonly [name: string]: string | Readonly<Returns[string] & object> | AskedField };
interface AskedField {
  readonly type: string;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** A call of which is known what it was asked for. */
export type CallOf<R> = Omit<Call, 'id' | 'returns' | 'result'> & {
  id: IdOf<R>;
  returns: R;
  /** Null until result_status is completed, and for good when it is failed or nothing was asked. */
  result: ResultOf<R> | null;
};

/** An agent of which is known what it asks for. */
export type AgentOf<R> = Omit<Agent, 'id' | 'returns'> & { id: IdOf<R>; returns: R };

/** The prompt form of a new call, of which is known what it asks for. */
export type PromptCallOf<R> = Omit<PromptCall, 'returns'> & { returns: R };

/**
 * The result of a call that a program gets from outside, as by a webhook, in the type of what it had asked for.
 * @param returns as the agent, or the call, was given it
 * @returns null while it is pending, and where there is none
 * @throws TypeError where the call was asked for something else: the field that it was not asked for
 */
export function resultOf<const R extends AskedFor>(
  call: Pick<Call, 'returns' | 'result'>,
  returns: R,
): ResultOf<R> | null {
  for (const name of Object.keys(returns)) {
    if (!Object.hasOwn(call.returns, name))
      throw new TypeError(
        `This call was not asked for "${name}", only for: ${Object.keys(call.returns).join(', ')}.`,
      );
  }
  return call.result as ResultOf<R> | null;
}
