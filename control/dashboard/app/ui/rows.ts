// Lists of rows that a person edits: adding (also by Enter), taking out, and moving by buttons or Alt with the arrow keys.
// Holds no values: whoever uses it does.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { moved } from '../forms/returns-table.ts';
import { Button } from './button.ts';
import { announce } from './toast.ts';

interface RowsProps<T> {
  rows: readonly T[];
  onChange: (rows: T[]) => void;
  make: () => T;
  /** What a row is: `field`, `header`. */
  what: string;
  /** How a row is called aloud: its name, where it has one. */
  nameOf: (row: T) => string;
  children: (row: T, at: number, change: (row: T) => void) => ComponentChildren;
  /** The order means something. */
  ordered?: boolean;
  most?: number;
  disabled?: boolean;
  addLabel?: string;
}

/** The rows with their buttons. After a change the focus is where the work goes on. */
export function Rows<T>(props: RowsProps<T>) {
  const { rows, what } = props;
  const box = useRef<HTMLDivElement>(null);
  const next = useRef<{ row: number; where: 'first' | 'up' | 'down' | 'add' | 'same'; cell?: number } | null>(
    null,
  );
  // Before the next key can be pressed.
  useLayoutEffect(() => {
    const wanted = next.current;
    if (wanted === null || box.current === null) return;
    next.current = null;
    const row = box.current.querySelectorAll<HTMLElement>(':scope > .edit-list > .edit-row')[wanted.row];
    const add = box.current.querySelector<HTMLElement>(':scope > .edit-add button');
    const controls = row?.querySelectorAll<HTMLElement>('input, select, textarea, button');
    const found =
      wanted.where === 'add' || row === undefined
        ? add
        : wanted.where === 'first'
          ? controls?.[0]
          : wanted.where === 'same'
            ? controls?.[wanted.cell ?? 0]
            : row.querySelector<HTMLElement>(`[data-move=${wanted.where}]:not(:disabled)`);
    (found ?? controls?.[0] ?? add)?.focus();
  });
  const called = (at: number) => {
    const row = rows[at];
    const name = row === undefined ? '' : props.nameOf(row).trim();
    return name === '' ? `${what} ${at + 1}` : `${what} ${name}`;
  };
  const full = props.most !== undefined && rows.length >= props.most;
  const add = (at: number) => {
    next.current = { row: at, where: 'first' };
    props.onChange([...rows.slice(0, at), props.make(), ...rows.slice(at)]);
  };
  const remove = (at: number) => {
    announce(`Removed ${called(at)}.`);
    next.current =
      rows.length === 1 ? { row: 0, where: 'add' } : { row: Math.min(at, rows.length - 2), where: 'first' };
    props.onChange(rows.filter((_row, index) => index !== at));
  };
  const move = (from: number, to: number, where: 'up' | 'down' | 'same', cell = 0) => {
    if (to < 0 || to >= rows.length) return;
    announce(`${called(from)}: now ${to + 1} of ${rows.length}.`);
    next.current = { row: to, where, cell };
    props.onChange(moved(rows, from, to));
  };
  const onKeyDown = (event: KeyboardEvent, at: number) => {
    const target = event.target as HTMLElement;
    if (event.key === 'Enter' && target instanceof HTMLInputElement && target.type !== 'checkbox') {
      // It would send the form; in a list it asks for the next row.
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (!full && props.disabled !== true) add(at + 1);
      return;
    }
    if (props.ordered !== true || props.disabled === true || !event.altKey) return;
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    event.preventDefault();
    const row = event.currentTarget as HTMLElement;
    const cell = [...row.querySelectorAll('input, select, textarea, button')].indexOf(
      event.target as HTMLElement,
    );
    move(at, event.key === 'ArrowUp' ? at - 1 : at + 1, 'same', Math.max(0, cell));
  };
  return html`<div class="edit-rows" ref=${box}>
    <div class="edit-list">
      ${rows.map(
        (row, at) => html`<div
          class="edit-row"
          key=${at}
          role="group"
          aria-label=${`${what.charAt(0).toUpperCase()}${what.slice(1)} ${at + 1} of ${rows.length}${props.nameOf(row).trim() === '' ? '' : `: ${props.nameOf(row)}`}`}
          onKeyDown=${(event: KeyboardEvent) => onKeyDown(event, at)}
        >
          <div class="edit-cells">
            ${props.children(row, at, (changed) => props.onChange(rows.map((old, index) => (index === at ? changed : old))))}
          </div>
          ${
            props.disabled === true
              ? null
              : html`<div class="edit-buttons">
                  ${
                    props.ordered === true
                      ? html`<button type="button" class="button quiet small icon-only" data-move="up" disabled=${at === 0} aria-label=${`Move ${called(at)} up`} title="Move up (Alt + ↑)" onClick=${() => move(at, at - 1, 'up')}>↑</button>
                          <button type="button" class="button quiet small icon-only" data-move="down" disabled=${at === rows.length - 1} aria-label=${`Move ${called(at)} down`} title="Move down (Alt + ↓)" onClick=${() => move(at, at + 1, 'down')}>↓</button>`
                      : null
                  }
                  <${Button} small kind="quiet" icon="trash" label=${`Remove ${called(at)}`} onClick=${() => remove(at)} />
                </div>`
          }
        </div>`,
      )}
    </div>
    ${
      props.disabled === true
        ? null
        : html`<div class="edit-add">
            <${Button} small icon="plus" disabled=${full} onClick=${() => add(rows.length)}>${props.addLabel ?? `Add ${what}`}<//>
            ${full ? html`<span class="dim small">${props.most} at most.</span>` : null}
          </div>`
    }
  </div>`;
}

/** One input in a row: its label is for screen readers, the place says the rest. */
export function Cell(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  placeholder?: string;
  error?: string | null;
  mono?: boolean;
  type?: string;
  disabled?: boolean;
  class?: string;
  list?: string;
  onKeyDown?: (event: KeyboardEvent) => void;
}) {
  const error = props.error ?? null;
  return html`<div class=${`cell ${props.class ?? ''}${error === null ? '' : ' invalid'}`}>
    <input
      type=${props.type ?? 'text'}
      class=${props.mono === true ? 'mono' : undefined}
      aria-label=${props.label}
      aria-invalid=${error === null ? undefined : 'true'}
      autocomplete="off"
      spellcheck=${props.mono === true ? false : undefined}
      placeholder=${props.placeholder}
      value=${props.value}
      disabled=${props.disabled}
      list=${props.list}
      onInput=${(event: Event) => props.onInput((event.target as HTMLInputElement).value)}
      onKeyDown=${props.onKeyDown}
    />
    ${error === null ? null : html`<p class="field-error" role="note">${error}</p>`}
  </div>`;
}

/** A few short texts as one value: typed, and taken over by Enter or a comma; taken out by their cross or Backspace. */
export function Chips(props: {
  label: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
  read: (typed: string) => string[];
  placeholder?: string;
  error?: string | null;
  disabled?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const error = props.error ?? null;
  const take = () => {
    const field = input.current;
    if (field === null || field.value.trim() === '') return;
    const fresh = props.read(field.value).filter((value) => !props.values.includes(value));
    field.value = '';
    if (fresh.length > 0) props.onChange([...props.values, ...fresh]);
  };
  const remove = (at: number) => {
    announce(`Removed ${props.values[at]}.`);
    props.onChange(props.values.filter((_value, index) => index !== at));
    input.current?.focus();
  };
  return html`<div class=${`cell${error === null ? '' : ' invalid'}`}>
    <div class="chips" ref=${box} role="group" aria-label=${props.label}>
      ${props.values.map(
        (value, at) => html`<span class="chip" key=${`${at} ${value}`}
          >${value}${
            props.disabled === true
              ? null
              : html`<button type="button" aria-label=${`Remove ${value}`} onClick=${() => remove(at)}>×</button>`
          }</span
        >`,
      )}
      <input
        ref=${input}
        type="text"
        aria-label=${`Add to ${props.label.charAt(0).toLowerCase()}${props.label.slice(1)}`}
        aria-invalid=${error === null ? undefined : 'true'}
        autocomplete="off"
        disabled=${props.disabled}
        placeholder=${props.values.length === 0 ? (props.placeholder ?? 'yes, no, later') : 'more…'}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key === 'Enter' || event.key === ',') {
            event.preventDefault();
            take();
          } else if (event.key === 'Backspace' && input.current?.value === '' && props.values.length > 0) {
            remove(props.values.length - 1);
          }
        }}
        onBlur=${take}
      />
    </div>
    ${error === null ? null : html`<p class="field-error" role="note">${error}</p>`}
  </div>`;
}
