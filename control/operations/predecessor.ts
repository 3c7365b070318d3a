// The daemon of this folder that another process goes on for, as that process and the command of an upgrade see it: found by the
// folder's database, asked by its private port.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPeerSecret } from '../../bridge/peers/peer-secret.ts';
import { Peers } from '../../bridge/peers/peers.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { DaemonRecord } from '../../storage/records.ts';
import { livingDaemons } from '../../storage/sqlite/host-commands.ts';
import type { HandedPort, HandoverReport } from './handover.ts';

/** What it may take to answer: its control thread may be waiting for a disk. */
const ANSWER_MS = 30_000;
const HERE_MS = 2_000;
const LOOK_MS = 250;

/** Any daemon of the folder; there has to be but one. */
export const ANY = 'any';

export class Predecessor {
  readonly daemon: DaemonRecord;
  readonly #peers: Peers;
  readonly #databasePath: string;

  /**
   * @param o.which its epoch, or ANY
   * @returns null: there is none, and any would do
   * @throws Error with the one line to show, where that one is not there, cannot hand over, or is one of several
   */
  static find(o: {
    databasePath: string;
    dataDir: string;
    which: string;
    clock: Pick<Clock, 'now' | 'monotonicMs'>;
    log: Pick<Log, 'info' | 'warn'>;
  }): Predecessor | null {
    const living = existsSync(o.databasePath)
      ? livingDaemons(o.databasePath).filter(({ state }) => state === 'running')
      : [];
    const found = living.filter(({ epoch }) => o.which === ANY || o.which === String(epoch));
    const [daemon] = found;
    if (daemon === undefined) {
      if (o.which === ANY) return null;
      throw new Error(`no daemon of number ${o.which} runs on ${o.dataDir}`);
    }
    if (found.length > 1) {
      const list = found.map(({ epoch, pid }) => `${epoch} (process ${pid})`).join(', ');
      throw new Error(`several daemons run on ${o.dataDir}: say which one, by its number: ${list}`);
    }
    if (daemon.private_port === null)
      throw new Error(
        `the daemon that runs on ${o.dataDir} (process ${daemon.pid}) is of a version that cannot hand over: restart it`,
      );
    const nobody = { self: () => daemon, daemons: async () => [], ownerOf: async () => null };
    const secret = findPeerSecret(o.dataDir);
    if (secret === null)
      throw new Error(
        `peers.key is missing in ${o.dataDir}, by which its daemon is asked: restart the daemon`,
      );
    const peers = new Peers({ ...o.clock, store: nobody, secret, log: o.log, lookForDead: async () => {} });
    return new Predecessor(daemon, peers, o.databasePath);
  }

  private constructor(daemon: DaemonRecord, peers: Peers, databasePath: string) {
    this.daemon = daemon;
    this.#databasePath = databasePath;
    this.#peers = peers;
  }

  /** Has it start that program. @throws Error as it refuses, or does not answer */
  async upgrade(folder: string): Promise<void> {
    await this.#ask('upgrade', { folder });
  }

  /** Has it let this process in. @throws Error as it refuses, or does not answer */
  async join(o: { hasSocket: boolean }): Promise<HandedPort> {
    return (await this.#ask('join', o)) as HandedPort;
  }

  /** This process takes calls: it leaves the port. Resolves when it has, or is gone. @throws Error as it refuses */
  async ready(heir: NonNullable<HandoverReport['heir']>): Promise<void> {
    await this.#askLiving('ready', heir);
  }

  /** Null: it is gone. @throws Error when it is there and does not say */
  async report(): Promise<HandoverReport | null> {
    return (await this.#askLiving('upgrade-state', {})) as HandoverReport | null;
  }

  #isHere(): Promise<boolean> {
    return this.#peers.isHere(this.daemon, HERE_MS);
  }

  /** Has it end what it has left: SIGTERM lets live calls end. Resolves when it is gone, or after so long. */
  async end(signal: 'SIGTERM' | 'SIGINT', withinMs: number): Promise<void> {
    if (!(await this.#isHere())) return;
    try {
      process.kill(this.daemon.pid, signal);
    } catch {
      // Of another container: it ends with its last call.
      return;
    }
    const until = performance.now() + withinMs;
    while (performance.now() < until && (await this.#isHere())) await sleep(LOOK_MS);
  }

  /** One that says nothing may be waiting for its disk: gone is only who is proven dead. Null: it is. @throws as `#ask` */
  async #askLiving(name: string, body: unknown): Promise<unknown> {
    for (const until = performance.now() + ANSWER_MS; ; await sleep(LOOK_MS)) {
      try {
        return await this.#ask(name, body);
      } catch (error) {
        if (!livingDaemons(this.#databasePath).some(({ epoch }) => epoch === this.daemon.epoch)) return null;
        if (error instanceof AppError || performance.now() >= until) throw error;
      }
    }
  }

  async #ask(name: string, body: unknown): Promise<unknown> {
    const answer = await this.#peers.command(this.daemon, name, body, AbortSignal.timeout(ANSWER_MS));
    if (answer === null) throw new Error(`the daemon that runs (process ${this.daemon.pid}) does not answer`);
    return answer.said;
  }
}
