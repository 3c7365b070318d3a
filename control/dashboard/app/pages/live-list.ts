// The calls that are on, a row each: sorted by a heading, one of them chosen by a press, or by the arrow keys.
import { html } from 'htm/preact';
import { Component } from 'preact';
import { nameOfSide, otherSide } from '../call-words.ts';
import { latency } from '../format.ts';
import { LIVE_STATES, type LiveSort, type LiveView, lastWords, sinceOf, stateOf } from '../live-table.ts';
import type { LiveCall } from '../session-shapes.ts';
import { Icon } from '../ui/icon.ts';
import { Duration } from '../ui/values.ts';

const HEADS: readonly { sort: LiveSort | null; label: string; class: string }[] = [
  { sort: 'who', label: 'Other side', class: 'live-c-who' },
  { sort: 'agent', label: 'Agent', class: 'live-c-agent' },
  { sort: 'state', label: 'Now', class: 'live-c-state' },
  { sort: 'since', label: 'Time', class: 'live-c-time' },
  { sort: 'latency', label: 'Answer', class: 'live-c-answer' },
  { sort: null, label: 'Said last', class: 'live-c-said' },
];

const LABEL = new Map(LIVE_STATES.map(({ name, label }) => [name, label]));

interface RowProps {
  call: LiveCall;
  isChosen: boolean;
  /** The one that the Tab key comes to. */
  isStop: boolean;
  onChoose: (id: string) => void;
}

/** Of many calls only the one that something was told of is drawn anew: the fold keeps the others as they were. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { call, isChosen, isStop } = this.props;
    return next.call !== call || next.isChosen !== isChosen || next.isStop !== isStop;
  }

  override render() {
    const { call, isChosen, isStop, onChoose } = this.props;
    const state = stateOf(call);
    const isBrowser = call.source === 'browser';
    return html`<tr role="row" class=${isChosen ? 'chosen' : undefined} data-call=${call.id}>
      <th role="rowheader" scope="row" class="live-c-who">
        <button
          type="button"
          class="live-pick"
          aria-pressed=${isChosen ? 'true' : 'false'}
          tabindex=${isStop ? 0 : -1}
          onClick=${() => onChoose(call.id)}
        >
          <${Icon} name=${isBrowser ? 'try' : call.direction} size=${12} />
          <span class="sr-only">${isBrowser ? 'From the browser' : call.direction === 'inbound' ? 'Inbound' : 'Outbound'}</span>
          <span class="digits">${isBrowser ? 'Browser' : nameOfSide(otherSide(call))}</span>
        </button>
      </th>
      <td role="cell" class="live-c-agent">${call.agent_name ?? '–'}</td>
      <td role="cell" class="live-c-state"><span class=${`live-state ${state}`}>${LABEL.get(state)}</span></td>
      <td role="cell" class="live-c-time"><${Duration} since=${sinceOf(call)} /></td>
      <td role="cell" class="live-c-answer digits">${latency(call.last_latency_ms)}</td>
      <td role="cell" class="live-c-said">${lastWords(call)}</td>
    </tr>`;
  }
}

export function LiveList(props: {
  calls: readonly LiveCall[];
  chosen: string | null;
  view: LiveView;
  /** Small rows. */
  dense: boolean;
  onChoose: (id: string) => void;
  onSort: (sort: LiveSort) => void;
}) {
  const { calls, chosen, view } = props;
  const stop = calls.some(({ id }) => id === chosen) ? chosen : (calls[0]?.id ?? null);
  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>('tr[data-call]');
    if (row === null) return;
    const at = calls.findIndex(({ id }) => id === row.dataset.call);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: calls.length - 1 }[event.key];
    const next = to === undefined ? undefined : calls[to];
    if (next === undefined) return;
    event.preventDefault();
    props.onChoose(next.id);
    const body = row.parentElement;
    body?.querySelector<HTMLElement>(`tr[data-call="${next.id}"] .live-pick`)?.focus();
  };
  return html`<table role="table" class=${props.dense ? 'live-table dense' : 'live-table'}>
    <caption class="sr-only">Calls on the line</caption>
    <thead role="rowgroup">
      <tr role="row">
        ${HEADS.map(({ sort, label, class: name }) => {
          const isSorted = sort !== null && view.sort === sort;
          return html`<th
            key=${label}
            role="columnheader"
            scope="col"
            class=${name}
            aria-sort=${isSorted ? (view.reversed ? 'descending' : 'ascending') : undefined}
          >
            ${
              sort === null
                ? label
                : html`<button type="button" class="live-sort" onClick=${() => props.onSort(sort)}>
                    ${label}${isSorted ? html`<span aria-hidden="true">${view.reversed ? ' ↑' : ' ↓'}</span>` : null}
                  </button>`
            }
          </th>`;
        })}
      </tr>
    </thead>
    <tbody role="rowgroup" onKeyDown=${onKeyDown}>
      ${calls.map(
        (call) =>
          html`<${Row} key=${call.id} call=${call} isChosen=${call.id === chosen} isStop=${call.id === stop} onChoose=${props.onChoose} />`,
      )}
    </tbody>
  </table>`;
}
