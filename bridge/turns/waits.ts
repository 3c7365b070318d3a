// How long each phase waits for what may never come, and what then: a model that is silent, a tool that does not answer, sound
// that is never confirmed, an end that does not come. PURE. Every phase but `away` has an end here or in turn-state.ts, while
// the line is there: in a gap of it no time passes, and who ends a call whose line does not come back is the control side.
import {
  finish,
  open,
  type Phase,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  to,
} from './turns.ts';

type Tick = Extract<TurnEvent, { type: 'tick' }>;

/** Nobody has been heard for so long, in whatever phase, that nothing can still be expected: longer than any wait there is. */
export function deadAirMs(rules: TurnRules): number {
  const longest = Math.max(rules.idleMs, rules.toolLimitMs, rules.greetingLimitMs, rules.openingLimitMs);
  return longest + rules.giveUpAfterMs + rules.stuckMs;
}

/** The end of a call that nobody has said or heard anything on for longer than anything may take; null while it goes on. */
export function onDeadAir(state: TurnState, tick: Tick, rules: TurnRules): TurnStep | null {
  const { at } = state.phase;
  if (at === 'away' || at === 'over' || !state.streaming || (tick.quietMs ?? 0) < deadAirMs(rules))
    return null;
  return to(state, { at: 'over' }, [
    { do: 'report', stuck: at },
    { do: 'interrupt' },
    { do: 'finish', reason: 'stalled' },
  ]);
}

/** The stream is there and the model is not: dialling has its own, shorter limits. */
export function onTickOpening(
  state: TurnState,
  phase: Extract<Phase, { at: 'opening' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  if (phase.since === null || now - phase.since < rules.openingLimitMs) return null;
  return to(state, { at: 'over' }, [{ do: 'interrupt' }, { do: 'finish', reason: 'model_silent' }]);
}

/** The ladder of a silent model: asked again, a word to the caller, an end that says why. A tool may take its time. */
export function onTickThinking(
  state: TurnState,
  phase: Extract<Phase, { at: 'thinking' }>,
  tools: boolean,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const silentMs = now - phase.since;
  if (tools) {
    if (silentMs >= rules.toolLimitMs) {
      return to({ ...state, filled: false }, { ...phase, since: now, retried: false }, [
        { do: 'report', stuck: 'tools' },
        { do: 'give-up-tools' },
        { do: 'speak', what: 'continue' },
      ]);
    }
    if (state.filled || silentMs < rules.fillerAfterMs) return null;
    return { state: { ...state, filled: true }, effects: [{ do: 'speak', what: 'filler' }] };
  }
  if (silentMs >= rules.giveUpAfterMs)
    return to(state, { at: 'over' }, [{ do: 'interrupt' }, { do: 'finish', reason: 'model_silent' }]);
  if (!state.owes && state.moments < rules.mostMoments && silentMs >= rules.momentAfterMs) {
    const owing = { ...state, owes: true, moments: state.moments + 1 };
    return { state: owing, effects: [{ do: 'speak', what: 'moment' }] };
  }
  if (!phase.retried && silentMs >= rules.retryAfterMs)
    return to(state, { ...phase, retried: true }, [{ do: 'speak', what: 'retry' }]);
  return null;
}

/** What the agent says does not get through: neither more of it comes, nor is any of it heard. It is dropped, the talk goes on. */
export function onTickUnheard(
  state: TurnState,
  phase: Extract<Phase, { at: 'agent' }>,
  tick: Tick,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  if ((tick.stillMs ?? 0) < rules.stuckMs) return null;
  return to(state, open(now, phase.prompts), [
    { do: 'report', stuck: 'agent' },
    { do: 'interrupt' },
    { do: 'floor', floor: 'none' },
  ]);
}

/** Last words that never come, or are never heard to their end, must not hold the line. */
export function onTickClosing(
  state: TurnState,
  phase: Extract<Phase, { at: 'closing' }>,
  tick: Tick,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  if (phase.asked !== null)
    return now - phase.asked >= rules.giveUpAfterMs ? finish(state, phase.reason) : null;
  if ((tick.stillMs ?? 0) < rules.stuckMs) return null;
  const { state: after, effects } = finish(state, phase.reason);
  return { state: after, effects: [{ do: 'report', stuck: 'closing' }, ...effects] };
}
