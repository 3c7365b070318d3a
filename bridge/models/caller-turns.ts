// PURE. The caller's side of a model session: audio of the turn that is being spoken, turns that were committed, and
// which of them still wait for their words. Audio is kept until then, so that a new session can be told it.
import { SoundQueue } from '../../audio/sound-queue.ts';

/** A server refuses to commit less. */
const MIN_TURN_MS = 100;
/** The most audio of one turn that is kept for a new session; of a longer one the newest half. */
const MAX_HELD_MS = 120_000;
/** A stretch up to this long is put together in one place, of whichever call: it is sent before the next is. */
let stretch = Buffer.allocUnsafeSlow(8_192);
const LONGEST_STRETCH = 262_144;

export class CallerTurns {
  readonly #bytesPerMs: number;
  #held = new SoundQueue();
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
    if (this.#held.length + payload.length > MAX_HELD_MS * this.#bytesPerMs) {
      // Whole milliseconds, so that no sample is cut in two.
      this.#drop(Math.floor(this.#held.length / 2 / this.#bytesPerMs) * this.#bytesPerMs);
    }
    this.#held.push(payload);
    this.#turnBytes += payload.length;
  }

  /**
   * The stretch of the open turn that was not sent yet, once it has `leastMs`; null before. It counts as sent.
   * Valid until the next stretch of any call.
   */
  unsent(leastMs: number): Buffer | null {
    const bytes = this.#held.length - this.#sentBytes;
    if (bytes === 0 || bytes < leastMs * this.#bytesPerMs) return null;
    const out = roomFor(bytes);
    this.#held.copy(out, 0, this.#sentBytes, bytes);
    this.#sentBytes = this.#held.length;
    return out.subarray(0, bytes);
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
    const drop = Math.min(this.#sentBytes, this.#held.length - newestMs * this.#bytesPerMs);
    if (drop <= 0) return;
    this.#drop(drop);
    this.#turnBytes = this.#held.length;
  }

  /** Ends the open turn; null when it is too short. The audio is the asker's from then on. */
  commit(): { turn: number; audio: SoundQueue } | null {
    if (this.openMs() < MIN_TURN_MS) return null;
    const turn = this.#nextTurn++;
    const audio = this.#held;
    this.#held = new SoundQueue();
    this.#open.add(turn);
    this.#forget();
    return { turn, audio };
  }

  /** The turn that was ended last goes on: its audio comes before what was appended since. Answers its item; null: not acknowledged. */
  reopen(turn: number, audio: SoundQueue): string | null {
    audio.push(this.#held.bytes());
    this.#held.clear();
    this.#held = audio;
    this.#sentBytes = 0;
    this.#turnBytes = audio.length;
    this.#open.delete(turn);
    const found = [...this.#turnOfItem].find(([, one]) => one === turn);
    if (found === undefined) return null;
    this.#turnOfItem.delete(found[0]);
    return found[0];
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

  /** The oldest of what is held goes. */
  #drop(bytes: number): void {
    this.#held.drop(bytes);
    this.#sentBytes = Math.max(0, this.#sentBytes - bytes);
  }

  #forget(): void {
    this.#held.clear();
    this.#sentBytes = 0;
    this.#turnBytes = 0;
  }
}

/** Room for a stretch: longer ones come after a lost session only. */
function roomFor(bytes: number): Buffer {
  if (bytes > LONGEST_STRETCH) return Buffer.allocUnsafeSlow(bytes);
  if (bytes > stretch.length) stretch = Buffer.allocUnsafeSlow(LONGEST_STRETCH);
  return stretch;
}
