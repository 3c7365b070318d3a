// The transcript of one live call as it grows: what each side said, and what was heard of it. PURE.
// Ids come in from outside. Nothing here decides when; the conversation does.

import type { TranscriptUpdate } from '../protocol/messages.ts';
import { heardText, MS_PER_CHARACTER } from '../turns/heard-text.ts';

interface AgentLine {
  update: TranscriptUpdate;
  whole: boolean;
}

export interface Transcript {
  /** Words of an agent's item; the first ones open its line at `atMs`. */
  agentText(itemId: string, delta: string, atMs: number): void;
  agentTextDone(itemId: string, text: string, atMs: number): TranscriptUpdate;
  /** The line's first sound left for the carrier. */
  agentStarted(itemId: string, atMs: number): void;
  /** All audio there is of the item was heard. Null when nothing of it is known. */
  agentHeard(itemId: string, receivedMs: number, atMs: number): TranscriptUpdate | null;
  /** The item was cut. Answers the heard words as well. */
  agentCut(
    itemId: string,
    cut: { heardMs: number; receivedMs: number; complete: boolean },
    atMs: number,
  ): TranscriptUpdate | null;
  /** A turn of the caller was committed; its words come later. */
  callerTurn(turn: number, startMs: number, endMs: number): TranscriptUpdate;
  callerText(turn: number, text: string | null): TranscriptUpdate | null;
  /** Turns of the caller whose words are still to come. */
  outstanding(): number;
  /** A line that was not spoken: what a tool or the program did, or words that the caller typed. */
  note(role: 'tool' | 'system' | 'caller', text: string, atMs: number): TranscriptUpdate;
}

/** A shorter line is mostly pauses. */
const LEAST_CHARACTERS = 20;
const ASSUMED_CHARACTERS = 20;
/** Taken a little slower than learned: a word too few rather than one that was not heard. */
const SLOWER = 1.1;

/** What stands for words that could not be made out. */
const UNINTELLIGIBLE = '[unintelligible]';

/** An empty transcript. @param newId makes an id (UUIDv7, so that ids sort by time) */
export function createTranscript(newId: () => string): Transcript {
  const agent = new Map<string, AgentLine>();
  const caller = new Map<number, TranscriptUpdate>();
  const waiting = new Set<number>();
  /** Of this call's complete lines; the assumption counts as one short line. */
  let spokenMs = (ASSUMED_CHARACTERS * MS_PER_CHARACTER) / SLOWER;
  let spokenCharacters = ASSUMED_CHARACTERS;
  const msPerCharacter = () => (spokenMs / spokenCharacters) * SLOWER;

  function line(itemId: string, atMs: number): AgentLine {
    let found = agent.get(itemId);
    if (found === undefined) {
      found = {
        update: {
          id: newId(),
          role: 'agent',
          text: '',
          heardText: '',
          interrupted: false,
          startMs: atMs,
          endMs: null,
        },
        whole: false,
      };
      agent.set(itemId, found);
    }
    return found;
  }

  return {
    agentText(itemId, delta, atMs) {
      const found = line(itemId, atMs);
      if (!found.whole) found.update.text += delta;
    },
    agentTextDone(itemId, text, atMs) {
      const found = line(itemId, atMs);
      found.update.text = text;
      found.whole = true;
      return { ...found.update };
    },
    agentStarted(itemId, atMs) {
      line(itemId, atMs).update.startMs = atMs;
    },
    agentHeard(itemId, receivedMs, atMs) {
      const found = agent.get(itemId);
      if (found === undefined) return null;
      const { update } = found;
      if (found.whole && update.text.length >= LEAST_CHARACTERS) {
        spokenMs += receivedMs;
        spokenCharacters += update.text.length;
      }
      // Text runs ahead of its audio: of a line that broke off at the model, the last words were never made.
      update.heardText = heardText(
        update.text,
        { heardMs: receivedMs, receivedMs, complete: found.whole },
        msPerCharacter(),
      );
      update.interrupted = update.heardText !== update.text || !found.whole;
      update.endMs = atMs;
      return { ...update };
    },
    agentCut(itemId, cut, atMs) {
      const found = agent.get(itemId);
      if (found === undefined) return null;
      const { update } = found;
      const spoken = { ...cut, complete: cut.complete && found.whole };
      update.heardText = heardText(update.text, spoken, msPerCharacter());
      update.interrupted = update.heardText !== update.text || !found.whole;
      update.endMs = cut.heardMs > 0 ? Math.min(atMs, update.startMs + cut.heardMs) : update.startMs;
      return { ...update };
    },
    callerTurn(turn, startMs, endMs) {
      const update: TranscriptUpdate = {
        id: newId(),
        role: 'caller',
        text: '',
        heardText: '',
        interrupted: false,
        startMs,
        endMs,
      };
      caller.set(turn, update);
      waiting.add(turn);
      return { ...update };
    },
    callerText(turn, text) {
      const update = caller.get(turn);
      if (update === undefined) return null;
      waiting.delete(turn);
      update.text = text ?? UNINTELLIGIBLE;
      update.heardText = update.text;
      return { ...update };
    },
    outstanding: () => waiting.size,
    note: (role, text, atMs) => ({
      id: newId(),
      role,
      text,
      heardText: text,
      interrupted: false,
      startMs: atMs,
      endMs: atMs,
    }),
  };
}
