// The rules of a campaign as a form: pace, hours, calling again.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Campaign } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import {
  type CampaignForm,
  changeOf,
  DAY_SETS,
  formOf,
  newWindow,
  RETRIED,
  type Retried,
  type WindowRow,
} from '../../forms/campaign-form.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import { Field, Select } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';
import { Cell, Rows } from '../../ui/rows.ts';
import { toast } from '../../ui/toast.ts';

const FIELDS = [
  'name',
  'calls_per_minute',
  'max_concurrent',
  'free_lines',
  'max_attempts',
  'time_zone',
  'windows',
  'retries',
];

export function RulesForm(props: {
  campaign: Campaign;
  onClose: () => void;
  onSaved: (campaign: Campaign) => void;
}) {
  const [form, setForm] = useState<CampaignForm>(formOf(props.campaign));
  const set = (change: Partial<CampaignForm>) => setForm({ ...form, ...change });
  const save = useAction(async () => {
    props.onSaved(await api.campaigns.update(props.campaign.id, changeOf(form)));
    toast('The campaign is saved.');
    props.onClose();
  });
  const blamed = (field: string) => fieldError(save.error, field);
  const isBlamed = FIELDS.some((field) => blamed(field) !== null);
  const number = (
    label: string,
    key: 'callsPerMinute' | 'atOnce' | 'freeLines' | 'maxAttempts',
    field: string,
    help: string,
  ) =>
    html`<${Field} label=${label} type="number" min="0" value=${form[key]} error=${blamed(field)} help=${help} onInput=${(value: string) => set({ [key]: value })} />`;
  return html`<${Dialog}
    title="Rules of the campaign"
    wide
    keep
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//><${Button} kind="primary" busy=${save.busy} onClick=${() => save.run()}>Save<//>`}
  >
    <form
      class="stack"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <${Field} label="Name" value=${form.name} error=${blamed('name')} onInput=${(name: string) => set({ name })} />
      <h3>Pace</h3>
      <div class="field-grid">
        ${number('Calls a minute', 'callsPerMinute', 'calls_per_minute', '60 is one a second, what a new account may do at most carriers.')}
        ${number('Calls at once', 'atOnce', 'max_concurrent', 'Of this campaign.')}
        ${number('Lines left free', 'freeLines', 'free_lines', 'For whoever calls in, and for other calls.')}
        ${number('Calls to one contact', 'maxAttempts', 'max_attempts', 'At most, whatever comes of them.')}
      </div>
      <h3>Hours</h3>
      <${Rows}
        rows=${form.windows}
        what="window"
        most=${20}
        make=${newWindow}
        nameOf=${(row: WindowRow) => `${row.from} to ${row.to}`}
        onChange=${(windows: WindowRow[]) => set({ windows })}
        addLabel=${form.windows.length === 0 ? 'Add hours (now: any)' : 'Add hours'}
      >
        ${(row: WindowRow, _at: number, change: (row: WindowRow) => void) => html`
          <${Select} label="Days" hideLabel value=${row.days} options=${withOwn(row.days)} onChange=${(days: string) => change({ ...row, days })} />
          <${Cell} label="From" value=${row.from} placeholder="09:00" onInput=${(from: string) => change({ ...row, from })} />
          <${Cell} label="To" value=${row.to} placeholder="18:00" onInput=${(to: string) => change({ ...row, to })} />
        `}
      <//>
      ${blamed('windows') === null ? null : html`<p class="field-error" role="alert">${blamed('windows')}</p>`}
      <div class="field-grid">
        <${Select}
          label="In whose time"
          value=${form.windowZone}
          options=${[
            { value: 'contact', label: 'The contact’s, by his number' },
            { value: 'campaign', label: 'The campaign’s' },
            { value: 'both', label: 'Both at once' },
          ]}
          onChange=${(windowZone: Campaign['window_zone']) => set({ windowZone })}
        />
        <${Field} label="The campaign’s time zone" value=${form.timeZone} error=${blamed('time_zone')} suggestions=${Intl.supportedValuesOf('timeZone').map((value) => ({ value, label: value }))} onInput=${(timeZone: string) => set({ timeZone })} />
      </div>
      <h3>Calling again</h3>
      <div class="retry-grid">
        ${(Object.keys(RETRIED) as Retried[]).map((name) => {
          const rule = form.retries[name];
          const change = (part: Partial<typeof rule>) =>
            set({ retries: { ...form.retries, [name]: { ...rule, ...part } } });
          return html`<fieldset key=${name} class="retry">
            <legend>${RETRIED[name]}</legend>
            <${Field} label="Times" type="number" min="0" max="9" value=${rule.times} error=${blamed(`retries.${name}.times`)} onInput=${(times: string) => change({ times })} />
            <${Field} label="Minutes later" type="number" min="0" value=${rule.after} error=${blamed(`retries.${name}.after_minutes`)} onInput=${(after: string) => change({ after })} />
          </fieldset>`;
        })}
      </div>
      ${isBlamed ? null : html`<${ErrorNote} error=${save.error} title="The campaign was not saved." focus />`}
    </form>
  <//>`;
}

/** The sets of days, and this one where it is none of them. */
function withOwn(days: string): { value: string; label: string }[] {
  return DAY_SETS.some(({ value }) => value === days)
    ? [...DAY_SETS]
    : [...DAY_SETS, { value: days, label: days }];
}
