// All calls, newest first: search, filters and place in the address, so that a view can be kept and sent.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentSummary, Call } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { onCallsChanged } from '../live-stream.ts';
import { withQuery } from '../route-match.ts';
import { ask } from '../session.ts';
import type { CallTotals } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, ErrorNote, Skeleton } from '../ui/feedback.ts';
import { Field, Select } from '../ui/field.ts';
import { coalesced, useLoad } from '../ui/load.ts';
import { Page } from '../ui/page.ts';
import { navigate, query } from '../ui/router.ts';
import { Pager } from '../ui/table.ts';
import { announce } from '../ui/toast.ts';
import { CallTable, ColumnChoice, keepColumns, readColumns, Totals } from './call-list.ts';

const PAGE = 50;
const TYPING_MS = 350;
const FRESH_MS = 1500;
const FILTERS = ['search', 'status', 'direction', 'agent_id', 'from', 'to'] as const;
type Filter = (typeof FILTERS)[number];

const STATUSES: readonly [Call['status'], string][] = [
  ['queued', 'Waits to be dialled'],
  ['initiated', 'Being dialled'],
  ['ringing', 'Rings'],
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
  const asked = queryOf(now);
  const calls = useLoad(
    async (signal) =>
      api.calls.list(
        {
          limit: PAGE,
          ...(after === '' ? {} : { starting_after: after }),
          ...asked,
        },
        { signal },
      ),
    [query.value.toString()],
  );
  // A search is not added up: it would be made twice.
  const totals = useLoad(
    async (signal) =>
      now.search === '' ? ask<CallTotals>('GET', withQuery('call_totals', asked), undefined, signal) : null,
    [withQuery('', asked)],
  );
  const [chosen, setChosen] = useState(readColumns);
  const agents = useAgentNames();
  useFreshness(after === '', () => {
    calls.reload();
    totals.reload();
  });
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

  const list = calls.data?.data;
  return html`<${Page} title="Calls">
    <${Filters} now=${now} agents=${agents} filtered=${filtered} choose=${choose} />
    ${calls.error === null ? null : html`<${ErrorNote} error=${calls.error} title="The calls could not be read." retry=${calls.reload} />`}
    ${
      calls.data === undefined || calls.error !== null
        ? calls.error === null
          ? html`<div class="card" aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} lines=${10} /></div>`
          : null
        : html`<div class=${calls.loading ? 'stack stale' : 'stack'} aria-busy=${calls.loading ? 'true' : undefined}>
            ${
              list === undefined || list.length === 0
                ? html`<${Nothing} filtered=${filtered} after=${after} />`
                : html`<div class="list-head">
                      ${totals.data === undefined || totals.data === null ? html`<span></span>` : html`<${Totals} totals=${totals.data} />`}
                      <div class="row">
                        <${ColumnChoice}
                          chosen=${chosen}
                          choose=${(to: typeof chosen) => {
                            setChosen(to);
                            keepColumns(to);
                          }}
                        />
                        <${Button} small icon="download" href=${withQuery('/dashboard/api/v1/calls.csv', { ...asked, bom: 'true' })} download="">Export CSV<//>
                      </div>
                    </div>
                    <${CallTable} calls=${list} agents=${agents} chosen=${chosen} />`
            }
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

/** The filters as the API takes them. */
function queryOf(now: Record<Filter, string>) {
  const [after, before] = [dayAt(now.from, false), dayAt(now.to, true)];
  return {
    ...(now.search === '' ? {} : { search: now.search }),
    ...(now.status === '' ? {} : { status: now.status as Call['status'] }),
    ...(now.direction === '' ? {} : { direction: now.direction as Call['direction'] }),
    ...(now.agent_id === '' ? {} : { agent_id: now.agent_id }),
    ...(after === undefined ? {} : { created_after: after }),
    ...(before === undefined ? {} : { created_before: before }),
  };
}

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
