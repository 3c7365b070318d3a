// Kills the daemon in mid-call and starts it again at once, as systemd or a container runtime would. Whoever asks the daemon
// something meanwhile waits for it.
import { type Lab, untilListening } from '../lab.ts';
import type { Killed } from './evidence.ts';
import type { StreamEvent } from './follow.ts';
import type { Kill } from './scenarios.ts';

const LOOK_MS = 20;

export class Supervisor {
  readonly #lab: Lab;
  readonly #kill: Kill;
  readonly #tell: (text: string) => void;
  /** The step of the person is over, and the agent's next sound is its answer. */
  #armed = false;
  #timer: NodeJS.Timeout | null = null;
  #restarting: Promise<void> = Promise.resolve();
  #isUp = true;
  #killed: Killed | null = null;
  #deadLines: readonly string[] = [];

  constructor(lab: Lab, kill: Kill, tell: (text: string) => void) {
    this.#lab = lab;
    this.#kill = kill;
    this.#tell = tell;
    lab.api = this.#patient(lab.api);
  }

  /** When it was killed; null: not yet. */
  get killed(): Killed | null {
    return this.#killed;
  }

  /** What the process wrote that was killed. */
  get deadLines(): readonly string[] {
    return this.#deadLines;
  }

  /** An event of the phone network. */
  phone(event: StreamEvent): void {
    if (event.type === 'callee.step' && event.index === this.#kill.step && event.state === 'ended') {
      this.#armed = true;
    }
    if (event.type !== 'agent.audible' || !this.#armed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#restarting = this.#restart();
      // Whoever asks the daemon next is told.
      this.#restarting.catch(() => {});
    }, this.#kill.afterMs);
  }

  /** Resolves when a restart that is under way is done; nothing is killed any more. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#restarting.catch(() => {});
  }

  async #restart(): Promise<void> {
    const { daemon } = this.#lab;
    const atMs = Date.now();
    this.#isUp = false;
    this.#tell('the daemon is killed (SIGKILL), in the middle of the call');
    await daemon.stop('SIGKILL');
    this.#deadLines = daemon.lines;
    const [listeningMs] = await Promise.all([untilListening(daemon.url), this.#lab.restartDaemon()]);
    this.#killed = { atMs, listeningMs };
    this.#isUp = true;
    this.#tell(`started again, it takes connections after ${((listeningMs - atMs) / 1000).toFixed(2)} s`);
  }

  /** Asks again what a kill left unanswered. */
  #patient(api: Lab['api']): Lab['api'] {
    return async (...request) => {
      for (;;) {
        await this.#restarting;
        try {
          return await api(...request);
        } catch (error) {
          if (this.#isUp && !isRefused(error)) throw error;
          await new Promise((later) => setTimeout(later, LOOK_MS));
        }
      }
    };
  }
}

/** A connection that did not come about, or broke: between a kill and its being noticed. */
function isRefused(error: unknown): boolean {
  const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
}
