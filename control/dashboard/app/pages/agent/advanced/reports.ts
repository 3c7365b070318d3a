// Where an agent's calls are reported: a webhook of its own.
import { html } from 'htm/preact';
import { faultAt } from '../../../forms/agent-form.ts';
import { Field } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

export function ReportsGroup(props: FieldsProps) {
  return html`<${Section} title="Where it reports">
    <${Field}
      label="Webhook URL"
      name="webhook_url"
      type="url"
      mono
      optional
      value=${props.form.webhookUrl}
      disabled=${props.disabled}
      error=${faultAt(props.faults, 'webhook_url')}
      placeholder="https://example.com/offhook"
      help=${html`Receives the events of this agent's calls, signed with the default secret. Endpoints for all calls are
        under <a href="/webhooks">Webhooks</a>.`}
      onInput=${(webhookUrl: string) => props.set({ webhookUrl })}
    />
  <//>`;
}
