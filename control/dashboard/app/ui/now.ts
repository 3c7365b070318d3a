// The clocks of the screen: one that ticks by the second for what is live or seconds old, one by the half minute for the rest.
import { signal } from '@preact/signals';

export const nowMs = signal(Date.now());
const slowNowMs = signal(Date.now());

/** Longer ago than this, seconds are not told. */
const SECONDS_TOLD_MS = 90_000;

/** The time now, as fine as it matters for how long ago a moment is; whoever reads it is drawn anew as it goes on. */
export function nowFor(momentMs: number): number {
  return Math.abs(slowNowMs.value - momentMs) < SECONDS_TOLD_MS ? nowMs.value : slowNowMs.value;
}

setInterval(() => {
  // A page nobody sees need not be drawn again.
  if (!document.hidden) nowMs.value = Date.now();
}, 1000);
setInterval(() => {
  slowNowMs.value = Date.now();
}, 30_000);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  nowMs.value = Date.now();
  slowNowMs.value = Date.now();
});
