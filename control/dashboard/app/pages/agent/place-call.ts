// The dialog that sends an outbound agent to call somebody. Leads to the page of the call.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import type { Agent } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import { phone } from '../../format.ts';
import { isE164, plainNumber } from '../../forms/tool-form.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import { Field, Select } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';
import { navigate } from '../../ui/router.ts';
import { ContextEditor, type ContextText, emptyContext, readContext } from './context-editor.ts';

export function PlaceCallDialog(props: { agent: Agent; onClose: () => void }) {
  const { agent } = props;
  const [to, setTo] = useState('');
  const [from, setFrom] = useState('');
  const [instructions, setInstructions] = useState('');
  const [context, setContext] = useState<ContextText>(emptyContext);
  const [tried, setTried] = useState(false);
  // The same call tried again is the same call: a lost answer never makes a phone ring twice.
  const attempt = useRef<{ body: string; key: string } | null>(null);
  const numbers = agent.numbers.filter((number) => number.status === 'active');
  const read = readContext(context);
  const number = plainNumber(to);
  const faultOfNumber = isE164(number) ? null : 'A number with its country code: +14155550123.';
  const faultOfContext = 'fault' in read ? read.fault : null;
  const place = useAction(async () => {
    const body = {
      agent_id: agent.id,
      to: number,
      ...(from === '' ? {} : { from_number: from }),
      ...(instructions.trim() === '' ? {} : { instructions }),
      context: 'value' in read ? read.value : {},
    };
    const text = JSON.stringify(body);
    if (attempt.current?.body !== text) {
      attempt.current = {
        body: text,
        key: `dashboard-${Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join('')}`,
      };
    }
    const call = await api.calls.create(body, { idempotencyKey: attempt.current.key });
    props.onClose();
    await navigate(`/calls/${call.id}`);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (faultOfNumber === null && faultOfContext === null) void place.run();
  };
  const known = ['to', 'from_number', 'instructions', 'context'].some(
    (field) => fieldError(place.error, field) !== null,
  );
  return html`<${Dialog}
    title=${`Call as ${agent.name}`}
    keep
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" icon="calls" type="submit" form="place-call" busy=${place.busy} onClick=${submit}>Call now<//>`}
  >
    <form class="stack" id="place-call" onSubmit=${submit}>
      <${Field}
        label="Whom to call"
        type="tel"
        name="to"
        required
        value=${to}
        placeholder="+14155550123"
        error=${(tried ? faultOfNumber : null) ?? fieldError(place.error, 'to')}
        help="Rings at once, and costs what a call costs."
        onInput=${setTo}
      />
      ${
        numbers.length > 1
          ? html`<${Select}
              label="Call from"
              value=${from}
              error=${fieldError(place.error, 'from_number')}
              options=${[
                {
                  value: '',
                  label: `Main number (${phone(numbers.find((one) => one.id === agent.primary_number_id)?.e164 ?? numbers[0]?.e164 ?? '')})`,
                },
                ...numbers
                  .filter((one) => one.id !== agent.primary_number_id)
                  .map((one) => ({ value: one.e164, label: phone(one.e164) })),
              ]}
              onChange=${setFrom}
            />`
          : null
      }
      <${ContextEditor} value=${context} error=${(tried ? faultOfContext : null) ?? fieldError(place.error, 'context')} onChange=${setContext} />
      <details>
        <summary>Other instructions for this call</summary>
        <${Field} label="Instructions of this call" hideLabel rows=${4} value=${instructions} error=${fieldError(place.error, 'instructions')} placeholder=${agent.instructions ?? ''} help="Replace the agent's own wholly. Empty: the agent's hold." onInput=${setInstructions} />
      </details>
      ${known ? null : html`<${ErrorNote} error=${place.error} title="The call was not placed." focus />`}
    </form>
  <//>`;
}
