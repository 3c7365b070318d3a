// What the days of a rule mean. PURE.
const DAY_MS = 24 * 3_600_000;

/** What began until then is older than so many days; null: nothing is, it is kept for ever. */
export function cutoff(days: number | null, now: string): string | null {
  return days === null ? null : new Date(Date.parse(now) - days * DAY_MS).toISOString();
}
