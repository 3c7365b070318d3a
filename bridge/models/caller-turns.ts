// PURE. The caller's side of a model session: audio of the turn that is being spoken, turns that were committed, and
// which of them still wait for their words. Audio is kept until then, so that a new session can be told it.

/** A server refuses to commit less. */
const MIN_TURN_MS = 100;
/** The most audio of one turn that is kept for a new session; of a longer one the newest half. */
const MAX_HELD_MS = 120_000;
const FIRST_HELD_MS = 4_000;

export class CallerTurns {
  readonly #bytesPerMs: number;
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  #sentBytes = 0;
  #turnBytes = 0;
  #nextTurn = 0;
  #outstanding: number[] = [];
  readonly #turnOfItem = new Map<string, number>();
  readonly #open = new Set<number>();

  /** @param bytesPerMs of the session's format */
  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs;
  }

  append(payload: Uint8Array): void {
    if (this.#heldBytes + payload.length > MAX_HELD_MS * this.#bytesPerMs) {
      // Whole milliseconds, so that no sample is cut in two.
      const drop = Math.floor(this.#heldBytes / 2 / this.#bytesPerMs) * this.#bytesPerMs;
      this.#held.copyWithin(0, drop, this.#heldBytes);
      this.#heldBytes -= drop;
      this.#sentBytes = Math.max(0, this.#sentBytes - drop);
    }
    if (this.#heldBytes + payload.length > this.#held.length) {
      const larger = Buffer.allocUnsafe(
        Math.max(this.#held.length * 2, this.#heldBytes + payload.length, FIRST_HELD_MS * this.#bytesPerMs),
      );
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(payload, this.#heldBytes);
    this.#heldBytes += payload.length;
    this.#turnBytes += payload.length;
  }

  /**
   * The stretch of the open turn that was not sent yet, once it has `leastMs`; null before. It counts as sent.
   * Valid until the next append.
   */
  unsent(leastMs: number): Buffer | null {
    const bytes = this.#heldBytes - this.#sentBytes;
    if (bytes === 0 || bytes < leastMs * this.#bytesPerMs) return null;
    const stretch = this.#held.subarray(this.#sentBytes, this.#heldBytes);
    this.#sentBytes = this.#heldBytes;
    return stretch;
  }

  /** Milliseconds of the open turn. */
  openMs(): number {
    return this.#turnBytes / this.#bytesPerMs;
  }

  /** Forgets the open turn. True when some of it was sent. */
  clear(): boolean {
    const some = this.#sentBytes > 0;
    this.#forget();
    return some;
  }

  /** Nothing was said so far: forgets what was sent of it, but for the newest milliseconds. */
  keep(newestMs: number): void {
    const drop = Math.min(this.#sentBytes, this.#heldBytes - newestMs * this.#bytesPerMs);
    if (drop <= 0) return;
    this.#held.copyWithin(0, drop, this.#heldBytes);
    this.#heldBytes -= drop;
    this.#sentBytes -= drop;
    this.#turnBytes = this.#heldBytes;
  }

  /** Ends the open turn; null when it is too short. The audio is a copy. */
  commit(): { turn: number; audio: Buffer } | null {
    if (this.openMs() < MIN_TURN_MS) return null;
    const turn = this.#nextTurn++;
    const audio = Buffer.from(this.#held.subarray(0, this.#heldBytes));
    this.#open.add(turn);
    this.#forget();
    return { turn, audio };
  }

  /** A commit was sent: its acknowledgement is the next without a turn. */
  sent(turn: number): void {
    this.#outstanding.push(turn);
  }

  /** A commit was acknowledged with its item; null when none is outstanding. */
  acknowledged(itemId: string): number | null {
    const turn = this.#outstanding.shift();
    if (turn === undefined) return null;
    this.#turnOfItem.set(itemId, turn);
    return turn;
  }

  /** A commit was refused: the one named, or the oldest outstanding. */
  refused(turn: number | null): number | null {
    const refused = turn ?? this.#outstanding[0];
    if (refused === undefined || !this.#outstanding.includes(refused)) return null;
    this.#outstanding = this.#outstanding.filter((one) => one !== refused);
    return refused;
  }

  turnOf(itemId: string): number | null {
    return this.#turnOfItem.get(itemId) ?? null;
  }

  /** The words of a turn are known, or will never be. False when that was known already. */
  settle(turn: number): boolean {
    return this.#open.delete(turn);
  }

  /** Whether a turn, or any, is without its words. */
  unsettled(turn?: number): boolean {
    return turn === undefined ? this.#open.size > 0 : this.#open.has(turn);
  }

  /** A new session knows nothing: neither items nor acknowledgements, nor what was sent. */
  restart(): void {
    this.#outstanding = [];
    this.#turnOfItem.clear();
    this.#sentBytes = 0;
  }

  #forget(): void {
    this.#heldBytes = 0;
    this.#sentBytes = 0;
    this.#turnBytes = 0;
  }
}
