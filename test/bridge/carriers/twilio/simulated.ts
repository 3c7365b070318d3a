// Twilio's carrier with the simulated one behind it, over real sockets: hooks, media streams and the telephone network.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Test } from 'tap';
import { WebSocketServer } from 'ws';
import type { CarrierEvent } from '../../../../bridge/carriers/carrier.ts';
import { streamCarriers } from '../../../../bridge/carriers/media.ts';
import type { MediaMessage, MediaWire } from '../../../../bridge/carriers/media-wire.ts';
import { openTwilio } from '../../../../bridge/carriers/twilio/carrier.ts';
import type { FrameWriter } from '../../../../bridge/sockets/frames.ts';
import { openLog } from '../../../../log.ts';
import type { SimulatorOptions } from '../../../../scripts/carrier-simulator/options.ts';
import { startCarrierSimulator } from '../../../../scripts/carrier-simulator/simulator.ts';
import { written } from '../../sockets/written.ts';
import type { Peer, World } from '../conformance.ts';

const OWN = '+14155550100';
export const CALLEE = '+14155550001';
export const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const HOOKS = '/carriers/twilio';
const PERSON = '+14155550007';

const NUMBERS: World['numbers'] = {
  answers: CALLEE,
  rings_on: '+14155550002',
  busy: '+14155550003',
  never_answers: '+14155550004',
  does_not_exist: '+14155550005',
};
const CALLEES: NonNullable<SimulatorOptions['callees']> = {
  [NUMBERS.answers]: { ringMs: 10 },
  [NUMBERS.rings_on]: { ringMs: 20_000 },
  [NUMBERS.busy]: { outcome: 'busy', ringMs: 10 },
  [NUMBERS.never_answers]: { outcome: 'no_answer', ringMs: 10 },
  [NUMBERS.does_not_exist]: { outcome: 'invalid', ringMs: 10 },
};
/** Of a call that waits for its command. */
const WAITING: ReadonlySet<CarrierEvent['type']> = new Set([
  'call-offered',
  'stream-wanted',
  'stream-over',
  'transfer-failed',
]);

/** What a media socket's end here does with a message. */
type OnMedia = (
  message: MediaMessage,
  wire: MediaWire,
  send: (write: (message: FrameWriter) => void) => void,
) => void;

/** Opens it; it closes with the test. */
export async function openSimulated(t: Pick<Test, 'teardown'>, options: SimulatorOptions = {}) {
  const simulator = await startCarrierSimulator({
    numbers: [OWN],
    allowInsecure: true,
    ...options,
    callees: { ...CALLEES, ...options.callees },
  });
  const told: CarrierEvent[] = [];
  const media: MediaMessage[] = [];
  const waiting: { fits: () => boolean; resolve: () => void }[] = [];
  const check = () => {
    for (const one of [...waiting]) {
      if (!one.fits()) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve();
    }
  };
  // The other side's own doing is not told here.
  const looking = setInterval(check, 10);
  const app = express();
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const publicUrl = `http://127.0.0.1:${port}`;
  const stream = { callId: CALL, url: `ws://127.0.0.1:${port}/media/1`, token: 'a "b" & <c>' };
  const carrier = openTwilio({
    accountSid: simulator.accountSid,
    authToken: simulator.authToken,
    baseUrl: simulator.url,
    publicUrl,
    hooksPath: HOOKS,
    clientOf: () => ({ address: '127.0.0.1', shared: true }),
    log: openLog('silent'),
    strangers: { saw: () => {} },
    retryDelayMs: 5,
  });
  app.use(HOOKS, carrier.hooks ?? express.Router());
  let onWaiting = (event: CarrierEvent) => carrier.line.connect(event.carrierCallId, stream);
  await carrier.open(async (event) => {
    told.push(event);
    check();
    if (WAITING.has(event.type)) await onWaiting(event);
  });
  await carrier.numbers?.adopt({ e164: OWN });
  let onMedia: OnMedia = () => {};
  const sockets = new WebSocketServer({ noServer: true });
  const twilio = streamCarriers({ carrierSecrets: { twilio: carrier.mediaSecret }, publicUrl }).get('twilio');
  server.on('upgrade', (request, socket, head) => {
    if (twilio?.verify(request) !== true) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      const wire = twilio.createWire();
      ws.on('message', (data, isBinary) => {
        const message = wire.decode(data as Buffer, isBinary);
        media.push(
          message.type === 'audio' ? { ...message, payload: Buffer.from(message.payload) } : message,
        );
        onMedia(message, wire, (write) => {
          const { data, isBinary: binary } = written(write);
          ws.send(data, { binary });
        });
        check();
      });
    });
  });
  t.teardown(async () => {
    clearInterval(looking);
    await simulator.close();
    for (const ws of sockets.clients) ws.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const peer: Peer & { world: World } = {
    carrier,
    told,
    media,
    stream,
    onWaiting(command) {
      onWaiting = command;
    },
    until: (fits) =>
      new Promise<void>((resolve) => {
        waiting.push({ fits, resolve });
        check();
      }),
    world: {
      own: OWN,
      numbers: NUMBERS,
      callIn: async (to) => (await simulator.placeInboundCall({ to, from: PERSON })).sid,
      hangUp: (sid) => simulator.hangUp(sid),
      heard(sid) {
        const call = simulator.call(sid);
        return { keys: call?.digitsHeard ?? '', words: call?.spoken ?? [] };
      },
      endOf(sid) {
        const call = simulator.call(sid);
        return call === null || call.endedAtMs === null ? null : call.status;
      },
    },
  };
  return {
    ...peer,
    simulator,
    onMedia(handler: OnMedia) {
      onMedia = handler;
    },
    place: (more: { machineDetection?: 'detect' | 'message_end' } = {}) =>
      carrier.line.place({
        callId: CALL,
        to: CALLEE,
        from: OWN,
        ringSeconds: 5,
        maxSeconds: 60,
        machineDetection: null,
        ...more,
      }),
    ended: () =>
      peer.until(() =>
        told.some(
          (event) =>
            event.type === 'status' && !['queued', 'initiated', 'ringing', 'answered'].includes(event.status),
        ),
      ),
  };
}
