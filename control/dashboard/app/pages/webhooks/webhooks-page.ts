// Webhooks: the endpoints with how they do, the default secret, and how a receiver checks what it gets.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { WebhookDelivery, WebhookEndpoint } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { counted, words } from '../../format.ts';
import {
  attemptError,
  disabledReason,
  type SnippetLanguage,
  verifySnippet,
} from '../../forms/webhook-words.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote, Loaded, Note, Skeleton } from '../../ui/feedback.ts';
import { Segments } from '../../ui/field.ts';
import { useLoad, usePages } from '../../ui/load.ts';
import { Page, Section } from '../../ui/page.ts';
import { navigate } from '../../ui/router.ts';
import { Code, SecretDialog } from '../../ui/secret.ts';
import { Status } from '../../ui/status.ts';
import { Time } from '../../ui/values.ts';
import { EndpointDialog } from './endpoint-form.ts';

const GLANCE = 20;

/** The newest deliveries as a row of marks, oldest first, and in words. */
export function Glance(props: { endpointId: string; round?: number }) {
  const load = useLoad(
    async (signal) =>
      (await api.webhookDeliveries.list({ endpoint_id: props.endpointId, limit: GLANCE }, { signal })).data,
    [props.endpointId, props.round],
  );
  if (load.data === undefined) {
    return load.error === null
      ? html`<span class="dim small">…</span>`
      : html`<span class="dim small">Its deliveries could not be loaded.</span>`;
  }
  const deliveries = load.data;
  if (deliveries.length === 0) return html`<span class="dim small">Nothing sent yet.</span>`;
  const good = deliveries.filter((one) => one.status === 'delivered').length;
  const failed = deliveries.filter((one) => one.status === 'exhausted').length;
  const waiting = deliveries.length - good - failed;
  const last = deliveries.find((one) => one.last_error !== null);
  return html`<div class="glance">
    <span class="marks" aria-hidden="true">
      ${[...deliveries].reverse().map((one: WebhookDelivery) => html`<span key=${one.id} class=${`mark ${one.status}${one.status === 'pending' && one.attempt_count > 0 ? ' retrying' : ''}`} title=${`${one.event_type}: ${words(one.status).toLowerCase()}`}></span>`)}
    </span>
    <span class="small">${good} of the last ${deliveries.length} delivered${failed > 0 ? `, ${failed} given up` : ''}${waiting > 0 ? `, ${waiting} on ${waiting === 1 ? 'its' : 'their'} way` : ''}.</span>
    ${last === undefined ? null : html`<span class="dim small">Last failure, <${Time} iso=${last.updated_at} />: ${attemptError(last.last_error ?? '')}</span>`}
  </div>`;
}

export function EventsOf(props: { endpoint: WebhookEndpoint }) {
  const names = props.endpoint.enabled_events;
  return names.includes('*')
    ? html`All events`
    : html`<span class="event-names">${names.map((name) => html`<code key=${name}>${name}</code>`)}</span>`;
}

/** Its failures in a row, and why it is off. */
export function EndpointTrouble(props: { endpoint: WebhookEndpoint }) {
  const { endpoint } = props;
  if (endpoint.status === 'disabled') {
    return html`<${Note} kind=${endpoint.disabled_reason === 'manual' ? 'info' : 'warn'} title=${endpoint.disabled_reason === 'manual' ? 'Disabled' : 'Disabled after too many failures'}>
      <p>${disabledReason(endpoint.disabled_reason)}${endpoint.disabled_at === null ? null : html` Since <${Time} iso=${endpoint.disabled_at} as="exact" />.`}</p>
    <//>`;
  }
  if (endpoint.consecutive_failures === 0) return null;
  return html`<${Note} kind="warn" title=${`${counted(endpoint.consecutive_failures, 'delivery', 'deliveries')} given up in a row`}>
    <p>At 10 the endpoint is switched off. A delivery that goes through starts the count anew.</p>
  <//>`;
}

function EndpointCard(props: { endpoint: WebhookEndpoint }) {
  const { endpoint } = props;
  return html`<li class="card endpoint">
    <div class="endpoint-head">
      <a class="endpoint-url" href=${`/webhooks/${endpoint.id}`}>${endpoint.url}</a>
      <${Status} value=${endpoint.status} />
    </div>
    ${endpoint.description === null ? null : html`<p class="dim">${endpoint.description}</p>`}
    <p class="small"><${EventsOf} endpoint=${endpoint} /></p>
    <${Glance} endpointId=${endpoint.id} />
    <${EndpointTrouble} endpoint=${endpoint} />
  </li>`;
}

function DefaultSecret() {
  const secret = useLoad((signal) => api.webhookSecret.get({ signal }), []);
  const [fresh, setFresh] = useState<string | null>(null);
  const rotate = () =>
    confirm({
      title: 'Make a new default secret?',
      text: html`<p>The new one is shown once. For 24 hours both sign, so that no receiver misses anything while you change it there.</p>`,
      action: 'Make a new secret',
      run: async () => {
        const made = await api.webhookSecret.rotate();
        secret.set({ last4: made.last4, previous_expires_at: made.previous_expires_at });
        setFresh(made.secret);
      },
    });
  return html`<${Section} title="Default secret" lead="Signs what goes to the webhook URL of an agent or of a single call. Endpoints have secrets of their own.">
    <${Loaded} load=${secret} skeleton=${html`<${Skeleton} />`} title="The secret could not be looked up.">
      ${(now: { last4: string; previous_expires_at: string | null }) => html`<div class="row">
          <code>whsec_…${now.last4}</code>
          <${Button} small onClick=${rotate}>Make a new one<//>
        </div>
        ${now.previous_expires_at === null ? null : html`<p class="small">The one before still signs beside it, until <${Time} iso=${now.previous_expires_at} as="exact" />.</p>`}`}
    <//>
    ${
      fresh === null
        ? null
        : html`<${SecretDialog} title="The new default secret" label="Signing secret" secret=${fresh} onClose=${() => setFresh(null)}>
            <p>Put it where your receivers keep the old one. For 24 hours deliveries are signed with both.</p>
          <//>`
    }
  <//>`;
}

function HowToVerify() {
  const [language, setLanguage] = useState<SnippetLanguage>('node');
  return html`<${Section} title="Check what you receive" lead="Every delivery is signed by Standard Webhooks. A receiver that does not check the signature believes anybody.">
    <${Segments}
      label="Language"
      value=${language}
      options=${[
        { value: 'node', label: 'Node' },
        { value: 'python', label: 'Python' },
        { value: 'bare', label: 'By hand' },
      ]}
      onChange=${(value: string) => setLanguage(value as SnippetLanguage)}
    />
    <${Code} label="code of a receiver" text=${verifySnippet(language)} />
  <//>`;
}

export function WebhooksPage() {
  const endpoints = usePages<WebhookEndpoint>(
    (startingAfter) =>
      api.webhookEndpoints.list(startingAfter === undefined ? {} : { starting_after: startingAfter }),
    [],
  );
  const events = useLoad((signal) => api.webhookEvents.list({ signal }), []);
  const [creating, setCreating] = useState(false);
  const [fresh, setFresh] = useState<{ endpoint: WebhookEndpoint; secret: string } | null>(null);
  const create = html`<${Button} needs="operate" kind="primary" icon="plus" onClick=${() => setCreating(true)}>New endpoint<//>`;
  const list = endpoints.items;
  return html`<${Page}
    title="Webhooks"
    lead="Tells your systems what happens on the line: a call rings, is answered, ends with its result."
    actions=${html`<${Button} href="/webhooks/deliveries">All deliveries<//>${create}`}
  >
    <${ErrorNote} error=${endpoints.error} title="The endpoints could not be loaded." retry=${endpoints.reload} />
    ${
      list === undefined
        ? endpoints.error === null
          ? html`<div aria-busy="true"><${Skeleton} lines=${2} height="card" /></div>`
          : null
        : list.length === 0
          ? html`<${EmptyState} icon="webhooks" title="No endpoints yet" action=${create}>
              An endpoint receives the events of all calls. Give its URL, keep its secret, send a test. For one agent alone, set
              the webhook URL of the agent instead.
            <//>`
          : html`<ul class="endpoints">${list.map((endpoint) => html`<${EndpointCard} key=${endpoint.id} endpoint=${endpoint} />`)}</ul>`
    }
    ${endpoints.hasMore ? html`<p class="more"><${Button} busy=${endpoints.loading} onClick=${endpoints.more}>Show more<//></p>` : null}
    <div class="grid-2"><${DefaultSecret} /><${HowToVerify} /></div>
    ${
      creating
        ? html`<${EndpointDialog}
            events=${events.data ?? []}
            onClose=${() => setCreating(false)}
            onSaved=${(endpoint: WebhookEndpoint, secret: string | null) => {
              setCreating(false);
              endpoints.update((items) => [endpoint, ...items]);
              if (secret !== null) setFresh({ endpoint, secret });
            }}
          />`
        : null
    }
    ${
      fresh === null
        ? null
        : html`<${SecretDialog}
            title="The endpoint is created"
            label="Signing secret"
            secret=${fresh.secret}
            onClose=${() => {
              setFresh(null);
              void navigate(`/webhooks/${fresh.endpoint.id}`);
            }}
          >
            <p>This is its signing secret. Give it to your receiver, which checks every delivery with it; then send a test.</p>
          <//>`
    }
  <//>`;
}
