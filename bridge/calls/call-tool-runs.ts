// The tools that run for one call: each is run once, told to the model, and noted in the transcript and on the row.
import { v7 as newId } from 'uuid';
import type { CallRecord, RunningTool, TranscriptItemRecord } from '../../storage/records.ts';
import type { ToolCall, TranscriptUpdate } from '../protocol/messages.ts';
import type { CallContext } from './call-context.ts';
import type { CallMedia } from './call-media.ts';
import { refuseTaken } from './elsewhere.ts';
import type { CallInput } from './live-state.ts';
import { type ToolLine, toolLine, UNFINISHED, unanswered } from './running-tools.ts';

export interface CallToolRunsOptions {
  context: Pick<CallContext, 'monotonicMs' | 'runTool' | 'store'>;
  media: CallMedia;
  /** As the call is now. */
  row(): CallRecord;
  said(items: readonly TranscriptUpdate[]): Promise<void>;
  tell(input: CallInput): Promise<CallRecord>;
}

export class CallToolRuns {
  readonly #o: CallToolRunsOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<string>();

  constructor(o: CallToolRunsOptions) {
    this.#o = o;
  }

  /** Those that run here, by their calls. */
  get running(): string[] {
    return [...this.#running];
  }

  /** Resolves when its answer is told and stored. */
  async run({ toolCallId, name, argumentsJson, atMs }: ToolCall): Promise<void> {
    const { context, media, row, tell } = this.#o;
    const call = row();
    await refuseTaken(context.store, call.id);
    this.#running.add(toolCallId);
    const begun = context.monotonicMs();
    const { ok, output } = await context.runTool({
      call,
      toolCallId,
      name,
      argumentsJson,
      signal: this.#stopping.signal,
    });
    this.#running.delete(toolCallId);
    const endMs = Math.round(atMs + context.monotonicMs() - begun);
    media.tell({ type: 'tool-result', callId: call.id, toolCallId, output });
    await this.#note({ name, arguments: argumentsJson, ok, output }, atMs, endMs);
    await tell({ type: 'tool-answered', toolCallId });
  }

  /** Notes those whose answer nobody waits for any more: they ran in a process that has died, or for a line that is back. */
  async noteUnfinished(transcript: readonly TranscriptItemRecord[]): Promise<void> {
    const left = (tool: RunningTool) => !this.#running.has(tool.tool_call_id);
    for (const { name, arguments_json, at_ms } of unanswered(this.#o.row().running_tools, transcript).filter(
      left,
    ))
      await this.#note({ name, arguments: arguments_json, ok: false, output: UNFINISHED }, at_ms, null);
  }

  /** No answer is waited for any more. */
  stop(): void {
    this.#stopping.abort();
  }

  #note(line: ToolLine, atMs: number, endMs: number | null): Promise<void> {
    const item = { id: newId(), role: 'tool' as const, heardText: '', interrupted: false };
    return this.#o.said([{ ...item, text: toolLine(line), startMs: atMs, endMs }]);
  }
}
