// Asks a model for the data of a call: Responses API, or Chat Completions where the server knows only that, with retries
// within a deadline. What is asked is texts/extraction.ts; what counts as an answer is returns-schema.ts.
import OpenAI from 'openai';
import type { CallRecord, TranscriptItemRecord } from '../../storage/records.ts';
import {
  type Failure,
  NO_JSON,
  readChatAnswer,
  readResponsesAnswer,
  TIMED_OUT,
  type Tokens,
  type Try,
} from './extraction-answer.ts';
import { transcriptLines } from './extraction-input.ts';
import { readResult, readSummary, returnsJsonSchema } from './returns-schema.ts';
import { extractionCorrection, extractionOrder, transcriptMessage } from './texts/extraction.ts';

const MAX_ATTEMPTS = 4;
const SCHEMA_NAME = 'call_result';
/** Room for reasoning and for a form of average size; each field adds to it, each truncated answer doubles it. */
const BASE_OUTPUT_TOKENS = 4000;
const OUTPUT_TOKENS_PER_FIELD = 200;

export type Extraction = { attempts: number } & Tokens &
  (
    | { ok: true; result: Record<string, unknown>; summary: ReturnType<typeof readSummary> }
    /** `code` is for the log, `error` for a person. `closed`: given up because the program ends; nothing is decided. */
    | { ok: false; code: string; error: string }
  );

export interface ExtractionRequest {
  call: CallRecord;
  items: readonly TranscriptItemRecord[];
  /** performance.now() by which there must be a verdict. */
  deadline: number;
  signal: AbortSignal;
}

interface Question {
  order: string;
  transcript: string;
  /** What was wrong with the answer before; never holds anything of it. */
  correction: string | null;
  schema: Record<string, unknown>;
  maxTokens: number;
}

/** How long the server asks to wait, when it says so in a way we follow. */
function askedWaitMs(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const seconds = Number.parseFloat(headers?.get('retry-after') ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function readError(error: unknown, api: 'responses' | 'chat'): Try {
  if (error instanceof OpenAI.APIConnectionTimeoutError) return TIMED_OUT;
  if (error instanceof OpenAI.APIError && typeof error.status === 'number') {
    const status: number = error.status;
    const code = typeof error.code === 'string' ? error.code : '';
    const refused = (reason: string, text: string): Failure => ({ code: reason, error: text, retry: false });
    if (code === 'model_not_found') {
      return refused(code, `The extraction model is not known to its server (status ${status}).`);
    }
    if (api === 'responses' && (status === 404 || status === 405 || status === 501)) return 'no_such_api';
    if (status === 401 || status === 403) {
      return refused('unauthorized', `The extraction model's server refused our key (status ${status}).`);
    }
    if (code === 'insufficient_quota') {
      return refused(code, "The extraction model's account has no quota left (status 429).");
    }
    if (status === 429) {
      return {
        code: 'rate_limited',
        error: 'The extraction model takes no more requests for now (status 429).',
        retry: true,
        afterMs: askedWaitMs(error.headers),
      };
    }
    if (status === 408 || status === 409 || status >= 500) {
      return {
        code: `status_${status}`,
        error: `The extraction model's server failed (status ${status}).`,
        retry: true,
        afterMs: askedWaitMs(error.headers),
      };
    }
    // A vendor's own words may quote the request: only its code is told.
    const named = /^[a-z0-9_]{1,40}$/.test(code) ? code : null;
    return refused(
      named ?? `status_${status}`,
      `The extraction model's server refused the request (status ${status}${named === null ? '' : `, ${named}`}).`,
    );
  }
  // The body was no JSON, or JSON of which the client could make nothing; an answer that broke off names its cause.
  if (error instanceof SyntaxError || (error instanceof TypeError && error.cause === undefined))
    return NO_JSON;
  return { code: 'unreachable', error: 'The extraction model could not be reached.', retry: true };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}

export interface ExtractionOptions {
  openai: { apiKey: string; baseUrl: string };
  model: string;
  /** The first pause between tries; it doubles from one to the next. */
  retryBaseMs: number;
}

/** Opens the way to the extraction model. The function it answers never rejects. */
export function openExtraction(o: ExtractionOptions): (request: ExtractionRequest) => Promise<Extraction> {
  const model = new ExtractionModel(o);
  return (request) => model.extract(request);
}

class ExtractionModel {
  readonly #o: ExtractionOptions;
  readonly #client: OpenAI;
  /** Once a server without the Responses API has answered on Chat Completions, it is not asked for the other again. */
  #knowsOnlyChat = false;

  constructor(o: ExtractionOptions) {
    this.#o = o;
    this.#client = new OpenAI({
      // The client refuses an empty key; without one nothing is asked (below).
      apiKey: o.openai.apiKey === '' ? 'none' : o.openai.apiKey,
      baseURL: o.openai.baseUrl,
      // Not from the environment: settings come from one place.
      organization: null,
      project: null,
      logLevel: 'off',
      maxRetries: 0,
      // A redirect would carry the transcript to a host nobody configured.
      fetchOptions: { redirect: 'error' },
    });
  }

  async #ask(
    use: 'responses' | 'chat',
    question: Question,
    options: { signal: AbortSignal; timeout: number },
  ): Promise<Try> {
    const { order, transcript, correction, schema, maxTokens } = question;
    try {
      if (use === 'responses') {
        const input: OpenAI.Responses.ResponseInput = [
          { role: 'developer', content: order },
          { role: 'user', content: transcript },
        ];
        if (correction !== null) input.push({ role: 'developer', content: correction });
        return readResponsesAnswer(
          await this.#client.responses.create(
            {
              model: this.#o.model,
              input,
              text: { format: { type: 'json_schema', name: SCHEMA_NAME, strict: true, schema } },
              store: false,
              max_output_tokens: maxTokens,
            },
            options,
          ),
        );
      }
      // Servers that lack the Responses API know the role `system` rather than `developer`.
      const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
        { role: 'system', content: order },
        { role: 'user', content: transcript },
      ];
      if (correction !== null) messages.push({ role: 'system', content: correction });
      return readChatAnswer(
        await this.#client.chat.completions.create(
          {
            model: this.#o.model,
            messages,
            response_format: {
              type: 'json_schema',
              json_schema: { name: SCHEMA_NAME, strict: true, schema },
            },
            max_completion_tokens: maxTokens,
          },
          options,
        ),
      );
    } catch (error) {
      // An abort surfaces as one of several errors, by how far the request was.
      return options.signal.aborted ? TIMED_OUT : readError(error, use);
    }
  }

  async extract({ call, items, deadline, signal }: ExtractionRequest): Promise<Extraction> {
    const spent = { attempts: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
    if (this.#o.openai.apiKey === '') {
      return { ...spent, ok: false, code: 'no_key', error: 'No key of the extraction model is set.' };
    }
    const messages = {
      order: extractionOrder(call),
      transcript: transcriptMessage(transcriptLines(items)),
    };
    let schema: Record<string, unknown>;
    try {
      schema = returnsJsonSchema(call.returns, call.summarize);
    } catch {
      // Taken by the rules of another version: no try would end otherwise.
      return {
        ...spent,
        ok: false,
        code: 'invalid_returns',
        error: 'The returns schema of the call cannot be used.',
      };
    }
    const closed = { ok: false as const, code: 'closed', error: 'The extraction was stopped.' };
    let maxTokens = BASE_OUTPUT_TOKENS + OUTPUT_TOKENS_PER_FIELD * Object.keys(call.returns).length;
    let correction: string | null = null;
    let use: 'responses' | 'chat' = this.#knowsOnlyChat ? 'chat' : 'responses';
    let last: Failure = TIMED_OUT;
    while (spent.attempts < MAX_ATTEMPTS) {
      if (signal.aborted) return { ...spent, ...closed };
      const remaining = deadline - performance.now();
      if (remaining <= 0) break;
      // A request that hangs must leave time for another one.
      const timeout = Math.ceil(remaining > 6000 ? (remaining * 2) / 3 : remaining);
      spent.attempts += 1;
      const tried = await this.#ask(
        use,
        { ...messages, correction, schema, maxTokens },
        { signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]), timeout },
      );
      if (signal.aborted) return { ...spent, ...closed };
      if (tried === 'no_such_api') {
        use = 'chat';
        spent.attempts -= 1;
        continue;
      }
      spent.inputTokens += tried.inputTokens ?? 0;
      spent.cachedTokens += tried.cachedTokens ?? 0;
      spent.outputTokens += tried.outputTokens ?? 0;
      if ('text' in tried) {
        this.#knowsOnlyChat = use === 'chat';
        const answer = readAnswer(call, tried.text);
        if ('result' in answer) return { ...spent, ok: true, ...answer };
        correction = extractionCorrection(answer.correction);
        last = { code: answer.code, error: answer.error, retry: true };
      } else {
        // A server that was changed under way may know the other interface now.
        if (use === 'chat' && !tried.retry) this.#knowsOnlyChat = false;
        last = tried;
      }
      if (!last.retry) break;
      if (last.grow) maxTokens *= 2;
      const waitMs = Math.max(last.afterMs ?? 0, this.#o.retryBaseMs * 2 ** (spent.attempts - 1));
      if (spent.attempts < MAX_ATTEMPTS) {
        if (performance.now() + waitMs >= deadline) break;
        await pause(waitMs, signal);
      }
    }
    if (signal.aborted) return { ...spent, ...closed };
    return { ...spent, ok: false, code: last.code, error: last.error };
  }
}

/** The result that a model's text holds, or what is wrong with it: for the log, a person, and the model. */
function readAnswer(
  call: CallRecord,
  text: string,
):
  | { result: Record<string, unknown>; summary: ReturnType<typeof readSummary> }
  | { code: string; error: string; correction: string } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return { code: 'no_json', error: NO_JSON.error, correction: 'it was not JSON' };
  }
  const read = readResult(call.returns, answer);
  if ('result' in read) return { ...read, summary: call.summarize ? readSummary(answer) : null };
  return {
    code: 'wrong_schema',
    error: `The extraction model's answer did not match the returns schema: ${read.error}.`,
    correction: read.error,
  };
}
