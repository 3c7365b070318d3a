// Stands in for storage/sqlite/store.ts where late-switch.ts is loaded: the same store, late.
import { openStore as openPrompt, type StoreOptions } from '../../storage/sqlite/store.ts';
import type { Store } from '../../storage/store.ts';
import { lateStore, parseLateness } from './late-store.ts';

export type { StoreOptions };

/** As openStore, with the lateness that LATE_STORE says. */
export async function openStore(o: StoreOptions): Promise<Store> {
  return lateStore(await openPrompt(o), parseLateness(process.env.LATE_STORE ?? ''));
}
