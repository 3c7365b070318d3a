// One Realtime session on one socket: takes client events, keeps the configuration and the conversation, starts
// responses, and misbehaves where a fault says so. Audio is caller-audio.ts, items are client-items.ts, a response's
// events are response.ts.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { CallerAudio } from './caller-audio.ts';
import { ClientItems } from './client-items.ts';
import type { Clock } from './clock.ts';
import { Conversation, inspectItem, wireItem } from './conversation.ts';
import { decide } from './dialogue.ts';
import type { Fault, Faults, Trigger } from './faults.ts';
import type { Ears } from './hearing.ts';
import { HEARING_RATE_HZ } from './input-buffer.ts';
import { Line } from './line.ts';
import { seeded } from './pacing.ts';
import { type ApiError, type ClientEvent, invalidRequest, readClientEvent } from './protocol.ts';
import { type LoggedEvent, SessionRecord, type WavRecording } from './record.ts';
import { ResponseRun } from './response.ts';
import type { Scenario } from './scenario.ts';
import { defaultConfig, type Format, type SessionConfig, type Tool, updateConfig } from './session-config.ts';
import { contextTokens, type Tokens } from './usage.ts';
import { BYTES_PER_MS, type Voice } from './voice.ts';

export interface SessionOptions {
  id: string;
  model: string;
  socket: WebSocket;
  /** The TCP socket below, for what a WebSocket cannot do. */
  tcp: Socket;
  /** Which scenario holds for a client with these instructions. */
  scenarioFor: (instructions: string) => { scenario: Scenario; ears: Ears };
  voice: Voice;
  clock: Clock;
  faults: Faults;
  /** Fixes every random choice of this session. */
  seed: number;
  record: (name: string, rateHz: number) => WavRecording | null;
  publish: (event: LoggedEvent) => void;
  openFault: Fault | null;
}

interface ResponseParams {
  instructions?: string;
  output_modalities?: ['audio'] | ['text'];
  audio?: { output?: { format?: Format; voice?: unknown } };
  tools?: Tool[];
  tool_choice?: unknown;
  max_output_tokens?: number | 'inf';
  conversation?: 'auto' | 'none';
  input?: Record<string, unknown>[];
  metadata?: unknown;
}

const LIFETIME_MS = 3_600_000;

/** GA event names and what they were called before. */
const BETA_NAMES: readonly (readonly [string, string])[] = [
  ['response.output_audio_transcript.', 'response.audio_transcript.'],
  ['response.output_audio.', 'response.audio.'],
  ['response.output_text.', 'response.text.'],
  ['conversation.item.added', 'conversation.item.created'],
];

export class Session {
  readonly id: string;
  readonly conversation = new Conversation();
  readonly audio: CallerAudio;
  readonly record: SessionRecord;
  readonly recordings: { received: WavRecording | null; sent: WavRecording | null };
  config: SessionConfig;
  closed: { code: number; reason: string } | null = null;
  readonly #o: SessionOptions;
  readonly #line: Line;
  readonly #items: ClientItems;
  #ears: Ears;
  readonly #random: () => number;
  readonly #startedAt = new Date();
  readonly #startMs: number;
  #scenario: Scenario;
  #ids = 0;
  #configured = false;
  #spoke = false;
  #active: ResponseRun | null = null;
  readonly #aside = new Set<ResponseRun>();
  /** What each was used for last, and the newest item that it answered. */
  readonly #usedRules = new Map<number, { by: ResponseRun; answered: string | null }>();
  readonly #responses: Record<string, unknown>[] = [];
  readonly #usage: Record<string, number> = {};
  #previousInput: Tokens | null = null;

  constructor(options: SessionOptions) {
    this.#o = options;
    this.id = options.id;
    this.#random = seeded(options.seed);
    this.#startMs = options.clock.now();
    this.config = defaultConfig(options.id, options.model, Math.floor((Date.now() + LIFETIME_MS) / 1000));
    this.#line = new Line(options.socket, options.tcp, options.clock);
    const { scenario, ears } = options.scenarioFor('');
    this.#scenario = scenario;
    this.#ears = ears;
    this.record = new SessionRecord(options.id, this.#startMs, options.publish);
    this.recordings = {
      received: options.record(`${options.id}.received.wav`, HEARING_RATE_HZ),
      sent: options.record(`${options.id}.sent.wav`, HEARING_RATE_HZ),
    };
    this.audio = new CallerAudio({
      session: this.id,
      clock: options.clock,
      random: this.#random,
      ears: () => this.#ears,
      faults: options.faults,
      record: this.record,
      recording: this.recordings.received,
      conversation: this.conversation,
      scenario: () => this.#scenario,
      config: () => this.config,
      configured: () => this.#configured,
      newId: this.#newId,
      emit: this.#emit,
      respond: () => {
        if (this.#active === null) this.#respond({}, null);
      },
      interrupt: () => this.#active?.cancel('turn_detected'),
      onCommit: () => {
        this.#moment('commit');
        if (this.#scenario.profile.commitResponds && this.#active === null) this.#respond({}, null);
      },
    });
    this.#items = new ClientItems({
      conversation: this.conversation,
      config: () => this.config,
      ears: () => this.#ears,
      acknowledgesCuts: () => this.#scenario.profile.truncateAck,
      newId: this.#newId,
      emit: this.#emit,
      violate: (code, message) => this.record.violate(code, message, options.clock.now()),
      onSound: (samples) => this.recordings.received?.write(samples),
    });
    options.socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    options.socket.on('close', (code, reason) => this.#onClose(code, reason.toString()));
    options.socket.on('error', () => {}); // a close follows
    options.clock.after(LIFETIME_MS, () => this.#expire());
    this.#open(options.openFault);
  }

  /** Everything known of the session, for the control API. */
  inspect(): Record<string, unknown> {
    const { appends } = this.record;
    return {
      id: this.id,
      model: this.#o.model,
      scenario: this.#scenario.name,
      started_at: this.#startedAt.toISOString(),
      age_ms: Math.round(this.#o.clock.now() - this.#startMs),
      open: this.closed === null,
      closed: this.closed,
      configured: this.#configured,
      config: this.config,
      received_audio_ms: Math.round(this.audio.totalMs),
      committed_audio_ms: Math.round(this.audio.committedMs),
      buffered_audio_ms: Math.round(this.audio.bufferedMs()),
      audio_before_configuration_ms: Math.round(this.record.before_configured_ms),
      appends: { ...appends, audio_ms: Math.round(appends.audio_ms) },
      received_wav: this.recordings.received?.path ?? null,
      sent_wav: this.recordings.sent?.path ?? null,
      active_response: this.#active?.id ?? null,
      usage: this.#usage,
      items: this.conversation.items.map(inspectItem),
      responses: this.#responses,
      violations: this.record.violations,
      notes: this.record.notes,
      events: this.record.events,
    };
  }

  /** Sets off a fault that was asked for while the session runs. */
  strike(fault: Fault): void {
    this.#o.clock.after(fault.after_ms ?? 0, () => this.#perform(fault));
  }

  /** Ends the session from the server's side. */
  async close(): Promise<void> {
    if (this.closed === null) this.#line.terminate();
    await Promise.all([this.recordings.received?.close(), this.recordings.sent?.close()]);
  }

  readonly #newId = (prefix: string): string => {
    // 21 characters after the prefix, as the hosted ids have, and short enough for a call_id.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    let tail = '';
    for (let i = 0; i < 16; i++) tail += letters[Math.floor(this.#random() * letters.length)];
    return `${prefix}_${(this.#ids++).toString().padStart(5, '0')}${tail}`;
  };

  readonly #emit = (event: Record<string, unknown> & { type: string }): void => {
    if (this.closed !== null) return;
    let { type } = event;
    if (this.#scenario.profile.dialect === 'beta') {
      if (type === 'conversation.item.done') return;
      for (const [ga, beta] of BETA_NAMES) if (type.startsWith(ga)) type = type.replace(ga, beta);
    }
    const whole = { event_id: this.#newId('event'), ...event, type };
    this.record.log('server', event, this.#o.clock.now(), BYTES_PER_MS[this.config.audio.output.format.type]);
    this.#line.send(JSON.stringify(whole));
    if (type === 'conversation.item.added' && this.#scenario.profile.itemCreated)
      this.#line.send(
        JSON.stringify({ ...whole, event_id: this.#newId('event'), type: 'conversation.item.created' }),
      );
  };

  #fail(error: ApiError, eventId: string | null): void {
    const event_id = this.#scenario.profile.echoEventId ? eventId : null;
    this.#emit({ type: 'error', error: { ...error, event_id } });
  }

  #open(fault: Fault | null): void {
    const created = () => this.#emit({ type: 'session.created', session: this.config });
    if (fault?.kind === 'close_on_open') {
      this.#line.close(fault.close_code ?? 3000, fault.message ?? 'invalid_request_error.invalid_api_key');
    } else if (fault?.kind === 'session_created_late') this.#o.clock.after(fault.ms ?? 5000, created);
    else if (fault?.kind !== 'session_created_never') created();
    this.#moment('connect');
  }

  #onClose(code: number, reason: string): void {
    this.closed ??= { code, reason };
    this.#active?.drop();
    for (const run of this.#aside) run.drop();
    this.audio.close();
    // Nobody can ask for the sound any more; the recordings have it.
    for (const item of this.conversation.items) for (const part of item.content ?? []) delete part.audio;
    this.record.log('simulator', { type: 'closed', code, reason }, this.#o.clock.now(), 1);
    void this.recordings.received?.close();
    void this.recordings.sent?.close();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#line.isDead()) return;
    if (isBinary) {
      this.record.violate('binary_frame', 'a binary frame was sent', this.#o.clock.now());
      this.#fail(
        invalidRequest('invalid_event', 'Binary frames are not accepted. Send events as JSON text.'),
        null,
      );
      return;
    }
    const read = readClientEvent(data.toString('utf8'));
    if ('error' in read) {
      const type = read.type ?? 'unreadable';
      this.record.log(
        'client',
        { type, event_id: read.eventId, refused: read.error.code },
        this.#o.clock.now(),
        1,
      );
      this.record.violate(
        read.error.code ?? 'invalid',
        `${type}: ${read.error.message}`,
        this.#o.clock.now(),
      );
      this.#fail(read.error, read.eventId);
      return;
    }
    const { event } = read;
    const inputRate = BYTES_PER_MS[this.config.audio.input.format.type];
    this.record.log('client', event, this.#o.clock.now(), inputRate);
    const error = this.#handle(event);
    if (error !== null) this.#fail(error, event.event_id ?? null);
  }

  #handle(event: ClientEvent): ApiError | null {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session as Record<string, unknown>);
      case 'input_audio_buffer.append':
        return this.audio.append(event.audio as string);
      case 'input_audio_buffer.commit':
        return this.audio.commit();
      case 'input_audio_buffer.clear':
        this.audio.clear();
        return null;
      case 'conversation.item.create':
        return this.#items.create(
          event.item as Record<string, unknown>,
          event.previous_item_id as string | null | undefined,
        );
      case 'conversation.item.truncate':
        return this.#items.truncate(
          event.item_id as string,
          event.content_index as number,
          event.audio_end_ms as number,
        );
      case 'conversation.item.delete':
        return this.#items.delete(event.item_id as string);
      case 'conversation.item.retrieve':
        return this.#items.retrieve(event.item_id as string);
      case 'response.create':
        return this.#respond((event.response ?? {}) as ResponseParams, event.event_id ?? null);
      case 'response.cancel':
        return this.#cancel((event.response_id ?? null) as string | null);
      default:
        return null; // output_audio_buffer.clear has no meaning on a WebSocket
    }
  }

  #update(update: Record<string, unknown>): ApiError | null {
    const fault = this.#o.faults.takeUpdate(this.id, String(update.instructions ?? this.config.instructions));
    if (fault?.kind === 'update_unanswered') return null;
    if (fault?.kind === 'update_refused')
      return invalidRequest(
        fault.code ?? 'invalid_value',
        fault.message ?? "Invalid value for 'session'.",
        'session',
      );
    const next =
      fault?.kind === 'update_ignored'
        ? { config: this.config }
        : updateConfig(this.config, update, this.#spoke);
    if ('error' in next) {
      this.record.violate(next.error.code ?? 'invalid_value', next.error.message, this.#o.clock.now());
      return next.error;
    }
    this.config = next.config;
    const { scenario, ears } = this.#o.scenarioFor(this.config.instructions);
    this.#scenario = scenario;
    this.#ears = ears;
    const first = !this.#configured;
    this.#configured = true;
    this.#emit({ type: 'session.updated', session: this.config });
    if (first) this.#moment('configured');
    return null;
  }

  #cancel(id: string | null): ApiError | null {
    const run = [this.#active, ...this.#aside].find((candidate) =>
      candidate === null ? false : id === null ? candidate === this.#active : candidate.id === id,
    );
    if (run?.cancel('client_cancelled')) return null;
    return invalidRequest('response_cancel_not_active', 'Cancellation failed: no active response found');
  }

  /** As a model knows it: by what stands in the conversation, of the answer and of what it answered, and by nothing else. */
  #isUsed(rule: number): boolean {
    const use = this.#usedRules.get(rule);
    if (use === undefined) return false;
    const { by, answered } = use;
    return (answered === null || this.conversation.find(answered) !== undefined) && by.stands();
  }

  #respond(params: ResponseParams, eventId: string | null): ApiError | null {
    const o = this.#o;
    const outOfBand = params.conversation === 'none';
    if (!outOfBand && this.#active !== null) {
      this.record.violate(
        'overlapping_response',
        `response.create while ${this.#active.id} runs`,
        o.clock.now(),
      );
      return invalidRequest(
        'conversation_already_has_active_response',
        `Conversation already has an active response in progress: ${this.#active.id}. Wait until the response is finished before creating a new one.`,
      );
    }
    const input = params.input === undefined ? { items: null } : this.#items.resolve(params.input);
    if ('code' in input) return input;
    const open = this.conversation.items.filter(
      (item) =>
        item.type === 'function_call' &&
        item.status === 'completed' &&
        !this.conversation.items.some(
          (other) => other.type === 'function_call_output' && other.call_id === item.call_id,
        ),
    );
    // A response with instructions of its own may bridge the wait for a slow tool.
    if (!outOfBand && open.length > 0 && !params.instructions)
      this.record.violate(
        'call_without_output',
        `response.create while ${open.map((item) => item.name).join(', ')} has no output`,
        o.clock.now(),
      );
    const { config } = this;
    // What is committed after this moment is not answered by this response.
    const context = input.items ?? [...this.conversation.items];
    const tools = params.tools ?? config.tools;
    const modality = (params.output_modalities ?? config.output_modalities)[0];
    const run: ResponseRun = new ResponseRun({
      id: this.#newId('resp'),
      newId: this.#newId,
      clock: o.clock,
      random: this.#random,
      pacing: this.#scenario.pacing,
      voice: o.voice,
      conversation: outOfBand ? null : { id: `conv_${this.id.slice(5)}`, items: this.conversation },
      modality,
      format: params.audio?.output?.format ?? config.audio.output.format,
      voiceName: params.audio?.output?.voice ?? config.audio.output.voice,
      maxTokens: params.max_output_tokens ?? config.max_output_tokens,
      metadata: params.metadata ?? null,
      fault: o.faults.takeResponse(this.id, config.instructions),
      decide: () => {
        const reply = decide(this.#scenario, {
          context,
          sessionInstructions: config.instructions,
          responseInstructions: params.instructions ?? null,
          outOfBand,
          tools,
          toolChoice: params.tool_choice ?? config.tool_choice,
          used: { has: (rule) => this.#isUsed(rule) },
        });
        if (reply.rule !== null)
          this.#usedRules.set(reply.rule, { by: run, answered: context.at(-1)?.id ?? null });
        for (const name of reply.missingTools)
          this.record.note(
            'tool_not_offered',
            `the scenario calls ${name}, which is not offered`,
            o.clock.now(),
          );
        const fixed =
          (params.instructions ?? config.instructions) + (tools.length > 0 ? JSON.stringify(tools) : '');
        this.record.log('simulator', { type: 'decided', response_id: run.id, ...reply }, o.clock.now(), 1);
        return { reply, input: contextTokens(fixed, context), previousInput: this.#previousInput };
      },
      emit: (event) => {
        if (event.type === 'response.done') this.#release(run, event.response as Record<string, unknown>);
        this.#emit(event);
      },
      onSound: (samples) => this.recordings.sent?.write(samples),
      onFirstAudio: () => {
        this.#spoke = true;
        this.#moment('speaking');
      },
      onDone: ({ audioMs, input: tokens }) => {
        this.#previousInput = tokens;
        if (!outOfBand) this.audio.onResponseDone(audioMs);
      },
    });
    if (outOfBand) this.#aside.add(run);
    else this.#active = run;
    if (eventId !== null)
      this.record.log(
        'simulator',
        { type: 'response.requested', response_id: run.id, event_id: eventId },
        o.clock.now(),
        1,
      );
    run.start();
    this.#moment('response');
    return null;
  }

  /** The response is over: the next may be asked for as soon as the client reads of it. */
  #release(run: ResponseRun, response: Record<string, unknown>): void {
    this.#aside.delete(run);
    if (this.#active === run) this.#active = null;
    const usage = response.usage as Record<string, unknown> | null;
    for (const key of ['input_tokens', 'output_tokens', 'total_tokens'])
      this.#usage[key] = (this.#usage[key] ?? 0) + Number(usage?.[key] ?? 0);
    this.#responses.push({
      id: run.id,
      status: response.status,
      status_details: response.status_details,
      occasion: run.reply()?.occasion ?? null,
      rule: run.reply()?.rule ?? null,
      say: run.reply()?.say ?? null,
      calls: run.reply()?.calls ?? [],
      metadata: response.metadata,
    });
  }

  #moment(trigger: Trigger): void {
    for (const fault of this.#o.faults.takeMoment(trigger, this.id, this.config.instructions))
      this.strike(fault);
  }

  #expire(): void {
    const message = 'Your session hit the maximum duration of 60 minutes.';
    this.#fail(invalidRequest('session_expired', message), null);
    this.#line.close(1001, message);
  }

  #perform(fault: Fault): void {
    if (this.closed !== null) return;
    this.record.log('simulator', { type: 'fault', kind: fault.kind }, this.#o.clock.now(), 1);
    switch (fault.kind) {
      case 'close':
        this.#line.close(fault.close_code ?? 1011, fault.message ?? 'internal error');
        return;
      case 'session_expired':
        this.#expire();
        return;
      case 'tcp_reset':
        this.#line.reset();
        return;
      case 'half_open':
        this.#line.die();
        return;
      case 'silence':
        this.#line.silence(fault.ms ?? 30_000);
        return;
      case 'malformed_json':
        this.#line.send('{"type":"response.output_audio.delta","event_id":"event_broken","delta":');
        return;
      case 'unknown_event':
        this.#emit({ type: 'session.weather_changed', weather: { sky: 'clear' } });
        this.#emit({ type: 'response.output_hologram.delta', response_id: 'resp_unknown', delta: 'AAAA' });
        return;
      case 'binary_frame':
        this.#line.sendBinary(Buffer.from([0, 1, 2, 3]));
        return;
      case 'error_event':
        this.#fail(
          {
            type: fault.error_type ?? 'server_error',
            code: fault.code ?? null,
            message:
              fault.message ?? 'The server had an error while processing your request. Sorry about that!',
            param: null,
          },
          null,
        );
        return;
      case 'duplicate_events': {
        const item = this.conversation.items.at(-1);
        if (item === undefined) return;
        const previous_item_id = this.conversation.previousId(item.id);
        for (const type of ['conversation.item.created', 'conversation.item.added', 'conversation.item.done'])
          this.#emit({ type, previous_item_id, item: wireItem(item) });
        return;
      }
    }
  }
}
