// The media codec against messages as Twilio documents them, and against what it must survive.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { mediaCarriers } from '../../../../bridge/carriers/media.ts';
import type { MediaMessage } from '../../../../bridge/carriers/media-wire.ts';
import { createTwilioWire } from '../../../../bridge/carriers/twilio/wire.ts';
import type { FrameWriter } from '../../../../bridge/sockets/frames.ts';
import {
  CONNECTED,
  dtmfMessage,
  markMessage,
  mediaMessage,
  readMessage,
  startMessage,
  stopMessage,
} from '../../../../scripts/carrier-simulator/media-messages.ts';
import { seeded } from '../../../random.ts';
import { oddly } from '../../odd-json.ts';
import { RUNS, SEED } from '../../seed.ts';
import { written } from '../../sockets/written.ts';
import { wireConformance } from '../wire-conformance.ts';

const CASES = 20_000;
const SID = `MZ${'0123456789abcdef'.repeat(2)}`;
const FRAME = Buffer.from(Array.from({ length: 160 }, (_, i) => (i * 7) & 0xff));
const decode = (message: unknown) =>
  createTwilioWire().decode(
    Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
    false,
  );
const media = (body: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  event: 'media',
  sequenceNumber: '2',
  media: { track: 'inbound', chunk: '1', timestamp: '102', payload: FRAME.toString('base64'), ...body },
  streamSid: SID,
  ...more,
});

const start = (mediaFormat: unknown) => ({
  event: 'start',
  start: { streamSid: SID, callSid: 'CA1', mediaFormat },
});

/** What the next decode leaves alone. */
const copied = (message: MediaMessage): MediaMessage =>
  message.type === 'audio' ? { ...message, payload: Buffer.from(message.payload) } : message;

t.test('what a codec keeps is its own, and no part of what many share', async (t) => {
  for (const payload of [FRAME, Buffer.alloc(4_000)]) {
    const found = decode(media({ payload: payload.toString('base64') }));
    t.ok(found.type === 'audio' && found.payload.buffer.byteLength < Buffer.poolSize);
  }
});

t.test('frames of one length and another, by one codec', async (t) => {
  const wire = createTwilioWire();
  for (const length of [160, 160, 320, 80, 160, 5_000, 160, 5_000]) {
    const sound = Buffer.alloc(length, length & 0xff);
    const message = JSON.stringify(media({ payload: sound.toString('base64') }));
    const found = wire.decode(Buffer.from(message), false);
    t.ok(found.type === 'audio' && found.payload.equals(sound), `${length} bytes`);
  }
});

t.test('messages in order of the documentation', async (t) => {
  t.same(decode('{"event":"connected","protocol":"Call","version":"1.0.0"}'), { type: 'connected' });
  t.same(
    decode(
      `{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"${SID}","callSid":"CA1","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{"callId":"abc","n":5,"__proto__":"x"}},"streamSid":"${SID}"}`,
    ),
    {
      type: 'started',
      streamId: SID,
      carrierCallId: 'CA1',
      parameters: Object.fromEntries([
        ['callId', 'abc'],
        ['__proto__', 'x'],
      ]),
      format: { encoding: 'mulaw', rateHz: 8000 },
    },
  );
  t.same(
    decode(
      `{"event":"dtmf","streamSid":"${SID}","sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"#"}}`,
    ),
    {
      type: 'digit',
      digit: '#',
    },
  );
  t.same(decode(`{"event":"mark","sequenceNumber":"4","streamSid":"${SID}","mark":{"name":"my label"}}`), {
    type: 'mark',
    name: 'my label',
  });
  t.same(
    decode(
      `{"event":"stop","sequenceNumber":"5","stop":{"accountSid":"AC1","callSid":"CA1"},"streamSid":"${SID}"}`,
    ),
    {
      type: 'stopped',
    },
  );
});

t.test('audio in every layout that is still the protocol', async (t) => {
  const expected = { type: 'audio', payload: FRAME, timestampMs: 102, chunk: 1 };
  const payload = FRAME.toString('base64');
  const cases: Record<string, unknown> = {
    'the known layout': media({}),
    'numbers as numbers': media({ chunk: 1, timestamp: 102 }),
    'spaces between': JSON.stringify(media({}), null, 1),
    'the stream id first': `{"event":"media","streamSid":"${SID}","sequenceNumber":"2","media":{"track":"inbound","chunk":"1","timestamp":"102","payload":"${payload}"}}`,
    'fields in another order': `{"streamSid":"${SID}","media":{"payload":"${payload}","timestamp":"102","chunk":"1"},"event":"media"}`,
    'slashes escaped': JSON.stringify(media({})).replaceAll('/', '\\/'),
    'a field more at the end': media({}, { extra: 1 }),
    'a quote in the stream id': media({}, { streamSid: 'M"Z' }),
  };
  for (const [name, message] of Object.entries(cases)) t.same(decode(message), expected, name);
});

t.test('whatever comes, laid out as expected or nearly: read as JSON reads it', async (t) => {
  const random = seeded(SEED);
  /** The first mostly, as it comes. */
  const draw = <T>(from: readonly T[]): T => from[random() < 0.7 ? 0 : Math.floor(random() * from.length)]!;
  const numbers = ['1', '0', '007', '123456789012345', '1234567890123456', '', '-1', '1.5', '1e3'];
  const payloads = ['//79', '/w==', '', 'AB', '\\/AAA', 'AA"A', 'A-_A', '====', FRAME.toString('base64')];
  const ids = [SID, '', 'é', 'M\\"Z', 'M\\', '\\\\', '\n', '\u0001', '"', '}', '","event":"stop'];
  const pieces = [
    ' ',
    '"chunk":"9",',
    '"event":"stop",',
    '"media":{},',
    '\\u0022',
    '"payload":"AAAA",',
    '{',
    '"',
  ];
  const wire = createTwilioWire();
  let sounds = 0;
  for (let n = 0; n < CASES * RUNS; n++) {
    const body = `"track":"inbound","chunk":"${draw(numbers)}","timestamp":"${draw(numbers)}","payload":"${draw(payloads)}"`;
    const message = `{"event":"media","sequenceNumber":"${draw(numbers)}","media":{${body}},"streamSid":"${draw(ids)}"}`;
    const data = oddly(random, message, pieces);
    const found = copied(wire.decode(data, false));
    if (found.type === 'audio') sounds++;
    // The same to JSON, and not the layout that is expected.
    const expected = copied(createTwilioWire().decode(Buffer.concat([data, Buffer.from(' ')]), false));
    if (isDeepStrictEqual(found, expected)) continue;
    t.same(found, expected, `seed ${SEED}, case ${n}: ${data.toString('latin1')}`);
    return;
  }
  t.ok(sounds > CASES / 10, `${sounds} of sound among ${CASES * RUNS} messages from seed ${SEED}`);
});

t.test('payloads of any length, the long one after the short one', async (t) => {
  const wire = createTwilioWire();
  for (const length of [0, 1, 2, 3, 159, 160, 161, 320, 1024, 1025, 8000, 40_000]) {
    const bytes = Buffer.alloc(length, length & 0xff);
    const message = wire.decode(
      Buffer.from(JSON.stringify(media({ payload: bytes.toString('base64') }))),
      false,
    );
    t.ok(message.type === 'audio' && message.payload.equals(bytes), `${length} bytes`);
  }
});

t.test('a short payload whose message has a quote where the one before ended', async (t) => {
  const wire = createTwilioWire();
  const usual = FRAME.toString('base64').length;
  t.same(wire.decode(Buffer.from(JSON.stringify(media({}))), false), {
    type: 'audio',
    payload: FRAME,
    timestampMs: 102,
    chunk: 1,
  });
  for (const short of ['//79', '//8=', '/w==']) {
    const pad = 'A'.repeat(usual - `${short}","pad":"`.length);
    const message = JSON.stringify(media({ payload: short, pad }));
    const heard = wire.decode(Buffer.from(message), false);
    t.same(
      heard,
      { type: 'audio', payload: Buffer.from(short, 'base64'), timestampMs: 102, chunk: 1 },
      short,
    );
  }
});

t.test('the payload is decoded into one buffer', async (t) => {
  const wire = createTwilioWire();
  const data = Buffer.from(JSON.stringify(media({})));
  const first = wire.decode(data, false);
  const second = wire.decode(data, false);
  t.ok(first.type === 'audio' && second.type === 'audio' && first.payload.buffer === second.payload.buffer);
});

t.test('what is not the protocol is told, never thrown', async (t) => {
  const cases: [string, unknown, string][] = [
    ['empty', '', 'malformed'],
    ['half a message', JSON.stringify(media({})).slice(0, 150), 'malformed'],
    ['an array', '[]', 'malformed'],
    ['null', 'null', 'malformed'],
    ['no event', '{}', 'malformed'],
    ['event of another type', '{"event":5}', 'malformed'],
    ['media without body', '{"event":"media"}', 'malformed'],
    ['payload of another type', media({ payload: 5 }), 'malformed'],
    ['payload that is no base64', media({ payload: '!!!!' }), 'malformed'],
    ['payload cut short', media({ payload: 'AAAAA' }), 'malformed'],
    ['timestamp below zero', media({ timestamp: '-20' }), 'malformed'],
    ['timestamp with a fraction', media({ timestamp: 1.5 }), 'malformed'],
    ['timestamp too long to be one', media({ timestamp: '9'.repeat(30) }), 'malformed'],
    ['chunk missing', media({ chunk: undefined }), 'malformed'],
    ['our own audio', media({ track: 'outbound' }), 'ignored'],
    ['start without body', '{"event":"start"}', 'malformed'],
    ['start without a call', { event: 'start', start: { streamSid: SID } }, 'malformed'],
    ['start with another sound', start({ encoding: 'audio/x-l16', sampleRate: 16000 }), 'malformed'],
    ['start at another rate', start({ encoding: 'audio/x-mulaw', sampleRate: '16000' }), 'malformed'],
    ['start that says nothing of its sound', start(undefined), 'started'],
    ['mark without a name', '{"event":"mark","mark":{}}', 'malformed'],
    ['dtmf of two keys', '{"event":"dtmf","dtmf":{"digit":"12"}}', 'malformed'],
    ['an event of tomorrow', '{"event":"hologram"}', 'ignored'],
    ['65,537 bytes', media({ payload: 'A'.repeat(65_540) }), 'malformed'],
  ];
  for (const [name, message, type] of cases) t.equal(decode(message).type, type, name);
  t.equal(
    createTwilioWire().decode(Buffer.from(JSON.stringify(media({}))), true).type,
    'malformed',
    'binary',
  );
});

t.test('what we send', async (t) => {
  const wire = createTwilioWire();
  const sent = (write: (message: FrameWriter) => void) => {
    const { data, isBinary } = written(write);
    t.notOk(isBinary);
    return JSON.parse(data.toString());
  };
  const audio = (payload: Buffer) => sent((message) => wire.audio(message, SID, payload));
  const mark = (id: string, name: string) => sent((message) => wire.mark(message, id, name));
  const clear = (id: string) => sent((message) => wire.clear(message, id));
  t.same(audio(FRAME), { event: 'media', streamSid: SID, media: { payload: FRAME.toString('base64') } });
  t.same(mark(SID, 'g1:"160"'), { event: 'mark', streamSid: SID, mark: { name: 'g1:"160"' } });
  t.same(clear(SID), { event: 'clear', streamSid: SID });
  t.same(clear('other"id'), { event: 'clear', streamSid: 'other"id' }, 'another stream');
  t.same(mark('Größe', '0:1').streamSid, 'Größe', 'whatever a carrier names it');
  t.same(audio(Buffer.alloc(0)).media, { payload: '' });
});

t.test('as of every carrier, with the simulated one at the other end', async (t) => {
  const text = (message: string) => ({ data: Buffer.from(message), isBinary: false });
  wireConformance(t, mediaCarriers.twilio!.format, () => {
    let who = { accountSid: 'AC1', callSid: '', streamSid: SID };
    const wire = createTwilioWire();
    t.same(wire.decode(Buffer.from(CONNECTED), false), { type: 'connected' });
    return {
      wire,
      peer: {
        start({ carrierCallId, token }) {
          who = { ...who, callSid: carrierCallId };
          return text(startMessage(who, ['inbound'], { token }));
        },
        audio: (payload, chunk) =>
          text(mediaMessage(chunk + 1, 'inbound', chunk, chunk * 20, payload.toString('base64'), SID)),
        mark: (name) => text(markMessage(4, name, SID)),
        digit: (digit) => text(dtmfMessage(5, digit, SID)),
        stop: () => text(stopMessage(6, who)),
        read(sent) {
          const message = readMessage(sent.data, sent.isBinary, {
            streamSid: SID,
            bidirectional: true,
          });
          if (message.event === 'violation') throw new Error(message.message);
          if (message.event === 'media') return { type: 'audio', payload: message.bytes };
          return message.event === 'mark' ? { type: 'mark', name: message.name } : { type: 'clear' };
        },
      },
    };
  });
});
