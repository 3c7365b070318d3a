// The campaigns of the organization, and the beginning of a new one.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { AgentSummary, Campaign } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import { count, counted, percent } from '../../format.ts';
import { shareDone } from '../../forms/campaign-form.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote } from '../../ui/feedback.ts';
import { Field, Select } from '../../ui/field.ts';
import { useAction, useLoad, usePages } from '../../ui/load.ts';
import { Page } from '../../ui/page.ts';
import { navigate } from '../../ui/router.ts';
import { Badge, type Tone } from '../../ui/status.ts';
import { PagedTable } from '../../ui/table.ts';
import { Time } from '../../ui/values.ts';

const STATUS: Record<Campaign['status'], { tone: Tone; label: string }> = {
  draft: { tone: 'idle', label: 'Draft' },
  running: { tone: 'info', label: 'Running' },
  paused: { tone: 'warn', label: 'Paused' },
  completed: { tone: 'ok', label: 'Completed' },
  stopped: { tone: 'idle', label: 'Stopped' },
};

export function CampaignStatus(props: { status: Campaign['status'] }) {
  const { tone, label } = STATUS[props.status];
  return html`<${Badge} tone=${tone}>${label}<//>`;
}

/** How far it is: a bar, and the same in words. */
export function Progress(props: { contacts: Campaign['contacts'] }) {
  const { contacts } = props;
  const share = shareDone(contacts);
  const said = `${count(contacts.total - contacts.waiting - contacts.calling)} of ${counted(contacts.total, 'contact')}`;
  return html`<span class="progress"
    ><progress max="1" value=${share} aria-label=${`${percent(share)} done`}></progress
    ><span class="dim small">${contacts.total === 0 ? 'No contacts yet' : said}</span></span
  >`;
}

function NewCampaign(props: { agents: readonly AgentSummary[]; onClose: () => void }) {
  const able = props.agents.filter((agent) => agent.type === 'outbound' && agent.archived_at === null);
  const [name, setName] = useState('');
  const [agentId, setAgentId] = useState(able[0]?.id ?? '');
  const create = useAction(async () => {
    const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const made = await api.campaigns.create({ name, agent_id: agentId, ...(time_zone ? { time_zone } : {}) });
    props.onClose();
    navigate(`/campaigns/${made.id}`);
  });
  const blamed = (field: string) => fieldError(create.error, field);
  return html`<${Dialog} title="New campaign" onClose=${props.onClose}>
    ${
      able.length === 0
        ? html`<p>A campaign calls with an agent that places calls, and there is none yet. <a href="/agents/new" onClick=${props.onClose}>Create one</a></p>`
        : html`<form
            class="stack"
            onSubmit=${(event: Event) => {
              event.preventDefault();
              void create.run();
            }}
          >
            <${Field} label="Name" value=${name} required onInput=${setName} error=${blamed('name')} placeholder="Reminders for March" />
            <${Select}
              label="Agent"
              value=${agentId}
              error=${blamed('agent_id')}
              help="Who calls. It needs a number to call from."
              options=${able.map((agent) => ({ value: agent.id, label: agent.name }))}
              onChange=${setAgentId}
            />
            ${blamed('name') === null && blamed('agent_id') === null ? html`<${ErrorNote} error=${create.error} title="The campaign was not made." />` : null}
            <p><${Button} type="submit" kind="primary" busy=${create.busy}>Create the draft<//></p>
            <p class="help">Nobody is called before you start it. Contacts and hours come next.</p>
          </form>`
    }
  <//>`;
}

export function CampaignsPage() {
  const [isMaking, setMaking] = useState(false);
  const pages = usePages<Campaign>(
    (after) => api.campaigns.list({ limit: 50, ...(after === undefined ? {} : { starting_after: after }) }),
    [],
  );
  const agents = useLoad(() => api.agents.list({ limit: 100, include_archived: true }).all(500), []);
  const names = new Map((agents.data ?? []).map((agent) => [agent.id, agent.name]));
  const make = html`<${Button} kind="primary" icon="plus" onClick=${() => setMaking(true)}>New campaign<//>`;
  return html`<${Page}
    title="Campaigns"
    actions=${make}
    lead="Many calls by one agent, to a list of contacts: at your pace, in the hours of whoever is called, again where nobody answered."
  >
    <${PagedTable}
      pages=${pages}
      caption="Your campaigns"
      rowKey=${(campaign: Campaign) => campaign.id}
      href=${(campaign: Campaign) => `/campaigns/${campaign.id}`}
      columns=${[
        { label: 'Name', cell: (campaign: Campaign) => campaign.name },
        {
          label: 'Status',
          cell: (campaign: Campaign) => html`<${CampaignStatus} status=${campaign.status} />`,
        },
        { label: 'Agent', cell: (campaign: Campaign) => names.get(campaign.agent_id) ?? 'Agent' },
        {
          label: 'Progress',
          grow: true,
          cell: (campaign: Campaign) => html`<${Progress} contacts=${campaign.contacts} />`,
        },
        { label: 'Made', cell: (campaign: Campaign) => html`<${Time} iso=${campaign.created_at} />` },
      ]}
      empty=${html`<${EmptyState} icon="campaigns" title="No campaigns yet" action=${make}>
        Drop a file of contacts, say when and how often they may be called, and start: every contact ends with an outcome and what
        the agent brought back.
      <//>`}
    />
    ${isMaking && agents.data !== undefined ? html`<${NewCampaign} agents=${agents.data} onClose=${() => setMaking(false)} />` : null}
    <${ErrorNote} error=${agents.error} title="The agents could not be loaded." retry=${agents.reload} />
  <//>`;
}
