// What a campaign does now: whom it calls, whom it does not call yet, and when to ask again. PURE.
import { spacingMs } from '../../storage/campaign-contact.ts';
import type { CampaignRecord, ContactRecord } from '../../storage/campaign-records.ts';
import { isOpen, nextOpening } from './windows.ts';

export interface CampaignFacts {
  campaign: CampaignRecord;
  nowMs: number;
  /** Contacts that are being called. */
  calling: number;
  waiting: number;
  /** A call is asked for, and has not begun. */
  isBeginning: boolean;
  /** Of those due, the first ones in their order. */
  due: readonly ContactRecord[];
  /** When the next after these is due. */
  nextDueAt: string | null;
  /** Milliseconds since its last call began; null: none has. */
  sinceLastMs: number | null;
  /** Lines of the daemon that nobody uses. */
  freeLines: number;
}

export interface CampaignStep {
  start: ContactRecord | null;
  /** Not within a window; until when. */
  postpone: { id: string; dueAt: string }[];
  /** They are never within one. */
  neverOpen: string[];
  /** Those who wait are skipped, some at a time. */
  skip: boolean;
  complete: boolean;
  /** When to ask again at the latest. */
  againInMs: number;
}

/** A line that comes free, or a change by somebody, is told; this is for what is not. */
const LONGEST_MS = 1_000;
const AT_ONCE = 0;

/** The zones whose hours count for a contact. */
export function zonesOf(
  { window_zone, time_zone }: Pick<CampaignRecord, 'window_zone' | 'time_zone'>,
  contact: Pick<ContactRecord, 'time_zones'>,
): string[] {
  const own = contact.time_zones.length > 0 ? contact.time_zones : [time_zone];
  if (window_zone === 'campaign') return [time_zone];
  return window_zone === 'contact' ? own : [...new Set([time_zone, ...own])];
}

export function campaignStep(facts: CampaignFacts): CampaignStep {
  const { campaign, nowMs, due } = facts;
  const nothing: CampaignStep = {
    start: null,
    postpone: [],
    neverOpen: [],
    skip: false,
    complete: false,
    againInMs: LONGEST_MS,
  };
  if (campaign.status === 'stopped') return { ...nothing, skip: true, againInMs: AT_ONCE };
  if (campaign.status !== 'running' || facts.isBeginning) return nothing;
  if (facts.waiting + facts.calling === 0) return { ...nothing, complete: true };
  const heldMs = campaign.held_until === null ? 0 : Date.parse(campaign.held_until) - nowMs;
  if (heldMs > 0) return { ...nothing, againInMs: Math.min(heldMs, LONGEST_MS) };
  const pausedMs = facts.sinceLastMs === null ? 0 : spacingMs(campaign.calls_per_minute) - facts.sinceLastMs;
  if (pausedMs > 0) return { ...nothing, againInMs: Math.min(pausedMs, LONGEST_MS) };
  if (facts.calling >= campaign.max_concurrent || facts.freeLines <= campaign.free_lines) return nothing;

  const opening = openingOf(campaign, nowMs);
  const [postpone, neverOpen]: [CampaignStep['postpone'], string[]] = [[], []];
  for (const contact of due) {
    const openMs = opening(contact);
    if (openMs === nowMs) return { ...nothing, start: contact, postpone, neverOpen, againInMs: AT_ONCE };
    if (openMs === null) neverOpen.push(contact.id);
    else postpone.push({ id: contact.id, dueAt: new Date(openMs).toISOString() });
  }
  // Behind those that were put off others may be due.
  if (due.length > 0) return { ...nothing, postpone, neverOpen, againInMs: AT_ONCE };
  const nextMs = facts.nextDueAt === null ? LONGEST_MS : Date.parse(facts.nextDueAt) - nowMs;
  return { ...nothing, againInMs: Math.max(1, Math.min(nextMs, LONGEST_MS)) };
}

/** When a contact may be called, from now on; worked out once for all in the same zones. */
function openingOf(campaign: CampaignRecord, nowMs: number): (contact: ContactRecord) => number | null {
  const known = new Map<string, number | null>();
  return (contact) => {
    const zones = zonesOf(campaign, contact);
    const key = zones.join(' ');
    let openMs = known.get(key);
    if (openMs === undefined) {
      const { windows } = campaign;
      openMs = isOpen(windows, zones, nowMs) ? nowMs : nextOpening(windows, zones, nowMs);
      known.set(key, openMs);
    }
    return openMs;
  };
}
