// A Realtime service in the test's own time: reads and writes in order, as a socket does, but late and in bunches, and does all
// that the protocol leaves to it in a way that is drawn. Keeps what it takes for the conversation, by the numbers in the sound.
import { FRAME_BYTES } from '../../../../audio/format.ts';
import { decodeServerEvent } from '../../../../bridge/models/openai/server-events.ts';
import type { ModelSocketListener, SessionSocket } from '../../../../bridge/models/openai/socket.ts';

type Random = () => number;
type Range = readonly [number, number];
type Event = Record<string, unknown> & { type: string };

/** What services differ in, or may. Times in milliseconds. */
export interface Ways {
  netMs: Range;
  createdMs: Range;
  firstSoundMs: Range;
  cancelMs: Range;
  wordsMs: Range;
  /** When it refuses to delete an item. */
  refuses: 'never' | 'what it is answering' | 'while a response runs';
  /** Errors and responses say which event they are about. */
  echoes: boolean;
  /** The end of a response names its items. */
  names: boolean;
  calls: boolean;
  /** How many in a hundred responses fail, and come to nothing. */
  fails: number;
}

export interface Item {
  id: string;
  kind: 'sound' | 'text' | 'agent' | 'call' | 'output';
  /** Of the caller: numbers of the frames in it. */
  frames: number[];
  /** Of the agent: which response said it. */
  response: number | null;
  callId: string | null;
  /** Of the agent: its beginning was heard. */
  truncated?: true;
}

export interface Response {
  n: number;
  id: string;
  requestId: string | null;
  /** What it answers. */
  context: readonly Item[];
  state: 'asked' | 'runs' | 'over';
  cutAtMs: number | null;
  steps: { atMs: number; run: () => void }[];
  items: Item[];
  /** Ends the item that is being said. */
  close: ((status: string) => void) | null;
  status: string;
}

/** Numbers of the frames in some sound. */
const numbersIn = (sound: Buffer): number[] =>
  Array.from({ length: Math.floor(sound.length / FRAME_BYTES) }, (_, i) =>
    sound.readUInt32LE(i * FRAME_BYTES),
  );
/** What a service writes down of it, and back. */
const wordsOf = (frames: readonly number[]) => `${frames[0]}-${frames.at(-1)}`;
export function framesOf(words: string): number[] {
  const [from, to] = words.split('-').map(Number) as [number, number];
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

export class DrawnService {
  /** What may not happen. */
  readonly violations: string[] = [];
  readonly responses: Response[] = [];
  /** Of the session in force. */
  items: Item[] = [];
  readonly #ways: Ways;
  readonly #random: Random;
  readonly #now: () => number;
  #stalledUntilMs = 0;
  #session = 0;
  #listener: ModelSocketListener | null = null;
  #inbox: { atMs: number; message: string | Buffer }[] = [];
  #outbox: { atMs: number; tell: (to: ModelSocketListener) => void }[] = [];
  #later: { atMs: number; run: () => void }[] = [];
  #buffer = Buffer.alloc(0);
  #active: Response | null = null;
  #ids = 0;
  #calls = 0;
  #failed = false;

  constructor(o: { ways: Ways; random: Random; now: () => number }) {
    this.#ways = o.ways;
    this.#random = o.random;
    this.#now = o.now;
  }

  /** A new connection, which knows nothing. */
  dial(listener: ModelSocketListener): SessionSocket {
    const session = ++this.#session;
    this.#listener = listener;
    this.items = [];
    this.#inbox = [];
    this.#outbox = [];
    this.#later = [];
    this.#buffer = Buffer.alloc(0);
    this.#active = null;
    this.#tell((to) => to.ready({ expiresInMs: null }));
    const take = (message: string | Buffer) => {
      if (session !== this.#session) return;
      const atMs = Math.max(this.#inbox.at(-1)?.atMs ?? 0, this.#now() + this.#draw(this.#ways.netMs));
      this.#inbox.push({ atMs, message });
    };
    return {
      send: take,
      append: (payload) => take(Buffer.from(payload)),
      expect() {},
      backlogBytes: () => 0,
      close: async () => {},
    };
  }

  /** The connection breaks. */
  lose(): void {
    const listener = this.#listener;
    this.#session++;
    this.#listener = null;
    this.#active = null;
    listener?.lost({ code: 'model_lost', message: 'drawn', retryable: true });
  }

  /** Neither reads nor writes for a while, as a process that gets no processor. */
  stall(ms: number): void {
    this.#stalledUntilMs = this.#now() + ms;
  }

  get busy(): boolean {
    return this.#active !== null || [this.#inbox, this.#outbox, this.#later].some(({ length }) => length > 0);
  }

  /** Time has passed. */
  goOn(): void {
    const now = this.#now();
    if (now < this.#stalledUntilMs) return;
    while (this.#inbox[0] !== undefined && this.#inbox[0].atMs <= now)
      this.#read(this.#inbox.shift()!.message);
    for (;;) {
      const due = this.#later.filter(({ atMs }) => atMs <= now).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#later.splice(this.#later.indexOf(due), 1);
      due.run();
    }
    this.#say();
  }

  /** What is on its way to the client arrives, as far as it is there. */
  deliver(): void {
    for (;;) {
      const listener = this.#listener;
      const next = this.#outbox[0];
      if (listener === null || next === undefined || next.atMs > this.#now()) return;
      this.#outbox.shift();
      next.tell(listener);
    }
  }

  #draw([from, to]: Range): number {
    return from + (to - from) * this.#random();
  }

  #id(what: string): string {
    return `${what}_${this.#session}_${this.#ids++}`;
  }

  #after(ms: number, run: () => void): void {
    this.#later.push({ atMs: this.#now() + ms, run });
  }

  #tell(tell: (to: ModelSocketListener) => void): void {
    const atMs = Math.max(this.#outbox.at(-1)?.atMs ?? 0, this.#now() + this.#draw(this.#ways.netMs));
    this.#outbox.push({ atMs, tell });
  }

  #emit(event: Event): void {
    const decoded = decodeServerEvent(event, (text) => Buffer.from(text, 'base64'));
    this.#tell((to) => to.event(decoded));
  }

  #fail(code: string, eventId: unknown, message = code): void {
    const event_id = this.#ways.echoes ? eventId : null;
    this.#emit({
      type: 'error',
      error: { type: 'invalid_request_error', code, message, param: null, event_id },
    });
  }

  #read(message: string | Buffer): void {
    if (typeof message !== 'string') {
      this.#buffer = Buffer.concat([this.#buffer, message]);
      return;
    }
    const event = JSON.parse(message) as Event & { item_id: string; response_id?: string; event_id?: string };
    switch (event.type) {
      case 'input_audio_buffer.commit':
        this.#commit(event.event_id);
        break;
      case 'input_audio_buffer.clear':
        this.#buffer = Buffer.alloc(0);
        break;
      case 'conversation.item.create':
        this.#add(event.item as Record<string, unknown>);
        break;
      case 'conversation.item.delete':
        this.#delete(event.item_id, event.event_id);
        break;
      case 'conversation.item.truncate':
        this.#truncate(event.item_id, event.event_id);
        break;
      case 'response.create':
        this.#create(event);
        break;
      case 'response.cancel':
        this.#cancel(event.response_id, event.event_id);
    }
  }

  #commit(eventId: unknown): void {
    const frames = numbersIn(this.#buffer);
    this.#buffer = Buffer.alloc(0);
    if (frames.length < 5) {
      this.#fail('input_audio_buffer_commit_empty', eventId);
      return;
    }
    const item: Item = { id: this.#id('item'), kind: 'sound', frames, response: null, callId: null };
    this.items.push(item);
    this.#emit({ type: 'input_audio_buffer.committed', item_id: item.id });
    this.#after(this.#draw(this.#ways.wordsMs), () =>
      this.#emit({
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: item.id,
        transcript: wordsOf(frames),
      }),
    );
  }

  #add(given: Record<string, unknown>): void {
    const id = (given.id as string | undefined) ?? this.#id('item');
    const callId = (given.call_id as string | undefined) ?? null;
    const [part] = (given.content ?? []) as { text: string }[];
    const isCaller = given.role === 'user' && /^\d+-\d+$/.test(part?.text ?? '');
    const kind =
      given.type === 'function_call' ? 'call' : given.type === 'function_call_output' ? 'output' : 'text';
    if (kind === 'output' && !this.items.some((one) => one.kind === 'call' && one.callId === callId))
      this.violations.push(`${callId} is answered, and was not called`);
    const frames = isCaller ? framesOf(part!.text) : [];
    this.items.push({ id, kind, frames, response: null, callId });
  }

  #delete(itemId: string, eventId: unknown): void {
    const item = this.items.find(({ id }) => id === itemId);
    if (item === undefined) {
      this.#fail('item_delete_invalid_item_id', eventId);
      return;
    }
    const running = this.#active;
    const answering = running !== null && (running.context.at(-1) === item || running.items.includes(item));
    if (
      running !== null &&
      (this.#ways.refuses === 'while a response runs' ||
        (this.#ways.refuses === 'what it is answering' && answering))
    ) {
      this.#fail(
        'item_in_use',
        eventId,
        `The item '${itemId}' cannot be deleted while a response is in progress.`,
      );
      return;
    }
    this.items.splice(this.items.indexOf(item), 1);
    this.#emit({ type: 'conversation.item.deleted', item_id: itemId });
  }

  #truncate(itemId: string, eventId: unknown): void {
    const item = this.items.find(({ id }) => id === itemId);
    if (item === undefined) this.#fail('item_truncate_invalid_item_id', eventId);
    else item.truncated = true;
  }

  #create(event: Event): void {
    if (this.#active !== null) {
      this.violations.push('a response is asked for while another runs');
      this.#fail('conversation_already_has_active_response', event.event_id);
      return;
    }
    const asked = event.response as { metadata?: { request_id?: string } };
    const run: Response = {
      n: this.responses.length,
      id: this.#id('resp'),
      requestId: this.#ways.echoes ? (asked.metadata?.request_id ?? null) : null,
      context: [...this.items],
      state: 'asked',
      cutAtMs: null,
      steps: [],
      items: [],
      close: null,
      status: 'completed',
    };
    this.responses.push(run);
    this.#active = run;
    this.#after(this.#draw(this.#ways.createdMs), () => {
      if (this.#active === run) this.#begin(run);
    });
  }

  #cancel(responseId: string | undefined, eventId: unknown): void {
    const run = this.#active;
    if (run === null || run.state !== 'runs' || (responseId !== undefined && responseId !== run.id)) {
      this.#fail('response_cancel_not_active', eventId);
      return;
    }
    run.cutAtMs ??= this.#now() + this.#draw(this.#ways.cancelMs);
  }

  #begin(run: Response): void {
    run.state = 'runs';
    const { id } = run;
    this.#emit({ type: 'response.created', response: { id, metadata: this.#metadata(run) } });
    let atMs = this.#now() + this.#draw(this.#ways.firstSoundMs);
    const step = (afterMs: number, then: () => void): void => {
      atMs += afterMs;
      run.steps.push({ atMs, run: then });
    };
    // Of one that says nothing twice nobody expects an answer.
    this.#failed = !this.#failed && this.#random() * 100 < this.#ways.fails;
    if (this.#failed) {
      const failed = this.#random() < 0.5;
      step(0, () => {
        run.status = failed ? 'failed' : 'completed';
      });
      return;
    }
    const answersTool = run.context.findLast(({ kind }) => kind !== 'text')?.kind === 'output';
    const calls = this.#ways.calls && !answersTool && this.#calls < 3 && this.#random() < 0.5;
    if (!calls || this.#random() < 0.5) this.#speak(run, step);
    if (calls) this.#call(run, step);
  }

  #speak(run: Response, step: (afterMs: number, then: () => void) => void): void {
    const item: Item = { id: this.#id('item'), kind: 'agent', frames: [], response: run.n, callId: null };
    const place = { response_id: run.id, item_id: item.id };
    const transcript = `line ${run.n}`;
    step(0, () => {
      this.items.push(item);
      run.items.push(item);
      this.#emit({
        type: 'response.output_item.added',
        response_id: run.id,
        item: this.#wire(item, 'in_progress'),
      });
      this.#emit({ type: 'response.output_audio_transcript.delta', ...place, delta: transcript });
      run.close = (status) => {
        const ends = [
          { type: 'response.output_audio.done', ...place },
          { type: 'response.output_audio_transcript.done', ...place, transcript },
          { type: 'response.output_item.done', response_id: run.id, item: this.#wire(item, status) },
        ];
        if (this.#random() < 0.5) ends.reverse();
        for (const end of ends) this.#emit(end);
      };
    });
    const pieces = 1 + Math.floor(this.#random() * 4);
    const sound = Buffer.alloc(8 * Math.round(this.#draw([80, 1_200])), 1 + (run.n % 200)).toString('base64');
    for (let i = 0; i < pieces; i++)
      step(this.#draw([0, 120]), () =>
        this.#emit({ type: 'response.output_audio.delta', ...place, delta: sound }),
      );
    step(20, () => {
      run.close?.('completed');
      run.close = null;
    });
  }

  #call(run: Response, step: (afterMs: number, then: () => void) => void): void {
    this.#calls++;
    const item: Item = {
      id: this.#id('item'),
      kind: 'call',
      frames: [],
      response: run.n,
      callId: this.#id('call'),
    };
    const wire = (status: string) => ({
      type: 'response.output_item.done',
      response_id: run.id,
      item: this.#wire(item, status),
    });
    step(20, () => {
      this.items.push(item);
      run.items.push(item);
      run.close = (status) => this.#emit(wire(status));
    });
    step(60, () => {
      run.close?.('completed');
      run.close = null;
    });
  }

  #wire(item: Item, status: string): Record<string, unknown> {
    return item.kind === 'call'
      ? { id: item.id, type: 'function_call', status, call_id: item.callId, name: 'look_up', arguments: '{}' }
      : { id: item.id, type: 'message', status, role: 'assistant' };
  }

  #metadata({ requestId }: Response): { request_id: string } | null {
    return requestId === null ? null : { request_id: requestId };
  }

  /** The running response goes on, up to now or to where it was cut. */
  #say(): void {
    const run = this.#active;
    if (run === null || run.state !== 'runs') return;
    const untilMs = Math.min(this.#now(), run.cutAtMs ?? Number.POSITIVE_INFINITY);
    while (run.steps[0] !== undefined && run.steps[0].atMs <= untilMs) run.steps.shift()!.run();
    const cut = run.cutAtMs !== null && run.cutAtMs <= this.#now();
    if (run.steps.length > 0 && !cut) return;
    if (run.steps.length > 0) run.status = 'cancelled';
    run.close?.('incomplete');
    run.state = 'over';
    this.#active = null;
    const itemStatus = run.status === 'completed' ? 'completed' : 'incomplete';
    const output = this.#ways.names ? run.items.map((item) => this.#wire(item, itemStatus)) : [];
    const failure = { error: { code: 'server_error', message: 'drawn' } };
    this.#emit({
      type: 'response.done',
      response: {
        id: run.id,
        status: run.status,
        status_details: run.status === 'failed' ? failure : null,
        output,
        metadata: this.#metadata(run),
        usage: null,
      },
    });
  }
}
