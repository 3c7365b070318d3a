// The contacts of a campaign: found by number and by how they stand, with what their calls brought.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { Campaign, CampaignContact } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { outcomeInWords } from '../../forms/campaign-form.ts';
import { EmptyState } from '../../ui/feedback.ts';
import { Field, Select } from '../../ui/field.ts';
import { usePages } from '../../ui/load.ts';
import { Section } from '../../ui/page.ts';
import { Badge, type Tone, toneOf } from '../../ui/status.ts';
import { PagedTable } from '../../ui/table.ts';
import { Phone, Time } from '../../ui/values.ts';

const PAGE = 50;
const EVERY_MS = 5_000;

type Status = CampaignContact['status'];
const STATUSES: readonly { value: '' | Status; label: string }[] = [
  { value: '', label: 'Everybody' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'calling', label: 'On a call' },
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Refused' },
  { value: 'skipped', label: 'Skipped' },
];

function toneOfOutcome(outcome: string): Tone {
  if (outcome === 'answered') return 'ok';
  if (outcome === 'cut' || outcome.startsWith('refused')) return 'bad';
  return outcome === 'voicemail' ? 'warn' : toneOf(outcome);
}

function Standing(props: { contact: CampaignContact }) {
  const { status, outcome, next_attempt_at, waits_for } = props.contact;
  if (outcome !== null) return html`<${Badge} tone=${toneOfOutcome(outcome)}>${outcomeInWords(outcome)}<//>`;
  if (status === 'calling') return html`<${Badge} tone="info">On a call<//>`;
  if (next_attempt_at === null) return html`<${Badge}>Waiting<//>`;
  const why = { retry: 'Again', window: 'His hours:', gate: 'Your rules:' }[waits_for ?? 'retry'];
  return html`<span><${Badge}>Waiting<//> <span class="dim small">${why} <${Time} iso=${next_attempt_at} /></span></span>`;
}

/** What a call brought, or else what the agent is told, in a line. */
function inALine(values: Record<string, unknown>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== '')
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join(', ');
}

export function ContactsTable(props: { campaign: Campaign }) {
  const { id, status, contacts } = props.campaign;
  const [wanted, setWanted] = useState<'' | Status>('');
  const [search, setSearch] = useState('');
  const digits = search.replace(/[^\d+]/g, '');
  const pages = usePages<CampaignContact>(
    (after) =>
      api.campaigns.contacts(id, {
        limit: PAGE,
        ...(wanted === '' ? {} : { status: wanted }),
        ...(digits.length < 2 ? {} : { search: digits }),
        ...(after === undefined ? {} : { starting_after: after }),
      }),
    [id, wanted, digits, contacts.total, status],
  );
  // Who has turned to later pages reads them, and is not thrown back.
  const isFirst = (pages.items?.length ?? 0) <= PAGE;
  useEffect(() => {
    if (status !== 'running' || !isFirst) return;
    const timer = setInterval(pages.reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [id, status, isFirst, wanted, digits]);
  if (contacts.total === 0) return null;
  return html`<${Section} title="Contacts">
    <div class="filters">
      <${Field} label="Number" type="search" value=${search} placeholder="Digits of it" onInput=${setSearch} />
      <${Select} label="Show" value=${wanted} options=${STATUSES} onChange=${setWanted} />
    </div>
    <${PagedTable}
      pages=${pages}
      caption="Contacts of the campaign"
      rowKey=${(contact: CampaignContact) => contact.id}
      columns=${[
        {
          label: 'Number',
          cell: (contact: CampaignContact) => html`<${Phone} number=${contact.to_number} />`,
        },
        {
          label: 'Status',
          cell: (contact: CampaignContact) => html`<${Standing} contact=${contact} />`,
        },
        { label: 'Calls', numeric: true, cell: (contact: CampaignContact) => contact.attempts },
        {
          label: 'Told and brought back',
          grow: true,
          cell: (contact: CampaignContact) =>
            html`<span class="dim small">${inALine(contact.context)}</span>${contact.result === null ? null : html`<br /><span class="small">${inALine(contact.result)}</span>`}`,
        },
        {
          label: 'Last call',
          cell: (contact: CampaignContact) =>
            contact.last_call_id === null
              ? html`<span class="dim">–</span>`
              : html`<a href=${`/calls/${contact.last_call_id}`}>Open<span class="sr-only"> the last call to ${contact.to_number}</span></a>`,
        },
      ]}
      empty=${html`<${EmptyState} title="Nobody fits." />`}
    />
  <//>`;
}
