// PURE. What the model's responses have given so far: which response an item belongs to, milliseconds received of it, tool
// calls passed on, and which responses are discarded, so that nothing late of them is ever heard.

const BYTES_PER_MS = 8;
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

export interface Outputs {
  discard(responseId: string): void;
  discarded(responseId: string): boolean;
  /** True when it has ended, so that what still comes of it is late. */
  ended(responseId: string): boolean;
  response(responseId: string): ResponseRecord;
  /** Ends a response and answers its record; the items stay, they may be cut later. */
  end(responseId: string): ResponseRecord;
  running(): ResponseRecord[];
  item(itemId: string): Output | undefined;
  /** The item, made when it is new. */
  itemOf(responseId: string, itemId: string): Output;
  itemsOf(responseId: string): Output[];
  receivedMs(item: Output): number;
  /** True the first time a tool call is seen. */
  firstTime(toolCallId: string): boolean;
  /** Nothing of the session before is known to the new one. */
  restart(): void;
}

export function createOutputs(): Outputs {
  let items = new Map<string, Output>();
  const responses = new Map<string, ResponseRecord>();
  const discarded = new Set<string>();
  const ended = new Set<string>();
  const toolCalls = new Set<string>();

  /** Adds to a set of bounded size; the oldest goes. */
  function remember(set: Set<string>, id: string): void {
    set.add(id);
    if (set.size <= MAX_REMEMBERED) return;
    for (const oldest of set) {
      set.delete(oldest);
      return;
    }
  }

  return {
    discard: (responseId) => remember(discarded, responseId),
    discarded: (responseId) => discarded.has(responseId),
    ended: (responseId) => ended.has(responseId),
    response(responseId) {
      let record = responses.get(responseId);
      if (!record) {
        record = { responseId, announced: false, hadAudio: false, toolCalls: 0 };
        responses.set(responseId, record);
      }
      return record;
    },
    end(responseId) {
      const record = this.response(responseId);
      responses.delete(responseId);
      remember(ended, responseId);
      return record;
    },
    running: () => [...responses.values()],
    item: (itemId) => items.get(itemId),
    itemOf(responseId, itemId) {
      let item = items.get(itemId);
      if (!item) {
        item = { itemId, responseId, receivedBytes: 0, audioDone: false, cut: false };
        items.set(itemId, item);
      }
      return item;
    },
    itemsOf: (responseId) => [...items.values()].filter((item) => item.responseId === responseId),
    receivedMs: (item) => Math.floor(item.receivedBytes / BYTES_PER_MS),
    firstTime(toolCallId) {
      if (toolCalls.has(toolCallId)) return false;
      toolCalls.add(toolCallId);
      return true;
    },
    restart() {
      items = new Map();
      responses.clear();
      discarded.clear();
      ended.clear();
    },
  };
}
