// The tools of a call that have been called and not answered, as its row has them: written before they run, so that whoever goes
// on with the call knows that nobody knows what became of them. PURE.
import type { RunningTool, TranscriptItemRecord } from '../../storage/records.ts';
import type { ToolCall } from '../protocol/messages.ts';

/** A tool's line in the transcript: what was asked, and what came of it. */
export interface ToolLine {
  name: string;
  arguments: string;
  ok: boolean;
  output: string;
}

/** Of an answer, so much stands in the transcript. */
const MOST_OUTPUT = 4_000;

/** What stands there of a tool whose answer nobody has heard. */
export const UNFINISHED = 'The answer was lost: it is not known whether this was done.';

export function toolLine({ output, ...line }: ToolLine): string {
  return JSON.stringify({ ...line, output: output.slice(0, MOST_OUTPUT) } satisfies ToolLine);
}

/** Those that run, with one more; called twice, it is the same one. */
export function withTool(running: readonly RunningTool[], tool: ToolCall): RunningTool[] {
  const { toolCallId: tool_call_id, name, argumentsJson: arguments_json, atMs } = tool;
  return [...withoutTool(running, tool_call_id), { tool_call_id, name, arguments_json, at_ms: atMs }];
}

export function withoutTool(running: readonly RunningTool[], toolCallId: string): RunningTool[] {
  return running.filter(({ tool_call_id }) => tool_call_id !== toolCallId);
}

/** Those of which the transcript has no answer: it is written before they are taken off the row. */
export function unanswered(
  running: readonly RunningTool[],
  transcript: readonly Pick<TranscriptItemRecord, 'role' | 'text' | 'start_ms'>[],
): RunningTool[] {
  const answered = new Set(
    transcript
      .filter(({ role }) => role === 'tool')
      .map((line) => keyOf(line.start_ms, readToolLine(line.text))),
  );
  return running.filter(
    ({ name, arguments_json, at_ms }) =>
      !answered.has(keyOf(Math.round(at_ms), { name, arguments: arguments_json })),
  );
}

const keyOf = (atMs: number, asked: Pick<ToolLine, 'name' | 'arguments'> | null) =>
  JSON.stringify([atMs, asked?.name ?? null, asked?.arguments ?? null]);

/** A tool's line, read; null for one that is of no tool of ours: notes of the talk's end are told as tools too. */
export function readToolLine(text: string): ToolLine | null {
  try {
    const line = JSON.parse(text) as Partial<ToolLine> | null;
    const { name, arguments: asked, ok, output } = line ?? {};
    const isLine = typeof name === 'string' && typeof asked === 'string' && typeof output === 'string';
    return isLine ? { name, arguments: asked, ok: ok === true, output } : null;
  } catch {
    return null;
  }
}
