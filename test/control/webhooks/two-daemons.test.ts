// Two daemons deliver from one folder: what an endpoint has failed, when it is asked again and when it is given up is counted
// in storage, over both; nothing is posted twice.
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { makeCall } from '../../storage/makers.ts';
import { openReceiver } from '../receiver.ts';
import { openRig, temporaryFolder, until } from './webhook-rig.ts';

/** Each is exhausted after ten attempts, and ten that are exhausted disable the endpoint. */
const EVENTS_OF_EACH = 8;

t.test(
  'a receiver that fails is disabled by the failures of both, and each attempt is made once',
  async (t) => {
    const receiver = await openReceiver(500);
    t.teardown(() => receiver.close());
    const path = join(temporaryFolder(t), 'offhook.db');
    const recorded = [0, 0];
    const rigs = [];
    for (const at of [0, 1]) {
      const opened = await openStore({ path, shared: true });
      const store: Store = {
        ...opened,
        recordAttempt(...given) {
          recorded[at] = (recorded[at] ?? 0) + 1;
          return opened.recordAttempt(...given);
        },
      };
      rigs.push(await openRig(t, { store }));
    }
    const [first, second] = rigs as [(typeof rigs)[0], (typeof rigs)[0]];
    const endpoint = await first.endpoint(receiver.url);
    for (const rig of rigs) await rig.deliver({ retryScale: 0.000_03, tuning: { sweepMs: 20 } });
    for (let event = 0; event < EVENTS_OF_EACH; event++) {
      for (const { store } of rigs)
        await store.createCall(makeCall(first.org), { events: ['call.queued'], reserve: 0 });
    }
    const stands = async () => second.store.getEndpoint(first.org, endpoint.id);
    await until(async () => (await stands())?.status === 'disabled');
    t.match(await stands(), { disabled_reason: 'too_many_failures' });
    t.ok((recorded[0] ?? 0) > 0 && (recorded[1] ?? 0) > 0, `both have tried: ${recorded}`);

    // What was under way when it was disabled is still recorded.
    const attempts = async () => {
      const made = [];
      for (const { id } of await first.deliveries()) made.push(...(await first.attempts(id)));
      return made;
    };
    await until(async () => (await attempts()).length === receiver.requests.length);
    const posted = receiver.requests.map(
      ({ headers }) => `${headers['webhook-id']} ${headers['service-delivery-attempt']}`,
    );
    t.equal(new Set(posted).size, posted.length, 'none is posted twice');
    const exhausted = (await first.deliveries()).filter(({ status }) => status === 'exhausted');
    t.ok(exhausted.length >= 10);
    t.same(new Set(exhausted.map(({ attempt_count }) => attempt_count)), new Set([10]));
    for (const { store } of rigs)
      t.same(
        await store.dueDeliveries(new Date(Date.now() + 3_600_000).toISOString(), 100),
        [],
        'for neither',
      );
  },
);
