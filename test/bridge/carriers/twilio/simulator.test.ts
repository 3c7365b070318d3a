// Client, hooks and media codec together against the carrier simulator, over real sockets.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import type {
  CarrierEvent,
  InboundCall,
  MediaMessage,
  StreamAnswer,
} from '../../../../bridge/carriers/carrier.ts';
import { carriers } from '../../../../bridge/carriers/carriers.ts';
import { verifyTwilioUpgrade } from '../../../../bridge/carriers/twilio/hooks.ts';
import { createTwilioWire } from '../../../../bridge/carriers/twilio/wire.ts';
import { openLog } from '../../../../log.ts';
import type { SimulatorOptions } from '../../../../scripts/carrier-simulator/options.ts';
import { startCarrierSimulator } from '../../../../scripts/carrier-simulator/simulator.ts';

const OWN = '+14155550100';
const CALLEE = '+14155550001';
const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const HOOKS = '/carriers/twilio';

async function bench(t: Test, options: SimulatorOptions = {}) {
  const simulator = await startCarrierSimulator({ numbers: [OWN], allowInsecure: true, ...options });
  const events: CarrierEvent[] = [];
  const inbound: InboundCall[] = [];
  const messages: MediaMessage[] = [];
  const waiting: { fits: () => boolean; resolve: () => void }[] = [];
  const check = () => {
    for (const one of [...waiting]) {
      if (!one.fits()) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve();
    }
  };
  const until = (fits: () => boolean) =>
    new Promise<void>((resolve) => {
      waiting.push({ fits, resolve });
      check();
    });
  const app = express();
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const publicUrl = `http://127.0.0.1:${port}`;
  const stream = (): StreamAnswer => ({
    answer: 'stream',
    url: `ws://127.0.0.1:${port}/media/1`,
    parameters: { callId: CALL, note: 'a "b" & <c>' },
  });
  let rejects = false;
  const log = openLog('silent');
  const handlers = {
    event: async (event: CarrierEvent) => {
      events.push(event);
      check();
    },
    inbound: async (call: InboundCall): Promise<StreamAnswer> => {
      inbound.push(call);
      return rejects ? { answer: 'reject', reason: 'busy' } : stream();
    },
    answered: async () => stream(),
    afterStream: async (): Promise<StreamAnswer> => ({ answer: 'hang-up' }),
  };
  app.use(
    HOOKS,
    carriers.twilio.hooks({
      accountSid: simulator.accountSid,
      authToken: simulator.authToken,
      publicUrl,
      hooksPath: HOOKS,
      handlers,
      clientOf: () => ({ address: '127.0.0.1', shared: true }),
      log,
      strangers: { saw: () => {} },
    }),
  );
  /** What the media side does with each message; the wire and the socket are of one stream. */
  let onMessage: (message: MediaMessage, send: (data: string | Buffer) => void, close: () => void) => void =
    () => {};
  const wire = createTwilioWire();
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const url = `ws://127.0.0.1:${port}${request.url}`;
    if (!verifyTwilioUpgrade({ headers: request.headers, url, authToken: simulator.authToken })) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      const streamWire = createTwilioWire();
      ws.on('message', (data, isBinary) => {
        const message = streamWire.decode(data as Buffer, isBinary);
        messages.push(
          message.type === 'audio' ? { ...message, payload: Buffer.from(message.payload) } : message,
        );
        onMessage(
          message,
          (out) => ws.send(out, { binary: false }),
          () => ws.close(1000),
        );
        check();
      });
    });
  });
  const carrier = carriers.twilio.open({
    accountSid: simulator.accountSid,
    authToken: simulator.authToken,
    baseUrl: simulator.url,
    publicUrl,
    hooksPath: HOOKS,
    log,
    retryDelayMs: 5,
  });
  t.teardown(async () => {
    await simulator.close();
    for (const ws of sockets.clients) ws.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const statuses = () => events.flatMap((event) => (event.type === 'status' ? [event.status] : []));
  return {
    simulator,
    carrier,
    wire,
    events,
    inbound,
    messages,
    statuses,
    until,
    on(handler: typeof onMessage) {
      onMessage = handler;
    },
    reject() {
      rejects = true;
    },
    place: (more = {}) =>
      carrier.placeCall({
        callId: CALL,
        to: CALLEE,
        from: OWN,
        ringSeconds: 5,
        maxSeconds: 60,
        machineDetection: null,
        ...more,
      }),
    ended: () =>
      until(() =>
        statuses().some((status) => !['queued', 'initiated', 'ringing', 'answered'].includes(status)),
      ),
  };
}

t.test('a call out: placed, streamed, spoken on, hung up', async (t) => {
  const made = await bench(t, { callees: { [CALLEE]: { ringMs: 10 } } });
  let streamId = '';
  made.on((message, send) => {
    if (message.type === 'started') {
      streamId = message.streamId;
      send(made.wire.audio(streamId, Buffer.alloc(320, 0x55)));
      send(made.wire.mark(streamId, 'g1:320'));
      send(made.wire.audio(streamId, Buffer.alloc(160_000, 0x55)));
      send(made.wire.mark(streamId, 'g1:end'));
    }
    if (message.type === 'mark' && message.name === 'g1:320') send(made.wire.clear(streamId));
  });
  const { carrierCallId } = await made.place();
  await made.until(() => made.messages.filter((message) => message.type === 'mark').length === 2);
  await made.until(() => made.messages.filter((message) => message.type === 'audio').length > 10);
  t.match(await made.carrier.fetchCall(carrierCallId), { status: 'answered', to: CALLEE, from: OWN });
  t.equal(await made.carrier.hangUp(carrierCallId), 'ended');
  await made.ended();
  t.equal(await made.carrier.hangUp(carrierCallId), 'already_ended');
  t.equal(await made.carrier.cancel(carrierCallId), 'already_ended');
  t.same(made.messages[0], { type: 'connected' });
  t.match(made.messages[1], {
    type: 'started',
    carrierCallId,
    parameters: { callId: CALL, note: 'a "b" & <c>' },
    format: { encoding: 'mulaw', rateHz: 8000 },
  });
  t.same(
    made.messages.filter((message) => message.type === 'mark'),
    [
      { type: 'mark', name: 'g1:320' },
      { type: 'mark', name: 'g1:end' },
    ],
  );
  const audio = made.messages.filter((message) => message.type === 'audio');
  t.ok(audio.every((message) => message.payload.length === 160));
  t.same(
    audio.map((message) => message.chunk),
    audio.map((_, n) => n + 1),
  );
  t.same(
    made.messages.filter((message) => message.type === 'malformed' || message.type === 'ignored'),
    [],
  );
  t.same([...made.statuses()].sort(), ['answered', 'completed', 'initiated', 'ringing']);
  t.ok(
    made.events.every(
      (event) => event.type === 'status' && event.callId === CALL && event.carrierCallId === carrierCallId,
    ),
  );
  const report = made.simulator.call(carrierCallId)!;
  t.same(report.violations, []);
  t.same(report.errors, []);
  t.match(await made.carrier.fetchCall(carrierCallId), { status: 'completed', endedAt: String });
  const found = await made.carrier.findCalls({ to: CALLEE, from: OWN, since: report.createdAt });
  t.same(
    found.map((one) => one.carrierCallId),
    [carrierCallId],
  );
});

t.test('calls that are not answered say how', async (t) => {
  for (const [outcome, status] of [
    ['busy', 'busy'],
    ['no_answer', 'no_answer'],
    ['invalid', 'failed'],
  ] as const) {
    const made = await bench(t, { callees: { [CALLEE]: { outcome, ringMs: 10 } } });
    await made.place({ ringSeconds: 1 });
    await made.ended();
    t.equal(
      made.statuses().find((one) => one === status),
      status,
    );
    t.match(
      made.events.find((event) => event.type === 'status' && event.status === status),
      { cause: /^SIP \d{3}$/ },
    );
  }
});

t.test('a call that rings is cancelled', async (t) => {
  const made = await bench(t, { callees: { [CALLEE]: { ringMs: 20_000 } } });
  const { carrierCallId } = await made.place();
  await made.until(() => made.statuses().includes('ringing'));
  t.equal(await made.carrier.cancel(carrierCallId), 'ended');
  await made.until(() => made.statuses().includes('canceled'));
});

t.test('a lost answer: the call is found instead of being placed again', async (t) => {
  const made = await bench(t, {
    callees: { [CALLEE]: { ringMs: 20_000 } },
    faults: [{ do: 'lose_response', method: 'POST', path: '/Calls.json' }],
  });
  const since = new Date().toISOString();
  await t.rejects(made.place(), {
    code: 'carrier_error',
    carrierCode: 'no_answer_from_carrier',
    retryable: false,
  });
  const found = await made.carrier.findCalls({ to: CALLEE, from: OWN, since });
  t.equal(found.length, 1);
  t.equal(await made.carrier.hangUp(found[0]!.carrierCallId), 'ended');
});

t.test('a machine answers', async (t) => {
  const made = await bench(t, {
    callees: { [CALLEE]: { ringMs: 10, amd: { verdict: 'machine_end_beep', afterMs: 50 } } },
  });
  const { carrierCallId } = await made.place({ machineDetection: 'message_end' });
  await made.until(() => made.events.some((event) => event.type === 'machine-detection'));
  t.match(
    made.events.find((event) => event.type === 'machine-detection'),
    { callId: CALL, carrierCallId, verdict: 'machine_ready', raw: 'machine_end_beep' },
  );
  await made.carrier.hangUp(carrierCallId);
  await made.ended();
});

t.test('key tones, then the stream again', async (t) => {
  const made = await bench(t, { callees: { [CALLEE]: { ringMs: 10 } } });
  const { carrierCallId } = await made.place();
  await made.until(() => made.messages.some((message) => message.type === 'started'));
  await made.carrier.sendDigits(carrierCallId, '12#', { callId: CALL });
  await made.until(() => made.messages.filter((message) => message.type === 'started').length === 2);
  t.equal(made.simulator.call(carrierCallId)!.digitsHeard, '12#');
  await made.carrier.hangUp(carrierCallId);
  await made.ended();
  t.same(made.simulator.call(carrierCallId)!.errors, []);
});

t.test('a transfer that nobody takes comes back to us', async (t) => {
  const made = await bench(t, {
    callees: { [CALLEE]: { ringMs: 10 }, '+14155550009': { outcome: 'busy', ringMs: 10 } },
  });
  const { carrierCallId } = await made.place();
  await made.until(() => made.messages.some((message) => message.type === 'started'));
  await made.carrier.transfer(carrierCallId, '+14155550009', { callId: CALL, from: OWN });
  await made.ended();
  const report = made.simulator.call(carrierCallId)!;
  t.same(report.errors, []);
  t.match(
    report.documents.map((document) => document.twiml).at(-1),
    /<Hangup\/>/,
    'after the transfer failed we said how to go on',
  );
});

t.test("a last line in the carrier's voice", async (t) => {
  const made = await bench(t, { callees: { [CALLEE]: { ringMs: 10 } } });
  const { carrierCallId } = await made.place();
  await made.until(() => made.messages.some((message) => message.type === 'started'));
  await made.carrier.speakAndHangUp(carrierCallId, 'Sorry, "we" <have> to go & hang up.');
  await made.until(() => made.messages.some((message) => message.type === 'stopped'));
  await made.ended();
  t.same(made.simulator.call(carrierCallId)!.spoken, ['Sorry, "we" <have> to go & hang up.']);
});

t.test('a number is found, bought once though the answer is lost, called and released', async (t) => {
  const made = await bench(t, {
    numbers: [],
    faults: [{ do: 'lose_response', method: 'POST', path: '/IncomingPhoneNumbers.json' }],
  });
  const forSale = await made.carrier.searchNumbers({
    country: 'US',
    type: 'local',
    areaCode: '415',
    limit: 3,
  });
  t.equal(forSale.length, 3);
  t.ok(forSale.every((number) => number.e164.startsWith('+1415') && (number.monthly_cost_cents ?? 0) > 0));
  const e164 = forSale[0]!.e164;
  const bought = await made.carrier.buyNumber({ e164, friendlyName: 'Front desk' });
  t.match(bought, {
    e164,
    friendlyName: 'Front desk',
    countryCode: 'US',
    numberType: 'local',
    monthlyCostCents: forSale[0]!.monthly_cost_cents,
  });
  t.same(
    await made.carrier.buyNumber({ e164, friendlyName: 'Front desk' }),
    bought,
    'asking again buys nothing',
  );
  const call = await made.simulator.placeInboundCall({ to: e164, from: '+14155550007' });
  await made.until(() => made.messages.some((message) => message.type === 'started'));
  t.same(made.inbound, [{ carrierCallId: call.sid, to: e164, from: '+14155550007' }]);
  made.simulator.hangUp(call.sid);
  await made.ended();
  t.match(made.events.at(-1), { type: 'status', callId: null, carrierCallId: call.sid, status: 'completed' });
  made.reject();
  const refused = await made.simulator.placeInboundCall({ to: e164, from: '+14155550007' });
  await made.simulator.waitFor((event) => event.type === 'call.ended' && event.callSid === refused.sid);
  t.equal(made.simulator.call(refused.sid)!.status, 'busy');
  await made.carrier.releaseNumber(bought.carrierNumberId);
  await made.carrier.releaseNumber(bought.carrierNumberId);
  await t.rejects(made.simulator.placeInboundCall({ to: e164, from: '+14155550007' }));
});

t.test('a stream that cannot be opened is told, and the call ends', async (t) => {
  const made = await bench(t, { callees: { [CALLEE]: { ringMs: 10 } }, faults: [{ do: 'stream_refuse' }] });
  const { carrierCallId } = await made.place();
  await made.until(() => made.events.some((event) => event.type === 'stream-failed'));
  t.match(
    made.events.find((event) => event.type === 'stream-failed'),
    { callId: CALL, carrierCallId, error: String },
  );
  await made.ended();
});
