// One response of the model: the order of its events, the pace of its audio, and the ways in which it can end.
import type { Cancel, Clock } from './clock.ts';
import { type Conversation, type Item, type Part, wireItem } from './conversation.ts';
import type { Reply } from './dialogue.ts';
import type { Fault } from './faults.ts';
import { decodeMulaw } from './g711.ts';
import { draw, type Pacing, planSpeech, type Random } from './pacing.ts';
import type { Format } from './session-config.ts';
import { agentTokens, type Tokens, textTokens, usageOf } from './usage.ts';
import { BYTES_PER_MS, type SpokenWord, type Utterance, type Voice } from './voice.ts';

export type EndStatus = 'completed' | 'cancelled' | 'incomplete' | 'failed';

export interface ResponseOptions {
  id: string;
  newId: (prefix: string) => string;
  clock: Clock;
  random: Random;
  pacing: Pacing;
  voice: Voice;
  /** The reply is decided when the response is created, from what the conversation holds then. */
  decide: () => { reply: Reply; input: Tokens; previousInput: Tokens | null };
  /** Null for a response out of band: its items join no conversation. */
  conversation: { id: string; items: Conversation } | null;
  modality: 'audio' | 'text';
  format: Format;
  voiceName: unknown;
  maxTokens: number | 'inf';
  metadata: unknown;
  fault: Fault | null;
  emit: (event: Record<string, unknown> & { type: string }) => void;
  /** Sound that leaves, for the recording. */
  onSound: (samples: Int16Array) => void;
  onFirstAudio: () => void;
  onDone: (end: { status: EndStatus; audioMs: number; input: Tokens }) => void;
}

interface Step {
  atMs: number;
  run: () => void;
}

/** Characters in one delta of a function's arguments. */
const ARGUMENT_CHARACTERS = 12;
const ARGUMENT_GAP_MS = 8;

export class ResponseRun {
  readonly id: string;
  readonly #o: ResponseOptions;
  #state: 'requested' | 'running' | 'done' = 'requested';
  #steps: Step[] = [];
  #next = 0;
  #timer: Cancel = () => {};
  #cut: { atMs: number; status: EndStatus; reason: string } | null = null;
  #reply: Reply | null = null;
  #input: Tokens = { text: 0, audio: 0 };
  #previousInput: Tokens | null = null;
  #output: Item[] = [];
  /** Ends the item in hand, whole or cut. */
  #closeItem: ((status: 'completed' | 'incomplete') => void) | null = null;
  #end: { status: EndStatus; reason: string | null; error?: Record<string, unknown> } = {
    status: 'completed',
    reason: null,
  };
  #audioMs = 0;
  #firstAudioTold = false;

  constructor(options: ResponseOptions) {
    this.id = options.id;
    this.#o = options;
  }

  created(): boolean {
    return this.#state !== 'requested';
  }

  reply(): Reply | null {
    return this.#reply;
  }

  start(): void {
    const { clock, random, pacing, fault } = this.#o;
    if (fault?.kind === 'response_never') return;
    this.#timer = clock.after(draw(random, pacing.createdMs), () => this.#create());
  }

  /** Ends it soon; what is on its way still leaves. False when it has not been created yet, and so goes on. */
  cancel(reason: 'client_cancelled' | 'turn_detected'): boolean {
    if (this.#state !== 'running') return false;
    const { clock, random, pacing } = this.#o;
    this.#cut ??= { atMs: clock.now() + draw(random, pacing.cancelMs), status: 'cancelled', reason };
    this.#timer();
    this.#run();
    return true;
  }

  /** What it gave is in the conversation, or may yet come into it. */
  stands(): boolean {
    const { conversation } = this.#o;
    if (this.#output.some(({ id }) => conversation === null || conversation.items.find(id) !== undefined))
      return true;
    if (this.#state !== 'done') return this.#cut === null;
    return this.#output.length === 0 && this.#end.status === 'completed';
  }

  /** Forgets everything, without an event: the session is gone. */
  drop(): void {
    this.#timer();
    this.#state = 'done';
  }

  #wire(): Record<string, unknown> {
    const o = this.#o;
    const ended = this.#state === 'done';
    const { status, reason, error } = this.#end;
    return {
      id: this.id,
      object: 'realtime.response',
      status: ended ? status : 'in_progress',
      status_details:
        !ended || status === 'completed'
          ? null
          : {
              type: status,
              ...(reason === null ? {} : { reason }),
              ...(error === undefined ? {} : { error }),
            },
      output: ended ? this.#output.map((item) => wireItem(item)) : [],
      conversation_id: o.conversation?.id ?? null,
      output_modalities: [o.modality],
      max_output_tokens: o.maxTokens,
      audio: { output: { format: o.format, voice: o.voiceName } },
      usage: ended ? this.#usage() : null,
      metadata: o.metadata ?? null,
    };
  }

  #usage(): Record<string, unknown> {
    // A failed response has been seen with zeros only.
    if (this.#end.status === 'failed') return usageOf({ text: 0, audio: 0 }, { text: 0, audio: 0 }, null);
    const output = { text: 0, audio: 0 };
    for (const item of this.#output) {
      output.text += textTokens((item.name ?? '') + (item.arguments ?? ''));
      for (const part of item.content ?? []) {
        output.text += textTokens(part.text ?? part.generated?.text ?? '');
        output.audio += agentTokens(part.audioMs ?? 0);
      }
    }
    return usageOf(this.#input, output, this.#previousInput);
  }

  #create(): void {
    const { clock, fault, emit } = this.#o;
    this.#state = 'running';
    emit({ type: 'response.created', response: this.#wire() });
    if (fault?.kind === 'response_silent') return;
    const { reply, input, previousInput } = this.#o.decide();
    this.#reply = reply;
    this.#input = input;
    this.#previousInput = previousInput;
    let atMs = clock.now();
    if (fault?.kind === 'response_failed') {
      this.#end = {
        status: 'failed',
        reason: null,
        error: {
          type: fault.error_type ?? 'tokens',
          code: fault.code ?? 'rate_limit_exceeded',
          message:
            fault.message ?? 'Rate limit reached for realtime: too many tokens. Please try again in 1.2s.',
        },
      };
      this.#steps.push({ atMs: atMs + 20, run: () => {} });
    } else {
      if (reply.say !== '') atMs = this.#speak(reply.say, atMs);
      for (const [index, call] of reply.calls.entries()) {
        if (this.#end.status !== 'completed') break;
        atMs = this.#call(call, index, atMs);
      }
    }
    this.#run();
  }

  #run(): void {
    if (this.#state !== 'running') return;
    const nowMs = this.#o.clock.now() + 1;
    for (;;) {
      const step = this.#steps[this.#next];
      if (step === undefined || this.#state !== 'running') break;
      if (this.#cut !== null && step.atMs > this.#cut.atMs) break;
      if (step.atMs > nowMs) break;
      this.#next++;
      step.run();
    }
    if (this.#state !== 'running') return;
    const step = this.#steps[this.#next];
    const cutMs = this.#cut?.atMs ?? Number.POSITIVE_INFINITY;
    // A silent response has no steps and ends only by being cancelled.
    const over = this.#steps.length > 0 && step === undefined;
    if (over || cutMs <= nowMs) {
      if (this.#cut !== null) this.#end = { status: this.#cut.status, reason: this.#cut.reason };
      this.#finish();
      return;
    }
    const nextMs = Math.min(step?.atMs ?? Number.POSITIVE_INFINITY, cutMs);
    if (Number.isFinite(nextMs)) this.#timer = this.#o.clock.at(nextMs, () => this.#run());
  }

  #finish(): void {
    this.#closeItem?.(this.#end.status === 'completed' ? 'completed' : 'incomplete');
    this.#closeItem = null;
    this.#state = 'done';
    const { emit } = this.#o;
    emit({ type: 'response.done', response: this.#wire() });
    emit({
      type: 'rate_limits.updated',
      rate_limits: [
        {
          name: 'tokens',
          limit: 200_000,
          remaining: 200_000 - this.#input.text - this.#input.audio,
          reset_seconds: 0.3,
        },
      ],
    });
    this.#o.onDone({ status: this.#end.status, audioMs: this.#audioMs, input: this.#input });
  }

  #addItem(item: Item, outputIndex: number): void {
    const { emit, conversation } = this.#o;
    this.#output.push(item);
    emit({
      type: 'response.output_item.added',
      response_id: this.id,
      output_index: outputIndex,
      item: wireItem(item),
    });
    if (conversation === null) return;
    conversation.items.add(item);
    emit({
      type: 'conversation.item.added',
      previous_item_id: conversation.items.previousId(item.id),
      item: wireItem(item),
    });
  }

  #endItem(item: Item, outputIndex: number): void {
    const { emit, conversation } = this.#o;
    emit({
      type: 'response.output_item.done',
      response_id: this.id,
      output_index: outputIndex,
      item: wireItem(item),
    });
    // A client may have deleted it while it was being spoken.
    if (conversation?.items.find(item.id) === undefined) return;
    emit({
      type: 'conversation.item.done',
      previous_item_id: conversation.items.previousId(item.id),
      item: wireItem(item),
    });
  }

  /** Plans a spoken (or written) message; answers when its last piece leaves. */
  #speak(say: string, startMs: number): number {
    const { random, pacing, voice, format, modality, fault, newId, emit } = this.#o;
    const utterance = voice.speak(say);
    const item: Item = {
      id: newId('item'),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    const audio = modality === 'audio';
    const part: Part = audio
      ? { type: 'output_audio', transcript: '', audioMs: 0, generated: { text: '', words: [] } }
      : { type: 'output_text', text: '' };
    const place = { response_id: this.id, item_id: item.id, output_index: 0, content_index: 0 };
    const firstMs = startMs + draw(random, pacing.firstAudioMs);
    let opened = false;
    let spoken = '';
    const endPart = () => {
      if (!opened) return;
      if (audio) {
        emit({ type: 'response.output_audio.done', ...place });
        emit({ type: 'response.output_audio_transcript.done', ...place, transcript: spoken });
        emit({ type: 'response.content_part.done', ...place, part: { type: 'audio', transcript: spoken } });
      } else {
        emit({ type: 'response.output_text.done', ...place, text: spoken });
        emit({ type: 'response.content_part.done', ...place, part: { type: 'text', text: spoken } });
      }
    };
    this.#steps.push({
      atMs: startMs + (firstMs - startMs) / 2,
      run: () => {
        this.#addItem(item, 0);
        emit({
          type: 'response.content_part.added',
          ...place,
          part: audio ? { type: 'audio', transcript: '' } : { type: 'text', text: '' },
        });
        item.content = [part];
        opened = true;
        this.#closeItem = (status) => {
          item.status = status;
          endPart();
          this.#endItem(item, 0);
        };
      },
    });
    const bytesPerMs = BYTES_PER_MS[format.type];
    const bytes = audio ? voice.encode(utterance, format.type) : Buffer.alloc(0);
    const cutMs = this.#cutOf(utterance, fault);
    const audioBytes = cutMs === null ? bytes.length : Math.min(bytes.length, Math.round(cutMs) * bytesPerMs);
    const words: readonly SpokenWord[] =
      cutMs === null ? utterance.words : utterance.words.filter((word) => word.startMs <= cutMs);
    if (part.audio === undefined && audio) part.audio = { bytes, format: format.type };
    const plan = planSpeech(
      {
        audioBytes,
        bytesPerMs,
        sampleBytes: format.type === 'audio/pcm' ? 2 : 1,
        words,
        ...(fault?.kind === 'stall'
          ? { stall: { afterMs: fault.after_ms ?? 1000, forMs: fault.ms ?? 30_000 } }
          : {}),
      },
      pacing,
      random,
    );
    let endMs = firstMs;
    for (const step of plan) {
      endMs = firstMs + step.atMs;
      this.#steps.push({
        atMs: endMs,
        run: () => {
          if (step.kind === 'transcript') {
            spoken += step.delta;
            if (part.truncatedMs === undefined) part[audio ? 'transcript' : 'text'] = spoken;
            if (part.generated !== undefined)
              part.generated = { text: spoken, words: utterance.words.slice(0, spoken.split(' ').length) };
            const type = audio ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
            emit({ type, ...place, delta: step.delta });
            return;
          }
          if (!this.#firstAudioTold) {
            this.#firstAudioTold = true;
            this.#o.onFirstAudio();
          }
          emit({
            type: 'response.output_audio.delta',
            ...place,
            delta: bytes.toString('base64', step.from, step.to),
          });
          part.audioMs = step.to / bytesPerMs;
          this.#audioMs = part.audioMs;
          this.#o.onSound(
            decodeMulaw(
              utterance.mulaw.subarray(
                Math.round((step.from / bytesPerMs) * 8),
                Math.round(part.audioMs * 8),
              ),
            ),
          );
        },
      });
    }
    if (cutMs !== null) {
      const reason = fault?.kind === 'content_filter' ? 'content_filter' : 'max_output_tokens';
      this.#steps.push({ atMs: endMs, run: () => {} });
      this.#end = { status: 'incomplete', reason };
      return endMs;
    }
    this.#steps.push({
      atMs: endMs,
      run: () => {
        this.#closeItem?.('completed');
        this.#closeItem = null;
      },
    });
    return endMs;
  }

  /** Where a response is cut by a filter or its token limit, ms of audio; null when it is not. */
  #cutOf(utterance: Utterance, fault: Fault | null): number | null {
    if (fault?.kind === 'content_filter' || fault?.kind === 'max_output_tokens') return fault.after_ms ?? 600;
    const { maxTokens } = this.#o;
    if (maxTokens === 'inf') return null;
    const needed = agentTokens(utterance.audioMs) + textTokens(utterance.text);
    return needed <= maxTokens ? null : Math.floor((utterance.audioMs * maxTokens) / needed);
  }

  /** Plans a function call; answers when its last piece leaves. */
  #call(call: { name: string; arguments: string }, index: number, startMs: number): number {
    const { random, pacing, fault, newId, emit } = this.#o;
    const outputIndex = index + (this.#reply?.say === '' ? 0 : 1);
    const item: Item = {
      id: newId('item'),
      type: 'function_call',
      status: 'in_progress',
      name: call.name,
      call_id: newId('call'),
      arguments: '',
    };
    const text = fault?.kind === 'invalid_arguments' ? `${call.arguments.slice(0, -1)},"cut` : call.arguments;
    const place = {
      response_id: this.id,
      item_id: item.id,
      output_index: outputIndex,
      call_id: item.call_id,
    };
    let atMs = startMs + draw(random, pacing.firstAudioMs) / 4;
    this.#steps.push({
      atMs,
      run: () => {
        this.#addItem(item, outputIndex);
        this.#closeItem = (status) => {
          item.status = status;
          this.#endItem(item, outputIndex);
        };
      },
    });
    for (let at = 0; at < text.length; at += ARGUMENT_CHARACTERS) {
      atMs += ARGUMENT_GAP_MS;
      this.#steps.push({
        atMs,
        run: () => {
          const delta = text.slice(at, at + ARGUMENT_CHARACTERS);
          item.arguments += delta;
          emit({ type: 'response.function_call_arguments.delta', ...place, delta });
        },
      });
    }
    this.#steps.push({
      atMs,
      run: () => {
        emit({ type: 'response.function_call_arguments.done', ...place, name: call.name, arguments: text });
        this.#closeItem?.('completed');
        this.#closeItem = null;
      },
    });
    return atMs;
  }
}
