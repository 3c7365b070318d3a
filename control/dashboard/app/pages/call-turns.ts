// The turns of a call: how long each answer took and what the wait was made of, as bars and as a table.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { CallGap, CallTurns, Turn } from '../../../sdk/index.ts';
import { gapLabel, type WithGap, withGaps } from '../call-gaps.ts';
import { clock, counted, latency } from '../format.ts';
import { EmptyState } from '../ui/feedback.ts';
import { Segments } from '../ui/field.ts';
import { Section } from '../ui/page.ts';
import { Placed } from '../ui/placed.ts';
import { Badge } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { answerWaits, PARTS, percentile, type WaitRow, waterfall } from '../waterfall.ts';

const KINDS: Record<Turn['kind'], string> = {
  greeting: 'Greeting',
  answer: 'Answer',
  prompt: 'By itself',
};

/** Whether the answer was begun in a pause, and what was begun before it; empty: neither. */
function begunWords({ requested_ms, decided_ms, thrown_away }: Turn): string {
  const early = requested_ms !== null && requested_ms < decided_ms;
  return [
    early ? `begun ${latency(decided_ms - requested_ms)} early` : [],
    thrown_away > 0 ? `${thrown_away} thrown away before` : [],
  ]
    .flat()
    .join(', ');
}

export function TurnsSection(props: {
  turns: CallTurns;
  gaps: readonly CallGap[];
  /** The call has ended. */
  over: boolean;
  seek?: ((ms: number) => void) | undefined;
}) {
  const [view, setView] = useState<'bars' | 'table'>('bars');
  const { data } = props.turns;
  const waits = answerWaits(data);
  const early = data.filter(
    ({ requested_ms, decided_ms }) => requested_ms !== null && requested_ms < decided_ms,
  ).length;
  const thrown = data.reduce((sum, { thrown_away }) => sum + thrown_away, 0);
  const begun =
    early + thrown === 0
      ? ''
      : ` ${counted(early + thrown, 'answer')} begun in a pause${thrown > 0 ? `, ${thrown} thrown away unheard` : ''}.`;
  const lead =
    waits.length === 0
      ? undefined
      : waits.length === 1
        ? html`One answer, heard <strong>${latency(waits[0])}</strong> after the end of speech.${begun}`
        : html`${counted(waits.length, 'answer')}: half within <strong>${latency(percentile(waits, 0.5))}</strong>, the slowest
            after <strong>${latency(Math.max(...waits))}</strong>, from the end of speech until it was heard.${begun}`;
  return html`<${Section}
    title="Turns and latency"
    lead=${lead}
    actions=${
      data.length === 0
        ? null
        : html`<${Segments}
            label="Shown as"
            value=${view}
            options=${[{ value: 'bars', label: 'Bars' }, { value: 'table', label: 'Table' }]}
            onChange=${(value: string) => setView(value as 'bars' | 'table')}
          />`
    }
  >
    ${
      data.length === 0
        ? html`<${EmptyState} title="No turns.">The agent did not come to speak on this call.<//>`
        : view === 'bars'
          ? html`<${Bars} turns=${data} gaps=${props.gaps} over=${props.over} seek=${props.seek} />`
          : html`<${TurnTable} turns=${data} gaps=${props.gaps} over=${props.over} />`
    }
  <//>`;
}

/** When it was wanted: by the end of the speech that it answers, where it answers some. */
const atMsOf = (turn: Turn) => turn.speech_end_ms ?? turn.decided_ms;

interface Gaps {
  gaps: readonly CallGap[];
  over: boolean;
}

function Bars(props: Gaps & { turns: readonly Turn[]; seek?: ((ms: number) => void) | undefined }) {
  const { rows, marks, endMs } = waterfall(props.turns);
  return html`<div>
    <p class="legend">
      ${PARTS.map((part) => html`<span key=${part.key} title=${part.about}><i class=${`swatch ${part.colour}`}></i>${part.label}</span>`)}
    </p>
    <ol class="waterfall" aria-label="Waits of the turns; the same as a table by the switch above">
      ${withGaps(rows, props.gaps, ({ turn }) => atMsOf(turn)).map(({ item, gap }) =>
        gap === undefined
          ? html`<li key=${item.turn.id}><${BarRow} row=${item} seek=${props.seek} /></li>`
          : html`<li key=${`gap ${gap.from_ms}`} class="wait-gap small"><span class="digits">${clock(gap.from_ms)}</span><span>${gapLabel(gap, props.over)}</span></li>`,
      )}
    </ol>
    <div class="waterfall-scale digits" aria-hidden="true">
      ${marks.map((at) => html`<${Placed} key=${at} left=${(at / endMs) * 100}>${at === 0 ? '0' : latency(at)}<//>`)}
    </div>
  </div>`;
}

function BarRow(props: { row: WaitRow; seek?: ((ms: number) => void) | undefined }) {
  const { turn, bars, totalMs } = props.row;
  const atMs = atMsOf(turn);
  const parts = bars.map((bar) => `${bar.label} ${latency(bar.ms)}`).join(', ');
  const begun = begunWords(turn);
  const outcome =
    turn.latency_ms === null
      ? turn.barged_in
        ? 'cut before it was heard'
        : 'not heard'
      : `heard after ${latency(turn.latency_ms)}`;
  return html`<div class="wait">
    ${
      props.seek === undefined
        ? html`<span class="wait-name digits">${clock(atMs)}</span>`
        : html`<button class="wait-name digits" aria-label=${`Play turn ${turn.index} from ${clock(atMs)}`} onClick=${() => props.seek?.(Math.max(0, atMs - 1000))}>
            ${clock(atMs)}
          </button>`
    }
    <span class="wait-kind small" title=${begun || undefined}>${KINDS[turn.kind]}</span>
    <span class="wait-bars">
      <span class="sr-only">${`${outcome}: ${parts}${begun === '' ? '' : `; ${begun}`}`}</span>
      <span aria-hidden="true">
        ${bars.map(
          (bar) =>
            html`<${Placed} key=${bar.key} class=${`bar ${bar.colour}`} left=${bar.left} width=${bar.width} title=${`${bar.label}: ${latency(bar.ms)}`} />`,
        )}
      </span>
    </span>
    <span class="wait-total digits" aria-hidden="true">${
      turn.latency_ms === null
        ? html`<${Badge} tone="warn">${turn.barged_in ? 'Cut' : 'Not heard'}<//>`
        : latency(turn.latency_ms ?? totalMs)
    }</span>
  </div>`;
}

function TurnTable(props: Gaps & { turns: readonly Turn[] }) {
  type Row = WithGap<Turn>;
  const ofTurn = (show: (turn: Turn) => unknown) => (row: Row) =>
    row.gap === undefined ? show(row.item) : null;
  return html`<${Table}
    caption="Turns: what each wait was made of"
    dense
    rows=${withGaps(props.turns, props.gaps, atMsOf)}
    rowKey=${({ item, gap }: Row) => item?.id ?? `gap ${gap?.from_ms}`}
    columns=${[
      {
        label: 'Turn',
        cell: ({ item: turn, gap }: Row) => {
          if (gap !== undefined) return html`<span class="dim">${gapLabel(gap, props.over)}</span>`;
          const begun = begunWords(turn);
          return html`${turn.index}. ${KINDS[turn.kind]}${begun === '' ? null : html`<div class="dim small field-about">${begun}</div>`}`;
        },
      },
      {
        label: 'At',
        numeric: true,
        cell: ({ item, gap }: Row) => clock(gap === undefined ? atMsOf(item) : gap.from_ms),
      },
      ...PARTS.map(({ key, label }) => ({
        label,
        numeric: true,
        cell: ofTurn((turn) => latency(turn.parts[key])),
      })),
      {
        label: 'Heard after',
        numeric: true,
        cell: ofTurn((turn) =>
          turn.latency_ms === null
            ? html`<${Badge} tone="warn">${turn.barged_in ? 'Cut' : 'Not heard'}<//>`
            : html`<strong>${latency(turn.latency_ms)}</strong>`,
        ),
      },
    ]}
  />`;
}
