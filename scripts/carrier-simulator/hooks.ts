// The carrier's requests to the application: signed, with a deadline and one retry of the connection, never of a status.
// What they mean and what is answered to them is elsewhere.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Faults } from './faults.ts';
import { type FormParameters, sign } from './signature.ts';

export type HookKind = 'voice' | 'action' | 'status' | 'amd' | 'stream' | 'whisper' | 'play';

export interface HookRequest {
  kind: HookKind;
  url: string;
  method: 'GET' | 'POST';
  parameters: Record<string, string>;
  callSid: string;
}
export interface HookReport {
  kind: HookKind;
  url: string;
  method: string;
  parameters: Record<string, string>;
  /** ms since the call was created */
  sentMs: number;
  tookMs: number | null;
  attempts: number;
  /** HTTP status; null when there was no answer, with `error`. */
  status: number | null;
  error: string | null;
  duplicate: boolean;
}
export type HookAnswer =
  | { ok: true; status: number; contentType: string; body: Buffer }
  | { ok: false; code: number; error: string };

export interface HooksOptions {
  authToken: string;
  deadlineMs: number;
  connectMs: number;
  allowInsecure: boolean;
  faults: Faults;
}

/** 2 x 5 s for the connection, 15 s in all (error 11205 and 11200). */
export class Hooks {
  readonly #options: HooksOptions;
  readonly #agent: Agent;

  constructor(options: HooksOptions) {
    this.#options = options;
    this.#agent = new Agent({
      connect: { timeout: options.connectMs, rejectUnauthorized: !options.allowInsecure },
      // A connection for each request: a reused one that the application just closed would look like a lost request.
      pipelining: 0,
    });
  }

  /** Sends one request and fills in its report. Never rejects. */
  async send(hook: HookRequest, report: HookReport): Promise<HookAnswer> {
    const began = performance.now();
    const answer = await this.#attempts(hook, report);
    report.tookMs = Math.round(performance.now() - began);
    if (answer.ok) report.status = answer.status;
    else report.error = answer.error;
    return answer;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempts(hook: HookRequest, report: HookReport): Promise<HookAnswer> {
    const post = hook.method === 'POST';
    const query = new URLSearchParams(hook.parameters).toString();
    const url = post ? hook.url : `${hook.url}${hook.url.includes('?') ? '&' : '?'}${query}`;
    const parameters: FormParameters = post ? hook.parameters : {};
    const headers: Record<string, string> = {
      'x-twilio-signature': sign(this.#options.authToken, url, parameters),
      'i-twilio-idempotency-token': randomUUID(),
      'user-agent': 'TwilioProxy/1.1',
      accept: '*/*',
    };
    if (post) headers['content-type'] = 'application/x-www-form-urlencoded; charset=UTF-8';
    const signal = AbortSignal.timeout(this.#options.deadlineMs);
    for (;;) {
      report.attempts += 1;
      try {
        if (this.#options.faults.take('hook_unreachable', { path: hook.url, callSid: hook.callSid })) {
          throw Object.assign(new Error('injected: unreachable'), { code: 'ECONNREFUSED' });
        }
        const response = await request(url, {
          method: hook.method,
          headers,
          body: post ? query : null,
          dispatcher: this.#agent,
          signal,
        });
        const body = Buffer.from(await response.body.arrayBuffer());
        const contentType = response.headers['content-type'];
        return {
          ok: true,
          status: response.statusCode,
          contentType: (Array.isArray(contentType) ? contentType[0] : contentType) ?? '',
          body,
        };
      } catch (error) {
        const reason = reasonOf(error);
        if (isConnectFailure(reason) && report.attempts < 2 && !signal.aborted) continue;
        return { ok: false, code: isConnectFailure(reason) ? 11205 : 11200, error: reason };
      }
    }
  }
}

function isConnectFailure(reason: string): boolean {
  return /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT)/.test(reason);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${error.message || error.name}`;
}
