// The frame of every page: its heading, what can be done there, its title in the browser. Moves the reader to the
// heading when the page changes, as a full page load would.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.ts';
import { visit } from './router.ts';

let focusedVisit = 0;

export function Page(props: {
  title: string;
  /** Shown in place of the title, where that needs more than text. */
  heading?: ComponentChildren;
  lead?: ComponentChildren;
  back?: { href: string; label: string };
  actions?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Offhook`;
  }, [props.title]);
  useEffect(() => {
    // Not at the first load: the browser starts at the top by itself. A page whose outline held the focus hands it on.
    const lost = visit.value > 0 && document.activeElement === document.body;
    if (visit.value !== focusedVisit || lost) {
      focusedVisit = visit.value;
      heading.current?.focus({ preventScroll: true });
    }
  }, [visit.value]);
  return html`<div class="page">
    <header class="page-head">
      ${
        props.back === undefined
          ? null
          : html`<a class="back" href=${props.back.href}><${Icon} name="back" size=${14} />${props.back.label}</a>`
      }
      <div class="page-title">
        <h1 tabindex="-1" ref=${heading}>${props.heading ?? props.title}</h1>
        ${props.actions === undefined ? null : html`<div class="page-actions">${props.actions}</div>`}
      </div>
      ${props.lead === undefined ? null : html`<p class="lead">${props.lead}</p>`}
    </header>
    ${props.children}
  </div>`;
}

/** A part of a page with a heading of its own. */
export function Section(props: {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
  /** In a box. */
  card?: boolean;
  id?: string;
}) {
  return html`<section class=${props.card === false ? 'section' : 'section card'} id=${props.id} aria-label=${props.title}>
    <header class="section-head">
      <h2>${props.title}</h2>
      ${props.actions === undefined ? null : html`<div class="section-actions">${props.actions}</div>`}
    </header>
    ${props.lead === undefined ? null : html`<p class="section-lead">${props.lead}</p>`}
    ${props.children}
  </section>`;
}

/** Names with their values. Null is left out. */
export function Facts(props: {
  rows: readonly (readonly [string, ComponentChildren] | null)[];
  columns?: boolean;
}) {
  return html`<dl class=${props.columns === true ? 'facts columns' : 'facts'}>
    ${props.rows
      .filter((row) => row !== null)
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
