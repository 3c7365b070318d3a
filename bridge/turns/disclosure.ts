// The line that is said before all else: that an AI calls, and for whom; that the call is recorded. PURE. Nothing the caller does
// interrupts it: no hold, no barge-in, no key. What he says meanwhile is his turn when it is over. It is said whole: what broke
// off at the model is said once more, and a model that cannot say it has no call.
import { firstWords } from './cut-off.ts';
import { beginPieces, endPiece, nextPiece } from './dictation.ts';
import { verdictByPatience } from './machine.ts';
import {
  closing,
  disclosing,
  finish,
  open,
  type Phase,
  spoken,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';
import { QUIET_VOICE } from './voice.ts';

type Disclosing = Extract<Phase, { at: 'disclosing' }>;

/** So often it is begun. */
const MOST_TRIES = 2;

/** Speech over the line: it goes on, and the model is given what is said. Of who speaks to a message's line it is only remembered. */
export function onSpeechOverLine(state: TurnState, phase: Disclosing, onsetMs: number): TurnStep {
  const { over, forMessage } = phase;
  if (over !== null)
    return to(
      { ...state, pieces: nextPiece(state.pieces, onsetMs) },
      { ...phase, over: { ...over, silentSince: null } },
    );
  const heard: TurnState = { ...spoken(state), pieces: beginPieces(onsetMs, state.pauseMs) };
  const listen: TurnEffect[] = forMessage ? [] : [{ do: 'listen', fromMs: onsetMs }];
  return to(heard, { ...phase, over: { since: onsetMs, silentSince: null } }, listen);
}

/** It is over, as far as is known. */
export function onSpeechOverLineEnded(
  state: TurnState,
  phase: Disclosing,
  { endMs, drawnOut }: Extract<TurnEvent, { type: 'speech-ended' }>,
): TurnStep {
  const ended: TurnState = { ...state, voice: QUIET_VOICE };
  if (phase.over === null) return to(ended, phase);
  const pieces = endPiece(state.pieces, endMs, drawnOut === true);
  return to({ ...ended, pieces }, { ...phase, over: { ...phase.over, silentSince: endMs } });
}

/** It was the line's noise; words may have come before it. */
export function onNoiseOverLine(quiet: TurnState, phase: Disclosing, onsetMs: number, now: number): TurnStep {
  const { over, forMessage } = phase;
  if (over === null || over.since !== onsetMs)
    return to(quiet, { ...phase, over: over && { ...over, silentSince: now } });
  return to(quiet, { ...phase, over: null }, forMessage ? [] : [{ do: 'forget' }]);
}

/** Only time tells that all of it was heard: when nothing of it is to come any more. */
export function onTickDisclosing(
  state: TurnState,
  phase: Disclosing,
  tick: Extract<TurnEvent, { type: 'tick' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { asked, tries } = phase;
  const mayAgain = tries < MOST_TRIES;
  if (asked !== null) {
    const silentMs = now - asked;
    if (silentMs >= rules.giveUpAfterMs) return unsaid(state);
    // It came to nothing, or it does not come.
    if (tick.due === false) return mayAgain ? again(state, phase, asked) : unsaid(state);
    return mayAgain && silentMs >= rules.retryAfterMs ? again(state, phase, asked) : null;
  }
  if (tick.due === false)
    return tick.told === true || !mayAgain ? onTold(state, phase, rules, now) : again(state, phase, now);
  if ((tick.stillMs ?? 0) < rules.stuckMs) return null;
  const stuck: TurnEffect = { do: 'report', stuck: 'disclosing' };
  const { state: next, effects } = mayAgain ? again(state, phase, now) : finish(state, 'stalled');
  return { state: next, effects: [stuck, { do: 'interrupt' }, ...effects] };
}

/** The agent asks for it once more. @param asked since when it is waited for */
function again(state: TurnState, phase: Disclosing, asked: number): TurnStep {
  return to(state, { ...phase, asked, tries: phase.tries + 1 }, [{ do: 'disclose' }]);
}

/** Nobody may be talked to who was not told. */
function unsaid(state: TurnState): TurnStep {
  return to(state, { at: 'over' }, [{ do: 'interrupt' }, { do: 'finish', reason: 'model_silent' }]);
}

/** It was heard: what was said meanwhile is a turn of the caller's, or the message follows, or the first words. */
function onTold(state: TurnState, phase: Disclosing, rules: TurnRules, now: number): TurnStep {
  const { over, typed, forMessage } = phase;
  const told: TurnState = {
    ...state,
    disclosure: 'said',
    verdict: verdictByPatience(state, rules, now),
  };
  if (forMessage) {
    const message = { ...closing(now, 'voicemail'), spokenOver: over !== null };
    return to(told, message, [{ do: 'speak', what: 'voicemail' }]);
  }
  if (over !== null)
    return to(told, { at: 'caller', since: over.since, silentSince: over.silentSince }, [
      { do: 'floor', floor: 'caller' },
    ]);
  const what = typed ? 'owed' : firstWords(told, now);
  if (what === null) return to(told, open(now), [{ do: 'floor', floor: 'none' }]);
  return to(told, thinking(now), [{ do: 'speak', what }]);
}

/** Where somebody is talked to. */
const TALK: ReadonlySet<Phase['at']> = new Set(['open', 'caller', 'thinking', 'agent']);

/** Whatever leads into a talk with somebody who was not told leads here first. Words that he typed are answered after it. */
export function tellFirst(step: TurnStep, now: number): TurnStep {
  const { state, effects } = step;
  if (state.disclosure !== 'due' || !TALK.has(state.phase.at)) return step;
  const kept = effects.flatMap((effect): TurnEffect[] => {
    if (effect.do === 'speak' || effect.do === 'floor') return [];
    return [effect.do === 'typed' ? { ...effect, respond: false } : effect];
  });
  const typed = kept.some((effect) => effect.do === 'typed');
  return to(state, { ...disclosing(now), typed }, [...kept, { do: 'disclose' }]);
}
