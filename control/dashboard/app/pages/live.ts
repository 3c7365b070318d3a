// Calls now: a dense table of all of them, sorted and filtered, and the words of the chosen one beside it as they come. The
// view is kept in the address.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../format.ts';
import { liveCalls, stream } from '../live-stream.ts';
import { LIVE_STATES, type LiveSort, shownCalls, sortText, viewOf } from '../live-table.ts';
import { withQuery } from '../route-match.ts';
import type { LiveCall } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { EmptyState, Skeleton } from '../ui/feedback.ts';
import { Field, Select } from '../ui/field.ts';
import { Page } from '../ui/page.ts';
import { navigate, query } from '../ui/router.ts';
import { Badge } from '../ui/status.ts';
import { LiveList } from './live-list.ts';
import { StreamNotice } from './live-parts.ts';
import { LiveWords } from './live-words.ts';

/** From so many calls on the rows are small, and with so few they are large again: they do not change size at every call. */
const MANY = 30;
const FEW = 20;

/** Narrower than this there is no room beside the table: the words come up when a call is chosen. */
const BESIDE = '(min-width: 1101px)';

function useWide(): boolean {
  const [wide, setWide] = useState(() => matchMedia(BESIDE).matches);
  useEffect(() => {
    const media = matchMedia(BESIDE);
    const look = () => setWide(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return wide;
}

function useDense(count: number): boolean {
  const dense = useRef(false);
  if (count >= MANY) dense.current = true;
  else if (count <= FEW) dense.current = false;
  return dense.current;
}

/**
 * The call whose words are shown: the one that was pressed, also after its end; without one the first of the list, for as long
 * as it lasts.
 */
function useChosen(
  calls: ReadonlyMap<string, LiveCall> | undefined,
  shown: readonly LiveCall[],
  picked: string | null,
  wide: boolean,
): LiveCall | null {
  const last = useRef<LiveCall | null>(null);
  const now = (id: string) => calls?.get(id) ?? (last.current?.id === id ? last.current : null);
  const kept = last.current !== null && calls?.has(last.current.id) === true ? last.current.id : null;
  const first = wide ? (shown[0]?.id ?? null) : null;
  const id = picked ?? (wide ? (kept ?? first) : null);
  const call = id === null ? null : (now(id) ?? (first === null ? null : now(first)));
  last.current = call;
  return call;
}

/** Changes a part of the view. By what the address says now: rows that are not drawn anew keep what they were given. */
function change(part: Record<string, string | undefined>): void {
  const now = query.peek();
  const view = viewOf(now);
  const next = {
    search: view.search,
    state: view.state as string,
    sort: sortText(view),
    call: now.get('call') ?? undefined,
    ...part,
  };
  void navigate(withQuery('/live', next), { replace: true, quiet: true });
}

function Filters(props: { shown: number; all: number }) {
  const view = viewOf(query.value);
  return html`<form class="live-filters" role="search" aria-label="Calls on the line" onSubmit=${(event: Event) => event.preventDefault()}>
    <span class="dim small digits" role="status">${props.shown === props.all ? counted(props.all, 'call') : `${props.shown} of ${counted(props.all, 'call')}`}</span>
    <${Field} label="Search" hideLabel type="search" value=${view.search} placeholder="Number, agent or words" onInput=${(search: string) => change({ search })} />
    <${Select}
      label="Now"
      hideLabel
      value=${view.state}
      options=${[{ value: '', label: 'Any state' }, ...LIVE_STATES.map(({ name, label }) => ({ value: name, label }))]}
      onChange=${(state: string) => change({ state })}
    />
    ${stream.value.state === 'open' ? html`<${Badge} tone="ok">Connected<//>` : null}
  </form>`;
}

export function LivePage() {
  const view = viewOf(query.value);
  const wide = useWide();
  const calls = liveCalls.value;
  const all = calls?.size ?? 0;
  const shown = shownCalls(calls?.values() ?? [], view);
  const dense = useDense(all);
  const call = useChosen(calls, shown, query.value.get('call'), wide);
  const onSort = (sort: LiveSort) =>
    change({ sort: sortText({ sort, reversed: view.sort === sort && !view.reversed }) });
  return html`<${Page} title="Live" actions=${all > 0 ? html`<${Filters} shown=${shown.length} all=${all} />` : stream.value.state === 'open' ? html`<${Badge} tone="ok">Connected<//>` : null}>
    <${StreamNotice} />
    ${
      calls === undefined
        ? html`<div aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} lines=${8} height="line" /></div>`
        : all === 0
          ? html`<${EmptyState}
              icon="live"
              title="No call is on the line."
              action=${html`<${Button} href="/calls">See past calls<//>`}
            >
              A call shows up here by itself as soon as it is placed or comes in, with its words as they are spoken.
            <//>`
          : html`<div class="live-panes">
              ${
                shown.length === 0
                  ? html`<${EmptyState} title="No call fits." action=${html`<${Button} onClick=${() => change({ search: undefined, state: undefined })}>Show all calls<//>`} />`
                  : html`<${LiveList} calls=${shown} chosen=${call?.id ?? null} view=${view} dense=${dense} onChoose=${(id: string) => change({ call: id })} onSort=${onSort} />`
              }
              ${
                call === null
                  ? wide
                    ? html`<div></div>`
                    : null
                  : html`<${LiveWords} key=${call.id} call=${call} over=${!calls.has(call.id)} onClose=${() => change({ call: undefined })} />`
              }
            </div>`
    }
  <//>`;
}
