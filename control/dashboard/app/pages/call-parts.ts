// Parts of a call's page that only show: its result beside the schema, its cost, what was sent with it.
import { html } from 'htm/preact';
import type { Call, CostPart } from '../../../sdk/index.ts';
import { fieldOf, isOver, summaryOf, valueInWords } from '../call-words.ts';
import { money, usedOf, words } from '../format.ts';
import { CopyButton } from '../ui/button.ts';
import { Note, Skeleton } from '../ui/feedback.ts';
import { Facts, Section } from '../ui/page.ts';
import { Badge, Status, type Tone } from '../ui/status.ts';
import { Table } from '../ui/table.ts';

const MOODS: Record<NonNullable<Call['sentiment']>, { label: string; tone: Tone }> = {
  positive: { label: 'Content', tone: 'ok' },
  neutral: { label: 'Neutral', tone: 'idle' },
  negative: { label: 'Discontent', tone: 'warn' },
};

/** What came of the call: the fields of its result, and what it was about. */
export function ResultSection(props: { call: Call }) {
  const { call } = props;
  const fields = Object.entries(call.returns ?? {});
  const summary = summaryOf(call);
  const mood = call.sentiment === null ? undefined : MOODS[call.sentiment];
  if (fields.length === 0 && summary === null) {
    return html`<${Section} title="Result">
      <p class="dim">
        ${
          call.result_status === 'pending' && call.answered_at !== null && isOver(call)
            ? 'It is being taken from the words: up to a minute.'
            : html`Nothing was asked for. Give ${call.agent_id === null ? 'the call' : html`<a href=${`/agents/${call.agent_id}`}>the agent</a>`} fields to
                bring back, and they are taken from what was said.`
        }
      </p>
    <//>`;
  }
  const state = call.result_status === 'completed' ? null : html`<${Status} value=${call.result_status} />`;
  return html`<${Section} title="Result" actions=${html`${state}${call.result === null ? null : html`<${CopyButton} text=${JSON.stringify(call.result, null, 2)} label="Result as JSON" />`}`}>
    ${
      call.result_status === 'failed'
        ? html`<${Note} kind="warn" title="There is no result."><p>${call.result_error ?? 'No reason was given.'}</p><//>`
        : null
    }
    ${
      call.result_status === 'pending'
        ? isOver(call)
          ? html`<div aria-busy="true"><p class="dim">The result is being taken from the words: up to a minute.</p><${Skeleton} lines=${2} /></div>`
          : html`<p class="dim">The result is taken from the words after the call.</p>`
        : null
    }
    ${
      fields.length === 0
        ? null
        : html`<dl class="result-fields">
            ${fields.map(([name, spec]) => {
              const { type, description } = fieldOf(spec);
              const text = call.result === null ? null : valueInWords(call.result[name]);
              return html`<div key=${name}>
                <dt title=${`${name}: ${type}`}>${words(name)}</dt>
                <dd>
                  ${
                    text !== null
                      ? html`<strong>${text}</strong>`
                      : html`<span class="dim">${call.result === null ? '–' : 'not said'}</span>`
                  }
                  ${description === '' ? null : html`<p class="dim small">${description}</p>`}
                </dd>
              </div>`;
            })}
          </dl>`
    }
    ${
      summary === null
        ? null
        : html`<div class="summary">
            <h3>Summary ${mood === undefined ? null : html`<${Badge} tone=${mood.tone}>${mood.label}<//>`}</h3>
            <p>${summary}</p>
          </div>`
    }
  <//>`;
}

/** The price charged and the estimated cost of running it. */
export function CostSection(props: { call: Call }) {
  const { call } = props;
  const { cost } = call;
  const charged = html`<${Facts}
    rows=${[
      ['Charged', money(call.billing_amount_milli_cents)],
      ['Talk charged', call.billed_duration_seconds === null ? '–' : `${call.billed_duration_seconds} s`],
      ['Credit held', words(call.reservation_status)],
    ]}
  />`;
  if (cost === null) {
    return html`<${Section} title="Cost">
      ${charged}
      <p class="dim small">What it cost to run is known shortly after the call is over.</p>
    <//>`;
  }
  const parts: [string, CostPart][] = [
    ['Speech model', cost.model],
    ['Transcription', cost.transcription],
    ['Result', cost.extraction],
    ['Carrier', cost.carrier],
  ];
  return html`<${Section} title="Cost">
    ${charged}
    <${Table}
      caption="What it cost to run, estimated"
      dense
      rows=${[...parts, ['Together', null] as [string, CostPart | null]]}
      rowKey=${([name]: [string, unknown]) => name}
      columns=${[
        {
          label: 'Part',
          cell: ([name, part]: [string, CostPart | null]) =>
            html`${name}${part === null ? null : html`<div class="dim small field-about">${part.name}${usedInWords(part)}</div>`}`,
        },
        {
          label: 'Cost',
          numeric: true,
          cell: ([, part]: [string, CostPart | null]) =>
            part === null
              ? html`<strong>${cost.total_milli_cents === null ? 'not known' : money(cost.total_milli_cents)}</strong>`
              : part.milli_cents === null
                ? html`<span class="dim">rate not known</span>`
                : money(part.milli_cents),
        },
      ]}
    />
    <p class="dim small">An estimate by the rates of ${cost.as_of}, not an invoice.</p>
  <//>`;
}

/** What was thrown away is part of the rest, and stands behind it. */
function usedInWords(part: CostPart): string {
  const used = Object.entries(part.used).filter(([, amount]) => amount > 0);
  const isThrown = ([what]: [string, number]) => what.startsWith('thrown_away_');
  const words = (of: [string, number][]) =>
    of.map(([what, amount]) => usedOf(what.replace(/^thrown_away_/, ''), amount)).join(', ');
  const thrown = used.filter(isThrown);
  const all = words(used.filter((one) => !isThrown(one)));
  if (all === '') return '';
  return `: ${all}${thrown.length === 0 ? '' : ` (of these ${words(thrown)} for answers thrown away)`}`;
}

/** Metadata, context, and what the model was told. */
export function SentSection(props: { call: Call }) {
  const { call } = props;
  const metadata = Object.entries(call.metadata);
  const context = Object.keys(call.context ?? {});
  return html`<${Section} title="Sent with the call">
    ${
      metadata.length === 0
        ? html`<p class="dim">No metadata.</p>`
        : html`<${Facts} rows=${metadata.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])} />`
    }
    ${
      context.length === 0
        ? html`<p class="dim">No context.</p>`
        : html`<details><summary>Context: ${context.join(', ')}</summary><pre tabindex="0">${JSON.stringify(call.context, null, 2)}</pre></details>`
    }
    <details><summary>What the model was told</summary><pre tabindex="0">${call.prompt}</pre></details>
  <//>`;
}
