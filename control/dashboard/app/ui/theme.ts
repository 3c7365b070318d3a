// Light or dark: by the system unless a person chose; and colours of the style sheet for what is drawn on a canvas.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEPT = 'offhook-theme';

function kept(): Theme {
  try {
    const value = localStorage.getItem(KEPT);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

export const theme = signal<Theme>(kept());
/** Changes whenever colours do. */
export const look = signal(0);

export function startTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    look.value = look.peek() + 1;
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    look.value++;
  });
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  try {
    if (next === 'system') localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, next);
  } catch {
    // Private windows may keep nothing: the choice holds until the page is closed.
  }
}

let probe: HTMLElement | null = null;

/** A custom property of the style sheet as a colour a canvas understands, light or dark as it is now. */
export function colour(property: string): string {
  if (probe === null) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${property})`;
  return getComputedStyle(probe).color;
}
