// The transcript of one call as it grows: what each side said, and what was heard of it. PURE.
// Ids come in from outside. Nothing here decides when; the talk does.

import { UNINTELLIGIBLE } from '../protocol/agent-texts.ts';
import type { TranscriptUpdate } from '../protocol/messages.ts';
import { heardText, MS_PER_CHARACTER } from '../turns/heard-text.ts';

/** What there was of a line's sound when no more of it was to be heard. */
type Spoken = Parameters<typeof heardText>[1];

interface AgentLine {
  update: TranscriptUpdate;
  /** Its whole text is known, and was told. */
  whole: boolean;
  /** Null: there may be more of it to hear. */
  spoken: Spoken | null;
  /** For so long the line was gone in the middle of it. */
  goneMs: number;
}

const UNHEARD: Spoken = { heardMs: 0, receivedMs: 0, complete: false };

/** A shorter line is mostly pauses. */
const LEAST_CHARACTERS = 20;
const ASSUMED_CHARACTERS = 20;
/** Taken a little slower than learned: a word too few rather than one that was not heard. */
const SLOWER = 1.1;

export class Transcript {
  readonly #newId: () => string;
  readonly #agent = new Map<string, AgentLine>();
  /** Those of them that there may be more of to hear. */
  readonly #unjudged = new Set<AgentLine>();
  readonly #caller = new Map<number, TranscriptUpdate>();
  readonly #waiting = new Set<number>();
  /** Turns that are lines only if there are words in them. */
  readonly #words = new Set<number>();
  /** The agent's lines that were heard since the caller's last turn; `#answered`: that one came after them. */
  #heard: AgentLine[] = [];
  #answered = false;
  /** Of this call's complete lines; the assumption counts as one short line. */
  #spokenMs = (ASSUMED_CHARACTERS * MS_PER_CHARACTER) / SLOWER;
  #spokenCharacters = ASSUMED_CHARACTERS;
  #over = false;

  /** @param newId makes an id (UUIDv7, so that ids sort by time) */
  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Whether anything of an agent's item is known. */
  knows(itemId: string): boolean {
    return this.#agent.has(itemId);
  }

  /** Words of an agent's item; the first ones open its line at `atMs`. */
  agentText(itemId: string, delta: string, atMs: number): void {
    const line = this.#line(itemId, atMs);
    if (!line.whole) line.update.text += delta;
  }

  agentTextDone(itemId: string, text: string, atMs: number): TranscriptUpdate {
    const line = this.#line(itemId, atMs);
    const { update } = line;
    update.text = text;
    line.whole = true;
    if (!text.startsWith(update.heardText)) update.heardText = '';
    if (line.spoken !== null) this.#judge(line, line.spoken);
    else if (this.#over) this.#unheard(line);
    return { ...update };
  }

  /** The line's first sound left for the carrier: once more, where the carrier was gone before any of it was heard. */
  agentStarted(itemId: string, atMs: number): void {
    const line = this.#line(itemId, atMs);
    line.update.startMs = atMs;
    line.goneMs = 0;
  }

  /** The carrier's line was gone for so long. */
  lineBack(goneMs: number): void {
    for (const line of this.#unjudged) line.goneMs += goneMs;
  }

  /** More of the item was heard, and it goes on. Null where that is not a word more, or nothing of it is known. */
  agentHearing(itemId: string, spoken: Spoken): TranscriptUpdate | null {
    const line = this.#agent.get(itemId);
    if (line === undefined || line.spoken !== null) return null;
    const { update } = line;
    const heard = this.#heardOf(line, spoken);
    if (heard.length <= update.heardText.length) return null;
    update.heardText = heard;
    return { ...update };
  }

  /** All audio there is of the item was heard. Null when nothing of it is known. */
  agentHeard(itemId: string, receivedMs: number, atMs: number): TranscriptUpdate | null {
    const line = this.#agent.get(itemId);
    if (line === undefined) return null;
    const { update } = line;
    if (line.whole && update.text.length >= LEAST_CHARACTERS) {
      this.#spokenMs += receivedMs;
      this.#spokenCharacters += update.text.length;
    }
    this.#judge(line, { heardMs: receivedMs, receivedMs, complete: true });
    update.endMs = atMs;
    return { ...update };
  }

  /** The item was cut. Answers the heard words as well. */
  agentCut(
    itemId: string,
    cut: { heardMs: number; receivedMs: number; complete: boolean },
    atMs: number,
  ): TranscriptUpdate | null {
    const line = this.#agent.get(itemId);
    if (line === undefined) return null;
    const { update } = line;
    this.#judge(line, cut);
    const heardToMs = update.startMs + cut.heardMs + line.goneMs;
    update.endMs = cut.heardMs > 0 ? Math.min(atMs, heardToMs) : update.startMs;
    return { ...update };
  }

  /** What was heard of the agent's last words, line by line: since the turn of the caller's that they answer. */
  agentSaid(): string[] {
    return this.#heard.map(({ update }) => update.heardText);
  }

  /** What was not begun to be heard will not be: answers the lines whose words were told and of which that is so. */
  agentSilenced(): TranscriptUpdate[] {
    const unheard = [...this.#unjudged].filter(({ whole }) => whole);
    return unheard.map((line) => this.#unheard(line));
  }

  /** Nothing of the agent is heard any more, whatever else is told of it. Answers as `agentSilenced`. */
  agentLeft(): TranscriptUpdate[] {
    this.#over = true;
    return this.agentSilenced();
  }

  /** A turn of the caller was committed; its words come later. */
  callerTurn(turn: number, startMs: number, endMs: number): TranscriptUpdate {
    this.#answered = true;
    return { ...this.#callerLine(turn, startMs, endMs) };
  }

  /** A word over the agent's voice: a line if it turns out to be one. */
  callerWord(turn: number, startMs: number, endMs: number): void {
    this.#callerLine(turn, startMs, endMs);
    this.#words.add(turn);
  }

  #callerLine(turn: number, startMs: number, endMs: number): TranscriptUpdate {
    const update: TranscriptUpdate = {
      id: this.#newId(),
      role: 'caller',
      text: '',
      heardText: '',
      interrupted: false,
      startMs,
      endMs,
    };
    this.#caller.set(turn, update);
    this.#waiting.add(turn);
    return update;
  }

  callerText(turn: number, text: string | null): TranscriptUpdate | null {
    const update = this.#caller.get(turn);
    if (update === undefined) return null;
    this.#waiting.delete(turn);
    if (this.#words.delete(turn) && !text) {
      this.#caller.delete(turn);
      return null;
    }
    update.text = text || UNINTELLIGIBLE;
    update.heardText = update.text;
    return { ...update };
  }

  /** What the agent says of which there may be more to hear. */
  agentSays(): string {
    return [...this.#unjudged].map(({ update }) => update.text).join(' ');
  }

  /** Turns of the caller whose words are still to come. */
  outstanding(): number {
    return this.#waiting.size;
  }

  /** A line that was not spoken: what a tool or the program did, or words that the caller typed. */
  note(role: 'tool' | 'system' | 'caller', text: string, atMs: number): TranscriptUpdate {
    return {
      id: this.#newId(),
      role,
      text,
      heardText: text,
      interrupted: false,
      startMs: atMs,
      endMs: atMs,
    };
  }

  #line(itemId: string, atMs: number): AgentLine {
    let line = this.#agent.get(itemId);
    if (line === undefined) {
      const update: TranscriptUpdate = {
        id: this.#newId(),
        role: 'agent',
        text: '',
        heardText: '',
        interrupted: false,
        startMs: atMs,
        endMs: null,
      };
      line = { update, whole: false, spoken: null, goneMs: 0 };
      this.#agent.set(itemId, line);
      this.#unjudged.add(line);
    }
    return line;
  }

  #unheard(line: AgentLine): TranscriptUpdate {
    this.#judge(line, UNHEARD);
    line.update.endMs = line.update.startMs;
    return { ...line.update };
  }

  /** What of a line was heard, by the sound of it. Judged again when the rest of its words comes. */
  #judge(line: AgentLine, spoken: Spoken): void {
    const { update, whole } = line;
    line.spoken = spoken;
    this.#unjudged.delete(line);
    update.heardText = this.#heardOf(line, spoken);
    update.interrupted = update.heardText !== update.text || !whole;
    if (spoken.heardMs > 0) this.#wasHeard(line);
  }

  #heardOf({ update, whole }: AgentLine, spoken: Spoken): string {
    const msPerCharacter = (this.#spokenMs / this.#spokenCharacters) * SLOWER;
    // Text runs ahead of its audio: of a line that broke off at the model, the last words were never made.
    const complete = spoken.complete && whole;
    return heardText(update.text, { ...spoken, complete }, msPerCharacter);
  }

  /** A turn that was taken back had no answer: what was said before it stands until something else is heard. */
  #wasHeard(line: AgentLine): void {
    if (this.#heard.includes(line)) return;
    if (this.#answered) this.#heard = [];
    this.#answered = false;
    this.#heard.push(line);
  }
}
