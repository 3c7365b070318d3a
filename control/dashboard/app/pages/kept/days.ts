// The days that what is kept, as a form has them: a whole number, or nothing for ever. PURE.

export const KINDS = ['recordings', 'transcripts', 'events', 'deliveries', 'calls'] as const;
export type Kind = (typeof KINDS)[number];
export type Days = Record<`${Kind}_days`, number | null>;

const MOST = 36_500;

/** Undefined: it is neither. */
export function readDays(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === '') return null;
  if (!/^\d{1,6}$/.test(plain)) return undefined;
  const days = Number(plain);
  return days >= 1 && days <= MOST ? days : undefined;
}

export function daysText(days: number | null): string {
  if (days === null) return 'for ever';
  return days === 1 ? '1 day' : `${days} days`;
}

/** What would go that is kept now: kinds whose days become fewer. */
export function shortened(before: Days, after: Days): Kind[] {
  return KINDS.filter((kind) => {
    const [was, is] = [before[`${kind}_days`], after[`${kind}_days`]];
    return is !== null && (was === null || is < was);
  });
}

const COUNTED: Readonly<Record<string, readonly [string, string]>> = {
  calls: ['call', 'calls'],
  files: ['recording', 'recordings'],
  transcript_items: ['line of words', 'lines of words'],
  turns: ['turn', 'turns'],
  interruptions: ['interruption', 'interruptions'],
  events: ['event', 'events'],
  deliveries: ['delivery', 'deliveries'],
  attempts: ['answer of a receiver', 'answers of receivers'],
  kept_answers: ['kept answer of the API', 'kept answers of the API'],
  campaign_contacts: ['contact of a campaign', 'contacts of campaigns'],
  do_not_call: ['number not to be called', 'numbers not to be called'],
  consents: ['consent', 'consents'],
  refused_calls: ['refused call', 'refused calls'],
};

/** What a receipt counts, in words; what nobody knows by name is left to the API. */
export function countsInWords(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(COUNTED).flatMap(([name, [one, many]]) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
}
