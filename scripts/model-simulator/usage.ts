// PURE. Token figures of a response, in the proportions of the published prices: 10 tokens a second of caller audio,
// 20 a second of agent audio, a token for four characters of text; the whole context counts each time.
import type { Item } from './conversation.ts';

const AGENT_MS_PER_TOKEN = 50;
const CALLER_MS_PER_TOKEN = 100;
const CHARACTERS_PER_TOKEN = 4;

export interface Tokens {
  text: number;
  audio: number;
}

export const textTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
export const callerTokens = (ms: number): number => Math.ceil(ms / CALLER_MS_PER_TOKEN);
export const agentTokens = (ms: number): number => Math.ceil(ms / AGENT_MS_PER_TOKEN);

/** What the context costs as input. `fixed` is everything that is no item: instructions and tools, as text. */
export function contextTokens(fixed: string, items: readonly Item[]): Tokens {
  const tokens = { text: textTokens(fixed), audio: 0 };
  for (const item of items) {
    tokens.text += textTokens((item.name ?? '') + (item.arguments ?? '') + (item.output ?? ''));
    for (const part of item.content ?? []) {
      if (part.type === 'input_audio') tokens.audio += callerTokens(part.audioMs ?? 0);
      else if (part.type === 'output_audio')
        tokens.audio += agentTokens(
          Math.min(part.truncatedMs ?? Number.POSITIVE_INFINITY, part.audioMs ?? 0),
        );
      else tokens.text += textTokens(part.text ?? '');
    }
  }
  return tokens;
}

/** The `usage` of response.done. `previous` is the input of the response before: that much at most comes from the cache. */
export function usageOf(input: Tokens, output: Tokens, previous: Tokens | null): Record<string, unknown> {
  // Caching works in blocks of 64 tokens and never covers audio and text that was not there before.
  const block = (tokens: number) => tokens - (tokens % 64);
  const cached =
    previous === null
      ? { text: 0, audio: 0 }
      : {
          text: block(Math.min(input.text, previous.text)),
          audio: block(Math.min(input.audio, previous.audio)),
        };
  return {
    total_tokens: input.text + input.audio + output.text + output.audio,
    input_tokens: input.text + input.audio,
    output_tokens: output.text + output.audio,
    input_token_details: {
      text_tokens: input.text,
      audio_tokens: input.audio,
      image_tokens: 0,
      cached_tokens: cached.text + cached.audio,
      cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
}
