// Free space -> what is refused, logged and told, with a disk whose free space the test decides.
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import t, { type Test } from 'tap';
import { openStorageSpace } from '../../../control/operations/storage-space.ts';
import { openLog } from '../../../log.ts';

const MB = 1024 * 1024;

async function open(t: Test, first: number | Error) {
  let free = first;
  let lows = 0;
  const lines: Record<string, unknown>[] = [];
  const metrics = new Registry();
  const space = await openStorageSpace({
    folder: '/data',
    warnMb: 500,
    lowMb: 200,
    log: openLog('debug', [], { write: (line) => lines.push(JSON.parse(line)) }),
    metrics,
    onLow: () => {
      lows += 1;
    },
    // Looks only when it is told to.
    everyMs: 3_600_000,
    free: async (folder) => {
      if (folder !== '/data') throw new Error(`asked about ${folder}`);
      if (free instanceof Error) throw free;
      return free;
    },
  });
  t.teardown(() => space.close());
  return {
    space,
    metrics,
    events: () => lines.map((line) => `${line.level} ${line.event}`),
    lows: () => lows,
    async at(now: number | Error) {
      free = now;
      await space.look();
    },
  };
}

t.test('each level is said once, at its threshold; low is told once each time it is reached', async (t) => {
  const { space, events, lows, at } = await open(t, 500 * MB);
  t.same(events(), []);
  t.same(space.health(), { free_mb: 500, low: false });
  await at(500 * MB - 1);
  t.same(events(), ['warn storage.space_warn']);
  t.equal(space.low(), false);
  await at(200 * MB);
  t.equal(space.low(), false);
  await at(200 * MB - 1);
  await at(10 * MB);
  t.same(space.health(), { free_mb: 10, low: true });
  t.equal(lows(), 1);
  await at(300 * MB);
  t.equal(space.low(), false);
  await at(600 * MB);
  await at(0);
  t.equal(space.low(), true);
  t.equal(lows(), 2);
  t.same(events(), [
    'warn storage.space_warn',
    'error storage.space_low',
    'warn storage.space_warn',
    'info storage.space_ok',
    'error storage.space_low',
  ]);
});

t.test('low from the start', async (t) => {
  const { space, lows } = await open(t, 100 * MB);
  t.equal(space.low(), true);
  t.equal(lows(), 1);
});

t.test('a disk that cannot be asked refuses nothing, and is complained of once', async (t) => {
  const { space, events, metrics, at } = await open(t, new Error('EIO'));
  t.equal(space.low(), false);
  t.same(space.health(), { free_mb: null, low: false });
  t.match(await metrics.metrics(), /offhook_storage_free_bytes Nan/i);
  await at(new Error('EIO'));
  t.same(events(), ['error storage.space_unknown']);
  await at(100 * MB);
  await at(new Error('EIO'));
  t.equal(space.low(), true, 'what was known holds on');
  t.match(await metrics.metrics(), /offhook_storage_free_bytes 104857600/);
});

t.test('the real disk: what is free to an ordinary user', async (t) => {
  const space = await openStorageSpace({
    folder: tmpdir(),
    warnMb: 0,
    lowMb: 0,
    log: openLog('silent'),
    metrics: new Registry(),
    onLow: () => {},
  });
  t.teardown(() => space.close());
  const { bavail, bsize } = statfsSync(tmpdir());
  const mb = (bavail * bsize) / MB;
  // Others write meanwhile.
  t.ok(Math.abs((space.health().free_mb ?? 0) - mb) < mb / 4 + 100);
  t.equal(space.low(), false);
});
