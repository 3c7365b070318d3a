// Badges: a state in words with a colour beside it, never by colour alone.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { words } from '../format.ts';

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'idle';

export function Badge(props: { tone?: Tone; dot?: boolean; children?: ComponentChildren }) {
  return html`<span class=${`badge ${props.tone ?? 'idle'}`}
    >${props.dot === false ? null : html`<span class="dot" aria-hidden="true"></span>`}${props.children}</span
  >`;
}

const TONES: Record<string, Tone> = {
  in_progress: 'info',
  ringing: 'info',
  initiated: 'info',
  queued: 'info',
  pending: 'info',
  live: 'info',
  completed: 'ok',
  delivered: 'ok',
  enabled: 'ok',
  active: 'ok',
  ok: 'ok',
  no_answer: 'warn',
  busy: 'warn',
  warn: 'warn',
  failed: 'bad',
  exhausted: 'bad',
  down: 'bad',
  disabled: 'bad',
  canceled: 'idle',
  none: 'idle',
  archived: 'idle',
  released: 'idle',
};

/** The colour of a status. */
export const toneOf = (status: string): Tone => TONES[status] ?? 'idle';

/** Any status of the API in words and colour. */
export function Status(props: { value: string; label?: string }) {
  return html`<${Badge} tone=${toneOf(props.value)}>${props.label ?? words(props.value)}<//>`;
}
