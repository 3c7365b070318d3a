// The form of the alerts: rules and ways as they are typed, what is wrong with them, and the change they mean. PURE.
import type { Alerts, AlertsChange } from '../../../sdk/index.ts';

type AlertRule = Alerts['rules'][number];
type AlertKind = AlertRule['kind'];
type RuleChange = NonNullable<AlertsChange['rules']>[number];

/** A rule as it is typed. */
export interface RuleForm {
  kind: AlertKind;
  enabled: boolean;
  threshold: string;
  window: string;
  hold: string;
}

/** What people read of a kind: what it is for, and what its numbers are called. */
export const KIND_WORDS: Readonly<
  Record<AlertKind, { lead: string; threshold: string | null; window: string | null }>
> = {
  failure_rate: {
    lead: 'Of the calls that ended, more failed than you allow; two at least.',
    threshold: 'Percent that fail',
    window: 'Of the last minutes',
  },
  answer_latency_p95: {
    lead: 'One answer in twenty is heard later than this after the caller’s last word.',
    threshold: 'Milliseconds',
    window: 'Of the last minutes',
  },
  carrier_down: {
    lead: 'It refuses the credentials, or cannot be reached.',
    threshold: null,
    window: null,
  },
  model_down: { lead: 'It refuses the key, or cannot be reached.', threshold: null, window: null },
  spend_per_day: {
    lead: 'What calls made since midnight (UTC) are charged, or cost by estimate.',
    threshold: 'Dollars a day',
    window: null,
  },
  webhooks_waiting: {
    lead: 'More deliveries are late than you allow.',
    threshold: 'Deliveries',
    window: 'Late by minutes',
  },
  disk_low: {
    lead: 'Less than this is free on the disk of the data folder.',
    threshold: 'Megabytes free',
    window: null,
  },
};

const text = (value: number | null) => (value === null ? '' : String(value));

export function ruleForm(rule: AlertRule): RuleForm {
  const { kind, enabled, threshold, window_minutes, hold_minutes } = rule;
  return {
    kind,
    enabled,
    threshold: text(threshold),
    window: text(window_minutes),
    hold: text(hold_minutes),
  };
}

/** A number that is not below nothing; null: it is none. */
function readNumber(value: string, whole: boolean): number | null {
  const trimmed = value.trim().replace(',', '.');
  const number = Number(trimmed);
  if (trimmed === '' || !Number.isFinite(number) || number < 0) return null;
  return whole && !Number.isInteger(number) ? null : number;
}

/** What is wrong with each field of a rule that is on; what the daemon refuses beyond that it says itself. */
export function ruleFaults(form: RuleForm): Partial<Record<'threshold' | 'window' | 'hold', string>> {
  if (!form.enabled) return {};
  const words = KIND_WORDS[form.kind];
  const faults: Partial<Record<'threshold' | 'window' | 'hold', string>> = {};
  if (words.threshold !== null && readNumber(form.threshold, false) === null) faults.threshold = 'A number.';
  if (words.window !== null && readNumber(form.window, true) === null) faults.window = 'Whole minutes.';
  if (readNumber(form.hold, true) === null) faults.hold = 'Whole minutes.';
  return faults;
}

/** The rules that differ from those there are; of one that is off, that alone. */
export function changedRules(forms: readonly RuleForm[], rules: readonly AlertRule[]): RuleChange[] {
  return forms.flatMap((form): RuleChange[] => {
    const rule = rules.find(({ kind }) => kind === form.kind);
    if (rule === undefined || JSON.stringify(ruleForm(rule)) === JSON.stringify(form)) return [];
    const { kind, enabled } = form;
    if (!enabled) return rule.enabled ? [{ kind, enabled }] : [];
    return [
      {
        kind,
        enabled,
        threshold: KIND_WORDS[kind].threshold === null ? null : readNumber(form.threshold, false),
        window_minutes: KIND_WORDS[kind].window === null ? null : readNumber(form.window, true),
        hold_minutes: readNumber(form.hold, true) ?? 0,
      },
    ];
  });
}

/** Addresses as they are typed: one a line, or with commas between. */
export const readEmails = (value: string): string[] => [
  ...new Set(
    value
      .split(/[\s,;]+/)
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
];

/** What is wrong with how people are to be told. */
export function wayFaults(webhook: string, emails: string): { webhook?: string; emails?: string } {
  const odd = readEmails(emails).find((one) => !/^[^@]+@[^@]+\.[^@]+$/.test(one));
  return {
    ...(webhook.trim() === '' || /^https?:\/\/[^\s/]/.test(webhook.trim())
      ? {}
      : { webhook: 'Write the address in full: https://example.com/alerts' }),
    ...(odd === undefined ? {} : { emails: `${odd} is no e-mail address.` }),
  };
}

/** A state in words, with a colour of the badges. */
export function standing(rule: AlertRule): { label: string; tone: 'ok' | 'warn' | 'bad' | 'idle' } {
  if (!rule.enabled) return { label: 'Off', tone: 'idle' };
  if (rule.status === 'firing') return { label: 'Firing', tone: 'bad' };
  if (rule.status === 'recovering') return { label: 'Well again, not for long', tone: 'warn' };
  if (rule.status === 'pending') return { label: 'Wrong, not for long', tone: 'warn' };
  return { label: 'Well', tone: 'ok' };
}
