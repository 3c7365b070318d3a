// The clocks of the screen: one that ticks by the second for what is live, one by the half minute for "4 min ago".
import { signal } from '@preact/signals';

export const nowMs = signal(Date.now());
export const slowNowMs = signal(Date.now());

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
