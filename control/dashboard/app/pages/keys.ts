// API keys: made and shown once, when each was last used, revoked at once.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { fieldError } from '../failure.ts';
import { ask } from '../session.ts';
import { Button } from '../ui/button.ts';
import { confirm, Dialog } from '../ui/dialog.ts';
import { EmptyState, ErrorNote, Loaded } from '../ui/feedback.ts';
import { Checkbox, Field, Segments, Select } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { nowMs } from '../ui/now.ts';
import { Page, Section } from '../ui/page.ts';
import { Code, SecretDialog } from '../ui/secret.ts';
import { Badge } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';

interface Key {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scopes: string[] | null;
  expires_at: string | null;
  created_by: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

const SCOPES = [
  { value: 'read', label: 'Read calls, words, results and everything else but recordings' },
  { value: 'listen', label: 'Hear recordings' },
  { value: 'operate', label: 'Place and end calls, change agents, numbers and webhooks' },
  { value: 'admin', label: 'Rules, money, the audit log and what is kept' },
];
const DAYS = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

const isLive = (key: Key) =>
  key.revoked_at === null && (key.expires_at === null || Date.parse(key.expires_at) > nowMs.value);

function CreateDialog(props: { onClose: () => void; onCreated: (key: Key & { key: string }) => void }) {
  const [name, setName] = useState('');
  const [all, setAll] = useState('all');
  const [scopes, setScopes] = useState<readonly string[]>(['read']);
  const [days, setDays] = useState('');
  const [tried, setTried] = useState(false);
  const none = all === 'some' && scopes.length === 0 ? 'Choose one at least.' : null;
  const missing = name.trim() === '' ? 'Give it a name to know it by: Booking system.' : null;
  const create = useAction(async () =>
    props.onCreated(
      await ask<Key & { key: string }>('POST', 'keys', {
        name: name.trim(),
        scopes: all === 'all' ? null : scopes,
        expires_at: days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString(),
      }),
    ),
  );
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (missing === null && none === null) void create.run();
  };
  return html`<${Dialog}
    title="New API key"
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" type="submit" form="new-key" busy=${create.busy} onClick=${submit}>Create key<//>`}
  >
    <form class="stack" id="new-key" onSubmit=${submit}>
      <${Field}
        label="Name"
        required
        maxLength=${100}
        value=${name}
        placeholder="Booking system"
        error=${(tried ? missing : null) ?? fieldError(create.error, 'name')}
        help="Where it is used. One key for each place: then one can be revoked without the others."
        onInput=${setName}
      />
      <${Segments}
        label="What it may do"
        value=${all}
        options=${[{ value: 'all', label: 'Everything' }, { value: 'some', label: 'Some of it' }]}
        onChange=${setAll}
      />
      ${
        all === 'all'
          ? null
          : html`<fieldset class="stack tight">
              <legend class="sr-only">Scopes</legend>
              ${SCOPES.map(
                ({ value, label }) =>
                  html`<${Checkbox}
                    key=${value}
                    label=${html`<code>${value}</code> ${label}`}
                    checked=${scopes.includes(value)}
                    onChange=${(on: boolean) => setScopes(on ? [...scopes, value] : scopes.filter((one) => one !== value))}
                  />`,
              )}
              ${tried && none !== null ? html`<p class="field-error" role="alert">${none}</p>` : null}
            </fieldset>`
      }
      <${Select} label="Expires" value=${days} options=${DAYS} onChange=${setDays} />
      ${fieldError(create.error, 'name') === null ? html`<${ErrorNote} error=${create.error} title="The key was not created." focus />` : null}
    </form>
  <//>`;
}

export function KeysPage() {
  const keys = useLoad((signal) => ask<{ data: Key[] }>('GET', 'keys', undefined, signal), []);
  const [creating, setCreating] = useState(false);
  const [fresh, setFresh] = useState<(Key & { key: string }) | null>(null);
  const [showRevoked, setShowRevoked] = useState(false);
  const revoke = (key: Key) =>
    confirm({
      title: `Revoke ${key.name}?`,
      text: html`<p>Whatever uses <code>${key.prefix}…${key.last4}</code> is refused from this moment on. This cannot be undone.</p>
        <p>${key.last_used_at === null ? 'It has never been used.' : html`It was last used <${Time} iso=${key.last_used_at} />.`}</p>`,
      action: 'Revoke',
      danger: true,
      run: async () => {
        await ask('DELETE', `keys/${key.id}`);
        toast(`${key.name} is revoked.`);
        keys.reload();
      },
    });
  const create = html`<${Button} kind="primary" icon="plus" onClick=${() => setCreating(true)}>New key<//>`;
  return html`<${Page} title="API keys" actions=${create} lead="A key lets a program use the API in the name of this organization. It may do what it was made for, and never sign in here.">
    <${Loaded} load=${keys} title="The keys could not be loaded.">
      ${({ data }: { data: Key[] }) => {
        const live = data.filter(isLive);
        const revoked = data.length - live.length;
        const shown = showRevoked ? data : live;
        return html`
          ${revoked === 0 ? null : html`<${Checkbox} label=${`Show revoked and expired keys (${revoked})`} checked=${showRevoked} onChange=${setShowRevoked} />`}
          ${
            shown.length === 0
              ? html`<${EmptyState} icon="keys" title="No keys" action=${create}>Create one for each program that places calls or reads them.<//>`
              : html`<${Table}
                  caption="API keys"
                  rows=${shown}
                  rowKey=${(key: Key) => key.id}
                  columns=${[
                    {
                      label: 'Name',
                      grow: true,
                      cell: (key: Key) =>
                        html`${key.name}${key.revoked_at === null ? (isLive(key) ? null : html` <${Badge} dot=${false}>Expired<//>`) : html` <${Badge} dot=${false}>Revoked<//>`}`,
                    },
                    { label: 'Key', cell: (key: Key) => html`<code>${key.prefix}…${key.last4}</code>` },
                    {
                      label: 'May',
                      cell: (key: Key) =>
                        key.scopes === null ? 'Everything' : html`<code>${key.scopes.join(' ')}</code>`,
                    },
                    {
                      label: 'Expires',
                      cell: (key: Key) =>
                        key.expires_at === null
                          ? html`<span class="dim">No end</span>`
                          : html`<${Time} iso=${key.expires_at} />`,
                    },
                    { label: 'Created', cell: (key: Key) => html`<${Time} iso=${key.created_at} />` },
                    {
                      label: 'Last used',
                      cell: (key: Key) =>
                        key.last_used_at === null
                          ? html`<span class="dim">Never</span>`
                          : html`<${Time} iso=${key.last_used_at} />`,
                    },
                    {
                      label: 'Actions',
                      hideLabel: true,
                      cell: (key: Key) =>
                        key.revoked_at === null
                          ? html`<${Button} small kind="quiet" label=${`Revoke ${key.name}`} onClick=${() => revoke(key)}>Revoke<//>`
                          : html`<span class="dim small">revoked <${Time} iso=${key.revoked_at} /></span>`,
                    },
                  ]}
                />`
          }`;
      }}
    <//>
    <${Section} title="Use a key" lead="Send it as a Bearer token. Keep it out of web pages and apps: whoever reads it can place calls.">
      <${Code} label="request with an API key" text=${`curl ${location.origin}/v1/agents -H "Authorization: Bearer sk_…"`} />
      <p class="help">Everything the API can do is in <a href="/docs" target="_blank" rel="noopener">its reference</a>.</p>
    <//>
    ${
      creating
        ? html`<${CreateDialog}
            onClose=${() => setCreating(false)}
            onCreated=${(key: Key & { key: string }) => {
              setCreating(false);
              setFresh(key);
              keys.reload();
            }}
          />`
        : null
    }
    ${
      fresh === null
        ? null
        : html`<${SecretDialog} title=${`${fresh.name} is created`} label="API key" secret=${fresh.key} onClose=${() => setFresh(null)}>
            <p>This is the key. Only its hash is stored: copy it now to where it is used.</p>
          <//>`
    }
  <//>`;
}
