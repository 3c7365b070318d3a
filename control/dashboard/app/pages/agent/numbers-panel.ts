// The numbers of an agent: which it has, which is the main one, attaching and detaching. Each takes effect at once.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Agent, PhoneNumber } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import { phone } from '../../format.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote } from '../../ui/feedback.ts';
import { Select } from '../../ui/field.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.ts';
import { Badge } from '../../ui/status.ts';
import { toast } from '../../ui/toast.ts';
import { Phone } from '../../ui/values.ts';

/** Whether an inbound agent cannot have this number: another one answers it. */
export function isTaken(number: PhoneNumber, agent: { id?: string; type: 'inbound' | 'outbound' }): boolean {
  return agent.type === 'inbound' && number.inbound_agent_id !== null && number.inbound_agent_id !== agent.id;
}

export function NumbersPanel(props: { agent: Agent; onChange: (agent: Agent) => void }) {
  const { agent } = props;
  const all = useLoad(() => api.numbers.list({ limit: 100 }).all(500), [agent.id]);
  const [chosen, setChosen] = useState('');
  const done = (text: string) => (changed: Agent) => {
    props.onChange(changed);
    all.reload();
    toast(text);
  };
  const attach = useAction(async (number: PhoneNumber) => {
    done(`${phone(number.e164)} is attached.`)(
      await api.agents.attachNumber(agent.id, { number_id: number.id }),
    );
    setChosen('');
  });
  const makeMain = useAction(async (number: PhoneNumber) =>
    done(`${phone(number.e164)} is the main number now.`)(
      await api.agents.setPrimaryNumber(agent.id, { number_id: number.id }),
    ),
  );
  const detach = (number: PhoneNumber) =>
    confirm({
      title: `Detach ${phone(number.e164)}?`,
      text:
        agent.type === 'inbound'
          ? 'Calls to it are rejected until another agent has it. Live calls go on.'
          : 'The agent no longer calls from it. Live calls go on.',
      action: 'Detach',
      danger: true,
      run: async () =>
        done(`${phone(number.e164)} is detached.`)(await api.agents.detachNumber(agent.id, number.id)),
    });
  const archived = agent.archived_at !== null;
  const free = (all.data ?? []).filter(
    (number) => number.status === 'active' && !agent.numbers.some((own) => own.id === number.id),
  );
  const wanted = free.find((number) => number.id === chosen);
  return html`<${Section} title="Numbers">
    ${
      agent.numbers.length === 0
        ? html`<p class="dim">${
            archived
              ? 'An archived agent has none.'
              : agent.type === 'inbound'
                ? 'None yet: nobody can call it.'
                : 'None yet: it has nothing to call from.'
          }</p>`
        : html`<ul class="plain-list">
            ${agent.numbers.map(
              (number: PhoneNumber) => html`<li key=${number.id}>
                <span><${Phone} number=${number.e164} />${number.id === agent.primary_number_id ? html` <${Badge} tone="info" dot=${false}>main<//>` : null}</span>
                ${
                  archived
                    ? null
                    : html`<span class="row">
                        ${
                          number.id === agent.primary_number_id
                            ? null
                            : html`<${Button} small kind="quiet" label=${`Make main: ${phone(number.e164)}`} onClick=${() => makeMain.run(number)}>Make main<//>`
                        }
                        <${Button} small kind="quiet" label=${`Detach ${phone(number.e164)}`} onClick=${() => detach(number)}>Detach<//>
                      </span>`
                }
              </li>`,
            )}
          </ul>`
    }
    ${agent.type === 'outbound' && agent.numbers.length > 1 ? html`<p class="help">It calls from the main number unless a call says otherwise.</p>` : null}
    <${ErrorNote} error=${makeMain.error} title="The main number was not changed." />
    ${
      archived
        ? null
        : all.data !== undefined && free.length === 0
          ? all.data.length === 0
            ? html`<${EmptyState} title="No numbers to attach" action=${html`<${Button} href="/numbers/buy">Buy a number<//>`} />`
            : html`<p class="help">All your numbers are attached. <a href="/numbers/buy">Buy another</a></p>`
          : html`<form
              class="attach"
              onSubmit=${(event: Event) => {
                event.preventDefault();
                if (wanted !== undefined) void attach.run(wanted);
              }}
            >
              <${Select}
                label="Attach a number"
                value=${chosen}
                error=${fieldError(attach.error, 'number_id')}
                options=${[
                  { value: '', label: all.data === undefined ? 'Loading…' : 'Choose…' },
                  ...free.map((number) => ({
                    value: number.id,
                    label: `${phone(number.e164)}${isTaken(number, agent) ? ' (answered by another agent)' : ''}`,
                    disabled: isTaken(number, agent),
                  })),
                ]}
                onChange=${setChosen}
              />
              <${Button} type="submit" busy=${attach.busy} disabled=${wanted === undefined}>Attach<//>
            </form>`
    }
    ${fieldError(attach.error, 'number_id') === null ? html`<${ErrorNote} error=${attach.error} title="The number was not attached." />` : null}
    <${ErrorNote} error=${all.error} title="Your numbers could not be loaded." retry=${all.reload} />
  <//>`;
}
