// Who is attempted now: so many at once in all, so many a receiver, and one at a time for a call at a receiver.
// The rest wait in a line per receiver, so that a dead receiver holds its own deliveries up and nobody else's.
// Lines are memory only: what is dropped here is found again by the sweep, because storage still says that it is due.
import type { Log } from '../../log.ts';
import { receiverOf } from '../../storage/due-delivery.ts';
import type { ClaimedDelivery, DueDelivery } from '../../storage/store.ts';
import { type Delivery, LEASE_MS } from './delivery.ts';

export const MAX_IN_FLIGHT = 50;
const MAX_IN_FLIGHT_A_RECEIVER = 5;
/** Ids waiting in all lines together. */
const MAX_WAITING = 20_000;
/** Characters of bodies that taken deliveries in the lines keep; beyond, the longest line gives some back. */
const MAX_TAKEN_LENGTH = 32 * 1024 * 1024;
/** The part of a lease that is left for the attempt itself when a taken delivery leaves its line. */
const LEASE_RESERVE = 1 / 3;
const MAX_KNOWN = 20_000;

interface Entry {
  id: string;
  attempt: number;
  callId: string | null;
  /** Set where it had to be taken to learn whose it is. */
  taken: { claimed: ClaimedDelivery; atMs: number } | null;
}

interface Receiver {
  key: string;
  running: number;
  /** Calls with an attempt under way here: events of one call arrive in order as far as one attempt each goes. */
  calls: Set<string>;
  line: Entry[];
}

export interface Dispatcher {
  /** Attempts a due delivery now, or lines it up. Resolves when the attempt is over, or at once when lined up. Never rejects. */
  run(id: string, attempt: number): Promise<void>;
  /** Notes whose a delivery is, so that it can line up without being taken first. */
  know(due: Pick<DueDelivery, 'id' | 'receiver' | 'callId'>): void;
  /** Whether a delivery is under way or in a line. */
  has(id: string): boolean;
  inFlight(): number;
  waiting(): number;
  /** Takes no more, waits up to `graceMs`, or until `hurry`, for what is under way and in the lines, then aborts it. */
  close(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface DispatcherOptions {
  delivery: Delivery;
  log: Log;
  leaseMs?: number;
  /** Of a clock that only goes forward. */
  now?: () => number;
}

const lengthOf = (entry: Entry): number => entry.taken?.claimed.body.length ?? 0;

export function openDispatcher(o: DispatcherOptions): Dispatcher {
  return new Lines(o);
}

/** What is under way and what waits, a line per receiver. */
class Lines implements Dispatcher {
  readonly #o: DispatcherOptions;
  readonly #leaseMs: number;
  readonly #now: () => number;
  /** Deliveries under way or in a line; the value is the attempt that came due meanwhile (a retry, a replay), or null. */
  readonly #hand = new Map<string, number | null>();
  readonly #receivers = new Map<string, Receiver>();
  /** Whose a delivery is, told by storage or learned when it was first taken; the oldest are forgotten first. */
  readonly #known = new Map<string, { key: string; callId: string | null }>();
  readonly #stop = new AbortController();
  #running = 0;
  #taking = 0;
  #waiting = 0;
  #takenLength = 0;
  #closing = false;
  #onIdle: (() => void) | null = null;

  constructor(o: DispatcherOptions) {
    this.#o = o;
    this.#leaseMs = o.leaseMs ?? LEASE_MS;
    this.#now = o.now ?? (() => performance.now());
  }

  know({ id, receiver, callId }: Parameters<Dispatcher['know']>[0]): void {
    this.#learn(id, receiver, callId);
  }

  has(id: string): boolean {
    return this.#hand.has(id);
  }

  inFlight(): number {
    return this.#running;
  }

  waiting(): number {
    return this.#waiting;
  }

  #idle(): boolean {
    return this.#running === 0 && this.#waiting === 0 && this.#taking === 0;
  }

  #learn(id: string, key: string, callId: string | null): { key: string; callId: string | null } {
    const about = { key, callId };
    this.#known.delete(id);
    this.#known.set(id, about);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return about;
  }

  #receiver(key: string): Receiver {
    let found = this.#receivers.get(key);
    if (found === undefined) {
      found = { key, running: 0, calls: new Set(), line: [] };
      this.#receivers.set(key, found);
    }
    return found;
  }

  #mayStart(at: Receiver, callId: string | null): boolean {
    return (
      this.#running < MAX_IN_FLIGHT &&
      at.running < MAX_IN_FLIGHT_A_RECEIVER &&
      (callId === null || !at.calls.has(callId))
    );
  }

  #lineUp(at: Receiver, entry: Entry): void {
    at.line.push(entry);
    this.#waiting++;
    this.#takenLength += lengthOf(entry);
    while (this.#waiting > MAX_WAITING || this.#takenLength > MAX_TAKEN_LENGTH) this.#giveBack();
  }

  /** Drops the last of the longest line: who has most waiting waits longest. */
  #giveBack(): void {
    let longest: Receiver | null = null;
    for (const at of this.#receivers.values()) if (at.line.length > (longest?.line.length ?? 0)) longest = at;
    const entry = longest?.line.pop();
    if (longest === null || entry === undefined) return;
    this.#waiting--;
    this.#takenLength -= lengthOf(entry);
    this.#hand.delete(entry.id);
    if (entry.taken !== null) {
      this.#o.delivery
        .giveBack(entry.taken.claimed)
        .catch((err: unknown) =>
          this.#o.log.error({ delivery_id: entry.id, err }, 'delivery.not_given_back'),
        );
    }
    if (longest.running === 0 && longest.line.length === 0) this.#receivers.delete(longest.key);
  }

  /** Starts what may start, a receiver at a time in turn. */
  #advance(): void {
    let started = true;
    while (started && this.#running < MAX_IN_FLIGHT) {
      started = false;
      for (const at of [...this.#receivers.values()]) {
        if (at.running >= MAX_IN_FLIGHT_A_RECEIVER) continue;
        const index = at.line.findIndex((entry) => this.#mayStart(at, entry.callId));
        const entry = at.line[index];
        if (entry === undefined) continue;
        at.line.splice(index, 1);
        this.#waiting--;
        this.#takenLength -= lengthOf(entry);
        started = true;
        void this.#start(at, entry);
      }
    }
    if (this.#idle()) this.#onIdle?.();
  }

  /** Still ours to post, to be taken again, or in between: then the sweep brings it back once the lease is over. */
  async #takeUp(entry: Entry): Promise<ClaimedDelivery | null> {
    if (entry.taken !== null) {
      const ageMs = this.#now() - entry.taken.atMs;
      if (ageMs <= this.#leaseMs * (1 - LEASE_RESERVE)) return entry.taken.claimed;
      if (ageMs <= this.#leaseMs) return null;
    }
    return this.#o.delivery.claim(entry.id, entry.attempt);
  }

  async #start(at: Receiver, entry: Entry): Promise<void> {
    this.#running++;
    at.running++;
    if (entry.callId !== null) at.calls.add(entry.callId);
    try {
      const claimed = await this.#takeUp(entry);
      if (claimed !== null) await this.#o.delivery.attempt(claimed, this.#stop.signal);
    } catch (err) {
      this.#o.log.error({ delivery_id: entry.id, err }, 'delivery.not_recorded');
    }
    this.#running--;
    at.running--;
    if (entry.callId !== null) at.calls.delete(entry.callId);
    if (at.running === 0 && at.line.length === 0) this.#receivers.delete(at.key);
    this.#letGo(entry.id);
    this.#advance();
  }

  #letGo(id: string): void {
    const again = this.#hand.get(id) ?? null;
    this.#hand.delete(id);
    if (again !== null) void this.run(id, again);
  }

  async run(id: string, attempt: number): Promise<void> {
    if (this.#closing) return;
    if (this.#hand.has(id)) {
      this.#hand.set(id, attempt);
      return;
    }
    this.#hand.set(id, null);
    let about = this.#known.get(id);
    let taken: Entry['taken'] = null;
    if (about === undefined) {
      let claimed: ClaimedDelivery | null = null;
      this.#taking++;
      try {
        claimed = await this.#o.delivery.claim(id, attempt);
      } catch (err) {
        this.#o.log.error({ delivery_id: id, err }, 'delivery.not_taken');
      }
      this.#taking--;
      if (claimed === null) {
        this.#letGo(id);
        if (this.#idle()) this.#onIdle?.();
        return;
      }
      taken = { claimed, atMs: this.#now() };
      about = this.#learn(id, receiverOf(claimed.delivery), claimed.delivery.call_id);
    }
    const at = this.#receiver(about.key);
    const entry = { id, attempt, callId: about.callId, taken };
    if (this.#mayStart(at, about.callId)) await this.#start(at, entry);
    else this.#lineUp(at, entry);
  }

  async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    this.#closing = true;
    if (!this.#idle()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      const abort = () => {
        for (const at of this.#receivers.values()) at.line.length = 0;
        this.#waiting = 0;
        this.#takenLength = 0;
        this.#stop.abort(new Error('the daemon stops'));
        if (this.#idle()) this.#onIdle?.();
      };
      const timer = setTimeout(abort, hurry?.aborted ? 0 : graceMs);
      hurry?.addEventListener('abort', abort, { once: true });
      await promise;
      hurry?.removeEventListener('abort', abort);
      clearTimeout(timer);
    }
    this.#stop.abort(new Error('the daemon stops'));
  }
}
