// Runs the campaigns that are this daemon's: it asks what to do (step.ts), has calls begun one after the other, and says what
// was in the way. Of several daemons one runs a campaign; when that is gone, another takes it. Whom to call at which attempt is
// stored with the call: nobody is called twice for one.
import { setTimeout as pause } from 'node:timers/promises';
import type { Calls } from '../../bridge/calls/calls.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { CampaignRecord, ContactRecord } from '../../storage/campaign-records.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { CARRIER_ERRORS, CARRIER_REST_MS, refusedBy } from './refusals.ts';
import { campaignStep } from './step.ts';

export interface CampaignRunnerOptions {
  store: Store;
  calls: Pick<Calls, 'dispatch' | 'live' | 'accepting'>;
  /** Of the daemon. */
  maxCalls: number;
  /** The record of a call to a number. @throws AppError where the campaign's agent cannot call */
  callTo(campaign: CampaignRecord, contact: ContactRecord): Promise<CallRecord>;
  now: () => Date;
  monotonicMs: () => number;
  log: Log;
}

/** Campaigns of daemons that are gone are looked for so often, and what nobody has told of this one's. */
const LOOK_MS = 1_000;
/** What storage does not begin now is asked for again so much later. */
const AGAIN_MS = 250;
/** Somebody with whom something is wrong that nobody knows is not called before. */
const UNKNOWN_REST_MS = 15 * 60_000;
const DUE_AT_ONCE = 50;
const SKIPPED_AT_ONCE = 200;
/** Two clocks that are read one after the other may differ by as much. */
const CLOCKS_MS = 5;

/** A campaign that runs here. */
interface Running {
  id: string;
  /** The call that is asked for and has no row yet. */
  beginning: string | null;
  /** When its last call began, by the monotonic clock; null: not here. */
  lastBegunMs: number | null;
  /** Calls that the carrier refused, one after the other. */
  carrierErrors: number;
  turn: Promise<void> | null;
  timer: NodeJS.Timeout | undefined;
}

export class CampaignRunner {
  readonly #o: CampaignRunnerOptions;
  readonly #running = new Map<string, Running>();
  #looks: NodeJS.Timeout | undefined;
  #look: Promise<void> | null = null;
  #closed = false;
  #left = false;
  #unsubscribe = () => {};

  constructor(o: CampaignRunnerOptions) {
    this.#o = o;
  }

  start(): void {
    this.#unsubscribe = this.#o.store.subscribe({
      event: ({ type, call_id }) => {
        if (type === 'call.queued') return this.#begun(call_id);
        // A line came free, perhaps.
        if (type !== 'call.ringing' && type !== 'call.answered') this.wake();
      },
    });
    this.#looks = setInterval(() => this.wake(), LOOK_MS);
    this.wake();
  }

  /** Something has changed: campaigns are looked at now. */
  wake(): void {
    if (this.#closed) return;
    this.#look ??= this.#lookNow().finally(() => {
      this.#look = null;
    });
  }

  /** Begins nothing any more, and leaves its campaigns to others; calls go on. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe();
    clearInterval(this.#looks);
    for (const one of this.#running.values()) clearTimeout(one.timer);
    await this.#look;
    await Promise.all([...this.#running.values()].map(({ turn }) => turn));
    await this.#leave().catch((error: unknown) => this.#failed(error, null));
  }

  /** They are for others to take, once. */
  async #leave(): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    await this.#o.store.leaveCampaigns();
  }

  async #lookNow(): Promise<void> {
    const { store, calls } = this.#o;
    try {
      if (!calls.accepting()) return await this.#leave();
      await store.takeCampaigns();
      const own = await store.ownCampaigns();
      for (const id of this.#running.keys()) {
        if (!own.some((one) => one.id === id)) this.#forget(id);
      }
      for (const { id } of own) {
        if (!this.#running.has(id)) {
          const fresh = { beginning: null, lastBegunMs: null, carrierErrors: 0, turn: null };
          this.#running.set(id, { id, ...fresh, timer: undefined });
        }
      }
    } catch (error) {
      this.#failed(error, null);
    }
    for (const one of this.#running.values()) this.#next(one);
  }

  #forget(id: string): void {
    clearTimeout(this.#running.get(id)?.timer);
    this.#running.delete(id);
  }

  #failed(error: unknown, campaignId: string | null): void {
    this.#o.log.error({ err: error, campaign_id: campaignId }, 'campaign.failed');
  }

  /** A turn of a campaign now, unless one is under way. */
  #next(one: Running): void {
    if (this.#closed || this.#running.get(one.id) !== one || one.turn !== null) return;
    clearTimeout(one.timer);
    one.turn = this.#turn(one)
      .catch((error: unknown) => {
        this.#failed(error, one.id);
        return LOOK_MS;
      })
      .then((againInMs) => {
        one.turn = null;
        if (!this.#closed) one.timer = setTimeout(() => this.#next(one), againInMs);
      });
  }

  /** @returns in how many milliseconds the next is wanted */
  async #turn(one: Running): Promise<number> {
    const { store, calls, now, monotonicMs, maxCalls } = this.#o;
    const campaign = (await store.ownCampaigns()).find(({ id }) => id === one.id);
    if (campaign === undefined || !calls.accepting()) return LOOK_MS;
    await store.settleAttempts(one.id);
    const at = now();
    const standing = await store.campaignTallies(one.id);
    const count = (value: string) =>
      standing.find((tally) => tally.kind === 'status' && tally.value === value)?.count ?? 0;
    const { contacts, nextDueAt } = await store.dueContacts(one.id, at.toISOString(), DUE_AT_ONCE);
    const step = campaignStep({
      campaign,
      nowMs: at.getTime(),
      calling: count('calling'),
      waiting: count('waiting'),
      isBeginning: one.beginning !== null,
      due: contacts,
      nextDueAt,
      sinceLastMs: sinceLast(campaign, one, at.getTime(), monotonicMs()),
      freeLines: maxCalls - calls.live().length,
    });
    const later = step.postpone.map((contact) => ({ ...contact, reason: 'window' as const }));
    if (later.length > 0) await store.postponeContacts(later);
    for (const id of step.neverOpen) await store.refuseContact(id, 'no_window');
    if (step.skip) await store.skipContacts(one.id, SKIPPED_AT_ONCE);
    if (step.complete) {
      const completed = await store.completeCampaign(one.id);
      if (!('conflict' in completed)) this.#o.log.info({ campaign_id: one.id }, 'campaign.completed');
    }
    if (step.start !== null && !this.#closed) await this.#begin(one, campaign, step.start);
    return step.againInMs;
  }

  /** Asks for a contact's call; what comes of it is not waited for. */
  async #begin(one: Running, campaign: CampaignRecord, contact: ContactRecord): Promise<void> {
    const { store, calls, callTo, log } = this.#o;
    let record: CallRecord;
    try {
      record = await callTo(campaign, contact);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // No contact is to blame: somebody must mend it.
      const reason = `${error.code}: ${error.message}`;
      const paused = { status: 'paused', status_reason: reason } as const;
      await store.updateCampaign(campaign.org_id, campaign.id, paused, ['running']);
      log.warn({ campaign_id: campaign.id, code: error.code }, 'campaign.paused');
      return;
    }
    const attempt = contact.attempts + 1;
    const call = { ...record, campaign_id: campaign.id, contact_id: contact.id, attempt };
    one.beginning = call.id;
    calls
      .dispatch(call)
      .then(
        () => {
          one.carrierErrors = 0;
        },
        (error: unknown) => this.#refused(one, contact, error),
      )
      .catch((error: unknown) => this.#failed(error, one.id))
      .finally(() => {
        if (one.beginning === call.id) one.beginning = null;
        this.#next(one);
      });
  }

  /** The row of a call is there: the next one is that much later. */
  #begun(callId: string): void {
    for (const one of this.#running.values()) {
      if (one.beginning !== callId) continue;
      one.beginning = null;
      one.lastBegunMs = this.#o.monotonicMs();
      this.#next(one);
    }
  }

  async #refused(one: Running, contact: ContactRecord, error: unknown): Promise<void> {
    const { store, now, log } = this.#o;
    const known = error instanceof AppError ? error : null;
    const code = known?.code ?? 'internal';
    const refused = refusedBy(known);
    const until = (ms: number) => new Date(now().getTime() + ms).toISOString();
    const hold = (ms: number) => store.holdCampaign(one.id, { code, until: until(ms) });
    switch (refused.means) {
      case 'postpone':
        await store.postponeContacts([{ id: contact.id, dueAt: until(refused.ms), reason: 'gate' }]);
        break;
      case 'never':
        await store.refuseContact(contact.id, code);
        break;
      case 'hold':
        if (known === null) this.#failed(error, one.id);
        await hold(refused.ms);
        // It may be this contact alone: the next time another one is first.
        if (refused.unknown === true)
          await store.postponeContacts([{ id: contact.id, dueAt: until(UNKNOWN_REST_MS), reason: 'gate' }]);
        break;
      case 'made':
        one.carrierErrors += 1;
        if (one.carrierErrors % CARRIER_ERRORS === 0) await hold(CARRIER_REST_MS);
        break;
      case 'again':
        // What storage says it may say for a while, where the clock was set back.
        await pause(AGAIN_MS, undefined, { ref: false });
        break;
    }
    log.info({ campaign_id: one.id, contact_id: contact.id, code, means: refused.means }, 'campaign.refused');
  }
}

/** By the clock that only goes forward where the last call began here, else by when it was stored. */
function sinceLast(
  campaign: CampaignRecord,
  one: Running,
  nowMs: number,
  monotonicMs: number,
): number | null {
  if (one.lastBegunMs !== null) return monotonicMs - one.lastBegunMs - CLOCKS_MS;
  if (campaign.last_started_at === null) return null;
  const ms = nowMs - Date.parse(campaign.last_started_at);
  // A clock that was set back is no reason to wait.
  return ms < 0 ? null : ms;
}
