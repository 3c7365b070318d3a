// What every store must do, written against the Store interface alone: a store's own test calls `storeConformance`
// with a way to open an empty one.
import type { Test } from 'tap';
import { accountConformance } from './conformance-accounts.ts';
import { callConformance } from './conformance-calls.ts';
import { webhookConformance } from './conformance-webhooks.ts';
import type { OpenEmpty } from './makers.ts';

export function storeConformance(t: Test, open: OpenEmpty): void {
  accountConformance(t, open);
  callConformance(t, open);
  webhookConformance(t, open);
}
