// PURE. The conversation as the model believes it: items in order, what was said and what was heard of it.
import type { AudioFormat, SpokenWord } from './voice.ts';

export interface Part {
  type: 'input_text' | 'input_audio' | 'input_image' | 'output_text' | 'output_audio';
  text?: string;
  /** Of audio: the text, null as long as it is not known. A truncation takes it away. */
  transcript?: string | null;
  audioMs?: number;
  /** Where a truncation cut it, ms. */
  truncatedMs?: number;
  /** What the recordings that the simulator knows give as the words of a caller's audio. */
  heard?: string;
  audio?: { bytes: Buffer; format: AudioFormat };
  /** Of agent audio: everything that was generated, and where each word lies. */
  generated?: { text: string; words: readonly SpokenWord[] };
}

export interface Item {
  id: string;
  type: 'message' | 'function_call' | 'function_call_output';
  status: 'in_progress' | 'completed' | 'incomplete';
  role?: 'user' | 'assistant' | 'system';
  content?: Part[];
  name?: string;
  call_id?: string;
  arguments?: string;
  output?: string;
}

/** The words of agent audio that lie before a time, by more than half of each. */
function heardText(part: Part, ms: number): string {
  return (part.generated?.words ?? [])
    .filter((word) => (word.startMs + word.endMs) / 2 <= ms)
    .map((word) => word.text)
    .join(' ');
}

/** What the model takes an item for having said, or having been told. */
export function believedText(item: Item): string {
  return (item.content ?? [])
    .map((part) => {
      if (part.type === 'input_audio') return part.heard ?? part.transcript ?? '';
      if (part.type === 'output_audio')
        return part.truncatedMs === undefined
          ? (part.generated?.text ?? part.transcript ?? '')
          : heardText(part, part.truncatedMs);
      return part.text ?? '';
    })
    .filter((text) => text !== '')
    .join(' ');
}

/** The item as events carry it: without audio, and without what only the simulator knows. */
export function wireItem(item: Item, withAudio = false): Record<string, unknown> {
  const wire: Record<string, unknown> = {
    id: item.id,
    object: 'realtime.item',
    type: item.type,
    status: item.status,
  };
  if (item.role !== undefined) wire.role = item.role;
  if (item.content !== undefined) {
    wire.content = item.content.map((part) => {
      const out: Record<string, unknown> = { type: part.type };
      if (part.text !== undefined) out.text = part.text;
      if (part.type === 'input_audio' || part.type === 'output_audio')
        out.transcript = part.transcript ?? null;
      if (withAudio && part.audio !== undefined) out.audio = part.audio.bytes.toString('base64');
      return out;
    });
  }
  for (const key of ['name', 'call_id', 'arguments', 'output'] as const)
    if (item[key] !== undefined) wire[key] = item[key];
  return wire;
}

/** The item for whoever watches: as on the wire, with what the model believes of it. */
export function inspectItem(item: Item): Record<string, unknown> {
  const agentAudio = item.content?.find((part) => part.type === 'output_audio');
  const callerAudio = item.content?.find((part) => part.type === 'input_audio');
  return {
    ...wireItem(item),
    /** What the model takes for said, or heard, after every truncation. */
    believed_text: believedText(item),
    ...(agentAudio === undefined
      ? {}
      : {
          generated_text: agentAudio.generated?.text ?? '',
          audio_ms: Math.round(agentAudio.audioMs ?? 0),
          truncated_ms: agentAudio.truncatedMs ?? null,
        }),
    ...(callerAudio === undefined ? {} : { audio_ms: Math.round(callerAudio.audioMs ?? 0) }),
  };
}

export class Conversation {
  readonly items: Item[] = [];

  find(id: string): Item | undefined {
    return this.items.find((item) => item.id === id);
  }

  /** The id before an item, null for the first. */
  previousId(id: string): string | null {
    const at = this.items.findIndex((item) => item.id === id);
    return at <= 0 ? null : this.items[at - 1]!.id;
  }

  /** Adds at the end, at the head (`root`) or after an item; false when there is no such item. */
  add(item: Item, after?: string | null): boolean {
    if (after === undefined || after === null) this.items.push(item);
    else if (after === 'root') this.items.unshift(item);
    else {
      const at = this.items.findIndex(({ id }) => id === after);
      if (at < 0) return false;
      this.items.splice(at + 1, 0, item);
    }
    return true;
  }

  remove(id: string): boolean {
    const at = this.items.findIndex((item) => item.id === id);
    if (at < 0) return false;
    this.items.splice(at, 1);
    return true;
  }
}
