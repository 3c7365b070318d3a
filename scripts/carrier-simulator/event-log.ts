// What happens, as it happens: for the live stream of the control API and for tests that wait for something.

export interface SimulatorEvent {
  id: number;
  /** ISO 8601 */
  at: string;
  type: string;
  callSid: string | null;
  [detail: string]: unknown;
}
export type EventListener = (event: SimulatorEvent) => void;

/** Enough for a test or a page that connects late. */
const KEPT = 20_000;

export class EventLog {
  #events: SimulatorEvent[] = [];
  #lastId = 0;
  readonly #listeners = new Set<EventListener>();

  emit(type: string, callSid: string | null, detail: Record<string, unknown> = {}): void {
    this.#lastId += 1;
    const event = { ...detail, id: this.#lastId, at: new Date().toISOString(), type, callSid };
    this.#events.push(event);
    if (this.#events.length > KEPT * 1.5) this.#events = this.#events.slice(-KEPT);
    for (const listener of this.#listeners) listener(event);
  }

  after(id: number): SimulatorEvent[] {
    return this.#events.filter((event) => event.id > id);
  }

  /** Answers how to stop. */
  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The first event, past or coming, that fits. @throws Error after `timeoutMs`, or when `signal` aborts */
  waitFor(
    fits: (event: SimulatorEvent) => boolean,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<SimulatorEvent> {
    const past = this.#events.find(fits);
    if (past) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = () => finish(() => reject(new Error('the simulator was closed')));
      const timer = setTimeout(
        () => finish(() => reject(new Error(`no such event in ${timeoutMs} ms`))),
        timeoutMs,
      );
      const stop = this.listen((event) => {
        if (fits(event)) finish(() => resolve(event));
      });
      signal.addEventListener('abort', onAbort);
    });
  }
}
