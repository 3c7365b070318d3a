// Traces of calls by OpenTelemetry: one a call, made from its record once it is over, sent in batches to a collector over
// OTLP/HTTP. Nothing of it is on a call's way: what cannot be kept up with is dropped and counted. Off, and its library not
// even loaded, unless OTEL_EXPORTER_OTLP_ENDPOINT is set.
import { Counter, type Registry } from 'prom-client';
import { type Config, ConfigError } from '../../config.ts';
import type { Log } from '../../log.ts';
import { type EventRecord, TERMINAL_STATUSES } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { callSpans, type SpanFacts } from './call-spans.ts';
import type { TraceExport } from './trace-export.ts';

/** What a media thread tells of a call after its end is stored by then. */
const AFTER_MS = 5_000;
/** A collector that is gone holds up no stop of the daemon for longer. */
const CLOSE_MS = 2_000;
/** Calls that wait; more are dropped. */
const MOST_WAITING = 2_000;
/** One request has no further call once it has so many: what is made and written in one go holds the control thread. */
const ENOUGH_SPANS = 400;

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

/** `name=value,name=value`, values URL-encoded, as the standard variable has them. */
function readHeaders(text: string | null): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const part of text?.split(',') ?? []) {
    if (part.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    try {
      headers[name] = decodeURIComponent(value);
    } catch {
      headers[''] = '';
    }
  }
  if ('' in headers)
    throw new ConfigError('OTEL_EXPORTER_OTLP_HEADERS: name=value, separated by commas, values URL-encoded');
  return headers;
}

/**
 * Null where none are wanted.
 * @throws ConfigError for headers that cannot be read
 */
export function openTraces(o: TracesOptions): Traces | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = o.config;
  return endpoint === null ? null : new CallTraces(o, { endpoint, headers: readHeaders(headers) });
}

class CallTraces implements Traces {
  readonly #o: TracesOptions;
  readonly #to: { endpoint: string; headers: Record<string, string> };
  readonly #afterMs: number;
  readonly #counted: Counter<'outcome'>;
  readonly #leave: () => void;
  readonly #waiting: { event: EventRecord; dueAt: number }[] = [];
  #export: Promise<TraceExport> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #closed = false;
  #fails = false;

  constructor(o: TracesOptions, to: { endpoint: string; headers: Record<string, string> }) {
    this.#o = o;
    this.#to = to;
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
    let count = 0;
    try {
      const calls: { callId: string; spans: SpanFacts[] }[] = [];
      for (let spans = 0; spans < ENOUGH_SPANS; ) {
        const [first] = this.#waiting;
        if (first === undefined || (!all && first.dueAt > now)) break;
        this.#waiting.shift();
        count += 1;
        const call = await this.#spansOf(first.event);
        if (call !== null) calls.push(call);
        spans += call?.spans.length ?? 0;
        // Others have their turn between two calls.
        await new Promise((next) => setImmediate(next));
      }
      if (count === 0) return;
      this.#export ??= this.#load();
      await (await this.#export).send(calls);
      this.#counted.inc({ outcome: 'sent' }, count);
      if (this.#fails) this.#o.log.info({}, 'traces.sent_again');
      this.#fails = false;
    } catch (error) {
      this.#counted.inc({ outcome: 'failed' }, count);
      // Said once, until it goes well.
      if (!this.#fails) this.#o.log.warn({ err: error }, 'traces.not_sent');
      this.#fails = true;
    }
  }

  async #load(): Promise<TraceExport> {
    const { openTraceExport } = await import('./trace-export.ts');
    const { config, version } = this.#o;
    return openTraceExport({ ...this.#to, service: config.OTEL_SERVICE_NAME, version });
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
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_MS);
    await Promise.race([this.#finish(), late.promise]).finally(() => clearTimeout(timer));
  }

  async #finish(): Promise<void> {
    await this.#sending;
    // A collector that takes nothing is not asked again for each.
    while (this.#waiting.length > 0 && !this.#fails) await this.#send(true);
    this.#counted.inc({ outcome: 'dropped' }, this.#waiting.length);
    await (await this.#export)?.close();
  }
}
