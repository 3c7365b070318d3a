// The overview's arithmetic by table, and what the routes answer.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openaiSetup } from '../../../bridge/models/openai/setup.ts';
import type { Range } from '../../../control/dashboard/app/session-shapes.ts';
import { overviewOf, RANGES, spanOf } from '../../../control/dashboard/overview.ts';
import { callsHealth, type HealthSources, openHealth } from '../../../control/health/line-health.ts';
import { AppError } from '../../../errors.ts';
import { percentile } from '../../../storage/latency-levels.ts';
import type { EventType } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';
import { openDashboardRig } from './rig.ts';

const hour = (at: string, fields = {}) => ({
  hour: at,
  calls: 10,
  inbound: 4,
  ended: 8,
  completed: 6,
  failed: 1,
  talkSeconds: 60,
  billedMilliCents: 100,
  costMilliCents: 50.4,
  ...fields,
});

t.test('a range is whole steps of UTC, the one that goes on included', async (t) => {
  const now = Date.parse('2026-03-10T15:20:00.000Z');
  for (const [range, from, to] of [
    ['24h', '2026-03-09T16:00:00.000Z', '2026-03-10T16:00:00.000Z'],
    ['7d', '2026-03-03T18:00:00.000Z', '2026-03-10T18:00:00.000Z'],
    ['30d', '2026-02-09T00:00:00.000Z', '2026-03-11T00:00:00.000Z'],
  ] as const) {
    const span = spanOf(range, now);
    t.same([new Date(span.fromMs).toISOString(), new Date(span.toMs).toISOString()], [from, to], range);
    t.equal((span.toMs - span.fromMs) / span.stepMs, RANGES[range].steps);
  }
  t.equal(
    new Date(spanOf('24h', Date.parse('2026-03-10T16:00:00.000Z')).toMs).toISOString(),
    '2026-03-10T17:00:00.000Z',
  );
});

t.test('percentiles by nearest rank', async (t) => {
  const counts = (...list: [number, number][]) =>
    list.map(([latencyMs, answers]) => ({ hour: 'x', latencyMs, answers }));
  t.equal(percentile([], 0.5), null);
  t.equal(percentile(counts([500, 1]), 0.95), 500);
  t.equal(percentile(counts([900, 5], [500, 5]), 0.5), 500);
  t.equal(percentile(counts([900, 6], [500, 5]), 0.5), 900);
  t.equal(percentile(counts([100, 95], [2_000, 5]), 0.95), 100);
  t.equal(percentile(counts([100, 94], [2_000, 6]), 0.95), 2_000);
});

t.test('hours fall into their steps, and what is not known stays so', async (t) => {
  const made = overviewOf({
    range: '7d',
    nowMs: Date.parse('2026-03-10T15:20:00.000Z'),
    live: 2,
    hours: [
      hour('2026-03-03T18'),
      hour('2026-03-10T12', { costMilliCents: null }),
      hour('2026-03-10T15', { costMilliCents: 10 }),
    ],
    latencies: [{ hour: '2026-03-10T13', latencyMs: 700, answers: 3 }],
    failures: [{ reason: 'model_error', count: 3 }],
  });
  t.same(made.totals, {
    calls: 30,
    inbound: 12,
    outbound: 18,
    completed: 18,
    failed: 3,
    unreached: 3,
    live: 2,
    talk_seconds: 180,
  });
  t.same([made.completed_rate, made.latency], [0.75, { p50_ms: 700, p95_ms: 700, turns: 3 }]);
  t.same(made.spend, { billed_milli_cents: 300, cost_milli_cents: 60 });
  t.equal(made.series.length, 28);
  t.same(made.series[0], {
    at: '2026-03-03T18:00:00.000Z',
    calls: 10,
    completed: 6,
    failed: 1,
    unreached: 1,
    p50_ms: null,
    p95_ms: null,
    billed_milli_cents: 100,
    cost_milli_cents: 50,
  });
  t.same(made.series[27], {
    at: '2026-03-10T12:00:00.000Z',
    calls: 20,
    completed: 12,
    failed: 2,
    unreached: 2,
    p50_ms: 700,
    p95_ms: 700,
    billed_milli_cents: 200,
    cost_milli_cents: 10,
  });
  t.ok(
    made.series.slice(1, 27).every(({ calls, cost_milli_cents }) => calls === 0 && cost_milli_cents === null),
  );
  const empty = overviewOf({ range: '24h', nowMs: 0, live: 0, hours: [], latencies: [], failures: [] });
  t.same([empty.completed_rate, empty.latency.p50_ms, empty.spend.cost_milli_cents], [null, null, null]);
});

t.test('the route answers for its own organization, and says which ranges there are', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const created_at = rig.now().toISOString();
  for (const org of [rig.orgId, rig.orgId, rig.other.orgId]) {
    const made = makeCall(org, { agent_id: null, created_at, carrier_call_id: null, direction: 'inbound' });
    await rig.store.createCall(made, { events: [], reserve: 0 });
  }
  for (const range of Object.keys(RANGES) as Range[]) {
    const { status, body } = await browser.ask('GET', `/overview?range=${range}`);
    t.same(
      [status, body.range, body.totals.calls, body.totals.inbound, body.completed_rate],
      [200, range, 2, 2, null],
    );
    t.equal(body.series.length, RANGES[range].steps);
    t.equal(body.series.at(-1).calls, 2);
  }
  t.equal((await browser.ask('GET', '/overview')).body.range, '24h');
  t.match((await browser.ask('GET', '/overview')).body.measured_against, {
    models: [{ host: /./, place: /./ }],
  });
  const wrong = await browser.ask('GET', '/overview?range=1y');
  t.same([wrong.status, wrong.body.error.param], [400, 'range']);
  rig.feed.observer.changed?.(makeCall(rig.orgId, { agent_id: null }));
  t.equal((await browser.ask('GET', '/overview')).body.totals.live, 1, 'live calls are never old');
  const health = await browser.ask('GET', '/health');
  t.same(Object.keys(health.body), ['calls', 'carrier', 'model', 'queue', 'disk', 'threads']);
  t.same([health.body.carrier.state, health.body.model.state, health.body.disk.state], ['ok', 'down', 'ok']);
  for (const { text } of Object.values(health.body) as { text: string }[]) t.match(text, /[a-z].*\.$/);
});

t.test('a call counts once, and calls that fail are told by rate and health', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const at = rig.now().toISOString();
  const add = async (count: number, fields: Parameters<typeof makeCall>[1]) => {
    for (let i = 0; i < count; i++) {
      const made = makeCall(rig.orgId, { agent_id: null, created_at: at, carrier_call_id: null, ...fields });
      const events = made.status === 'in_progress' ? [] : [`call.${made.status}` as const];
      await rig.store.createCall(made, { events: events as EventType[], reserve: 0 });
    }
  };
  // What was answered and then failed is failed, and nothing else.
  await add(46, { status: 'failed', answered_at: at, error_code: 'stream_lost' });
  await add(7, { status: 'completed', answered_at: at });
  await add(1, { status: 'no_answer' });
  await add(1, { status: 'in_progress', answered_at: at });
  const { body } = await browser.ask('GET', '/overview');
  t.match(body.totals, { calls: 55, completed: 7, failed: 46, unreached: 1 });
  t.equal(body.completed_rate, 7 / 54);
  t.match(body.series.at(-1), { calls: 55, completed: 7, failed: 46, unreached: 1 });
  const { calls } = (await browser.ask('GET', '/health')).body;
  t.match(calls, { state: 'ok', ended: 20, failed: 12 }, 'the newest twenty, of which eight went well since');
  await add(3, { status: 'failed', error_code: 'carrier_error' });
  t.match((await browser.ask('GET', '/health')).body.calls, {
    state: 'down',
    ended: 20,
    failed: 12,
    text: '12 of the last 20 calls failed, 9 of them by stream_lost.',
  });
  rig.advance(24 * 3_600_000 + 1);
  t.match((await rig.api('GET', '/v1/health')).body, { state: 'down', calls: { state: 'ok', ended: 0 } });
});

t.test('how calls went, by how many of the last failed', async (t) => {
  /** Outcomes, the last first: x failed. */
  const last = (text: string) =>
    [...text].map((one) => ({ failed: one === 'x', reason: one === 'x' ? 'model_lost' : null }));
  for (const [outcomes, state, text] of [
    ['', 'ok', /No call has ended in the last 24 hours/],
    ['.', 'ok', /^The last call did not fail\.$/],
    ['....', 'ok', /^None of the last 4 calls failed\.$/],
    ['x', 'warn', /^The last call failed, by model_lost\.$/],
    ['x...................', 'ok', /^1 of the last 20 calls failed, by model_lost\.$/],
    ['xx..................', 'ok', /^2 of the last 20/],
    ['xx..', 'warn', /^2 of the last 4/],
    ['xxx.................', 'warn', /^3 of the last 20 calls failed, all of them by model_lost\.$/],
    ['....xxx.............', 'warn', /^3 of the last 20/],
    ['.....xxx............', 'ok', /^3 of the last 20 .*; the 5 since did not\.$/],
    ['xxx...', 'down', /^3 of the last 6/],
    ['.....xxxxxxxxxx', 'ok', /the 5 since did not/],
  ] as const) {
    const health = callsHealth(last(outcomes));
    t.equal(health.state, state, outcomes);
    t.match(health.text, text);
  }
  const mixed = [...last('xx'), ...last('xxx').map((call) => ({ ...call, reason: 'stream_lost' }))];
  t.match(callsHealth(mixed).text, /^5 of the last 5 calls failed, 3 of them by stream_lost/);
});

t.test('each part says what is wrong with it', async (t) => {
  let answer = 200;
  let asked = 0;
  const seen: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    asked++;
    seen.push(req.url, req.headers.authorization);
    res.writeHead(answer).end('{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  let now = 0;
  let checked = 0;
  let refusal: AppError | null = null;
  const fine = {
    mode: 'redis' as const,
    degraded: false,
    pending: 0,
    overdueSeconds: 0,
  };
  const state = {
    queue: fine as Awaited<ReturnType<HealthSources['queue']>>,
    disk: { free_mb: 9_000 as number | null, low: false },
    threads: { ready: true, late: 0, loads: [{ calls: 3, loopDelayP99Ms: 1 }] },
  };
  const probe = (model: string) => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/models/${model}`,
    headers: { authorization: 'Bearer sk-model' },
  });
  const health = openHealth({
    carriers: [
      {
        name: 'twilio',
        async check() {
          checked++;
          if (refusal !== null) throw refusal;
        },
      },
      { name: 'nobody to ask', check: null },
    ],
    models: [{ name: 'gpt/x', probe: probe('gpt%2Fx'), settings: openaiSetup.settings }],
    queue: async () => state.queue,
    disk: () => state.disk,
    warnMb: 500,
    threads: () => state.threads,
    store: { lastEnded: async () => [] },
    now: () => new Date(now),
    monotonicMs: () => now,
  });
  const states = async () => Object.values(await health.parts()).map((part) => part.state);
  t.same(await states(), ['ok', 'ok', 'ok', 'ok', 'ok']);
  t.same(seen, ['/models/gpt%2Fx', 'Bearer sk-model']);
  now += 59_000;
  await Promise.all([states(), states()]);
  t.same([asked, checked], [1, 1], 'asked once a minute');
  now += 1_000;
  await Promise.all([states(), states()]);
  t.same([asked, checked], [2, 2], 'once for all who look');

  const part = async (name: 'carrier' | 'model' | 'queue' | 'disk' | 'threads') => {
    now += 60_000;
    const { state, text } = (await health.parts())[name];
    return [state, text] as const;
  };
  refusal = new AppError('carrier_error', 'Authenticate', { carrierCode: '20003' });
  t.match(await part('carrier'), ['down', /Authenticate/]);
  refusal = null;
  for (const [status, wanted, text] of [
    [401, 'down', /OPENAI_API_KEY/],
    [404, 'down', /REALTIME_MODEL/],
    [429, 'warn', /too many/],
    [500, 'warn', /500/],
  ] as const) {
    answer = status;
    t.match(await part('model'), [wanted, text], `${status}`);
  }
  for (const [queue, wanted, text] of [
    [{ ...fine, mode: 'direct' }, 'ok', /directly/],
    [{ ...fine, mode: 'direct', degraded: true }, 'warn', /Redis is away/],
    [{ ...fine, pending: 4, overdueSeconds: 61 }, 'warn', /late: 4 wait/],
  ] as const) {
    state.queue = queue;
    t.match(await part('queue'), [wanted, text]);
  }
  for (const [disk, wanted, text] of [
    [{ free_mb: null, low: false }, 'warn', /not known/],
    [{ free_mb: 300, low: false }, 'warn', /300 MB/],
    [{ free_mb: 100, low: true }, 'down', /no new calls/],
    [{ free_mb: 9_000, low: false }, 'ok', /8 GB/],
  ] as const) {
    state.disk = disk;
    t.match(await part('disk'), [wanted, text]);
  }
  const [idle, busy] = [
    { calls: 0, loopDelayP99Ms: 22.04 },
    { calls: 1, loopDelayP99Ms: 30 },
  ];
  state.threads = { ready: true, late: 0, loads: [idle] };
  t.match(await part('threads'), ['ok', /0 calls on 1 thread/], 'a moment of the host is no alarm');
  state.threads = { ready: true, late: 1, loads: [idle, busy] };
  t.match(await part('threads'), ['warn', /1 call on 2 threads, up to 30 ms late, and 1 of them take/]);
  state.threads = { ready: true, late: 1, loads: [busy] };
  t.match(await part('threads'), ['warn', /1 call on 1 thread, up to 30 ms late, and no new call is taken/]);
  state.threads = { ready: false, late: 0, loads: [] };
  t.match(await part('threads'), ['down', /No media thread/]);
});

t.test('the health of several models is that of the one that does worst, by its name', async (t) => {
  const answers: Record<string, number> = { '/good': 200, '/second': 200 };
  const server = createServer((req, res) => res.writeHead(answers[req.url ?? ''] ?? 500).end('{}'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const health = () =>
    openHealth({
      carriers: [],
      models: [
        { name: 'good', probe: { url: `${at}/good`, headers: {} }, settings: openaiSetup.settings },
        {
          name: 'second',
          probe: { url: `${at}/second`, headers: {} },
          settings: { url: 'MODELS_FILE', apiKey: 'MODELS_FILE', model: 'MODELS_FILE' },
        },
      ],
      queue: async () => ({ mode: 'direct', degraded: false, pending: 0, overdueSeconds: 0 }),
      disk: () => ({ free_mb: 9_000, low: false }),
      warnMb: 500,
      threads: () => ({ ready: true, late: 0, loads: [] }),
      store: { lastEnded: async () => [] },
      now: () => new Date(0),
      monotonicMs: () => 0,
    }).parts();
  t.match((await health()).model, { state: 'ok', text: 'good, second can be used.', model: 'good' });
  answers['/second'] = 401;
  t.match((await health()).model, {
    state: 'down',
    text: 'second: The model refuses the key: look at MODELS_FILE.',
    model: 'second',
  });
  answers['/good'] = 429;
  t.match((await health()).model, { state: 'down', model: 'second' }, 'down is worse than late');
  answers['/second'] = 200;
  t.match((await health()).model, { state: 'warn', text: /^good: / });
});
