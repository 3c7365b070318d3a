// Lines of a transcript: what of a line was heard, which line a moment belongs to, and a tool's note taken apart. PURE.
import type { TranscriptItem } from '../../sdk/index.ts';

/** A line as heard and the rest that was cut off: empty when all was heard, and while the line goes on. */
export function heardParts(item: Pick<TranscriptItem, 'text' | 'heard_text' | 'interrupted'>): {
  heard: string;
  cut: string;
} {
  const { text, heard_text, interrupted } = item;
  if (heard_text === text || !interrupted) return { heard: text, cut: '' };
  const heard = heard_text.trimEnd();
  if (text.startsWith(heard)) return { heard, cut: text.slice(heard.length) };
  // Written otherwise than generated: then the heard words are matched by letters alone.
  const letters = (value: string) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const wanted = letters(heard);
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    if (seen >= wanted.length) {
      return letters(text.slice(0, at)) === wanted
        ? { heard: text.slice(0, at), cut: text.slice(at) }
        : { heard, cut: '' };
    }
    seen += letters(text.charAt(at)).length;
  }
  return { heard, cut: '' };
}

/** The index of the line that is being spoken at `atMs`, or the last one before it; -1 before the first. */
export function lineAt(items: readonly Pick<TranscriptItem, 'start_ms'>[], atMs: number): number {
  let found = -1;
  for (const [index, item] of items.entries()) {
    if (item.start_ms > atMs) break;
    found = index;
  }
  return found;
}

export interface ToolCall {
  name: string;
  /** As the model filled them in; empty when there were none. */
  arguments: string;
  output: string;
  /** False: it failed. Null: not told. */
  ok: boolean | null;
}

/** A tool's line: JSON with its arguments and its answer, or `name: what it did` of those that are built in. */
export function toolCall(text: string): ToolCall {
  try {
    const noted = JSON.parse(text) as Record<string, unknown> | null;
    if (typeof noted === 'object' && typeof noted?.name === 'string') {
      return {
        name: noted.name,
        arguments: inWords(noted.arguments),
        output: inWords(noted.output),
        ok: typeof noted.ok === 'boolean' ? noted.ok : null,
      };
    }
  } catch {
    // Not JSON: a built-in one.
  }
  const match = /^([\w.-]+)(?::\s*|$)([\s\S]*)$/.exec(text);
  return {
    name: match?.[1] ?? 'tool',
    arguments: match === null ? text : (match[2] ?? ''),
    output: '',
    ok: null,
  };
}

/** JSON laid out to be read; other text as it is. */
function inWords(value: unknown): string {
  if (typeof value !== 'string')
    return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed !== 'object' || parsed === null) return value;
    return Object.keys(parsed).length === 0 ? '' : JSON.stringify(parsed, null, 2);
  } catch {
    return value;
  }
}
