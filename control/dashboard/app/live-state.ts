// Calls now, as a fold over the events of the live stream. PURE.
import type { TranscriptItem } from '../../sdk/index.ts';
import type { LiveCall, LiveEvents } from './session-shapes.ts';

/** How many lines a live call shows. */
const LINES = 6;

export type LiveState = ReadonlyMap<string, LiveCall>;
export type LiveEvent = { [K in keyof LiveEvents]: { type: K; data: LiveEvents[K] } }[keyof LiveEvents];

/** The state after an event. What is told of a call that is not known changes nothing: its `call` follows. */
export function fold(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case 'snapshot':
      return new Map(event.data.calls.map((call) => [call.id, call]));
    case 'call': {
      const known = state.get(event.data.id);
      const words =
        known === undefined ? event.data.words : merged(known.words, event.data.words).slice(-LINES);
      return new Map(state).set(event.data.id, { ...event.data, words });
    }
    case 'floor':
      return changed(state, event.data.call_id, (call) => ({ ...call, floor: event.data.floor }));
    case 'words':
      return changed(state, event.data.call_id, (call) => ({
        ...call,
        words: merged(call.words, [event.data.item]).slice(-LINES),
      }));
    case 'turn': {
      const { latency_ms } = event.data.turn;
      return latency_ms === null
        ? state
        : changed(state, event.data.call_id, (call) => ({ ...call, last_latency_ms: latency_ms }));
    }
    // Of the page of the call.
    case 'interruption':
      return state;
    case 'ended': {
      const left = new Map(state);
      left.delete(event.data.call.id);
      return left;
    }
  }
}

function changed(state: LiveState, id: string, change: (call: LiveCall) => LiveCall): LiveState {
  const call = state.get(id);
  return call === undefined ? state : new Map(state).set(id, change(call));
}

/** Lines in speech order, each once in its newest form. */
export function merged(known: readonly TranscriptItem[], news: readonly TranscriptItem[]): TranscriptItem[] {
  const byId = new Map(known.map((item) => [item.id, item]));
  for (const item of news) byId.set(item.id, item);
  return [...byId.values()].sort((a, b) => a.start_ms - b.start_ms);
}
