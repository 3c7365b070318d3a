// The verbs of campaigns, as storage/store.ts has those of everything else.

import type { Conflict, Page } from './answers.ts';
import type {
  CampaignAttemptRecord,
  CampaignRecord,
  CampaignStatus,
  CampaignTally,
  ContactRecord,
  ContactStatus,
  ContactView,
  DueReason,
} from './campaign-records.ts';

/** So many contacts a campaign has at most. */
export const MOST_CONTACTS = 50_000;

export interface ContactFilters {
  status?: ContactStatus | undefined;
  outcome?: string | undefined;
  /** Part of the number. */
  search?: string | undefined;
}

/** What of a campaign a person may change. */
export type CampaignChange = Partial<
  Pick<
    CampaignRecord,
    | 'name'
    | 'agent_id'
    | 'from_number'
    | 'status'
    | 'status_reason'
    | 'calls_per_minute'
    | 'max_concurrent'
    | 'free_lines'
    | 'windows'
    | 'time_zone'
    | 'window_zone'
    | 'retries'
    | 'max_attempts'
  >
>;

/** Campaigns and their contacts. An attempt begins with its call (`createCall`) and ends with that (`saveCall`). */
export interface CampaignStore {
  createCampaign(campaign: CampaignRecord): Promise<CampaignRecord>;
  getCampaign(orgId: string, id: string): Promise<CampaignRecord | null>;
  listCampaigns(
    orgId: string,
    filters: { status?: CampaignStatus | undefined },
    page: Page,
  ): Promise<CampaignRecord[]>;
  /**
   * Conflict `status` when it is in none of `from`, `no_contacts` when it is to run and has none. What becomes of it with its
   * status follows: who is to run is at work, and who has changed its windows has its contacts looked at again.
   */
  updateCampaign(
    orgId: string,
    id: string,
    change: CampaignChange,
    from?: readonly CampaignStatus[],
  ): Promise<CampaignRecord | Conflict | null>;
  /** With its contacts, while it is a draft; else conflict `status`. */
  deleteCampaign(orgId: string, id: string): Promise<true | Conflict | null>;
  /**
   * Those whose number the campaign does not have yet; some hundreds at a time. Conflict `status` when it is over,
   * `too_many_contacts` above MOST_CONTACTS: then none is added.
   * @returns the ids of those that were added
   */
  addContacts(
    orgId: string,
    campaignId: string,
    contacts: readonly ContactRecord[],
  ): Promise<{ added: string[] } | Conflict | null>;
  /** Newest first. */
  listContacts(
    orgId: string,
    campaignId: string,
    filters: ContactFilters,
    page: Page,
  ): Promise<ContactView[]>;
  /** In the order in which they were added; `after`: the id of the last one before. */
  contactsInOrder(
    orgId: string,
    campaignId: string,
    after: string | null,
    limit: number,
  ): Promise<ContactView[]>;
  getContact(orgId: string, campaignId: string, id: string): Promise<ContactView | null>;
  /** In their order. */
  listAttempts(contactId: string): Promise<CampaignAttemptRecord[]>;
  campaignTallies(campaignId: string): Promise<CampaignTally[]>;

  // whoever runs campaigns
  /** Makes this daemon the owner of those at work whose owner is gone, is leaving, or that have none. */
  takeCampaigns(): Promise<void>;
  /** Those at work that are this daemon's, the oldest first. */
  ownCampaigns(): Promise<CampaignRecord[]>;
  /** They are nobody's any more. */
  leaveCampaigns(): Promise<void>;
  /** Of those waiting that are due, the first by priority, then by time; and when the next after these is due. */
  dueContacts(
    campaignId: string,
    now: string,
    limit: number,
  ): Promise<{ contacts: ContactRecord[]; nextDueAt: string | null }>;
  /** Of those that still wait, when they are due. */
  postponeContacts(
    of: readonly { id: string; dueAt: string; reason: Exclude<DueReason, 'new'> }[],
  ): Promise<void>;
  /** Whoever still waits is not called: his outcome is `refused:<code>`. */
  refuseContact(contactId: string, code: string): Promise<void>;
  /** Of a campaign that was stopped, at most so many that wait are skipped; nobody is left to skip: it is at work no more. */
  skipContacts(campaignId: string, limit: number): Promise<{ left: boolean }>;
  /** Ends attempts whose call has ended without that: another program may have written it. */
  settleAttempts(campaignId: string): Promise<number>;
  /** Completes it where it runs and nobody waits or is called. Conflict `status` or `unfinished`. */
  completeCampaign(campaignId: string): Promise<CampaignRecord | Conflict>;
  /** Nothing is begun until then; null: nothing is in the way any more. */
  holdCampaign(campaignId: string, held: { code: string; until: string } | null): Promise<void>;
}
