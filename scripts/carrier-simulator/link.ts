// The network between the carrier and the application, as far as messages to the application go: jitter and stalls,
// always in order, because TCP is. One timer serves every link that has something waiting.
import type { Random } from './random.ts';

const PUMP_MS = 5;

export class Pump {
  readonly #links = new Set<Link>();
  #timer: NodeJS.Timeout | null = null;

  wake(link: Link): void {
    this.#links.add(link);
    this.#timer ??= setTimeout(() => this.#run(), PUMP_MS);
  }

  forget(link: Link): void {
    this.#links.delete(link);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#links.clear();
  }

  #run(): void {
    this.#timer = null;
    const now = performance.now();
    for (const link of this.#links) if (!link.flush(now)) this.#links.delete(link);
    if (this.#links.size > 0) this.#timer = setTimeout(() => this.#run(), PUMP_MS);
  }
}

export class Link {
  readonly #send: (text: string) => void;
  readonly #pump: Pump;
  readonly #random: Random;
  readonly #jitterSdMs: number;
  #queue: { text: string; due: number }[] = [];
  #lastDue = 0;
  #stalledUntil = 0;

  constructor(send: (text: string) => void, pump: Pump, random: Random, jitterSdMs: number) {
    this.#send = send;
    this.#pump = pump;
    this.#random = random;
    this.#jitterSdMs = jitterSdMs;
  }

  post(text: string): void {
    const now = performance.now();
    const jitter = this.#jitterSdMs > 0 ? Math.abs(this.#random.gaussian()) * this.#jitterSdMs : 0;
    const due = Math.max(this.#lastDue, this.#stalledUntil, now + jitter);
    this.#lastDue = due;
    if (this.#queue.length === 0 && due <= now) {
      this.#send(text);
      return;
    }
    this.#queue.push({ text, due });
    this.#pump.wake(this);
  }

  /** Nothing passes for so long; then everything at once. */
  stall(ms: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, performance.now() + ms);
  }

  /** Sends what is due. Answers whether more is waiting. */
  flush(now: number): boolean {
    let sent = 0;
    while (sent < this.#queue.length && this.#queue[sent]!.due <= now) this.#send(this.#queue[sent++]!.text);
    if (sent > 0) this.#queue = this.#queue.slice(sent);
    return this.#queue.length > 0;
  }

  /** Sends everything now: the connection is about to close in good order. */
  drain(): void {
    this.flush(Number.POSITIVE_INFINITY);
    this.#pump.forget(this);
  }
}
