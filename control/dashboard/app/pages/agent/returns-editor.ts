// What an agent brings back from a call: a table of fields, or the JSON of the same behind a switch.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { type FormFault, faultAt } from '../../forms/agent-form.ts';
import { writeJson } from '../../forms/json-text.ts';
import {
  BASE_TYPES,
  type BaseType,
  emptyRow,
  exampleOf,
  jsonOf,
  type ReturnsRow,
  readValues,
  rowsOf,
  TYPE_LABEL,
} from '../../forms/returns-table.ts';
import { ofRows, ofText, type TableText } from '../../forms/table-text.ts';
import { Field, Segments } from '../../ui/field.ts';
import { Cell, Chips, Rows } from '../../ui/rows.ts';

export function ReturnsEditor(props: {
  value: TableText<ReturnsRow>;
  faults: readonly FormFault[];
  onChange: (value: TableText<ReturnsRow>) => void;
  disabled: boolean;
}) {
  const { value, disabled } = props;
  const [chosen, setChosen] = useState<'table' | 'json'>('table');
  const inStep = value.problem === null;
  const view = inStep ? chosen : 'json';
  const fault = (at: number, cell: string) => faultAt(props.faults, `returns[${at}].${cell}`);
  const problem = value.problem?.message ?? faultAt(props.faults, 'returns');
  return html`<div class="stack">
    <div class="row">
      <p class="label">Fields</p>
      <span class="spring"></span>
      <${Segments}
        label="Results as"
        value=${view}
        options=${[{ value: 'table', label: 'Table', disabled: !inStep }, { value: 'json', label: 'JSON' }]}
        onChange=${(next: string) => setChosen(next === 'json' ? 'json' : 'table')}
      />
    </div>
    ${
      view === 'json'
        ? html`<${Field}
            label="Results as JSON"
            hideLabel
            mono
            rows=${10}
            value=${value.text}
            disabled=${disabled}
            error=${problem}
            help="Name, then type: string, number, integer, boolean, date, datetime or enum(a|b|c), with [] behind it for a list; or an object with type, description and enum. The table shows the same once this has no fault."
            onInput=${(text: string) => {
              setChosen('json');
              props.onChange(ofText(value, text, rowsOf));
            }}
          />`
        : html`${
            value.rows.length === 0
              ? html`<p class="dim">No fields: nothing is extracted. Add one for each thing you want to know after a call.</p>`
              : null
          }
          <${Rows}
          rows=${value.rows}
          what="field"
          ordered
          most=${100}
          disabled=${disabled}
          make=${emptyRow}
          nameOf=${(row: ReturnsRow) => row.name}
          onChange=${(rows: ReturnsRow[]) => props.onChange(ofRows(rows, jsonOf))}
        >
          ${(row: ReturnsRow, at: number, change: (row: ReturnsRow) => void) => html`<div class="returns-row">
            <${Cell}
              label=${`Name of field ${at + 1}`}
              value=${row.name}
              mono
              placeholder="will_come"
              disabled=${disabled}
              error=${fault(at, 'name')}
              onInput=${(name: string) => change({ ...row, name })}
            />
            <select
              aria-label=${`Type of field ${at + 1}`}
              value=${row.base}
              disabled=${disabled}
              onChange=${(event: Event) => change({ ...row, base: (event.target as HTMLSelectElement).value as BaseType })}
            >
              ${BASE_TYPES.map((base) => html`<option key=${base} value=${base} selected=${base === row.base}>${TYPE_LABEL[base]}</option>`)}
            </select>
            <label class="checkbox"
              ><input
                type="checkbox"
                aria-label=${`Field ${at + 1} is a list`}
                checked=${row.isList}
                disabled=${disabled}
                onChange=${(event: Event) => change({ ...row, isList: (event.target as HTMLInputElement).checked })}
              /><span>List</span></label
            >
            ${
              row.base === 'enum'
                ? html`<div class="wide-cell">
                    <${Chips}
                      label=${`Values of field ${at + 1}`}
                      values=${row.values}
                      read=${readValues}
                      disabled=${disabled}
                      error=${fault(at, 'values')}
                      onChange=${(values: string[]) => change({ ...row, values })}
                    />
                  </div>`
                : null
            }
            <${Cell}
              class="wide-cell"
              label=${`What field ${at + 1} means`}
              value=${row.description}
              placeholder="What it means, for whoever reads the transcript (optional)"
              disabled=${disabled}
              error=${fault(at, 'description')}
              onInput=${(description: string) => change({ ...row, description })}
            />
          </div>`}
        <//>
          ${problem === null ? null : html`<p class="field-error">${problem}</p>`}`
    }
    ${
      inStep && value.rows.length > 0
        ? html`<details>
            <summary>What a result could look like</summary>
            <pre tabindex="0" role="region" aria-label="An example of a result">${writeJson(exampleOf(value.rows))}</pre>
            <p class="help">Every field may come back as null: it was not said.</p>
          </details>`
        : null
    }
  </div>`;
}
