// What every store must do, written against the Store interface alone: a store's own test calls `storeConformance`
// with a way to open an empty one, and `ownerConformance` with a way to open several on one set of data.
import type { Test } from 'tap';
import type { Store } from '../../storage/store.ts';
import { accountConformance } from './conformance-accounts.ts';
import { alertConformance } from './conformance-alerts.ts';
import { callConformance } from './conformance-calls.ts';
import { campaignConformance } from './conformance-campaigns.ts';
import { keptConformance } from './conformance-kept.ts';
import { listConformance } from './conformance-lists.ts';
import { outboundConformance } from './conformance-outbound.ts';
import { peopleConformance } from './conformance-people.ts';
import { webhookConformance } from './conformance-webhooks.ts';
import type { OpenEmpty } from './makers.ts';

/** What is asked where several daemons are, in conformance-owners.ts. */
const OF_OWNERS: ReadonlySet<string> = new Set([
  'self',
  'tellSelf',
  'letOthersIn',
  'daemons',
  'ownerOf',
  'mayWrite',
  'takeOver',
  'intendIdempotent',
]);

export function storeConformance(t: Test, open: OpenEmpty): void {
  const verbs = new Set<string>();
  const asked = new Set<string>();
  const openWatched: OpenEmpty = async (o) => {
    const store = await open(o);
    for (const verb of Object.keys(store)) verbs.add(verb);
    return new Proxy(store, {
      get(target, verb: keyof Store & string) {
        asked.add(verb);
        return target[verb];
      },
    });
  };
  accountConformance(t, openWatched);
  callConformance(t, openWatched);
  webhookConformance(t, openWatched);
  alertConformance(t, openWatched);
  listConformance(t, openWatched);
  keptConformance(t, openWatched);
  outboundConformance(t, openWatched);
  campaignConformance(t, openWatched);
  peopleConformance(t, openWatched);

  t.test('every verb of a store is asked here', async (t) => {
    t.ok(verbs.size > 80);
    t.same(
      [...verbs].filter((verb) => !asked.has(verb) && !OF_OWNERS.has(verb)),
      [],
    );
  });
}
