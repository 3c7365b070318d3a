// The daemon goes over to another process of the program, on its folder and its port: that one is started, or asks by itself;
// once it takes calls, this one leaves the port, takes none, and ends with the last that it has. What each step is made of is
// the daemon's.
//
//   running ── upgrade ─► starting ── join ─► starting ── ready ─► leaving ── last call over ─► gone
//      ▲                     │ it ended, and never was ready
//      └─────────────────────┘
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';

/** What the next process listens by. */
export interface HandedPort {
  address: AddressInfo;
  /** Whether it may listen there beside this one, without this one's socket. */
  isShared: boolean;
}

/** What of the daemon goes over, and how. */
export interface HandoverOptions {
  store: Pick<Store, 'self' | 'letOthersIn' | 'tellSelf' | 'findCall'>;
  log: Log;
  now: () => Date;
  /** Other daemons may join at any time. */
  sharesFolder: boolean;
  /** Why nobody can go on for this daemon; null: somebody can. */
  hindered(): string | null;
  port(): HandedPort;
  /** The socket that it listens by; null where that is not known. */
  descriptor(): number | null;
  /** Starts the program of that folder as a process that goes on for the daemon of that epoch. */
  start(folder: string, descriptor: number | null, epoch: number): ChildProcess;
  /** What a supervisor is told. */
  tell(states: readonly string[]): void;
  /** The process that goes on for this one has died, and none goes on for that. */
  heirDied(): void;
  /** Listens no longer; resolves when nothing new comes any more. */
  leavePort(): Promise<void>;
  /** Of the calls that it has, the oldest first. */
  callIds(): string[];
  /** Takes no new call; resolves when the last is over. */
  finishCalls(): Promise<void>;
  /** For tests: REPORT_MS, HOLD_AGAIN_MS. */
  reportMs?: number;
  holdAgainMs?: number;
}

/** As whoever waits for the end of an upgrade is told. */
export interface HandoverReport {
  at: 'running' | 'starting' | 'leaving';
  /** Why the last one came to nothing. */
  failed: string | null;
  calls: number;
  /** Age of the oldest, in seconds. */
  oldestSeconds: number;
  /** Who goes on, once it does. */
  heir: { epoch: number; pid: number; version: string } | null;
}

/** Calls that are left are told of this often. */
const REPORT_MS = 60_000;
/** So many by name. */
const MOST_NAMED = 20;
/** Whoever was let in and has not come is waited for so long at least. */
const HOLD_AGAIN_MS = 10_000;
const HOLD_MS = 1_000;

/** Starts a program as a process that goes on for this one: with its settings, its output, and its socket as descriptor 3. */
export function startProgram(
  folder: string,
  descriptor: number | null,
  { env, epoch }: { env: Record<string, string | undefined>; epoch: number },
): ChildProcess {
  // A version may bring its own Node.
  const own = join(folder, 'node_modules/.bin/node');
  const node = existsSync(own) ? own : process.execPath;
  const { LISTEN_FDS: _fds, LISTEN_PID: _pid, ...kept } = env;
  const socket = descriptor === null ? {} : { LISTEN_FDS: '1', LISTEN_PID: String(process.pid) };
  const child = spawn(node, [...process.execArgv, join(folder, 'main.js')], {
    env: { ...kept, ...socket, OFFHOOK_TAKES_OVER: String(epoch) },
    stdio: ['ignore', 'inherit', 'inherit', ...(descriptor === null ? [] : [descriptor])],
  });
  child.unref();
  return child;
}

/** What others may ask for, on the private port. @param handover null: while the daemon starts */
export function handoverCommands(
  handover: () => Handover | null,
): Record<'upgrade' | 'join' | 'ready' | 'upgrade-state', (body: unknown) => Promise<unknown>> {
  const here = () => {
    const found = handover();
    if (found === null) throw new AppError('conflict', 'The daemon is still starting.');
    return found;
  };
  return {
    upgrade: async (body) => here().upgrade((body as { folder: string }).folder),
    join: async (body) => here().letIn((body as { hasSocket: boolean }).hasSocket),
    ready: async (body) => here().leave(body as NonNullable<HandoverReport['heir']>),
    'upgrade-state': async () => here().report(),
  };
}

/**
 * Nobody else is to join, now that one has: as soon as that goes, and unless the next is on its way.
 * @returns ends it
 */
export function holdFolder(
  { letOthersIn }: Pick<Store, 'letOthersIn'>,
  o: {
    mayHold: () => boolean;
    /** For tests: HOLD_MS. */
    holdMs?: number;
  },
): () => void {
  const timer = setInterval(
    () => o.mayHold() && letOthersIn(false) && clearInterval(timer),
    o.holdMs ?? HOLD_MS,
  );
  timer.unref();
  return () => clearInterval(timer);
}

type State =
  | { at: 'running'; failed: string | null }
  | { at: 'starting' }
  | { at: 'leaving'; heir: NonNullable<HandoverReport['heir']> };

export class Handover {
  readonly #o: HandoverOptions;
  #state: State = { at: 'running', failed: null };
  #holdAgain: NodeJS.Timeout | undefined;
  readonly #over = Promise.withResolvers<void>();
  /** Once it is leaving. */
  #left: Promise<void> = Promise.resolve();

  /** Nothing goes over before somebody asks for it. */
  constructor(o: HandoverOptions) {
    this.#o = o;
  }

  /** Resolves when another process has all that comes, and nothing is left here. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Another process has the port. */
  get isLeaving(): boolean {
    return this.#state.at === 'leaving';
  }

  /** Nobody is on the way to go on for it. */
  get isStaying(): boolean {
    return this.#state.at === 'running';
  }

  /** Nothing more is done by itself; what is under way goes on. */
  close(): void {
    clearTimeout(this.#holdAgain);
  }

  /** Starts a program that is to go on for this one. @throws AppError conflict, invalid_request */
  async upgrade(folder: string): Promise<{ pid: number }> {
    this.#refuse();
    if (!existsSync(join(folder, 'main.js')))
      throw new AppError('invalid_request', `There is no program in ${folder}: it has no main.js.`);
    const { log, tell } = this.#o;
    const child = this.#o.start(folder, this.#o.descriptor(), this.#o.store.self().epoch);
    this.#state = { at: 'starting' };
    tell(['RELOADING=1']);
    const failed = (why: string) => this.#failed(why);
    child.once('error', (error) => failed(`The new process could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      failed(`The new process ended at its start (${how}); its log says why.`);
      // One that ends as it should has been stopped, or has an heir of its own.
      if (code !== 0) this.#childDied(child.pid, how);
    });
    log.info({ pid: child.pid, folder }, 'handover.started');
    return { pid: child.pid ?? 0 };
  }

  /** Its parent alone hears of its death: a supervisor hears of what it has started, and of what that leaves behind. */
  #childDied(pid: number | undefined, how: string): void {
    const state = this.#state;
    if (state.at !== 'leaving' || state.heir.pid !== pid) return;
    this.#o.log.error({ to: state.heir.epoch, how }, 'handover.heir_died');
    this.#o.heirDied();
  }

  #failed(why: string): void {
    if (this.#state.at !== 'starting') return;
    this.#o.log.error({ why }, 'handover.failed');
    this.#state = { at: 'running', failed: why };
    this.#o.tell(['READY=1']);
    this.#holdSoon();
  }

  /** Who asks may open the database next. @throws AppError conflict */
  letIn(hasSocket: boolean): HandedPort {
    if (this.#state.at !== 'starting') this.#refuse();
    const port = this.#o.port();
    if (!hasSocket && !port.isShared) {
      const message =
        'Its port cannot be shared: only a process that it starts itself, and that has its socket, can go on for it (offhook upgrade).';
      throw new AppError('conflict', message);
    }
    this.#o.store.letOthersIn(true);
    this.#holdSoon();
    return port;
  }

  /** Unless somebody goes on for it, nobody else is to come. */
  #holdSoon(): void {
    clearTimeout(this.#holdAgain);
    if (this.#o.sharesFolder) return;
    this.#holdAgain = setTimeout(() => {
      if (this.#state.at === 'leaving') return;
      if (this.#state.at === 'starting' || !this.#o.store.letOthersIn(false)) this.#holdSoon();
    }, this.#o.holdAgainMs ?? HOLD_AGAIN_MS);
    this.#holdAgain.unref();
  }

  /**
   * Whoever asks takes calls, and may ask again. Resolves when nothing comes to this daemon by the port any more.
   * @throws AppError conflict
   */
  async leave(heir: NonNullable<HandoverReport['heir']>): Promise<void> {
    if (this.#state.at !== 'leaving') {
      this.#state = { at: 'leaving', heir };
      this.#left = this.#leave(heir);
    } else if (this.#state.heir.epoch !== heir.epoch)
      throw new AppError('conflict', 'Another process goes on for this one.');
    await this.#left;
  }

  /** From here on there is no way back: what fails is told, and keeps neither process from what is next. */
  async #leave(heir: NonNullable<HandoverReport['heir']>): Promise<void> {
    const { store, log } = this.#o;
    const failed = (error: unknown) => log.error({ err: error }, 'handover.not_finished');
    log.info({ to: heir.epoch, version: heir.version, calls: this.#o.callIds().length }, 'handover.leaving');
    // Held again if it was long in coming: an upgrade of the heir is not to wait for the last call here.
    store.letOthersIn(true);
    await this.#o.leavePort().catch(failed);
    await this.#tellLeaving().catch(failed);
    void this.#finish();
  }

  async #tellLeaving(): Promise<void> {
    const { store } = this.#o;
    if (store.self().state !== 'leaving') await store.tellSelf({ state: 'leaving' });
  }

  async #finish(): Promise<void> {
    const { log } = this.#o;
    const timer = setInterval(() => void this.#tellLeft(), this.#o.reportMs ?? REPORT_MS);
    try {
      await this.#o.finishCalls();
    } catch (error) {
      log.error({ err: error }, 'handover.not_finished');
    } finally {
      clearInterval(timer);
    }
    log.info({}, 'handover.over');
    this.#over.resolve();
  }

  async #tellLeft(): Promise<void> {
    // A disk that was full may have room now.
    await this.#tellLeaving().catch(() => {});
    const ids = this.#o.callIds();
    const oldest_seconds = await this.#ageOf(ids[0]);
    this.#o.log.warn(
      { live: ids.length, oldest_seconds, calls: ids.slice(0, MOST_NAMED) },
      'handover.waiting',
    );
  }

  async report(): Promise<HandoverReport> {
    const state = this.#state;
    const ids = this.#o.callIds();
    return {
      at: state.at,
      failed: state.at === 'running' ? state.failed : null,
      calls: ids.length,
      oldestSeconds: await this.#ageOf(ids[0]),
      heir: state.at === 'leaving' ? state.heir : null,
    };
  }

  async #ageOf(callId: string | undefined): Promise<number> {
    const call = callId === undefined ? null : await this.#o.store.findCall(callId);
    const bornMs = call === null ? Number.NaN : Date.parse(call.created_at);
    return Number.isNaN(bornMs) ? 0 : Math.max(0, Math.round((this.#o.now().getTime() - bornMs) / 1000));
  }

  /** @throws AppError conflict */
  #refuse(): void {
    const why =
      this.#state.at === 'running' ? this.#o.hindered() : 'An upgrade is under way already; one at a time.';
    if (why !== null) throw new AppError('conflict', why);
  }
}
