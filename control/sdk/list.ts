// A list of the API: awaited it is its first page, iterated it is every item of every page.

export interface Page<T> {
  data: T[];
  /** `starting_after` of the next page; null on the last one. */
  next: string | null;
}

/** What a list method answers: `await list` for one page, `for await (const item of list)` for all of them. */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: (startingAfter: string | null) => Promise<Page<T>>;

  /** @param read one page: the first one for null */
  constructor(read: (startingAfter: string | null) => Promise<Page<T>>) {
    this.#read = read;
  }

  // A list is awaited for its page: that is what it is for.
  // biome-ignore lint/suspicious/noThenProperty: a thenable by design
  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read(null).then(onPage, onError);
  }

  async *pages(): AsyncGenerator<Page<T>> {
    let next: string | null = null;
    do {
      const page: Page<T> = await this.#read(next);
      yield page;
      next = page.next;
    } while (next !== null);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** All items, `most` at most. */
  async all(most = Number.POSITIVE_INFINITY): Promise<T[]> {
    const items: T[] = [];
    if (most <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= most) break;
    }
    return items;
  }
}

/** `starting_after` of the next page, out of a Link header (RFC 8288). */
export function nextOf(link: string | null): string | null {
  const target = link === null ? undefined : /<([^>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
  if (target === undefined) return null;
  return new URL(target, 'http://relative.invalid').searchParams.get('starting_after');
}
