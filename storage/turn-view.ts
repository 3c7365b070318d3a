// A turn and an interruption as the API shows them, and what a turn's time was made of. PURE.
import type { InterruptionRecord, TurnRecord } from './records.ts';

export interface TurnParts {
  end_of_turn_ms: number | null;
  request_ms: number | null;
  model_ms: number | null;
  send_ms: number | null;
  playout_ms: number | null;
}

export interface PublicTurn extends Omit<TurnRecord, 'call_id' | 'turn_index'> {
  index: number;
  latency_ms: number | null;
  parts: TurnParts;
}

export type PublicInterruption = Omit<InterruptionRecord, 'call_id'>;

/** Tenths of a millisecond: finer than any clock here, and without the tails of binary fractions. */
export const tenths = (ms: number): number => Math.round(ms * 10) / 10;

function span(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : tenths(toMs - fromMs);
}

const notBefore = (fromMs: number, ms: number | null): number | null =>
  ms === null ? null : Math.max(fromMs, ms);

/**
 * What the other side waited: for an answer from the end of its speech, for the greeting from the start of the call's
 * audio, else (a prompt, or what follows keys or a tool) from when it was wanted. The parts add up to it.
 */
export function turnView(turn: TurnRecord): PublicTurn {
  const { call_id: _call, turn_index: index, id, kind, ...times } = turn;
  const decided = kind === 'greeting' ? 0 : turn.decided_ms;
  // What of an answer begun early was there before it was wanted is no part of the wait.
  const asked = notBefore(decided, turn.requested_ms);
  const sounded = notBefore(decided, turn.first_model_audio_ms);
  return {
    id,
    index,
    kind,
    ...times,
    latency_ms: span(turn.speech_end_ms ?? decided, turn.first_heard_ms),
    parts: {
      end_of_turn_ms: span(turn.speech_end_ms, decided),
      request_ms: span(decided, asked),
      model_ms: span(asked, sounded),
      send_ms: span(sounded, turn.first_sent_ms),
      playout_ms: span(turn.first_sent_ms, turn.first_heard_ms),
    },
  };
}

export function interruptionView(one: InterruptionRecord): PublicInterruption {
  const { call_id: _call, ...view } = one;
  return view;
}
