// All calls, newest first: search, filters and place in the address, so that a view can be kept and sent.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentSummary, Call } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { causeInWords, isOver, otherSide } from '../call-words.ts';
import { onCallsChanged } from '../live-stream.ts';
import { withQuery } from '../route-match.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, ErrorNote, Skeleton } from '../ui/feedback.ts';
import { Field, Select } from '../ui/field.ts';
import { Icon } from '../ui/icon.ts';
import { coalesced, useLoad } from '../ui/load.ts';
import { Page } from '../ui/page.ts';
import { navigate, query } from '../ui/router.ts';
import { Status } from '../ui/status.ts';
import { Pager, Table } from '../ui/table.ts';
import { announce } from '../ui/toast.ts';
import { Duration, Money, Phone, Time } from '../ui/values.ts';

const PAGE = 50;
const TYPING_MS = 350;
const FRESH_MS = 1500;
const FILTERS = ['search', 'status', 'direction', 'agent_id', 'from', 'to'] as const;
type Filter = (typeof FILTERS)[number];

const STATUSES: readonly [Call['status'], string][] = [
  ['queued', 'Queued'],
  ['initiated', 'Initiated'],
  ['ringing', 'Ringing'],
  ['in_progress', 'On the line'],
  ['completed', 'Completed'],
  ['no_answer', 'No answer'],
  ['busy', 'Busy'],
  ['canceled', 'Canceled'],
  ['failed', 'Failed'],
];

/** A day as the reader means it, in the reader's time zone, as the moment the API takes; undefined when it is no day. */
function dayAt(day: string, end: boolean): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  if (end) at.setDate(at.getDate() + 1);
  // Both bounds of the API are exclusive.
  return new Date(at.getTime() - (end ? 0 : 1)).toISOString();
}

export function CallsPage() {
  const now = Object.fromEntries(FILTERS.map((name) => [name, query.value.get(name) ?? ''])) as Record<
    Filter,
    string
  >;
  const after = query.value.get('after') ?? '';
  const filtered = FILTERS.some((name) => now[name] !== '');
  const calls = useLoad(
    async (signal) =>
      api.calls.list(
        {
          limit: PAGE,
          ...(after === '' ? {} : { starting_after: after }),
          ...(now.search === '' ? {} : { search: now.search }),
          ...(now.status === '' ? {} : { status: now.status as Call['status'] }),
          ...(now.direction === '' ? {} : { direction: now.direction as Call['direction'] }),
          ...(now.agent_id === '' ? {} : { agent_id: now.agent_id }),
          ...bound('created_after', dayAt(now.from, false)),
          ...bound('created_before', dayAt(now.to, true)),
        },
        { signal },
      ),
    [query.value.toString()],
  );
  const agents = useAgentNames();
  useFreshness(after === '', calls.reload);
  const choose = (change: Partial<Record<Filter, string>>) =>
    void navigate(withQuery('/calls', { ...now, ...change }), { replace: true, quiet: true });
  // What a filter found is read aloud; what the line does meanwhile is not.
  const told = useRef('');
  useEffect(() => {
    const asked = query.value.toString();
    if (calls.data === undefined || calls.loading || asked === told.current) return;
    told.current = asked;
    announce(calls.data.data.length === 0 ? 'No calls found.' : `${calls.data.data.length} calls shown.`);
  }, [calls.data, calls.loading]);

  return html`<${Page} title="Calls">
    <${Filters} now=${now} agents=${agents} filtered=${filtered} choose=${choose} />
    ${calls.error === null ? null : html`<${ErrorNote} error=${calls.error} title="The calls could not be read." retry=${calls.reload} />`}
    ${
      calls.data === undefined || calls.error !== null
        ? calls.error === null
          ? html`<div class="card" aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} lines=${10} /></div>`
          : null
        : html`<div class=${calls.loading ? 'stack stale' : 'stack'} aria-busy=${calls.loading ? 'true' : undefined}>
            ${calls.data.data.length === 0 ? html`<${Nothing} filtered=${filtered} after=${after} />` : html`<${CallTable} calls=${calls.data.data} agents=${agents} />`}
            <${Pager}
              what="calls"
              isFirst=${after === ''}
              newest=${withQuery('/calls', now)}
              older=${calls.data.next === null ? null : withQuery('/calls', { ...now, after: calls.data.next })}
            />
          </div>`
    }
  <//>`;
}

/** New calls and changed ones show up by themselves on the first page; many at once are one look. */
function useFreshness(wanted: boolean, reload: () => void): void {
  useEffect(() => {
    if (!wanted) return;
    const { tell, stop } = coalesced(reload, FRESH_MS);
    const leave = onCallsChanged(tell);
    return () => {
      leave();
      stop();
    };
  }, [wanted]);
}

const bound = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });

function Nothing(props: { filtered: boolean; after: string }) {
  if (props.filtered || props.after !== '') {
    return html`<${EmptyState}
      icon="search"
      title="No call fits."
      action=${html`<${Button} href="/calls">Show all calls<//>`}
    >
      Take a filter away, or search for a part of a number, an agent's name or words that were said.
    <//>`;
  }
  return html`<${EmptyState}
    icon="calls"
    title="No calls yet."
    action=${html`<${Button} kind="primary" href="/agents">Go to the agents<//><${Button} href="/docs#createCall">How a program places one<//>`}
  >
    Every call shows up here, with its words, its sound and what it cost. Give an agent a number to be called on, or place a
    call with <code>POST /v1/calls</code>.
  <//>`;
}

function CallTable(props: { calls: readonly Call[]; agents: ReadonlyMap<string, string> }) {
  const { agents } = props;
  return html`<${Table}
    caption="Calls, newest first"
    rows=${props.calls}
    rowKey=${(call: Call) => call.id}
    href=${(call: Call) => `/calls/${call.id}`}
    columns=${[
      {
        label: 'Other side',
        cell: (call: Call) => html`<span class="call-who"
          ><span class="direction" title=${call.direction === 'inbound' ? 'Inbound' : 'Outbound'}
            ><${Icon} name=${call.direction} size=${15} /><span class="sr-only">${call.direction} </span></span
          ><${Phone} number=${otherSide(call)}
        /></span>`,
      },
      {
        label: 'Status',
        narrow: 'head',
        cell: (call: Call) =>
          html`<${Status} value=${call.status} label=${call.status === 'in_progress' ? 'On the line' : undefined} />`,
      },
      {
        label: 'Agent',
        cell: (call: Call) =>
          call.agent_id === null
            ? html`<span class="dim">By a prompt</span>`
            : (agents.get(call.agent_id) ?? html`<span class="dim">Archived agent</span>`),
      },
      {
        label: 'How it ended',
        grow: true,
        cell: (call: Call) =>
          html`<span class="dim">${call.hangup_cause === null ? (isOver(call) ? '–' : 'Goes on') : causeInWords(call.hangup_cause)}</span>`,
      },
      {
        label: 'Duration',
        numeric: true,
        cell: (call: Call) =>
          isOver(call)
            ? html`<${Duration} ms=${call.duration_seconds === null ? null : call.duration_seconds * 1000} />`
            : html`<${Duration} since=${call.answered_at ?? call.created_at} />`,
      },
      {
        label: 'Cost',
        numeric: true,
        narrow: 'hide',
        cell: (call: Call) => html`<${Money} milliCents=${call.cost?.total_milli_cents} />`,
      },
      { label: 'Placed', numeric: true, cell: (call: Call) => html`<${Time} iso=${call.created_at} />` },
    ]}
  />`;
}

/** Names of the agents, archived ones too. Without them the list is still a list. */
function useAgentNames(): ReadonlyMap<string, string> {
  const agents = useLoad(async (signal) => {
    const found = await api.agents.list({ limit: 100, include_archived: true }, { signal }).all(500);
    return new Map(found.map((agent: AgentSummary) => [agent.id, agent.name]));
  }, []);
  return agents.data ?? new Map();
}

function Filters(props: {
  now: Record<Filter, string>;
  agents: ReadonlyMap<string, string>;
  filtered: boolean;
  choose: (change: Partial<Record<Filter, string>>) => void;
}) {
  const { now, agents, choose } = props;
  const [typed, setTyped] = useState(now.search);
  // On a narrow screen the filters stand behind a button; on a wide one they are always there.
  const [open, setOpen] = useState(false);
  const chosen = FILTERS.filter((name) => name !== 'search' && now[name] !== '').length;
  useEffect(() => setTyped(now.search), [now.search]);
  useEffect(() => {
    if (typed.trim() === now.search) return;
    const timer = setTimeout(() => choose({ search: typed.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return html`<form
    class=${open ? 'filters open' : 'filters'}
    role="search"
    aria-label="Calls"
    onSubmit=${(event: Event) => {
      event.preventDefault();
      choose({ search: typed.trim() });
    }}
  >
    <div class="filter-search">
      <${Field} label="Search" type="search" value=${typed} onInput=${setTyped} placeholder="Number, agent, or words that were said" />
    </div>
    <button
      type="button"
      class="button filter-toggle"
      aria-expanded=${open}
      onClick=${() => setOpen(!open)}
    >
      Filters${chosen === 0 ? '' : ` (${chosen})`}
    </button>
    <${Select}
      label="Status"
      value=${now.status}
      options=${[{ value: '', label: 'All' }, ...STATUSES.map(([value, label]) => ({ value, label }))]}
      onChange=${(status: string) => choose({ status })}
    />
    <${Select}
      label="Direction"
      value=${now.direction}
      options=${[
        { value: '', label: 'Both' },
        { value: 'inbound', label: 'Inbound' },
        { value: 'outbound', label: 'Outbound' },
      ]}
      onChange=${(direction: string) => choose({ direction })}
    />
    <${Select}
      label="Agent"
      value=${now.agent_id}
      options=${[{ value: '', label: 'All' }, ...[...agents].map(([value, label]) => ({ value, label }))]}
      onChange=${(agent_id: string) => choose({ agent_id })}
    />
    <div class="filter-dates">
      <${Field} label="From" type="date" value=${now.from} max=${now.to} onInput=${(from: string) => choose({ from })} />
      <${Field} label="To" type="date" value=${now.to} min=${now.from} onInput=${(to: string) => choose({ to })} />
    </div>
    ${props.filtered ? html`<${Button} kind="quiet" href="/calls">Clear<//>` : null}
  </form>`;
}
