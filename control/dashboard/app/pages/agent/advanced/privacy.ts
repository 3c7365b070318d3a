// Whom an agent may call by what they have agreed to, and which numbers that are said on its calls are never stored.
import { html } from 'htm/preact';
import { type AgentForm, faultAt } from '../../../forms/agent-form.ts';
import { Checkbox, Select } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

const MASKS = [
  { kind: 'card', label: 'Numbers of payment cards' },
  { kind: 'iban', label: 'IBANs of bank accounts' },
  { kind: 'ssn', label: 'US social security numbers' },
] as const;

export function PrivacyGroup({ form, set, disabled, faults }: FieldsProps) {
  return html`<${Section} title="Consent and privacy">
    <div class="stack">
      ${
        form.type === 'outbound'
          ? html`<div class="short-field"><${Select}
              label="It calls"
              name="consent"
              value=${form.consent}
              disabled=${disabled}
              error=${faultAt(faults, 'consent')}
              options=${[
                { value: 'none', label: 'Anybody whom the rules allow' },
                { value: 'required', label: 'Only who has agreed to be called' },
              ]}
              help="Consents are kept by POST /v1/consents; without one a call is refused, and says so."
              onChange=${(consent: AgentForm['consent']) => set({ consent })}
            /></div>`
          : null
      }
      <fieldset class="stack">
        <legend>Never stored, but for the last digits</legend>
        ${MASKS.map(
          ({ kind, label }) => html`<${Checkbox}
            key=${kind}
            label=${label}
            checked=${form.mask.includes(kind)}
            disabled=${disabled}
            onChange=${(on: boolean) =>
              set({
                mask: MASKS.map((one) => one.kind).filter((one) =>
                  one === kind ? on : form.mask.includes(one),
                ),
              })}
          />`,
        )}
        <p class="help">In words, results, tools’ lines and webhooks. The recording keeps them, and so does whatever tool was told.</p>
      </fieldset>
    </div>
  <//>`;
}
