// A program of its own for calls/media-threads.test.ts: media threads where one side speaks another version of the protocol. Says
// what came of it, for each of the two ways round; it ends by itself when nothing is left running.
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { MEDIA_PROTOCOL } from '../../bridge/protocol/messages.ts';
import { threadOptions } from './thread-options.ts';

const module = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const THREAD = new URL('../../bridge/media/media-thread.ts', import.meta.url);
const WAYS = {
  /** It would run on if it were let. */
  'a newer media side': module(`
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage([{ type: 'listening', protocol: ${MEDIA_PROTOCOL + 1}, port: 1 }]);
    parentPort.on('message', () => {});
  `),
  'a newer control side': module(`
    import { workerData } from 'node:worker_threads';
    workerData.protocol = ${MEDIA_PROTOCOL + 1};
    await import('${THREAD}');
  `),
};

for (const [way, mediaSide] of Object.entries(WAYS)) {
  await MediaThreads.open(threadOptions({ count: 2, mediaSide })).then(
    () => console.log(`${way}: started`),
    (error: unknown) => console.log(`${way}: ${error instanceof Error ? error.message : String(error)}`),
  );
}
