// PURE. What was said in a call, in order, as a new session is told it: the caller's words (or audio, while the words are
// not known), what was heard of the agent's, tool calls and their answers. A session of OpenAI cannot be resumed.
import type { SoundQueue } from '../../../audio/sound-queue.ts';
import type { HistoryLine } from '../model.ts';
import type { SaidItem } from './client-events.ts';

/** What a new session is told at most, newest first: enough for an hour of talk, and far below a context window. */
const MAX_SEEDS = 400;
const MAX_SEED_CHARACTERS = 60_000;
/** The most audio that is kept, but for the newest turn's; older turns without words are told as not understood. */
const MAX_AUDIO_MS = 60_000;

/** One thing to tell a new session. `audio` is appended and committed, which gives it its words as well. */
export type Seed = { kind: 'audio'; turn: number; audio: Buffer } | (SaidItem & { id: string });

type CallerEntry = {
  kind: 'caller';
  turn: number;
  text: string | null;
  audio: SoundQueue | null;
  /** Its words are known, or will never be. */
  worded: boolean;
  /** It may go on: its audio is kept beyond its words. */
  open: boolean;
};
type Entry =
  | CallerEntry
  | { kind: 'agent'; itemId: string; text: string; cut: string | null }
  | { kind: 'text'; role: 'system' | 'user'; text: string }
  | { kind: 'tool-call'; toolCallId: string; name: string; argumentsJson: string }
  | { kind: 'tool-output'; toolCallId: string; output: string };

export interface SeededItem {
  seedId: string;
  after: string | null;
  text: string;
}

export class Conversation {
  readonly #maxAudioBytes: number;
  readonly #unintelligible: string;
  readonly #entries: Entry[] = [];
  /** Those of them whose audio is still there, oldest first. */
  #sounding: CallerEntry[] = [];
  readonly #agents = new Map<string, Entry & { kind: 'agent' }>();

  /**
   * `bytesPerMs` of the audio it is given; `unintelligible`: what a turn without words or audio is told as; `history`: what was
   * said before.
   */
  constructor(o: {
    bytesPerMs: number;
    unintelligible: string;
    history?: readonly HistoryLine[] | undefined;
  }) {
    this.#maxAudioBytes = MAX_AUDIO_MS * o.bytesPerMs;
    this.#unintelligible = o.unintelligible;
    for (const [index, line] of (o.history ?? []).entries()) this.#before(line, `before_${index}`);
  }

  /** A turn of the caller's. Its audio is kept, until its words are known or there is too much of it, and is ours from then on. */
  caller(turn: number, audio: SoundQueue, open = false): void {
    this.closeTurn();
    const entry: CallerEntry = { kind: 'caller', turn, text: null, audio, worded: false, open };
    this.#entries.push(entry);
    this.#sounding.push(entry);
    let kept = this.#sounding.reduce((sum, one) => sum + (one.audio?.length ?? 0), 0);
    for (const one of [...this.#sounding]) {
      if (kept <= this.#maxAudioBytes || one === entry) return;
      kept -= one.audio?.length ?? 0;
      this.#silence(one);
    }
  }

  callerText(turn: number, text: string | null): void {
    const entry = this.#entries.findLast((one) => one.kind === 'caller' && one.turn === turn);
    if (entry?.kind !== 'caller') return;
    entry.text = text;
    entry.worded = true;
    if (!entry.open) this.#silence(entry);
  }

  /** No turn goes on any more. */
  closeTurn(): void {
    for (const entry of this.#sounding) {
      entry.open = false;
      if (entry.worded) this.#silence(entry);
    }
  }

  /** A turn that may goes on: it is none yet. Answers its audio, which is the asker's again; null: there is no such turn. */
  reopenTurn(turn: number): SoundQueue | null {
    const entry = this.#sounding.find((one) => one.turn === turn && one.open);
    if (entry === undefined) return null;
    const { audio } = entry;
    this.#sounding = this.#sounding.filter((one) => one !== entry);
    this.#remove((one) => one === entry);
    return audio;
  }

  /** Nothing was said in the turn after all. */
  dropCaller(turn: number): void {
    const sounding = this.#sounding.find((one) => one.turn === turn);
    if (sounding !== undefined) this.#silence(sounding);
    this.#remove((entry) => entry.kind === 'caller' && entry.turn === turn);
  }

  agentDelta(itemId: string, delta: string): void {
    this.#agent(itemId).text += delta;
  }

  agentText(itemId: string, text: string): void {
    this.#agent(itemId).text = text;
  }

  /** It was cut: this is all that was ever heard of it. */
  cut(itemId: string, heardText: string): void {
    const entry = this.#agents.get(itemId);
    if (entry) entry.cut = heardText;
  }

  /** Drops an item, and says whether it was there. */
  drop(itemId: string): boolean {
    this.#agents.delete(itemId);
    return this.#remove((entry) => entry.kind === 'agent' && entry.itemId === itemId);
  }

  /** The text of an agent's item so far. */
  agentSays(itemId: string): string {
    return this.#agents.get(itemId)?.text ?? '';
  }

  /** The agent has said something. */
  agentSpoke(): boolean {
    return this.#agents.size > 0;
  }

  text(role: 'system' | 'user', text: string): void {
    this.#entries.push({ kind: 'text', role, text });
  }

  toolCall(call: { toolCallId: string; name: string; argumentsJson: string }): void {
    this.#entries.push({ kind: 'tool-call', ...call });
  }

  /** It was never run. */
  dropToolCall(toolCallId: string): void {
    this.#remove((entry) => entry.kind === 'tool-call' && entry.toolCallId === toolCallId);
  }

  toolOutput(toolCallId: string, output: string): void {
    this.#entries.push({ kind: 'tool-output', toolCallId, output });
  }

  /**
   * What to tell a new session, oldest first. Item ids begin with `prefix`.
   * `items` maps an agent's item to the id its text gets there, with the id before it (null: unknown or none); `toolCalls` a
   * tool's call to the id it gets.
   */
  seeds(prefix: string): {
    seeds: Seed[];
    items: Map<string, SeededItem>;
    toolCalls: Map<string, string>;
  } {
    const seeds: Seed[] = [];
    const items = new Map<string, SeededItem>();
    const toolCalls = new Map<string, string>();
    let after: string | null = null;
    for (const entry of newest(this.#entries)) {
      const id = `${prefix}${seeds.length}`;
      const seed = seedOf(entry, id, this.#unintelligible);
      if (seed === null) continue;
      seeds.push(seed);
      if (entry.kind === 'agent' && seed.kind === 'text')
        items.set(entry.itemId, { seedId: id, after, text: seed.text });
      if (entry.kind === 'tool-call') toolCalls.set(entry.toolCallId, id);
      // The server names the item of committed audio itself.
      after = seed.kind === 'audio' ? null : id;
    }
    return { seeds, items, toolCalls };
  }

  #before(line: HistoryLine, id: string): void {
    switch (line.role) {
      case 'agent':
        this.agentText(id, line.text);
        return;
      case 'caller':
        this.text('user', line.text === '' ? this.#unintelligible : line.text);
        return;
      case 'system':
        this.text('system', line.text);
        return;
      case 'tool': {
        const { name, argumentsJson, output } = line;
        this.toolCall({ toolCallId: id, name, argumentsJson });
        this.toolOutput(id, output);
      }
    }
  }

  /** Its audio is of no more use. */
  #silence(entry: CallerEntry): void {
    if (entry.audio === null) return;
    entry.audio.clear();
    entry.audio = null;
    this.#sounding = this.#sounding.filter((one) => one !== entry);
  }

  #agent(itemId: string): Entry & { kind: 'agent' } {
    let entry = this.#agents.get(itemId);
    if (!entry) {
      entry = { kind: 'agent', itemId, text: '', cut: null };
      this.#agents.set(itemId, entry);
      this.#entries.push(entry);
    }
    return entry;
  }

  #remove(found: (entry: Entry) => boolean): boolean {
    const at = this.#entries.findLastIndex(found);
    if (at >= 0) this.#entries.splice(at, 1);
    return at >= 0;
  }
}

/** The newest entries within the bounds, and no tool's answer without its call. */
function newest(entries: readonly Entry[]): Entry[] {
  const kept: Entry[] = [];
  let characters = 0;
  for (let at = entries.length - 1; at >= 0 && kept.length < MAX_SEEDS; at--) {
    const entry = entries[at]!;
    characters += lengthOf(entry);
    if (characters > MAX_SEED_CHARACTERS) break;
    kept.push(entry);
  }
  kept.reverse();
  const calls = new Set(kept.flatMap((entry) => (entry.kind === 'tool-call' ? [entry.toolCallId] : [])));
  return kept.filter((entry) => entry.kind !== 'tool-output' || calls.has(entry.toolCallId));
}

function lengthOf(entry: Entry): number {
  switch (entry.kind) {
    case 'agent':
      return (entry.cut ?? entry.text).length;
    case 'caller':
      return entry.text?.length ?? 0;
    case 'text':
      return entry.text.length;
    case 'tool-call':
      return entry.argumentsJson.length;
    case 'tool-output':
      return entry.output.length;
  }
}

function seedOf(entry: Entry, id: string, unintelligible: string): Seed | null {
  switch (entry.kind) {
    case 'caller':
      if (entry.audio !== null) return { kind: 'audio', turn: entry.turn, audio: entry.audio.bytes() };
      return { kind: 'text', id, role: 'user', text: entry.text ?? unintelligible };
    case 'agent': {
      const text = entry.cut ?? entry.text;
      return text === '' ? null : { kind: 'text', id, role: 'assistant', text };
    }
    case 'text':
      return { kind: 'text', id, role: entry.role, text: entry.text };
    case 'tool-call':
      return {
        kind: 'tool-call',
        id,
        toolCallId: entry.toolCallId,
        name: entry.name,
        argumentsJson: entry.argumentsJson,
      };
    case 'tool-output':
      return { kind: 'tool-output', id, toolCallId: entry.toolCallId, output: entry.output };
  }
}
