// One look at one rule: (rule, how it stands, what was found, when) -> how it stands, and what is told. PURE.
// What has not lasted for the rule's hold tells nobody anything, neither that it is wrong nor that it is well again.
import type { AlertMessageRecord, AlertRule, AlertStatus } from '../../storage/alert-records.ts';

/** What is still wrong is told again this often. */
export const REPEAT_MS = 24 * 3_600_000;

/** Milliseconds of the wall clock. */
export interface AlertStanding {
  status: AlertStatus;
  sinceMs: number;
  firedMs: number | null;
  toldMs: number | null;
}

export const WELL: AlertStanding = { status: 'ok', sinceMs: 0, firedMs: null, toldMs: null };

/** What was found of what a rule watches. */
export interface AlertReading {
  /** In the kind's unit; null where it has none, or nothing was measured. */
  value: number | null;
  /** Null: it could not be found out, which changes nothing. */
  wrong: boolean | null;
  /** One sentence. */
  text: string;
}

export interface AlertStep {
  standing: AlertStanding;
  tell: AlertMessageRecord['status'] | null;
}

/** Null: nothing changes. */
export function alertStep(
  rule: Pick<AlertRule, 'enabled' | 'hold_minutes'>,
  before: AlertStanding,
  { wrong }: Pick<AlertReading, 'wrong'>,
  nowMs: number,
): AlertStep | null {
  const { status } = before;
  // Whoever turns it off knows.
  if (!rule.enabled) return status === 'ok' ? null : { standing: { ...WELL, sinceMs: nowMs }, tell: null };
  if (wrong === null) return null;
  const lasted = nowMs - before.sinceMs >= rule.hold_minutes * 60_000;
  const to = (next: AlertStatus, more: Partial<AlertStanding> = {}): AlertStanding => ({
    ...before,
    status: next,
    sinceMs: nowMs,
    ...more,
  });
  const fires = (): AlertStep => ({
    standing: to('firing', { firedMs: nowMs, toldMs: nowMs }),
    tell: 'firing',
  });
  const resolves = (): AlertStep => ({
    standing: to('ok', { firedMs: null, toldMs: null }),
    tell: 'resolved',
  });
  if (wrong) {
    if (status === 'ok') return rule.hold_minutes === 0 ? fires() : { standing: to('pending'), tell: null };
    if (status === 'pending') return lasted ? fires() : null;
    if (status === 'recovering') return { standing: to('firing'), tell: null };
    if (nowMs - (before.toldMs ?? nowMs) < REPEAT_MS) return null;
    return { standing: { ...before, toldMs: nowMs }, tell: 'still_firing' };
  }
  if (status === 'pending') return { standing: to('ok'), tell: null };
  if (status === 'firing')
    return rule.hold_minutes === 0 ? resolves() : { standing: to('recovering'), tell: null };
  if (status === 'recovering') return lasted ? resolves() : null;
  return null;
}
