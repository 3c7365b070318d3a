// Runs the HTTP tools of a call: checks the model's arguments, asks through the guarded egress, bounds the answer.
// The model fills named parameters only; URL, method and headers are the agent's. end_call and the like are the bridge's.
import { createHash } from 'node:crypto';
import type { RunTool } from '../../bridge/calls/calls.ts';
import type { Log } from '../../log.ts';
import type { Tool } from '../../storage/records.ts';
import { type Egress, EgressError, type EgressResponse } from '../egress/egress.ts';
import { cutText, quoteData } from './fenced-data.ts';
import { errorStatus, HTTP_TOOL, wrongArguments } from './texts/tools.ts';
import { compileParameters } from './tool-schema.ts';
import { DEFAULT_TOOL_TIMEOUT_MS, inQuery } from './tools.ts';

const MAX_ARGUMENTS_BYTES = 16 * 1024;
const MAX_URL_LENGTH = 8 * 1024;
const MAX_READ_BYTES = 64 * 1024;
/** What the model gets to read: it stays in the session's context for the rest of the call. */
const MAX_OUTPUT_BYTES = 16 * 1024;
const MAX_ERROR_OUTPUT_BYTES = 2 * 1024;
/** Calls whose counts are kept; far more than can be live at once. */
const MAX_COUNTED_CALLS = 20_000;
const MAX_COMPILED = 200;
/** Shorter ones would be found in ordinary words. */
const MIN_SECRET_LENGTH = 8;

const E164 = /^\+[1-9]\d{6,14}$/;

type HttpTool = Extract<Tool, { type: 'http' }>;

interface Run {
  ok: boolean;
  output: string;
  /** For the log: how it ended, in one word. */
  end: string;
  status?: number;
  responseBytes?: number;
}

function refusal(end: string, output: string): Run {
  return { ok: false, output, end };
}

/** Drops the entries that were not used for longest; a use puts its entry at the end. */
function keepAtMost<V>(map: Map<string, V>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

function putInQuery(url: string, args: Record<string, unknown>): string {
  const full = new URL(url);
  for (const [name, value] of Object.entries(args)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null) continue;
      full.searchParams.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one));
    }
  }
  return full.href;
}

/** Values that the agent fixed and the model must not learn, should a server echo them. Longest first. */
function secretsOf(tool: HttpTool): string[] {
  const found = new Set<string>();
  for (const [name, value] of [...Object.entries(tool.headers ?? {}), ...new URL(tool.url).searchParams]) {
    // Other fixed values (a city, a shop) may well be part of a right answer.
    if (!/auth|key|token|secret|cookie|passw|sig/i.test(name)) continue;
    for (const part of [value, ...value.split(/[\s,;=]+/)]) {
      if (part.length >= MIN_SECRET_LENGTH) found.add(part);
    }
  }
  return [...found].sort((a, b) => b.length - a.length);
}

/** The answer as text, or null when it is neither text nor JSON. */
function readText(answer: EgressResponse): string | null {
  const [media = '', ...parameters] = (answer.headers['content-type'] ?? '').toLowerCase().split(';');
  const type = media.trim();
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return null;
  if (type !== '' && !/^text\/|^application\/([a-z0-9.+-]+\+)?json$/.test(type)) return null;
  const charset = /^\s*charset="?([a-z0-9_-]+)/.exec(
    parameters.find((one) => /^\s*charset=/.test(one)) ?? '',
  )?.[1];
  try {
    // A type that is not told is text only when it reads as UTF-8.
    return new TextDecoder(charset ?? 'utf-8', { fatal: type === '' && !answer.truncated }).decode(
      answer.body,
    );
  } catch {
    return type === '' ? null : answer.body.toString('utf8');
  }
}

/** One line of JSON, cut to `maxBytes`: nothing in an answer can leave it. */
function wrap(fields: Record<string, unknown>, text: string, truncated: boolean, maxBytes: number): string {
  if (!truncated) {
    try {
      const whole = quoteData({ ...fields, answer: JSON.parse(text) });
      if (Buffer.byteLength(whole, 'utf8') <= maxBytes) return whole;
    } catch {
      // Plain text, or nested deeper than JSON can be written.
    }
  }
  let budget = maxBytes;
  for (;;) {
    const cut = cutText(text, budget);
    const cutOff = truncated || cut.length < text.length;
    const whole = quoteData({ ...fields, answer: cut, ...(cutOff ? { cut_off: true } : {}) });
    const size = Buffer.byteLength(whole, 'utf8');
    if (size <= maxBytes || budget === 0) return whole;
    // Escapes lengthen the text by an unknown factor: shrink by the one just seen.
    budget = Math.max(0, Math.floor((Buffer.byteLength(cut, 'utf8') * maxBytes) / size) - 16);
  }
}

/** Which call it is for, who is on it, and which use of the tool: told by us, so that no words of a caller can change it. */
function aboutCall({ call, toolCallId }: Parameters<RunTool>[0]): Record<string, string> {
  const other = call.direction === 'outbound' ? call.to_number : call.from_number;
  const use = createHash('sha256').update(`${call.id} ${toolCallId}`).digest('hex');
  return {
    'offhook-call-id': call.id,
    'offhook-direction': call.direction,
    // A caller's may be an address, or anything that a network lets through.
    ...(E164.test(other) ? { 'offhook-caller': other } : {}),
    'idempotency-key': use.slice(0, 32),
  };
}

function readAnswer(tool: HttpTool, answer: EgressResponse): Run {
  const { status } = answer;
  const about = { status, responseBytes: answer.body.length };
  if (status >= 300 && status < 400) {
    return {
      ...refusal('redirected', HTTP_TOOL.redirected),
      ...about,
    };
  }
  const ok = status >= 200 && status < 300;
  if (answer.body.length === 0) {
    return ok
      ? { ok, output: quoteData({ status, answer: null }), end: 'answered', ...about }
      : { ...refusal('error_status', errorStatus(status)), ...about };
  }
  let text = readText(answer);
  if (text === null) {
    const output = ok ? HTTP_TOOL.unreadable : errorStatus(status);
    return { ok, output, end: 'unreadable', ...about };
  }
  for (const secret of secretsOf(tool)) text = text.replaceAll(secret, HTTP_TOOL.hidden);
  if (ok) {
    return {
      ok,
      output: wrap({ status }, text, answer.truncated, MAX_OUTPUT_BYTES),
      end: 'answered',
      ...about,
    };
  }
  const fields = { error: errorStatus(status), status };
  const output = wrap(fields, text, answer.truncated, MAX_ERROR_OUTPUT_BYTES);
  return { ok, output, end: 'error_status', ...about };
}

function readFailure(error: unknown, signal: AbortSignal): Run {
  if (signal.aborted) return refusal('canceled', HTTP_TOOL.stopped);
  if (error instanceof EgressError) {
    // Which of the many ways a connection fails it was says more about our network than the model may know.
    return error.kind === 'timeout'
      ? refusal('timeout', HTTP_TOOL.timedOut)
      : refusal(error.kind, HTTP_TOOL.unreachable);
  }
  return refusal('failed', HTTP_TOOL.failed);
}

/** Opens the runner of HTTP tools. `maxCallsPerCall` bounds what one phone call may ask for (default 20). */
export function openToolRunner(o: {
  egress: Pick<Egress, 'request'>;
  log: Log;
  maxCallsPerCall?: number;
}): RunTool {
  const maxCalls = o.maxCallsPerCall ?? 20;
  const counts = new Map<string, number>();
  const compiled = new Map<string, (args: unknown) => string | null>();

  function checkOf(tool: HttpTool): (args: unknown) => string | null {
    const key = JSON.stringify(tool.parameters);
    const check = compiled.get(key) ?? compileParameters(tool.parameters);
    compiled.delete(key);
    compiled.set(key, check);
    keepAtMost(compiled, MAX_COMPILED);
    return check;
  }

  function countOne(callId: string): number {
    const count = (counts.get(callId) ?? 0) + 1;
    counts.delete(callId);
    counts.set(callId, count);
    keepAtMost(counts, MAX_COUNTED_CALLS);
    return count;
  }

  async function run(tool: HttpTool | undefined, request: Parameters<RunTool>[0]): Promise<Run> {
    if (countOne(request.call.id) > maxCalls) {
      return refusal('too_many', HTTP_TOOL.tooMany);
    }
    if (tool === undefined) return refusal('unknown_tool', HTTP_TOOL.unknownTool);
    if (Buffer.byteLength(request.argumentsJson, 'utf8') > MAX_ARGUMENTS_BYTES) {
      return refusal('bad_arguments', HTTP_TOOL.argumentsTooLong);
    }
    let args: unknown;
    try {
      args = request.argumentsJson.trim() === '' ? {} : JSON.parse(request.argumentsJson);
    } catch {
      return refusal('bad_arguments', HTTP_TOOL.argumentsNoJson);
    }
    const fault = checkOf(tool)(args);
    if (fault !== null) return refusal('bad_arguments', wrongArguments(fault));
    const asQuery = inQuery(tool.method);
    const url = asQuery ? putInQuery(tool.url, args as Record<string, unknown>) : tool.url;
    if (url.length > MAX_URL_LENGTH) return refusal('bad_arguments', HTTP_TOOL.argumentsTooLong);
    const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9' };
    if (!asQuery) headers['content-type'] = 'application/json';
    Object.assign(headers, aboutCall(request));
    for (const [name, value] of Object.entries(tool.headers ?? {})) headers[name.toLowerCase()] = value;
    const answer = await o.egress.request(url, {
      method: tool.method,
      headers,
      ...(asQuery ? {} : { body: JSON.stringify(args) }),
      timeoutMs: tool.timeout_ms ?? DEFAULT_TOOL_TIMEOUT_MS,
      maxResponseBytes: MAX_READ_BYTES,
      signal: request.signal,
    });
    return readAnswer(tool, answer);
  }

  return async (request) => {
    const started = performance.now();
    const tool = request.call.tools?.find(
      (one): one is HttpTool => one.type === 'http' && one.name === request.name,
    );
    let failure: unknown;
    const done = await run(tool, request).catch((error: unknown) => {
      failure = error;
      return readFailure(error, request.signal);
    });
    // A name the agent does not have is the model's own text, and may be speech.
    o.log.info(
      {
        call_id: request.call.id,
        org_id: request.call.org_id,
        tool: tool?.name ?? null,
        ok: done.ok,
        end: done.end,
        status: done.status ?? null,
        response_bytes: done.responseBytes ?? null,
        output_bytes: Buffer.byteLength(done.output, 'utf8'),
        took_ms: Math.round(performance.now() - started),
        // What the user is told hides why an address did not answer; the operator sees it, without URL and values.
        ...(done.end === 'failed' && failure instanceof Error ? { error: failure.name } : {}),
      },
      'tool.called',
    );
    return { ok: done.ok, output: done.output };
  };
}
