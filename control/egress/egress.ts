// The one way out for URLs that users give (webhooks, in-call tools): checked, bounded, never redirected.
// Which addresses are open is addresses.ts; how a URL must look is outgoing-url.ts.
//
//   URL text ─► 1 literal host checked ─► names resolved, 2 every answer checked ─► only those dialled
//            ─► 3 the connected peer checked ─► first byte written (TLS hello or request) ─► bounded read ─► socket destroyed
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { AppError } from '../../errors.ts';
import { type AddressRules, readAddressRules } from './addresses.ts';
import { CONNECTION_HEADERS } from './connection-headers.ts';
import { type OutgoingUrl, readOutgoingUrl } from './outgoing-url.ts';

/** From the first name query to the end of the TLS handshake. */
const CONNECT_TIMEOUT_MS = 5000;
const MAX_HEADER_BYTES = 16 * 1024;
/** A host with more addresses than this is tried at the first ones only. */
const MAX_ADDRESSES_TRIED = 4;

export type EgressErrorKind = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol';

/** What a user may read of a failure. Refused, unreachable and closed read the same: a request is no port scanner. */
const TEXT: Record<EgressErrorKind, string> = {
  blocked: 'the address is not allowed',
  dns: 'the host name could not be resolved',
  connect: 'the connection failed',
  tls: 'the TLS handshake failed',
  timeout: 'no answer in time',
  reset: 'the connection failed',
  protocol: 'the answer was not understood as HTTP',
};

/** A request that got no usable answer. `message` may be shown to the user; `cause` is for the operator. */
export class EgressError extends Error {
  readonly kind: EgressErrorKind;
  /** Whether the peer was reached: TCP was up and the peer allowed. */
  readonly connected: boolean;
  /** The cause lies with this host, not with the peer: resolver, route, file descriptors. */
  readonly ours: boolean;

  constructor(kind: EgressErrorKind, o: { connected?: boolean; ours?: boolean; cause?: unknown } = {}) {
    super(TEXT[kind], o.cause === undefined ? undefined : { cause: o.cause });
    this.name = 'EgressError';
    this.kind = kind;
    this.connected = o.connected ?? false;
    this.ours = o.ours ?? false;
  }
}

/** Resolves a host name to all its addresses; rejects with a Node DNS error. */
export type Lookup = (hostname: string) => Promise<readonly { address: string }[]>;

export interface EgressRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** For the whole exchange, connecting included. */
  timeoutMs: number;
  /** The answer's body is cut here and the socket destroyed. */
  maxResponseBytes: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Lower-case names; repeated ones joined by a comma. */
  headers: Record<string, string>;
  /** As sent: never decompressed. */
  body: Buffer;
  /** The body was longer than asked for, or broke off after the headers. */
  truncated: boolean;
}

export interface Egress {
  /**
   * The part of the check that needs no network, for use where a URL is saved.
   * @throws AppError `invalid_url` or `blocked_address`, with `param`.
   */
  check(url: string, param: string): void;
  /**
   * One request on its own connection; a redirect is an answer like any other.
   * @throws EgressError; the reason of `signal` when that ended it.
   */
  request(url: string, o: EgressRequest): Promise<EgressResponse>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface EgressOptions {
  allowedCidrs: readonly string[];
  lookup?: Lookup;
  userAgent: string;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Failures to connect that say nothing about the peer. */
const OUR_CONNECT_CODES = new Set([
  'EADDRNOTAVAIL',
  'EAI_SYSTEM',
  'EMFILE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
]);
/** The resolver gave no answer, as opposed to the answer "no such name". */
const OUR_DNS_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ETIMEOUT',
  'ESERVFAIL',
  'EAI_SYSTEM',
  'EAI_FAIL',
]);

/** A failed net.connect with several addresses carries one error each. */
function connectFailure(cause: unknown): EgressError {
  const all: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const codes = all.map(codeOf);
  if (codes.includes('ETIMEDOUT')) return new EgressError('timeout', { cause });
  return new EgressError('connect', { cause, ours: codes.every((code) => OUR_CONNECT_CODES.has(code)) });
}

/** The addresses to dial: all answers are fit, or none is used (a second query could be answered differently). */
function admit(answers: readonly { address: string }[], target: OutgoingUrl, rules: AddressRules): string[] {
  if (answers.length === 0) throw new EgressError('dns');
  for (const { address } of answers) {
    const verdict = rules.judge(address);
    if (verdict === 'blocked' || (target.openedOnly && verdict !== 'opened'))
      throw new EgressError('blocked');
  }
  return answers.slice(0, MAX_ADDRESSES_TRIED).map((answer) => answer.address);
}

/** TCP to one of the addresses, whose real peer is checked before anybody may write. */
export function dial(
  addresses: readonly string[],
  port: number,
  mayTalkTo: (peer: string) => boolean,
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = netConnect({
    port,
    host: 'checked.invalid',
    autoSelectFamily: true,
    // Node's 250 ms would pass over a receiver on the other side of the world.
    autoSelectFamilyAttemptTimeout: 1000,
    lookup: (_host, options, callback) => {
      const first = answers[0] ?? { address: '', family: 0 };
      if (options.all) callback(null, answers);
      else callback(null, first.address, first.family);
    },
  });
  const stop = () => {
    socket.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  socket.once('error', (cause) => reject(connectFailure(cause)));
  socket.once('connect', () => {
    const peer = socket.remoteAddress;
    if (peer === undefined) {
      socket.destroy();
      reject(new EgressError('connect'));
    } else if (mayTalkTo(peer)) {
      socket.setNoDelay(true);
      resolve(socket);
    } else {
      socket.destroy();
      reject(new EgressError('blocked'));
    }
  });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}

/** What broke an exchange, where it was no rule of ours. */
function failure(error: unknown): EgressError {
  if (error instanceof EgressError) return error;
  const code = codeOf(error);
  const broken = /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|UND_ERR_DESTROYED|UND_ERR_CLOSED)$/.test(
    code,
  );
  return new EgressError(broken ? 'reset' : 'protocol', { cause: error, connected: true });
}

/**
 * Opens the way out.
 * @throws ConfigError for a range in `allowedCidrs` that cannot be read.
 */
export function openEgress(o: EgressOptions): Egress {
  return new GuardedEgress(o);
}

class GuardedEgress implements Egress {
  readonly #userAgent: string;
  readonly #rules: ReturnType<typeof readAddressRules>;
  readonly #lookup: Lookup;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** One query a name at a time: a name that is slow to resolve holds one thread of the shared pool, not all of them. */
  readonly #lookups = new Map<string, ReturnType<Lookup>>();
  readonly #handshake = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });

  constructor(o: EgressOptions) {
    this.#userAgent = o.userAgent;
    this.#rules = readAddressRules(o.allowedCidrs);
    this.#lookup = o.lookup ?? ((hostname) => systemLookup(hostname, { all: true }));
  }

  check(url: string, param: string): void {
    readOutgoingUrl(url, this.#rules, param);
  }

  async request(url: string, r: EgressRequest): Promise<EgressResponse> {
    let target: OutgoingUrl;
    try {
      target = readOutgoingUrl(url, this.#rules, 'url');
    } catch (error) {
      // Saved while it was allowed, or before the operator closed a range.
      if (error instanceof AppError) throw new EgressError('blocked', { cause: error });
      throw error;
    }
    const run = this.#exchange(target, r);
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new EgressError('reset', { ours: true }));
    await Promise.allSettled(this.#running);
  }

  #resolveName(hostname: string): ReturnType<Lookup> {
    const pending = this.#lookups.get(hostname);
    if (pending !== undefined) return pending;
    const query = this.#lookup(hostname)
      .catch((cause: unknown) => {
        throw new EgressError('dns', { cause, ours: OUR_DNS_CODES.has(codeOf(cause)) });
      })
      .finally(() => this.#lookups.delete(hostname));
    this.#lookups.set(hostname, query);
    return query;
  }

  async #addressesOf(target: OutgoingUrl, signal: AbortSignal): Promise<string[]> {
    if (isIP(target.host) !== 0) return admit([{ address: target.host }], target, this.#rules);
    const gone = Promise.withResolvers<never>();
    const stop = () => gone.reject(new EgressError('dns', { cause: signal.reason, ours: true }));
    signal.addEventListener('abort', stop, { once: true });
    try {
      return admit(await Promise.race([this.#resolveName(target.host), gone.promise]), target, this.#rules);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** The connected, checked and (for https) encrypted socket. */
  async #open(target: OutgoingUrl, asked: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    const addresses = await this.#addressesOf(target, signal);
    const mayTalkTo = (peer: string) => {
      const verdict = this.#rules.judge(peer);
      return verdict === 'opened' || (verdict === 'public' && !target.openedOnly);
    };
    const tcp = await dial(addresses, target.port, mayTalkTo, signal);
    if (target.url.protocol === 'http:') return tcp;
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const stop = () => {
      tcp.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    this.#handshake({ ...asked, httpSocket: tcp }, (cause, socket) => {
      if (cause === null) return resolve(socket);
      tcp.destroy();
      const broken = /^(ECONNRESET|EPIPE)$/.test(codeOf(cause));
      reject(new EgressError(broken ? 'reset' : 'tls', { cause, connected: true }));
    });
    return promise.finally(() => signal.removeEventListener('abort', stop));
  }

  async #exchange(target: OutgoingUrl, r: EgressRequest): Promise<EgressResponse> {
    const callers = AbortSignal.any(
      r.signal === undefined ? [this.#closing.signal] : [this.#closing.signal, r.signal],
    );
    callers.throwIfAborted();
    const late = new AbortController();
    const expire = (ours: { connected: boolean }) => late.abort(new EgressError('timeout', ours));
    let connected = false;
    const connectTimer = setTimeout(() => expire({ connected }), Math.min(CONNECT_TIMEOUT_MS, r.timeoutMs));
    const timer = setTimeout(() => expire({ connected }), r.timeoutMs);
    const signal = AbortSignal.any([callers, late.signal]);
    const client = new Client(target.url.origin, {
      // No keep-alive: the checks above hold for one connection, and a reused one may be closing.
      pipelining: 0,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (asked, callback) => {
        this.#open(target, asked, signal).then(
          (socket) => {
            connected = true;
            clearTimeout(connectTimer);
            callback(null, socket);
          },
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
    });
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': this.#userAgent };
    for (const [name, value] of Object.entries(r.headers)) {
      const lower = name.toLowerCase();
      if (!CONNECTION_HEADERS.has(lower)) headers[lower] = value;
    }
    try {
      const answer = await client.request({
        path: target.url.pathname + target.url.search,
        method: r.method as 'POST',
        headers,
        body: r.body ?? null,
        signal,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      let truncated = false;
      try {
        for await (const chunk of answer.body as AsyncIterable<Buffer>) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > r.maxResponseBytes) {
            truncated = true;
            break;
          }
        }
      } catch {
        // The status has been received, and it is what counts; a caller that needs the body looks at `truncated`.
        callers.throwIfAborted();
        truncated = true;
      }
      return {
        status: answer.statusCode,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(', ') : (value ?? ''),
          ]),
        ),
        body: Buffer.concat(chunks).subarray(0, r.maxResponseBytes),
        truncated,
      };
    } catch (error) {
      callers.throwIfAborted();
      throw failure(late.signal.aborted && !(error instanceof EgressError) ? late.signal.reason : error);
    } finally {
      clearTimeout(timer);
      clearTimeout(connectTimer);
      await client.destroy().catch(() => {});
    }
  }
}
