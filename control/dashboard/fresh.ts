// Readings that many views ask for at once: one of each in a few seconds. In memory, for this process.

/** Many views of the same numbers are one reading of them. */
const FRESH_MS = 5_000;
/** Readings that are kept; what is asked for by more names than these is read anew. */
const MOST = 1_000;

/** Reads once for all who ask within a few seconds. */
export function fresh<T>(
  read: (key: string) => Promise<T>,
  now: () => Date,
): { of(key: string): Promise<T> } {
  const kept = new Map<string, { at: number; value: Promise<T> }>();
  return {
    of(key) {
      const nowMs = now().getTime();
      let one = kept.get(key);
      if (one === undefined || nowMs - one.at >= FRESH_MS) {
        if (kept.size >= MOST) kept.clear();
        one = { at: nowMs, value: read(key) };
        kept.set(key, one);
        one.value.catch(() => kept.delete(key));
      }
      return one.value;
    },
  };
}
