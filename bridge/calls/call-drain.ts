// The orderly end of all calls: no new ones, a last line where there is time for one, and an end of each in the records,
// whatever the carrier answers.
import type { Log } from '../../log.ts';
import type { Fault, HangupCause } from '../protocol/call-reasons.ts';
import type { Call } from './call.ts';
import { CLOSING_LINE_MS } from './call-limits.ts';
import type { CallSlots } from './call-slots.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** At the cap of a drain: to hang up what is left. */
const END_ALL_MS = 4_500;
/** Of the time that all calls have to end: what is the carrier's. The rest is for the records and the media threads. */
const CARRIER_SHARE = 0.6;

/** Why all calls are ended at once. */
export type StopCause = Extract<HangupCause, 'draining' | 'daemon_stopped'>;

export class CallDrain {
  readonly #owned: OwnedCalls;
  readonly #slots: CallSlots;
  readonly #log: Log;

  constructor(owned: OwnedCalls, slots: CallSlots, log: Log) {
    this.#owned = owned;
    this.#slots = slots;
    this.#log = log;
  }

  /** Waits for live calls up to `seconds`, then has the agents say a closing line, then hangs up. */
  async drain(seconds: number): Promise<void> {
    this.#slots.close();
    this.#log.info({ live: this.#owned.size, seconds }, 'drain.started');
    const closingMs = Math.min(CLOSING_LINE_MS, (seconds * 1000) / 2);
    if (await this.#idle(seconds * 1000 - closingMs)) return;
    for (const call of this.#owned.all()) {
      call.tell({ type: 'last-line', reason: 'draining' }).catch((error: unknown) => {
        this.#log.error({ call_id: call.id, err: error }, 'call.step_failed');
      });
    }
    if (await this.#idle(closingMs)) return;
    await this.endAll('draining', END_ALL_MS);
  }

  /** Takes no new calls; resolves when the last of those there are is over. */
  async finish(): Promise<void> {
    this.#slots.close();
    await this.#idle(Number.POSITIVE_INFINITY);
  }

  /** Hangs up everything and records each end, whatever the carrier answers, in `withinMs`. */
  async endAll(cause: StopCause, withinMs: number): Promise<void> {
    this.#slots.close();
    const until = performance.now() + withinMs;
    await Promise.all(
      this.#owned.all().map((call) =>
        endOne(call, cause, withinMs * CARRIER_SHARE).catch((failure: unknown) => {
          this.#log.error({ call_id: call.id, err: failure }, 'call.not_ended');
        }),
      ),
    );
    await this.#idle(until - performance.now());
  }

  async #idle(ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    while (this.#owned.size > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return this.#owned.size === 0;
  }
}

async function endOne(call: Call, cause: StopCause, carrierMs: number): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, carrierMs + 50));
  // While the carrier is being asked for a call nobody can hang it up: it could ring after its record has ended. The next
  // start asks the carrier what became of it, and hangs it up.
  if (!(await call.dialled(carrierMs))) return;
  const error: Fault | null =
    cause === 'draining' ? null : { code: cause, message: 'The service was stopped during the call.' };
  await Promise.race([call.end({ cause, error }).catch(() => null), late]);
  // The carrier did not answer in time. The record does not wait for it; its line is bounded by its own time limit.
  await call.tell({ type: 'record-end', cause });
}
