// The tools of a session: calls that a response brings are passed on once, their answers are put into the conversation.
import type { ModelListener } from '../model.ts';
import { createItem } from './client-events.ts';
import type { Conversation } from './conversation.ts';
import type { Deletions } from './deletions.ts';
import type { Link } from './link.ts';
import type { Outputs } from './outputs.ts';
import type { OutputItem } from './server-events.ts';

export interface ToolCallsOptions {
  link: Link;
  conversation: Conversation;
  outputs: Outputs;
  deletions: Deletions;
  listener: ModelListener;
}

export class ToolCalls {
  readonly #o: ToolCallsOptions;
  /** Of calls without an answer: the item that the session in force knows each by. */
  readonly #unanswered = new Map<string, string>();

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
    // It stays in the conversation whatever becomes of the response, unless it is taken back: its answer will follow.
    outputs.itemOf(responseId, item.itemId).cut = true;
    this.#unanswered.set(toolCallId, item.itemId);
    conversation.toolCall({ toolCallId, name, argumentsJson });
    listener.toolCall({ toolCallId, name, argumentsJson });
  }

  answer(toolCallId: string, output: string): void {
    const { link, conversation } = this.#o;
    this.#unanswered.delete(toolCallId);
    conversation.toolOutput(toolCallId, output);
    link.send(createItem(link.eventId('output'), { kind: 'tool-output', id: null, toolCallId, output }));
  }

  /** None of these was run: they go, so that no call stays without an answer. Answers what to tell the server. */
  takeBack(toolCallIds: readonly string[]): string[] {
    const { deletions, conversation } = this.#o;
    return toolCallIds.flatMap((toolCallId) => {
      conversation.dropToolCall(toolCallId);
      const itemId = this.#unanswered.get(toolCallId);
      this.#unanswered.delete(toolCallId);
      return itemId === undefined ? [] : [deletions.ask(itemId)];
    });
  }

  /** A new session. @param told the items it was told calls as */
  restart(told: ReadonlyMap<string, string>): void {
    for (const [toolCallId] of this.#unanswered) {
      const itemId = told.get(toolCallId);
      if (itemId === undefined) this.#unanswered.delete(toolCallId);
      else this.#unanswered.set(toolCallId, itemId);
    }
  }
}
