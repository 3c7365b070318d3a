// The tools of a session: calls that a response brings are passed on once, their answers are put into the conversation.
import type { ModelListener } from '../model.ts';
import { createItem } from './client-events.ts';
import type { Conversation } from './conversation.ts';
import type { Link } from './link.ts';
import type { Outputs } from './outputs.ts';
import type { OutputItem } from './server-events.ts';

export interface ToolCallsOptions {
  link: Link;
  conversation: Conversation;
  outputs: Outputs;
  listener: ModelListener;
}

export class ToolCalls {
  readonly #o: ToolCallsOptions;

  constructor(o: ToolCallsOptions) {
    this.#o = o;
  }

  /** Passes a complete call on, the first time it is seen; other items are nothing to it. */
  pass(responseId: string, item: OutputItem): void {
    const { link, conversation, outputs, listener } = this.#o;
    const { toolCallId, name, argumentsJson } = item;
    if (link.over || item.kind !== 'tool-call' || toolCallId === '') return;
    if (item.status !== 'completed' && item.status !== '') return;
    if (!outputs.firstTime(toolCallId)) return;
    outputs.response(responseId).toolCalls++;
    // It stays in the conversation whatever becomes of the response: its answer will follow.
    outputs.itemOf(responseId, item.itemId).cut = true;
    conversation.toolCall({ toolCallId, name, argumentsJson });
    listener.toolCall({ toolCallId, name, argumentsJson });
  }

  answer(toolCallId: string, output: string): void {
    const { link, conversation } = this.#o;
    conversation.toolOutput(toolCallId, output);
    link.send(createItem(link.eventId('output'), { kind: 'tool-output', id: null, toolCallId, output }));
  }
}
