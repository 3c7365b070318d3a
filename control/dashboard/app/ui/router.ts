// The address bar: where we are, going elsewhere. Which page belongs to a path is route-match.ts and routes.ts.
import { computed, signal } from '@preact/signals';

const here = () => location.pathname + location.search + location.hash;

/** The path, query and fragment shown. */
const address = signal(here());
export const path = computed(() => new URL(address.value, location.origin).pathname);
export const query = computed(() => new URL(address.value, location.origin).searchParams);

/** Counts the visits of pages, so that the same page opened again is told apart. */
export const visit = signal(0);

type MayLeave = () => boolean | Promise<boolean>;

/** What asks before the page is left: something unsaved, a call that is on. */
const guards = new Set<MayLeave>();

/** Asks `mayLeave` before any change of page until it is taken back. */
export function guardLeaving(mayLeave: MayLeave): () => void {
  guards.add(mayLeave);
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', warn);
  return () => {
    guards.delete(mayLeave);
    removeEventListener('beforeunload', warn);
  };
}

/** Asks one after the other, the newest first, up to the first that says no. */
async function askToLeave(): Promise<boolean> {
  for (const mayLeave of [...guards].reverse()) if (!(await mayLeave())) return false;
  return true;
}

/** Goes to a path of this site. `replace` leaves no step to go back to; `quiet` is the same page with other filters:
 *  no jump to the top, no moved focus. */
export async function navigate(to: string, o: { replace?: boolean; quiet?: boolean } = {}): Promise<void> {
  const samePage = new URL(to, location.origin).pathname === location.pathname;
  if (!samePage && guards.size > 0 && !(await askToLeave())) return;
  if (!samePage) guards.clear();
  if (o.replace === true) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = here();
  if (o.quiet === true) return;
  visit.value++;
  scrollTo(0, 0);
}

/** Starts to follow the address bar and the links of the page. Once. */
export function startRouter(): void {
  history.scrollRestoration = 'auto';
  addEventListener('popstate', () => {
    const before = path.value;
    if (guards.size > 0 && location.pathname !== before) {
      // The browser has gone already: back to where we were, and there again once that may be left.
      history.pushState(null, '', address.value);
      void askToLeave().then((may) => {
        if (!may) return;
        guards.clear();
        history.back();
      });
      return;
    }
    address.value = here();
    if (path.value !== before) visit.value++;
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (link === null || link === undefined) return;
    if (link.target !== '' || link.hasAttribute('download') || link.dataset.leave !== undefined) return;
    if (link.origin !== location.origin || link.getAttribute('href')?.startsWith('#') === true) return;
    event.preventDefault();
    void navigate(link.pathname + link.search + link.hash);
  });
}
