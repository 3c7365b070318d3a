// A daemon of webhooks alone, for the tests to kill: delivers from the database given, armed with the failpoints given.
import { openEgress } from '../../../control/egress/egress.ts';
import { openWebhooks } from '../../../control/webhooks/webhooks.ts';
import { setFailpoints } from '../../../failpoints.ts';
import { openLog } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { makeCall } from '../../storage/makers.ts';

export interface DaemonOrder {
  dataDir: string;
  failpoints: string[];
  /** Events to commit once it runs, of this organization. */
  events: number;
  org: string;
  redisMode: 'auto' | 'none';
}

if (process.argv[1] === import.meta.filename) {
  const order = JSON.parse(process.argv[2] ?? '') as DaemonOrder;
  const log = openLog('silent');
  const store = await openStore({ path: `${order.dataDir}/test.db`, log });
  // What the one that was killed had in hand.
  await store.takeOver();
  const egress = openEgress({ allowedCidrs: ['127.0.0.0/8'], userAgent: 'Offhook-Test/1' });
  setFailpoints(order.failpoints);
  const webhooks = await openWebhooks({
    store,
    egress,
    log,
    dataDir: order.dataDir,
    redisUrl: null,
    redisMode: order.redisMode,
    retryScale: 0.001,
    version: '1.2.3',
    tuning: { graceMs: 10_000, sweepMs: 200, watchMs: 50 },
  });
  if (order.redisMode === 'auto') {
    while (webhooks.mode() !== 'child') await new Promise((next) => setTimeout(next, 10));
  }
  for (let i = 0; i < order.events; i++) {
    await store.createCall(makeCall(order.org), { events: ['call.queued'], reserve: 0 });
  }
  process.on('SIGTERM', () => {
    webhooks
      .close()
      .then(() => egress.close())
      .then(() => store.close())
      .then(() => process.exit(0));
  });
  process.stdout.write('running');
}
