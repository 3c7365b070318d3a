// A program of its own for calls/media-threads.test.ts: a media thread dies while the system has no other to give. Says when the
// daemon's other thread is the only one, and when there are two again.
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { MEDIA_PROTOCOL } from '../../bridge/protocol/messages.ts';
import { threadOptions } from './thread-options.ts';

const module = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const listening = `
  import { parentPort } from 'node:worker_threads';
  parentPort.postMessage([{ type: 'listening', protocol: ${MEDIA_PROTOCOL}, port: 1 }]);
  parentPort.on('message', ({ type }) => {
    if (type === 'stop' || type === 'release') process.exit(type === 'stop' ? 0 : 1);
  });
`;
/** As where the system has no thread to give: one like this cannot even be begun. */
const none = new URL('none:');
let refusals = 0;

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((again) => setTimeout(again, 10));
};
const options = threadOptions({ count: 2, onLost: (calls) => console.log(`lost: ${calls.join()}`) });
const get = () => (refusals-- > 0 ? none : module(listening));
const threads = await MediaThreads.open(
  Object.defineProperty(options, 'mediaSide', { get, enumerable: true }),
);
threads.assign('a call');
refusals = 1;
threads.post('a call', { type: 'release', callId: 'a call' });
await until(() => threads.running().length === 1);
console.log('one is left');
await until(() => threads.running().length === 2);
console.log('two again');
await threads.close(AbortSignal.abort());
