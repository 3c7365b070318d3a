// The media threads as the control thread sees them. In a process of its own: what a test runner puts into this one, it would
// put into each of the threads.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { MEDIA_PROTOCOL } from '../../../bridge/protocol/messages.ts';

t.test('a standstill of the control thread is not held against the media thread', async (t) => {
  const program = join(import.meta.dirname, '../standing-join.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {} });
  t.equal(stdout.trim(), 'status 404');
});

t.test(
  'beside several media threads a stream comes to the thread of its call, and past the control thread, while the call lives there',
  { skip: process.platform !== 'linux' && 'one thread alone may listen on a port here' },
  async (t) => {
    const program = join(import.meta.dirname, '../placed-calls.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, timeout: 60_000 });
    t.same(stdout.trim().split('\n'), [
      'told of just now: HTTP/1.1 404 Thread 1',
      'the other: HTTP/1.1 404 Thread 2',
      'at the wrong thread: HTTP/1.1 404 Not Found, by the control thread',
      'nobody knows it: HTTP/1.1 404 Not Found, by the control thread',
      'its thread has died: HTTP/1.1 404 Not Found, by the control thread',
      'the other lives on: HTTP/1.1 404 Thread 2',
      'it is over: HTTP/1.1 404 Not Found, by the control thread',
    ]);
  },
);

t.test(
  'the public port is left to threads of another daemon that listen beside',
  { skip: process.platform !== 'linux' && 'one thread alone may listen on a port here' },
  async (t) => {
    const program = join(import.meta.dirname, '../port-left.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, timeout: 60_000 });
    t.same(stdout.trim().split('\n'), [
      '1: by after,before, then by after; failed: 0',
      '2: by after,before, then by after; failed: 0',
    ]);
  },
);

t.test(
  'where no other thread is to be had for one that died, the rest go on, and it is asked for again',
  async (t) => {
    const program = join(import.meta.dirname, '../no-thread.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, timeout: 60_000 });
    t.same(stdout.trim().split('\n'), ['lost: a call', 'one is left', 'two again']);
  },
);

t.test(
  'two sides of different versions part with one line, either way round, and leave nothing running',
  async (t) => {
    const program = join(import.meta.dirname, '../other-protocol.ts');
    // A thread that is left, or started again and again, would keep the process alive.
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, timeout: 60_000 });
    const [here, there] = [MEDIA_PROTOCOL, MEDIA_PROTOCOL + 1];
    // Of two threads either may be heard first.
    t.same(
      stdout
        .trim()
        .replace(/thread \d/, 'thread n')
        .split('\n'),
      [
        `a newer media side: Media thread n speaks version ${there} of the media protocol, and this side ${here}.`,
        `a newer control side: The media protocol is ${here} here and ${there} there.`,
      ],
    );
  },
);

t.test('a thread that finds its files compiled loads no TypeScript compiler', async (t) => {
  const program = join(import.meta.dirname, '../code-cache.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {}, timeout: 60_000 });
  const { found, lessMB } = JSON.parse(stdout) as { found: unknown; lessMB: number };
  t.same(found, [0, true]);
  t.ok(lessMB > 4, `${lessMB.toFixed(1)} MB less`);
});
