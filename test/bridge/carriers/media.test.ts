// What a media upgrade proves: by the carrier's own signature, or by the call's token in its path.
import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { MULAW_8K } from '../../../audio/format.ts';
import { createBrowserWire } from '../../../bridge/carriers/browser/wire.ts';
import { readStreamPath, streamAsked, streamCarriers } from '../../../bridge/carriers/media.ts';
import type { MediaCarrier } from '../../../bridge/carriers/media-wire.ts';

const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const TOKEN = 'A'.repeat(43);

t.test(
  'a path: its daemon, its thread, its carrier, its call, and the token where the carrier brings it there',
  async (t) => {
    const at = { epoch: 7, thread: 2, carrier: 'one', callId: CALL };
    t.same(readStreamPath(`/media/7/2/one/${CALL}`), { ...at, token: null });
    t.same(readStreamPath(`/media/7/2/one/${CALL}/${TOKEN}`), { ...at, token: TOKEN });
    for (const path of [
      undefined,
      '/',
      `/media/7/2/one/${CALL}/`,
      `/media/7/2/one/${CALL}/${TOKEN}A`,
      `/media/7/2/one/${CALL}/${TOKEN}/x`,
      `/media/7/2/one/${CALL}/${TOKEN}?x`,
      `/media/7/2/One/${CALL}`,
      `/media/2/one/${CALL}`,
      `/media/1234567890/2/one/${CALL}`,
    ]) {
      t.equal(readStreamPath(path), null, path ?? 'none');
    }
  },
);

t.test('what the first bytes of a connection ask for, as soon as they say it', async (t) => {
  const path = `/media/7/2/one/${CALL}`;
  const stream = { epoch: 7, thread: 2, carrier: 'one', callId: CALL, token: null };
  const request = `GET ${path} HTTP/1.1`;
  for (let length = 0; length <= `GET ${path}`.length; length++)
    t.equal(streamAsked(Buffer.from(request.slice(0, length))), 'unclear', request.slice(0, length));
  t.same(streamAsked(Buffer.from(`GET ${path} `)), stream);
  t.same(streamAsked(Buffer.from(`${request}\r\nHost: x\r\n\r\n\x82\x01`, 'latin1')), stream);
  t.same(streamAsked(Buffer.from(`GET ${path}/${TOKEN} HTTP/1.1`)), { ...stream, token: TOKEN });
  for (const [name, first] of [
    ['another path', 'GET /v'],
    ['another method', 'P'],
    ['a lower-case one', 'get /media/'],
    ['a TLS hello', '\x16\x03\x01'],
    ['a path with a query', `GET ${path}?x HTTP/1.1`],
    ['a whole URL', `GET http://x${path} `],
    ['a line that ends early', `GET ${path}\r\nHost: x`],
    ['a path without an end', `GET /media/${'1'.repeat(200)}`],
  ] as const)
    t.equal(streamAsked(Buffer.from(first, 'latin1')), null, name);
});

t.test('where nothing signs an upgrade, its path must have a token; a signature stands alone', async (t) => {
  const media = { format: MULAW_8K, createWire: createBrowserWire };
  const known: Record<string, MediaCarrier> = {
    unsigned: { ...media, verifyUpgrade: null },
    signed: { ...media, verifyUpgrade: ({ headers, url, secret }) => headers['x-signed'] === secret + url },
  };
  const carriers = streamCarriers(
    { carrierSecrets: { unsigned: '', signed: 's' }, publicUrl: 'https://calls.example.com' },
    known,
  );
  const verify = (name: string, url: string, headers = {}) =>
    carriers.get(name)?.verify({ url, headers } as IncomingMessage);
  t.equal(verify('unsigned', `/media/7/1/unsigned/${CALL}`), false);
  t.equal(verify('unsigned', `/media/7/1/unsigned/${CALL}/${TOKEN}`), true);
  const path = `/media/7/1/signed/${CALL}`;
  t.equal(verify('signed', path, { 'x-signed': `swss://calls.example.com${path}` }), true);
  t.equal(verify('signed', `${path}/${TOKEN}`), false, 'a token is no signature');
});
