// The caller's side of a session: audio appended, committed or cleared, turns taken by the server where it is asked to,
// and the transcription that goes its own way beside the responses.
import type { Cancel, Clock } from './clock.ts';
import { type Conversation, type Item, type Part, wireItem } from './conversation.ts';
import type { Faults } from './faults.ts';
import type { Ears } from './hearing.ts';
import { Decoder, EnergyVad, HEARING_RATE_HZ, InputBuffer } from './input-buffer.ts';
import { draw, type Random } from './pacing.ts';
import { type ApiError, invalidRequest } from './protocol.ts';
import type { SessionRecord, WavRecording } from './record.ts';
import type { Scenario } from './scenario.ts';
import type { SessionConfig } from './session-config.ts';
import { callerTokens, textTokens } from './usage.ts';
import { BYTES_PER_MS } from './voice.ts';

/** A commit of less is refused. */
const LEAST_COMMIT_MS = 100;
/** Semantic detection looks at the words after so much silence, and waits so long at most for the rest of them. */
const SEMANTIC_LOOK_MS = 300;
const SEMANTIC_WAIT_MS = { high: 2_000, medium: 4_000, auto: 4_000, low: 8_000 } as const;
/** Louder than an idle line: there was something that could have been understood. */
const AUDIBLE = 120;

export interface CallerAudioOptions {
  session: string;
  clock: Clock;
  random: Random;
  ears: () => Ears;
  faults: Faults;
  record: SessionRecord;
  recording: WavRecording | null;
  conversation: Conversation;
  scenario: () => Scenario;
  config: () => SessionConfig;
  configured: () => boolean;
  newId: (prefix: string) => string;
  emit: (event: Record<string, unknown> & { type: string }) => void;
  /** Asks for a response, as the server does for itself. */
  respond: () => void;
  interrupt: () => void;
  onCommit: () => void;
}

/** Models whose transcription is counted by the length of the audio. */
const BY_DURATION = /^(whisper|gpt-transcribe|gpt-live-transcribe|gpt-realtime-whisper)/;

export class CallerAudio {
  readonly #o: CallerAudioOptions;
  #buffer = new InputBuffer();
  #decoder: Decoder;
  #vad: EnergyVad | null = null;
  #turnItemId: string | null = null;
  /** Semantic detection: since when a sentence that is not complete has paused. */
  #unfinished: number | null = null;
  #idle: Cancel = () => {};
  #closed = false;
  /** All audio ever appended, ms. */
  totalMs = 0;
  committedMs = 0;

  constructor(options: CallerAudioOptions) {
    this.#o = options;
    this.#decoder = new Decoder(options.config().audio.input.format.type);
  }

  bufferedMs(): number {
    return this.#buffer.bytes() / BYTES_PER_MS[this.#decoder.format];
  }

  close(): void {
    this.#closed = true;
    this.#idle();
  }

  append(base64: string): ApiError | null {
    const o = this.#o;
    const config = o.config();
    const format = config.audio.input.format.type;
    const bytes =
      /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0 ? Buffer.from(base64, 'base64') : null;
    if (bytes === null)
      return invalidRequest(
        'invalid_value',
        "Invalid 'audio'. Expected base64-encoded audio bytes.",
        'audio',
      );
    if (this.#decoder.format !== format) {
      // What was buffered in another format cannot be put together with this.
      this.#decoder = new Decoder(format);
      this.#buffer.take();
    }
    const ms = bytes.length / BYTES_PER_MS[format];
    o.record.appended(bytes.length, ms, o.clock.now(), o.configured());
    if (format === 'audio/pcm' && bytes.length % 2 !== 0)
      o.record.violate('odd_pcm', 'an append ended inside a 16-bit sample', o.clock.now());
    if (!o.configured())
      o.record.violate(
        'audio_before_configuration',
        'audio was appended before any session.updated',
        o.clock.now(),
      );
    const samples = this.#decoder.decode(bytes);
    o.recording?.write(samples);
    const startMs = this.totalMs;
    this.totalMs += ms;
    this.#buffer.append(bytes, samples);
    this.#watch(samples, startMs);
    return null;
  }

  clear(): void {
    this.#buffer.take();
    this.#o.emit({ type: 'input_audio_buffer.cleared' });
  }

  /** Makes the buffer a user item; the error when it holds too little. */
  commit(): ApiError | null {
    const ms = this.bufferedMs();
    if (ms < LEAST_COMMIT_MS) {
      this.#o.record.violate('commit_too_short', `committed ${ms.toFixed(2)} ms`, this.#o.clock.now());
      return invalidRequest(
        'input_audio_buffer_commit_empty',
        `Error committing input audio buffer: buffer too small. Expected at least ${LEAST_COMMIT_MS}ms of audio, but buffer only has ${ms.toFixed(2)}ms of audio.`,
      );
    }
    this.#commit(this.#o.newId('item'), ms);
    return null;
  }

  /** With an idle timeout configured, the server speaks up itself when nothing is said for that long after a reply. */
  onResponseDone(audioMs: number): void {
    this.#idle();
    const turns = this.#o.config().audio.input.turn_detection;
    if (turns?.type !== 'server_vad' || turns.idle_timeout_ms === null) return;
    const fromMs = this.totalMs + audioMs;
    this.#idle = this.#o.clock.after(audioMs + turns.idle_timeout_ms, () => {
      if (this.#closed || this.#vad?.speaking) return;
      const itemId = this.#o.newId('item');
      this.#o.emit({
        type: 'input_audio_buffer.timeout_triggered',
        audio_start_ms: Math.round(Math.min(fromMs, this.totalMs)),
        audio_end_ms: Math.round(this.totalMs),
        item_id: itemId,
      });
      this.#commit(itemId, this.bufferedMs());
      this.#o.respond();
    });
  }

  #watch(samples: Int16Array, startMs: number): void {
    const o = this.#o;
    const turns = o.config().audio.input.turn_detection;
    if (turns === null) {
      this.#vad = null;
      this.#turnItemId = null;
      this.#unfinished = null;
      return;
    }
    this.#vad ??= new EnergyVad(startMs);
    const silenceMs = turns.type === 'server_vad' ? turns.silence_duration_ms : SEMANTIC_LOOK_MS;
    const prefixMs = turns.type === 'server_vad' ? turns.prefix_padding_ms : 300;
    const threshold = turns.type === 'server_vad' ? turns.threshold : 0.5;
    for (const event of this.#vad.push(samples, threshold, silenceMs)) {
      if (event.type === 'started') {
        this.#idle();
        // He goes on with what was not complete: the same turn.
        if (this.#unfinished !== null) {
          this.#unfinished = null;
          continue;
        }
        this.#turnItemId = o.newId('item');
        o.emit({
          type: 'input_audio_buffer.speech_started',
          audio_start_ms: Math.round(Math.max(0, event.atMs - prefixMs)),
          item_id: this.#turnItemId,
        });
        if (turns.interrupt_response) o.interrupt();
      } else if (turns.type === 'semantic_vad' && !this.#soundsComplete()) {
        this.#unfinished = event.atMs;
      } else this.#stopped(event.atMs, turns.create_response);
    }
    if (this.#unfinished !== null && turns.type === 'semantic_vad') {
      const waitedMs = this.totalMs - this.#unfinished;
      if (waitedMs >= SEMANTIC_WAIT_MS[turns.eagerness]) this.#stopped(this.totalMs, turns.create_response);
    }
    // Between turns only the padding before a possible start is kept.
    if (!this.#vad.speaking && this.#unfinished === null && this.bufferedMs() > prefixMs + 2000) {
      const { bytes, samples: kept } = this.#buffer.take(prefixMs + 200);
      this.#buffer.append(bytes, kept);
    }
  }

  /** Whether the words so far end where a sentence does. Of sounds that are no known words nobody can say: they wait. */
  #soundsComplete(): boolean {
    const ears = this.#o.ears();
    return ears.isComplete(ears.recognize(this.#buffer.peek())) === true;
  }

  #stopped(atMs: number, respond: boolean): void {
    const o = this.#o;
    const itemId = this.#turnItemId ?? o.newId('item');
    this.#turnItemId = null;
    this.#unfinished = null;
    o.emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.round(atMs), item_id: itemId });
    this.#commit(itemId, this.bufferedMs());
    if (respond) o.respond();
  }

  #commit(itemId: string, ms: number): void {
    const o = this.#o;
    const { bytes, samples } = this.#buffer.take();
    this.committedMs += ms;
    const heard = o.ears().recognize(samples);
    const part: Part = {
      type: 'input_audio',
      transcript: null,
      audioMs: ms,
      heard: heard.text,
      audio: { bytes, format: this.#decoder.format },
    };
    const item: Item = { id: itemId, type: 'message', role: 'user', status: 'completed', content: [part] };
    const before = o.conversation.items.at(-1)?.id ?? null;
    o.conversation.add(item);
    o.emit({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id: before });
    o.emit({ type: 'conversation.item.added', previous_item_id: before, item: wireItem(item) });
    o.emit({ type: 'conversation.item.done', previous_item_id: before, item: wireItem(item) });
    o.record.log(
      'simulator',
      { type: 'heard', item_id: itemId, text: heard.text, audio_ms: Math.round(ms), matches: heard.matches },
      o.clock.now(),
      1,
    );
    this.#transcribe(item, part, samples);
    o.onCommit();
  }

  #transcribe(item: Item, part: Part, samples: Int16Array): void {
    const o = this.#o;
    const settings = o.config().audio.input.transcription;
    if (settings === null) return;
    const fault = o.faults.takeTranscription(o.session, o.config().instructions);
    if (fault?.kind === 'transcription_never') return;
    const { pacing, unclear } = o.scenario();
    const latencyMs =
      draw(o.random, pacing.transcriptionMs) +
      (fault?.kind === 'transcription_late' ? (fault.ms ?? 5000) : 0);
    const place = { item_id: item.id, content_index: 0 };
    let power = 0;
    for (const sample of samples) power += sample * sample;
    const audible = Math.sqrt(power / Math.max(1, samples.length)) > AUDIBLE;
    const text = fault?.kind === 'transcription_empty' ? '' : part.heard || (audible ? unclear : '');
    const words = text === '' ? [] : text.split(' ');
    const emit = (event: Record<string, unknown> & { type: string }) => {
      if (!this.#closed) o.emit(event);
    };
    if (fault?.kind === 'transcription_failed') {
      o.clock.after(latencyMs, () =>
        emit({
          type: 'conversation.item.input_audio_transcription.failed',
          ...place,
          error: {
            type: fault.error_type ?? 'server_error',
            code: fault.code ?? 'transcription_failed',
            message: fault.message ?? `Input transcription failed for item '${item.id}'.`,
            param: null,
          },
        }),
      );
      return;
    }
    const half = Math.ceil(words.length / 2);
    for (const [index, delta] of [words.slice(0, half).join(' '), words.slice(half).join(' ')].entries()) {
      if (delta === '') continue;
      o.clock.after(latencyMs * (0.6 + 0.2 * index), () =>
        emit({
          type: 'conversation.item.input_audio_transcription.delta',
          ...place,
          delta: index === 0 ? delta : ` ${delta}`,
        }),
      );
    }
    o.clock.after(latencyMs, () => {
      part.transcript = text;
      emit({
        type: 'conversation.item.input_audio_transcription.completed',
        ...place,
        transcript: text,
        usage: BY_DURATION.test(String(settings.model ?? ''))
          ? { type: 'duration', seconds: Math.round(samples.length / (HEARING_RATE_HZ / 1000)) / 1000 }
          : tokenUsage(part.audioMs ?? 0, text),
      });
    });
  }
}

function tokenUsage(audioMs: number, text: string): Record<string, unknown> {
  const audio = callerTokens(audioMs);
  const out = textTokens(text);
  return {
    type: 'tokens',
    total_tokens: audio + out,
    input_tokens: audio,
    input_token_details: { text_tokens: 0, audio_tokens: audio },
    output_tokens: out,
  };
}
