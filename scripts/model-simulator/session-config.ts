// PURE. A session's configuration: what the hosted API starts with, and how an update is laid over it or refused whole.
import { type ApiError, invalidRequest } from './protocol.ts';
import type { AudioFormat } from './voice.ts';

export interface ServerVad {
  type: 'server_vad';
  threshold: number;
  prefix_padding_ms: number;
  silence_duration_ms: number;
  create_response: boolean;
  interrupt_response: boolean;
  idle_timeout_ms: number | null;
}

export interface SemanticVad {
  type: 'semantic_vad';
  eagerness: 'low' | 'medium' | 'high' | 'auto';
  create_response: boolean;
  interrupt_response: boolean;
}

export interface FunctionTool {
  type: 'function';
  name: string;
  description?: string;
  parameters?: Record<string, unknown>;
}

export type Tool = FunctionTool | { type: 'mcp'; [field: string]: unknown };

export interface Format {
  type: AudioFormat;
  rate?: number;
}

export interface SessionConfig {
  type: 'realtime';
  object: 'realtime.session';
  id: string;
  model: string;
  expires_at: number;
  instructions: string;
  output_modalities: ['audio'] | ['text'];
  audio: {
    input: {
      format: Format;
      turn_detection: ServerVad | SemanticVad | null;
      transcription: Record<string, unknown> | null;
      noise_reduction: Record<string, unknown> | null;
    };
    output: { format: Format; voice: string | { id: string }; speed: number };
  };
  tools: Tool[];
  tool_choice: string | Record<string, unknown>;
  parallel_tool_calls: boolean;
  reasoning: { effort?: string } | null;
  max_output_tokens: number | 'inf';
  truncation: unknown;
  tracing: unknown;
  prompt: unknown;
  include: string[] | null;
}

const SERVER_VAD: ServerVad = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  // The reference says 500, the sample session in it 200; whoever cares has to set it.
  silence_duration_ms: 200,
  create_response: true,
  interrupt_response: true,
  idle_timeout_ms: null,
};
const SEMANTIC_VAD: SemanticVad = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
};

const pcm = (): Format => ({ type: 'audio/pcm', rate: 24000 });

/**
 * What a new session has in force before any update: the server takes the turns and answers by itself, audio is 24 kHz
 * PCM both ways, nothing is transcribed. Audio sent now is taken for what it is not.
 */
export function defaultConfig(id: string, model: string, expiresAtSeconds: number): SessionConfig {
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    expires_at: expiresAtSeconds,
    instructions: 'You are a helpful, witty, and friendly AI. Talk quickly.',
    output_modalities: ['audio'],
    audio: {
      input: { format: pcm(), turn_detection: { ...SERVER_VAD }, transcription: null, noise_reduction: null },
      output: { format: pcm(), voice: 'alloy', speed: 1 },
    },
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: null,
    max_output_tokens: 'inf',
    truncation: 'auto',
    tracing: null,
    prompt: null,
    include: null,
  };
}

const completeFormat = (format: Format): Format =>
  format.type === 'audio/pcm' ? { type: 'audio/pcm', rate: 24000 } : { type: format.type };

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Lays a (schema-checked) update over the configuration. Only fields that are present change; null, "" and [] clear.
 * Answers the new configuration, or the error for which all of the update is thrown away.
 */
export function updateConfig(
  config: SessionConfig,
  update: Record<string, unknown>,
  voiceIsFixed: boolean,
): { config: SessionConfig } | { error: ApiError } {
  const { audio, type: _, model, ...rest } = update as Partial<SessionConfig> & { type: string };
  if (model !== undefined && model !== config.model)
    // UNVERIFIED which code; that the model cannot change is documented.
    return {
      error: invalidRequest('invalid_value', 'The model of a session cannot be changed.', 'session.model'),
    };
  if (
    rest.reasoning?.effort !== undefined &&
    !/^gpt-realtime-([2-9]|\d\d)|^(?!gpt-realtime)/.test(config.model)
  )
    return {
      error: invalidRequest(
        'unknown_parameter',
        "Unknown parameter: 'session.reasoning'.",
        'session.reasoning',
      ),
    };
  const next: SessionConfig = {
    ...config,
    ...rest,
    audio: { input: { ...config.audio.input }, output: { ...config.audio.output } },
  };
  const input = audio?.input as Partial<SessionConfig['audio']['input']> | undefined;
  const output = audio?.output as Partial<SessionConfig['audio']['output']> | undefined;
  if (input?.format !== undefined) next.audio.input.format = completeFormat(input.format);
  if (input?.turn_detection !== undefined) {
    const turns = input.turn_detection;
    if (turns === null) next.audio.input.turn_detection = null;
    else {
      const before = config.audio.input.turn_detection;
      const base =
        before?.type === turns.type ? before : turns.type === 'server_vad' ? SERVER_VAD : SEMANTIC_VAD;
      next.audio.input.turn_detection = { ...base, ...turns } as ServerVad | SemanticVad;
    }
  }
  if (input?.transcription !== undefined) next.audio.input.transcription = input.transcription;
  if (input?.noise_reduction !== undefined) next.audio.input.noise_reduction = input.noise_reduction;
  if (output?.format !== undefined) next.audio.output.format = completeFormat(output.format);
  if (output?.speed !== undefined) next.audio.output.speed = output.speed;
  if (output?.voice !== undefined) {
    if (voiceIsFixed && !equal(output.voice, config.audio.output.voice))
      return {
        error: invalidRequest(
          'cannot_update_voice',
          "Cannot update a conversation's voice if assistant audio is present.",
          'session.audio.output.voice',
        ),
      };
    next.audio.output.voice = output.voice;
  }
  return { config: next };
}
