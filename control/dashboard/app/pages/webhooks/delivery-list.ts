// Deliveries of webhooks: which went out, what became of each attempt, and sending one again.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { counted, latency, words } from '../../format.ts';
import { attemptError } from '../../forms/webhook-words.ts';
import { withQuery } from '../../route-match.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote, Loaded } from '../../ui/feedback.ts';
import { Select } from '../../ui/field.ts';
import { useAction, useLoad, usePages } from '../../ui/load.ts';
import { Facts } from '../../ui/page.ts';
import { navigate, path, query } from '../../ui/router.ts';
import { Status } from '../../ui/status.ts';
import { PagedTable } from '../../ui/table.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';

type DeliveryStatus = WebhookDelivery['status'];
const STATUSES: readonly DeliveryStatus[] = ['pending', 'delivered', 'exhausted'];
const STATUS_WORD: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'On its way',
  delivered: 'Delivered',
  exhausted: 'Given up',
};

function DeliveryStatus(props: { delivery: Pick<WebhookDelivery, 'status' | 'attempt_count'> }) {
  const { status, attempt_count } = props.delivery;
  const retried = status === 'pending' && attempt_count > 0;
  return html`<${Status} value=${status} label=${retried ? 'Tried again soon' : STATUS_WORD[status]} />`;
}

function Attempt(props: { attempt: WebhookAttempt }) {
  const { attempt } = props;
  const good = attempt.error === null;
  return html`<li class="attempt">
    <p class="row">
      <strong>Attempt ${attempt.attempt}</strong>
      <${Time} iso=${attempt.started_at} as="exact" />
      <span class="digits dim">${latency(attempt.latency_ms)}</span>
      <${Status} value=${good ? 'delivered' : 'failed'} label=${attempt.response_status === null ? (good ? 'Received' : 'No answer') : `HTTP ${attempt.response_status}`} />
    </p>
    ${attempt.error === null ? null : html`<p>${attemptError(attempt.error)}</p>`}
    ${attempt.response_excerpt === null ? null : html`<details><summary>What it answered</summary><pre tabindex="0" role="region" aria-label=${`Answer to attempt ${attempt.attempt}`}>${attempt.response_excerpt}</pre></details>`}
  </li>`;
}

/** One delivery with its attempts; sends it again. */
function DeliveryDialog(props: {
  id: string;
  onClose: () => void;
  onChange: (delivery: WebhookDelivery) => void;
}) {
  const delivery = useLoad((signal) => api.webhookDeliveries.get(props.id, { signal }), [props.id]);
  const again = useAction(async () => {
    props.onChange(await api.webhookDeliveries.redeliver(props.id));
    toast('It is sent again.');
    delivery.reload();
  });
  const isPending = delivery.data?.status === 'pending';
  useEffect(() => {
    if (!isPending) return;
    const timer = setInterval(delivery.reload, 2000);
    return () => clearInterval(timer);
  }, [isPending]);
  useEffect(() => {
    if (delivery.data !== undefined) props.onChange(delivery.data);
  }, [delivery.data?.updated_at]);
  return html`<${Dialog}
    title=${delivery.data?.event_type ?? 'Delivery'}
    wide
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Close<//>
      <${Button} kind="primary" icon="refresh" busy=${again.busy} disabled=${delivery.data === undefined} onClick=${() => again.run()}>Send again<//>`}
  >
    <${Loaded} load=${delivery} title="The delivery could not be loaded.">
      ${(one: WebhookDelivery & { attempts: WebhookAttempt[] }) => html`<div class="stack">
        <${Facts}
          rows=${[
            ['State', html`<${DeliveryStatus} delivery=${one} />`],
            ['To', html`<code>${one.url}</code>`],
            one.call_id === null
              ? null
              : ['Call', html`<a href=${`/calls/${one.call_id}`} onClick=${props.onClose}>See the call</a>`],
            ['Event of', html`<${Time} iso=${one.created_at} as="exact" />`],
            one.status === 'pending' ? ['Next attempt', html`<${Time} iso=${one.next_attempt_at} />`] : null,
            ['Id', html`<code>${one.id}</code>`],
          ]}
        />
        <h3>${one.attempts.length === 0 ? 'No attempt yet' : counted(one.attempts.length, 'attempt')}</h3>
        ${
          one.attempts.length === 0
            ? one.last_error === null
              ? null
              : html`<p>${attemptError(one.last_error)}</p>`
            : html`<ol class="attempts">${[...one.attempts].reverse().map((attempt) => html`<${Attempt} key=${attempt.id} attempt=${attempt} />`)}</ol>`
        }
        <p class="help">Sent again, it has the same body and the same id, marked with Service-Replay: a receiver that keeps ids acts once.</p>
        <${ErrorNote} error=${again.error} title="It was not sent again." />
      </div>`}
    <//>
  <//>`;
}

/** The list with its filters, which stand in the address. `endpoint`: only those to one endpoint. */
export function DeliveryList(props: {
  endpoint?: WebhookEndpoint;
  endpoints?: readonly WebhookEndpoint[];
  events: readonly string[];
  round?: number;
}) {
  const status = query.value.get('status') ?? '';
  const event = query.value.get('event') ?? '';
  const endpointId = props.endpoint?.id ?? query.value.get('endpoint') ?? '';
  const [open, setOpen] = useState<string | null>(null);
  const pages = usePages<WebhookDelivery>(
    (startingAfter) =>
      api.webhookDeliveries.list({
        limit: 25,
        ...(status === '' ? {} : { status: status as DeliveryStatus }),
        ...(event === '' ? {} : { event_type: event as WebhookDelivery['event_type'] }),
        ...(endpointId === '' ? {} : { endpoint_id: endpointId }),
        ...(startingAfter === undefined ? {} : { starting_after: startingAfter }),
      }),
    [status, event, endpointId, props.round],
  );
  const filter = (change: Record<string, string>) =>
    void navigate(
      withQuery(path.value, {
        status,
        event,
        ...(props.endpoint === undefined ? { endpoint: endpointId } : {}),
        ...change,
      }),
      { replace: true, quiet: true },
    );
  const filtered = status !== '' || event !== '' || (props.endpoint === undefined && endpointId !== '');
  return html`<div class="stack">
    <div class="delivery-filters">
      <${Select} label="State" value=${status} options=${[{ value: '', label: 'All' }, ...STATUSES.map((value) => ({ value, label: STATUS_WORD[value] }))]} onChange=${(value: string) => filter({ status: value })} />
      <${Select} label="Event" value=${event} options=${[{ value: '', label: 'All' }, ...props.events.map((value) => ({ value, label: value }))]} onChange=${(value: string) => filter({ event: value })} />
      ${
        props.endpoints === undefined
          ? null
          : html`<${Select} label="Endpoint" value=${endpointId} options=${[{ value: '', label: 'All' }, ...props.endpoints.map((one) => ({ value: one.id, label: one.url }))]} onChange=${(value: string) => filter({ endpoint: value })} />`
      }
      <${Button} icon="refresh" busy=${pages.loading} onClick=${pages.reload}>Refresh<//>
    </div>
    <${PagedTable}
      pages=${pages}
      caption="Deliveries"
      rowKey=${(one: WebhookDelivery) => one.id}
      columns=${[
        { label: 'Event', cell: (one: WebhookDelivery) => html`<code>${one.event_type}</code>` },
        { label: 'State', cell: (one: WebhookDelivery) => html`<${DeliveryStatus} delivery=${one} />` },
        {
          label: 'Attempts',
          numeric: true,
          cell: (one: WebhookDelivery) => one.attempt_count,
        },
        {
          label: props.endpoint === undefined ? 'To, and what went wrong' : 'What went wrong',
          grow: true,
          cell: (one: WebhookDelivery) =>
            html`<span class="delivery-target">${props.endpoint === undefined ? html`<code>${one.url}</code>${one.endpoint_id === null ? html` <span class="dim small">of the call itself</span>` : null}` : null}${one.last_error === null ? (props.endpoint === undefined ? null : html`<span class="dim">–</span>`) : html`<span class="dim small">${attemptError(one.last_error)}</span>`}</span>`,
        },
        { label: 'When', cell: (one: WebhookDelivery) => html`<${Time} iso=${one.created_at} />` },
        {
          label: 'Look',
          hideLabel: true,
          cell: (one: WebhookDelivery) =>
            html`<${Button} small label=${`Attempts of ${one.event_type}, ${words(one.status)}`} onClick=${() => setOpen(one.id)}>Attempts…<//>`,
        },
      ]}
      empty=${
        filtered
          ? html`<${EmptyState} icon="webhooks" title="No such deliveries">Choose other filters to see more.<//>`
          : html`<${EmptyState} icon="webhooks" title="Nothing sent yet">
              Events go out when a call rings, is answered or ends. Place a call, or try an agent, to see the first one here.
            <//>`
      }
    />
    ${
      open === null
        ? null
        : html`<${DeliveryDialog}
            id=${open}
            onClose=${() => setOpen(null)}
            onChange=${(changed: WebhookDelivery) => pages.update((items) => items.map((old) => (old.id === changed.id ? { ...old, ...changed } : old)))}
          />`
    }
  </div>`;
}
