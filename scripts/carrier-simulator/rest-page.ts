// PURE. Pages of the 2010-04-01 API: PageSize (50, at most 1000), Page, and addresses relative to the host.
import { type Form, text } from './form.ts';

export function pageOf<T>(
  all: T[],
  query: Form,
  uri: string,
): { items: T[]; envelope: Record<string, unknown> } {
  const pageSize = Math.min(1000, Math.max(1, Number(text(query, 'PageSize')) || 50));
  const page = Math.max(0, Math.floor(Number(text(query, 'Page')) || 0));
  const start = page * pageSize;
  const items = all.slice(start, start + pageSize);
  const address = (number: number) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      if (key === 'Page' || key === 'PageSize' || key === 'PageToken' || value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [value]) parameters.append(key, one);
    }
    parameters.set('PageSize', String(pageSize));
    parameters.set('Page', String(number));
    if (number > 0) parameters.set('PageToken', `PA${number}`);
    return `${uri}?${parameters}`;
  };
  return {
    items,
    envelope: {
      page,
      page_size: pageSize,
      start,
      end: Math.max(start, start + items.length - 1),
      uri: address(page),
      first_page_uri: address(0),
      next_page_uri: start + items.length < all.length ? address(page + 1) : null,
      previous_page_uri: page > 0 ? address(page - 1) : null,
    },
  };
}
