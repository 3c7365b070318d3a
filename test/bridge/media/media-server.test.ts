// The media listener's own decisions about a socket, against a call that takes none.
import { once } from 'node:events';
import t from 'tap';
import { WebSocket } from 'ws';
import { createBrowserWire } from '../../../bridge/carriers/browser-wire.ts';
import type { LiveCall } from '../../../bridge/media/live-call.ts';
import { openMediaServer } from '../../../bridge/media/media-server.ts';

t.test('a socket that is refused is refused once, whatever it still sends', async (t) => {
  const callId = '0192f5a0-0000-7000-8000-000000000000';
  const refused: string[] = [];
  let asked = 0;
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ verify: () => true, createWire: createBrowserWire }),
    find: () => {
      const call: Partial<LiveCall> = {
        callId,
        carrier: 'browser',
        attach() {
          asked++;
          return false;
        },
      };
      return call as LiveCall;
    },
    refused: (why) => void refused.push(why),
  });
  t.teardown(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/media/1/browser/${callId}`);
  await once(socket, 'open');
  const start = JSON.stringify({ type: 'start', version: 1, call_id: callId, token: 'guessed' });
  for (let i = 0; i < 20; i++) socket.send(start);
  const [code] = await once(socket, 'close');
  t.equal(code, 1008);
  t.same([refused, asked], [['token refused'], 1], 'one guess a socket');
});
