// Data for a page: loading it, its next pages, and doing something with it. Keeps what is shown while it loads anew.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toFailure } from '../failure.ts';

export interface Load<T> {
  data: T | undefined;
  /** Null: the last load went well. */
  error: unknown;
  loading: boolean;
  reload: () => void;
  /** Puts a newer version in place without asking. */
  set: (data: T) => void;
  /** The same, made from what is there; nothing while nothing is. */
  change: (make: (data: T) => T) => void;
}

/** Told of every 401: the session is over. Set by the session. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(what: () => void): void {
  onSignedOut = what;
}
function heed(error: unknown): void {
  if (toFailure(error).status === 401) onSignedOut();
}

/** A load that takes longer than this is given up for the next one that is asked for. */
const STUCK_MS = 20_000;

/**
 * Loads at first and whenever a dependency changes; an answer that was overtaken by such a change is dropped. `reload`
 * never stops a load that is under way, or a page whose data changes all the time would never show any: what is asked for
 * meanwhile is one more load when it is over.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Load<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown; loading: boolean }>({
    data: undefined,
    error: null,
    loading: true,
  });
  const newest = useRef(load);
  newest.current = load;
  const flight = useRef<{ stop: AbortController; since: number; again: boolean } | null>(null);
  const start = useCallback(() => {
    flight.current?.stop.abort();
    const mine = { stop: new AbortController(), since: performance.now(), again: false };
    flight.current = mine;
    setState((now) => ({ ...now, loading: true }));
    const over = (change: (now: { data: T | undefined }) => { data: T | undefined; error: unknown }) => {
      if (flight.current !== mine) return;
      flight.current = null;
      setState((now) => ({ ...change(now), loading: false }));
      if (mine.again) start();
    };
    newest.current(mine.stop.signal).then(
      (data) => over(() => ({ data, error: null })),
      (error: unknown) => {
        if (flight.current === mine) heed(error);
        over((now) => ({ data: now.data, error }));
      },
    );
  }, []);
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    start();
    return () => {
      gone.current = true;
      flight.current?.stop.abort();
      flight.current = null;
    };
  }, deps);
  const reload = useCallback(() => {
    const { current } = flight;
    if (gone.current) return;
    if (current !== null && performance.now() - current.since < STUCK_MS) current.again = true;
    else start();
  }, []);
  const set = useCallback((data: T) => setState({ data, error: null, loading: false }), []);
  const change = useCallback(
    (make: (data: T) => T) =>
      setState((now) => (now.data === undefined ? now : { ...now, data: make(now.data) })),
    [],
  );
  return { ...state, reload, set, change };
}

/** Tells at most once in `everyMs`, however often it is told; the last telling is never lost. Answers tell and stop. */
export function coalesced(what: () => void, everyMs: number): { tell: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    tell() {
      timer ??= setTimeout(() => {
        timer = undefined;
        what();
      }, everyMs);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  loading: boolean;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
  /** Changes what is shown, after something was done to it. */
  update: (change: (items: T[]) => T[]) => void;
}

/** A page of a list as the SDK answers it. */
export interface Page<T> {
  data: readonly T[];
  /** Where the next page begins; nothing: this was the last. */
  next?: string | null | undefined;
}

/** A list that grows by its next page, as the SDK's lists do. `load` takes the cursor of the page, undefined for the first. */
export function usePages<T>(
  load: (startingAfter: string | undefined) => PromiseLike<Page<T>>,
  deps: readonly unknown[],
): Pages<T> {
  const [state, setState] = useState<{
    items: T[] | undefined;
    next: string | null;
    error: unknown;
    loading: boolean;
  }>({
    items: undefined,
    next: null,
    error: null,
    loading: true,
  });
  const newest = useRef(load);
  newest.current = load;
  const round = useRef(0);
  const fetchPage = useCallback((after: string | undefined, kept: T[]) => {
    const mine = ++round.current;
    setState((now) => ({ ...now, loading: true }));
    newest.current(after).then(
      (page) => {
        if (mine !== round.current) return;
        setState({ items: [...kept, ...page.data], next: page.next ?? null, error: null, loading: false });
      },
      (error: unknown) => {
        if (mine !== round.current) return;
        heed(error);
        setState((now) => ({ ...now, error, loading: false }));
      },
    );
  }, []);
  useEffect(() => {
    fetchPage(undefined, []);
    return () => {
      round.current++;
    };
  }, deps);
  return {
    items: state.items,
    error: state.error,
    loading: state.loading,
    hasMore: state.next !== null,
    more: () => {
      if (state.next !== null && !state.loading) fetchPage(state.next, state.items ?? []);
    },
    reload: () => fetchPage(undefined, []),
    update: (change) => setState((now) => ({ ...now, items: change(now.items ?? []) })),
  };
}

export interface Action<A extends unknown[]> {
  run: (...args: A) => Promise<boolean>;
  busy: boolean;
  error: unknown;
  clear: () => void;
}

/** Something a person does: never twice at once, its error kept to be shown. `run` answers whether it went well. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const run = async (...args: A): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      await act(...args);
      return true;
    } catch (thrown) {
      heed(thrown);
      setError(thrown);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { run, busy, error, clear: () => setError(null) };
}
