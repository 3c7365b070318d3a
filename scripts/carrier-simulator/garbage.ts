// PURE. Messages that no carrier sends: noise, broken JSON, right shapes with wrong contents. None of them is a frame of
// audio or the end of a stream, so that whoever takes one seriously is wrong.
import type { Random } from './random.ts';

export interface Garbage {
  data: string | Buffer;
  binary: boolean;
}

type Kind = (streamSid: string, random: Random) => Garbage;

const text = (data: string): Garbage => ({ data, binary: false });
const json = (value: unknown): Garbage => text(JSON.stringify(value));
const bytes = (random: Random, length: number) =>
  Buffer.from(Array.from({ length }, () => random.integer(256)));

const KINDS: readonly Kind[] = [
  (_, random) => ({ data: bytes(random, 1 + random.integer(400)), binary: true }),
  // Not UTF-8, in a text frame.
  (_, random) => ({
    data: Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), bytes(random, random.integer(200))]),
    binary: false,
  }),
  () => text(''),
  () => text('{"event":"media","media":{"payload":"'),
  () => text('null'),
  () => text('[[[[[[[[1]]]]]]]]'),
  () => text('"media"'),
  () => text('['.repeat(20_000)),
  () => text('{"__proto__":{"polluted":"yes"},"event":"media","media":{"payload":"AAAA"}}'),
  () => text('{"constructor":{"prototype":{"polluted":"yes"}},"event":"mark"}'),
  (streamSid) => json({ event: 'media', streamSid }),
  (streamSid) => json({ event: 'media', streamSid, media: 7 }),
  (streamSid) => json({ event: 'media', streamSid, media: { payload: { length: 160 } } }),
  (streamSid) =>
    json({ event: 'media', streamSid, media: { chunk: '1', timestamp: '20', payload: '*not base64*' } }),
  (streamSid) =>
    json({ event: 'media', streamSid, media: { chunk: '-1', timestamp: '1e9', payload: '/////w==' } }),
  (streamSid) =>
    json({ event: 'media', streamSid, media: { chunk: {}, timestamp: [], payload: '/////w==' } }),
  (streamSid) =>
    json({
      event: 'media',
      streamSid,
      media: { track: 'outbound', chunk: '1', timestamp: '1', payload: '' },
    }),
  (streamSid) => json({ event: 'mark', streamSid }),
  (streamSid) => json({ event: 'mark', streamSid, mark: { name: { toString: 'no' } } }),
  (streamSid) => json({ event: 'mark', streamSid, mark: { name: '999999:999999999999' } }),
  (streamSid) => json({ event: 'mark', streamSid, mark: { name: '__proto__' } }),
  (streamSid) => json({ event: 'dtmf', streamSid, dtmf: { digit: 'the whole keyboard' } }),
  (streamSid) => json({ event: 'dtmf', streamSid, dtmf: null }),
  (streamSid) => json({ event: 'start', streamSid, start: { customParameters: { token: 'mine' } } }),
  (streamSid) => json({ event: 'weather', streamSid, weather: { sky: 'clear' } }),
  (streamSid) => json({ event: 42, streamSid }),
  (streamSid) => json({ event: 'media', streamSid, media: { payload: 'A'.repeat(60_000) } }),
];

/** Kinds there are; the first so many messages are one of each. */
export const GARBAGE_KINDS = KINDS.length;

/** So many messages: one of each kind, then any. */
export function* garbage(count: number, streamSid: string, random: Random): Generator<Garbage> {
  for (let i = 0; i < count; i++) {
    const kind = KINDS[i < KINDS.length ? i : random.integer(KINDS.length)];
    if (kind !== undefined) yield kind(streamSid, random);
  }
}
