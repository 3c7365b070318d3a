// PURE. How a call's agent was interrupted, in a sentence: how often, and what the sounds that were none did to its voice.
import type { Interruption } from '../../sdk/index.ts';
import { counted, latency } from './format.ts';

const sum = (times: readonly number[]) => times.reduce((total, ms) => total + ms, 0);

/** Empty where nobody spoke into the agent's voice. */
export function interruptedWords(interruptions: readonly Interruption[]): string {
  if (interruptions.length === 0) return '';
  const passed = interruptions.filter((one) => one.taken_back);
  const real = interruptions.length - passed.length;
  const often = real === 0 ? 'Never interrupted' : `Interrupted ${real === 1 ? 'once' : `${real} times`}`;
  if (passed.length === 0) return `${often}.`;
  const low = passed.flatMap(({ held_ms, paused_ms, at_ms }) =>
    held_ms === null ? [] : [Math.max(0, (paused_ms ?? at_ms) - held_ms)],
  );
  const paused = passed.flatMap(({ paused_ms, at_ms }) =>
    paused_ms === null ? [] : [Math.max(0, at_ms - paused_ms)],
  );
  const lowered = low.length === 0 ? '' : `, the agent's voice lowered for ${latency(sum(low))} in all`;
  const pauses =
    paused.length === 0
      ? ''
      : ` and paused ${paused.length === 1 ? 'once, ' : `${paused.length} times, `}for ${latency(sum(paused))}`;
  return `${often}; ${counted(passed.length, 'sound')} let pass${lowered}${pauses}.`;
}
