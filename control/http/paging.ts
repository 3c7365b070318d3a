// Pages of a list: newest first, the next one named in a Link header (RFC 8288), so that bodies stay as they are.
import { AppError } from '../../errors.ts';
import type { Page } from '../../storage/store.ts';
import type { Answer } from './answer.ts';

/**
 * One page of a list.
 * @param o.url path and query as asked; the link is relative, so that it holds behind any proxy
 * @param o.exists whether `starting_after` names an item of this organization
 * @param o.list reads one more than the page holds, to know whether another follows
 * @throws AppError invalid_request for a `starting_after` that nothing has
 */
export async function page<T extends { id: string }>(o: {
  query: { limit: number; starting_after?: string | undefined };
  url: string;
  exists: (id: string) => Promise<unknown>;
  list: (page: Page) => Promise<T[]>;
  body: (items: T[]) => unknown;
}): Promise<Answer> {
  const { limit, starting_after: startingAfter } = o.query;
  if (startingAfter !== undefined && !(await o.exists(startingAfter))) {
    throw new AppError('invalid_request', 'starting_after must be the id of an item of this list.', {
      param: 'starting_after',
    });
  }
  const items = await o.list({ limit: limit + 1, startingAfter });
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  if (items.length <= limit || last === undefined) return { body: o.body(shown) };
  const next = new URL(o.url, 'http://relative.invalid');
  next.searchParams.set('starting_after', last.id);
  return { body: o.body(shown), headers: { Link: `<${next.pathname}${next.search}>; rel="next"` } };
}
