// Which page a path means, and how a path with its query is written. PURE.

export interface Match<T> {
  route: T;
  params: Record<string, string>;
}

/** What a page is given. */
export interface PageProps {
  /** The parts of the path that a pattern names: `id` of `/calls/:id`. */
  params: Record<string, string>;
}

/** The first route whose pattern (`/calls/:id`) is the path; null: none. A slash at the end does not count. */
export function matchRoute<T extends { path: string }>(routes: readonly T[], path: string): Match<T> | null {
  const given = split(path);
  for (const route of routes) {
    const wanted = split(route.path);
    if (wanted.length !== given.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((part, at) => {
      const value = given[at] ?? '';
      if (!part.startsWith(':')) return part === value;
      params[part.slice(1)] = value;
      return value !== '';
    });
    if (fits) return { route, params };
  }
  return null;
}

function split(path: string): string[] {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

/** A path with these query parameters; those that are empty or undefined are left out. */
export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(kept as [string, string][]).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Where a person may be sent after signing in: a path of this site only. */
export function localPath(path: string | null): string {
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/';
}
