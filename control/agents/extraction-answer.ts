// What an extraction model's HTTP answer means, in either of the two interfaces: its text, or why there is none. PURE.
import { z } from 'zod';

export interface Failure {
  code: string;
  error: string;
  retry: boolean;
  /** How long the server asks to wait. */
  afterMs?: number | undefined;
  /** The answer did not fit. */
  grow?: boolean;
}

/** What an answer used up, a useless one too. Cached tokens are among the input's. */
export interface Tokens {
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

/** One try: the model's text, or why there is none. */
export type Try = ({ text: string } & Tokens) | (Failure & Partial<Tokens>) | 'no_such_api';

// What the two answers hold that counts. Servers that copy these interfaces leave much out.
const count = z.number().catch(0);
const responsesAnswer = z.object({
  status: z.string().nullish(),
  error: z.object({ code: z.string().nullish() }).nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(
    z.object({
      type: z.string(),
      content: z
        .array(z.object({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() }))
        .nullish()
        .catch(null),
    }),
  ),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});
const chatAnswer = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

const REFUSED: Failure = { code: 'refused', error: 'The extraction model refused to answer.', retry: false };
const FILTERED: Failure = {
  code: 'content_filter',
  error: "The extraction model's content filter stopped its answer.",
  retry: false,
};
const TOO_LONG: Failure = {
  code: 'truncated',
  error: "The extraction model's answer was cut off before its end.",
  retry: true,
  grow: true,
};
export const NO_JSON: Failure = {
  code: 'no_json',
  error: 'The extraction model did not answer with the JSON it was asked for.',
  retry: true,
};
export const TIMED_OUT: Failure = {
  code: 'timeout',
  error: 'The extraction model did not answer in time.',
  retry: true,
};

/** The body of POST /responses. A model may say a few words before it refuses: any refusal counts. */
export function readResponsesAnswer(body: unknown): Try {
  const read = responsesAnswer.safeParse(body);
  if (!read.success) return NO_JSON;
  const { status, incomplete_details: incomplete, output, usage } = read.data;
  const used: Tokens = {
    inputTokens: usage?.input_tokens ?? 0,
    cachedTokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
  };
  if (status === 'incomplete')
    return { ...(incomplete?.reason === 'content_filter' ? FILTERED : TOO_LONG), ...used };
  if (status === 'failed' || status === 'cancelled') {
    return {
      code: `response_${read.data.error?.code?.replace(/[^a-z0-9_]/g, '').slice(0, 40) || status}`,
      error: 'The extraction model failed while it answered.',
      retry: true,
      ...used,
    };
  }
  const messages = output.filter((item) => item.type === 'message');
  if (messages.some((item) => item.content?.some((part) => part.type === 'refusal')))
    return { ...REFUSED, ...used };
  // Reasoning and remarks come first; the answer is the last message.
  const text = (messages.at(-1)?.content ?? [])
    .filter((part) => part.type === 'output_text')
    .map((part) => part.text ?? '')
    .join('');
  return { text, ...used };
}

/** The body of POST /chat/completions. */
export function readChatAnswer(body: unknown): Try {
  const read = chatAnswer.safeParse(body);
  const choice = read.data?.choices[0];
  if (choice === undefined) return NO_JSON;
  const usage = read.data?.usage;
  const used: Tokens = {
    inputTokens: usage?.prompt_tokens ?? 0,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
  };
  if (choice.message.refusal) return { ...REFUSED, ...used };
  if (choice.finish_reason === 'content_filter') return { ...FILTERED, ...used };
  if (choice.finish_reason === 'length') return { ...TOO_LONG, ...used };
  return { text: choice.message.content ?? '', ...used };
}
