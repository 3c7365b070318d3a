// The verbs of storage about whom an organization may call. A part of the Store (store.ts).
import type { DoNotCallRecord, NewDoNotCall } from './outbound/outbound-records.ts';

/** As `Page` of store.ts. */
interface Page {
  limit: number;
  startingAfter?: string | undefined;
}

export interface OutboundVerbs {
  /**
   * Numbers that are not to be called any more, all or none; one that is there already stays as it is. It has happened, as
   * the steps of calls have: what the disk does not take is kept, and no call goes out before it is stored.
   * @returns each as it is kept
   */
  addDoNotCall(orgId: string, entries: readonly NewDoNotCall[]): Promise<DoNotCallRecord[]>;
  isDoNotCall(orgId: string, e164: string): Promise<boolean>;
  getDoNotCall(orgId: string, id: string): Promise<DoNotCallRecord | null>;
  /** Newest first; of one number the one entry that there is. */
  listDoNotCall(
    orgId: string,
    filters: { number?: string | undefined },
    page: Page,
  ): Promise<DoNotCallRecord[]>;
  /** False where there is none. */
  removeDoNotCall(orgId: string, id: string): Promise<boolean>;
}
