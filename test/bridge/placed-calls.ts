// A program of its own for calls/media-threads.test.ts: two media threads with the listening thread on the public port. Says who
// answers the stream of a call, and whether the control thread saw it: while the call lives, when it is gone, when its thread died.
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { MEDIA_PROTOCOL } from '../../bridge/protocol/messages.ts';
import { PublicPort } from '../../control/http/public-port.ts';
import { threadOptions } from './thread-options.ts';

const SECRET = 'the carrier and we know it';
const HOST = '127.0.0.1';
/** It answers whatever comes with its number. */
const MEDIA_SIDE = `
  import { createServer } from 'node:net';
  import { parentPort, workerData } from 'node:worker_threads';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 404 Thread ' + workerData.thread + '\\r\\n\\r\\n'));
  });
  server.listen(0, '${HOST}', () => {
    const { port } = server.address();
    parentPort.postMessage([{ type: 'listening', protocol: ${MEDIA_PROTOCOL}, port, isPublic: false }]);
  });
  parentPort.on('message', ({ type }) => {
    if (type === 'stop' || type === 'release') process.exit(type === 'stop' ? 0 : 1);
  });
`;

const server = createServer();
const publicPort = await PublicPort.open({ host: HOST, port: 0 }, (socket) =>
  server.emit('connection', socket),
);
const { port } = publicPort.address;
const publicUrl = `http://${HOST}:${port}`;
let seen = 0;
const lost = Promise.withResolvers<void>();
const threads = await MediaThreads.open(
  threadOptions({
    count: 2,
    data: { ...threadOptions().data, carrierSecrets: { twilio: SECRET }, publicUrl },
    mediaSide: new URL(`data:text/javascript,${encodeURIComponent(MEDIA_SIDE)}`),
    publicPort: { host: HOST, port },
    onConnection: (connection) => server.emit('connection', connection),
    onPublic: (any) => void (any ? publicPort.leave() : publicPort.listen()),
    onLost: () => lost.resolve(),
  }),
);
await publicPort.settled();
server.on('upgrade', (request, socket, head) => {
  seen++;
  threads.upgrade({ request, socket, head });
});

/** The first line that a signed stream of the call is answered with. */
async function ask(callId: string, thread: number): Promise<string> {
  const path = `/media/1/${thread}/twilio/${callId}`;
  const signature = createHmac('sha1', SECRET)
    .update(publicUrl.replace('http', 'ws') + path)
    .digest('base64');
  const socket = connect(port, HOST);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Twilio-Signature: ${signature}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  let answer = '';
  for await (const bytes of socket) answer += bytes;
  return answer.split('\r\n')[0] ?? '';
}
async function say(what: string, callId: string, thread: number): Promise<void> {
  const before = seen;
  const answer = await ask(callId, thread);
  console.log(`${what}: ${answer}${seen > before ? ', by the control thread' : ''}`);
}

const [one, two] = [randomUUID(), randomUUID()];
const first = threads.assign(one);
await say('told of just now', one, first);
const second = threads.assign(two);
await say('the other', two, second);
await say('at the wrong thread', two, first);
await say('nobody knows it', randomUUID(), first);
threads.post(one, { type: 'release', callId: one });
await lost.promise;
await say('its thread has died', one, first);
await say('the other lives on', two, second);
threads.unassign(two);
await say('it is over', two, second);
await threads.close(AbortSignal.abort());
process.exit(0);
