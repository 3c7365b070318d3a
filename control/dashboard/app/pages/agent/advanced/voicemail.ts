// What an agent that places calls does when a machine answers.
import { html } from 'htm/preact';
import { faultAt } from '../../../forms/agent-form.ts';
import { Select } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

export function VoicemailGroup(props: FieldsProps) {
  if (props.form.type !== 'outbound') return null;
  return html`<${Section} title="Voicemail">
    <div class="short-field">
      <${Select}
        label="When a voicemail answers"
        name="voicemail_action"
        value=${props.form.voicemailAction}
        disabled=${props.disabled}
        error=${faultAt(props.faults, 'voicemail_action')}
        options=${[
          { value: 'hangup', label: 'Hang up' },
          { value: 'leave_message', label: 'Leave a message after the beep' },
        ]}
        help="Hanging up ends the call as soon as a machine is recognized; a message says who calls and why."
        onChange=${(value: string) => props.set({ voicemailAction: value === 'leave_message' ? 'leave_message' : 'hangup' })}
      />
    </div>
  <//>`;
}
