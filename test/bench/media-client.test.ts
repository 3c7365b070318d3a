// The bench's phone line speaks as a carrier's does: every message under a mask of its own, which whoever is called takes off.
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { maskedFrame, openMediaClient } from './load/media-client.ts';

t.test('messages of every length arrive as they were', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.teardown(() => server.close());
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  const texts = [1, 2, 3, 124, 125, 126, 127, 333, 65_535].map((length) =>
    'abc'.repeat(length).slice(0, length),
  );
  const heard = new Promise<string[]>((done) => {
    const got: string[] = [];
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        if (got.push(data.toString()) === texts.length) done(got);
      });
    });
  });
  const client = openMediaClient(
    { port, url: `ws://127.0.0.1:${port}/`, headers: {} },
    {
      open() {
        for (const text of texts) client.send(text);
      },
      message() {},
      closed() {},
    },
  );
  t.same(await heard, texts);
  client.close();
});

t.test('no two messages have the same mask, and none goes as it is', async (t) => {
  const masks = Array.from({ length: 50 }, () => maskedFrame('hello').readUInt32LE(2));
  t.equal(new Set(masks).size, 50);
  t.notOk(masks.includes(0));
  t.notMatch(maskedFrame('hello').toString('latin1'), /hello/);
});

t.test('a message that its length has no room for is refused', async (t) => {
  t.throws(() => maskedFrame('x'.repeat(65_536)), RangeError);
});
