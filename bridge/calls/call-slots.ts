// Whether a call is taken now: how many there may be at once, how many may begin in a second, and what else forbids it.
// Which media threads take calls, and the pace of new ones, are admission.ts and call-ramp.ts.
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { CallThreads } from './call-context.ts';
import type { CallRamp } from './call-ramp.ts';

export interface CallSlotsOptions {
  /** Calls at once. */
  maxCalls: number;
  /** How many calls there are. */
  taken(): number;
  /** Null while they are not there yet. */
  threads(): Pick<CallThreads, 'ready' | 'admits'> | null;
  /** How many calls may begin in a second; without one, any number. */
  ramp?: Pick<CallRamp, 'turn'> | undefined;
  /** The disk has too little left for new calls, or takes no writes. */
  storageLow(): boolean;
  /** A call is not taken, and why. */
  refused(why: string): void;
  log: Log;
}

export class CallSlots {
  readonly #o: CallSlotsOptions;
  #accepting = true;
  /** Slots of calls that wait for their turn and are not counted by `taken` yet. */
  #waiting = 0;
  /** Why calls are not taken, as the log was told. */
  #refusing: string | null = null;

  constructor(o: CallSlotsOptions) {
    this.#o = o;
  }

  get accepting(): boolean {
    return this.#accepting;
  }

  /** No call is taken any more. */
  close(): void {
    this.#accepting = false;
  }

  /**
   * Waits for a call's turn and answers what `begin` makes of it, which from then on is counted by `taken`. Nothing is
   * waited for between the look and the taking: of any number of calls at the last slot one gets it.
   * @throws AppError draining, storage_low, at_capacity, before anything is left behind
   */
  async admit<T>(begin: () => T): Promise<T> {
    this.#look();
    const { maxCalls } = this.#o;
    if (this.#o.taken() + this.#waiting >= maxCalls) {
      const message = `All ${maxCalls} lines are in use; try again when a call has ended.`;
      this.#refuse('at_capacity', 'at_capacity', message, 5);
    }
    this.#waiting++;
    try {
      await this.#turn();
      return begin();
    } finally {
      this.#waiting--;
    }
  }

  /** A call that has its slot waits for its turn to begin, and looks again when that took a while. */
  async #turn(): Promise<void> {
    const turn = this.#o.ramp?.turn() ?? true;
    if (turn !== true) {
      if (!(await turn)) {
        const message = 'More calls came at once than can be begun well; try again in a moment.';
        this.#refuse('at_capacity', 'ramp', message, 2);
      }
      this.#look();
    }
    if (this.#refusing !== null) this.#o.log.info({ live: this.#o.taken() }, 'calls.taken_again');
    this.#refusing = null;
  }

  /** Throws when no call is taken now, however many lines are free. */
  #look(): void {
    if (!this.#accepting)
      this.#refuse('draining', 'draining', 'The daemon is shutting down and takes no new calls.', 30);
    if (this.#o.storageLow()) {
      const message = 'The disk of the daemon is nearly full, or takes no writes; no new calls are taken.';
      this.#refuse('storage_low', 'storage_low', message, 30);
    }
    const threads = this.#o.threads();
    if (threads === null)
      throw new AppError('at_capacity', 'The daemon is still starting.', { retryAfterSeconds: 1 });
    if (threads.ready() && !threads.admits()) {
      const message =
        'The media threads run late: no call is taken until they keep time again, so that those on the line stay good.';
      this.#refuse('at_capacity', 'late', message, 5);
    }
  }

  /** Counts a call that is not taken; the log has a line when a reason begins to hold, not one per call. */
  #refuse(
    code: 'draining' | 'storage_low' | 'at_capacity',
    why: string,
    message: string,
    retryAfterSeconds: number,
  ): never {
    this.#o.refused(why);
    if (this.#refusing !== why) this.#o.log.warn({ why, live: this.#o.taken() }, 'calls.refused');
    this.#refusing = why;
    throw new AppError(code, message, { retryAfterSeconds });
  }
}
