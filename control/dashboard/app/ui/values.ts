// Values on the screen: times, stretches of time, money, phone numbers. What is written is format.ts.
import { html } from 'htm/preact';
import { absoluteTime, clock, duration, money, phone, relativeTime, timeOfDay } from '../format.ts';
import { nowFor, nowMs } from './now.ts';

/** A moment: relative, with the whole of it as title; `exact` shows that instead, `clock` the time of day. */
export function Time(props: { iso: string | null | undefined; as?: 'relative' | 'exact' | 'clock' }) {
  const { iso } = props;
  if (iso === null || iso === undefined) return html`<span class="dim">–</span>`;
  const whole = absoluteTime(iso);
  const text =
    props.as === 'exact'
      ? whole
      : props.as === 'clock'
        ? timeOfDay(iso)
        : relativeTime(iso, nowFor(Date.parse(iso)));
  return html`<time datetime=${iso} title=${whole}>${text}</time>`;
}

/** How long something took; `since` ticks from that moment on. */
export function Duration(props: { ms?: number | null; since?: string | null }) {
  if (props.since !== undefined && props.since !== null) {
    return html`<span class="digits">${clock(nowMs.value - Date.parse(props.since))}</span>`;
  }
  return html`<span class="digits">${duration(props.ms)}</span>`;
}

export function Money(props: { milliCents: number | null | undefined }) {
  return html`<span class="digits">${money(props.milliCents)}</span>`;
}

/** A phone number in groups; copied, it is E.164 again. */
export function Phone(props: { number: string | null | undefined }) {
  const { number } = props;
  if (number === null || number === undefined || number === '') return html`<span class="dim">–</span>`;
  if (number === 'browser') return html`<span>Browser</span>`;
  if (number === 'anonymous') return html`<span class="dim">Withheld</span>`;
  return html`<span
    class="phone digits"
    title=${number}
    onCopy=${(event: ClipboardEvent) => {
      const chosen = getSelection()?.toString() ?? '';
      if (chosen.replace(/[^\d+]/g, '') !== number) return;
      event.clipboardData?.setData('text/plain', number);
      event.preventDefault();
    }}
    >${phone(number)}</span
  >`;
}
