// How much room V8 gives to new objects, which it doubles as time goes by, on the control thread and on media threads.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { MEDIA_RESOURCES } from '../../../bridge/calls/media-worker.ts';
import { DAEMON_NODE_ARGS } from '../../../scripts/lab.ts';

const MB = 1024 * 1024;
/**
 * Two halves of 16 MB come to 32, and pages that a collection promotes as it finds them stand beside them until its end (38
 * were seen); the next larger room, halves of 32 MB, is 64.
 */
const BOUND = 48 * MB;

/** Makes objects that outlive collections: what V8 gives new ones more room for. Tells the most room there was, in bytes. */
const CHURN = `
  const v8 = require('node:v8');
  const room = () => v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  let kept = [];
  let most = 0;
  for (let round = 0; round < 200 && most <= ${BOUND}; round++) {
    for (let i = 0; i < 10_000; i++) kept.push({ i, two: [i, i], text: 'x' + i });
    if (kept.length > 600_000) kept = [];
    most = Math.max(most, room());
  }
`;

const inProcess = (args: readonly string[]) =>
  Number(execFileSync(process.execPath, [...args, '-e', `${CHURN} console.log(most)`], { env: {} }));

const inWorker = (resourceLimits: object) =>
  new Promise<number>((resolve, reject) => {
    const worker = new Worker(`${CHURN} require('node:worker_threads').parentPort.postMessage(most)`, {
      eval: true,
      env: {},
      execArgv: [],
      resourceLimits,
    });
    worker.once('message', resolve).once('error', reject);
  });

t.test('left alone it comes to be larger', async (t) => {
  t.ok(inProcess([]) > BOUND);
});

t.test('the control thread, as the daemon is started', async (t) => {
  t.ok(inProcess(DAEMON_NODE_ARGS) <= BOUND);
  for (const file of ['package.json', 'scripts/deploy/Dockerfile', 'scripts/deploy/offhook.service']) {
    const start = readFileSync(file, 'utf8')
      .split('\n')
      .find((line) => /^\s*("start":|CMD \["node"|ExecStart=).*main\.js/.test(line));
    t.match(start, DAEMON_NODE_ARGS[0], file);
  }
});

t.test('a media thread', async (t) => {
  t.ok((await inWorker({})) > BOUND, 'left alone');
  t.ok((await inWorker(MEDIA_RESOURCES)) <= BOUND);
});
