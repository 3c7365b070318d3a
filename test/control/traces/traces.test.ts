// Traces against a collector that takes OTLP/HTTP: what arrives, what a collector that fails costs, and nothing when off.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import t, { type Test } from 'tap';
import { readConfig, secretsOf } from '../../../config.ts';
import { openTraces } from '../../../control/traces/traces.ts';
import type { Log } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, at, makeCall, makeTurn, succeeded } from '../../storage/makers.ts';

interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  status?: { code?: number };
}

async function open(t: Test, answer: () => number = () => 200) {
  const requests: { url: string | undefined; header: unknown; spans: Sent[]; service: unknown }[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const [one] = body.resourceSpans;
    requests.push({
      url: req.url,
      header: req.headers['x-collector-key'],
      spans: one.scopeSpans.flatMap((scope: { spans: Sent[] }) => scope.spans),
      service: one.resource.attributes.find(({ key }: { key: string }) => key === 'service.name')?.value,
    });
    res.writeHead(answer(), { 'content-type': 'application/json' }).end('{}');
    for (const tell of waiting.splice(0)) tell();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => new Promise((closed) => server.close(closed)));
  const metrics = new Registry();
  const lines: string[] = [];
  const note = (_fields: unknown, event: unknown) => void lines.push(String(event));
  const log = { debug: note, info: note, warn: note, error: note } as unknown as Log;
  const store = await openStore({ path: ':memory:', now: () => new Date(at(0)) });
  t.teardown(() => store.close());
  const org = await addOrganization(store);
  const config = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=top%20secret',
    OTEL_SERVICE_NAME: 'line',
  });
  const traces = openTraces({
    config,
    version: '1.2.3',
    store,
    log,
    metrics,
    monotonicMs: () => performance.now(),
    afterMs: 0,
  });
  t.teardown(() => traces?.close());
  async function endCall(status: 'completed' | 'failed', turns = 1) {
    const call = makeCall(org, {
      status,
      carrier_call_id: null,
      answered_at: at(1_000),
      stream_began_at: at(1_000),
      ended_at: at(9_000),
      error_code: status === 'failed' ? 'model_lost' : null,
    });
    succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
    const timed = Array.from({ length: turns }, (_, i) => makeTurn(call.id, { turn_index: i + 1 }));
    await store.saveTurns({ turns: timed, interruptions: [] });
    succeeded(await store.saveCall(call.id, { from: [status], change: {}, events: [`call.${status}`] }));
    return call;
  }
  const counted = async () => {
    const { values } = await metrics.getSingleMetric('offhook_traces_total')!.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
  };
  const got = async (count: number) => {
    while (requests.length < count) await new Promise<void>((tell) => waiting.push(tell));
  };
  return { requests, traces, endCall, counted, got, lines, config };
}

t.test('a call that has ended arrives as one trace, whose id is the call’s', async (t) => {
  const { requests, endCall, counted, got, traces, config } = await open(t);
  const call = await endCall('completed');
  await got(1);
  await traces?.close();
  const [request] = requests;
  t.match(request, { url: '/v1/traces', header: 'top secret', service: { stringValue: 'line' } });
  const spans = request?.spans ?? [];
  t.same(
    spans.map(({ name }) => name),
    ['call outbound', 'talk', 'turn answer', 'model request'],
  );
  t.same([...new Set(spans.map(({ traceId }) => traceId))], [call.id.replaceAll('-', '')]);
  const idOf = new Map(spans.map(({ name, spanId }) => [name, spanId]));
  t.same(
    spans.map(({ parentSpanId }) => parentSpanId || null),
    [null, idOf.get('call outbound'), idOf.get('talk'), idOf.get('turn answer')],
  );
  t.equal(Number(BigInt(spans[0]?.startTimeUnixNano ?? 0) / 1_000_000n), Date.parse(call.created_at));
  t.same(await counted(), { sent: 1, failed: 0, dropped: 0 });
  t.ok(secretsOf(config).includes('top%20secret'), 'what the collector is shown is in no log');
});

t.test('a collector that refuses is told of once, and costs no more than its traces', async (t) => {
  let status = 400;
  const { requests, endCall, counted, got, lines, traces } = await open(t, () => status);
  await endCall('failed');
  await got(1);
  await endCall('failed');
  await got(2);
  while ((await counted()).failed !== 2) await new Promise((next) => setImmediate(next));
  t.same(lines, ['traces.not_sent'], 'once');
  status = 200;
  await endCall('failed');
  await got(3);
  await traces?.close();
  t.same(await counted(), { sent: 1, failed: 2, dropped: 0 });
  t.same(lines, ['traces.not_sent', 'traces.sent_again']);
  t.match(requests[2]?.spans[0], { name: 'call outbound', status: { code: 2 } });
});

t.test('many calls that end at once are several requests, none of them large', async (t) => {
  const { requests, endCall, counted, traces } = await open(t);
  const calls = await Promise.all(Array.from({ length: 12 }, () => endCall('completed', 60)));
  await traces?.close();
  t.same(await counted(), { sent: 12, failed: 0, dropped: 0 });
  // 122 spans a call.
  t.ok(
    requests.every(({ spans }) => spans.length <= 400 + 122),
    requests.map(({ spans }) => spans.length).join(),
  );
  const traced = new Set(requests.flatMap(({ spans }) => spans.map(({ traceId }) => traceId)));
  t.same([...traced].sort(), calls.map(({ id }) => id.replaceAll('-', '')).sort());
});

t.test('headers that cannot be read are refused at the start', async (t) => {
  for (const headers of ['secret', '=x', 'name=%zz', 'a=1,b'])
    t.throws(
      () =>
        openTraces({
          config: readConfig({
            OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
            OTEL_EXPORTER_OTLP_HEADERS: headers,
          }),
          version: '1',
          store: { subscribe: () => () => {} } as never,
          log: {} as Log,
          metrics: new Registry(),
          monotonicMs: () => 0,
        }),
      { message: /^OTEL_EXPORTER_OTLP_HEADERS: / },
      headers,
    );
});

t.test('where none are wanted there is nothing, and the library is not loaded', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  const metrics = new Registry();
  const none = openTraces({
    config: readConfig({}),
    version: '1',
    store,
    log: {} as Log,
    metrics,
    monotonicMs: () => 0,
  });
  t.equal(none, null);
  t.same(metrics.getMetricsAsArray(), []);
});
