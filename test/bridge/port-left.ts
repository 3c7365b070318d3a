// A program of its own for calls/media-threads.test.ts: the public port goes from the threads of one daemon to those of another
// that listen beside them, while connections come all the time. With one media thread, and with several. Says who answered before
// and afterwards, and how many of those that came afterwards were not answered.
import { connect } from 'node:net';
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { freePort } from '../../scripts/free-port.ts';
import { threadOptions } from './thread-options.ts';

const AT_ONCE = 8;

/** Who answers a connection; rejects when it is reset or refused. */
function ask(port: number): Promise<string> {
  return new Promise((answered, failed) => {
    let said = '';
    const socket = connect(port, '127.0.0.1', () => void socket.write('GET / HTTP/1.1\r\n\r\n'));
    socket.on('data', (bytes) => {
      said += bytes;
    });
    socket.on('error', failed);
    socket.on('close', () => (said === '' ? failed(new Error('closed')) : answered(said)));
  });
}

for (const count of [1, 2]) {
  const publicPort = { host: '127.0.0.1', port: await freePort() };
  const open = (name: string) =>
    MediaThreads.open(
      threadOptions({
        count,
        publicPort,
        onConnection: (connection) => connection.once('data', () => connection.end(name)),
      }),
    );
  const before = await open('before');
  const answers: string[] = [];
  let failures = 0;
  let asking = true;
  const clients = Array.from({ length: AT_ONCE }, async () => {
    while (asking) {
      // In the very moment of leaving one may be reset: whose socket is left to the next process has no such moment.
      await ask(publicPort.port).then(
        (said) => answers.push(said),
        () => failures++,
      );
    }
  });
  const some = async (more: number) => {
    const until = answers.length + more;
    while (answers.length < until) await new Promise((turn) => setTimeout(turn, 5));
  };
  await some(50);
  const after = await open('after');
  await some(50);
  await before.leavePort();
  // Those under way were accepted by whoever they came to.
  await some(AT_ONCE);
  const from = answers.length;
  const failedBefore = failures;
  await some(200);
  const last = new Set(answers.slice(from));
  asking = false;
  await Promise.all(clients);
  const by = new Set(answers);
  console.log(`${count}: by ${[...by].sort()}, then by ${[...last]}; failed: ${failures - failedBefore}`);
  await before.close(AbortSignal.abort());
  await after.close(AbortSignal.abort());
}
