// The control plane on a real socket with a real store in memory; the bridge and the carrier are stand-ins that keep what
// they were asked. Every answer is held against the schema that its route promises, and against the OpenAPI document.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Express, Router } from 'express';
import type { Test } from 'tap';
import { exportRecording, NotARecording } from '../../audio/recording-file.ts';
import type { AskedBy, Calls, LiveCall } from '../../bridge/calls/calls.ts';
import { refusedCall } from '../../bridge/calls/refused-call.ts';
import type { AvailableNumber, NumberSearch, OwnedNumber } from '../../bridge/carriers/carrier.ts';
import { createCarriers } from '../../bridge/carriers/registry.ts';
import { openaiSetup } from '../../bridge/models/openai/setup.ts';
import { type Config, readConfig } from '../../config.ts';
import { readSpeechModels } from '../../control/agents/speech-models.ts';
import { Alerts } from '../../control/alerts/alerts.ts';
import { ROUTES } from '../../control/api/routes.ts';
import { createApp } from '../../control/app.ts';
import { openEgress } from '../../control/egress/egress.ts';
import { openHealth } from '../../control/health/line-health.ts';
import { createHttpServer } from '../../control/http/http-server.ts';
import { hashKey } from '../../control/http/keys.ts';
import type { ControlParts } from '../../control/http/parts.ts';
import { errorAnswer } from '../../control/http/schemas.ts';
import { openMail } from '../../control/mail/mail.ts';
import { Erasures } from '../../control/operations/erasures.ts';
import { ensureFirstKey } from '../../control/operations/first-key.ts';
import { createMetrics } from '../../control/operations/metrics.ts';
import { Retention } from '../../control/operations/retention.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { RecentLog } from '../../recent-log.ts';
import type { CallRecord, NumberRecord } from '../../storage/records.ts';
import { openStore } from '../../storage/sqlite/store.ts';
import type { Store } from '../../storage/store.ts';
import { openStrangerLog, type StrangerLog } from '../../stranger-log.ts';
import { standInCarrier } from '../bridge/carriers/stand-in.ts';
import { faultOfAnswer, findOperation } from './document.ts';

export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** As parsed: its shape has been held against the route's schema. */
  body: ReturnType<typeof JSON.parse>;
  text: string;
}

export interface ApiRequest {
  key?: string | null;
  body?: unknown;
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export interface LogLine {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

export interface Rig {
  url: string;
  app: Express;
  /** What was asked of the API and answered: operation -> statuses. */
  answered: Map<string, Set<number>>;
  store: Store;
  config: Config;
  orgId: string;
  key: string;
  /** A second organization, its key, and what it owns. */
  other: { orgId: string; key: string };
  lines: LogLine[];
  /** As the daemon's, but for the timer: who wants a look asks for it. */
  alerts: Alerts;
  strangers: StrangerLog;
  recentLog: RecentLog;
  now(): Date;
  advance(ms: number): void;
  /** Resolves when what is too old by now has been swept. */
  swept(): Promise<void>;
  dispatched: CallRecord[];
  /** Calls whose stream is awaited. */
  awaited: CallRecord[];
  /** And how long their agents wait. */
  patience: number[];
  /** When campaigns were told that one has changed. */
  woken: Date[];
  bought: string[];
  released: string[];
  searches: NumberSearch[];
  /** What the stand-ins do; tests replace them. */
  behaviour: {
    dispatch: (call: CallRecord, asked?: AskedBy) => Promise<CallRecord>;
    buy: (o: { e164: string; friendlyName?: string | undefined }) => Promise<OwnedNumber>;
    release: (carrierNumberId: string) => Promise<void>;
    search: (o: NumberSearch) => Promise<AvailableNumber[]>;
    live: () => LiveCall[];
    ready: () => { ok: boolean; checks: Record<string, unknown> };
    freeMb: () => number | null;
    carrierRefuses: boolean;
  };
  api(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>;
  /** An active number of the organization, attached to nothing. */
  number(e164: string, orgId?: string): Promise<string>;
  /** An outbound agent with one number. */
  agent(fields?: Record<string, unknown>): Promise<{ id: string; number_id: string; e164: string }>;
}

let serial = 0;

/** A MODELS_FILE with these models, gone with the test. */
export function modelsFile(t: Test, models: unknown): string {
  return join(t.testdir({ 'models.json': JSON.stringify(models) }), 'models.json');
}

/** Opens all of it; the test closes it at its end. */
export async function openRig(
  t: Test,
  o: {
    env?: Record<string, string>;
    hooks?: Router;
    pages?: Router;
    /** Pages that need what the routes work with. */
    dashboard?: (parts: ControlParts) => Router;
    path?: string;
    /** In place of recordings that are files. */
    openRecording?: ControlParts['openRecording'];
  } = {},
) {
  let at = Date.parse('2026-03-01T12:00:00.000Z');
  const now = () => new Date(at);
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: unknown, message?: unknown) => {
    lines.push({ level, message: String(message), fields: fields as Record<string, unknown> });
  };
  const recentLog = new RecentLog();
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  } as Log;
  // The clock stands still, so a bucket never fills again.
  const config = readConfig({ RATE_LIMIT_BURST: '100000', ...o.env });
  const store = await openStore({ path: o.path ?? ':memory:', now });
  const egress = openEgress({ allowedCidrs: config.WEBHOOK_ALLOWED_CIDRS, userAgent: 'test' });

  const { printed } = await ensureFirstKey(store, config, now());
  const key = config.OFFHOOK_API_KEY ?? printed ?? '';
  const orgId = (await store.firstOrganization())?.id ?? '';
  const other = { orgId: '0199a000-0000-7000-8000-000000000001', key: `sk_other${'x'.repeat(40)}` };
  await store.createOrganization(
    {
      id: other.orgId,
      name: 'Other',
      webhook_secret: 'whsec_b3RoZXI=',
      previous_webhook_secret: null,
      previous_webhook_secret_expires_at: null,
      balance_milli_cents: null,
      spoken_name: null,
      recording_notice: null,
      created_at: new Date(at + 1000).toISOString(),
    },
    {
      id: '0199a000-0000-7000-8000-000000000002',
      org_id: other.orgId,
      hash: hashKey(other.key),
      name: 'Other',
      prefix: other.key.slice(0, 8),
      last4: other.key.slice(-4),
      created_at: now().toISOString(),
      last_used_at: null,
      revoked_at: null,
      scopes: null,
      expires_at: null,
      created_by: null,
    },
  );

  const monotonicMs = () => at;
  const strangers = openStrangerLog({ log, monotonicMs });
  const rig: Omit<Rig, 'alerts' | 'api' | 'url' | 'app' | 'number' | 'agent'> = {
    answered: new Map(),
    store,
    config,
    orgId,
    key,
    other,
    lines,
    strangers,
    recentLog,
    now,
    advance: (ms) => {
      at += ms;
    },
    swept: async () => {
      // One that is under way may have begun before.
      await retention.sweep();
      await retention.sweep();
    },
    dispatched: [],
    awaited: [],
    patience: [],
    woken: [],
    bought: [],
    released: [],
    searches: [],
    behaviour: {
      async dispatch(call, asked) {
        const created = await store.createCall(call, {
          events: ['call.queued'],
          reserve: call.reserved_milli_cents,
          ...asked,
        });
        if ('conflict' in created && created.refusal !== undefined) throw refusedCall(created.refusal);
        if ('conflict' in created) throw new AppError('insufficient_credit', 'Not enough credit.');
        const saved = await store.saveCall(call.id, {
          from: ['queued'],
          change: { status: 'initiated', carrier_call_id: `CA${call.id}` },
        });
        if ('conflict' in saved) throw new Error(saved.conflict);
        return saved;
      },
      async buy({ e164, friendlyName }) {
        return {
          carrierNumberId: `PN${e164}`,
          e164,
          friendlyName: friendlyName ?? e164,
          countryCode: 'US',
          numberType: 'local',
          monthlyCostCents: 115,
        };
      },
      async release() {},
      async search() {
        return [];
      },
      live: () => [],
      ready: () => ({ ok: true, checks: { storage: 'ok' } }),
      freeMb: () => 10_000,
      carrierRefuses: false,
    },
  };

  async function end(org: string, id: string, status: 'canceled' | 'completed'): Promise<CallRecord> {
    const call = await store.getCall(org, id);
    if (call === null) throw new AppError('not_found', 'No such call.');
    const from = ['queued', 'initiated', 'ringing', 'in_progress'] as const;
    const saved = await store.saveCall(id, { from, change: { status, ended_at: now().toISOString() } });
    if ('conflict' in saved) throw new AppError('call_ended', 'The call has ended.');
    return saved;
  }
  const calls: Calls = {
    dispatch(call, asked) {
      rig.dispatched.push(call);
      return rig.behaviour.dispatch(call, asked);
    },
    async awaitStream(call, { patience }) {
      rig.awaited.push(call);
      rig.patience.push(patience);
      return { call, path: `/media/1/1/${call.carrier}/${call.id}`, token: 'one-time' };
    },
    cancel: (org, id) => end(org, id, 'canceled'),
    hangUp: (org, id) => end(org, id, 'completed'),
    live: () => rig.behaviour.live(),
    accepting: () => true,
  };
  const carrier = standInCarrier({
    name: 'twilio',
    ...(o.hooks ? { hooks: o.hooks } : {}),
    numbers: {
      search(search) {
        rig.searches.push(search);
        return rig.behaviour.search(search);
      },
      adopt: async () => null,
      buy(order) {
        rig.bought.push(order.e164);
        return rig.behaviour.buy(order);
      },
      release(id) {
        rig.released.push(id);
        return rig.behaviour.release(id);
      },
    },
  });
  const browser = standInCarrier({
    name: 'browser',
    capabilities: { telephone: false, detectsMachines: false, streamIsCall: true, answerSeconds: 15 },
  });
  const otherCarrier = standInCarrier({
    name: 'other',
    numbers: {
      search: async (search) => {
        rig.searches.push(search);
        return [];
      },
      adopt: async () => null,
      buy: (order) => rig.behaviour.buy(order),
      release: async (id) => void rig.released.push(`other ${id}`),
    },
  });
  const carriers = createCarriers([carrier, otherCarrier, browser]);

  const openRecording: ControlParts['openRecording'] =
    o.openRecording ??
    ((file, shape) =>
      exportRecording(file, shape).catch((error: unknown) => {
        if (error instanceof NotARecording) return 'damaged' as const;
        throw error;
      }));
  const models = readSpeechModels(config);
  const health = openHealth({
    carriers: [
      {
        name: 'twilio',
        async check() {
          if (rig.behaviour.carrierRefuses) throw new AppError('carrier_error', 'It refuses.');
        },
      },
    ],
    models: [
      { name: 'speech', probe: { url: 'http://127.0.0.1:9', headers: {} }, settings: openaiSetup.settings },
    ],
    queue: async () => ({ mode: 'direct', degraded: false, pending: 0, overdueSeconds: 0 }),
    disk: () => ({ free_mb: 10_000, low: false }),
    warnMb: 500,
    threads: () => ({ ready: true, late: 0, loads: [{ calls: 0, loopDelayP99Ms: 0.2 }] }),
    store,
    now,
    monotonicMs,
  });
  const alerts = new Alerts({
    store,
    health,
    freeMb: () => rig.behaviour.freeMb(),
    egress,
    mail: openMail(config),
    publicUrl: 'http://phone.example.com',
    log,
    clock: { now },
  });
  t.teardown(() => alerts.close());
  const recordings = async () => (recordingPath: string) => [recordingPath];
  const kept = { store, log, dataDir: config.DATA_DIR, recordings };
  const erasures = new Erasures({ ...kept, isOn: () => false });
  const retention = new Retention({ ...kept, now, files: erasures });
  const keeper: ControlParts['keeper'] = {
    done: (id, forMs) => erasures.done(id, forMs),
    sweep: () => void retention.sweep(),
  };
  const parts = {
    store,
    calls,
    campaigns: { wake: () => void rig.woken.push(now()) },
    carriers,
    egress,
    config,
    models,
    log,
    strangers,
    now,
    monotonicMs,
    openRecording,
    health,
    alerts,
    recentLog,
    keeper,
  };
  const pages = o.dashboard?.(parts) ?? o.pages;
  const app = createApp({
    ...parts,
    ready: () => rig.behaviour.ready(),
    metrics: createMetrics(),
    ...(pages ? { pages } : {}),
  });
  const { server } = createHttpServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(async () => {
    server.close();
    server.closeAllConnections();
    await egress.close();
    await Promise.all([retention.close(), erasures.close()]);
    await store.close();
  });

  async function api(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const headers: Record<string, string> = { ...request.headers };
    const used = request.key === undefined ? key : request.key;
    if (used !== null) headers.authorization ??= `Bearer ${used}`;
    let body: string | Buffer | undefined = request.raw;
    if (request.body !== undefined) body = JSON.stringify(request.body);
    if (body !== undefined) headers['content-type'] ??= 'application/json';
    const response = await fetch(url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    const answer = {
      status: response.status,
      headers: response.headers,
      body: json && text !== '' ? JSON.parse(text) : null,
      text,
    };
    if (method !== 'HEAD') promised(t, method, path, answer);
    const operation = findOperation(method, path)?.operation.operationId;
    if (operation !== undefined) {
      rig.answered.set(operation, (rig.answered.get(operation) ?? new Set()).add(answer.status));
    }
    return answer;
  }

  const made: Rig = {
    ...rig,
    alerts,
    url,
    app,
    api,
    async number(e164, owner = orgId) {
      serial += 1;
      const record: NumberRecord = {
        id: `0199b000-0000-7000-8000-${String(serial).padStart(12, '0')}`,
        org_id: owner,
        e164,
        friendly_name: e164,
        country_code: 'US',
        number_type: 'local',
        status: 'active',
        monthly_cost_cents: 115,
        purchased_at: now().toISOString(),
        carrier: 'twilio',
        carrier_number_id: `PN${serial}`,
      };
      const stored = await store.insertNumber(record);
      if ('conflict' in stored) throw new Error(stored.conflict);
      return record.id;
    },
    async agent(fields = {}) {
      serial += 1;
      const e164 = `+1555${String(serial).padStart(7, '0')}`;
      const numberId = await made.number(e164);
      const answer = await api('POST', '/v1/agents', {
        body: { name: 'Agent', type: 'outbound', number_ids: [numberId], ...fields },
      });
      if (answer.status !== 201) throw new Error(answer.text);
      return { id: answer.body.id, number_id: numberId, e164 };
    },
  };
  return made;
}

/** Holds an answer against what its route promises. */
function promised(t: Test, method: string, path: string, answer: ApiAnswer): void {
  const id = answer.headers.get('x-request-id') ?? '';
  if (!/^[0-9a-f-]{36}$/.test(id)) t.fail(`${method} ${path} answered without X-Request-Id`);
  if (!path.startsWith('/v1')) return;
  const fault = findOperation(method, path) === null ? null : faultOfAnswer(method, path, answer);
  if (fault !== null) t.fail(`${method} ${path} is not as documented: ${fault}`);
  if (answer.status >= 400) {
    const shape = errorAnswer.safeParse(answer.body);
    if (!shape.success) t.fail(`${method} ${path} answered another error shape: ${answer.text}`);
    if (answer.headers.get('idempotent-replayed') === null && answer.body?.error?.request_id !== id) {
      t.fail(`${method} ${path}: request_id differs from X-Request-Id`);
    }
    return;
  }
  const asked = path.replace(/\?.*/, '').split('/');
  const route = ROUTES.find((one) => {
    const parts = one.path.split('/');
    const same = parts.every((part, i) => part.startsWith(':') || part === asked[i]);
    return one.method === method.toLowerCase() && parts.length === asked.length && same;
  });
  if (route?.answer == null) return;
  const shape = route.answer.safeParse(answer.body);
  if (!shape.success) t.fail(`${method} ${path} answered another shape: ${shape.error.message}`);
}
