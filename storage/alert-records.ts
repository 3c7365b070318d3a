// The records of alerts: what an organization wants to be told of, how each stands, and what was told. PURE.

export const ALERT_KINDS = [
  'failure_rate',
  'answer_latency_p95',
  'carrier_down',
  'model_down',
  'spend_per_day',
  'webhooks_waiting',
  'disk_low',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** What is watched; which of the numbers a kind has stands in control/alerts/alert-kinds.ts. */
export interface AlertRule {
  kind: AlertKind;
  enabled: boolean;
  /** In the kind's own unit; null where it has none. */
  threshold: number | null;
  /** Of how many minutes the value is; null where it is of now, or of the day. */
  window_minutes: number | null;
  /** For how long it must be so, and be well again, before somebody is told. */
  hold_minutes: number;
}

/** One row an organization. */
export interface AlertSettingsRecord {
  org_id: string;
  webhook_url: string | null;
  emails: string[];
  rules: AlertRule[];
  updated_at: string;
}

/** `pending` and `recovering` wait for the rule's hold. */
export type AlertStatus = 'ok' | 'pending' | 'firing' | 'recovering';

/** How one rule stands. Absent: well, and nothing was ever told. */
export interface AlertStateRecord {
  org_id: string;
  kind: AlertKind;
  status: AlertStatus;
  /** In this status. */
  since_at: string;
  /** When it began to fire; null unless it fires or recovers. */
  fired_at: string | null;
  /** When somebody was last told that it fires; null as above. */
  told_at: string | null;
  /** Counts changes: of two daemons that look at once, one changes it. */
  version: number;
}

/** How a message fares on one of its ways. */
export interface AlertSending {
  status: 'pending' | 'sent' | 'failed';
  attempts: number;
  /** Of the last attempt; null where it went well, or none was made. */
  error: string | null;
  sent_at: string | null;
}

/** What was told, or is about to be. */
export interface AlertMessageRecord {
  /** Sent as `webhook-id`: the same over all attempts. */
  id: string;
  org_id: string;
  kind: AlertKind;
  status: 'firing' | 'still_firing' | 'resolved';
  /** One sentence. */
  text: string;
  value: number | null;
  threshold: number | null;
  created_at: string;
  /** Null: not wanted when it was written. */
  webhook: AlertSending | null;
  email: AlertSending | null;
  /** When it is tried next; null: nothing is left to try. */
  next_attempt_at: string | null;
}
