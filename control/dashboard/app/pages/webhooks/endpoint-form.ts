// The dialog that makes or changes a webhook endpoint.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError, toFailure } from '../../failure.ts';
import { eventMeaning } from '../../forms/webhook-words.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import { Checkbox, Field } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';

type EventName = NonNullable<
  NonNullable<Parameters<typeof api.webhookEndpoints.create>[0]>['enabled_events']
>[number];

export function EndpointDialog(props: {
  /** Missing: a new one. */
  endpoint?: WebhookEndpoint;
  events: readonly string[];
  onClose: () => void;
  /** `secret` of a new one. */
  onSaved: (endpoint: WebhookEndpoint, secret: string | null) => void;
}) {
  const { endpoint, events } = props;
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [all, setAll] = useState(endpoint === undefined || endpoint.enabled_events.includes('*'));
  const [chosen, setChosen] = useState<readonly string[]>(
    endpoint?.enabled_events.filter((event) => event !== '*') ?? [],
  );
  const [tried, setTried] = useState(false);
  const wrongUrl = /^https?:\/\/[^\s/]/.test(url.trim())
    ? null
    : 'Write the address in full: https://example.com/offhook';
  const none = !all && chosen.length === 0 ? 'Choose at least one event, or all.' : null;
  const save = useAction(async () => {
    const body = {
      url: url.trim(),
      description: description.trim() === '' ? null : description.trim(),
      enabled_events: (all ? ['*'] : [...chosen]) as EventName[],
    };
    if (endpoint === undefined) {
      const { secret, ...made } = await api.webhookEndpoints.create(body);
      props.onSaved(made, secret);
    } else {
      props.onSaved(await api.webhookEndpoints.update(endpoint.id, body), null);
    }
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (wrongUrl === null && none === null) void save.run();
  };
  const atField = ['url', 'description', 'enabled_events'].some(
    (field) => fieldError(save.error, field) !== null,
  );
  // What it has may be more than this page knows of.
  const names = [...new Set([...events, ...chosen])];
  const eventsError = (tried ? none : null) ?? fieldError(save.error, 'enabled_events');
  return html`<${Dialog}
    title=${endpoint === undefined ? 'New endpoint' : 'Change the endpoint'}
    keep
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" type="submit" form="endpoint" busy=${save.busy} onClick=${submit}>${endpoint === undefined ? 'Create endpoint' : 'Save'}<//>`}
  >
    <form class="stack" id="endpoint" novalidate onSubmit=${submit}>
      <${Field} label="URL" type="url" mono required value=${url} placeholder="https://example.com/offhook" error=${(tried ? wrongUrl : null) ?? fieldError(save.error, 'url')} help="https, and reachable from the internet. Answer with a 2xx within 15 seconds." onInput=${setUrl} />
      <${Field} label="Note" optional value=${description} maxLength=${1000} placeholder="The booking system" error=${fieldError(save.error, 'description')} onInput=${setDescription} />
      <fieldset class=${`stack${eventsError === null ? '' : ' invalid'}`}>
        <legend class="label">Events</legend>
        <${Checkbox} label="All events, also those that come to be later" checked=${all} onChange=${setAll} />
        ${
          all
            ? null
            : html`<div class="event-choice">
                ${names.map(
                  (name) => html`<${Checkbox}
                    key=${name}
                    checked=${chosen.includes(name)}
                    label=${html`<code>${name}</code> <span class="dim small">${eventMeaning(name)}</span>`}
                    onChange=${(on: boolean) => setChosen(on ? [...chosen, name] : chosen.filter((one) => one !== name))}
                  />`,
                )}
              </div>`
        }
        ${eventsError === null ? null : html`<p class="field-error" role="alert">${eventsError}</p>`}
      </fieldset>
      ${atField || toFailure(save.error).param === 'enabled_events' ? null : html`<${ErrorNote} error=${save.error} title=${endpoint === undefined ? 'The endpoint was not created.' : 'The changes were not saved.'} focus />`}
    </form>
  <//>`;
}
