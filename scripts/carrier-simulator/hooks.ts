// The carrier's requests to the application: signed, with a deadline, and one retry of the connection unless the URL says
// otherwise.
// What they mean and what is answered to them is elsewhere.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Faults } from './faults.ts';
import { type Failure, type Overrides, readOverrides, waitBefore } from './overrides.ts';
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

/** 2 x 5 s for the connection, 15 s in all (errors 11205 and 11200), or as the hook's URL overrides (overrides.ts). */
export class Hooks {
  readonly #options: HooksOptions;
  /** By the patience for a connection, which is the agent's, not the request's. */
  readonly #agents = new Map<number, Agent>();
  readonly #closing = new AbortController();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** What the debugger would say of a hook's URL; null when nothing is wrong with it. */
  wrongOf(url: string): string | null {
    return this.#overrides(url).wrong;
  }

  /** Sends one request, as often as its URL says, and fills in its report. Never rejects. */
  async send(hook: HookRequest, report: HookReport): Promise<HookAnswer> {
    const began = performance.now();
    const answer = await this.#attempts(hook, report);
    report.tookMs = Math.round(performance.now() - began);
    if (answer.ok) report.status = answer.status;
    else report.error = answer.error;
    return answer;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  #overrides(url: string): Overrides {
    const { connectMs, deadlineMs } = this.#options;
    return readOverrides(url, { connectMs, totalMs: deadlineMs });
  }

  #agent(connectMs: number): Agent {
    let agent = this.#agents.get(connectMs);
    if (agent === undefined) {
      agent = new Agent({
        connect: { timeout: connectMs, rejectUnauthorized: !this.#options.allowInsecure },
        // A connection for each request: a reused one that the application just closed would look like a lost request.
        pipelining: 0,
      });
      this.#agents.set(connectMs, agent);
    }
    return agent;
  }

  async #attempts(hook: HookRequest, report: HookReport): Promise<HookAnswer> {
    const over = this.#overrides(hook.url);
    const isAskedFor = over.url !== hook.url;
    const post = hook.method === 'POST';
    const query = new URLSearchParams(hook.parameters).toString();
    const url = post ? over.url : `${over.url}${over.url.includes('?') ? '&' : '?'}${query}`;
    const parameters: FormParameters = post ? hook.parameters : {};
    const headers: Record<string, string> = {
      'x-twilio-signature': sign(this.#options.authToken, url, parameters),
      // The same for every attempt: https://www.twilio.com/docs/usage/webhooks/getting-started-twilio-webhooks
      'i-twilio-idempotency-token': randomUUID(),
      'user-agent': 'TwilioProxy/1.1',
      accept: '*/*',
    };
    if (post) headers['content-type'] = 'application/x-www-form-urlencoded; charset=UTF-8';
    const until = performance.now() + over.totalMs;
    const ask: Ask = { url, method: hook.method, headers, body: post ? query : null, until, over };
    for (;;) {
      report.attempts += 1;
      const isUnreachable = this.#options.faults.take('hook_unreachable', {
        path: hook.url,
        callSid: hook.callSid,
      });
      const [answer, failure] = isUnreachable ? UNREACHABLE : await this.#ask(ask);
      if (failure === null || !over.retryOn.has(failure)) return answer;
      const leftMs = until - performance.now();
      if (report.attempts > over.retries || leftMs <= 0) return ended(answer, over, leftMs);
      const waitMs = waitBefore(report.attempts + 1, isAskedFor);
      await pause(Math.min(waitMs, leftMs), this.#closing.signal);
      if (waitMs >= leftMs || this.#closing.signal.aborted) return ended(answer, over, leftMs - waitMs);
    }
  }

  async #ask(o: Ask): Promise<[HookAnswer, Failure | null]> {
    const leftMs = o.until - performance.now();
    try {
      const response = await request(o.url, {
        method: o.method,
        headers: o.headers,
        body: o.body,
        dispatcher: this.#agent(o.over.connectMs),
        headersTimeout: o.over.readMs,
        bodyTimeout: o.over.readMs,
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(leftMs))),
      });
      const body = Buffer.from(await response.body.arrayBuffer());
      const contentType = response.headers['content-type'];
      const status = response.statusCode;
      return [
        {
          ok: true,
          status,
          contentType: (Array.isArray(contentType) ? contentType[0] : contentType) ?? '',
          body,
        },
        status >= 500 ? '5xx' : status >= 400 ? '4xx' : null,
      ];
    } catch (error) {
      const reason = reasonOf(error);
      // UNVERIFIED: a connection that breaks before its answer counts as one that was not answered in time.
      return isConnectFailure(reason)
        ? [{ ok: false, code: 11205, error: reason }, 'ct']
        : [{ ok: false, code: 11200, error: reason }, 'rt'];
    }
  }
}

interface Ask {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | null;
  /** When the time for all attempts is over, in ms of performance.now(). */
  until: number;
  over: Overrides;
}

const UNREACHABLE: [HookAnswer, Failure] = [
  { ok: false, code: 11205, error: 'ECONNREFUSED: injected: unreachable' },
  'ct',
];

/** The last attempt's answer; a total that was asked for and is over has a code of its own. */
function ended(answer: HookAnswer, over: Overrides, leftMs: number): HookAnswer {
  return answer.ok || !over.hasTotal || leftMs > 0 ? answer : { ...answer, code: 11203 };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (ms <= 0 || signal.aborted) return done();
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      done();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });
}

function isConnectFailure(reason: string): boolean {
  return /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT)/.test(reason);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${error.message || error.name}`;
}
