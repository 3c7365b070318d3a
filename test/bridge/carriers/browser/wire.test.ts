// The codec of a browser's media socket, by table; its bytes are written out here by hand.
import t from 'tap';
import { isOwnOrigin } from '../../../../bridge/carriers/browser/origin.ts';
import { createBrowserWire } from '../../../../bridge/carriers/browser/wire.ts';
import { mediaCarriers } from '../../../../bridge/carriers/media.ts';
import { written } from '../../sockets/written.ts';
import { wireConformance } from '../wire-conformance.ts';

const CALL = '0192f0c1-2b3c-7d4e-8f50-617283940abc';
const text = (value: unknown) =>
  createBrowserWire().decode(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), false);
const frame = (header: number[], bytes: number) =>
  Buffer.concat([Buffer.from(header), Buffer.alloc(bytes, 0x7f)]);

t.test('audio of the page: time, number and payload', async (t) => {
  const message = createBrowserWire().decode(frame([0, 1, 0x86, 0xa0, 0, 0, 0x13, 0x89], 160), true);
  t.same(message, { type: 'audio', payload: Buffer.alloc(160, 0x7f), timestampMs: 100_000, chunk: 5_001 });
  const held = createBrowserWire().decode(frame([0, 0, 0, 20, 0, 0, 0, 2], 480), true);
  t.match(held, { type: 'audio', timestampMs: 20, chunk: 2 }, 'what a page was late with, in one frame');
  for (const bytes of [0, 1, 159, 161, 8_160]) {
    t.match(createBrowserWire().decode(frame([0, 0, 0, 0, 0, 0, 0, 1], bytes), true), { type: 'malformed' });
  }
  t.match(
    createBrowserWire().decode(Buffer.from([1, 2, 3]), true),
    { type: 'malformed' },
    'less than a header',
  );
});

t.test('messages of the page', async (t) => {
  t.same(text({ type: 'start', version: 1, call_id: CALL, token: 'one-time' }), {
    type: 'started',
    streamId: CALL,
    carrierCallId: CALL,
    parameters: { token: 'one-time' },
    format: { encoding: 'mulaw', rateHz: 8000 },
  });
  t.same(text({ type: 'mark', name: '0:800' }), { type: 'mark', name: '0:800' });
  t.same(text({ type: 'text', text: 'Grüße' }), { type: 'text', text: 'Grüße' });
  t.same(text({ type: 'digit', digit: '#' }), { type: 'digit', digit: '#' });
  t.same(text({ type: 'stop' }), { type: 'stopped' });
  t.same(text({ type: 'later' }), { type: 'ignored', event: 'later' });
});

for (const [name, value] of [
  ['no JSON', '{'],
  ['no object', '[]'],
  ['no type', {}],
  ['a start of another version', { type: 'start', version: 2, call_id: CALL, token: 'x' }],
  ['a start without its token', { type: 'start', version: 1, call_id: CALL }],
  ['a start without its call', { type: 'start', version: 1, call_id: '', token: 'x' }],
  ['a mark without a name', { type: 'mark' }],
  ['a text that is none', { type: 'text', text: 7 }],
  ['a key that no phone has', { type: 'digit', digit: '12' }],
  ['more than any turn', { type: 'text', text: 'x'.repeat(20_000) }],
] as const) {
  t.match(text(value), { type: 'malformed', why: String }, `${name} is malformed`);
}

t.test('to the page', async (t) => {
  const wire = createBrowserWire();
  const audio = (payload: Buffer) => {
    const { data, isBinary } = written((message) => wire.audio(message, CALL, payload));
    t.ok(isBinary);
    return data;
  };
  const first = audio(Buffer.alloc(320, 0x11));
  t.same([...first.subarray(0, 8)], [0, 0, 0, 0, 0, 0, 0, 1]);
  t.same(first.subarray(8), Buffer.alloc(320, 0x11));
  const payload = Buffer.alloc(160, 0x22);
  const second = audio(payload);
  t.same([...second.subarray(0, 8)], [0, 0, 0, 40, 0, 0, 0, 2], 'forty milliseconds went before it');
  payload.fill(0);
  t.equal(second[8], 0x22, 'a copy: the caller fills its buffer anew while the socket still holds this');
  const mark = written((message) => wire.mark(message, CALL, '1:"800'));
  t.same([JSON.parse(String(mark.data)), mark.isBinary], [{ type: 'mark', name: '1:"800' }, false]);
  const clear = written((message) => wire.clear(message, CALL));
  t.same([JSON.parse(String(clear.data)), clear.isBinary], [{ type: 'clear' }, false]);
});

t.test('as of every carrier', async (t) => {
  const json = (value: unknown) => ({ data: Buffer.from(JSON.stringify(value)), isBinary: false });
  wireConformance(t, mediaCarriers.browser!.format, () => ({
    wire: createBrowserWire(),
    peer: {
      start: ({ carrierCallId, token }) => json({ type: 'start', version: 1, call_id: carrierCallId, token }),
      audio(payload, chunk) {
        const header = Buffer.alloc(8);
        header.writeUInt32BE((chunk - 1) * 20, 0);
        header.writeUInt32BE(chunk, 4);
        return { data: Buffer.concat([header, payload]), isBinary: true };
      },
      mark: (name) => json({ type: 'mark', name }),
      digit: (digit) => json({ type: 'digit', digit }),
      stop: () => json({ type: 'stop' }),
      read: ({ data, isBinary }) =>
        isBinary ? { type: 'audio', payload: data.subarray(8) } : JSON.parse(String(data)),
    },
  }));
});

t.test('a page is ours by its origin', async (t) => {
  const url = 'wss://calls.example.com/media/1/browser/x';
  for (const [origin, host, own] of [
    ['https://calls.example.com', 'calls.example.com', true],
    // A proxy may ask under another name.
    ['https://calls.example.com', '127.0.0.1:8080', true],
    // Opened on the machine itself.
    ['http://localhost:8080', 'localhost:8080', true],
    ['https://evil.example.com', 'calls.example.com', false],
    ['https://calls.example.com.evil.example', 'calls.example.com', false],
    ['https://calls.example.com:8443', 'calls.example.com', false],
    ['http://localhost:9000', 'localhost:8080', false],
    ['null', 'calls.example.com', false],
    ['', 'calls.example.com', false],
    [undefined, 'calls.example.com', false],
    ['file://calls.example.com', 'calls.example.com', false],
  ] as const) {
    t.equal(isOwnOrigin({ headers: { origin, host }, url }), own, `${origin} at ${host}`);
  }
});
