// PURE. The events of an OpenAI Realtime server after JSON.parse (GA names, and the beta's by alias), read tolerantly:
// https://platform.openai.com/docs/api-reference/realtime-server-events. What an event means is the session's.
import * as z from 'zod';
import type { Usage } from '../model.ts';

export interface OutputItem {
  itemId: string;
  kind: 'message' | 'tool-call' | 'other';
  /** `completed`, `incomplete`, `in_progress`, or what the server says. */
  status: string;
  toolCallId: string;
  name: string;
  argumentsJson: string;
}

/** A server event, decoded. `payload` is in the session's format and only valid until the next decode. */
export type ModelEvent =
  | { type: 'audio'; responseId: string; itemId: string; payload: Buffer }
  | { type: 'audio-done'; responseId: string; itemId: string }
  | { type: 'text'; responseId: string; itemId: string; delta: string }
  | { type: 'text-done'; responseId: string; itemId: string; text: string }
  | { type: 'session-created'; expiresAt: number | null }
  | {
      type: 'session-updated';
      expiresAt: number | null;
      inputFormat: string;
      outputFormat: string;
      turnDetection: string | null;
    }
  | { type: 'committed'; itemId: string }
  | { type: 'item-deleted'; itemId: string }
  /** Milliseconds of all audio ever appended to this session. */
  | { type: 'speech-started'; atMs: number }
  | { type: 'speech-stopped'; atMs: number }
  | { type: 'transcript'; itemId: string; text: string | null; usage: Partial<Usage> }
  | { type: 'output-item'; responseId: string; done: boolean; item: OutputItem }
  | { type: 'response-created'; responseId: string; requestId: string | null }
  | {
      type: 'response-done';
      responseId: string;
      requestId: string | null;
      status: 'completed' | 'cancelled' | 'incomplete' | 'failed';
      reason: string | null;
      errorCode: string | null;
      errorMessage: string | null;
      items: OutputItem[];
      usage: Partial<Usage>;
    }
  | { type: 'error'; code: string; message: string; param: string | null; eventId: string | null }
  | { type: 'ignored'; event: string }
  | { type: 'malformed'; why: string };

/** Names of the beta dialect, and of servers that never left it. */
const ALIASES: Record<string, string> = {
  'response.audio.delta': 'response.output_audio.delta',
  'response.audio.done': 'response.output_audio.done',
  'response.audio_transcript.delta': 'response.output_audio_transcript.delta',
  'response.audio_transcript.done': 'response.output_audio_transcript.done',
  'response.text.delta': 'response.output_text.delta',
  'response.text.done': 'response.output_text.done',
  'conversation.item.created': 'conversation.item.added',
};

// ---- schemas: only what is used is asked for, and what a server may leave out has a default ----

const text = z.string().catch('');
const count = z.number().nonnegative().catch(0);
const delta = z.looseObject({ response_id: z.string(), item_id: z.string(), delta: z.string() });
type Delta = z.infer<typeof delta>;
const audioDone = z.looseObject({ response_id: z.string(), item_id: z.string() });
const textDone = z.looseObject({ response_id: z.string(), item_id: z.string(), transcript: text, text });

const item = z
  .looseObject({ id: z.string(), type: text, status: text, call_id: text, name: text, arguments: text })
  .transform(
    (it): OutputItem => ({
      itemId: it.id,
      kind: it.type === 'message' ? 'message' : it.type === 'function_call' ? 'tool-call' : 'other',
      status: it.status,
      toolCallId: it.call_id,
      name: it.name,
      argumentsJson: it.arguments,
    }),
  );
const outputItem = z.looseObject({ response_id: z.string(), item });

const format = z.looseObject({ type: text }).nullish();
// A missing turn_detection reads as none: servers leave null fields out, and the hostile default is always named.
const detection = z.looseObject({ type: text }).nullish();
const session = z.looseObject({
  session: z.looseObject({
    expires_at: z.number().nullish(),
    audio: z
      .looseObject({
        input: z.looseObject({ format, turn_detection: detection }).nullish(),
        output: z.looseObject({ format }).nullish(),
      })
      .nullish(),
    // The beta's flat names.
    input_audio_format: z.string().nullish(),
    output_audio_format: z.string().nullish(),
    turn_detection: detection,
  }),
});

const transcriptUsage = z
  .looseObject({ type: text, seconds: count, total_tokens: count })
  .nullish()
  .catch(null);
const transcript = z.looseObject({ item_id: z.string(), transcript: text, usage: transcriptUsage });
const withItemId = z.looseObject({ item_id: z.string() });

const metadata = z
  .looseObject({ request_id: z.string().nullish().catch(null) })
  .nullish()
  .catch(null);
const tokens = z.looseObject({ text_tokens: count, audio_tokens: count }).nullish().catch(null);
const usage = z
  .looseObject({
    input_token_details: z
      .looseObject({ text_tokens: count, audio_tokens: count, cached_tokens_details: tokens })
      .nullish()
      .catch(null),
    output_token_details: tokens,
  })
  .nullish()
  .catch(null);
const response = z.looseObject({
  response: z.looseObject({
    id: z.string(),
    status: text,
    metadata,
    status_details: z
      .looseObject({
        reason: z.string().nullish().catch(null),
        error: z
          .looseObject({
            code: z.string().nullish(),
            type: z.string().nullish(),
            message: z.string().nullish(),
          })
          .nullish()
          .catch(null),
      })
      .nullish()
      .catch(null),
    output: z.array(item).catch([]),
    usage,
  }),
});

const speechAt = z.looseObject({
  audio_start_ms: z.number().catch(0),
  audio_end_ms: z.number().catch(0),
});

const error = z.looseObject({
  // Some servers send a bare text.
  error: z.union([
    z.string().transform((message) => ({ message, code: '', type: '', param: null, event_id: null })),
    z.looseObject({
      code: text,
      type: text,
      message: text,
      param: z.string().nullish().catch(null),
      event_id: z.string().nullish().catch(null),
    }),
  ]),
});

/**
 * A server event after JSON.parse. Never throws: what is not the protocol is `malformed`, what is of no use `ignored`.
 * `decodeAudio` reads base64, null where it is none.
 */
export function decodeServerEvent(event: unknown, decodeAudio: (text: string) => Buffer | null): ModelEvent {
  const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
  if (typeof type !== 'string') return { type: 'malformed', why: 'no type' };
  const name = Object.hasOwn(ALIASES, type) ? ALIASES[type]! : type;
  try {
    return decodeNamed(name, event, decodeAudio);
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    return { type: 'malformed', why: `${name.slice(0, 60)}: ${cause.issues[0]?.path.join('.') ?? ''}` };
  }
}

function decodeNamed(name: string, event: unknown, decodeAudio: (text: string) => Buffer | null): ModelEvent {
  switch (name) {
    case 'response.output_audio.delta': {
      const it = deltaOf(event);
      const payload = decodeAudio(it.delta);
      if (payload === null) return { type: 'malformed', why: 'audio is not base64' };
      return { type: 'audio', responseId: it.response_id, itemId: it.item_id, payload };
    }
    case 'response.output_audio_transcript.delta':
    case 'response.output_text.delta': {
      const it = deltaOf(event);
      return { type: 'text', responseId: it.response_id, itemId: it.item_id, delta: it.delta };
    }
    case 'response.output_audio.done': {
      const it = audioDone.parse(event);
      return { type: 'audio-done', responseId: it.response_id, itemId: it.item_id };
    }
    case 'response.output_audio_transcript.done':
    case 'response.output_text.done': {
      const it = textDone.parse(event);
      return {
        type: 'text-done',
        responseId: it.response_id,
        itemId: it.item_id,
        text: it.transcript || it.text,
      };
    }
    case 'response.output_item.added':
    case 'response.output_item.done': {
      const it = outputItem.parse(event);
      return { type: 'output-item', responseId: it.response_id, done: name.endsWith('.done'), item: it.item };
    }
    case 'response.created': {
      const it = response.parse(event).response;
      return { type: 'response-created', responseId: it.id, requestId: it.metadata?.request_id ?? null };
    }
    case 'response.done':
      return decodeResponseDone(response.parse(event).response);
    case 'input_audio_buffer.speech_started':
      return { type: 'speech-started', atMs: speechAt.parse(event).audio_start_ms };
    case 'input_audio_buffer.speech_stopped':
      return { type: 'speech-stopped', atMs: speechAt.parse(event).audio_end_ms };
    case 'input_audio_buffer.committed':
      return { type: 'committed', itemId: withItemId.parse(event).item_id };
    case 'conversation.item.deleted':
      return { type: 'item-deleted', itemId: withItemId.parse(event).item_id };
    case 'conversation.item.input_audio_transcription.completed': {
      const it = transcript.parse(event);
      return {
        type: 'transcript',
        itemId: it.item_id,
        text: it.transcript,
        usage: transcriptionUsage(it.usage),
      };
    }
    case 'conversation.item.input_audio_transcription.failed':
      return { type: 'transcript', itemId: withItemId.parse(event).item_id, text: null, usage: {} };
    case 'session.created':
      return { type: 'session-created', expiresAt: session.parse(event).session.expires_at ?? null };
    case 'session.updated':
      return decodeSessionUpdated(session.parse(event).session);
    case 'error': {
      const it = error.parse(event).error;
      const code = it.code || it.type || 'unknown';
      return {
        type: 'error',
        code,
        message: it.message,
        param: it.param ?? null,
        eventId: it.event_id ?? null,
      };
    }
    default:
      return { type: 'ignored', event: name.slice(0, 80) };
  }
}

/** Deltas come many times a second: the schema looks at those that are odd. */
function deltaOf(event: unknown): Delta {
  const it = event as Delta;
  const plain =
    typeof it.response_id === 'string' && typeof it.item_id === 'string' && typeof it.delta === 'string';
  return plain ? it : delta.parse(event);
}

function decodeSessionUpdated(it: z.infer<typeof session>['session']): ModelEvent {
  const detected = it.audio?.input?.turn_detection ?? it.turn_detection;
  return {
    type: 'session-updated',
    expiresAt: it.expires_at ?? null,
    inputFormat: it.audio?.input?.format?.type ?? it.input_audio_format ?? '',
    outputFormat: it.audio?.output?.format?.type ?? it.output_audio_format ?? '',
    turnDetection: detected ? detected.type || 'unknown' : null,
  };
}

function decodeResponseDone(it: z.infer<typeof response>['response']): ModelEvent {
  const details = it.status_details;
  const known = ['completed', 'cancelled', 'incomplete', 'failed'] as const;
  return {
    type: 'response-done',
    responseId: it.id,
    requestId: it.metadata?.request_id ?? null,
    status: known.find((status) => status === it.status) ?? 'failed',
    reason: details?.reason ?? null,
    errorCode: details?.error ? (details.error.code ?? details.error.type ?? 'unknown') : null,
    errorMessage: details?.error?.message ?? null,
    items: it.output,
    usage: responseUsage(it.usage),
  };
}

/** Raw counts: the cached ones are part of the input's. */
function responseUsage(it: z.infer<typeof usage>): Partial<Usage> {
  if (!it) return {};
  const used: Partial<Usage> = {};
  const input = it.input_token_details;
  if (input) {
    used.input_text_tokens = input.text_tokens;
    used.input_audio_tokens = input.audio_tokens;
    used.cached_text_tokens = input.cached_tokens_details?.text_tokens ?? 0;
    used.cached_audio_tokens = input.cached_tokens_details?.audio_tokens ?? 0;
  }
  if (it.output_token_details) {
    used.output_text_tokens = it.output_token_details.text_tokens;
    used.output_audio_tokens = it.output_token_details.audio_tokens;
  }
  return used;
}

function transcriptionUsage(it: z.infer<typeof transcriptUsage>): Partial<Usage> {
  if (!it) return {};
  if (it.type === 'duration') return { transcription_seconds: it.seconds };
  return it.total_tokens > 0 ? { transcription_tokens: it.total_tokens } : {};
}
