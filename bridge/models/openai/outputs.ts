// PURE. What the model's responses have given so far: which response an item belongs to, milliseconds received of it, tool
// calls passed on, and which responses are discarded, so that nothing late of them is ever heard.

/** Responses that are remembered after their end, for events still on their way. */
const MAX_REMEMBERED = 64;

export interface Output {
  itemId: string;
  responseId: string;
  receivedBytes: number;
  /** Nothing more of its audio comes. */
  audioDone: boolean;
  /** It was cut or deleted: the server's copy is settled. */
  cut: boolean;
}

export interface ResponseRecord {
  responseId: string;
  /** The listener knows of it. */
  announced: boolean;
  hadAudio: boolean;
  toolCalls: number;
}

export class Outputs {
  readonly #bytesPerMs: number;
  readonly #items = new Map<string, Output>();
  /** Of each response that has not ended. */
  readonly #itemsOf = new Map<string, Output[]>();
  readonly #responses = new Map<string, ResponseRecord>();
  readonly #discarded = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #toolCalls = new Set<string>();

  /** @param bytesPerMs of the audio that comes */
  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs;
  }

  discard(responseId: string): void {
    remember(this.#discarded, responseId);
  }

  discarded(responseId: string): boolean {
    return this.#discarded.has(responseId);
  }

  /** True when it has ended, so that what still comes of it is late. */
  ended(responseId: string): boolean {
    return this.#ended.has(responseId);
  }

  response(responseId: string): ResponseRecord {
    let record = this.#responses.get(responseId);
    if (!record) {
      record = { responseId, announced: false, hadAudio: false, toolCalls: 0 };
      this.#responses.set(responseId, record);
    }
    return record;
  }

  /** Ends a response and answers its record; the items stay, they may be cut later. */
  end(responseId: string): ResponseRecord {
    const record = this.response(responseId);
    this.#responses.delete(responseId);
    this.#itemsOf.delete(responseId);
    remember(this.#ended, responseId);
    return record;
  }

  running(): ResponseRecord[] {
    return [...this.#responses.values()];
  }

  item(itemId: string): Output | undefined {
    return this.#items.get(itemId);
  }

  /** The item, made when it is new. */
  itemOf(responseId: string, itemId: string): Output {
    let item = this.#items.get(itemId);
    if (!item) {
      item = { itemId, responseId, receivedBytes: 0, audioDone: false, cut: false };
      this.#items.set(itemId, item);
      const before = this.#itemsOf.get(responseId);
      if (before === undefined) this.#itemsOf.set(responseId, [item]);
      else before.push(item);
    }
    return item;
  }

  /** Of a response that has not ended, oldest first. */
  itemsOf(responseId: string): readonly Output[] {
    return this.#itemsOf.get(responseId) ?? [];
  }

  receivedMs(item: Output): number {
    return Math.floor(item.receivedBytes / this.#bytesPerMs);
  }

  /** True the first time a tool call is seen. */
  firstTime(toolCallId: string): boolean {
    if (this.#toolCalls.has(toolCallId)) return false;
    this.#toolCalls.add(toolCallId);
    return true;
  }

  /** Nothing of the session before is known to the new one. */
  restart(): void {
    this.#items.clear();
    this.#itemsOf.clear();
    this.#responses.clear();
    this.#discarded.clear();
    this.#ended.clear();
  }
}

/** Adds to a set of bounded size; the oldest goes. */
function remember(set: Set<string>, id: string): void {
  set.add(id);
  if (set.size <= MAX_REMEMBERED) return;
  for (const oldest of set) {
    set.delete(oldest);
    return;
  }
}
