// Opens everything in order and closes it in reverse: the only file that sees every folder. Signals have one owner, `run`.
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { repairRecording } from './audio/recording.ts';
import { observeBridge } from './bridge/bridge-metrics.ts';
import { openCallWatch } from './bridge/call-watch.ts';
import { openTwilio } from './bridge/carriers/twilio-client.ts';
import { twilioHooks } from './bridge/carriers/twilio-hooks.ts';
import { type MediaThreads, openMediaThreads } from './bridge/media-threads.ts';
import { openSwitchboard } from './bridge/switchboard.ts';
import { type Config, ConfigError, missingCredentials, readConfig, summarize } from './config.ts';
import { createApp } from './control/app.ts';
import { openEgress } from './control/egress.ts';
import { failpoint, setFailpoints } from './control/failpoints.ts';
import { createHttpServer } from './control/http-server.ts';
import { inboundCall } from './control/inbound-call.ts';
import { ensureFirstKey } from './control/keys.ts';
import { createMetrics } from './control/metrics.ts';
import { greetingInstructions, idleInstructions, voicemailInstructions } from './control/prompt.ts';
import { openResults } from './control/results.ts';
import { openToolRunner } from './control/tool-runner.ts';
import { modelTools } from './control/tools.ts';
import { openWebhooks } from './control/webhooks.ts';
import { type Log, openLog } from './log.ts';
import { openStore } from './storage/sqlite-store.ts';

const HOOKS_PATH = '/carriers/twilio';

export interface Daemon {
  /** The address it listens on. */
  url: string;
  /** The API key made at the first start, to be shown this once. */
  firstKey: string | null;
  /** Takes no new calls, lets live ones end, then closes everything. Safe to call twice. */
  drain(): Promise<void>;
  /** Hangs up and closes everything within a few seconds. Safe to call twice, also during a drain. */
  close(): Promise<void>;
}

function version(): string {
  const text = readFileSync(new URL('./package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}

/**
 * Starts the daemon.
 * @throws ConfigError when credentials are missing; Error when something cannot be opened (then nothing stays open)
 */
export async function start(config: Config, o: { log?: Log; now?: () => Date } = {}): Promise<Daemon> {
  const missing = missingCredentials(config);
  if (missing.length > 0) {
    throw new ConfigError(
      `Not set: ${missing.join(', ')}. Real calls need a carrier and a model; "npm run simulate" needs neither.`,
    );
  }
  const log = o.log ?? openLog(config.LOG_LEVEL);
  const now = o.now ?? (() => new Date());
  const dataDir = resolve(config.DATA_DIR);
  /** What is open, in order; closed in reverse, all of it, whatever fails on the way. */
  const opened: { name: string; close: () => Promise<void> | void }[] = [];
  let closing: Promise<void> | null = null;

  function closeAll(): Promise<void> {
    closing ??= (async () => {
      const errors: unknown[] = [];
      for (const part of opened.reverse()) {
        try {
          await part.close();
        } catch (error) {
          errors.push(error);
          log.error({ part: part.name, err: error }, 'close.failed');
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, 'The daemon did not close cleanly.');
    })();
    return closing;
  }

  try {
    setFailpoints(config.FAILPOINTS);
    mkdirSync(join(dataDir, 'recordings'), { recursive: true, mode: 0o700 });
    const store = await openStore({ path: join(dataDir, 'offhook.db'), log, now });
    opened.push({ name: 'store', close: () => store.close() });
    const { printed } = await ensureFirstKey(store, config, now());
    const egress = openEgress({
      allowedCidrs: config.WEBHOOK_ALLOWED_CIDRS,
      userAgent: `Offhook/${version()}`,
    });
    opened.push({ name: 'egress', close: () => egress.close() });

    // The listener first: without PUBLIC_URL its own address is what the carrier is told.
    let handle: Parameters<typeof createHttpServer>[0] = (_request, response) => {
      response.writeHead(503, { 'retry-after': '1' }).end();
    };
    const server = createHttpServer((request, response) => handle(request, response));
    let threads: MediaThreads | null = null;
    server.on('upgrade', (request, socket, head) => {
      if (threads === null) socket.destroy();
      else threads.upgrade(request, socket, head);
    });
    await new Promise<void>((listening, fail) => {
      server.once('error', fail);
      server.listen({ port: config.PORT, host: config.HOST }, () => {
        server.off('error', fail);
        listening();
      });
    });
    opened.push({
      name: 'listener',
      close: () =>
        new Promise((closed) => {
          server.close(() => closed());
          server.closeIdleConnections();
          setTimeout(() => server.closeAllConnections(), 1_000).unref();
        }),
    });
    const { address, port, family } = server.address() as AddressInfo;
    const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    const publicUrl = config.PUBLIC_URL ?? url;

    const metrics = createMetrics();
    const carrier = openTwilio({
      accountSid: config.TWILIO_ACCOUNT_SID ?? '',
      authToken: config.TWILIO_AUTH_TOKEN ?? '',
      baseUrl: config.TWILIO_BASE_URL,
      publicUrl,
      hooksPath: HOOKS_PATH,
      log,
    });
    const openai = { apiKey: config.OPENAI_API_KEY ?? '', baseUrl: config.OPENAI_BASE_URL };
    const webhooks = await openWebhooks({
      store,
      egress,
      log,
      dataDir,
      redisUrl: config.REDIS_URL,
      redisMode: config.REDIS_MODE === 'none' ? 'none' : 'auto',
      retryScale: config.WEBHOOK_RETRY_SCALE,
      version: version(),
    });
    opened.push({ name: 'webhooks', close: () => webhooks.close() });
    const results = openResults({ store, log, openai, model: config.EXTRACTION_MODEL, now });
    opened.push({ name: 'results', close: () => results.close() });

    const runTool = openToolRunner({ egress, log });
    const switchboard = openSwitchboard({
      store,
      carrier,
      log,
      now,
      script: {
        greeting: greetingInstructions,
        idle: () => [1, 2, 3].map(idleInstructions),
        voicemail: voicemailInstructions,
        modelTools,
      },
      access: {
        name: 'openai',
        url: config.OPENAI_BASE_URL,
        apiKey: openai.apiKey,
        model: config.REALTIME_MODEL,
        transcriptionModel: config.TRANSCRIPTION_MODEL,
      },
      publicUrl,
      dataDir,
      recordCalls: config.RECORD_CALLS,
      maxCalls: config.MAX_CONCURRENT_CALLS,
      maxSeconds: config.MAX_CALL_SECONDS,
      ringSeconds: config.RING_SECONDS,
      pricePerMinute: config.PRICE_PER_MINUTE_MILLI_CENTS,
      reserveMinutes: config.RESERVE_MINUTES,
      runTool,
      inboundCall: (call) =>
        inboundCall({
          ...call,
          carrier: carrier.name,
          now: now(),
          reserve: config.RESERVE_MINUTES * config.PRICE_PER_MINUTE_MILLI_CENTS,
        }),
      settleResult: (callId) => results.settle(callId),
      observer: observeBridge(metrics, () => threads),
      failpoint,
    });
    const watch = openCallWatch({
      switchboard,
      store,
      carrier,
      log,
      now,
      ringSeconds: config.RING_SECONDS,
      maxSeconds: config.MAX_CALL_SECONDS,
      pricePerMinute: config.PRICE_PER_MINUTE_MILLI_CENTS,
      reserveMinutes: config.RESERVE_MINUTES,
      failpoint,
    });
    // Calls that a dead process left behind end before anything new begins.
    for (const call of await store.unfinishedCalls()) {
      if (call.recording_path !== null)
        await repairRecording(join(dataDir, call.recording_path)).catch(() => {});
    }
    await watch.recover();

    threads = await openMediaThreads({
      count: config.MEDIA_THREADS || Math.max(2, availableParallelism()),
      data: {
        carrier: carrier.name,
        carrierSecret: config.TWILIO_AUTH_TOKEN ?? '',
        publicUrl,
        logLevel: config.LOG_LEVEL,
        callerIdleSeconds: config.CALLER_IDLE_SECONDS,
        modelSessionSeconds: config.MODEL_SESSION_SECONDS,
      },
      log,
      onMessage: (message) => switchboard.onMedia(message),
      onLost: (callIds) => switchboard.onThreadLost(callIds),
    });
    const media = threads;
    opened.push({ name: 'media threads', close: () => media.close() });
    switchboard.attach(media);
    watch.start();

    const ready = () => {
      const checks = {
        accepting: switchboard.accepting(),
        media_threads: media.ready(),
        webhooks: webhooks.health(),
      };
      return { ok: checks.accepting && checks.media_threads, checks };
    };
    handle = createApp({
      store,
      calls: switchboard,
      carrier,
      egress,
      config,
      log,
      now,
      hooks: twilioHooks({
        authToken: config.TWILIO_AUTH_TOKEN ?? '',
        publicUrl,
        hooksPath: HOOKS_PATH,
        handlers: switchboard,
        log,
      }),
      ready,
      metrics,
    });
    opened.push({
      name: 'live calls',
      async close() {
        watch.close();
        await watch.endAll('daemon_stopped');
      },
    });
    log.info({ url, public_url: publicUrl, queue: webhooks.mode(), ...summarize(config) }, 'daemon.started');
    return {
      url,
      firstKey: printed,
      async drain() {
        await watch.drain(config.DRAIN_SECONDS);
        await closeAll();
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll().catch(() => {});
    throw error;
  }
}

/** The process: settings from the environment, signals, exit code. SIGTERM drains; SIGINT or a second signal stops fast. */
export async function run(env: Record<string, string | undefined>): Promise<void> {
  let daemon: Daemon;
  try {
    daemon = await start(readConfig(env));
  } catch (error) {
    if (error instanceof ConfigError) console.error(`offhook: ${error.message}`);
    else console.error('offhook: cannot start:', error instanceof Error ? error.message : error);
    // Nothing is open any more; what a library may still hold must not keep a failed start alive.
    process.exit(1);
  }
  if (daemon.firstKey !== null) {
    console.error(`\nYour API key, shown only this once:\n\n  ${daemon.firstKey}\n`);
  }
  let stopping = false;
  const stop = (work: () => Promise<void>) => {
    work().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  const fast = () => {
    // Whatever hangs, the process ends: what matters is in the database.
    setTimeout(() => process.exit(1), 5_000).unref();
    stop(() => daemon.close());
  };
  process.on('SIGTERM', () => {
    if (stopping) return fast();
    stopping = true;
    stop(() => daemon.drain());
  });
  process.on('SIGINT', () => {
    stopping = true;
    fast();
  });
}
