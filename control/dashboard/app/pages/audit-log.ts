// The audit log: who did what, newest first, and all of it as CSV.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Action } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { Button } from '../ui/button.ts';
import { EmptyState } from '../ui/feedback.ts';
import { Select } from '../ui/field.ts';
import { usePages } from '../ui/load.ts';
import { Page } from '../ui/page.ts';
import { Badge } from '../ui/status.ts';
import { PagedTable } from '../ui/table.ts';
import { Time } from '../ui/values.ts';

const WHAT = [
  { value: '', label: 'Everything' },
  { value: 'signIn', label: 'Signed in' },
  { value: 'signInFailed', label: 'Failed to sign in' },
  { value: 'createCall', label: 'Placed a call' },
  { value: 'updateAgent', label: 'Changed an agent' },
  { value: 'createKey', label: 'Made a key' },
  { value: 'invitePerson', label: 'Invited somebody' },
  { value: 'changePerson', label: 'Changed a person' },
];

/** An operation's name in words: `updateAgent` is "Update agent". */
const words = (action: string) => {
  const text = action.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
};

const PAGES: Record<string, string> = { agent: '/agents', call: '/calls', webhook_endpoint: '/webhooks' };

function Target(props: { row: Action }) {
  const { target_kind: kind, target_id: id } = props.row;
  if (kind === null) return html`<span class="dim">–</span>`;
  const label = kind.replaceAll('_', ' ');
  if (id === null) return label;
  const page = PAGES[kind];
  return html`<span title=${id}>${page === undefined ? label : html`<a href=${`${page}/${id}`}>${label}</a>`} <code class="dim">${id.slice(-6)}</code></span>`;
}

export function AuditLogPage() {
  const [action, setAction] = useState('');
  const query = action === '' ? {} : { action };
  const rows = usePages<Action>(
    (after) =>
      api.auditLog.list({ ...query, limit: 50, ...(after === undefined ? {} : { starting_after: after }) }),
    [action],
  );
  const file = `/dashboard/api/v1/audit_log.csv${action === '' ? '' : `?action=${action}`}`;
  return html`<${Page}
    title="Audit log"
    lead="Who changed what, and who signed in. Rows are never changed; none holds what was said."
    actions=${html`<${Button} icon="download" href=${file} download="audit-log.csv">Export CSV<//>`}
  >
    <div class="narrow"><${Select} label="Show" value=${action} options=${WHAT} onChange=${setAction} /></div>
    <${PagedTable}
      pages=${rows}
      caption="Audit log"
      rowKey=${(row: Action) => row.id}
      dense
      empty=${html`<${EmptyState} icon="audit" title="Nothing of this yet">What people and keys change is listed here.<//>`}
      columns=${[
        {
          label: 'Did',
          grow: true,
          cell: (row: Action) =>
            html`${words(row.action)}${row.action === 'signInFailed' ? html` <${Badge} tone="warn">${Number(row.detail?.attempts ?? 1)}×<//>` : null}`,
        },
        {
          label: 'Who',
          cell: (row: Action) =>
            html`${row.actor_name}${row.actor_kind === 'key' ? html` <${Badge} dot=${false}>Key<//>` : null}`,
        },
        { label: 'To', cell: (row: Action) => html`<${Target} row=${row} />` },
        { label: 'From', cell: (row: Action) => row.address ?? '–' },
        { label: 'When', cell: (row: Action) => html`<${Time} iso=${row.created_at} />` },
      ]}
    />
  <//>`;
}
