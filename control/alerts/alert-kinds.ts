// What can be watched: the numbers that each kind of alert has, where they begin and what they may be. PURE.
import { ALERT_KINDS, type AlertKind, type AlertRule } from '../../storage/alert-records.ts';

/** A number that a rule has: what it begins with, and what it may be. */
export interface AlertNumber {
  default: number;
  min: number;
  max: number;
}

export interface AlertKindFacts {
  /** As people call it. */
  title: string;
  /** Of the threshold and the value; null: it is so or it is not. */
  unit: 'percent' | 'milliseconds' | 'dollars' | 'deliveries' | 'megabytes' | null;
  threshold: AlertNumber | null;
  window: AlertNumber | null;
  hold: AlertNumber;
}

const hold = (minutes: number): AlertNumber => ({ default: minutes, min: 0, max: 1_440 });

export const ALERT_KIND_FACTS: Readonly<Record<AlertKind, AlertKindFacts>> = {
  failure_rate: {
    title: 'Calls fail',
    unit: 'percent',
    threshold: { default: 20, min: 1, max: 100 },
    window: { default: 60, min: 5, max: 1_440 },
    hold: hold(0),
  },
  answer_latency_p95: {
    title: 'Answers are slow',
    unit: 'milliseconds',
    threshold: { default: 2_500, min: 100, max: 60_000 },
    window: { default: 60, min: 60, max: 1_440 },
    hold: hold(5),
  },
  carrier_down: { title: 'The carrier is down', unit: null, threshold: null, window: null, hold: hold(2) },
  model_down: { title: 'The speech model is down', unit: null, threshold: null, window: null, hold: hold(2) },
  spend_per_day: {
    title: 'Spend of the day',
    unit: 'dollars',
    threshold: { default: 50, min: 0.01, max: 1_000_000 },
    window: null,
    hold: hold(0),
  },
  webhooks_waiting: {
    title: 'Webhooks wait',
    unit: 'deliveries',
    threshold: { default: 10, min: 0, max: 9_999 },
    window: { default: 15, min: 1, max: 1_440 },
    hold: hold(0),
  },
  disk_low: {
    title: 'The disk fills up',
    unit: 'megabytes',
    threshold: { default: 1_000, min: 1, max: 10_000_000 },
    window: null,
    hold: hold(1),
  },
};

/** As it is where nobody has said anything: not watched. */
function defaultRule(kind: AlertKind): AlertRule {
  const { threshold, window, hold } = ALERT_KIND_FACTS[kind];
  return {
    kind,
    enabled: false,
    threshold: threshold?.default ?? null,
    window_minutes: window?.default ?? null,
    hold_minutes: hold.default,
  };
}

/** One rule a kind, in the order of the kinds; what is stored of kinds that are no more is left out. */
export function allRules(stored: readonly AlertRule[]): AlertRule[] {
  return ALERT_KINDS.map((kind) => stored.find((rule) => rule.kind === kind) ?? defaultRule(kind));
}
