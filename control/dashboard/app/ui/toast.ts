// Short notices at the edge of the screen, read aloud by screen readers. What must not be missed is an ErrorNote instead.
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { Icon } from './icon.ts';

interface Toast {
  id: number;
  text: string;
  kind: 'ok' | 'bad';
}

const toasts = signal<readonly Toast[]>([]);
/** Read aloud, not shown. */
const said = signal('');
let last = 0;
const SHOWN_MS = 6000;

export function toast(text: string, kind: 'ok' | 'bad' = 'ok'): void {
  const one = { id: ++last, text, kind };
  toasts.value = [...toasts.value.slice(-3), one];
  setTimeout(() => dismiss(one.id), kind === 'bad' ? SHOWN_MS * 2 : SHOWN_MS);
}

/** For screen readers alone. */
export function announce(text: string): void {
  said.value = text;
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Stands once in the shell. */
export function Toasts() {
  return html`<div class="toasts" role="region" aria-label="Notices">
      <div role="status" aria-live="polite">
        ${toasts.value.map(
          (one) => html`<div key=${one.id} class=${`toast ${one.kind}`}>
            <${Icon} name=${one.kind === 'ok' ? 'check' : 'warn'} />
            <span>${one.text}</span>
            <button class="button quiet small icon-only" aria-label="Dismiss" onClick=${() => dismiss(one.id)}>
              <${Icon} name="close" size=${14} />
            </button>
          </div>`,
        )}
      </div>
    </div>
    <div class="sr-only" role="status" aria-live="polite">${said.value}</div>`;
}
