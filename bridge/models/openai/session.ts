// A realtime session with an OpenAI-compatible server: the contract of model.ts over its parts, which are the caller's sound
// (input.ts), what the model says (responses.ts), tools, cuts, and the connection. What was said is kept for a new session.
import { type AudioFormat, bytesPerMs } from '../../../audio/format.ts';
import type { Log } from '../../../log.ts';
import type { FaultCode } from '../../protocol/call-reasons.ts';
import type {
  CutItem,
  EarlyAnswer,
  ModelCapabilities,
  ModelConfig,
  ModelListener,
  ModelSession,
} from '../model.ts';
import { createItem } from './client-events.ts';
import { ModelConnection } from './connection.ts';
import { Conversation } from './conversation.ts';
import { Cuts } from './cuts.ts';
import { Deletions } from './deletions.ts';
import { judgeError } from './errors.ts';
import { formatFor } from './formats.ts';
import { CallerInput } from './input.ts';
import { Link } from './link.ts';
import { Outputs } from './outputs.ts';
import { Responses } from './responses.ts';
import type { ModelEvent } from './server-events.ts';
import { openaiSetup } from './setup.ts';
import { type DialModel, dialModel, type SessionSocket, systemTimers, type Timers } from './socket.ts';
import { ToolCalls } from './tools.ts';

const DEFAULT_RENEW_SECONDS = 3_300;

export interface OpenAISessionOptions {
  log?: Log;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  timers?: Timers;
  dial?: DialModel;
  /** Age at which the session moves to a new one, between turns. */
  renewAfterSeconds?: number;
}

/** A session, dialled by `open()`. The listener is called from sockets and timers, never from within a verb. */
export function openOpenAISession(
  config: ModelConfig,
  listener: ModelListener,
  o: OpenAISessionOptions = {},
): ModelSession {
  return new OpenAISession(config, listener, o);
}

class OpenAISession implements ModelSession {
  readonly capabilities: ModelCapabilities;
  readonly takes: AudioFormat;
  readonly gives: AudioFormat;
  readonly #listener: ModelListener;
  readonly #log: Log | undefined;
  readonly #link = new Link();
  readonly #conversation: Conversation;
  readonly #cuts: Cuts;
  readonly #deletions = new Deletions();
  readonly #tools: ToolCalls;
  readonly #input: CallerInput;
  readonly #responses: Responses;
  readonly #connection: ModelConnection;
  #sessions = 0;

  constructor(config: ModelConfig, listener: ModelListener, o: OpenAISessionOptions) {
    const { log, timers = systemTimers, now = () => performance.now(), dial = dialModel } = o;
    const format = formatFor(config.line);
    this.capabilities = {
      ...openaiSetup.capabilities,
      turns: (config.turnDetection ?? 'local') === 'local' ? 'bridge' : 'model',
      commits: true,
      answersByItself: false,
      transcribes: config.transcriptionModel !== null,
      takesBack: true,
    };
    this.takes = format;
    this.gives = format;
    this.#listener = listener;
    this.#log = log;
    const link = this.#link;
    const conversation = new Conversation({
      bytesPerMs: bytesPerMs(format),
      unintelligible: config.texts.unintelligible,
      history: config.history,
    });
    const outputs = new Outputs(bytesPerMs(format));
    const settled = () => this.#connection.moveIfReady();
    const drop = (why: string) => this.#connection.drop(why);
    this.#conversation = conversation;
    const deletions = this.#deletions;
    this.#cuts = new Cuts(outputs, conversation, deletions);
    this.#tools = new ToolCalls({ link, conversation, outputs, deletions, listener });
    this.#input = new CallerInput({ config, link, conversation, deletions, listener, now, settled, drop });
    this.#responses = new Responses({
      instructions: config.instructions,
      resumed: config.texts.resumed,
      link,
      outputs,
      conversation,
      cuts: this.#cuts,
      deletions,
      tools: this.#tools,
      listener,
      timers,
      now,
      log,
      settled,
      drop,
      fail: (code, message) => this.#fail(code, message),
    });
    this.#connection = new ModelConnection({
      config,
      timers,
      now,
      log,
      dial,
      renewAfterMs: (o.renewAfterSeconds ?? DEFAULT_RENEW_SECONDS) * 1000,
      listener: {
        online: (fresh, info) => this.#online(fresh, info),
        event: (event) => this.#onEvent(event),
        lost: (why) => this.#lost(why),
        failed: (failure) => {
          this.#end();
          listener.failed(failure);
        },
        mayMove: () => !this.#responses.busy() && this.#input.between(),
      },
    });
  }

  // ---- the contract ----

  open(): void {
    if (!this.#link.over) this.#connection.open();
  }

  appendAudio(payload: Buffer): void {
    this.#input.append(payload);
  }

  clearAudio(): void {
    if (!this.#link.over) this.#input.clear();
  }

  endTurn(o?: { mayGoOn: boolean }): number | null {
    return this.#link.over ? null : this.#input.endTurn(o?.mayGoOn === true);
  }

  respond(request?: { instructions?: string }): void {
    if (!this.#link.over) this.#responses.ask(request?.instructions ?? null);
  }

  /** Nothing: it speaks no line but one that it makes up itself. */
  say(): void {}

  interrupt(items: readonly CutItem[]): void {
    if (this.#link.over) return;
    this.#responses.interrupt();
    for (const item of items) this.#link.send(...this.#cuts.cut(item));
    this.#link.soon(() => this.#connection.moveIfReady());
  }

  takeBack({ turn, itemIds, toolCallIds }: EarlyAnswer): void {
    if (this.#link.over) return;
    this.#responses.takeBack();
    this.#link.send(...this.#tools.takeBack(toolCallIds));
    for (const itemId of itemIds) this.#link.send(...this.#cuts.cut({ itemId, heardMs: 0, heardText: '' }));
    this.#input.reopen(turn);
    this.#link.soon(() => this.#connection.moveIfReady());
  }

  addText(role: 'system' | 'user', text: string): void {
    if (this.#link.over) return;
    this.#conversation.text(role, text);
    this.#link.send(createItem(this.#link.eventId('text'), { kind: 'text', id: null, role, text }));
  }

  sendToolResult(toolCallId: string, output: string): void {
    if (!this.#link.over) this.#tools.answer(toolCallId, output);
  }

  busy(): boolean {
    return !this.#link.over && this.#responses.busy();
  }

  async close(): Promise<void> {
    this.#end();
    await this.#connection.close();
  }

  // ---- sockets come and go ----

  #end(): void {
    this.#link.end();
    this.#responses.close();
  }

  #fail(code: FaultCode, message: string): void {
    if (this.#link.over) return;
    this.#end();
    void this.#connection.close();
    this.#listener.failed({ code, message });
  }

  #online(fresh: SessionSocket, info: { renewed: boolean; tookMs: number }): void {
    this.#link.use(fresh);
    this.#sessions++;
    this.#responses.restart();
    this.#input.restart();
    this.#deletions.restart();
    const told = this.#conversation.seeds(`said_${this.#sessions}_`);
    this.#cuts.restart(told.items);
    this.#tools.restart(told.toolCalls);
    for (const seed of told.seeds) {
      if (seed.kind === 'audio') this.#input.tellAgain(seed.turn, seed.audio);
      else this.#link.send(createItem(this.#link.eventId('seed'), seed));
    }
    this.#input.catchUp();
    const { droppedBytes } = this.#input;
    this.#log?.debug({ ...info, told: told.seeds.length, droppedBytes }, 'model.session.ready');
    this.#listener.ready(info);
    if (!this.#link.over) this.#responses.online();
  }

  #lost(why: string): void {
    this.#link.use(null);
    this.#responses.lost(() => this.#listener.reconnecting(why));
  }

  // ---- what the server says ----

  #onEvent(event: ModelEvent): void {
    if (this.#link.over) return;
    switch (event.type) {
      case 'audio':
        this.#responses.onAudio(event);
        break;
      case 'audio-done':
        this.#responses.onAudioDone(event);
        break;
      case 'text':
        this.#responses.onText(event);
        break;
      case 'text-done':
        this.#responses.onTextDone(event);
        break;
      case 'output-item':
        this.#responses.onItem(event);
        break;
      case 'response-created':
        this.#responses.onCreated(event);
        break;
      case 'response-done':
        this.#responses.onDone(event);
        break;
      case 'speech-started':
      case 'speech-stopped':
        this.#input.onSpeech(event);
        break;
      case 'committed':
        this.#input.onCommitted(event.itemId);
        break;
      case 'item-deleted':
        this.#deletions.gone(event.itemId);
        break;
      case 'transcript':
        this.#input.onTranscript(event);
        break;
      case 'error':
        this.#onError(event);
        break;
      case 'ignored':
        if (event.event.startsWith('response.')) this.#responses.onProgress();
    }
  }

  #onError(error: Extract<ModelEvent, { type: 'error' }>): void {
    const { eventId, code } = error;
    const judged = judgeError(error);
    const aboutCreate = eventId?.startsWith('create_') ?? false;
    switch (judged.means) {
      case 'nothing':
        this.#deletions.missing(eventId);
        break;
      case 'fatal':
        this.#fail('model_refused', `the model server refused: ${error.message || code}`);
        break;
      case 'expired':
        this.#connection.drop('the session has expired');
        break;
      case 'cancel-refused':
        this.#responses.onCancelRefused();
        break;
      case 'already-active':
        this.#responses.onRefused({ eventId, code, why: 'already_active', retryAfterMs: null });
        break;
      case 'commit-empty':
        this.#input.onCommitRefused(eventId);
        break;
      case 'truncate-too-long':
        this.#link.send(...this.#cuts.tooLong(eventId, judged.availableMs));
        break;
      case 'passing':
      case 'unexpected': {
        const retryAfterMs = judged.means === 'passing' ? judged.retryAfterMs : null;
        if (aboutCreate) this.#responses.onRefused({ eventId, code, why: 'failed', retryAfterMs });
        else if (this.#deletions.refuse(eventId) && !this.busy()) this.#link.send(...this.#deletions.again());
        this.#log?.warn({ code, param: error.param, eventId }, 'model.error');
      }
    }
  }
}
