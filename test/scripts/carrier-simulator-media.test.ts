// Media streams of the simulated carrier: pace, marks, clears, faults.
import t, { type Test } from 'tap';
import { startClock } from '../../scripts/carrier-simulator/clock.ts';
import { AUDIBLE_DB } from '../../scripts/carrier-simulator/conversation.ts';
import { GARBAGE_KINDS, garbage } from '../../scripts/carrier-simulator/garbage.ts';
import { levelDb } from '../../scripts/carrier-simulator/mulaw.ts';
import type { SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import { createRandom } from '../../scripts/carrier-simulator/random.ts';
import { type CarrierSimulator, startCarrierSimulator } from '../../scripts/carrier-simulator/simulator.ts';
import {
  type Application,
  connectTwiml,
  type Session,
  startApplication,
} from './carrier-simulator-application.ts';

const TO = '+14155550101';
const FROM = '+14155550100';
/** A loud mu-law byte, so that the ear hears something. */
const LOUD = 0x8f;

interface Bench {
  app: Application;
  carrier: CarrierSimulator;
  /** Places a call whose document connects a stream, and answers the stream. */
  connect(o?: {
    attributes?: string;
    inner?: string;
    after?: string;
  }): Promise<{ sid: string; session: Session }>;
  place(form: Record<string, string | string[]>): Promise<string>;
}

async function bench(test: Test, options: SimulatorOptions = {}): Promise<Bench> {
  const carrier = await startCarrierSimulator({
    numbers: [FROM],
    allowInsecure: true,
    defaultCallee: { ringMs: 0 },
    ...options,
  });
  const app = await startApplication(carrier.authToken);
  test.teardown(async () => {
    await carrier.close();
    await app.close();
  });
  const place = async (form: Record<string, string | string[]>) => {
    const body = new URLSearchParams({ To: TO, From: FROM });
    for (const [key, value] of Object.entries(form)) {
      body.delete(key);
      for (const one of [value].flat()) body.append(key, one);
    }
    const response = await fetch(`${carrier.url}/2010-04-01/Accounts/${carrier.accountSid}/Calls.json`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${carrier.accountSid}:${carrier.authToken}`)}` },
      body,
    });
    return ((await response.json()) as { sid: string }).sid;
  };
  return {
    app,
    carrier,
    place,
    async connect(o = {}) {
      app.on('/voice', () => connectTwiml(app, o));
      const index = app.sessions.length;
      const sid = await place({ Url: `${app.url}/voice` });
      const session = await app.session(index);
      await session.message((message) => message.event === 'start');
      return { sid, session };
    },
  };
}

t.test('the wire begins with connected and start, and every scalar is text', async (t) => {
  const { app, carrier, connect } = await bench(t);
  const { sid, session } = await connect({ inner: '<Parameter name="callId" value="a&amp;b"/>' });
  await session.frames(3);
  t.same(session.messages[0], { event: 'connected', protocol: 'Call', version: '1.0.0' });
  const streamSid = session.streamSid;
  t.match(streamSid, /^MZ[0-9a-f]{32}$/);
  t.same(session.messages[1], {
    event: 'start',
    sequenceNumber: '1',
    start: {
      accountSid: carrier.accountSid,
      streamSid,
      callSid: sid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { callId: 'a&b' },
    },
    streamSid,
  });
  const first = session.messages[2]!;
  t.same(Object.keys(first), ['event', 'sequenceNumber', 'media', 'streamSid']);
  t.same(Object.keys(first.media!), ['track', 'chunk', 'timestamp', 'payload']);
  t.equal(first.sequenceNumber, '2');
  t.equal(first.media!.track, 'inbound');
  t.equal(first.media!.chunk, '1');
  t.ok(
    Number(first.media!.timestamp) >= 80 && Number(first.media!.timestamp) <= 160,
    'first timestamp is not 0',
  );
  t.equal(first.media!.payload.length, 216);
  t.ok(session.signed, 'the upgrade is signed');
  t.equal(app.hooks.filter((hook) => !hook.signed).length, 0);
});

t.test('sequence numbers, chunks and timestamps advance without a hole', async (t) => {
  const { connect } = await bench(t);
  const { session } = await connect();
  session.mark('early');
  await session.frames(40);
  const rest = session.messages.slice(1);
  t.same(
    rest.map((message) => message.sequenceNumber),
    rest.map((_, index) => String(index + 1)),
  );
  const media = session.of('media');
  t.same(
    media.map((message) => message.media!.chunk),
    media.map((_, index) => String(index + 1)),
  );
  const first = Number(media[0]!.media!.timestamp);
  t.same(
    media.map((message) => Number(message.media!.timestamp)),
    media.map((_, index) => first + index * 20),
  );
  t.equal(session.of('mark').length, 1);
});

t.test('the clock makes up for lost time at once, and is never early', async (t) => {
  const clock = startClock();
  t.teardown(() => clock.close());
  const began = performance.now();
  let ticks = 0;
  let early = 0;
  clock.listen(() => {
    ticks += 1;
    if (performance.now() - began < (ticks - 1) * 20) early += 1;
  });
  while (performance.now() - began < 230);
  t.equal(ticks, 0, 'the program was busy');
  await new Promise((resolve) => setTimeout(resolve, 0));
  t.ok(ticks >= 10, `${ticks} ticks followed at once`);
  t.equal(early, 0);
});

t.test('a mark comes back when its audio was played, at once when nothing is buffered', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  session.mark('nothing buffered');
  await session.message((message) => message.mark?.name === 'nothing buffered');

  const framesAtSend = session.of('media').length;
  session.audio(Buffer.alloc(160, LOUD));
  session.mark('first frame');
  session.audio(Buffer.alloc(160 * 30, LOUD));
  session.mark('600 ms later');
  session.audio(Buffer.alloc(160 * 10, LOUD));
  session.mark('200 ms later');
  await session.message((message) => message.mark?.name === '200 ms later');
  // Time is counted in frames of the same clock, so that a busy machine changes nothing.
  const framesBefore = (name: string) => {
    const at = session.messages.findIndex((message) => message.mark?.name === name);
    return session.messages.slice(0, at).filter((message) => message.event === 'media').length;
  };
  t.ok(framesBefore('first frame') - framesAtSend >= 2, 'the carrier starts 40 ms later');
  t.equal(framesBefore('600 ms later') - framesBefore('first frame'), 30);
  t.equal(framesBefore('200 ms later') - framesBefore('600 ms later'), 10);
  const [stream] = carrier.call(sid)!.streams;
  t.same(
    stream!.marks.map((mark) => [mark.name, mark.by]),
    [
      ['nothing buffered', 'at_once'],
      ['first frame', 'played'],
      ['600 ms later', 'played'],
      ['200 ms later', 'played'],
    ],
  );
});

t.test('clear drops the audio and returns every pending mark, in order and at once', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  for (const name of ['one', 'two', 'three']) {
    session.audio(Buffer.alloc(8000, LOUD));
    session.mark(name);
  }
  await session.frames(5);
  session.clear();
  await session.message((message) => message.mark?.name === 'three');
  t.same(
    session.of('mark').map((message) => message.mark!.name),
    ['one', 'two', 'three'],
  );
  const sequence = session.of('mark').map((message) => Number(message.sequenceNumber));
  t.same(sequence, [sequence[0], sequence[0]! + 1, sequence[0]! + 2]);
  session.audio(Buffer.alloc(320, LOUD));
  session.mark('after clear');
  await session.message((message) => message.mark?.name === 'after clear');
  const [stream] = carrier.call(sid)!.streams;
  t.same(
    stream!.marks.map((mark) => mark.by),
    ['cleared', 'cleared', 'cleared', 'played'],
  );
  t.ok(stream!.clears[0]!.droppedBytes > 20_000);
});

t.test('what the application sends wrong is recorded by the carrier’s code', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  const { streamSid } = session;
  session.socket.send('not json');
  session.socket.send(Buffer.from([1, 2, 3]));
  session.send({ event: 'stop', streamSid });
  session.send({ event: 'media', streamSid: 'MZ0', media: { payload: '////' } });
  session.send({ event: 'media', streamSid, media: { payload: '*not base64*' } });
  session.send({ event: 'mark', streamSid, mark: {} });
  session.send({ event: 'media', streamSid, media: { payload: Buffer.from('RIFF....').toString('base64') } });
  session.mark('end');
  await session.message((message) => message.mark?.name === 'end');
  t.same(
    carrier.call(sid)!.violations.map((violation) => violation.code),
    [31950, 31950, 31951, 31951, 31951, 31951, 31951],
  );
  t.equal(session.closeCode, null, 'and the stream goes on');
});

t.test('strict: a violation ends the stream and the document goes on', async (t) => {
  const { app, carrier, connect } = await bench(t, { strict: true });
  app.on('/after', () => '<Response><Hangup/></Response>');
  const { sid, session } = await connect({ attributes: 'action="/after"' });
  session.send({ event: 'dtmf', streamSid: session.streamSid });
  t.equal(await session.closed, 1002);
  await app.hook((hook) => hook.path === '/after');
  await carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
  t.match(carrier.call(sid)!.streams[0]!.end, { by: 'error', error: /^31951/ });
});

t.test('audio that is no multiple of 160 bytes is played short and counted', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  session.audio(Buffer.alloc(160 + 100, LOUD));
  session.mark('short');
  await session.message((message) => message.mark?.name === 'short');
  const [stream] = carrier.call(sid)!.streams;
  t.equal(stream!.partialFrames, 1);
  t.equal(stream!.playedBytes, 260);
});

t.test('a buffer that runs dry and is filled again is a gap', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  session.audio(Buffer.alloc(1600, LOUD));
  await session.frames(25);
  session.audio(Buffer.alloc(1600, LOUD));
  session.mark('end');
  await session.message((message) => message.mark?.name === 'end');
  const { gaps } = carrier.call(sid)!.streams[0]!;
  t.equal(gaps.length, 1);
  t.equal(gaps[0]!.afterMark, false);
  t.equal(gaps[0]!.atBytes, 1600);
  t.ok(gaps[0]!.ms >= 200 && gaps[0]!.ms % 20 === 0, 'as long as silence was heard');
});

t.test('the application closes: the action is asked for the next document', async (t) => {
  const { app, carrier, connect } = await bench(t);
  app.on('/after', () => '<Response><Say>Goodbye</Say></Response>');
  const { sid, session } = await connect({ attributes: `action="${app.url}/after"` });
  session.socket.close(1000);
  const action = await app.hook((hook) => hook.path === '/after');
  t.equal(action.parameters.CallSid, sid);
  t.equal(action.parameters.CallStatus, 'in-progress');
  t.ok(action.signed);
  await carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
  const call = carrier.call(sid)!;
  t.same(call.spoken, ['Goodbye']);
  t.match(call.streams[0]!.end, { by: 'application', closeCode: 1000, error: null });
  t.equal(call.status, 'completed');
});

t.test('the callee hangs up: stop, then close 1000, then the completed callback', async (t) => {
  const { app, carrier, place } = await bench(t);
  app.on('/voice', () => connectTwiml(app));
  const sid = await place({ Url: `${app.url}/voice`, StatusCallback: `${app.url}/status` });
  const session = await app.session();
  await session.frames(5);
  t.ok(carrier.hangUp(sid));
  const stop = await session.message((message) => message.event === 'stop');
  t.same(stop.stop, { accountSid: carrier.accountSid, callSid: sid });
  t.equal(stop.sequenceNumber, String(session.messages.length - 1));
  t.equal(await session.closed, 1000);
  const completed = await app.hook((hook) => hook.path === '/status');
  t.equal(completed.parameters.CallStatus, 'completed');
});

t.test('keys reach the stream one event each, tones in the audio do not', async (t) => {
  const { connect } = await bench(t, {
    defaultCallee: {
      ringMs: 0,
      steps: [
        { do: 'wait', ms: 300 },
        { do: 'dtmf', digits: '99', inBand: true },
        { do: 'dtmf', digits: '12#' },
      ],
    },
  });
  const { session } = await connect();
  const last = await session.message((message) => message.dtmf?.digit === '#');
  t.same(Object.keys(last), ['event', 'streamSid', 'sequenceNumber', 'dtmf']);
  t.same(
    session.of('dtmf').map((message) => message.dtmf),
    ['1', '2', '#'].map((digit) => ({ track: 'inbound_track', digit })),
  );
});

t.test('a new document over REST ends the stream properly and connects another', async (t) => {
  const { app, carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  const twiml = `<Response><Play digits="1w2"/>${connectTwiml(app).replace(/.*?<Response>/, '')}`;
  const response = await fetch(`${carrier.url}/2010-04-01/Accounts/${carrier.accountSid}/Calls/${sid}.json`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${carrier.accountSid}:${carrier.authToken}`)}` },
    body: new URLSearchParams({ Twiml: twiml }),
  });
  t.equal(response.status, 200);
  t.equal(await session.closed, 1000);
  t.equal(session.of('stop').length, 1);
  const second = await app.session(1);
  const start = await second.message((message) => message.event === 'start');
  t.equal(start.sequenceNumber, '1');
  t.not(second.streamSid, session.streamSid);
  t.equal(carrier.call(sid)!.digitsHeard, '1w2');
});

t.test('stream status callbacks report started and stopped', async (t) => {
  const { app, carrier, place } = await bench(t);
  const sid = await place({
    Twiml:
      `<Response><Connect><Stream url="${app.wsUrl}/media" name="one" statusCallback="${app.url}/stream"/></Connect>` +
      '</Response>',
  });
  const session = await app.session();
  const started = await app.hook((hook) => hook.parameters.StreamEvent === 'stream-started');
  t.match(started.parameters, {
    CallSid: sid,
    StreamName: 'one',
    StreamSid: /^MZ/,
    AccountSid: carrier.accountSid,
  });
  session.socket.close(1000);
  const stopped = await app.hook((hook) => hook.parameters.StreamEvent === 'stream-stopped');
  t.ok(started.signed && stopped.signed);
});

t.test('a stream that cannot be opened is an error, and the next verb runs', async (t) => {
  const { app, carrier, place } = await bench(t);
  const closedPort = app.wsUrl.replace(/\d+$/, '1');
  for (const [url, code] of [
    [`${closedPort}/media`, '31902'],
    ['http://127.0.0.1/media', '31922'],
  ] as const) {
    const twiml =
      `<Response><Connect><Stream url="${url}" statusCallback="${app.url}/stream"/></Connect>` +
      '<Say>Nobody there</Say></Response>';
    const sid = await place({ Twiml: twiml });
    const error = await app.hook((hook) => hook.path === '/stream' && hook.parameters.CallSid === sid);
    t.equal(error.parameters.StreamEvent, 'stream-error');
    t.match(error.parameters.StreamError, new RegExp(`^${code}`));
    await carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
    t.same(carrier.call(sid)!.spoken, ['Nobody there']);
  }
});

t.test('a one-way stream hears both tracks and takes no messages', async (t) => {
  const { app, carrier, place } = await bench(t);
  const sid = await place({
    Twiml:
      `<Response><Start><Stream url="${app.wsUrl}/media" track="both_tracks"/></Start><Say>A line to listen to</Say>` +
      '<Pause length="2"/></Response>',
  });
  const session = await app.session();
  const start = await session.message((message) => message.event === 'start');
  t.same(start.start!.tracks, ['inbound', 'outbound']);
  const loud = (message: { media?: { track: string; payload: string } }) =>
    message.media?.track === 'outbound' &&
    Buffer.from(message.media.payload, 'base64').some((byte) => (byte & 0x7f) < 0x40);
  await session.message(loud);
  session.mark('ignored');
  await carrier.waitFor((event) => event.type === 'stream.violation' && event.callSid === sid);
  t.equal(carrier.call(sid)!.violations[0]!.code, 31924);
});

t.test('a bad network keeps sequence order, jumps in time, and still carries the call', async (t) => {
  const { carrier, connect } = await bench(t, {
    seed: 7,
    network: {
      profile: 'clean',
      jitterSdMs: 15,
      lossRate: 0.1,
      lossRunMs: [20, 60],
      stallsPerMinute: 60,
      stallMs: [50, 100],
    },
  });
  const { sid, session } = await connect();
  await session.frames(150);
  const media = session.of('media');
  const numbers = session.messages.slice(1).map((message) => Number(message.sequenceNumber));
  t.same(
    numbers,
    numbers.map((_, index) => index + 1),
  );
  const steps = media
    .slice(1)
    .map((message, index) => Number(message.media!.timestamp) - Number(media[index]!.media!.timestamp));
  t.ok(steps.every((step) => step > 0 && step % 20 === 0));
  t.ok(
    steps.some((step) => step > 20),
    'some frames were lost',
  );
  t.ok(carrier.call(sid)!.streams[0]!.sent.lost > 0);
});

t.test('an injected abort breaks the socket without a closing handshake', async (t) => {
  const { carrier, connect } = await bench(t);
  const { sid, session } = await connect();
  carrier.addFault({ do: 'stream_abort', callSid: sid });
  t.equal(await session.closed, 1006);
  await carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
  t.match(carrier.call(sid)!.streams[0]!.end, { by: 'error', closeCode: 1006 });
});

t.test('a half-open connection: the carrier goes on, the application is told nothing', async (t) => {
  const { app, carrier, connect } = await bench(t);
  app.on('/after', () => connectTwiml(app));
  const { sid, session } = await connect({ attributes: 'action="/after"' });
  await session.frames(5);
  carrier.addFault({ do: 'stream_half_open', callSid: sid });
  const again = await app.session(1);
  await again.frames(5);
  const heard = session.messages.length;
  session.mark('into the void');
  session.socket.close(1000);
  await again.frames(10);
  t.equal(session.messages.length, heard, 'not a frame more');
  t.equal(session.closeCode, null, 'and no answer to its closing');
  t.match(carrier.call(sid)?.streams[0], { end: { by: 'error', closeCode: 1006 }, received: { marks: 0 } });
  t.equal(carrier.hangUp(sid), true);
  await again.closed;
});

t.test('a fault waits for its stage, and for its number', async (t) => {
  for (const [stage, count, media] of [
    ['start', 1, 0],
    ['media', 5, 5],
  ] as const) {
    const { carrier, connect } = await bench(t, {
      faults: [
        { do: 'stream_abort', number: '+14155559999', at: { stage, count } },
        { do: 'stream_abort', number: TO, at: { stage, count } },
      ],
    });
    const { sid, session } = await connect();
    t.equal(await session.closed, 1006);
    t.equal(carrier.call(sid)?.streams[0]?.sent.media, media);
  }
});

t.test('a fault strikes while the callee speaks: at its own voice, not at noise or echo', async (t) => {
  const tone = { hz: 500, ms: 20_000, levelDb: -6 };
  const { app, carrier, connect, place } = await bench(t, {
    callees: {
      [TO]: {
        ringMs: 0,
        steps: [
          { do: 'wait', ms: 300 },
          { do: 'say', tone, when: 'at_once' },
        ],
      },
      '+14155550102': { ringMs: 0, noise: { levelDb: -20 }, echo: { gainDb: -3, delayMs: 0 } },
    },
    faults: [{ do: 'stream_abort', times: 0, at: { stage: 'callee_speech', count: 5 } }],
  });
  const { session: speaking } = await connect();
  t.equal(await speaking.closed, 1006);
  const loud = speaking
    .of('media')
    .filter(({ media }) => levelDb(Buffer.from(media!.payload, 'base64')) > AUDIBLE_DB);
  t.equal(loud.length, 4, 'at the fifth frame of its voice');

  const sid = await place({ Url: `${app.url}/voice`, To: '+14155550102' });
  const noisy = await app.session(1);
  await noisy.message((message) => message.event === 'start');
  noisy.audio(Buffer.alloc(160 * 20, LOUD));
  await noisy.frames(30);
  t.ok(levelDb(Buffer.from(noisy.of('media').at(-1)!.media!.payload, 'base64')) > AUDIBLE_DB);
  t.equal(carrier.call(sid)?.streams[0]?.end, null, 'nobody has spoken');
});

t.test('a callee has its own network', async (t) => {
  const { carrier, connect } = await bench(t, {
    callees: { [TO]: { ringMs: 0, network: { lossRate: 0.5, lossRunMs: 20 } } },
  });
  const { sid, session } = await connect();
  await session.frames(40);
  t.ok((carrier.call(sid)?.streams[0]?.sent.lost ?? 0) > 5);
});

t.test('a carrier that reads nothing sends on, and reads everything later', async (t) => {
  const { carrier, connect } = await bench(t, { faults: [{ do: 'stream_deaf', ms: 400 }] });
  const { sid, session } = await connect();
  await session.frames(3);
  session.socket.send(JSON.stringify({ event: 'mark', streamSid: session.streamSid, mark: { name: 'm' } }));
  await session.frames(10);
  t.equal(carrier.call(sid)?.streams[0]?.received.marks, 0);
  await session.message((message) => message.event === 'mark');
  t.equal(carrier.call(sid)?.streams[0]?.received.marks, 1);
});

t.test('garbage comes between frames: every kind of it, as many as asked for', async (t) => {
  const made = [...garbage(GARBAGE_KINDS + 100, 'MZ1', createRandom(1))];
  t.equal(made.length, GARBAGE_KINDS + 100);
  t.equal(
    new Set(made.slice(0, GARBAGE_KINDS).map(({ data }) => data.toString('latin1'))).size,
    GARBAGE_KINDS,
  );
  t.ok(made.every(({ data }) => data.length < 65_536));
});

t.test('close variants: without stop, and the callback before the stop', async (t) => {
  for (const variant of ['close_without_stop', 'completed_before_stop'] as const) {
    const { app, carrier, place } = await bench(t, { network: { closeVariants: [variant] } });
    app.on('/voice', () => connectTwiml(app));
    const sid = await place({ Url: `${app.url}/voice`, StatusCallback: `${app.url}/status` });
    const session = await app.session();
    await session.frames(2);
    carrier.hangUp(sid);
    if (variant === 'completed_before_stop') {
      await app.hook((hook) => hook.path === '/status');
      t.equal(session.of('stop').length, 0, 'the callback came first');
    }
    t.equal(await session.closed, 1000);
    t.equal(session.of('stop').length, variant === 'close_without_stop' ? 0 : 1);
  }
});
