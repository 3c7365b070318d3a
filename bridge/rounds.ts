// When a thread that sound comes to works. With a handful of calls whatever comes wakes it. With more it works in rounds: it
// sleeps, then reads all its sockets, then ticks, and writes what comes of both. Waking up costs more than reading, so that many
// share one.
import { LoopDelay } from './loop-delay.ts';

/** From so many calls on rounds cost less than being woken. */
export const ROUNDS_FROM = 6;
/** From so many on a round's own price, most of which is to wake up with cold caches, is nothing beside what is done in it. */
export const MANY_CALLS = 30;
/** What comes waits for up to this long, the longer the fewer share a round. Ticks are whole numbers of both apart. */
export const ROUND_MS = { few: 10, many: 5 } as const;
/** Less is not worth falling asleep for. */
const LEAST_SLEEP_MS = 0.2;

/** What a thread does at its times, beside what comes. */
export interface TickingClock {
  /** When it is due next, by the monotonic clock, in milliseconds. */
  readonly dueMs: number;
  /** How far apart its times are. */
  readonly everyMs: number;
  /** Does what is due at `nowMs`, if anything is. */
  run(nowMs: number): void;
}

/** What a thread's loop can do. Each answers what takes its order back. */
export interface Loop {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** Stands still: nothing else of the thread runs. */
  sleep(ms: number): void;
  /** Runs once, when all that can be read now has been, without waiting for more. */
  afterReading(run: () => void): () => void;
  /** Runs once after `ms`; until then the loop waits for events. */
  after(ms: number, run: () => void): () => void;
}

/** Nobody wakes it: it is there to be waited at. */
const bed = new Int32Array(new SharedArrayBuffer(4));

const threadLoop: Loop = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(bed, 0, 0, ms),
  afterReading(run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
  after(ms, run) {
    // It counts whole milliseconds, from the last one that had begun: one that is early would be two wake-ups.
    const timer = setTimeout(run, Math.ceil(ms) + 1);
    return () => clearTimeout(timer);
  },
};

/**
 * ```
 * events:  wait for what comes, or for the next tick -> tick -> ...
 * rounds:  sleep until the round begins -> timers, sockets, messages of the control thread -> tick -> these once more
 *          -> sleep ...
 * ```
 */
export class Rounds {
  readonly #clock: TickingClock;
  readonly #loop: Loop;
  readonly #delay: LoopDelay;
  #calls = 0;
  #isStirred = false;
  #how: 'events' | 'rounds' | 'closed' = 'events';
  /** When the next round begins. Ticks are due as rounds begin. */
  #roundMs = 0;
  #takeBack: () => void;

  /** Begins at once. It runs always: VAD batches and pacing of all calls hang on the clock. */
  constructor(clock: TickingClock, loop: Loop = threadLoop, delay: LoopDelay = new LoopDelay()) {
    this.#clock = clock;
    this.#loop = loop;
    this.#delay = delay;
    this.#takeBack = this.#untilTick();
  }

  /** So many calls live on the thread from now on. */
  carry(calls: number): void {
    this.#calls = calls;
    if (this.#how !== 'events' || calls < ROUNDS_FROM) return;
    this.#how = 'rounds';
    this.#takeBack();
    this.#roundMs = this.#nextRound(this.#loop.now());
    this.#takeBack = this.#loop.afterReading(this.#onRead);
  }

  /** Somebody was let in, and others may wait behind: the loop turns again before it sleeps. One is let in each turn. */
  stir(): void {
    this.#isStirred = true;
  }

  /** How late the thread came to its rounds, or to its ticks while events wake it; since the last reading, in milliseconds. */
  delay(): { p99Ms: number; maxMs: number } {
    return this.#delay.read();
  }

  /** Nothing ticks any more. */
  close(): void {
    this.#how = 'closed';
    this.#takeBack();
  }

  #untilTick(): () => void {
    return this.#loop.after(Math.max(0, this.#clock.dueMs - this.#loop.now()), this.#onTimer);
  }

  readonly #onTimer = (): void => {
    const nowMs = this.#loop.now();
    if (nowMs >= this.#clock.dueMs) this.#delay.round(nowMs - this.#clock.dueMs, this.#clock.everyMs);
    this.#clock.run(nowMs);
    // A tick may have closed this, or brought a call.
    if (this.#how === 'events') this.#takeBack = this.#untilTick();
  };

  readonly #onRead = (): void => {
    const readMs = this.#loop.now();
    const isTick = readMs >= this.#clock.dueMs;
    this.#clock.run(readMs);
    // What a tick has begun goes on before the sleep: its promises, and over TLS what it wrote behind a first write.
    const turnsAgain = isTick || this.#isStirred;
    this.#isStirred = false;
    if (this.#how !== 'rounds') return;
    if (this.#calls < ROUNDS_FROM) {
      this.#how = 'events';
      this.#takeBack = this.#untilTick();
      return;
    }
    const restMs = this.#roundMs - this.#loop.now();
    if (restMs > LEAST_SLEEP_MS && turnsAgain) {
      this.#takeBack = this.#loop.afterReading(this.#onRead);
      return;
    }
    if (restMs > LEAST_SLEEP_MS) this.#loop.sleep(restMs);
    const nowMs = this.#loop.now();
    this.#delay.round(Math.max(0, nowMs - this.#roundMs), this.#everyMs);
    this.#roundMs = this.#nextRound(Math.max(nowMs, this.#roundMs));
    this.#takeBack = this.#loop.afterReading(this.#onRead);
  };

  get #everyMs(): number {
    return this.#calls < MANY_CALLS ? ROUND_MS.few : ROUND_MS.many;
  }

  /** The first after `afterMs`: they stand where ticks are due and between them, and those that were missed are left out. */
  #nextRound(afterMs: number): number {
    const everyMs = this.#everyMs;
    const { dueMs } = this.#clock;
    return dueMs - (Math.ceil((dueMs - afterMs) / everyMs) - 1) * everyMs;
  }
}
