// The requests of one client, and lists: what every resource of the SDK is made of.
import { List, nextOf } from './list.ts';
import type { AnswerOf, Operation, QueryOf, Request, RequestOptions, Transport } from './transport.ts';

/** Of one client. */
export function requestsOf(transport: Transport) {
  return {
    async ask<O extends Operation>(operation: O, request: Request<O> = {}): Promise<AnswerOf<O>> {
      return (await transport.send(operation, request)).answer;
    },
    /** A list, whichever of the two forms its answer has: `{data: […]}` or a bare array. */
    list<T, O extends Operation>(
      operation: O,
      query: QueryOf<O> = {},
      o: Pick<Request<O>, 'params'> & RequestOptions = {},
    ): List<T> {
      return new List<T>(async (startingAfter) => {
        const { answer, headers } = await transport.send(operation, {
          ...o,
          query: { ...query, ...(startingAfter === null ? {} : { starting_after: startingAfter }) },
        });
        const data = Array.isArray(answer) ? (answer as T[]) : (answer as { data: T[] }).data;
        return { data, next: nextOf(headers.get('link')) };
      });
    },
  };
}

export type Requests = ReturnType<typeof requestsOf>;
