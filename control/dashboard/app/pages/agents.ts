// The list of agents: what they are, where they can be reached, what they did lately.
import { html } from 'htm/preact';
import type { AgentSummary, Call, PhoneNumber } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { counted } from '../format.ts';
import { withQuery } from '../route-match.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, Loaded, Skeleton } from '../ui/feedback.ts';
import { Checkbox, Segments } from '../ui/field.ts';
import { useLoad, usePages } from '../ui/load.ts';
import { Page } from '../ui/page.ts';
import { navigate, query } from '../ui/router.ts';
import { Badge } from '../ui/status.ts';
import { PagedTable } from '../ui/table.ts';
import { Phone, Time } from '../ui/values.ts';
import { TemplateCards } from './agent/templates-page.ts';
import { AgentType } from './agent-type.ts';

/** Of how many of the newest calls the list tells. */
const LATELY = 100;

interface Around {
  numbers: Map<string, PhoneNumber[]>;
  calls: Map<string, { count: number; last: string }>;
  callCount: number;
}

function byAgent(numbers: readonly PhoneNumber[], calls: readonly Call[]): Around {
  const around: Around = { numbers: new Map(), calls: new Map(), callCount: calls.length };
  for (const number of numbers) {
    if (number.status !== 'active') continue;
    const ids = [
      ...(number.inbound_agent_id === null ? [] : [number.inbound_agent_id]),
      ...number.outbound_agent_ids,
    ];
    for (const id of ids) around.numbers.set(id, [...(around.numbers.get(id) ?? []), number]);
  }
  for (const call of calls) {
    if (call.agent_id === null) continue;
    const seen = around.calls.get(call.agent_id);
    // Newest first: the first one seen is the last call.
    around.calls.set(call.agent_id, { count: (seen?.count ?? 0) + 1, last: seen?.last ?? call.created_at });
  }
  return around;
}

function Numbers(props: { numbers: readonly PhoneNumber[]; archived: boolean }) {
  const [first] = props.numbers;
  if (first === undefined) {
    return props.archived ? html`<span class="dim">–</span>` : html`<${Badge} tone="warn">No number<//>`;
  }
  return html`<span><${Phone} number=${first.e164} />${props.numbers.length > 1 ? html` <span class="dim">+ ${props.numbers.length - 1}</span>` : null}</span>`;
}

export function AgentsPage() {
  const type = query.value.get('type') ?? '';
  const archived = query.value.get('archived') === 'true';
  const agents = usePages<AgentSummary>(
    (startingAfter) =>
      api.agents.list({
        ...(type === 'inbound' || type === 'outbound' ? { type } : {}),
        ...(archived ? { include_archived: true } : {}),
        ...(startingAfter === undefined ? {} : { starting_after: startingAfter }),
      }),
    [type, archived],
  );
  const around = useLoad(async () => {
    const [numbers, calls] = await Promise.all([
      api.numbers.list({ limit: 100 }).all(500),
      api.calls.list({ limit: LATELY }),
    ]);
    return byAgent(numbers, calls.data);
  }, []);
  const filter = (change: { type?: string; archived?: boolean }) =>
    void navigate(
      withQuery('/agents', {
        type: change.type ?? type,
        archived: (change.archived ?? archived) ? 'true' : undefined,
      }),
      { replace: true, quiet: true },
    );
  const create = html`<${Button} needs="operate" kind="primary" icon="plus" href="/agents/new">New agent<//>`;
  const filtered = type !== '';
  return html`<${Page} title="Agents" lead="An agent is who speaks on a call: its task, its voice, what it may do and what it brings back." actions=${create}>
    <div class="row">
      <${Segments}
        label="Kind of agent"
        value=${type}
        options=${[
          { value: '', label: 'All' },
          { value: 'inbound', label: 'Answer calls' },
          { value: 'outbound', label: 'Place calls' },
        ]}
        onChange=${(value: string) => filter({ type: value })}
      />
      <${Checkbox} label="Show archived" checked=${archived} onChange=${(value: boolean) => filter({ archived: value })} />
    </div>
    <${PagedTable}
      pages=${agents}
      caption="Agents"
      rowKey=${(agent: AgentSummary) => agent.id}
      href=${(agent: AgentSummary) => `/agents/${agent.id}`}
      columns=${[
        {
          label: 'Name',
          grow: true,
          cell: (agent: AgentSummary) =>
            html`<span class="agent-name">${agent.name}</span>${agent.archived_at === null ? null : html` <${Badge} dot=${false}>Archived<//>`}`,
        },
        { label: 'Kind', cell: (agent: AgentSummary) => html`<${AgentType} type=${agent.type} />` },
        {
          label: 'Number',
          cell: (agent: AgentSummary) =>
            around.data === undefined
              ? html`<span class="dim">…</span>`
              : html`<${Numbers} numbers=${around.data.numbers.get(agent.id) ?? []} archived=${agent.archived_at !== null} />`,
        },
        {
          label: 'Calls lately',
          cell: (agent: AgentSummary) => {
            const seen = around.data?.calls.get(agent.id);
            return seen === undefined
              ? html`<span class="dim">${around.data === undefined ? '…' : '–'}</span>`
              : html`<span><a href=${withQuery('/calls', { agent_id: agent.id })}>${counted(seen.count, 'call')}</a><span class="dim">, <${Time} iso=${seen.last} /></span></span>`;
          },
        },
      ]}
      empty=${
        filtered
          ? html`<${EmptyState} icon="agents" title=${type === 'inbound' ? 'No agent answers calls' : 'No agent places calls'} action=${create}>
              Create one of this kind, or show all.
            <//>`
          : html`<${EmptyState} icon="agents" title="No agents yet" action=${create}>
              An agent answers your number or places calls for you. Create one, try it here in the browser, then give it a
              number.
            <//>
            <h2>Begin from one of these</h2>
            <${TemplateCards} />`
      }
    />
    ${around.error === null ? null : html`<${Loaded} load=${around} skeleton=${html`<${Skeleton} />`} title="Numbers and calls of the agents could not be loaded.">${() => null}<//>`}
    ${around.data !== undefined && around.data.callCount >= LATELY ? html`<p class="dim small">Calls lately: of the ${LATELY} newest calls.</p>` : null}
  <//>`;
}
