// How a thread leaves off listening, on a real port.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { leaveOff, listen } from '../../bridge/listening.ts';
import { freePort } from '../../scripts/free-port.ts';

const WAIT_MS = 30_000;
const READY = 0;
const GO = 1;
const CONNECTED = 2;

/** Connects when it is told to, and says what it heard. */
const CLIENT = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, state } } = require('node:worker_threads');
parentPort.postMessage('ready');
Atomics.wait(state, 0, ${READY});
const socket = connect(port, '127.0.0.1', () => {
  Atomics.store(state, 0, ${CONNECTED});
  Atomics.notify(state, 0);
});
let heard = '';
socket.on('data', (data) => { heard += data; });
socket.on('error', (error) => parentPort.postMessage(error.code));
socket.on('end', () => parentPort.postMessage(heard));
`;

t.test('who comes while the last turn is held up is accepted before it leaves off', async (t) => {
  const server = createServer((socket) => void socket.end('hello'));
  const at = { host: '127.0.0.1', port: await freePort() };
  await listen(server, at);
  const state = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port: at.port, state } });
  t.teardown(() => client.terminate());
  await once(client, 'message');

  // Ahead of its own in both turns, and behind the reads of the second.
  setImmediate(() =>
    setImmediate(() => {
      Atomics.store(state, 0, GO);
      Atomics.notify(state, 0);
      Atomics.wait(state, 0, GO, WAIT_MS);
    }),
  );
  const heard = once(client, 'message');
  await leaveOff(server);
  t.equal(Atomics.load(state, 0), CONNECTED);
  t.same(await heard, ['hello']);
  t.equal(server.listening, false);
});
