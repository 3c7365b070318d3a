// The carrier simulator in one process: opens everything, joins the parts, closes it. It speaks Twilio's protocols and
// knows nothing of the application that it calls.
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Call, type Exchange } from './call.ts';
import { NO_SETTINGS } from './call-settings.ts';
import { soundsOf } from './callee.ts';
import { Clips } from './clips.ts';
import { startClock } from './clock.ts';
import { controlRoutes, type InboundRequest } from './control.ts';
import { type EventListener, EventLog, type SimulatorEvent } from './event-log.ts';
import { Faults } from './faults.ts';
import { Hooks } from './hooks.ts';
import { Pump } from './link.ts';
import { formatted, NumberBook } from './numbers.ts';
import {
  type CalleeInput,
  type FaultInput,
  parseCallee,
  parseFault,
  parseOptions,
  type SimulatorOptions,
} from './options.ts';
import { createRandom } from './random.ts';
import { type CallReport, reportOf } from './report.ts';
import { restRoutes } from './rest.ts';
import { notFound, RestError } from './rest-errors.ts';
import { silenceFrames } from './sound.ts';

export interface CarrierSimulator {
  /** http://127.0.0.1:port: base of REST, pricing and the control API. */
  url: string;
  port: number;
  accountSid: string;
  authToken: string;
  calls(): CallReport[];
  call(sid: string): CallReport | null;
  /** Somebody calls one of the numbers. @throws Error when it is not ours, or the script is wrong */
  placeInboundCall(request: InboundRequest): Promise<CallReport>;
  /** The callee (or caller) hangs up. False when there is no such live call. */
  hangUp(sid: string): boolean;
  /** Who answers a number from now on. */
  setCallee(phoneNumber: string, callee: CalleeInput): Promise<void>;
  addFault(fault: FaultInput): void;
  onEvent(listener: EventListener): () => void;
  /** The first event, past or coming, that fits. @throws Error after `timeoutMs` (default 30 s) */
  waitFor(fits: (event: SimulatorEvent) => boolean, timeoutMs?: number): Promise<SimulatorEvent>;
  /** Ends every call without further callbacks, finishes the files, lets go of everything. Safe to call twice. */
  close(): Promise<void>;
}

/** @throws Error when an option, a script or a clip is wrong, or the port is taken */
export async function startCarrierSimulator(input: SimulatorOptions = {}): Promise<CarrierSimulator> {
  const options = parseOptions(input);
  if (options.outDir !== null) await mkdir(options.outDir, { recursive: true });
  const clips = new Clips(options.audioDir);
  const callees = new Map(Object.entries(options.callees));
  const scripts = [...callees.values(), options.defaultCallee];
  await Promise.all(scripts.flatMap(soundsOf).map((sound) => clips.load(sound)));

  const closing = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const work = new Set<Promise<unknown>>();
  const faults = new Faults();
  for (const fault of options.faults) faults.add(fault);
  const numbers = new NumberBook({
    random: createRandom(options.seed, -1),
    taken: options.takenNumbers,
    trial: options.trial,
  });
  for (const { phoneNumber, voiceUrl, statusCallback, friendlyName } of options.numbers) {
    Object.assign(numbers.add(phoneNumber), {
      voiceUrl,
      statusCallback,
      friendlyName: friendlyName || formatted(phoneNumber),
    });
  }
  const events = new EventLog();
  let streams = 0;

  const world: Exchange = {
    options,
    clock: startClock(),
    clips,
    silence: silenceFrames(options.seed),
    hooks: new Hooks({
      authToken: options.authToken,
      deadlineMs: options.hookDeadlineMs,
      connectMs: options.hookConnectMs,
      allowInsecure: options.allowInsecure,
      faults,
    }),
    pump: new Pump(),
    events,
    faults,
    numbers,
    calls: new Map(),
    newCall: (callOptions) => new Call(world, callOptions),
    nextRandom: () => createRandom(options.seed, streams++),
    after(ms, action) {
      if (closing.signal.aborted) return () => {};
      const timer = setTimeout(() => {
        timers.delete(timer);
        action();
      }, ms);
      timers.add(timer);
      return () => {
        clearTimeout(timer);
        timers.delete(timer);
      };
    },
    settle(promise) {
      const settled = promise
        .catch((error: unknown) => events.emit('file.failed', null, { error: String(error) }))
        .finally(() => work.delete(settled));
      work.add(settled);
    },
    calleeOf: (phoneNumber) => callees.get(phoneNumber) ?? options.defaultCallee,
  };

  const call = (sid: string) => {
    const found = world.calls.get(sid);
    return found ? reportOf(found) : null;
  };
  const calls = () => [...world.calls.values()].map(reportOf);

  const placeInboundCall = async (request: InboundRequest) => {
    const number = numbers.byNumber(request.to);
    if (!number) throw new Error(`${request.to} is not one of the account's numbers`);
    let callee = options.defaultCallee;
    if (typeof request.callee === 'string') {
      const named = callees.get(request.callee);
      if (!named) throw new Error(`no callee named ${request.callee}`);
      callee = named;
    } else if (request.callee) {
      callee = parseCallee(request.callee);
    }
    await Promise.all(soundsOf(callee).map((sound) => clips.load(sound)));
    const arriving = world.newCall({
      direction: 'inbound',
      to: request.to,
      from: request.from,
      callee,
      settings: {
        ...NO_SETTINGS,
        url: number.voiceUrl,
        method: number.voiceMethod,
        fallbackUrl: number.voiceFallbackUrl,
        fallbackMethod: number.voiceFallbackMethod,
        // A number's callback comes at the end of a call only.
        statusCallback: number.statusCallback,
        statusCallbackMethod: number.statusCallbackMethod,
      },
    });
    arriving.arrive();
    return reportOf(arriving);
  };

  const hangUp = (sid: string) => {
    const live = world.calls.get(sid);
    if (!live || live.isEnded) return false;
    const status =
      live.answeredAt !== null ? 'completed' : live.options.direction === 'inbound' ? 'no-answer' : 'busy';
    live.end({ status, by: 'callee', why: 'hung up' });
    return true;
  };

  const forget = (sid: string) => world.calls.get(sid)?.isEnded === true && world.calls.delete(sid);

  const setCallee = async (phoneNumber: string, script: CalleeInput) => {
    const callee = parseCallee(script);
    await Promise.all(soundsOf(callee).map((sound) => clips.load(sound)));
    callees.set(phoneNumber, callee);
  };

  const wire = (sid: string) =>
    world.calls.get(sid)?.streams.map((stream) => ({ streamSid: stream.streamSid, wire: stream.wire })) ?? [];
  const app = express();
  app.disable('x-powered-by');
  app.use(
    '/simulator',
    controlRoutes({
      events,
      faults,
      calls,
      lateMs: world.clock.latestMs,
      call,
      wire,
      placeInboundCall,
      hangUp,
      forget,
      setCallee,
    }),
  );
  app.use(restRoutes(world));
  app.use((request: Request) => {
    throw notFound(request.path);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const known = error instanceof RestError ? error : new RestError(20500, String(error), 500);
    if (!response.headersSent) response.status(known.status).json(known.body());
  });

  const server = createServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  let closed: Promise<void> | null = null;
  const close = async () => {
    closing.abort();
    for (const live of world.calls.values()) {
      live.end({
        status: live.answeredAt === null ? 'canceled' : 'completed',
        by: 'carrier',
        why: 'simulator closed',
      });
      for (const stream of live.streams) stream.destroy();
    }
    for (const timer of timers) clearTimeout(timer);
    world.clock.close();
    world.pump.close();
    await world.hooks.close();
    await Promise.all(work);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };

  return {
    url: `http://${host}:${port}`,
    port,
    accountSid: options.accountSid,
    authToken: options.authToken,
    calls,
    call,
    placeInboundCall,
    hangUp,
    setCallee,
    addFault: (fault) => faults.add(parseFault(fault)),
    onEvent: (listener) => events.listen(listener),
    waitFor: (fits, timeoutMs = 30_000) => events.waitFor(fits, timeoutMs, closing.signal),
    close() {
      closed ??= close();
      return closed;
    },
  };
}
