// Tabs of one page, by the pattern of the ARIA Authoring Practices: one stop for the Tab key, arrows go from tab to tab. Each
// panel stays as it was left while another is shown.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface Tab<Name extends string> {
  name: Name;
  label: string;
  /** How many things there are, where that says something. */
  count?: number;
  /** Something in it is wrong. */
  faulty?: boolean;
  panel: ComponentChildren;
}

export function Tabs<Name extends string>(props: {
  /** What they are tabs of. */
  label: string;
  tabs: readonly Tab<Name>[];
  chosen: Name;
  onChange: (name: Name) => void;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const { tabs, chosen } = props;
  const at = tabs.findIndex(({ name }) => name === chosen);
  const go = (to: number) => {
    const next = tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    props.onChange(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  return html`<div class="tabs" role="tablist" aria-label=${props.label} ref=${list} onKeyDown=${onKeyDown}>
      ${tabs.map(
        (tab) => html`<button
          key=${tab.name}
          type="button"
          role="tab"
          id=${`${id}-${tab.name}`}
          data-tab=${tab.name}
          class=${tab.faulty === true ? 'tab faulty' : 'tab'}
          aria-selected=${tab.name === chosen ? 'true' : 'false'}
          aria-controls=${`${id}-${tab.name}-panel`}
          tabindex=${tab.name === chosen ? 0 : -1}
          onClick=${() => props.onChange(tab.name)}
        >
          ${tab.label}${tab.count === undefined || tab.count === 0 ? null : html`<span class="tab-count" aria-hidden="true">${tab.count}</span>`}${
            tab.faulty === true ? html`<span class="sr-only"> (needs mending)</span>` : null
          }
        </button>`,
      )}
    </div>
    ${tabs.map(
      (tab) => html`<div
        key=${tab.name}
        class="tab-panel"
        role="tabpanel"
        id=${`${id}-${tab.name}-panel`}
        aria-labelledby=${`${id}-${tab.name}`}
        hidden=${tab.name !== chosen}
      >
        ${tab.panel}
      </div>`,
    )}`;
}
