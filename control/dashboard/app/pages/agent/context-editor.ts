// The facts of a call that a person enters: names with values, or a JSON object.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { faultOfPairs, objectOf, type Pair, pairsOf } from '../../forms/context-pairs.ts';
import { readJson, sayFault, writeJson } from '../../forms/json-text.ts';
import { Field, Segments } from '../../ui/field.ts';
import { Cell, Rows } from '../../ui/rows.ts';

export interface ContextText {
  view: 'pairs' | 'json';
  pairs: Pair[];
  text: string;
}

export const emptyContext: ContextText = { view: 'pairs', pairs: [], text: '' };

/** The object that was entered, or what is wrong with it. */
export function readContext(context: ContextText): { value: Record<string, unknown> } | { fault: string } {
  if (context.view === 'pairs') {
    const fault = faultOfPairs(context.pairs);
    return fault === null ? { value: objectOf(context.pairs) } : { fault };
  }
  if (context.text.trim() === '') return { value: {} };
  const read = readJson(context.text);
  if (!read.ok) return { fault: sayFault(read.fault) };
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { fault: 'It must be an object in braces: { "name": "value" }.' };
  }
  return { value: value as Record<string, unknown> };
}

/** What a call should know, as fields or as JSON. */
export function ContextEditor(props: {
  value: ContextText;
  error: string | null;
  onChange: (value: ContextText) => void;
}) {
  const { value } = props;
  const [refused, setRefused] = useState<string | null>(null);
  const show = (view: string) => {
    setRefused(null);
    const read = readContext(value);
    if ('fault' in read) return setRefused(`${read.fault} Mend it first.`);
    if (view === 'json') {
      const text = Object.keys(read.value).length === 0 ? '' : writeJson(read.value);
      return props.onChange({ ...value, view: 'json', text });
    }
    const pairs = pairsOf(read.value);
    if (!pairs.ok) return setRefused(pairs.message);
    props.onChange({ ...value, view: 'pairs', pairs: pairs.pairs });
  };
  return html`<div class="stack">
    <div class="row">
      <p class="label">What it should know <span class="optional">optional</span></p>
      <span class="spring"></span>
      <${Segments}
        label="Context as"
        value=${value.view}
        options=${[{ value: 'pairs', label: 'Fields' }, { value: 'json', label: 'JSON' }]}
        onChange=${show}
      />
    </div>
    ${
      value.view === 'json'
        ? html`<${Field} label="Context as JSON" hideLabel mono rows=${6} value=${value.text} error=${props.error ?? refused} placeholder=${'{ "name": "Ada", "appointment": "Monday at 10" }'} onInput=${(text: string) => props.onChange({ ...value, text })} />`
        : html`<${Rows}
              rows=${value.pairs}
              what="fact"
              make=${() => ({ key: '', value: '' })}
              nameOf=${(pair: Pair) => pair.key}
              onChange=${(pairs: Pair[]) => props.onChange({ ...value, pairs })}
            >
              ${(pair: Pair, at: number, change: (pair: Pair) => void) => html`<div class="pair">
                <${Cell} label=${`Name of fact ${at + 1}`} value=${pair.key} placeholder="appointment" onInput=${(key: string) => change({ ...pair, key })} />
                <${Cell} label=${`Value of fact ${at + 1}`} value=${pair.value} placeholder="Monday at 10" onInput=${(text: string) => change({ ...pair, value: text })} />
              </div>`}
            <//>
            ${(props.error ?? refused) === null ? null : html`<p class="field-error" role="alert">${props.error ?? refused}</p>`}`
    }
    <p class="help">Facts of this call, such as a name or an appointment. The agent uses them and is told neither to obey nor to read them out.</p>
  </div>`;
}
