// Wrong attempts on an account, for the audit log: one row a minute at most, whoever tries, so that nobody fills it. PURE.

const EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export interface Failures {
  /** @returns how many there were since the last row, this one too, where one is due; else 0 */
  count(userId: string, nowMs: number): number;
}

export function openFailures(): Failures {
  const byUser = new Map<string, { notedAt: number; waiting: number }>();
  return {
    count(userId, nowMs) {
      const one = byUser.get(userId) ?? { notedAt: Number.NEGATIVE_INFINITY, waiting: 0 };
      const waiting = one.waiting + 1;
      const isDue = nowMs - one.notedAt >= EVERY_MS;
      if (byUser.size >= MAX_REMEMBERED && !byUser.has(userId)) byUser.clear();
      byUser.set(userId, isDue ? { notedAt: nowMs, waiting: 0 } : { ...one, waiting });
      return isDue ? waiting : 0;
    },
  };
}
