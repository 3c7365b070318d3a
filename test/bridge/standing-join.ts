// A program of its own for calls/media-threads.test.ts: a media socket on its way to a thread, by a control thread that stands still
// longer than the thread has to answer. Says what came back: 404, the thread's own word on a call that it was not told of.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { threadOptions } from './thread-options.ts';

const SECRET = 'the carrier and we know it';
const ANSWER_MS = 3_000;
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const publicUrl = `http://127.0.0.1:${port}`;
const data = { ...threadOptions().data, carrierSecrets: { twilio: SECRET }, publicUrl };
const threads = await MediaThreads.open(threadOptions({ data, answerMs: ANSWER_MS }));
server.on('upgrade', (request, socket, head) => {
  if (!threads.upgrade({ request, socket, head })) throw new Error('refused');
  // Before anything of the thread can be read; what it answers is there to be read afterwards.
  standStill(ANSWER_MS + 200);
});

const callId = randomUUID();
const path = `/media/1/${threads.assign(callId)}/twilio/${callId}`;
const url = `${publicUrl.replace('http', 'ws')}${path}`;
const signature = createHmac('sha1', SECRET).update(url).digest('base64');
const socket = new WebSocket(url, { headers: { 'x-twilio-signature': signature } });
const answer = await new Promise<string>((resolve) => {
  socket.on('unexpected-response', (_request, response) => {
    response.destroy();
    resolve(`status ${response.statusCode}`);
  });
  socket.on('error', (error) => resolve(error.message));
});
console.log(answer);
await threads.close(AbortSignal.abort());
process.exit(0);
