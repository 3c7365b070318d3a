// What an agent may do during a call: requests to a system of yours, handing over, pressing keys. Ending the call is always there.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type FormFault, faultAt } from '../../forms/agent-form.ts';
import {
  type HeaderRow,
  type HttpToolForm,
  isSecretHeader,
  METHODS,
  type Method,
  newHttpTool,
  type ToolForm,
  type TransferForm,
} from '../../forms/tool-form.ts';
import { Button } from '../../ui/button.ts';
import { Field, Select } from '../../ui/field.ts';
import { Icon, type IconName } from '../../ui/icon.ts';
import { Cell, Rows } from '../../ui/rows.ts';
import { announce } from '../../ui/toast.ts';
import { ParametersEditor } from './parameters-editor.ts';

const MOST = 20;

interface Editing<T> {
  tool: T;
  /** `tools[0]`. */
  at: string;
  faults: readonly FormFault[];
  change: (tool: T) => void;
  disabled: boolean;
}

function HeaderCells(props: {
  row: HeaderRow;
  at: number;
  change: (row: HeaderRow) => void;
  disabled: boolean;
}) {
  const { row, at, change } = props;
  const [shown, setShown] = useState(false);
  const secret = isSecretHeader(row);
  return html`<div class="pair">
    <${Cell} label=${`Name of header ${at + 1}`} value=${row.name} mono placeholder="Authorization" disabled=${props.disabled} onInput=${(name: string) => change({ ...row, name })} />
    <${Cell}
      label=${`Value of header ${at + 1}`}
      value=${row.value}
      mono
      type=${secret && !shown ? 'password' : 'text'}
      placeholder="Bearer …"
      disabled=${props.disabled}
      onInput=${(value: string) => change({ ...row, value })}
    />
    ${
      secret
        ? html`<${Button} small kind="quiet" label=${`${shown ? 'Hide' : 'Show'} the value of ${row.name}`} onClick=${() => setShown(!shown)}>${shown ? 'Hide' : 'Show'}<//>`
        : null
    }
  </div>`;
}

function HttpTool(props: Editing<HttpToolForm>) {
  const { tool, at, disabled } = props;
  const set = (part: Partial<HttpToolForm>) => props.change({ ...tool, ...part });
  const error = (field: string) => faultAt(props.faults, `${at}.${field}`, { inside: true });
  return html`<div class="stack">
    <div class="field-pair">
      <${Field} label="Name" mono required value=${tool.name} disabled=${disabled} error=${error('name')} placeholder="look_up_order" help="What the agent calls it by." onInput=${(name: string) => set({ name })} />
      <${Field} label="It says before" optional value=${tool.speakFirst} disabled=${disabled} error=${error('speak_first')} placeholder="One moment, I look that up." help="Fills the pause while the request runs." onInput=${(speakFirst: string) => set({ speakFirst })} />
    </div>
    <${Field}
      label="What it does and when to use it"
      rows=${2}
      required
      value=${tool.description}
      disabled=${disabled}
      error=${error('description')}
      placeholder="Looks up an order by its number. Use it when the caller asks where an order is."
      help="The agent decides by these words alone whether it uses the tool."
      onInput=${(description: string) => set({ description })}
    />
    <div class="method-url">
      <${Select} label="Method" value=${tool.method} disabled=${disabled} options=${METHODS.map((value) => ({ value, label: value }))} onChange=${(method: string) => set({ method: method as Method })} />
      <${Field} label="URL" type="url" mono required value=${tool.url} disabled=${disabled} error=${error('url')} placeholder="https://example.com/orders" help=${tool.method === 'GET' || tool.method === 'DELETE' ? 'The arguments go to the query string.' : 'The arguments go as the JSON body.'} onInput=${(url: string) => set({ url })} />
    </div>
    <${ParametersEditor} value=${tool.parameters} error=${error('parameters')} disabled=${disabled} onChange=${(parameters: HttpToolForm['parameters']) => set({ parameters })} />
    <div class="stack">
      <p class="label">Headers <span class="optional">optional</span></p>
      <${Rows}
        rows=${tool.headers}
        what="header"
        most=${20}
        disabled=${disabled}
        make=${() => ({ name: '', value: '' })}
        nameOf=${(row: HeaderRow) => row.name}
        onChange=${(headers: HeaderRow[]) => set({ headers })}
      >
        ${(row: HeaderRow, index: number, change: (row: HeaderRow) => void) => html`<${HeaderCells} row=${row} at=${index} change=${change} disabled=${disabled} />`}
      <//>
      ${error('headers') === null ? null : html`<p class="field-error">${error('headers')}</p>`}
      <p class="help">Sent as they are, for a key of your system; the agent never sees them. Once saved, a value is not shown again: leave ******** and it stays, while the URL keeps its host.</p>
    </div>
    <div class="short-field">
      <${Field} label="Time limit in milliseconds" type="number" min="100" max="20000" optional value=${tool.timeoutMs} disabled=${disabled} error=${error('timeout_ms')} placeholder="10000" help="After it the agent is told that the tool did not answer. The caller waits that long." onInput=${(timeoutMs: string) => set({ timeoutMs })} />
    </div>
  </div>`;
}

function Transfer(props: Editing<TransferForm>) {
  const { tool, at, disabled } = props;
  const error = (field: string) => faultAt(props.faults, `${at}.${field}`);
  return html`<div class="stack">
    <${Rows}
      rows=${tool.targets}
      what="target"
      most=${20}
      disabled=${disabled}
      make=${() => ({ name: '', number: '' })}
      nameOf=${(row: { name: string }) => row.name}
      onChange=${(targets: TransferForm['targets']) => props.change({ ...tool, targets })}
    >
      ${(
        row: { name: string; number: string },
        index: number,
        change: (row: { name: string; number: string }) => void,
      ) => html`<div class="pair">
        <${Cell} label=${`Who is target ${index + 1}`} value=${row.name} placeholder="Reception" disabled=${disabled} error=${error(`targets[${index}].name`)} onInput=${(name: string) => change({ ...row, name })} />
        <${Cell} label=${`Number of target ${index + 1}`} type="tel" value=${row.number} placeholder="+14155550123" disabled=${disabled} error=${error(`targets[${index}].number`)} onInput=${(number: string) => change({ ...row, number })} />
      </div>`}
    <//>
    ${error('targets') === null ? null : html`<p class="field-error">${error('targets')}</p>`}
    <p class="help">The agent chooses among these by name and never sees the numbers. The call goes on without the agent.</p>
  </div>`;
}

const HEAD: Record<ToolForm['type'], { icon: IconName; title: string }> = {
  http: { icon: 'tool', title: 'Request to your system' },
  transfer_call: { icon: 'outbound', title: 'Hand the call over' },
  send_dtmf: { icon: 'numbers', title: 'Press keys' },
  end_call: { icon: 'hangup', title: 'End the call' },
};

export function ToolsEditor(props: {
  value: readonly ToolForm[];
  faults: readonly FormFault[];
  onChange: (tools: ToolForm[]) => void;
  disabled: boolean;
}) {
  const { value, disabled } = props;
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const focus = useRef<number | 'add' | null>(null);
  useLayoutEffect(() => {
    if (focus.current === null) return;
    const wanted = focus.current;
    focus.current = null;
    (wanted === 'add'
      ? box.current?.querySelector<HTMLElement>('.tool-add button:not(:disabled)')
      : box.current?.querySelector<HTMLElement>(`[data-tool="${wanted}"] :is(input, button)`)
    )?.focus();
  });
  const add = (tool: ToolForm) => {
    setOpen(new Set([...open, value.length]));
    focus.current = value.length;
    props.onChange([...value, tool]);
  };
  const remove = (at: number) => {
    announce('Tool removed.');
    focus.current = 'add';
    setOpen(new Set([...open].filter((one) => one !== at).map((one) => (one > at ? one - 1 : one))));
    props.onChange(value.filter((_tool, index) => index !== at));
  };
  const has = (type: ToolForm['type']) => value.some((tool) => tool.type === type);
  const general = faultAt(props.faults, 'tools');
  return html`<div class="stack" ref=${box}>
    ${general === null ? null : html`<p class="field-error">${general}</p>`}
    <div class="tool-card fixed">
      <div class="tool-head"><${Icon} name="hangup" /><strong>End the call</strong><span class="dim">always there</span></div>
    </div>
    ${value.map((tool, index) => {
      if (tool.type === 'end_call') return null;
      const at = `tools[${index}]`;
      const wrong = props.faults.some((fault) => fault.param === at || fault.param.startsWith(`${at}.`));
      const isOpen = open.has(index) || wrong;
      const title = tool.type === 'http' && tool.name !== '' ? tool.name : HEAD[tool.type].title;
      const change = (next: ToolForm) => props.onChange(value.map((old, i) => (i === index ? next : old)));
      const foldable = tool.type !== 'send_dtmf';
      return html`<div class="tool-card" data-tool=${index} key=${index} role="group" aria-label=${`Tool: ${title}`}>
        <div class="tool-head">
          <${Icon} name=${HEAD[tool.type].icon} />
          <strong class=${tool.type === 'http' && tool.name !== '' ? 'mono' : undefined}>${title}</strong>
          <span class="dim tool-sub">${
            tool.type === 'http'
              ? `${tool.method} ${tool.url}`
              : tool.type === 'transfer_call'
                ? tool.targets.map((target) => target.name).join(', ')
                : 'for voice menus: 0 to 9, * and #'
          }</span>
          <span class="spring"></span>
          ${
            foldable
              ? html`<${Button}
                  small
                  kind="quiet"
                  expanded=${isOpen}
                  label=${`${isOpen ? 'Fold' : 'Edit'} ${title}`}
                  onClick=${() => setOpen(isOpen ? new Set([...open].filter((one) => one !== index)) : new Set([...open, index]))}
                  >${isOpen ? 'Fold' : disabled ? 'Look' : 'Edit'}<//
                >`
              : null
          }
          ${disabled ? null : html`<${Button} small kind="quiet" icon="trash" label=${`Remove ${title}`} onClick=${() => remove(index)} />`}
        </div>
        ${faultAt(props.faults, at) === null ? null : html`<p class="field-error">${faultAt(props.faults, at)}</p>`}
        ${
          !isOpen || !foldable
            ? null
            : html`<div class="tool-body">
                ${
                  tool.type === 'http'
                    ? html`<${HttpTool} tool=${tool} at=${at} faults=${props.faults} change=${change} disabled=${disabled} />`
                    : html`<${Transfer} tool=${tool} at=${at} faults=${props.faults} change=${change} disabled=${disabled} />`
                }
              </div>`
        }
      </div>`;
    })}
    ${
      disabled
        ? null
        : html`<div class="row tool-add">
            <${Button} small icon="plus" disabled=${value.length >= MOST} onClick=${() => add(newHttpTool())}>Request to your system<//>
            <${Button} small icon="plus" disabled=${has('transfer_call') || value.length >= MOST} onClick=${() => add({ type: 'transfer_call', targets: [{ name: '', number: '' }] })}>Hand over<//>
            <${Button} small icon="plus" disabled=${has('send_dtmf') || value.length >= MOST} onClick=${() => add({ type: 'send_dtmf' })}>Press keys<//>
          </div>`
    }
  </div>`;
}
