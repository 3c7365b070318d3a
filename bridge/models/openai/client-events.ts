// PURE. What we send to an OpenAI Realtime server, but for audio: https://platform.openai.com/docs/api-reference/realtime-client-events.
// Every event is a JSON text; the `event_id`s are the caller's, to know later which one an error is about.
import type {
  ConversationItem,
  RealtimeAudioInputTurnDetection,
  RealtimeClientEvent,
} from 'openai/resources/realtime/realtime';
import type { ModelConfig } from '../model.ts';
import { formatFor, wireFormat } from './formats.ts';

const encode = (event: RealtimeClientEvent): string => JSON.stringify(event);

/** What the server hears before it takes a sound for speech; also taken off its word of where speech began. */
export const PREFIX_PADDING_MS = 300;
/** As long as our own rules wait for in the ordinary case; the server's default is not the same in all its documents. */
const SILENCE_MS = 600;

/** How the server is to tell turns. It only tells: answers and interruptions stay ours, they hang on what was heard. */
function turnDetection(config: ModelConfig): RealtimeAudioInputTurnDetection | null {
  const tells = { create_response: false, interrupt_response: false } as const;
  switch (config.turnDetection ?? 'local') {
    case 'local':
      return null;
    case 'server_vad':
      return {
        type: 'server_vad',
        threshold: 0.5,
        prefix_padding_ms: PREFIX_PADDING_MS,
        silence_duration_ms: SILENCE_MS,
        ...tells,
      };
    case 'semantic_vad':
      return { type: 'semantic_vad', eagerness: 'auto', ...tells };
  }
}

/**
 * The whole configuration of a session, sent once, before any audio: one format both ways, and who tells the turns.
 * Fields that only some models know (reasoning, parallel_tool_calls) are left out: an unknown one refuses all.
 */
export function sessionUpdate(config: ModelConfig, eventId: string): string {
  const format = wireFormat(formatFor(config.line));
  const transcription =
    config.transcriptionModel === null
      ? null
      : {
          model: config.transcriptionModel,
          ...(config.language === null ? {} : { language: config.language }),
        };
  return encode({
    type: 'session.update',
    event_id: eventId,
    session: {
      type: 'realtime',
      instructions: config.instructions,
      output_modalities: ['audio'],
      audio: {
        input: {
          format,
          turn_detection: turnDetection(config),
          ...(transcription === null ? {} : { transcription }),
        },
        output: { format, voice: config.voice },
      },
      tools: config.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
      })),
      tool_choice: 'auto',
    },
  });
}

export function commitAudio(eventId: string): string {
  return encode({ type: 'input_audio_buffer.commit', event_id: eventId });
}

export function clearAudio(eventId: string): string {
  return encode({ type: 'input_audio_buffer.clear', event_id: eventId });
}

/** `instructions` replace the session's for this response. The metadata comes back on its events. */
export function createResponse(eventId: string, instructions: string | null): string {
  return encode({
    type: 'response.create',
    event_id: eventId,
    response: { metadata: { request_id: eventId }, ...(instructions === null ? {} : { instructions }) },
  });
}

export function cancelResponse(eventId: string, responseId: string): string {
  return encode({ type: 'response.cancel', event_id: eventId, response_id: responseId });
}

/** Cuts an item's audio, and with it the server's transcript, at a whole millisecond. */
export function truncateItem(eventId: string, itemId: string, audioEndMs: number): string {
  return encode({
    type: 'conversation.item.truncate',
    event_id: eventId,
    item_id: itemId,
    content_index: 0,
    audio_end_ms: audioEndMs,
  });
}

export function deleteItem(eventId: string, itemId: string): string {
  return encode({ type: 'conversation.item.delete', event_id: eventId, item_id: itemId });
}

/** What can be told to a session without audio. `id` is ours (short: its longest is UNVERIFIED); null lets the server choose. */
export type SaidItem =
  | { kind: 'text'; id: string | null; role: 'system' | 'user' | 'assistant'; text: string }
  | { kind: 'tool-call'; id: string | null; toolCallId: string; name: string; argumentsJson: string }
  | { kind: 'tool-output'; id: string | null; toolCallId: string; output: string };

/** Adds an item at the conversation's end, or after `after`. */
export function createItem(eventId: string, said: SaidItem, after?: string): string {
  return encode({
    type: 'conversation.item.create',
    event_id: eventId,
    ...(after === undefined ? {} : { previous_item_id: after }),
    item: conversationItem(said),
  });
}

function conversationItem(said: SaidItem): ConversationItem {
  const id = said.id === null ? {} : { id: said.id };
  switch (said.kind) {
    case 'text':
      // Audio of the assistant cannot be told again, its text can.
      if (said.role === 'assistant')
        return {
          ...id,
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: said.text }],
        };
      return said.role === 'user'
        ? { ...id, type: 'message', role: 'user', content: [{ type: 'input_text', text: said.text }] }
        : { ...id, type: 'message', role: 'system', content: [{ type: 'input_text', text: said.text }] };
    case 'tool-call':
      return {
        ...id,
        type: 'function_call',
        call_id: said.toolCallId,
        name: said.name,
        arguments: said.argumentsJson,
      };
    case 'tool-output':
      return { ...id, type: 'function_call_output', call_id: said.toolCallId, output: said.output };
  }
}
