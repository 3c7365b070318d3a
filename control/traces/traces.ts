// Traces of calls by OpenTelemetry: one a call, made from its record once it is over, sent in batches to a collector over
// OTLP/HTTP. Nothing of it is on a call's way: what cannot be kept up with is dropped and counted. Off, and its library not
// even loaded, unless OTEL_EXPORTER_OTLP_ENDPOINT is set.
import { Counter, type Registry } from 'prom-client';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import { type EventRecord, TERMINAL_STATUSES } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { callSpans } from './call-spans.ts';
import type { TraceExport } from './trace-export.ts';

/** What a media thread tells of a call after its end is stored by then. */
const AFTER_MS = 5_000;
/** Calls that wait; more are dropped. */
const MOST_WAITING = 2_000;
/** In one request. */
const MOST_AT_ONCE = 20;

const ENDS: ReadonlySet<string> = new Set(TERMINAL_STATUSES.map((status) => `call.${status}`));

export interface TracesOptions {
  config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME'>;
  version: string;
  store: Pick<Store, 'findCall' | 'listInterruptions' | 'listTranscript' | 'listTurns' | 'subscribe'>;
  log: Log;
  metrics: Registry;
  monotonicMs: () => number;
  afterMs?: number;
}

export interface Traces {
  /** Sends what waits, and no more. Safe to call twice. */
  close(): Promise<void>;
}

/** Null where none are wanted. */
export function openTraces(o: TracesOptions): Traces | null {
  return o.config.OTEL_EXPORTER_OTLP_ENDPOINT === null ? null : new CallTraces(o);
}

class CallTraces implements Traces {
  readonly #o: TracesOptions;
  readonly #afterMs: number;
  readonly #counted: Counter<'outcome'>;
  readonly #leave: () => void;
  readonly #waiting: { event: EventRecord; dueAt: number }[] = [];
  #export: Promise<TraceExport> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #closed = false;
  #fails = false;

  constructor(o: TracesOptions) {
    this.#o = o;
    this.#afterMs = o.afterMs ?? AFTER_MS;
    this.#counted = new Counter({
      name: 'offhook_traces_total',
      help: 'Traces of calls that have ended: sent, failed (the collector did not take them), dropped (too many waited)',
      labelNames: ['outcome'] as const,
      registers: [o.metrics],
    });
    for (const outcome of ['sent', 'failed', 'dropped']) this.#counted.inc({ outcome }, 0);
    this.#leave = o.store.subscribe({ event: (event) => this.#heard(event) });
  }

  #heard(event: EventRecord): void {
    if (!ENDS.has(event.type)) return;
    if (this.#waiting.length >= MOST_WAITING) {
      this.#counted.inc({ outcome: 'dropped' });
      return;
    }
    this.#waiting.push({ event, dueAt: this.#o.monotonicMs() + this.#afterMs });
    this.#plan();
  }

  #plan(): void {
    const [first] = this.#waiting;
    if (this.#timer !== null || this.#sending !== null || this.#closed || first === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#sending = this.#send(false).finally(() => {
          this.#sending = null;
          this.#plan();
        });
      },
      Math.max(0, first.dueAt - this.#o.monotonicMs()),
    );
    this.#timer.unref();
  }

  /** One request. Never rejects. */
  async #send(all: boolean): Promise<void> {
    const now = this.#o.monotonicMs();
    const last = this.#waiting.findIndex(({ dueAt }) => !all && dueAt > now);
    const count = Math.min(MOST_AT_ONCE, last === -1 ? this.#waiting.length : last);
    const due = this.#waiting.splice(0, count);
    if (due.length === 0) return;
    try {
      this.#export ??= this.#load();
      const out = await this.#export;
      const calls = await Promise.all(due.map(({ event }) => this.#spansOf(event)));
      await out.send(calls.filter((call) => call !== null));
      this.#counted.inc({ outcome: 'sent' }, due.length);
      if (this.#fails) this.#o.log.info({}, 'traces.sent_again');
      this.#fails = false;
    } catch (error) {
      this.#counted.inc({ outcome: 'failed' }, due.length);
      // Said once, until it goes well.
      if (!this.#fails) this.#o.log.warn({ err: error }, 'traces.not_sent');
      this.#fails = true;
    }
  }

  async #load(): Promise<TraceExport> {
    const { openTraceExport } = await import('./trace-export.ts');
    return openTraceExport(this.#o.config, this.#o.version);
  }

  async #spansOf({ call_id, created_at }: EventRecord) {
    const { store } = this.#o;
    const [call, turns, interruptions, transcript] = await Promise.all([
      store.findCall(call_id),
      store.listTurns(call_id),
      store.listInterruptions(call_id),
      store.listTranscript(call_id),
    ]);
    if (call === null) return null;
    return {
      callId: call_id,
      spans: callSpans({ call, turns, interruptions, transcript, toldAt: created_at }),
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leave();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#sending;
    while (this.#waiting.length > 0) await this.#send(true);
    await (await this.#export)?.close();
  }
}
