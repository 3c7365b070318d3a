// PURE. The caller's side of a model session: audio of the turn that is being spoken, turns that were committed, and
// which of them still wait for their words. Audio is kept until then, so that a new session can be told it.

/** mu-law at 8 kHz. */
const BYTES_PER_MS = 8;
/** A server refuses to commit less. */
export const MIN_TURN_MS = 100;
/** The most audio of one turn that is kept for a new session; of a longer one the newest half. */
const MAX_HELD_BYTES = 120_000 * BYTES_PER_MS;
const FIRST_HELD_BYTES = 4_000 * BYTES_PER_MS;

export interface CallerTurns {
  append(payload: Uint8Array): void;
  /**
   * The stretch of the open turn that was not sent yet, once it has `leastBytes`; null before. It counts as sent.
   * Valid until the next append.
   */
  unsent(leastBytes: number): Buffer | null;
  /** Milliseconds of the open turn. */
  openMs(): number;
  /** Forgets the open turn. True when some of it was sent. */
  clear(): boolean;
  /** Nothing was said so far: forgets what was sent of it, but for the newest milliseconds. */
  keep(newestMs: number): void;
  /** Ends the open turn; null when it is too short. The audio is a copy. */
  commit(): { turn: number; audio: Buffer } | null;
  /** A commit was sent: its acknowledgement is the next without a turn. */
  sent(turn: number): void;
  /** A commit was acknowledged with its item; null when none is outstanding. */
  acknowledged(itemId: string): number | null;
  /** A commit was refused: the one named, or the oldest outstanding. */
  refused(turn: number | null): number | null;
  turnOf(itemId: string): number | null;
  /** The words of a turn are known, or will never be. False when that was known already. */
  settle(turn: number): boolean;
  /** Whether a turn, or any, is without its words. */
  unsettled(turn?: number): boolean;
  /** A new session knows nothing: neither items nor acknowledgements, nor what was sent. */
  restart(): void;
}

export function createCallerTurns(): CallerTurns {
  let held = Buffer.alloc(0);
  let heldBytes = 0;
  let sentBytes = 0;
  let turnBytes = 0;
  let nextTurn = 0;
  let outstanding: number[] = [];
  const turnOfItem = new Map<string, number>();
  const open = new Set<number>();

  function forget(): void {
    heldBytes = 0;
    sentBytes = 0;
    turnBytes = 0;
  }

  return {
    append(payload) {
      if (heldBytes + payload.length > MAX_HELD_BYTES) {
        const half = heldBytes >> 1;
        held.copyWithin(0, half, heldBytes);
        heldBytes -= half;
        sentBytes = Math.max(0, sentBytes - half);
      }
      if (heldBytes + payload.length > held.length) {
        const larger = Buffer.allocUnsafe(
          Math.max(held.length * 2, heldBytes + payload.length, FIRST_HELD_BYTES),
        );
        held.copy(larger, 0, 0, heldBytes);
        held = larger;
      }
      held.set(payload, heldBytes);
      heldBytes += payload.length;
      turnBytes += payload.length;
    },
    unsent(leastBytes) {
      if (heldBytes === sentBytes || heldBytes - sentBytes < leastBytes) return null;
      const stretch = held.subarray(sentBytes, heldBytes);
      sentBytes = heldBytes;
      return stretch;
    },
    openMs: () => turnBytes / BYTES_PER_MS,
    clear() {
      const some = sentBytes > 0;
      forget();
      return some;
    },
    keep(newestMs) {
      const drop = Math.min(sentBytes, heldBytes - newestMs * BYTES_PER_MS);
      if (drop <= 0) return;
      held.copyWithin(0, drop, heldBytes);
      heldBytes -= drop;
      sentBytes -= drop;
      turnBytes = heldBytes;
    },
    commit() {
      if (turnBytes < MIN_TURN_MS * BYTES_PER_MS) return null;
      const turn = nextTurn++;
      const audio = Buffer.from(held.subarray(0, heldBytes));
      open.add(turn);
      forget();
      return { turn, audio };
    },
    sent: (turn) => void outstanding.push(turn),
    acknowledged(itemId) {
      const turn = outstanding.shift();
      if (turn === undefined) return null;
      turnOfItem.set(itemId, turn);
      return turn;
    },
    refused(turn) {
      const refused = turn ?? outstanding[0];
      if (refused === undefined || !outstanding.includes(refused)) return null;
      outstanding = outstanding.filter((one) => one !== refused);
      return refused;
    },
    turnOf: (itemId) => turnOfItem.get(itemId) ?? null,
    settle: (turn) => open.delete(turn),
    unsettled: (turn) => (turn === undefined ? open.size > 0 : open.has(turn)),
    restart() {
      outstanding = [];
      turnOfItem.clear();
      sentBytes = 0;
    },
  };
}
