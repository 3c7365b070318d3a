// The events of a call and who was told of them: every delivery with its attempts, and sending one again.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { CallEvent, CallEventDelivery, CallEvents, WebhookAttempt } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { counted, latency } from '../format.ts';
import { attemptError } from '../forms/webhook-words.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, ErrorNote, Loaded } from '../ui/feedback.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Section } from '../ui/page.ts';
import { Badge, Status } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';

export function EventsSection(props: { events: CallEvents; reload: () => void }) {
  const { data } = props.events;
  const told = data.some((event) => event.deliveries.length > 0);
  return html`<${Section}
    title="Events"
    lead=${told ? undefined : 'Nobody was told: no webhook endpoint was registered for these events, and the call has no webhook URL.'}
    actions=${told ? null : html`<${Button} small href="/webhooks">Webhooks<//>`}
  >
    ${
      data.length === 0
        ? html`<${EmptyState} title="Nothing has happened yet." />`
        : html`<ol class="events">
            ${data.map((event) => html`<li key=${event.id}><${EventRow} event=${event} reload=${props.reload} /></li>`)}
          </ol>`
    }
  <//>`;
}

function EventRow(props: { event: CallEvent; reload: () => void }) {
  const { event } = props;
  return html`<div class="event">
    <p class="event-head"><code>${event.type}</code><span class="dim small"><${Time} iso=${event.created_at} as="clock" /></span></p>
    ${event.deliveries.map((one) => html`<${Delivery} key=${one.id} delivery=${one} type=${event.type} reload=${props.reload} />`)}
  </div>`;
}

function Delivery(props: { delivery: CallEventDelivery; type: string; reload: () => void }) {
  const { delivery } = props;
  const [open, setOpen] = useState(false);
  const again = useAction(async () => {
    await api.webhookDeliveries.redeliver(delivery.id);
    toast(`${props.type} is being sent again.`);
    props.reload();
  });
  const answered =
    delivery.last_response_status === null ? '' : `, answered ${delivery.last_response_status}`;
  return html`<div class="delivery">
    <div class="delivery-head">
      <${Status} value=${delivery.status} />
      <span class="delivery-to">${delivery.receiver}</span>
      <span class="dim small delivery-count">${counted(delivery.attempt_count, 'attempt')}${answered}</span>
      <${Button} small kind="quiet" expanded=${open} label=${`Attempts of ${props.type} to ${delivery.receiver}`} icon="down" onClick=${() => setOpen(!open)} />
      <${Button} small busy=${again.busy} onClick=${() => again.run()} label=${`Redeliver ${props.type} to ${delivery.receiver}`}>Redeliver<//>
    </div>
    ${
      delivery.status === 'delivered' || delivery.last_error === null
        ? null
        : html`<p class="small delivery-error">${attemptError(delivery.last_error)}${
            delivery.next_attempt_at === null
              ? null
              : html`; next attempt <${Time} iso=${delivery.next_attempt_at} />`
          }</p>`
    }
    <${ErrorNote} error=${again.error} title="It was not sent again." />
    ${open ? html`<${Attempts} id=${delivery.id} count=${delivery.attempt_count} />` : null}
  </div>`;
}

function Attempts(props: { id: string; count: number }) {
  const detail = useLoad(
    (signal) => api.webhookDeliveries.get(props.id, { signal }),
    [props.id, props.count],
  );
  return html`<${Loaded} load=${detail} title="The attempts could not be read.">
    ${(delivery: { attempts: WebhookAttempt[] }) =>
      delivery.attempts.length === 0
        ? html`<p class="dim small">No attempt so far.</p>`
        : html`<${Table}
            caption="Attempts of this delivery"
            dense
            rows=${delivery.attempts}
            rowKey=${(one: WebhookAttempt) => one.id}
            columns=${[
              { label: 'Attempt', cell: (one: WebhookAttempt) => String(one.attempt) },
              {
                label: 'When',
                cell: (one: WebhookAttempt) => html`<${Time} iso=${one.started_at} as="exact" />`,
              },
              { label: 'Took', numeric: true, cell: (one: WebhookAttempt) => latency(one.latency_ms) },
              {
                label: 'Outcome',
                grow: true,
                cell: (one: WebhookAttempt) => html`${
                  one.response_status === null
                    ? html`<${Badge} tone="bad">No answer<//>`
                    : html`<${Badge} tone=${one.response_status < 300 ? 'ok' : 'bad'}>${one.response_status}<//>`
                }
                ${one.error === null ? null : html` <span class="small">${attemptError(one.error)}</span>`}
                ${one.response_excerpt === null || one.response_excerpt === '' ? null : html`<details class="small"><summary>Answer</summary><pre tabindex="0">${one.response_excerpt}</pre></details>`}`,
              },
            ]}
          />`}
  <//>`;
}
