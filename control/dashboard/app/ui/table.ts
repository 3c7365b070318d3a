// Tables: real ones, whose rows become cards on a narrow screen; and the buttons that turn pages.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { Button } from './button.ts';
import { ErrorNote, Skeleton } from './feedback.ts';
import type { Pages } from './load.ts';

export interface Column<T> {
  label: string;
  cell: (row: T, at: number) => ComponentChildren;
  /** Set to the right, digits of one width. */
  numeric?: boolean;
  /** The heading is for screen readers only: buttons and the like. */
  hideLabel?: boolean;
  /** Takes what room is left. */
  grow?: boolean;
  /** On one line, cut with a hint: of what is left of the width, or of a small part of it. */
  clip?: 'rest' | 'small';
  /** On a narrow screen: beside the row's name, or not there at all. */
  narrow?: 'head' | 'hide';
}

/** A table wider than its frame can be reached and scrolled by keys; one that fits is no stop on the way. */
function scrollableByKeys(frame: HTMLElement | null): (() => void) | undefined {
  if (frame === null) return;
  const look = () => {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
    else frame.removeAttribute('tabindex');
  };
  const resize = new ResizeObserver(look);
  resize.observe(frame);
  return () => resize.disconnect();
}

/** The first column names the row. With `href` its content is the link of the whole row. */
export function Table<T>(props: {
  caption: string;
  /** The caption is shown; else it is for screen readers only. */
  showCaption?: boolean;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T, at: number) => string;
  href?: (row: T) => string;
  rowClass?: (row: T) => string;
  dense?: boolean;
  /** Each row is one line. */
  lines?: boolean;
}) {
  const { columns } = props;
  // The roles are written out: a table drawn as blocks on a narrow screen is none to some screen readers otherwise.
  return html`<div
    class=${`table-frame${props.dense === true ? ' dense' : ''}${props.lines === true ? ' lines' : ''}`}
    ref=${scrollableByKeys}
  >
    <table role="table">
      <caption class=${props.showCaption === true ? undefined : 'sr-only'}>${props.caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(
            (column) =>
              html`<th role="columnheader" scope="col" class=${classOf(column)}>
                ${column.hideLabel === true ? html`<span class="sr-only">${column.label}</span>` : column.label}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${props.rows.map((row, at) => {
          const name = `${props.href === undefined ? '' : 'linked '}${props.rowClass?.(row) ?? ''}`.trim();
          return html`<tr role="row" key=${props.rowKey(row, at)} class=${name || undefined}>
            ${columns.map((column, index) => {
              const inside = column.cell(row, at);
              return index === 0
                ? html`<th role="rowheader" scope="row" data-label=${column.label} class=${classOf(column)}>
                    ${props.href === undefined ? inside : html`<a class="row-link" href=${props.href(row)}>${inside}</a>`}
                  </th>`
                : html`<td
                    role="cell"
                    data-label=${column.hideLabel === true ? undefined : column.label}
                    class=${classOf(column)}
                  >
                    ${inside}
                  </td>`;
            })}
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

function classOf<T>(column: Column<T>): string | undefined {
  const names = [
    column.numeric === true ? 'numeric' : '',
    column.grow === true ? 'grow' : '',
    column.clip === undefined ? '' : `clip-${column.clip}`,
    column.narrow === undefined ? '' : `narrow-${column.narrow}`,
  ];
  return names.filter((name) => name !== '').join(' ') || undefined;
}

/** A list of usePages: the outline, the error, what to say when it is empty, the table, and the button for more. */
export function PagedTable<T>(props: {
  pages: Pages<T>;
  caption: string;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  href?: (row: T) => string;
  empty: ComponentChildren;
  dense?: boolean;
}) {
  const { pages } = props;
  if (pages.items === undefined) {
    return pages.error === null
      ? html`<div aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} lines=${6} height="line" /></div>`
      : html`<${ErrorNote} error=${pages.error} retry=${pages.reload} />`;
  }
  return html`
    ${pages.error === null ? null : html`<${ErrorNote} error=${pages.error} retry=${pages.reload} />`}
    ${
      pages.items.length === 0
        ? props.empty
        : html`<${Table}
            caption=${props.caption}
            columns=${props.columns}
            rows=${pages.items}
            rowKey=${props.rowKey}
            href=${props.href}
            dense=${props.dense}
          />`
    }
    ${pages.hasMore ? html`<p class="more"><${Button} busy=${pages.loading} onClick=${pages.more}>Show more<//></p>` : null}
  `;
}

/** Newer and older, for a list whose place is in the address. */
export function Pager(props: { isFirst: boolean; newest: string; older: string | null; what: string }) {
  if (props.isFirst && props.older === null) return null;
  return html`<nav class="pager" aria-label=${`Pages of ${props.what}`}>
    ${props.isFirst ? null : html`<${Button} small href=${props.newest}>Newest<//><${Button} small icon="back" onClick=${() => history.back()}>Newer<//>`}
    <span class="spring"></span>
    ${props.older === null ? null : html`<${Button} small href=${props.older}>Older<//>`}
  </nav>`;
}
