// What an agent says before all else: a choice in words, and its own line.
import { html } from 'htm/preact';
import { type AgentForm, faultAt } from '../../../forms/agent-form.ts';
import { Field, Select } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

const usual = (type: AgentForm['type']) =>
  type === 'outbound' ? 'As usual: that an AI calls, and for whom' : 'As usual: nothing';

function choices({ form, isNew }: Pick<FieldsProps, 'form' | 'isNew'>) {
  return [
    ...(isNew || form.disclosure === '' ? [{ value: '', label: usual(form.type) }] : []),
    {
      value: 'standard',
      label: form.type === 'outbound' ? 'That an AI calls, and for whom' : 'That an AI answers, and for whom',
    },
    { value: 'custom', label: 'A line of your own' },
    { value: 'off', label: 'Nothing: it does not say that it is an AI unless somebody asks' },
  ];
}

export function DisclosureGroup(props: FieldsProps) {
  const { form, set, disabled } = props;
  const error = faultAt(props.faults, 'disclosure', { inside: true });
  const isOwn = form.disclosure === 'custom';
  return html`<${Section} title="What it says first" lead="Before its greeting, and before a message on a voicemail. Nothing interrupts it, and the call shows how much of it was heard.">
    <div class="stack">
      <${Select}
        label="First line"
        name="disclosure"
        value=${form.disclosure}
        disabled=${disabled}
        error=${isOwn ? null : error}
        options=${choices(props)}
        help=${html`In the language of the call. The name that it says is under <a href="/settings">Settings</a>. In many
        countries whoever is called must be told.`}
        onChange=${(disclosure: AgentForm['disclosure']) => set({ disclosure })}
      />
      ${
        isOwn
          ? html`<${Field}
              label="Your line"
              name="disclosure_text"
              value=${form.disclosureText}
              disabled=${disabled}
              error=${error}
              placeholder="Hello, this is the digital assistant of {organization}."
              help="Said as it stands here, so in the language of the calls. {organization} becomes the name."
              onInput=${(disclosureText: string) => set({ disclosureText })}
            />`
          : null
      }
    </div>
  <//>`;
}
