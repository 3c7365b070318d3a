// The list of calls itself: a line a call with what it brought, its columns and which of them are shown, and what all of it
// adds up to.
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import type { Call } from '../../../sdk/index.ts';
import { CALL_COLUMNS, type CallColumn, columnsFrom, keptColumns } from '../call-columns.ts';
import { broughtBy, isOver, otherSide, outcomeOf } from '../call-words.ts';
import { count, duration, money, percent } from '../format.ts';
import type { CallTotals } from '../session-shapes.ts';
import { Checkbox } from '../ui/field.ts';
import { Icon } from '../ui/icon.ts';
import { toneOf } from '../ui/status.ts';
import { type Column, Table } from '../ui/table.ts';
import { Duration, Money, Phone, Time } from '../ui/values.ts';

const KEPT_AS = 'offhook.call-columns';

/** The choice of this browser. A browser that keeps nothing shows the usual ones. */
export function readColumns(): ReadonlySet<CallColumn> {
  try {
    return columnsFrom(localStorage.getItem(KEPT_AS));
  } catch {
    return columnsFrom(null);
  }
}

export function keepColumns(chosen: ReadonlySet<CallColumn>): void {
  const kept = keptColumns(chosen);
  try {
    if (kept === null) localStorage.removeItem(KEPT_AS);
    else localStorage.setItem(KEPT_AS, kept);
  } catch {
    // It holds for as long as the page is open.
  }
}

/** Which columns are shown: behind a button, as it is seldom changed. */
export function ColumnChoice(props: {
  chosen: ReadonlySet<CallColumn>;
  choose: (chosen: ReadonlySet<CallColumn>) => void;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  return html`<details
    class="menu columns-menu"
    ref=${box}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape' || box.current?.open !== true) return;
      box.current.open = false;
      box.current.querySelector('summary')?.focus();
    }}
    onFocusOut=${(event: FocusEvent) => {
      const to = event.relatedTarget;
      if (box.current !== null && to instanceof Node && !box.current.contains(to)) box.current.open = false;
    }}
  >
    <summary class="button small">Columns</summary>
    <div class="menu-box card">
      ${CALL_COLUMNS.filter(({ always }) => !always).map(
        ({ id, label }) => html`<${Checkbox}
          key=${id}
          label=${label}
          checked=${props.chosen.has(id)}
          onChange=${(on: boolean) => {
            const chosen = new Set(props.chosen);
            if (on) chosen.add(id);
            else chosen.delete(id);
            props.choose(chosen);
          }}
        />`,
      )}
    </div>
  </details>`;
}

/** Hours alone, where there are many. */
const talkOf = (seconds: number) =>
  seconds < 36_000 ? duration(seconds * 1000) : `${count(Math.round(seconds / 3_600))} h`;

/** What the calls that fit add up to. */
export function Totals(props: { totals: CallTotals }) {
  const { totals } = props;
  const charged = totals.billed_milli_cents > 0;
  return html`<p class="totals">
    ${totals.newest === null ? null : html`<span class="dim">The newest ${count(totals.newest)}:</span>`}
    <span><strong class="digits">${count(totals.calls)}</strong> ${totals.calls === 1 ? 'telephone call' : 'telephone calls'}</span>
    ${
      totals.calls === 0
        ? null
        : html`<span><strong class="digits">${count(totals.completed)}</strong> completed${' '}
            <span class="dim">(${percent(totals.completed / totals.calls)})</span></span>`
    }
    ${totals.talk_seconds === 0 ? null : html`<span><strong class="digits">${talkOf(totals.talk_seconds)}</strong> of talk</span>`}
    ${charged ? html`<span><strong class="digits">${money(totals.billed_milli_cents)}</strong> charged</span>` : null}
    ${totals.cost_milli_cents === null ? null : html`<span><strong class="digits">${money(totals.cost_milli_cents)}</strong> cost <span class="dim">(estimate)</span></span>`}
  </p>`;
}

/** How it ended in plain words; the code is there for whoever rests on it. */
function Outcome(props: { call: Pick<Call, 'status' | 'hangup_cause' | 'error_code'> }) {
  const { words, code } = outcomeOf(props.call);
  return html`<span class=${`outcome ${toneOf(props.call.status)}`} title=${code}
    ><span class="dot" aria-hidden="true"></span>${words}</span
  >`;
}

function Brought(props: { call: Call }) {
  const { fields, text } = broughtBy(props.call);
  if (fields.length > 0) {
    return html`<span class="brought" title=${fields.map(([name, value]) => `${name}: ${value}`).join('\n')}>
      ${fields.map(([name, value]) => html`<span key=${name}><span class="dim">${name}</span> ${value}</span>`)}
    </span>`;
  }
  return text === null
    ? html`<span class="dim">–</span>`
    : html`<span class="dim" title=${text}>${text}</span>`;
}

const ours = (call: Call) => (call.direction === 'inbound' ? call.to_number : call.from_number);

function columnsOf(agents: ReadonlyMap<string, string>): Record<CallColumn, Omit<Column<Call>, 'label'>> {
  return {
    who: {
      cell: (call) => html`<span class="call-who"
        ><span class="direction" title=${call.direction === 'inbound' ? 'Inbound' : 'Outbound'}
          ><${Icon} name=${call.direction} size=${14} /><span class="sr-only">${call.direction} </span></span
        ><${Phone} number=${otherSide(call)}
      /></span>`,
    },
    agent: {
      clip: 'small',
      cell: (call) =>
        call.agent_id === null
          ? html`<span class="dim">By a prompt</span>`
          : (agents.get(call.agent_id) ?? html`<span class="dim">Archived agent</span>`),
    },
    ended: { narrow: 'head', cell: (call) => html`<${Outcome} call=${call} />` },
    result: { clip: 'rest', cell: (call) => html`<${Brought} call=${call} />` },
    duration: {
      numeric: true,
      narrow: 'hide',
      cell: (call) =>
        isOver(call)
          ? html`<${Duration} ms=${call.duration_seconds === null ? null : call.duration_seconds * 1000} />`
          : html`<${Duration} since=${call.answered_at ?? call.created_at} />`,
    },
    charged: {
      numeric: true,
      narrow: 'hide',
      cell: (call) => html`<${Money} milliCents=${call.billing_amount_milli_cents} />`,
    },
    cost: {
      numeric: true,
      narrow: 'hide',
      cell: (call) => html`<${Money} milliCents=${call.cost?.total_milli_cents} />`,
    },
    ours: { cell: (call) => html`<${Phone} number=${ours(call)} />` },
    language: { cell: (call) => call.language },
    model: { clip: 'small', cell: (call) => call.model },
    placed: { numeric: true, cell: (call) => html`<${Time} iso=${call.created_at} />` },
  };
}

export function CallTable(props: {
  calls: readonly Call[];
  agents: ReadonlyMap<string, string>;
  chosen: ReadonlySet<CallColumn>;
}) {
  const columns = columnsOf(props.agents);
  return html`<${Table}
    caption="Calls, newest first"
    lines
    rows=${props.calls}
    rowKey=${(call: Call) => call.id}
    href=${(call: Call) => `/calls/${call.id}`}
    columns=${CALL_COLUMNS.filter(({ id }) => props.chosen.has(id)).map(({ id, label }) => ({ label, ...columns[id] }))}
  />`;
}
