// The other daemons of the folder, as this one reaches them by their private ports: what came here about a call of theirs is
// passed on. Of one that does not answer it is looked whether it lives; whoever is its heir then has what came.
import { randomBytes } from 'node:crypto';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { hostname } from 'node:os';
import { AppError, CallElsewhere, ERROR_STATUS, type ErrorCode } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { DaemonRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { hookBody } from '../carriers/hook-body.ts';
import { commandPath, HERE_PATH, wasPassedOn } from './private-port.ts';
import { PEER_HEADER, type PeerRequest, proofOf, sign } from './signature.ts';

/** A carrier's hook; what somebody asks for by the API. */
export type Passed = 'hook' | 'command';

export interface PeersOptions {
  store: Pick<Store, 'self' | 'daemons' | 'ownerOf'>;
  secret: Buffer;
  now: () => Date;
  monotonicMs: () => number;
  log: Pick<Log, 'info' | 'warn'>;
  /** Resolves when what dead daemons had is somebody's. */
  lookForDead(): Promise<void>;
  /** Told of each thing that was for another daemon's call, and whether one took it. */
  counted?: (what: Passed, taken: boolean) => void;
  /** For tests: PASS_MS. */
  passMs?: number;
}

/** What a daemon has to say that it is there. Its control thread may be waiting for a disk. */
const HERE_MS = 2_000;
/** What passing something on may take in all: a carrier waits for an answer no longer than fifteen seconds. */
const PASS_MS = 10_000;
const AGAIN_MS = 500;
const MAX_ANSWER_BYTES = 1_048_576;
/** One that has said nothing for so long, and answers nobody, stands still. */
const SILENT_MS = 10_000;
const STILL_HERE_MS = 1_000;
const NOTHING = Buffer.alloc(0);
/** Of one connection, and none of the next one's business. */
const HOP_HEADERS =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|date|expect)$/;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface Asked {
  method: string;
  path: string;
  headers?: IncomingHttpHeaders;
  body?: Buffer;
}

export class Peers {
  readonly #o: PeersOptions;
  /** Of daemons with calls: what each has last said, and since when it has said nothing else. */
  readonly #said = new Map<number, { alive_at: string; sinceMs: number }>();

  constructor(o: PeersOptions) {
    this.#o = o;
  }

  /** Whether that daemon is there and answers in so many milliseconds. */
  async isHere(daemon: DaemonRecord, withinMs: number): Promise<boolean> {
    const nonce = newNonce();
    const asked = { method: 'GET', path: HERE_PATH };
    const answer = await this.#ask(daemon, asked, AbortSignal.timeout(withinMs), nonce);
    // Whoever has its port now, and is not that daemon, knows no secret.
    return answer?.body.toString() === proofOf(this.#o.secret, daemon.epoch, nonce);
  }

  /**
   * Asks a daemon for a command of its own (private-port.ts `commands`). Null: it does not answer.
   * @throws AppError as it refuses
   */
  async command(
    daemon: DaemonRecord,
    name: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<{ said: unknown } | null> {
    const bytes = Buffer.from(JSON.stringify(body));
    const answer = await this.#askPresent(
      daemon,
      { method: 'POST', path: commandPath(name), body: bytes },
      signal,
    );
    if (answer === null) return null;
    const text = answer.body.toString('utf8');
    if (answer.status === 200) return { said: JSON.parse(text) as unknown };
    const { code, message } = readRefusal(text);
    if (!isErrorCode(code)) throw new Error(`Another daemon answered ${answer.status}.`);
    throw new AppError(code, message ?? '');
  }

  /**
   * Has the owner of a call do what this daemon was asked for.
   * @throws CallElsewhere when it does not answer, or does not have it; AppError as it refuses
   */
  async commandOwner(callId: string, name: string, body: unknown): Promise<void> {
    const done = await this.#toOwner('command', callId, async (owner, signal) => {
      try {
        return (await this.command(owner, name, body, signal)) !== null;
      } catch (error) {
        if (error instanceof AppError && error.code === 'call_elsewhere') return false;
        throw error;
      }
    });
    if (!done) throw new CallElsewhere(callId, await this.#o.store.ownerOf(callId));
  }

  /**
   * Has the owner of a call answer a hook about it: the whole request goes on, so that the owner sees the carrier's
   * signature itself, and trusts this daemon with nothing but the way. @returns false: it does not answer
   */
  async passHook(request: IncomingMessage, response: ServerResponse, callId: string): Promise<boolean> {
    const body = hookBody(request);
    if (wasPassedOn(request) || body === null) return false;
    const asked: Asked = {
      method: request.method ?? 'POST',
      // As the client spelled it: express cuts off what a router is mounted at.
      path: (request as { originalUrl?: string }).originalUrl ?? request.url ?? '',
      headers: { ...request.headers, 'x-forwarded-for': wayOf(request) },
      body,
    };
    return this.#toOwner('hook', callId, async (owner, signal) => {
      const answer = await this.#askPresent(owner, asked, signal);
      if (answer === null || answer.status === ERROR_STATUS.call_elsewhere) return false;
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !HOP_HEADERS.test(name)) response.setHeader(name, value);
      response.statusCode = answer.status;
      response.end(answer.body);
      return true;
    });
  }

  /**
   * Asks the daemon of an epoch for a command of its own, as `command` does.
   * @returns what it says; null: there is no such daemon, or it does not answer
   * @throws AppError as it refuses
   */
  async commandEpoch(epoch: number, name: string, body: unknown): Promise<unknown> {
    const daemon = (await this.#o.store.daemons()).find((one) => one.epoch === epoch);
    if (daemon === undefined) return null;
    return (await this.command(daemon, name, body, AbortSignal.timeout(PASS_MS)))?.said ?? null;
  }

  /**
   * Daemons of this host that have calls and stand still: each has said nothing for a while, and does not answer, asked
   * twice. To be asked every few seconds.
   */
  async standingStill(): Promise<DaemonRecord[]> {
    const others = (await this.#o.store.daemons()).filter((one) => one.epoch !== this.#o.store.self().epoch);
    const silent = others.filter((one) => this.#isSilent(one));
    for (const epoch of this.#said.keys())
      if (!others.some((one) => one.epoch === epoch)) this.#said.delete(epoch);
    const stand = await Promise.all(
      silent.map(
        async (one) => !(await this.isHere(one, STILL_HERE_MS)) && !(await this.isHere(one, STILL_HERE_MS)),
      ),
    );
    return silent.filter((_, index) => stand[index]);
  }

  /** By this daemon's own clock, which nobody sets: since it was first seen to say no more. */
  #isSilent({ epoch, host, alive_at, private_port }: DaemonRecord): boolean {
    const nowMs = this.#o.monotonicMs();
    if (alive_at === null || !isReachable({ host, private_port })) {
      this.#said.delete(epoch);
      return false;
    }
    const before = this.#said.get(epoch);
    if (before?.alive_at === alive_at) return nowMs - before.sinceMs >= SILENT_MS;
    this.#said.set(epoch, { alive_at, sinceMs: nowMs });
    return false;
  }

  /**
   * Tried until an owner of the call takes it, or time is over: one that stands still is missed after a while, and then has
   * an heir. @returns whether one took it
   */
  async #toOwner(
    what: Passed,
    callId: string,
    pass: (owner: DaemonRecord, signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    const { store, log, counted, passMs = PASS_MS } = this.#o;
    const signal = AbortSignal.timeout(passMs);
    let owner = await store.ownerOf(callId);
    while (owner !== null && isReachable(owner) && !signal.aborted) {
      if (await pass(owner, signal)) {
        log.info({ call_id: callId, what, to: owner.epoch }, 'peer.passed_on');
        counted?.(what, true);
        return true;
      }
      // With its death the call has an heir: this daemon, or one that was quicker.
      await this.#o.lookForDead();
      const before = owner.epoch;
      owner = await store.ownerOf(callId);
      if (owner?.epoch === before) await new Promise((over) => setTimeout(over, AGAIN_MS));
    }
    log.warn({ call_id: callId, what }, 'peer.not_passed_on');
    counted?.(what, false);
    return false;
  }

  /** Nothing is sent to a port that is not that daemon's any more. */
  async #askPresent(daemon: DaemonRecord, asked: Asked, signal: AbortSignal): Promise<Answer | null> {
    return (await this.isHere(daemon, HERE_MS)) ? this.#ask(daemon, asked, signal) : null;
  }

  /** Null: no answer, or none in time. */
  async #ask(
    daemon: DaemonRecord,
    { method, path, headers = {}, body = NOTHING }: Asked,
    signal: AbortSignal,
    nonce = newNonce(),
  ): Promise<Answer | null> {
    const { private_port: port, epoch } = daemon;
    if (port === null || !isReachable(daemon)) return null;
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.test(name)));
    const signature = this.#sign({ to: epoch, method, path, body }, nonce);
    const all = { ...kept, 'content-length': body.length, [PEER_HEADER]: signature };
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = httpRequest({
          host: '127.0.0.1',
          port,
          method,
          path,
          headers: all,
          agent: false,
          signal,
        });
        sent.once('response', resolve);
        sent.once('error', reject);
        sent.end(body);
      });
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > MAX_ANSWER_BYTES) return null;
        chunks.push(chunk);
      }
      return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
    } catch {
      // Refused, cut off, too late: who asked makes the same of each.
      return null;
    }
  }

  #sign(request: PeerRequest, nonce = newNonce()): string {
    return sign(this.#o.secret, request, { nowMs: this.#o.now().getTime(), nonce });
  }
}

function readRefusal(text: string): { code?: unknown; message?: string } {
  try {
    return JSON.parse(text) as { code?: unknown; message?: string };
  } catch {
    return {};
  }
}

const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code);

/** It has a port that can be reached from here, whether or not it answers there. */
const isReachable = ({ host, private_port }: Pick<DaemonRecord, 'host' | 'private_port'>) =>
  private_port !== null && host === hostname();

const newNonce = () => randomBytes(16).toString('hex');

/** The addresses that a request came by, as a proxy writes them down. */
function wayOf({ headers, socket }: IncomingMessage): string {
  const before = headers['x-forwarded-for'];
  return [before, socket.remoteAddress].flat().filter(Boolean).join(', ');
}
