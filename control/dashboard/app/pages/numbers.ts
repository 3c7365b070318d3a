// The numbers of the organization: who answers and who calls from each, what it costs, attaching and giving back.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { AgentSummary, PhoneNumber } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { fieldError } from '../failure.ts';
import { counted, phone, words } from '../format.ts';
import { monthlyPrice } from '../forms/dollars.ts';
import { Button } from '../ui/button.ts';
import { confirm, Dialog } from '../ui/dialog.ts';
import { EmptyState, ErrorNote, Note } from '../ui/feedback.ts';
import { Checkbox, Select } from '../ui/field.ts';
import { Icon } from '../ui/icon.ts';
import { useAction, useLoad, usePages } from '../ui/load.ts';
import { Page } from '../ui/page.ts';
import { Badge, Status } from '../ui/status.ts';
import { PagedTable } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Phone, Time } from '../ui/values.ts';

type AgentNames = Map<string, AgentSummary>;

/** The ids of the agents that have a number, the one that answers it first. */
function agentIds(number: PhoneNumber): string[] {
  return [
    ...(number.inbound_agent_id === null ? [] : [number.inbound_agent_id]),
    ...number.outbound_agent_ids,
  ];
}

function Attached(props: { number: PhoneNumber; agents: AgentNames }) {
  const { number, agents } = props;
  if (number.status !== 'active') return html`<span class="dim">–</span>`;
  const link = (id: string, icon: 'inbound' | 'outbound') =>
    html`<a class="agent-link" key=${id} href=${`/agents/${id}`}><${Icon} name=${icon} size=${13} />${agents.get(id)?.name ?? 'Agent'}<span class="sr-only"> ${icon === 'inbound' ? 'answers it' : 'calls from it'}</span></a>`;
  return html`<span class="agent-links">
    ${number.inbound_agent_id === null ? html`<${Badge} tone=${number.outbound_agent_ids.length === 0 ? 'warn' : 'idle'} dot=${false}>${number.outbound_agent_ids.length === 0 ? 'Not in use' : 'Nobody answers'}<//>` : link(number.inbound_agent_id, 'inbound')}
    ${number.outbound_agent_ids.map((id) => link(id, 'outbound'))}
  </span>`;
}

/** Which agents have a number: attach one more, detach one. */
function AgentsDialog(props: {
  number: PhoneNumber;
  agents: readonly AgentSummary[];
  onClose: () => void;
  onChange: (number: PhoneNumber) => void;
}) {
  const { number } = props;
  const [chosen, setChosen] = useState('');
  const attached = agentIds(number);
  const free = props.agents.filter((agent) => agent.archived_at === null && !attached.includes(agent.id));
  const takeOver = (agent: { id: string; numbers: readonly PhoneNumber[] }) => {
    const fresh = agent.numbers.find((one) => one.id === number.id);
    if (fresh !== undefined) props.onChange(fresh);
  };
  const attach = useAction(async () => {
    takeOver(await api.agents.attachNumber(chosen, { number_id: number.id }));
    toast(`Attached to ${props.agents.find((agent) => agent.id === chosen)?.name ?? 'the agent'}.`);
    setChosen('');
  });
  const detach = useAction(async (id: string) => {
    await api.agents.detachNumber(id, number.id);
    props.onChange({
      ...number,
      inbound_agent_id: number.inbound_agent_id === id ? null : number.inbound_agent_id,
      outbound_agent_ids: number.outbound_agent_ids.filter((one) => one !== id),
    });
    toast('Detached.');
  });
  const error = fieldError(attach.error, 'number_id');
  return html`<${Dialog} title=${`Agents of ${phone(number.e164)}`} onClose=${props.onClose}>
    <div class="stack">
      ${
        attached.length === 0
          ? html`<p class="dim">None yet: calls to it are rejected, and nobody calls from it.</p>`
          : html`<ul class="plain-list">
              ${attached.map((id) => {
                const agent = props.agents.find((one) => one.id === id);
                return html`<li key=${id}>
                  <span><a href=${`/agents/${id}`} onClick=${props.onClose}>${agent?.name ?? 'Agent'}</a>
                    <span class="dim"> ${id === number.inbound_agent_id ? 'answers it' : 'calls from it'}</span></span>
                  <${Button} small kind="quiet" label=${`Detach ${agent?.name ?? 'agent'}`} busy=${detach.busy} onClick=${() => detach.run(id)}>Detach<//>
                </li>`;
              })}
            </ul>`
      }
      <${ErrorNote} error=${detach.error} title="The number was not detached." />
      ${
        props.agents.length === 0
          ? html`<p>There is no agent yet. <a href="/agents/new" onClick=${props.onClose}>Create one</a></p>`
          : html`<form
              class="attach"
              onSubmit=${(event: Event) => {
                event.preventDefault();
                if (chosen !== '') void attach.run();
              }}
            >
              <${Select}
                label="Attach an agent"
                value=${chosen}
                error=${error}
                options=${[
                  { value: '', label: free.length === 0 ? 'Every agent has it already' : 'Choose…' },
                  ...free.map((agent) => {
                    const taken = agent.type === 'inbound' && number.inbound_agent_id !== null;
                    return {
                      value: agent.id,
                      label: `${agent.name} (${agent.type === 'inbound' ? 'answers calls' : 'places calls'}${taken ? '; another one answers it' : ''})`,
                      disabled: taken,
                    };
                  }),
                ]}
                onChange=${setChosen}
              />
              <${Button} type="submit" kind="primary" busy=${attach.busy} disabled=${chosen === ''}>Attach<//>
            </form>
            <p class="help">One agent answers a number; any count of others may call from it.</p>`
      }
      ${error === null ? html`<${ErrorNote} error=${attach.error} title="The number was not attached." />` : null}
    </div>
  <//>`;
}

function release(number: PhoneNumber, agents: AgentNames, onDone: (number: PhoneNumber) => void): void {
  const attached = agentIds(number);
  const names = attached.map((id) => agents.get(id)?.name ?? 'an agent').join(', ');
  void confirm({
    title: `Release ${phone(number.e164)}?`,
    text: html`<p>It goes back to the carrier for good: calls to it no longer reach you, somebody else may get it, and its price of ${monthlyPrice(number.monthly_cost_cents)} a month is no longer charged.</p>
      ${attached.length === 0 ? null : html`<${Note} kind="warn" title=${`It is attached to ${names}.`}><p>Releasing detaches it there first.</p><//>`}`,
    action: attached.length === 0 ? 'Release the number' : 'Detach and release',
    danger: true,
    run: async () => {
      for (const id of attached) await api.agents.detachNumber(id, number.id);
      onDone(await api.numbers.release(number.id));
      toast(`${phone(number.e164)} is released.`);
    },
  });
}

export function NumbersPage() {
  const [showReleased, setShowReleased] = useState(false);
  const [managed, setManaged] = useState<string | null>(null);
  const pages = usePages<PhoneNumber>(
    (startingAfter) =>
      api.numbers.list({
        limit: 100,
        ...(startingAfter === undefined ? {} : { starting_after: startingAfter }),
      }),
    [],
  );
  const agents = useLoad(() => api.agents.list({ limit: 100, include_archived: true }).all(500), []);
  const names: AgentNames = new Map((agents.data ?? []).map((agent) => [agent.id, agent]));
  const all = pages.items;
  const active = (all ?? []).filter((number) => number.status === 'active');
  const released = (all ?? []).length - active.length;
  const shown = { ...pages, items: all === undefined ? undefined : showReleased ? all : active };
  const replace = (number: PhoneNumber) =>
    pages.update((items) => items.map((old) => (old.id === number.id ? number : old)));
  const current = active.find((number) => number.id === managed);
  const buy = html`<${Button} needs="operate" kind="primary" icon="plus" href="/numbers/buy">Buy a number<//>`;
  const cost = active.reduce((sum, number) => sum + number.monthly_cost_cents, 0);
  return html`<${Page}
    title="Numbers"
    actions=${buy}
    lead=${
      active.length === 0
        ? 'The phone numbers that people call, and that your agents call from.'
        : `${counted(active.length, 'number')}${pages.hasMore ? ' so far' : ''}, ${monthlyPrice(cost)} a month.`
    }
  >
    ${released === 0 ? null : html`<${Checkbox} label=${`Show ${counted(released, 'released number')}`} checked=${showReleased} onChange=${setShowReleased} />`}
    <${PagedTable}
      pages=${shown}
      caption="Your numbers"
      rowKey=${(number: PhoneNumber) => number.id}
      columns=${[
        {
          label: 'Number',
          cell: (number: PhoneNumber) =>
            html`<${Phone} number=${number.e164} />${number.friendly_name === '' || number.friendly_name.replace(/\D/g, '') === number.e164.slice(-10) ? null : html`<br /><span class="dim small">${number.friendly_name}</span>`}`,
        },
        {
          label: 'Kind',
          cell: (number: PhoneNumber) => `${number.country_code}, ${words(number.number_type).toLowerCase()}`,
        },
        {
          label: 'Agents',
          grow: true,
          cell: (number: PhoneNumber) => html`<${Attached} number=${number} agents=${names} />`,
        },
        {
          label: 'A month',
          numeric: true,
          cell: (number: PhoneNumber) => monthlyPrice(number.monthly_cost_cents),
        },
        {
          label: 'Bought',
          cell: (number: PhoneNumber) =>
            number.status === 'active'
              ? html`<${Time} iso=${number.purchased_at} />`
              : html`<${Status} value="released" />`,
        },
        {
          label: 'Actions',
          hideLabel: true,
          cell: (number: PhoneNumber) =>
            number.status !== 'active'
              ? null
              : html`<span class="row-actions">
                  <${Button} small label=${`Agents of ${phone(number.e164)}`} onClick=${() => setManaged(number.id)}>Agents…<//>
                  <${Button} small kind="quiet" label=${`Release ${phone(number.e164)}`} onClick=${() => release(number, names, replace)}>Release<//>
                </span>`,
        },
      ]}
      empty=${html`<${EmptyState} icon="numbers" title=${released === 0 ? 'No numbers yet' : 'No active numbers'} action=${buy}>
        Search for one by country, area code or digits, see what it costs a month, and attach it to an agent: from then on it
        is answered.
      <//>`}
    />
    <${ErrorNote} error=${agents.error} title="The agents could not be loaded." retry=${agents.reload} />
    ${current === undefined ? null : html`<${AgentsDialog} number=${current} agents=${agents.data ?? []} onClose=${() => setManaged(null)} onChange=${replace} />`}
  <//>`;
}
