// What every store must do, written against the Store interface alone: a store's own test calls `storeConformance`
// with a way to open an empty one.
import type { Test } from 'tap';
import type { Store } from '../../storage/store.ts';
import { accountConformance } from './conformance-accounts.ts';
import { callConformance } from './conformance-calls.ts';
import { webhookConformance } from './conformance-webhooks.ts';

/** Opens a store that holds nothing; the suite closes it. */
export type OpenEmpty = (o: { now: () => Date }) => Promise<Store>;

export function storeConformance(t: Test, open: OpenEmpty): void {
  accountConformance(t, open);
  callConformance(t, open);
  webhookConformance(t, open);
}
