// Who is attempted now: so many at once in all, so many a receiver, and one at a time for a call at a receiver.
// The rest wait in a line a receiver, so that a dead receiver holds its own deliveries up and nobody else's.
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
  const leaseMs = o.leaseMs ?? LEASE_MS;
  const now = o.now ?? (() => performance.now());
  /** Deliveries under way or in a line; the value is the attempt that came due meanwhile (a retry, a replay), or null. */
  const hand = new Map<string, number | null>();
  const receivers = new Map<string, Receiver>();
  /** Whose a delivery is, told by storage or learned when it was first taken; the oldest are forgotten first. */
  const known = new Map<string, { key: string; callId: string | null }>();
  const stop = new AbortController();
  let running = 0;
  let taking = 0;
  let waiting = 0;
  let takenLength = 0;
  let closing = false;
  let onIdle: (() => void) | null = null;

  const idle = () => running === 0 && waiting === 0 && taking === 0;

  function learn(id: string, key: string, callId: string | null): { key: string; callId: string | null } {
    const about = { key, callId };
    known.delete(id);
    known.set(id, about);
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KNOWN) break;
      known.delete(oldest);
    }
    return about;
  }

  function receiver(key: string): Receiver {
    let found = receivers.get(key);
    if (found === undefined) {
      found = { key, running: 0, calls: new Set(), line: [] };
      receivers.set(key, found);
    }
    return found;
  }

  function mayStart(at: Receiver, callId: string | null): boolean {
    return (
      running < MAX_IN_FLIGHT &&
      at.running < MAX_IN_FLIGHT_A_RECEIVER &&
      (callId === null || !at.calls.has(callId))
    );
  }

  function lineUp(at: Receiver, entry: Entry): void {
    at.line.push(entry);
    waiting++;
    takenLength += lengthOf(entry);
    while (waiting > MAX_WAITING || takenLength > MAX_TAKEN_LENGTH) giveBack();
  }

  /** Drops the last of the longest line: who has most waiting waits longest. */
  function giveBack(): void {
    let longest: Receiver | null = null;
    for (const at of receivers.values()) if (at.line.length > (longest?.line.length ?? 0)) longest = at;
    const entry = longest?.line.pop();
    if (longest === null || entry === undefined) return;
    waiting--;
    takenLength -= lengthOf(entry);
    hand.delete(entry.id);
    if (entry.taken !== null) {
      o.delivery
        .giveBack(entry.taken.claimed)
        .catch((err: unknown) => o.log.error({ delivery_id: entry.id, err }, 'delivery.not_given_back'));
    }
    if (longest.running === 0 && longest.line.length === 0) receivers.delete(longest.key);
  }

  /** Starts what may start, a receiver at a time in turn. */
  function advance(): void {
    let started = true;
    while (started && running < MAX_IN_FLIGHT) {
      started = false;
      for (const at of [...receivers.values()]) {
        if (at.running >= MAX_IN_FLIGHT_A_RECEIVER) continue;
        const index = at.line.findIndex((entry) => mayStart(at, entry.callId));
        const entry = at.line[index];
        if (entry === undefined) continue;
        at.line.splice(index, 1);
        waiting--;
        takenLength -= lengthOf(entry);
        started = true;
        void start(at, entry);
      }
    }
    if (idle()) onIdle?.();
  }

  /** Still ours to post, to be taken again, or in between: then the sweep brings it back once the lease is over. */
  async function takeUp(entry: Entry): Promise<ClaimedDelivery | null> {
    if (entry.taken !== null) {
      const ageMs = now() - entry.taken.atMs;
      if (ageMs <= leaseMs * (1 - LEASE_RESERVE)) return entry.taken.claimed;
      if (ageMs <= leaseMs) return null;
    }
    return o.delivery.claim(entry.id, entry.attempt);
  }

  async function start(at: Receiver, entry: Entry): Promise<void> {
    running++;
    at.running++;
    if (entry.callId !== null) at.calls.add(entry.callId);
    try {
      const claimed = await takeUp(entry);
      if (claimed !== null) await o.delivery.attempt(claimed, stop.signal);
    } catch (err) {
      o.log.error({ delivery_id: entry.id, err }, 'delivery.not_recorded');
    }
    running--;
    at.running--;
    if (entry.callId !== null) at.calls.delete(entry.callId);
    if (at.running === 0 && at.line.length === 0) receivers.delete(at.key);
    letGo(entry.id);
    advance();
  }

  function letGo(id: string): void {
    const again = hand.get(id) ?? null;
    hand.delete(id);
    if (again !== null) void run(id, again);
  }

  async function run(id: string, attempt: number): Promise<void> {
    if (closing) return;
    if (hand.has(id)) {
      hand.set(id, attempt);
      return;
    }
    hand.set(id, null);
    let about = known.get(id);
    let taken: Entry['taken'] = null;
    if (about === undefined) {
      let claimed: ClaimedDelivery | null = null;
      taking++;
      try {
        claimed = await o.delivery.claim(id, attempt);
      } catch (err) {
        o.log.error({ delivery_id: id, err }, 'delivery.not_taken');
      }
      taking--;
      if (claimed === null) {
        letGo(id);
        if (idle()) onIdle?.();
        return;
      }
      taken = { claimed, atMs: now() };
      about = learn(id, receiverOf(claimed.delivery), claimed.delivery.call_id);
    }
    const at = receiver(about.key);
    const entry = { id, attempt, callId: about.callId, taken };
    if (mayStart(at, about.callId)) await start(at, entry);
    else lineUp(at, entry);
  }

  return {
    run,
    know: ({ id, receiver: key, callId }) => void learn(id, key, callId),
    has: (id) => hand.has(id),
    inFlight: () => running,
    waiting: () => waiting,
    async close(graceMs, hurry) {
      closing = true;
      if (!idle()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        onIdle = resolve;
        const abort = () => {
          for (const at of receivers.values()) at.line.length = 0;
          waiting = 0;
          takenLength = 0;
          stop.abort(new Error('the daemon stops'));
          if (idle()) onIdle?.();
        };
        const timer = setTimeout(abort, hurry?.aborted ? 0 : graceMs);
        hurry?.addEventListener('abort', abort, { once: true });
        await promise;
        hurry?.removeEventListener('abort', abort);
        clearTimeout(timer);
      }
      stop.abort(new Error('the daemon stops'));
    },
  };
}
