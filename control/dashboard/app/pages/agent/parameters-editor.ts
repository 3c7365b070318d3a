// What the agent fills in when it uses a tool: a table of parameters, or the JSON Schema where it says more.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import {
  emptyParameter,
  FORMATS,
  PARAMETER_LABEL,
  PARAMETER_TYPES,
  type ParameterFormat,
  type ParameterRow,
  type ParameterType,
  parameterFaults,
  parameterRowsOf,
  schemaOf,
} from '../../forms/parameters-table.ts';
import { readValues } from '../../forms/returns-table.ts';
import { ofRows, ofText, type TableText } from '../../forms/table-text.ts';
import { Field, Segments } from '../../ui/field.ts';
import { Cell, Chips, Rows } from '../../ui/rows.ts';

const FORMAT_LABEL: Readonly<Record<ParameterFormat, string>> = {
  '': 'Any text',
  date: 'Date',
  'date-time': 'Date and time',
  email: 'Email',
  uuid: 'UUID',
};

export function ParametersEditor(props: {
  value: TableText<ParameterRow>;
  error: string | null;
  onChange: (value: TableText<ParameterRow>) => void;
  disabled: boolean;
}) {
  const { value, disabled } = props;
  const [chosen, setChosen] = useState<'table' | 'json'>('table');
  const view = value.problem === null ? chosen : 'json';
  const rowFaults = props.error === null ? [] : parameterFaults(value.rows);
  const why = value.problem?.kind === 'shape' ? value.problem.message : null;
  return html`<div class="stack">
    <div class="row">
      <p class="label">Parameters</p>
      <span class="spring"></span>
      <${Segments}
        label="Parameters as"
        value=${view}
        options=${[
          { value: 'table', label: 'Table', disabled: value.problem !== null },
          { value: 'json', label: 'JSON Schema' },
        ]}
        onChange=${(next: string) => setChosen(next === 'json' ? 'json' : 'table')}
      />
    </div>
    ${
      view === 'json'
        ? html`<${Field}
            label="Parameters as JSON Schema"
            hideLabel
            mono
            rows=${8}
            value=${value.text}
            disabled=${disabled}
            error=${props.error ?? (value.problem?.kind === 'json' ? value.problem.message : null)}
            help=${why === null ? 'JSON Schema of an object. No references, patterns or open objects.' : `${why} That is no fault: it is kept as it stands.`}
            onInput=${(text: string) => props.onChange(ofText(value, text, parameterRowsOf))}
          />`
        : html`
          ${value.rows.length === 0 ? html`<p class="dim">None: the tool is called without arguments. Add what the agent should find out and pass on.</p>` : null}
          <${Rows}
            rows=${value.rows}
            what="parameter"
            ordered
            disabled=${disabled}
            make=${emptyParameter}
            nameOf=${(row: ParameterRow) => row.name}
            onChange=${(rows: ParameterRow[]) => props.onChange(ofRows(rows, schemaOf))}
          >
            ${(
              row: ParameterRow,
              at: number,
              change: (row: ParameterRow) => void,
            ) => html`<div class="parameter-row">
              <${Cell}
                label=${`Name of parameter ${at + 1}`}
                value=${row.name}
                mono
                placeholder="order_id"
                disabled=${disabled}
                error=${rowFaults.find((fault) => fault.row === at)?.message ?? null}
                onInput=${(name: string) => change({ ...row, name })}
              />
              <select
                aria-label=${`Type of parameter ${at + 1}`}
                value=${row.type}
                disabled=${disabled}
                onChange=${(event: Event) => change({ ...row, type: (event.target as HTMLSelectElement).value as ParameterType })}
              >
                ${PARAMETER_TYPES.map((type) => html`<option key=${type} value=${type} selected=${type === row.type}>${PARAMETER_LABEL[type]}</option>`)}
              </select>
              ${
                row.type === 'string' && row.values.length === 0
                  ? html`<select
                      aria-label=${`Form of parameter ${at + 1}`}
                      value=${row.format}
                      disabled=${disabled}
                      onChange=${(event: Event) => change({ ...row, format: (event.target as HTMLSelectElement).value as ParameterFormat })}
                    >
                      ${FORMATS.map((format) => html`<option key=${format} value=${format} selected=${format === row.format}>${FORMAT_LABEL[format]}</option>`)}
                    </select>`
                  : html`<span></span>`
              }
              <div class="row wide-cell">
                ${(
                  [
                    ['required', 'Required', 'is required'],
                    ['isList', 'List', 'is a list'],
                  ] as const
                ).map(
                  ([key, word, said]) => html`<label class="checkbox" key=${key}
                    ><input
                      type="checkbox"
                      aria-label=${`Parameter ${at + 1} ${said}`}
                      checked=${row[key]}
                      disabled=${disabled}
                      onChange=${(event: Event) => change({ ...row, [key]: (event.target as HTMLInputElement).checked })}
                    /><span>${word}</span></label
                  >`,
                )}
              </div>
              <${Cell}
                class="wide-cell"
                label=${`What parameter ${at + 1} means`}
                value=${row.description}
                placeholder="What it means, for the agent (optional)"
                disabled=${disabled}
                onInput=${(description: string) => change({ ...row, description })}
              />
              ${
                row.type === 'string'
                  ? html`<div class="wide-cell">
                      <${Chips}
                        label=${`Only values of parameter ${at + 1}`}
                        values=${row.values}
                        read=${readValues}
                        placeholder="Only these values (optional): small, large"
                        disabled=${disabled}
                        onChange=${(values: string[]) => change({ ...row, values, format: '' })}
                      />
                    </div>`
                  : null
              }
            </div>`}
          <//>
          ${props.error !== null && rowFaults.length === 0 ? html`<p class="field-error">${props.error}</p>` : null}`
    }
  </div>`;
}
