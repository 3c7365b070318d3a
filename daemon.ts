// Opens everything in order and closes it in reverse: the only file that sees every folder. Signals have one owner, `run`.
import { mkdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { openRecordingExports } from './audio/recording-exports.ts';
import { NotARecording } from './audio/recording-file.ts';
import { wasLate } from './bridge/calls/admission.ts';
import { Alive } from './bridge/calls/alive.ts';
import { CallControl } from './bridge/calls/call-control.ts';
import { observeAll } from './bridge/calls/call-observers.ts';
import { openCallRamp } from './bridge/calls/call-ramp.ts';
import type { EndVerb, PassOn } from './bridge/calls/calls.ts';
import { MediaThreads } from './bridge/calls/media-threads.ts';
import { observeBridge } from './bridge/calls/metrics.ts';
import { Takeover } from './bridge/calls/takeover.ts';
import { mediaThreadsFor } from './bridge/calls/thread-count.ts';
import { openCarriers } from './bridge/carriers/carriers.ts';
import type { TurnDetection } from './bridge/models/model.ts';
import { readPeerSecret } from './bridge/peers/peer-secret.ts';
import { Peers } from './bridge/peers/peers.ts';
import { PrivatePort } from './bridge/peers/private-port.ts';
import { missingSettings, modelSetupOf } from './bridge/setups.ts';
import { openClock } from './clock.ts';
import { openClosing } from './closing.ts';
import { type Config, ConfigError, readConfig, secretsOf, summarize } from './config.ts';
import { openResults } from './control/agents/results.ts';
import { readSpeechModels } from './control/agents/speech-models.ts';
import { LINE_TEXTS, SESSION_TEXTS, talkTexts } from './control/agents/texts/moments.ts';
import { shortWords } from './control/agents/texts/short-words.ts';
import { openToolRunner } from './control/agents/tool-runner.ts';
import { modelTools } from './control/agents/tools.ts';
import { Alerts } from './control/alerts/alerts.ts';
import { speaksOf } from './control/api/call-record.ts';
import { inboundCall } from './control/api/inbound-call.ts';
import { agentCall } from './control/api/new-call.ts';
import { ROUTES } from './control/api/routes.ts';
import { createApp } from './control/app.ts';
import { CampaignRunner } from './control/campaigns/runner.ts';
import { costOf, numberPricesOf } from './control/costs/rates.ts';
import { readRates } from './control/costs/rates-file.ts';
import { openDashboard } from './control/dashboard/dashboard.ts';
import { openLiveFeed } from './control/dashboard/live-feed.ts';
import { OthersCalls } from './control/dashboard/others-calls.ts';
import { readRanges } from './control/egress/addresses.ts';
import { openEgress } from './control/egress/egress.ts';
import { openHealth } from './control/health/line-health.ts';
import { createHttpServer } from './control/http/http-server.ts';
import type { OpenRecording } from './control/http/parts.ts';
import { makePasswordLink, passwordUrl } from './control/http/password-link.ts';
import { PublicPort } from './control/http/public-port.ts';
import { arrivalOf } from './control/http/request-arrival.ts';
import { clientOf } from './control/http/request-origin.ts';
import { Visitors } from './control/http/visitors.ts';
import { openMail } from './control/mail/mail.ts';
import { Erasures } from './control/operations/erasures.ts';
import { ensureFirstKey } from './control/operations/first-key.ts';
import {
  Handover,
  type HandoverOptions,
  handoverCommands,
  holdFolder,
  startProgram,
} from './control/operations/handover.ts';
import { openInstance } from './control/operations/instance.ts';
import {
  createMetrics,
  observeIntegrity,
  observePeers,
  observeStorage,
  observeStrangers,
} from './control/operations/metrics.ts';
import { Predecessor } from './control/operations/predecessor.ts';
import { Retention } from './control/operations/retention.ts';
import { openStorageSpace } from './control/operations/storage-space.ts';
import { handedSocket, tellSystemd } from './control/operations/supervisor.ts';
import { openTraces } from './control/traces/traces.ts';
import { openWebhooks } from './control/webhooks/webhooks.ts';
import { AppError, CallElsewhere } from './errors.ts';
import { failpoint, setFailpoints } from './failpoints.ts';
import { type Log, openLog, redact } from './log.ts';
import { RecentLog } from './recent-log.ts';
import { Recordings } from './recordings.ts';
import { defaultsOf } from './storage/outbound/rules.ts';
import type { CallRecord } from './storage/records.ts';
import { openIntegrityCheck } from './storage/sqlite/integrity.ts';
import { openStore } from './storage/sqlite/store.ts';
import type { TakenCall } from './storage/store.ts';
import { openStrangerLog } from './stranger-log.ts';

/** A fast stop is over by then, whatever hangs: what matters is in the database. */
const FAST_STOP_MS = 4_900;
/** How a fast stop's time is shared: most of it for the carrier's answers, and a little for the last words. */
const SHARE_MS = {
  calls: 2_400,
  threads: 600,
  webhooks: 500,
  results: 300,
  listener: 200,
  rest: 100,
} as const;
/** After an error that nobody caught: what is being written may take so long. Nothing of the process can be trusted for longer. */
const CRASH_MS = 300;

export interface Daemon {
  /** The address it listens on. */
  url: string;
  /** The API key made at the first start, to be shown this once. */
  firstKey: string | null;
  /** Where the dashboard's password is set, once; null when it is. */
  setupUrl: string | null;
  /** Resolves when another process has gone on for it, and all is closed. */
  went: Promise<void>;
  /** Takes no new calls, lets live ones end, then closes everything. Safe to call twice. */
  drain(): Promise<void>;
  /** Hangs up and closes everything within a few seconds. Safe to call twice, also during a drain. */
  close(): Promise<void>;
  /** Something broke that nobody caught: what waits to be written is. Nothing is closed, and the calls are left to the next start. */
  crash(error: unknown): Promise<void>;
}

function version(): string {
  const text = readFileSync(new URL('./package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}

/** What another daemon is asked for, by its private port. */
const END_CALL = 'end-call';
const STREAM_PORT = 'stream-port';
interface ThreadOfCall {
  callId: string;
  thread: number;
}
const portBy =
  (peers: Peers) =>
  async ({ epoch, callId, thread }: ThreadOfCall & { epoch: number }) =>
    (await peers.commandEpoch(epoch, STREAM_PORT, { callId, thread })) as number | null;
const passOnBy =
  (peers: Peers): PassOn =>
  (verb, orgId, callId) =>
    peers.commandOwner(callId, END_CALL, { verb, orgId, callId });

/**
 * Starts the daemon.
 * @throws ConfigError when credentials are missing; Error when something cannot be opened (then nothing stays open)
 */
export async function start(
  config: Config,
  o: {
    log?: Log;
    /** A descriptor that it listens by in place of HOST and PORT. */
    socket?: number | null;
    /** Which daemon of the folder it goes on for (predecessor.ts); undefined: none. */
    takesOver?: string | undefined;
    /** Starts a program that is to go on for this one, and has its socket. */
    startProgram?: HandoverOptions['start'];
    /** Tells a supervisor. */
    tell?: (states: readonly string[]) => void;
    /** Another daemon has taken over what this one had, which stood still: nothing of it can be written any more. */
    onReplaced?: () => void;
    /** The process that it started to go on for it has died, and it still has calls. */
    onHeirDied?: () => void;
    /** It has started, and nobody has been told yet: who hears that may end it at once. */
    onStarted?: (daemon: Daemon) => void;
  } = {},
): Promise<Daemon> {
  const missing = missingSettings(config);
  if (missing.length > 0) {
    throw new ConfigError(
      `Not set: ${missing.join(', ')}. Real calls need a carrier and a model; "npm run simulate" needs neither.`,
    );
  }
  const models = readSpeechModels(config);
  const recentLog = new RecentLog();
  const hidden = [...secretsOf(config), ...models.secrets];
  const log = o.log ?? openLog(config.LOG_LEVEL, hidden, undefined, recentLog.take);
  const clock = openClock();
  const { now, monotonicMs } = clock;
  const dataDir = resolve(config.DATA_DIR);
  const closing = openClosing(log);
  const databasePath = join(dataDir, 'offhook.db');

  let before: Predecessor | null = null;
  try {
    setFailpoints(config.FAILPOINTS);
    mkdirSync(join(dataDir, 'recordings'), { recursive: true, mode: 0o700 });
    if (o.takesOver !== undefined)
      before = Predecessor.find({ databasePath, dataDir, which: o.takesOver, clock, log });
    const handed = (await before?.join({ hasSocket: o.socket != null })) ?? null;
    const metrics = createMetrics();
    const strangers = openStrangerLog({ log, monotonicMs, counted: observeStrangers(metrics) });
    closing.opened({ name: 'stranger log', shareMs: SHARE_MS.rest, close: () => strangers.close() });
    // Opening takes as long as a file is large.
    let setMeanwhileMs = 0;
    let setStored = (byMs: number): void => {
      setMeanwhileMs += byMs;
    };
    clock.onSet((byMs) => setStored(byMs));
    const store = await openStore({
      path: databasePath,
      shared: config.DATA_DIR_SHARED || handed !== null,
      secretKeys: config.SECRET_KEY,
      outbound: defaultsOf(config),
      log,
      now,
      onWrite: () => failpoint('commit'),
      onTimed: observeStorage(metrics),
    });
    closing.opened({ name: 'store', shareMs: SHARE_MS.rest, close: () => store.close() });
    setStored = (byMs) => {
      store.moveTimes(byMs).catch((error: unknown) => log.error({ err: error }, 'clock.times_not_moved'));
    };
    if (setMeanwhileMs !== 0) setStored(setMeanwhileMs);
    // What runs of the daemon that are over have left is this one's from here on.
    const left = await store.takeOver();
    const joins = (await store.daemons()).length > 1;
    closing.opened({ name: 'clock', shareMs: SHARE_MS.rest, close: async () => clock.close() });
    const { printed } = await ensureFirstKey(store, config, now());
    const egress = openEgress({
      allowedCidrs: config.WEBHOOK_ALLOWED_CIDRS,
      userAgent: `Offhook/${version()}`,
    });
    closing.opened({ name: 'egress', shareMs: SHARE_MS.rest, close: () => egress.close() });

    const trustsProxy = readRanges('TRUSTED_PROXIES', config.TRUSTED_PROXIES);
    // The listener first: without PUBLIC_URL its own address is what the carrier is told.
    const opened = Promise.withResolvers<RequestListener>();
    // Whoever comes by a socket that was there before need not know that a daemon starts. Nor need a carrier that asks what comes
    // next of a call: it waits for longer than a start takes.
    const keepsAll = o.socket != null || handed !== null;
    let handle: RequestListener = (request, response) => {
      if (keepsAll || request.url?.startsWith('/carriers/') === true)
        void opened.promise.then((app) => app(request, response));
      else response.writeHead(503, { 'retry-after': '1' }).end();
    };
    let threads: MediaThreads | null = null;
    const admission = { lateMs: config.MEDIA_LATE_MS };
    const ramp = openCallRamp({
      rules: admission,
      late: () => threads?.running().some(({ pace }) => wasLate(pace)) === true,
    });
    closing.opened({ name: 'call ramp', shareMs: SHARE_MS.rest, close: async () => ramp.close() });
    const { server, limits } = createHttpServer(
      (request, response) => handle(request, response),
      trustsProxy,
      ramp.requestWaited,
    );
    const visitors = new Visitors(server);
    server.on('upgrade', (request, socket, head) => {
      if (threads === null) socket.destroy();
      else if (threads.upgrade({ request, socket, head })) limits.release(socket);
    });
    const taken = (socket: Socket) => server.emit('connection', socket);
    const publicPort = await (handed !== null
      ? PublicPort.beside({ ...handed, fd: o.socket ?? undefined, take: taken })
      : o.socket == null
        ? PublicPort.open({ host: config.HOST, port: config.PORT }, taken)
        : PublicPort.adopt(o.socket, taken));
    closing.opened({
      name: 'listener',
      shareMs: SHARE_MS.listener,
      close(hurry) {
        const closed = publicPort.close();
        const closeAll = () => server.closeAllConnections();
        server.closeIdleConnections();
        if (hurry.aborted) closeAll();
        else hurry.addEventListener('abort', closeAll, { once: true });
        setTimeout(closeAll, 1_000).unref();
        return closed;
      },
    });
    const { address, port, family } = publicPort.address;
    const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    const publicUrl = config.PUBLIC_URL ?? url;

    let lookForDead = async () => {};
    let handover: Handover | null = null;
    let endHere: CallControl['endHere'] | null = null;
    const secret = readPeerSecret(dataDir, {
      untaken: (error) => log.warn({ err: error }, 'peer.key_not_kept'),
    });
    const peers = new Peers({
      store,
      secret,
      now,
      monotonicMs,
      log,
      lookForDead: () => lookForDead(),
      counted: observePeers(metrics),
    });
    const privatePort = await PrivatePort.open({
      secret,
      epoch: store.self().epoch,
      now,
      log,
      strangers,
      onHook: (request, response) => handle(request, response),
      commands: {
        ...handoverCommands(() => handover),
        async [STREAM_PORT](body) {
          const { callId, thread } = body as ThreadOfCall;
          return threads?.portOf(callId, thread) ?? null;
        },
        async [END_CALL](body) {
          const { verb, orgId, callId } = body as { verb: EndVerb; orgId: string; callId: string };
          if (endHere === null) throw new CallElsewhere(callId, null);
          await endHere(verb, orgId, callId);
        },
      },
    });
    closing.opened({ name: 'private port', shareMs: SHARE_MS.rest, close: () => privatePort.close() });
    await store.tellSelf({ version: version(), private_port: privatePort.port });

    const rates = readRates(config.RATES_FILE);
    const carriers = openCarriers(config, {
      publicUrl,
      log,
      strangers,
      clientOf: (request) => clientOf(arrivalOf(request), trustsProxy),
      numberPrices: (name, country) => numberPricesOf(rates, name, country),
      async lastSeen(callId) {
        const call = await store.findCall(callId);
        return call === null ? null : { at: call.updated_at, answeredAt: call.answered_at };
      },
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
      clock,
      version: version(),
    });
    closing.opened({
      name: 'webhooks',
      shareMs: SHARE_MS.webhooks,
      close: (hurry) => webhooks.close(hurry),
    });
    const accessOf = ({ model }: Pick<CallRecord, 'model'>) => {
      const access = models.access(model ?? models.defaultName);
      if (access === null) throw new AppError('invalid_model', `There is no speech model ${model}.`);
      return access;
    };
    /** The models of a call by their makers' names; of one that was taken out of the settings, the name is all there is. */
    const costNames = (call: Pick<CallRecord, 'model'>) => {
      const access = models.access(call.model ?? models.defaultName);
      return {
        speech: access?.model ?? call.model ?? '',
        transcription: access?.transcriptionModel ?? config.TRANSCRIPTION_MODEL,
        extraction: config.EXTRACTION_MODEL,
      };
    };
    const results = openResults({
      store,
      log,
      openai,
      model: config.EXTRACTION_MODEL,
      costOf: (call) => costOf(call, costNames(call), rates),
    });
    closing.opened({ name: 'results', shareMs: SHARE_MS.results, close: () => results.close() });

    const runTool = openToolRunner({ egress, log });
    let onStorageLow = () => {};
    const space = await openStorageSpace({
      folder: dataDir,
      warnMb: config.STORAGE_WARN_MB,
      lowMb: config.STORAGE_LOW_MB,
      log,
      metrics,
      onLow: () => onStorageLow(),
    });
    store.subscribe({ recovered: () => void space.look(), replaced: () => o.onReplaced?.() });
    closing.opened({ name: 'storage space', shareMs: SHARE_MS.rest, close: () => space.close() });
    const feed = openLiveFeed({ store, log });
    if (config.DATA_DIR_SHARED || joins) {
      const others = new OthersCalls({ store, log, observer: feed.observer, isWatched: feed.isWatched });
      others.start();
      closing.opened({ name: 'calls of others', shareMs: SHARE_MS.rest, close: () => others.close() });
    }
    const recordings = new Recordings({ dataDir, store, log });
    const calls = new CallControl({
      store,
      carriers,
      log,
      now,
      monotonicMs,
      texts: { talk: talkTexts, shortWords, session: SESSION_TEXTS, line: LINE_TEXTS, modelTools },
      access: accessOf,
      publicUrl,
      dataDir,
      recordCalls: config.RECORD_CALLS,
      maxCalls: config.MAX_CONCURRENT_CALLS,
      maxSeconds: config.MAX_CALL_SECONDS,
      ringSeconds: config.RING_SECONDS,
      pricePerMinute: config.PRICE_PER_MINUTE_MILLI_CENTS,
      reserveMinutes: config.RESERVE_MINUTES,
      runTool,
      inboundCall: async (call) => {
        const model = call.agent.model ?? models.defaultName;
        if (models.access(model) === null) {
          log.error(
            { agent_id: call.agent.id, model, configured: models.names },
            'call.model_not_configured',
          );
          return null;
        }
        return inboundCall({
          ...call,
          model,
          now: now(),
          reserve: config.RESERVE_MINUTES * config.PRICE_PER_MINUTE_MILLI_CENTS,
          speaks: await speaksOf(store, call.agent.org_id, config),
        });
      },
      joinRecording: (call) => recordings.join(call),
      settleResult: (callId, endedMsAgo) => results.settle(callId, endedMsAgo),
      settleCost: (callId) => results.settleCost(callId),
      observer: observeAll([observeBridge(metrics, () => threads), feed.observer], log),
      ramp,
      storageLow: space.low,
      passOn: passOnBy(peers),
      failpoint,
    });
    onStorageLow = () => calls.stopRecordings();
    endHere = (verb, orgId, id) => calls.endHere(verb, orgId, id);
    const takeUp = async (taken: readonly TakenCall[]) => {
      // They go on meanwhile: their sound goes into files of its own.
      const mended = Promise.all(taken.map((call) => recordings.mend(call)));
      await calls.recover(taken);
      await mended;
    };

    const listenAgain = async () =>
      handover?.isLeaving === true ||
      publicPort.listen().catch((error: unknown) => log.error({ err: error }, 'listener.failed'));
    threads = await MediaThreads.open({
      admission,
      count:
        config.MEDIA_THREADS ||
        mediaThreadsFor({
          mostCalls: config.MAX_CONCURRENT_CALLS,
          cores: availableParallelism(),
          detectorPerCall: config.VAD_MODEL === 'v4',
        }),
      firstPort: config.MEDIA_PORT,
      codeCache: join(dataDir, 'code-cache'),
      data: {
        epoch: store.self().epoch,
        carrierSecrets: Object.fromEntries(carriers.all.map(({ name, mediaSecret }) => [name, mediaSecret])),
        publicUrl,
        logLevel: config.LOG_LEVEL,
        callerIdleSeconds: config.CALLER_IDLE_SECONDS,
        turnDetection: config.TURN_DETECTION as TurnDetection,
        earlyAnswers: config.EARLY_ANSWERS,
        modelSessionSeconds: config.MODEL_SESSION_SECONDS,
        vadModel: config.VAD_MODEL,
      },
      publicPort: publicPort.isShared ? { host: address, port, fd: publicPort.takeDescriptor() } : null,
      log,
      strangers,
      clientOf: (request) => clientOf(arrivalOf(request), trustsProxy),
      portElsewhere: portBy(peers),
      onMessage: (message) => calls.onMedia(message),
      onConnection: (connection) => server.emit('connection', connection),
      onPublic: (any) => void (any ? publicPort.leave() : listenAgain()),
      onLost: (callIds, silentMs) => calls.onThreadLost(callIds, silentMs),
    });
    const media = threads;
    if (handed !== null && !media.isPublic) await publicPort.listen();
    // Nobody is told of a port that is changing hands.
    await publicPort.settled();
    closing.opened({
      name: 'media threads',
      shareMs: SHARE_MS.threads,
      async close(hurry) {
        // Who asks from now on is answered to the end of the listener.
        await listenAgain();
        server.closeIdleConnections();
        await media.close(hurry);
      },
    });
    calls.attach(media);
    closing.opened({ name: 'carriers', shareMs: SHARE_MS.rest, close: () => carriers.close() });
    // Calls that a dead process left behind go on, or end: they are this daemon's before a hook can ask for one.
    const takenUp = takeUp(left)
      .then(() => recordings.joinLeft('recordings'))
      .catch((error: unknown) => log.error({ err: error }, 'calls.not_recovered'));
    closing.opened({ name: 'recovery', shareMs: SHARE_MS.rest, close: () => takenUp });
    await carriers.open(calls.onCarrier);
    calls.watch.start();
    const alive = new Alive({ store, now, hasCalls: () => calls.size > 0 });
    alive.start();
    closing.opened({ name: 'signs of life', shareMs: SHARE_MS.rest, close: () => alive.close() });

    // Last: until here every read of the disk is for the start.
    const integrity = openIntegrityCheck({ path: databasePath, log });
    closing.opened({ name: 'integrity check', shareMs: SHARE_MS.rest, close: () => integrity.close() });
    observeIntegrity(metrics, integrity);
    const ready = () => {
      const disk = space.health();
      const checks = {
        accepting: calls.accepting(),
        media_threads: media.ready(),
        storage: { ...disk, low: disk.low || !store.writable(), check: integrity.now().state },
        webhooks: webhooks.health(),
      };
      const { low, check } = checks.storage;
      return { ok: checks.accepting && checks.media_threads && !low && check !== 'damaged', checks };
    };
    const exports = openRecordingExports();
    closing.opened({ name: 'recording exports', shareMs: SHARE_MS.rest, close: () => exports.close() });
    const openRecording: OpenRecording = (file, shape) =>
      exports.open(file, shape).catch((error: unknown) => {
        if (error instanceof NotARecording) return 'damaged';
        throw error;
      });
    const health = openHealth({
      carriers: carriers.all,
      models: models.names.flatMap((name) => {
        const access = models.access(name);
        if (access === null) return [];
        const { probe, settings } = modelSetupOf(access.kind);
        const file = { url: 'MODELS_FILE', apiKey: 'MODELS_FILE', model: 'MODELS_FILE' };
        return [{ name, probe: probe(access), settings: name === models.defaultName ? settings : file }];
      }),
      async queue() {
        const { pendingDeliveries, oldestPendingSeconds } = await store.stats();
        const { mode, redis } = webhooks.health();
        return {
          mode,
          degraded: mode === 'direct' && redis !== null,
          pending: pendingDeliveries,
          overdueSeconds: oldestPendingSeconds,
        };
      },
      disk: () => ({ ...space.health(), damage: integrity.now().found }),
      warnMb: config.STORAGE_WARN_MB,
      threads: () => ({
        ready: media.ready(),
        late: media.running().filter(({ pace }) => pace.at === 'late').length,
        loads: media.loads().map(({ load }) => load),
      }),
      store,
      now,
      monotonicMs,
    });
    const alerts = new Alerts({
      store,
      health,
      freeMb: () => space.health().free_mb,
      egress,
      mail: openMail(config),
      publicUrl,
      log,
      clock,
    });
    alerts.start();
    const traces = openTraces({ config, version: version(), store, log, metrics, monotonicMs });
    if (traces !== null)
      closing.opened({ name: 'traces', shareMs: SHARE_MS.rest, close: () => traces.close() });
    closing.opened({ name: 'alerts', shareMs: SHARE_MS.rest, close: () => alerts.close() });
    const kept = { store, log, dataDir, recordings: () => recordings.filesIn('recordings') };
    const erasures = new Erasures({ ...kept, isOn: (id) => calls.callIds().includes(id) });
    const retention = new Retention({ ...kept, now, files: erasures });
    closing.opened({ name: 'retention', shareMs: SHARE_MS.rest, close: () => retention.close() });
    closing.opened({ name: 'erasures', shareMs: SHARE_MS.rest, close: () => erasures.close() });
    const campaigns = new CampaignRunner({
      store,
      calls,
      maxCalls: config.MAX_CONCURRENT_CALLS,
      callTo: ({ org_id, agent_id, from_number }, { to_number, context }) =>
        agentCall(
          { store, carriers, egress, config, models, now, orgId: org_id },
          { agent_id, to: to_number, context, ...(from_number === null ? {} : { from_number }) },
        ),
      now,
      monotonicMs,
      log,
    });
    const parts = {
      keeper: {
        done: (id: string, forMs: number) => erasures.done(id, forMs),
        sweep: () => void retention.sweep(),
      },
      store,
      calls,
      campaigns,
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
      version: version(),
    };
    const dashboard = openDashboard({
      ...parts,
      routes: ROUTES,
      publicUrl,
      dataDir,
      feed,
    });
    dashboard.prepare();
    closing.opened({ name: 'dashboard', shareMs: SHARE_MS.rest, close: () => dashboard.close() });
    const organization = await store.firstOrganization();
    const isSetUp = organization !== null && (await store.firstOwner(organization.id)) !== null;
    // Who joins others leaves the link as they printed it.
    const setupUrl = isSetUp || joins ? null : passwordUrl(publicUrl, makePasswordLink(dataDir, null));
    const app = createApp({
      prove: openInstance(dataDir, { joins }),
      ...parts,
      ready,
      passHook: (request, response, callId) => peers.passHook(request, response, callId),
      metrics,
      pages: dashboard.pages,
    });
    handle = visitors.through(app);
    opened.resolve(handle);
    closing.opened({
      name: 'live calls',
      shareMs: SHARE_MS.calls,
      async close() {
        calls.watch.close();
        // A little less than its share, which is for what it must not leave undone.
        await calls.endAll('daemon_stopped', SHARE_MS.calls - 200);
        await calls.flush();
      },
    });
    // Closed before the calls are ended: what is taken over then would find no carrier any more.
    const takeover = new Takeover({
      store,
      log,
      standingStill: () => peers.standingStill(),
      end: takeUp,
      settle: () => results.takeUp(),
    });
    campaigns.start();
    closing.opened({ name: 'campaigns', shareMs: SHARE_MS.rest, close: () => campaigns.close() });
    takeover.start();
    erasures.start();
    retention.start();
    lookForDead = () => takeover.look();
    closing.opened({ name: 'takeover', shareMs: SHARE_MS.rest, close: () => takeover.close() });
    handover = new Handover({
      store,
      log,
      now,
      sharesFolder: config.DATA_DIR_SHARED,
      hindered: () => {
        if (config.MEDIA_PORT !== 0)
          return 'MEDIA_PORT gives the media threads ports that two processes cannot both have: restart the daemon.';
        return calls.accepting() ? null : 'The daemon is ending.';
      },
      port: () => ({ address: publicPort.address, isShared: publicPort.isShared }),
      descriptor: () => media.publicFd() ?? publicPort.descriptor(),
      start(...program) {
        if (o.startProgram === undefined)
          throw new AppError('conflict', 'This daemon is part of another program.');
        return o.startProgram(...program);
      },
      tell: (states) => o.tell?.(states),
      heirDied: () => o.onHeirDied?.(),
      async leavePort() {
        await media.leavePort();
        await publicPort.leave();
        void takeover.close();
        // Who goes on for this one has them from now on.
        await campaigns.close();
        // Its live views end, and come again where the calls are.
        await dashboard.close();
      },
      callIds: () => calls.callIds(),
      async finishCalls() {
        // What it was taking over as it left is among its calls.
        await Promise.all([takeover.close(), visitors.leave()]);
        await calls.finish();
        // One that came here by the public port may be of a call that the daemon before has.
        await media.parted();
      },
    });
    closing.opened({ name: 'handover', shareMs: SHARE_MS.rest, close: async () => handover?.close() });
    const self = { epoch: store.self().epoch, pid: process.pid, version: version() };
    await before?.ready(self);
    if (handed !== null && !config.DATA_DIR_SHARED) {
      const held = holdFolder(store, { mayHold: () => handover?.isStaying === true });
      closing.opened({ name: 'folder', shareMs: SHARE_MS.rest, close: async () => held() });
    }
    const went = handover.over.then(() => closing.close());
    // Whoever waits for it hears of it.
    went.catch(() => {});
    const daemon: Daemon = {
      url,
      firstKey: printed,
      setupUrl,
      went,
      async drain() {
        const endBefore = before?.end('SIGTERM', config.DRAIN_SECONDS * 1_000 + FAST_STOP_MS);
        await Promise.all([calls.drain(config.DRAIN_SECONDS), endBefore]);
        await closing.close();
      },
      close() {
        void before?.end('SIGINT', 0);
        closing.hurry();
        return closing.close();
      },
      async crash(error) {
        log.error({ live: calls.size, err: error }, 'daemon.crashed');
        calls.watch.close();
        // Nobody is hung up: whoever is started next goes on with the calls, as after a kill.
        await calls.flush();
      },
    };
    o.onStarted?.(daemon);
    log.info({ url, public_url: publicUrl, queue: webhooks.mode(), ...summarize(config) }, 'daemon.started');
    return daemon;
  } catch (error) {
    closing.hurry();
    await closing.close().catch(() => {});
    throw error;
  }
}

/**
 * The process: settings from the environment, signals, exit code. SIGTERM drains; SIGINT or a second signal stops fast.
 * An error that nobody caught ends the process; whoever supervises it starts it again, and the calls go on there.
 */
export async function run(env: Record<string, string | undefined>): Promise<void> {
  let running: Daemon | null = null;
  let crashed = false;
  const crash = (error: unknown) => {
    // What else breaks from here on is the same break.
    if (crashed) return;
    crashed = true;
    setTimeout(() => process.exit(1), CRASH_MS);
    if (running === null) console.error('offhook: cannot start:', plainly(error));
    Promise.resolve(running?.crash(error)).then(
      () => process.exit(1),
      () => process.exit(1),
    );
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  /** At once: whatever is still open here is another's, and closing it would tell the other side of an end. */
  const replaced = () => {
    console.error(
      'offhook: this daemon stood still, and another one has taken over its calls: it ends, to be started again.',
    );
    process.exit(1);
  };

  const tell = async (...states: string[]) => {
    const untold = await tellSystemd(env, states);
    if (untold !== null) console.error('offhook:', plainly(untold));
  };
  const { OFFHOOK_TAKES_OVER: takesOver } = env;

  let stopping = false;
  /** At once, as a crash is: the daemon that a supervisor starts then goes on with the calls of both. */
  const heirDied = () => {
    if (stopping || !env.NOTIFY_SOCKET) return;
    console.error(
      'offhook: the process that went on for this one has died: this one ends too, to be started again.',
    );
    void tell(`MAINPID=${process.pid}`).then(() => process.exit(1));
  };

  const stop = (work: () => Promise<void>) => {
    work().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  const obeySignals = (daemon: Daemon) => {
    const fast = () => {
      setTimeout(() => process.exit(1), FAST_STOP_MS).unref();
      stop(() => daemon.close());
    };
    process.on('SIGTERM', () => {
      if (stopping) return fast();
      stopping = true;
      void tell('STOPPING=1');
      stop(() => daemon.drain());
    });
    process.on('SIGINT', () => {
      stopping = true;
      fast();
    });
    stop(() => daemon.went);
  };

  let daemon: Daemon;
  try {
    daemon = await start(readConfig(env), {
      takesOver,
      socket: handedSocket(env, takesOver === undefined ? [process.pid] : [process.pid, process.ppid]),
      startProgram: (folder, descriptor, epoch) => startProgram(folder, descriptor, { env, epoch }),
      tell: (states) => void tell(...states),
      onReplaced: replaced,
      onHeirDied: heirDied,
      onStarted: obeySignals,
    });
    running = daemon;
  } catch (error) {
    if (error instanceof ConfigError) console.error(`offhook: ${plainly(error)}`);
    else console.error('offhook: cannot start:', plainly(error));
    // Nothing is open any more; what a library may still hold must not keep a failed start alive.
    process.exit(1);
  }
  if (daemon.firstKey !== null) {
    console.error(`\nYour API key, shown only this once:\n\n  ${daemon.firstKey}\n`);
    console.error(
      'Calls, words and recordings are kept for ever until you say how long: Settings, What is kept (docs/privacy.md).',
    );
  }
  if (daemon.setupUrl !== null) {
    console.error(`\nThe dashboard waits for its password. Open this link once:\n\n  ${daemon.setupUrl}\n`);
  }
  await tell('READY=1', ...(takesOver === undefined ? [] : [`MAINPID=${process.pid}`]));
}

function plainly(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error));
}
