// What happened on a call, one thing after the other: its events, what tools did, keys and transfers, times without a line;
// and what was sent of it, fit to be looked at. PURE.
import type { Call, CallEvent, TranscriptItem } from '../../sdk/index.ts';
import { gapCause, gapLabel } from './call-gaps.ts';
import { causeInWords, isOver } from './call-words.ts';
import { clock, words } from './format.ts';
import { toolCall } from './spoken.ts';

export interface Moment {
  id: string;
  /** When, as the clock on the wall has it. */
  iso: string;
  /** Where in the recording; null: before there was any sound, or after it. */
  atMs: number | null;
  is: 'event' | 'ended' | 'failed' | 'tool' | 'said' | 'gap';
  title: string;
  /** What the API calls it. */
  code: string | null;
  note: string | null;
  /** Of an event: it may have been told to somebody. */
  event: CallEvent | null;
}

const EVENTS: Record<string, string> = {
  'call.queued': 'Accepted, waits to be dialled',
  'call.ringing': 'Rings',
  'call.answered': 'Answered',
  'call.no_answer': 'Nobody answered',
  'call.busy': 'The line was busy',
  'call.canceled': 'Canceled before the answer',
};

function ofEvent(call: Pick<Call, 'hangup_cause' | 'status'>, event: CallEvent): Moment {
  const ended = event.type === 'call.completed' || event.type === 'call.failed';
  const failed = event.type === 'call.failed';
  const why = call.hangup_cause === null ? null : causeInWords(call.hangup_cause);
  return {
    id: event.id,
    iso: event.created_at,
    atMs: null,
    is: failed ? 'failed' : ended ? 'ended' : 'event',
    title: ended ? (failed ? 'Failed' : 'Ended') : (EVENTS[event.type] ?? words(event.type.slice(5))),
    code: event.type,
    note: ended ? why : null,
    event,
  };
}

function ofItem(item: TranscriptItem): Moment {
  const shared = { id: item.id, iso: item.started_at, atMs: item.start_ms, code: null, event: null };
  if (item.role !== 'tool') return { ...shared, is: 'said', title: item.text, note: null };
  const { name, ok, arguments: asked, output } = toolCall(item.text);
  const builtIn = ok === null && output === '';
  return {
    ...shared,
    is: 'tool',
    title: ok === null ? `Tool ${name}` : `Tool ${name} ${ok ? 'answered' : 'failed'}`,
    note: builtIn && asked !== '' ? asked : null,
  };
}

/** All of it in the order of time. */
export function callTimeline(
  call: Pick<Call, 'hangup_cause' | 'status' | 'gaps'>,
  events: readonly CallEvent[],
  items: readonly TranscriptItem[],
): Moment[] {
  const moments = [
    ...events.map((event) => ofEvent(call, event)),
    ...items.filter(({ role }) => role === 'tool' || role === 'system').map(ofItem),
    ...call.gaps.map(
      (gap): Moment => ({
        id: `gap ${gap.from_ms}`,
        iso: gap.started_at,
        atMs: gap.from_ms,
        is: 'gap',
        title: gapCause(gap),
        code: null,
        note: gapLabel(gap, isOver(call)),
        event: null,
      }),
    ),
  ];
  // Events of one moment keep their order.
  return moments.sort((a, b) => Date.parse(a.iso) - Date.parse(b.iso));
}

/** Where in the recording a moment is, for whoever wants to hear it. */
export const placeOf = ({ atMs }: Moment): string | null => (atMs === null ? null : clock(atMs));

const SECRET = /secret|token|password|passwd|authorization|api_?key|cookie|credential/i;
const MASKED = '••••••';
/** A text within what was sent, and all of it. */
const MOST_OF_ONE = 400;
const MOST = 20_000;

/** JSON laid out to be read: what opens something is masked, what is long is cut and says so. Other text as it is, cut too. */
export function sentText(body: unknown): string {
  const value = typeof body === 'string' ? parsed(body) : body;
  const text = typeof value === 'string' ? value : (JSON.stringify(value, shown, 2) ?? '');
  return text.length <= MOST ? text : `${text.slice(0, MOST)}\n… ${text.length - MOST} characters more`;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

function shown(key: string, value: unknown): unknown {
  if (SECRET.test(key) && value !== null && typeof value !== 'object') return MASKED;
  if (typeof value !== 'string' || value.length <= MOST_OF_ONE) return value;
  return `${value.slice(0, MOST_OF_ONE)}… (${value.length - MOST_OF_ONE} characters more)`;
}
