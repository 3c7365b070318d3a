// One webhook endpoint: how it does, its deliveries; test, replay, secret, on and off, delete.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import { counted, latency } from '../../format.ts';
import { attemptError } from '../../forms/webhook-words.ts';
import type { PageProps } from '../../route-match.ts';
import { Button } from '../../ui/button.ts';
import { confirm, Dialog } from '../../ui/dialog.ts';
import { ErrorNote, Loaded, Note, Skeleton } from '../../ui/feedback.ts';
import { Segments, Select } from '../../ui/field.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { navigate } from '../../ui/router.ts';
import { SecretDialog } from '../../ui/secret.ts';
import { Status } from '../../ui/status.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';
import { DeliveryList } from './delivery-list.ts';
import { EndpointDialog } from './endpoint-form.ts';
import { EndpointTrouble, EventsOf, Glance } from './webhooks-page.ts';

const HOUR_MS = 3_600_000;
const SINCE = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last 24 hours' },
  { value: '72', label: 'The last 3 days' },
  { value: '168', label: 'The last 7 days' },
  { value: '720', label: 'The last 30 days' },
] as const;

function TestDialog(props: { endpoint: WebhookEndpoint; onClose: () => void; onSent: () => void }) {
  const { endpoint } = props;
  const test = useLoad(async () => {
    const outcome = await api.webhookEndpoints.test(endpoint.id);
    props.onSent();
    return outcome;
  }, [endpoint.id]);
  const outcome = test.data;
  return html`<${Dialog}
    title="Test delivery"
    onClose=${props.onClose}
    actions=${html`<${Button} busy=${test.loading} onClick=${test.reload}>Send another<//><${Button} kind="primary" onClick=${props.onClose}>Close<//>`}
  >
    <div class="stack" aria-live="polite" aria-busy=${test.loading}>
      <p class="dim">A signed event of the type <code>endpoint.test</code> goes to <code>${endpoint.url}</code>. It changes nothing about the endpoint and stands in no list.</p>
      ${test.loading ? html`<p>Waiting for the answer…</p>` : null}
      ${
        test.loading || outcome === undefined
          ? null
          : outcome.status === 'delivered'
            ? html`<${Note} kind="ok" title=${`Received: HTTP ${outcome.status_code} after ${latency(outcome.latency_ms)}`}><p>The receiver took it.</p><//>`
            : html`<${Note} kind="warn" title=${outcome.status_code === null ? `It did not arrive (${latency(outcome.latency_ms)})` : `HTTP ${outcome.status_code} after ${latency(outcome.latency_ms)}`}><p>${attemptError(outcome.error ?? '')}</p><//>`
      }
      ${test.loading ? null : html`<${ErrorNote} error=${test.error} title="The test was not sent." />`}
    </div>
  <//>`;
}

function ReplayDialog(props: { endpoint: WebhookEndpoint; onClose: () => void; onSent: () => void }) {
  const { endpoint } = props;
  const [hours, setHours] = useState('24');
  const [only, setOnly] = useState<'failed' | 'all'>('failed');
  const [count, setCount] = useState<number | null>(null);
  const replay = useAction(async () => {
    const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    const answer = await api.webhookEndpoints.replay(endpoint.id, { since, only });
    setCount(answer.count);
    props.onSent();
  });
  const done = count !== null;
  return html`<${Dialog}
    title="Replay what was missed"
    onClose=${props.onClose}
    actions=${
      done
        ? html`<${Button} kind="primary" onClick=${props.onClose}>Close<//>`
        : html`<${Button} onClick=${props.onClose}>Cancel<//><${Button} kind="primary" busy=${replay.busy} disabled=${endpoint.status === 'disabled'} onClick=${() => replay.run()}>Replay<//>`
    }
  >
    <div class="stack">
      ${
        done
          ? html`<${Note} kind="ok" title=${count === 0 ? 'There was nothing to send' : `${counted(count, 'delivery is', 'deliveries are')} on the way again`}>
              <p>${count === 0 ? (only === 'failed' ? 'Nothing of that time is missing.' : 'There were no events in that time.') : 'They keep their ids, so a receiver that has seen one drops it.'}</p>
            <//>`
          : html`
            ${endpoint.status === 'disabled' ? html`<${Note} kind="warn" title="Enable it first."><p>Nothing is sent to an endpoint that is disabled.</p><//>` : null}
            <${Select} label="Events of" value=${hours} options=${SINCE} error=${fieldError(replay.error, 'since')} onChange=${setHours} />
            <${Segments}
              label="Which"
              value=${only}
              options=${[
                { value: 'failed', label: 'What was missed' },
                { value: 'all', label: 'Everything' },
              ]}
              onChange=${(value: string) => setOnly(value === 'all' ? 'all' : 'failed')}
            />
            <p class="help">${only === 'failed' ? 'What was given up, and what came up while the endpoint was disabled.' : 'What was delivered too.'} Sent with the same bodies and ids, marked with Service-Replay.</p>
            ${fieldError(replay.error, 'since') === null ? html`<${ErrorNote} error=${replay.error} title="Nothing was replayed." />` : null}`
      }
    </div>
  <//>`;
}

function Endpoint(props: { endpoint: WebhookEndpoint; onChange: (endpoint: WebhookEndpoint) => void }) {
  const { endpoint } = props;
  const events = useLoad((signal) => api.webhookEvents.list({ signal }), []);
  const [dialog, setDialog] = useState<'edit' | 'test' | 'replay' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const close = () => setDialog(null);
  const enable = useAction(async () => {
    props.onChange(await api.webhookEndpoints.update(endpoint.id, { status: 'enabled' }));
    toast('Enabled: events are sent again.');
  });
  const disable = () =>
    confirm({
      title: 'Disable this endpoint?',
      text: 'Nothing is sent to it until it is enabled. What it misses is listed, and can be replayed.',
      action: 'Disable',
      run: async () => {
        props.onChange(await api.webhookEndpoints.update(endpoint.id, { status: 'disabled' }));
        toast('Disabled.');
      },
    });
  const rotate = () =>
    confirm({
      title: 'Make a new secret?',
      text: 'The new one is shown once. For 24 hours both sign, so that nothing is missed while you change it at the receiver.',
      action: 'Make a new secret',
      run: async () => {
        const { secret: made, ...changed } = await api.webhookEndpoints.rotateSecret(endpoint.id);
        props.onChange(changed);
        setSecret(made);
      },
    });
  const remove = () =>
    confirm({
      title: 'Delete this endpoint?',
      text: html`<p>Events no longer go to <code>${endpoint.url}</code>, and those on their way are given up. To pause it, disable it instead.</p>`,
      action: 'Delete the endpoint',
      danger: true,
      run: async () => {
        await api.webhookEndpoints.delete(endpoint.id);
        toast('The endpoint is deleted.');
        await navigate('/webhooks');
      },
    });
  return html`<${Page}
    title="Webhook endpoint"
    heading=${html`<span class="endpoint-title">${endpoint.url}</span>`}
    back=${{ href: '/webhooks', label: 'Webhooks' }}
    lead=${endpoint.description ?? undefined}
    actions=${html`
      <${Button} onClick=${() => setDialog('replay')}>Replay…<//>
      <${Button} onClick=${() => setDialog('edit')} icon="edit">Change<//>
      <${Button} needs="operate" kind="primary" onClick=${() => setDialog('test')}>Send a test<//>
    `}
  >
    <${EndpointTrouble} endpoint=${endpoint} />
    <${ErrorNote} error=${enable.error} title="It was not enabled." />
    <div class="grid-2">
      <${Section} title="How it does">
        <${Glance} endpointId=${endpoint.id} round=${round} />
        <div class="row">
          ${
            endpoint.status === 'disabled'
              ? html`<${Button} needs="operate" kind="primary" busy=${enable.busy} onClick=${() => enable.run()}>Enable<//>`
              : html`<${Button} onClick=${disable}>Disable<//>`
          }
          <${Button} onClick=${rotate}>New secret<//>
          <${Button} needs="operate" kind="danger" onClick=${remove}>Delete<//>
        </div>
      <//>
      <${Section} title="About">
        <${Facts}
          rows=${[
            ['State', html`<${Status} value=${endpoint.status} />`],
            ['Events', html`<${EventsOf} endpoint=${endpoint} />`],
            ['Created', html`<${Time} iso=${endpoint.created_at} as="exact" />`],
            ['Changed', html`<${Time} iso=${endpoint.updated_at} />`],
            ['Id', html`<code>${endpoint.id}</code>`],
          ]}
        />
      <//>
    </div>
    <${Section} title="Deliveries" card=${false}>
      <${DeliveryList} endpoint=${endpoint} events=${events.data ?? []} round=${round} />
    <//>
    ${dialog === 'test' ? html`<${TestDialog} endpoint=${endpoint} onClose=${close} onSent=${() => setRound((now) => now + 1)} />` : null}
    ${dialog === 'replay' ? html`<${ReplayDialog} endpoint=${endpoint} onClose=${close} onSent=${() => setRound((now) => now + 1)} />` : null}
    ${
      dialog === 'edit'
        ? html`<${EndpointDialog}
            endpoint=${endpoint}
            events=${events.data ?? []}
            onClose=${close}
            onSaved=${(changed: WebhookEndpoint) => {
              close();
              props.onChange(changed);
              toast('Saved.');
            }}
          />`
        : null
    }
    ${
      secret === null
        ? null
        : html`<${SecretDialog} title="The new secret" label="Signing secret" secret=${secret} onClose=${() => setSecret(null)}>
            <p>Put it where your receiver keeps the old one. For 24 hours deliveries are signed with both.</p>
          <//>`
    }
  <//>`;
}

export function EndpointPage(props: PageProps) {
  const id = props.params.id ?? '';
  const endpoint = useLoad((signal) => api.webhookEndpoints.get(id, { signal }), [id]);
  if (endpoint.data !== undefined)
    return html`<${Endpoint} endpoint=${endpoint.data} onChange=${endpoint.set} />`;
  return html`<${Page} title="Webhook endpoint" back=${{ href: '/webhooks', label: 'Webhooks' }}>
    <${Loaded} load=${endpoint} skeleton=${html`<${Skeleton} lines=${2} height="card" />`} title="The endpoint could not be loaded.">${() => null}<//>
  <//>`;
}

/** Deliveries to all endpoints, and to the webhook URLs of agents and calls. */
export function DeliveriesPage() {
  const around = useLoad(async (signal) => {
    const [endpoints, events] = await Promise.all([
      api.webhookEndpoints.list({ limit: 100 }, { signal }),
      api.webhookEvents.list({ signal }),
    ]);
    return { endpoints: endpoints.data, events };
  }, []);
  return html`<${Page} title="Deliveries" back=${{ href: '/webhooks', label: 'Webhooks' }} lead="Every event on its way to a receiver: to endpoints, and to the webhook URLs of agents and calls.">
    <${ErrorNote} error=${around.error} title="The filters could not be loaded." retry=${around.reload} />
    <${DeliveryList} endpoints=${around.data?.endpoints ?? []} events=${around.data?.events ?? []} />
  <//>`;
}
