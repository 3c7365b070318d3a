// What the webhook tests share: a store in memory with an organization, events to deliver, and waiting on conditions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Egress, openEgress } from '../../../control/egress/egress.ts';
import { openWebhooks, type Webhooks, type WebhooksOptions } from '../../../control/webhooks/webhooks.ts';
import { type Log, openLog } from '../../../log.ts';
import type { AttemptRecord, CallRecord, DeliveryRecord, EndpointRecord } from '../../../storage/records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall, makeEndpoint } from '../../storage/makers.ts';

export const ORGANIZATION_SECRET = 'whsec_b3JnYW5pemF0aW9uLXNlY3JldC0wMDE=';
export const ENDPOINT_SECRET = 'whsec_ZW5kcG9pbnQtc2VjcmV0LTAwMDAwMDE=';

export const silent: Log = openLog('silent');

/** Resolves once the condition holds; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((next) => setTimeout(next, 5));
}

/** A folder that goes with the test. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync('/tmp/offhook-test-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Why the tests that need a real Redis cannot run here; false when they can. */
export function noRedis(): false | string {
  for (const server of ['valkey-server', 'redis-server']) {
    if (spawnSync(server, ['--version']).status === 0) return false;
  }
  return 'no redis-server or valkey-server on this machine';
}

export interface Rig {
  store: Store;
  org: string;
  egress: Egress;
  endpoint(url: string, fields?: Partial<EndpointRecord>): Promise<EndpointRecord>;
  /** Commits a call with its call.queued event. */
  event(fields?: Partial<CallRecord>): Promise<CallRecord>;
  deliveries(filters?: { endpointId?: string; callId?: string }): Promise<DeliveryRecord[]>;
  attempts(deliveryId: string): Promise<AttemptRecord[]>;
  /** Starts delivering; ends with the test. */
  deliver(o?: Partial<WebhooksOptions>): Promise<Webhooks>;
}

export async function openRig(t: Test, o: { store?: Store; egress?: Egress } = {}): Promise<Rig> {
  const store = o.store ?? (await openStore({ path: ':memory:', log: silent }));
  const egress = o.egress ?? openEgress({ allowedCidrs: ['127.0.0.0/8'], userAgent: 'Offhook-Test/1' });
  const org = await addOrganization(store, { webhook_secret: ORGANIZATION_SECRET });
  const opened: Webhooks[] = [];
  const dataDir = temporaryFolder(t);
  t.teardown(async () => {
    await Promise.all(opened.map((webhooks) => webhooks.close()));
    await egress.close();
    await store.close();
  });
  return {
    store,
    org,
    egress,
    async endpoint(url, fields = {}) {
      const made = await store.createEndpoint(makeEndpoint(org, { url, secret: ENDPOINT_SECRET, ...fields }));
      if ('conflict' in made) throw new Error(made.conflict);
      return made;
    },
    async event(fields = {}) {
      const call = makeCall(org, fields);
      await store.createCall(call, { events: ['call.queued'], reserve: 0 });
      return call;
    },
    async deliveries(filters = {}) {
      const found: DeliveryRecord[] = [];
      for (;;) {
        const startingAfter = found.at(-1)?.id;
        const page = await store.listDeliveries(org, filters, { limit: 100, startingAfter });
        found.push(...page);
        if (page.length < 100) return found;
      }
    },
    async attempts(deliveryId) {
      return (await store.getDelivery(org, deliveryId))?.attempts ?? [];
    },
    async deliver(options = {}) {
      const webhooks = await openWebhooks({
        store,
        egress,
        log: silent,
        dataDir: join(dataDir, 'data'),
        redisUrl: null,
        redisMode: 'none',
        retryScale: 1,
        version: '1.2.3',
        ...options,
        tuning: { graceMs: 200, ...options.tuning },
      });
      opened.push(webhooks);
      return webhooks;
    },
  };
}
