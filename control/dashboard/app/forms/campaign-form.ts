// What the form of a campaign's rules means: its texts to what the API takes, and back. PURE.
import type { Campaign, CampaignChange } from '../../../sdk/index.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Day = (typeof DAYS)[number];

/** Sets of days that a window mostly has, in words. */
export const DAY_SETS: readonly { value: string; label: string }[] = [
  { value: 'mon tue wed thu fri', label: 'Monday to Friday' },
  { value: 'mon tue wed thu fri sat', label: 'Monday to Saturday' },
  { value: DAYS.join(' '), label: 'Every day' },
  { value: 'sat sun', label: 'Saturday and Sunday' },
  { value: 'mon', label: 'Monday' },
  { value: 'tue', label: 'Tuesday' },
  { value: 'wed', label: 'Wednesday' },
  { value: 'thu', label: 'Thursday' },
  { value: 'fri', label: 'Friday' },
  { value: 'sat', label: 'Saturday' },
  { value: 'sun', label: 'Sunday' },
];

export interface WindowRow {
  /** Days with blanks between. */
  days: string;
  from: string;
  to: string;
}

/** The outcomes after which a contact may be called again, in words. */
export const RETRIED = {
  busy: 'Busy',
  no_answer: 'No answer',
  voicemail: 'Voicemail',
  cut: 'Cut off',
  failed: 'Failed',
} as const;
export type Retried = keyof typeof RETRIED;

export interface CampaignForm {
  name: string;
  callsPerMinute: string;
  atOnce: string;
  freeLines: string;
  maxAttempts: string;
  timeZone: string;
  windowZone: Campaign['window_zone'];
  windows: WindowRow[];
  retries: Record<Retried, { times: string; after: string }>;
}

export const newWindow = (): WindowRow => ({ days: 'mon tue wed thu fri', from: '09:00', to: '18:00' });

export function formOf(campaign: Campaign): CampaignForm {
  const rule = ({ times, after_minutes }: { times: number; after_minutes: number }) => ({
    times: String(times),
    after: String(after_minutes),
  });
  const { busy, no_answer, voicemail, cut, failed } = campaign.retries;
  return {
    name: campaign.name,
    callsPerMinute: String(campaign.calls_per_minute),
    atOnce: String(campaign.max_concurrent),
    freeLines: String(campaign.free_lines),
    maxAttempts: String(campaign.max_attempts),
    timeZone: campaign.time_zone,
    windowZone: campaign.window_zone,
    windows: campaign.windows.map(({ days, from, to }) => ({ days: days.join(' '), from, to })),
    retries: {
      busy: rule(busy),
      no_answer: rule(no_answer),
      voicemail: rule(voicemail),
      cut: rule(cut),
      failed: rule(failed),
    },
  };
}

/** What is no number stays as it was typed, so that the API says what is wrong with it. */
const numberOf = (text: string): number => {
  const value = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || Number.isNaN(value) ? (text as unknown as number) : value;
};

export function changeOf(form: CampaignForm): CampaignChange {
  const rule = ({ times, after }: { times: string; after: string }) => ({
    times: numberOf(times),
    after_minutes: numberOf(after),
  });
  const { busy, no_answer, voicemail, cut, failed } = form.retries;
  return {
    name: form.name.trim(),
    calls_per_minute: numberOf(form.callsPerMinute),
    max_concurrent: numberOf(form.atOnce),
    free_lines: numberOf(form.freeLines),
    max_attempts: numberOf(form.maxAttempts),
    time_zone: form.timeZone.trim(),
    window_zone: form.windowZone,
    windows: form.windows.map(({ days, from, to }) => ({
      days: days.split(' ').filter((day): day is Day => (DAYS as readonly string[]).includes(day)),
      from: from.trim(),
      to: to.trim(),
    })),
    retries: {
      busy: rule(busy),
      no_answer: rule(no_answer),
      voicemail: rule(voicemail),
      cut: rule(cut),
      failed: rule(failed),
    },
  };
}

/** Days in words: one of the sets, else one after the other. */
export function daysInWords(days: readonly string[]): string {
  const key = days.join(' ');
  const known = DAY_SETS.find(({ value }) => value === key)?.label;
  return known ?? days.map((day) => day.charAt(0).toUpperCase() + day.slice(1)).join(', ');
}

/** When a campaign calls, in words. */
export function windowsInWords({ windows, window_zone, time_zone }: Campaign): string {
  if (windows.length === 0) return 'At any hour that your rules of outbound calls allow';
  const zone = {
    contact: 'where the contact is',
    campaign: `in ${time_zone}`,
    both: `where the contact is, and in ${time_zone}`,
  }[window_zone];
  const all = windows.map(({ days, from, to }) => `${daysInWords(days)}, ${from} to ${to}`).join('; ');
  return `${all}, ${zone}`;
}

/** An outcome in words; of a refusal, what refused it. */
export function outcomeInWords(outcome: string): string {
  const [kind = '', code] = outcome.split(':');
  const text = (code ?? kind).replaceAll('_', ' ');
  return code === undefined ? text.charAt(0).toUpperCase() + text.slice(1) : `Refused: ${text}`;
}

/** How much of it is done, from 0 to 1. */
export function shareDone({ total, waiting, calling }: Campaign['contacts']): number {
  return total === 0 ? 0 : (total - waiting - calling) / total;
}
