// The daemon's start as a whole, in this process and on a real port.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../config.ts';
import { start } from '../daemon.ts';
import { openLog } from '../log.ts';

const LISTENS = '0A';

/** How many sockets listen on the port of 127.0.0.1, as the system knows it. */
function listeners(port: number): number {
  const at = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local === at && state === LISTENS).length;
}

for (const [threads, who] of [
  ['1', 'the only media thread'],
  ['2', 'the listening thread beside two'],
] as const)
  t.test(
    `${who} has the public port to itself when the daemon says that it has started`,
    { skip: process.platform !== 'linux' && 'another thread may listen beside it on Linux only' },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'offhook-daemon-'));
      t.teardown(() => rmSync(folder, { recursive: true, force: true }));
      let found = 0;
      const log = openLog('info', [], {
        write(line) {
          const { event, url } = JSON.parse(line) as { event: string; url: string };
          if (event === 'daemon.started') found = listeners(Number(new URL(url).port));
        },
      });
      const daemon = await start(
        readConfig({
          PORT: '0',
          DATA_DIR: folder,
          REDIS_MODE: 'none',
          MEDIA_THREADS: threads,
          TWILIO_ACCOUNT_SID: `AC${'d'.repeat(32)}`,
          TWILIO_AUTH_TOKEN: 'secret',
          TWILIO_BASE_URL: 'http://127.0.0.1:9',
          OPENAI_API_KEY: 'sk-none',
          OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
        }),
        { log },
      );
      t.teardown(() => daemon.close());
      t.equal(found, 1);
    },
  );
