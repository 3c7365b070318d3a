// Where other daemons of the folder reach this one: on loopback, and by nothing but requests that are signed with the folder's
// secret, for this daemon, once. What a request asks for is others' to do.
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, ERROR_STATUS } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import { DEADLINES } from '../connection-limits.ts';
import { listen } from '../listening.ts';
import { PEER_HEADER, proofOf, verify, WINDOW_MS } from './signature.ts';

export interface PrivatePortOptions {
  secret: Buffer;
  /** Of this daemon. */
  epoch: number;
  now: () => Date;
  log: Pick<Log, 'error'>;
  /** Told of what was not signed. */
  strangers: Pick<StrangerLog, 'saw'>;
  /** A hook of a carrier's, as it came to another daemon. */
  onHook: RequestListener;
  /** What others may ask for, by name; each is given the request's JSON, and answers what JSON can say. */
  commands: Readonly<Record<string, (body: unknown) => Promise<unknown>>>;
}

/** Under it: what daemons ask of each other. All else comes from outside, and has the path that it came with. */
const ASKED = '/peer/';
export const HERE_PATH = '/peer/here';
const HOOKS = '/carriers/';
/** Of a hook they have some KB. */
const MAX_BODY_BYTES = 262_144;

export const commandPath = (name: string): string => `${ASKED}${name}`;

/** Hooks that another daemon has passed on: they are passed on no further. */
const passed = new WeakSet<IncomingMessage>();
export const wasPassedOn = (request: IncomingMessage): boolean => passed.has(request);

/** What has come within the window, so that nothing comes twice. */
class Nonces {
  readonly #seen = new Map<string, number>();

  /** False: it came before. */
  take(nonce: string, nowMs: number): boolean {
    for (const [old, atMs] of this.#seen) {
      // A request may be from a clock that is ahead by one window, and late by another.
      if (Math.abs(nowMs - atMs) <= 2 * WINDOW_MS) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(nonce)) return false;
    this.#seen.set(nonce, nowMs);
    return true;
  }
}

export class PrivatePort {
  readonly #o: PrivatePortOptions;
  readonly #server: Server;
  readonly #nonces = new Nonces();

  /** @throws Error where there is no port on loopback to be had */
  static async open(o: PrivatePortOptions): Promise<PrivatePort> {
    const opened = new PrivatePort(o);
    await listen(opened.#server, { host: '127.0.0.1', port: 0 });
    return opened;
  }

  private constructor(o: PrivatePortOptions) {
    this.#o = o;
    this.#server = createServer({ ...DEADLINES, maxHeaderSize: 16_384 });
    this.#server.on('request', (request, response) => {
      this.#take(request, response).catch((error: unknown) => {
        o.log.error({ err: error }, 'peer.request_failed');
        response.destroy();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Answers nobody any more. Safe to call twice. */
  async close(): Promise<void> {
    const closed = new Promise<void>((over) => this.#server.close(() => over()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === null) return answer(response, 413, 'too large');
    const nonce = this.#signed(request, body);
    if (nonce === null) return answer(response, 403, 'not a peer');
    const { method, url = '' } = request;
    if (url === HERE_PATH) return answer(response, 200, proofOf(this.#o.secret, this.#o.epoch, nonce));
    if (url.startsWith(HOOKS)) {
      const hook = sameAgain(request, body);
      passed.add(hook);
      return void this.#o.onHook(hook, response);
    }
    const name = url.startsWith(ASKED) ? url.slice(ASKED.length) : '';
    const command = Object.hasOwn(this.#o.commands, name) ? this.#o.commands[name] : undefined;
    if (command === undefined || method !== 'POST') return answer(response, 404, 'nothing here');
    try {
      answer(response, 200, JSON.stringify((await command(JSON.parse(body.toString('utf8')))) ?? null));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message } = error;
      answer(response, ERROR_STATUS[code], JSON.stringify({ code, message }));
    }
  }

  /** Its nonce, where another daemon has signed it for this one, a moment ago and not before; else null, and it is told. */
  #signed({ method = '', url = '', headers }: IncomingMessage, body: Uint8Array): string | null {
    const { secret, epoch, now, strangers } = this.#o;
    const nowMs = now().getTime();
    const found = verify(secret, { to: epoch, method, path: url, body }, headers[PEER_HEADER], nowMs);
    const why =
      'why' in found ? found.why : this.#nonces.take(found.nonce, nowMs) ? null : 'was there before';
    if (why === null && 'nonce' in found) return found.nonce;
    const by = { address: '127.0.0.1', shared: true };
    strangers.saw({ event: 'peer.refused', why: why ?? '', level: 'warn', by });
    return null;
  }
}

/** Null: it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A request whose body was read, as one that it can be read of. */
function sameAgain(request: IncomingMessage, body: Buffer): IncomingMessage {
  const again = new IncomingMessage(request.socket);
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = request;
  Object.assign(again, { method, url, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
  again.headers = headers;
  again.push(body);
  again.push(null);
  again.complete = true;
  return again;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}
