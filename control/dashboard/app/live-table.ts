// The table of calls that are on: which of them are shown, and in which order. PURE.
import { isGapOpen } from './call-gaps.ts';
import { nameOfSide, otherSide } from './call-words.ts';
import type { LiveCall } from './session-shapes.ts';

const LIVE_SORTS = ['since', 'who', 'agent', 'state', 'latency'] as const;
export type LiveSort = (typeof LIVE_SORTS)[number];

export interface LiveView {
  /** Words that must all be found: in the number, the agent's name, or what was said last. */
  search: string;
  /** Empty: all of them. */
  state: '' | LiveStateName;
  sort: LiveSort;
  /** The other way round than one looks first. */
  reversed: boolean;
}

export type LiveStateName = 'waiting' | 'agent' | 'caller' | 'nobody' | 'lost';

/** How a call stands, in the order of how much it wants a look. */
export const LIVE_STATES: readonly { name: LiveStateName; label: string }[] = [
  { name: 'lost', label: 'Line lost' },
  { name: 'nobody', label: 'Nobody speaks' },
  { name: 'caller', label: 'Other side speaks' },
  { name: 'agent', label: 'Agent speaks' },
  { name: 'waiting', label: 'Not connected' },
];

/** Who speaks on it now; `lost`: the line carries no sound, whoever had the floor. */
export function stateOf(call: Pick<LiveCall, 'status' | 'gaps' | 'floor'>): LiveStateName {
  if (call.status !== 'in_progress') return 'waiting';
  if (isGapOpen(call)) return 'lost';
  return call.floor === 'agent' || call.floor === 'caller' ? call.floor : 'nobody';
}

export const sinceOf = (call: Pick<LiveCall, 'answered_at' | 'created_at'>): string =>
  call.answered_at ?? call.created_at;

/** What was said last, by either side. */
export function lastWords(call: Pick<LiveCall, 'words'>): string {
  const said = call.words.filter(({ role, text }) => (role === 'agent' || role === 'caller') && text !== '');
  return said.at(-1)?.text ?? '';
}

function nameOf(call: LiveCall): string {
  return call.source === 'browser' ? 'browser' : nameOfSide(otherSide(call));
}

function fits(call: LiveCall, { search, state }: LiveView): boolean {
  if (state !== '' && stateOf(call) !== state) return false;
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const text = `${nameOf(call)} ${otherSide(call) ?? ''} ${call.agent_name ?? ''} ${lastWords(call)}`;
  // Digits are found however they are grouped.
  const digits = text.replace(/[^\d]/g, '');
  const lower = text.toLowerCase();
  return wanted.every((word) => lower.includes(word) || (/^\d+$/.test(word) && digits.includes(word)));
}

const rank = (call: LiveCall) => LIVE_STATES.findIndex(({ name }) => name === stateOf(call));

type Compare = (a: LiveCall, b: LiveCall) => number;

/** As one looks first: the newest, the slowest answer, what wants a look. */
const COMPARE: Readonly<Record<LiveSort, Compare>> = {
  since: (a, b) => (sinceOf(a) < sinceOf(b) ? 1 : sinceOf(a) > sinceOf(b) ? -1 : 0),
  who: (a, b) => nameOf(a).localeCompare(nameOf(b), 'en'),
  agent: (a, b) => (a.agent_name ?? '').localeCompare(b.agent_name ?? '', 'en'),
  state: (a, b) => rank(a) - rank(b),
  latency: (a, b) => (b.last_latency_ms ?? -1) - (a.last_latency_ms ?? -1),
};

/** The calls of a view. Among equals the newest is first, and the id decides the rest: rows do not jump about. */
export function shownCalls(calls: Iterable<LiveCall>, view: LiveView): LiveCall[] {
  const by = COMPARE[view.sort];
  const way = view.reversed ? -1 : 1;
  return [...calls]
    .filter((call) => fits(call, view))
    .sort((a, b) => way * by(a, b) || COMPARE.since(a, b) || (a.id < b.id ? -1 : 1));
}

/** From the address: anything else is the view one sees first. */
export function viewOf(query: { get(name: string): string | null }): LiveView {
  const sort = query.get('sort') ?? '';
  const name = LIVE_SORTS.find((one) => one === sort.replace(/^-/, ''));
  return {
    search: query.get('search') ?? '',
    state: LIVE_STATES.find((one) => one.name === query.get('state'))?.name ?? '',
    sort: name ?? 'since',
    reversed: name !== undefined && sort.startsWith('-'),
  };
}

/** The same, as the address has it; nothing for what is seen first. */
export function sortText(view: Pick<LiveView, 'sort' | 'reversed'>): string | undefined {
  if (view.sort === 'since' && !view.reversed) return undefined;
  return `${view.reversed ? '-' : ''}${view.sort}`;
}
