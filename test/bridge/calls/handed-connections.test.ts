// The control thread's end of a connection that a media thread has accepted, with the daemon's own server on it; the test is the
// media thread.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { HandedConnections } from '../../../bridge/calls/handed-connections.ts';
import type { FromListener, ToListener } from '../../../bridge/handed-messages.ts';
import { createHttpServer } from '../../../control/http/http-server.ts';

const ENDS = { remoteAddress: '127.0.0.9', remotePort: 5, localAddress: '127.0.0.1', localPort: 80 };

function open(t: Test, app: RequestListener) {
  const { port1, port2 } = new MessageChannel();
  const { server } = createHttpServer(app);
  const handed = new HandedConnections(port1, (connection) => server.emit('connection', connection));
  t.teardown(() => handed.close());
  const tell = (message: FromListener) => port2.postMessage(message);
  return {
    tell,
    data: (text: string) => tell({ type: 'data', id: 1, bytes: new TextEncoder().encode(text) }),
    async told(): Promise<ToListener> {
      const [message] = (await once(port2, 'message')) as [ToListener];
      return message;
    },
  };
}

t.test('who asks again when all of an answer has left is answered, however it was written', async (t) => {
  const rig = open(t, (_request, response) => {
    response.setHeader('content-length', 5);
    response.write('hello');
    // As the end of a stream does, when all of it was read.
    process.nextTick(() => process.nextTick(() => response.end()));
  });
  rig.tell({ type: 'opened', id: 1, ends: ENDS });
  for (let round = 0; round < 3; round++) {
    rig.data('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let answer = '';
    while (!answer.endsWith('hello')) {
      const message = await rig.told();
      if (message.type === 'more') continue;
      if (message.type !== 'send') throw new Error(`${message.type} in round ${round}`);
      answer += Buffer.from(message.bytes).toString();
      rig.tell({ type: 'written', id: 1, all: true });
    }
    t.match(answer, /^HTTP\/1\.1 200 /);
  }
});
