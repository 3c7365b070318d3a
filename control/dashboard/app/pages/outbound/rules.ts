// The rules of outbound calls, as a form.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { OutboundRules } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import {
  DAYS,
  KINDS,
  type OutboundForm,
  outboundChange,
  outboundFaults,
  outboundForm,
} from '../../forms/outbound-form.ts';
import { Button } from '../../ui/button.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import { Checkbox, Field } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';
import { Section } from '../../ui/page.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';

const toggled = (list: readonly string[], value: string, on: boolean) =>
  on ? [...list, value] : list.filter((one) => one !== value);

function Choices(props: {
  legend: string;
  all: readonly { value: string; label: string }[];
  chosen: readonly string[];
  error?: string | undefined;
  onChange: (chosen: string[]) => void;
}) {
  const { legend, all, chosen, error, onChange } = props;
  return html`<fieldset class="outbound-choices">
    <legend>${legend}</legend>
    ${all.map(({ value, label }) => html`<${Checkbox} key=${value} label=${label} checked=${chosen.includes(value)} onChange=${(on: boolean) => onChange(toggled(chosen, value, on))} />`)}
    ${error === undefined ? null : html`<p class="field-error">${error}</p>`}
  </fieldset>`;
}

export function Rules(props: { rules: OutboundRules; onSaved: (rules: OutboundRules) => void }) {
  const { rules } = props;
  const [form, setForm] = useState<OutboundForm>(() => outboundForm(rules));
  const [tried, setTried] = useState(false);
  const faults = outboundFaults(form);
  const shown = tried ? faults : {};
  const change = Object.keys(faults).length === 0 ? outboundChange(form, rules) : null;
  const set = (some: Partial<OutboundForm>) => setForm({ ...form, ...some });
  const save = useAction(async () => {
    const saved = await api.outbound.updateRules(change ?? {});
    props.onSaved(saved);
    setForm(outboundForm(saved));
    setTried(false);
    toast('Saved. The rules hold from the next call on.');
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (change !== null) void save.run();
  };
  const text = (
    name:
      | 'countries'
      | 'allowedPrefixes'
      | 'closedPrefixes'
      | 'perDestination'
      | 'perMinute'
      | 'spend'
      | 'from'
      | 'to',
    label: string,
    help?: string,
  ) =>
    html`<${Field} label=${label} ...${help === undefined ? {} : { help }} value=${form[name]} error=${shown[name]} onInput=${(value: string) => set({ [name]: value })} />`;
  const own =
    rules.number_countries.length === 0
      ? 'No country yet: there is no number.'
      : `Those of your numbers may be called anyway: ${rules.number_countries.join(', ')}.`;
  return html`<form class="stack" novalidate onSubmit=${submit}>
    <${Section} title="Where to">
      <div class="stack">
        ${text('countries', 'Further countries', `Codes of two letters. ${own}`)}
        ${text('allowedPrefixes', 'Allowed beginnings', 'May be called whatever the country, such as +4420.')}
        ${text('closedPrefixes', 'Closed beginnings', 'Are not called, whatever else allows them.')}
        <${Choices} legend="Closed kinds of numbers" all=${KINDS} chosen=${form.closedKinds} onChange=${(closedKinds: string[]) => set({ closedKinds })} />
      </div>
    <//>
    <${Section} title="How often">
      <div class="alert-numbers">
        ${text('perDestination', 'To one number a day')}
        ${text('perMinute', 'Calls in a minute')}
        ${text('spend', 'Dollars a day')}
      </div>
      <p class="dim small">A day is the 24 hours before a call. Nothing in a field is no limit.</p>
    <//>
    <${Section} title="When" lead="By the clock where the called number is. Where a number may be in several time zones, it is called when the hours fit in all of them.">
      <div class="stack">
        <${Checkbox} label="At any time" checked=${form.anyTime} onChange=${(anyTime: boolean) => set({ anyTime })} />
        ${
          form.anyTime
            ? null
            : html`<div class="alert-numbers">${text('from', 'From')}${text('to', 'Until')}</div>
                <${Choices} legend="Days" all=${DAYS} chosen=${form.days} error=${shown.days} onChange=${(days: string[]) => set({ days: DAYS.map(({ value }) => value).filter((day) => days.includes(day)) })} />`
        }
      </div>
    <//>
    <${Section} title="Consent">
      <${Checkbox} label="Call only numbers whose consent is known" checked=${form.consent} onChange=${(consent: boolean) => set({ consent })} />
      <p class="dim small">An agent may ask for it by itself. Consents come in by the API.</p>
    <//>
    <${ErrorNote} error=${save.error} title="The rules were not saved." focus />
    <div class="row">
      <${Button} kind="primary" type="submit" needs="admin" busy=${save.busy} disabled=${change !== null && Object.keys(change).length === 0}>Save the rules<//>
      ${rules.updated_at === null ? null : html`<span class="dim small">Changed <${Time} iso=${rules.updated_at} />${rules.updated_by === null ? '' : ` by ${rules.updated_by.name}`}</span>`}
    </div>
  </form>`;
}
