// The timeline of a call: what happened, and who was told of it, with what was sent and answered, and sending it again.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type {
  Call,
  CallEvent,
  CallEventDelivery,
  CallEvents,
  TranscriptItem,
  WebhookAttempt,
} from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { callTimeline, type Moment, placeOf, sentText } from '../call-timeline.ts';
import { counted, latency } from '../format.ts';
import { attemptError } from '../forms/webhook-words.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, ErrorNote, Loaded } from '../ui/feedback.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Section } from '../ui/page.ts';
import { Badge, Status } from '../ui/status.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';

/** Events of one type that a call may have; the one that was sent is among them. */
const OF_ONE_TYPE = 10;

export function TimelineSection(props: {
  call: Call;
  events: CallEvents;
  items: readonly TranscriptItem[];
  reload: () => void;
  seek?: ((ms: number) => void) | undefined;
}) {
  const { data } = props.events;
  const told = data.some((event) => event.deliveries.length > 0);
  const moments = callTimeline(props.call, data, props.items);
  return html`<${Section}
    title="Timeline"
    lead=${told || data.length === 0 ? undefined : 'Nobody was told: no webhook endpoint was registered for these events, and the call has no webhook URL.'}
    actions=${told ? null : html`<${Button} small href="/webhooks">Webhooks<//>`}
  >
    ${
      moments.length === 0
        ? html`<${EmptyState} title="Nothing has happened yet." />`
        : html`<ol class="events">
            ${moments.map((moment) => html`<li key=${moment.id}><${MomentRow} moment=${moment} callId=${props.call.id} reload=${props.reload} seek=${props.seek} /></li>`)}
          </ol>`
    }
  <//>`;
}

function MomentRow(props: {
  moment: Moment;
  callId: string;
  reload: () => void;
  seek?: ((ms: number) => void) | undefined;
}) {
  const { moment } = props;
  const { event, atMs } = moment;
  const place = placeOf(moment);
  return html`<div class=${`event ${moment.is}`}>
    <p class="event-head">
      <span class="event-time dim small"><${Time} iso=${moment.iso} as="clock" /></span>
      <span class="event-title">${moment.title}${moment.note === null ? null : html` <span class="dim">${moment.note}</span>`}</span>
      ${moment.code === null ? null : html`<code class="dim">${moment.code}</code>`}
      ${
        atMs === null || place === null || props.seek === undefined
          ? null
          : html`<button class="line-time digits" aria-label=${`Play from ${place}`} onClick=${() => props.seek?.(Math.max(0, atMs - 1000))}>${place}</button>`
      }
    </p>
    ${event?.deliveries.map((one) => html`<${Delivery} key=${one.id} delivery=${one} event=${event} callId=${props.callId} reload=${props.reload} />`)}
  </div>`;
}

function Delivery(props: {
  delivery: CallEventDelivery;
  event: CallEvent;
  callId: string;
  reload: () => void;
}) {
  const { delivery, event } = props;
  const { type } = event;
  const [open, setOpen] = useState(false);
  const again = useAction(async () => {
    await api.webhookDeliveries.redeliver(delivery.id);
    toast(`${type} is being sent again.`);
    props.reload();
  });
  const answered =
    delivery.last_response_status === null ? '' : `, answered ${delivery.last_response_status}`;
  return html`<div class="delivery">
    <div class="delivery-head">
      <${Status} value=${delivery.status} />
      <span class="delivery-to">${delivery.receiver}</span>
      <span class="dim small delivery-count">${counted(delivery.attempt_count, 'attempt')}${answered}</span>
      <${Button} small kind="quiet" expanded=${open} label=${`What was sent and answered: ${type} to ${delivery.receiver}`} icon="down" onClick=${() => setOpen(!open)} />
      <${Button} small busy=${again.busy} onClick=${() => again.run()} label=${`Redeliver ${type} to ${delivery.receiver}`}>Redeliver<//>
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
    ${open ? html`<${Sent} delivery=${delivery} event=${event} callId=${props.callId} />` : null}
  </div>`;
}

/** What went to the receiver and what came back. */
function Sent(props: { delivery: CallEventDelivery; event: CallEvent; callId: string }) {
  const { delivery, event } = props;
  const detail = useLoad(
    (signal) => api.webhookDeliveries.get(delivery.id, { signal }),
    [delivery.id, delivery.attempt_count],
  );
  const sent = useLoad(
    async (signal) => {
      const { data } = await api.events.list(
        { call_id: props.callId, type: event.type, limit: OF_ONE_TYPE },
        { signal },
      );
      return data.find(({ id }) => id === event.id) ?? null;
    },
    [event.id],
  );
  return html`<div class="sent">
    <section aria-label="Sent">
      <h4>Sent</h4>
      <pre tabindex="0" class="headers">${headLines(delivery, event)}</pre>
      <${Loaded} load=${sent} title="What was sent could not be read.">
        ${(of: { call: unknown }) => html`<pre tabindex="0" aria-label="Body">${sentText(of.call)}</pre>`}
      <//>
      <p class="dim small">With a signature of its own each time. Long texts are cut here, and what opens something is masked.</p>
    </section>
    <section aria-label="Answered">
      <h4>Answered</h4>
      <${Loaded} load=${detail} title="The attempts could not be read.">
        ${(of: { attempts: WebhookAttempt[] }) =>
          of.attempts.length === 0
            ? html`<p class="dim small">No attempt so far.</p>`
            : html`<ol class="attempts" aria-label="Attempts of this delivery">
                ${of.attempts.map((one) => html`<li key=${one.id}><${Attempt} attempt=${one} /></li>`)}
              </ol>`}
      <//>
    </section>
  </div>`;
}

const headLines = (delivery: CallEventDelivery, event: CallEvent) =>
  [
    `POST ${delivery.receiver}`,
    'Content-Type: application/json; charset=utf-8',
    `Service-Event-Id: ${delivery.id}`,
    `Service-Event-Type: ${event.type}`,
    `Service-Event-Sequence: ${event.sequence}`,
  ].join('\n');

function Attempt(props: { attempt: WebhookAttempt }) {
  const { attempt } = props;
  const { response_status, response_excerpt, error } = attempt;
  return html`<p class="row small">
      ${
        response_status === null
          ? html`<${Badge} tone="bad">No answer<//>`
          : html`<${Badge} tone=${response_status < 300 ? 'ok' : 'bad'}>${response_status}<//>`
      }
      <span>Attempt ${attempt.attempt}</span>
      <span class="dim"><${Time} iso=${attempt.started_at} as="exact" />, took ${latency(attempt.latency_ms)}</span>
      ${error === null ? null : html`<span>${attemptError(error)}</span>`}
    </p>
    ${response_excerpt === null || response_excerpt === '' ? null : html`<pre tabindex="0" aria-label="Answer">${sentText(response_excerpt)}</pre>`}`;
}
