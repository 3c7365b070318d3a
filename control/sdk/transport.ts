// One request of the SDK: address, headers, time limit, and when it may be tried again. Knows no resource.
import { OPERATIONS, type Operations } from './api.ts';
import { errorOf, OffhookConnectionError, type OffhookError } from './errors.ts';

export type Operation = keyof Operations;
export type QueryOf<O extends Operation> = Operations[O]['query'];
export type BodyOf<O extends Operation> = Operations[O]['body'];
export type AnswerOf<O extends Operation> = Operations[O]['answer'];

export interface OffhookOptions {
  /** `sk_…`; sent as a Bearer token. Without one nothing is sent: for a `fetch` that authorizes by itself. */
  apiKey?: string | undefined;
  /** Where the daemon is, e.g. `https://calls.example.com` (default http://127.0.0.1:8080). A path before /v1 is kept. */
  baseUrl?: string | undefined;
  /** Default: the runtime's own. */
  fetch?: typeof fetch | undefined;
  /** Sent with every request. */
  headers?: Record<string, string> | undefined;
  /** How often a request that failed on its way is tried again (default 2). */
  maxRetries?: number | undefined;
  /** Milliseconds that one try may take (default 30,000), but for the body of a recording. */
  timeoutMs?: number | undefined;
  /** Told of each try before it is made. What it throws ends the request. */
  onRequest?: ((request: RequestTold) => void) | undefined;
  /** Told of what came of each try. */
  onResponse?: ((response: ResponseTold) => void) | undefined;
}

/** A try, for logs and traces. The key is not in it; `headers` may be added to, or changed, as for a trace's own. */
export interface RequestTold {
  operation: Operation;
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Counts the tries of one request from 1. */
  attempt: number;
}

/** What came of a try. */
export interface ResponseTold extends RequestTold {
  /** Null: nothing answered. */
  status: number | null;
  /** `X-Request-Id`, by which the daemon's log has it. */
  requestId: string | null;
  /** Milliseconds until its JSON was read. */
  tookMs: number;
  /** Why it failed; null: it did not. */
  error: OffhookError | null;
}

/** For one request. */
export interface RequestOptions {
  /** Gives up when it is aborted; the reason is thrown as it is. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  headers?: Record<string, string> | undefined;
  /**
   * For requests that create, dial or buy: a repeat with the same key and body within 24 h answers what the first one
   * answered, and does nothing. Made by the SDK when it is not given, so that its own retries never dial twice.
   */
  idempotencyKey?: string | undefined;
}

export interface Request<O extends Operation> extends RequestOptions {
  params?: Record<string, string> | undefined;
  query?: QueryOf<O> | undefined;
  body?: BodyOf<O> | undefined;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A daemon that asks for more patience than this is not waited for: the caller decides. */
const LONGEST_RETRY_AFTER_S = 30;

const REFUSED_BEFORE_ANY_EFFECT: ReadonlySet<number> = new Set([429, 503]);
const MAYBE_TAKEN: ReadonlySet<number> = new Set([408, 500, 504]);

/** Sends requests to one daemon. */
export interface Transport {
  /** The JSON of a good answer, or the `Response` itself where it is none; with its headers. */
  send<O extends Operation>(operation: O, o?: Request<O>): Promise<{ answer: AnswerOf<O>; headers: Headers }>;
}

/** Opens nothing: each request is its own. @throws (of `send`) OffhookError; the signal's reason when it was aborted */
export function createTransport(o: OffhookOptions): Transport {
  const base = (o.baseUrl ?? DEFAULT_URL).replace(/\/+$/, '').replace(/\/v1$/, '');
  // Some runtimes refuse a fetch that is called on another object than the global one.
  const call =
    o.fetch ?? ((input: string | URL | globalThis.Request, init?: RequestInit) => fetch(input, init));

  return {
    async send<O extends Operation>(operation: O, request: Request<O> = {}) {
      const { method, path, ...rest } = OPERATIONS[operation];
      const url = addressOf(base + path, request.params ?? {}, request.query ?? {});
      const headers: Record<string, string> = {
        accept: 'application/json',
        ...o.headers,
        ...request.headers,
      };
      const once = 'once' in rest;
      if (once) headers['idempotency-key'] = request.idempotencyKey ?? newKey();
      let body: string | undefined;
      if (request.body !== undefined) {
        headers['content-type'] = 'file' in rest ? 'text/csv' : 'application/json';
        body = 'file' in rest ? String(request.body) : JSON.stringify(request.body);
      }
      const repeatable = method !== 'POST' || once;
      const timeoutMs = request.timeoutMs ?? o.timeoutMs ?? 30_000;
      const most = request.maxRetries ?? o.maxRetries ?? 2;
      for (let left = most; ; left--) {
        let failure: OffhookError;
        const told = { operation, method, url, headers: { ...headers }, attempt: most - left + 1 };
        o.onRequest?.(told);
        const begun = performance.now();
        const tell = (of: Pick<ResponseTold, 'status' | 'requestId' | 'error'>) =>
          o.onResponse?.({ ...told, ...of, tookMs: performance.now() - begun });
        try {
          const own = o.apiKey === undefined ? {} : { authorization: `Bearer ${o.apiKey}` };
          const init = { method, headers: { ...told.headers, ...own }, body };
          const got = await attempt(call, url, init, timeoutMs, request.signal);
          if ('answer' in got) {
            tell({ status: got.status, requestId: got.headers.get('x-request-id'), error: null });
            return { answer: got.answer as AnswerOf<O>, headers: got.headers };
          }
          failure = got.failure;
        } catch (error) {
          if (!(error instanceof OffhookConnectionError)) throw error;
          failure = error;
        }
        const { status, requestId } = failure;
        tell({ status: status === 0 ? null : status, requestId, error: failure });
        if (left <= 0 || !mayRepeat(failure, repeatable)) throw failure;
        await pause(pauseMs(failure, most - left), request.signal);
      }
    },
  };
}

/** 128 random bits. A page that is not served over TLS has no `crypto.randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function addressOf(template: string, params: Record<string, string>, query: object): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // An empty id would ask for the list instead.
    if (value === undefined || value === '') throw new TypeError(`${name} is missing.`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** One try. `timeoutMs` ends with the JSON; a `Response` that is handed on is read for as long as that takes. */
async function attempt(
  call: typeof fetch,
  url: string,
  init: { method: string; headers: Record<string, string>; body: string | undefined },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ answer: unknown; headers: Headers; status: number } | { failure: OffhookError }> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  let answered = false;
  try {
    const response = await call(url, {
      method: init.method,
      headers: init.headers,
      ...(init.body === undefined ? {} : { body: init.body }),
      signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
    });
    answered = true;
    if (!response.ok) return { failure: await errorOf(response) };
    return { answer: await answerOf(response), headers: response.headers, status: response.status };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (limit.signal.aborted) {
      throw new OffhookConnectionError(`No answer within ${timeoutMs / 1000} s.`, {
        code: 'timeout',
        cause: error,
      });
    }
    const { origin } = new URL(url, 'http://relative.invalid');
    throw new OffhookConnectionError(
      answered ? `The answer of ${origin} broke off.` : `Nothing answers at ${origin}.`,
      { code: 'connection_failed', cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

async function answerOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  return response.headers.get('content-type')?.includes('json') === true ? response.json() : response;
}

function mayRepeat(failure: OffhookError, repeatable: boolean): boolean {
  if ((failure.retryAfterSeconds ?? 0) > LONGEST_RETRY_AFTER_S) return false;
  if (REFUSED_BEFORE_ANY_EFFECT.has(failure.status)) return true;
  // The first try of the same key still runs.
  if (failure.code === 'idempotency_in_progress') return true;
  return repeatable && (failure instanceof OffhookConnectionError || MAYBE_TAKEN.has(failure.status));
}

/** Doubling, with chance in it, so that many clients do not come back at once; never before the time that was asked for. */
function pauseMs(failure: OffhookError, tries: number): number {
  const grown = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
  return Math.max((failure.retryAfterSeconds ?? 0) * 1000, grown * (0.5 + Math.random() / 2));
}

/** Waits; throws the signal's reason when it is aborted meanwhile. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
