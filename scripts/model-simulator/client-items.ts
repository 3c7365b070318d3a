// What a client does to the items of a conversation: puts in, cuts, deletes, asks back; with the errors each can earn.
import { type Conversation, type Item, type Part, wireItem } from './conversation.ts';
import type { Ears } from './hearing.ts';
import { Decoder } from './input-buffer.ts';
import { type ApiError, invalidRequest } from './protocol.ts';
import type { SessionConfig } from './session-config.ts';
import { BYTES_PER_MS } from './voice.ts';

export interface ClientItemsOptions {
  conversation: Conversation;
  config: () => SessionConfig;
  ears: () => Ears;
  acknowledgesCuts: () => boolean;
  newId: (prefix: string) => string;
  emit: (event: Record<string, unknown> & { type: string }) => void;
  violate: (code: string, message: string) => void;
  /** Sound that came inside an item, for the recording. */
  onSound: (samples: Int16Array) => void;
}

/** Every method answers the error that the client is to get, or null. */
export class ClientItems {
  readonly #o: ClientItemsOptions;

  constructor(options: ClientItemsOptions) {
    this.#o = options;
  }

  delete(id: string): ApiError | null {
    if (!this.#o.conversation.remove(id)) return this.#unknownItem('delete', id);
    this.#o.emit({ type: 'conversation.item.deleted', item_id: id });
    return null;
  }

  retrieve(id: string): ApiError | null {
    const item = this.#o.conversation.find(id);
    if (item === undefined) return this.#unknownItem('retrieve', id);
    this.#o.emit({ type: 'conversation.item.retrieved', item: wireItem(item, true) });
    return null;
  }

  /** conversation.item.create: at the end, or after an item. */
  create(given: Record<string, unknown>, after: string | null | undefined): ApiError | null {
    const made = this.#itemOf(given);
    if ('code' in made) return made;
    const { item } = made;
    if (this.#o.conversation.find(item.id) !== undefined)
      return invalidRequest('invalid_value', `An item with id '${item.id}' already exists.`, 'item.id');
    if (!this.#o.conversation.add(item, after))
      return invalidRequest(
        'invalid_value',
        `Cannot insert the item: previous item with id '${after}' does not exist.`,
        'previous_item_id',
      );
    const previous_item_id = this.#o.conversation.previousId(item.id);
    this.#o.emit({ type: 'conversation.item.added', previous_item_id, item: wireItem(item) });
    this.#o.emit({ type: 'conversation.item.done', previous_item_id, item: wireItem(item) });
    return null;
  }

  #itemOf(given: Record<string, unknown>): { item: Item } | ApiError {
    const item: Item = {
      id: (given.id as string | undefined) ?? this.#o.newId('item'),
      type: given.type as Item['type'],
      status: 'completed',
    };
    if (item.type === 'message') {
      item.role = given.role as NonNullable<Item['role']>;
      item.content = (given.content as Record<string, unknown>[]).map((part) => this.#partOf(part));
    } else {
      item.call_id = (given.call_id as string | undefined) ?? this.#o.newId('call');
      if (item.type === 'function_call') {
        item.name = String(given.name);
        item.arguments = String(given.arguments);
      } else {
        item.output = String(given.output);
        const call = this.#o.conversation.items.find(
          (other) => other.type === 'function_call' && other.call_id === item.call_id,
        );
        if (call === undefined) {
          this.#o.violate('unknown_call_id', `no function call has call_id ${item.call_id}`);
          return invalidRequest(
            'invalid_tool_call_id',
            `Tool call ID '${item.call_id}' not found in conversation.`,
            'item.call_id',
          );
        }
      }
    }
    return { item };
  }

  #partOf(given: Record<string, unknown>): Part {
    if (given.type !== 'input_audio')
      return { type: given.type as Part['type'], text: String(given.text ?? '') };
    const format = this.#o.config().audio.input.format.type;
    const bytes = Buffer.from(String(given.audio), 'base64');
    const samples = new Decoder(format).decode(bytes);
    const audioMs = bytes.length / BYTES_PER_MS[format];
    this.#o.onSound(samples);
    return {
      type: 'input_audio',
      transcript: (given.transcript as string | null | undefined) ?? null,
      audioMs,
      heard: this.#o.ears().recognize(samples).text,
      audio: { bytes, format },
    };
  }

  #unknownItem(verb: 'truncate' | 'delete' | 'retrieve', id: string): ApiError {
    this.#o.violate(`${verb}_unknown_item`, `${verb} of ${id}, which does not exist`);
    return invalidRequest(
      `item_${verb}_invalid_item_id`,
      `Error ${verb === 'truncate' ? 'truncating' : verb === 'delete' ? 'deleting' : 'retrieving'} item: the item with id '${id}' does not exist.`,
      'item_id',
    );
  }

  /** conversation.item.truncate: what lies behind `endMs` was not heard, and its text is forgotten. */
  truncate(id: string, contentIndex: number, endMs: number): ApiError | null {
    const item = this.#o.conversation.find(id);
    if (item === undefined) return this.#unknownItem('truncate', id);
    const part = item.content?.[contentIndex];
    if (item.role !== 'assistant' || part?.type !== 'output_audio') {
      this.#o.violate('truncate_of_no_audio', `${id} holds no agent audio`);
      return invalidRequest('invalid_value', 'Only model output audio messages can be truncated.', 'item_id');
    }
    const audioMs = Math.floor(part.audioMs ?? 0);
    if (endMs > audioMs) {
      this.#o.violate('truncate_beyond_audio', `${endMs} ms of ${audioMs} ms in ${id}`);
      return invalidRequest(
        'invalid_value',
        `Audio content of ${audioMs}ms is already shorter than ${endMs}ms`,
        'audio_end_ms',
      );
    }
    part.truncatedMs = Math.min(part.truncatedMs ?? endMs, endMs);
    part.transcript = null;
    if (this.#o.acknowledgesCuts())
      this.#o.emit({
        type: 'conversation.item.truncated',
        item_id: id,
        content_index: contentIndex,
        audio_end_ms: endMs,
      });
    return null;
  }

  /** The items of a response's own input: new ones, or references to those of the conversation. */
  resolve(input: readonly Record<string, unknown>[]): { items: Item[] } | ApiError {
    const items: Item[] = [];
    for (const [index, given] of input.entries()) {
      if (given.type === 'item_reference') {
        const item = this.#o.conversation.find(String(given.id));
        if (item === undefined)
          return invalidRequest(
            'invalid_value',
            `Item with id '${String(given.id)}' not found.`,
            `response.input[${index}].id`,
          );
        items.push(item);
        continue;
      }
      const made = this.#itemOf(given);
      if ('code' in made) return made;
      items.push(made.item);
    }
    return { items };
  }
}
