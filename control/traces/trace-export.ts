// Spans by the official SDK of OpenTelemetry, and the request that brings them to a collector. A call's trace has the call's
// own id, so that either is found by the other. Loaded with the first call that is traced.
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { RandomIdGenerator, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import type { SpanFacts } from './call-spans.ts';

/** The SDK's own attempts included. */
const SEND_MS = 10_000;
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

export interface TraceExport {
  /** Rejects where the collector does not take them. */
  send(calls: readonly { callId: string; spans: readonly SpanFacts[] }[]): Promise<void>;
  close(): Promise<void>;
}

/** As seconds and nanoseconds: a number below the process's start would be taken for one of its own clock. */
function timeOf(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

export function openTraceExport(o: {
  endpoint: string;
  headers: Record<string, string>;
  service: string;
  version: string;
}): TraceExport {
  const exporter = new OTLPTraceExporter({
    url: `${o.endpoint}/v1/traces`,
    headers: o.headers,
    timeoutMillis: SEND_MS,
  });
  const random = new RandomIdGenerator();
  let traceId = random.generateTraceId();
  let ended: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': o.service,
      'service.version': o.version,
    }),
    idGenerator: { generateTraceId: () => traceId, generateSpanId: () => random.generateSpanId() },
    spanProcessors: [
      {
        onStart() {},
        onEnd: (span) => void ended.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const tracer = provider.getTracer('offhook', o.version);

  function make(callId: string, facts: readonly SpanFacts[]): void {
    traceId = callId.replaceAll('-', '');
    const spans = facts.map(() => trace.getSpan(ROOT_CONTEXT));
    facts.forEach((fact, index) => {
      const parent = fact.parent === null ? undefined : spans[fact.parent];
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(
        fact.name,
        { kind: KINDS[fact.kind], startTime: timeOf(fact.startMs), attributes: fact.attributes },
        context,
      );
      for (const { name, atMs, attributes } of fact.events) span.addEvent(name, attributes, timeOf(atMs));
      if (fact.error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: fact.error });
      span.end(timeOf(fact.endMs));
      spans[index] = span;
    });
  }

  return {
    async send(calls) {
      for (const { callId, spans } of calls) make(callId, spans);
      const batch = ended;
      ended = [];
      if (batch.length === 0) return;
      await new Promise<void>((sent, failed) => {
        exporter.export(batch, ({ code, error }) => {
          // ExportResultCode.SUCCESS of @opentelemetry/core.
          if (code === 0) sent();
          else failed(error ?? new Error('the collector did not take the traces'));
        });
      });
    },
    close: () => exporter.shutdown(),
  };
}
