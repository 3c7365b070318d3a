// A choice of numbers for an agent that is not there yet.
import { html } from 'htm/preact';
import type { PhoneNumber } from '../../../../sdk/index.ts';
import { phone } from '../../format.ts';
import type { AgentForm } from '../../forms/agent-form.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import type { Load } from '../../ui/load.ts';
import { Section } from '../../ui/page.ts';
import { isTaken } from './numbers-panel.ts';

export function NumberChoice(props: {
  numbers: Load<PhoneNumber[]>;
  type: AgentForm['type'];
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
  error: string | null;
}) {
  const active = (props.numbers.data ?? []).filter((number) => number.status === 'active');
  return html`<${Section} title="Numbers">
    ${
      props.numbers.data !== undefined && active.length === 0
        ? html`<p class="dim">You have no numbers yet. The agent can be tried beside this without one; <a href="/numbers/buy">buy a number</a> when it is ready.</p>`
        : html`<fieldset class="stack">
            <legend class="sr-only">Numbers</legend>
            ${active.map((number) => {
              const taken = isTaken(number, { type: props.type });
              return html`<label class="checkbox" key=${number.id}
                ><input
                  type="checkbox"
                  checked=${props.chosen.includes(number.id)}
                  disabled=${taken}
                  onChange=${(event: Event) =>
                    props.onChange(
                      (event.target as HTMLInputElement).checked
                        ? [...props.chosen, number.id]
                        : props.chosen.filter((id) => id !== number.id),
                    )}
                /><span>${phone(number.e164)}${taken ? html` <span class="dim small">answered by another agent</span>` : null}</span></label
              >`;
            })}
            ${props.error === null ? null : html`<p class="field-error">${props.error}</p>`}
          </fieldset>`
    }
    <${ErrorNote} error=${props.numbers.error} title="Your numbers could not be loaded." retry=${props.numbers.reload} />
  <//>`;
}
