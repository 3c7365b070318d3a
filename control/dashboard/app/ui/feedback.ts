// What stands where data is not: errors with what to do, empty states with the next step, the outlines of what loads.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { adviceFor, toFailure } from '../failure.ts';
import { Button } from './button.ts';
import { Icon, type IconName } from './icon.ts';
import type { Load } from './load.ts';

/** What happened and what to do about it. Nothing when there is no error. `focus` moves the reader to it: for forms. */
export function ErrorNote(props: {
  error: unknown;
  /** What did not happen: `The agent was not saved.` */
  title?: string;
  retry?: () => void;
  focus?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { error } = props;
  useEffect(() => {
    if (error !== null && error !== undefined && props.focus === true) box.current?.focus();
  }, [error]);
  if (error === null || error === undefined) return null;
  const failure = toFailure(error);
  return html`<div class="note bad" role="alert" tabindex="-1" ref=${box}>
    <${Icon} name="warn" />
    <div>
      <p class="note-title">${props.title === undefined ? failure.message : props.title}</p>
      ${props.title === undefined ? null : html`<p>${failure.message}</p>`}
      <p>${adviceFor(failure)}</p>
      ${failure.requestId === undefined ? null : html`<p class="dim small">Request <code>${failure.requestId}</code></p>`}
      ${props.retry === undefined ? null : html`<p><${Button} small icon="refresh" onClick=${props.retry}>Try again<//></p>`}
    </div>
  </div>`;
}

/** A notice that is no error. */
export function Note(props: { kind?: 'info' | 'warn' | 'ok'; title?: string; children?: ComponentChildren }) {
  const kind = props.kind ?? 'info';
  return html`<div class=${`note ${kind}`}>
    <${Icon} name=${kind === 'info' ? 'info' : kind === 'ok' ? 'check' : 'warn'} />
    <div>${props.title === undefined ? null : html`<p class="note-title">${props.title}</p>`}${props.children}</div>
  </div>`;
}

/** Nothing here yet: what this is for, and the step that changes it. */
export function EmptyState(props: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}) {
  return html`<div class="empty">
    ${props.icon === undefined ? null : html`<span class="empty-icon"><${Icon} name=${props.icon} size=${26} /></span>`}
    <p class="empty-title">${props.title}</p>
    ${props.children === undefined ? null : html`<div class="empty-text">${props.children}</div>`}
    ${props.action === undefined ? null : html`<div class="empty-action">${props.action}</div>`}
  </div>`;
}

/** The outline of what is being loaded. */
export function Skeleton(props: { lines?: number; height?: 'line' | 'card' | 'chart' }) {
  return html`<div class="skeleton-group" aria-hidden="true">
    ${Array.from(
      { length: props.lines ?? 1 },
      (_none, at) => html`<div key=${at} class=${`skeleton ${props.height ?? 'line'} w${at % 3}`}></div>`,
    )}
  </div>`;
}

/** Data, or its outline, or why it is not there. Data that is shown stays when loading it anew fails. */
export function Loaded<T>(props: {
  load: Load<T>;
  skeleton?: ComponentChildren;
  title?: string;
  children: (data: T) => ComponentChildren;
}) {
  const { load } = props;
  const note =
    load.error === null
      ? null
      : html`<${ErrorNote} error=${load.error} title=${props.title} retry=${load.reload} />`;
  if (load.data === undefined) {
    return load.error === null
      ? html`<div aria-busy="true"><span class="sr-only">Loading</span>${props.skeleton ?? html`<${Skeleton} lines=${4} />`}</div>`
      : note;
  }
  return html`${note}${props.children(load.data)}`;
}
