// What becomes of a contact: with an attempt that begins, with its end, with a refusal. PURE: the engine reads the rows before
// and writes them after, with what is counted.

import type { Conflict } from './answers.ts';
import type {
  AttemptOutcomeName,
  CampaignRecord,
  CampaignTally,
  ContactRecord,
  RetryOutcome,
} from './campaign-records.ts';
import { RETRY_OUTCOMES } from './campaign-records.ts';
import type { CallRecord } from './records.ts';

/** A conversation that ended so was cut: neither side had meant to end it. */
export const CUT_CAUSES: ReadonlySet<string> = new Set([
  'credit_exhausted',
  'draining',
  'stream_lost',
  'stream_ended',
  'media_timeout',
  'carrier_backpressure',
  'model_failed',
  'model_silent',
  'stalled',
  'thread_lost',
  'daemon_restart',
  'daemon_stopped',
  'daemon_crashed',
  'transfer_failed',
]);

type Ended = Pick<CallRecord, 'status' | 'answered_at' | 'answered_by' | 'hangup_cause' | 'opted_out'>;

/** How an attempt ended, by its call; null while that has not. */
export function outcomeOf(call: Ended): AttemptOutcomeName | null {
  switch (call.status) {
    case 'queued':
    case 'initiated':
    case 'ringing':
    case 'in_progress':
      return null;
    case 'no_answer':
    case 'busy':
    case 'canceled':
      return call.status;
    case 'failed':
      if (call.opted_out !== null) return 'opted_out';
      return call.answered_at === null ? 'failed' : 'cut';
    case 'completed':
      // However it ended: he has said it.
      if (call.opted_out !== null) return 'opted_out';
      if (call.answered_by === 'machine' || call.answered_by === 'fax') return 'voicemail';
      if (call.hangup_cause === 'voicemail' || call.hangup_cause === 'fax') return 'voicemail';
      return CUT_CAUSES.has(call.hangup_cause ?? '') ? 'cut' : 'answered';
  }
}

export type ContactChange = Pick<ContactRecord, 'status' | 'outcome'> &
  Partial<Pick<ContactRecord, 'attempts' | 'tries' | 'due_at' | 'due_reason' | 'last_call_id'>>;

/** Calls begin this far apart. */
export const spacingMs = (callsPerMinute: number) => 60_000 / callsPerMinute;

/**
 * A contact whose next attempt begins now. `calling`: how many of the campaign are being called.
 * Conflicts: `campaign_not_running`; `campaign_full`, `campaign_pace` now; `attempt_taken`: that attempt was begun before.
 */
export function begunAttempt(
  o: { campaign: CampaignRecord; contact: ContactRecord; calling: number; attempt: number; callId: string },
  now: string,
): ContactChange | Conflict {
  const { campaign, contact } = o;
  if (campaign.status !== 'running') return { conflict: 'campaign_not_running' };
  if (contact.status !== 'waiting' || contact.attempts + 1 !== o.attempt)
    return { conflict: 'attempt_taken' };
  if (o.calling >= campaign.max_concurrent) return { conflict: 'campaign_full' };
  const since =
    campaign.last_started_at === null ? Infinity : Date.parse(now) - Date.parse(campaign.last_started_at);
  // A clock that was set back is no reason to wait until it is there again.
  if (since >= 0 && since < spacingMs(campaign.calls_per_minute)) return { conflict: 'campaign_pace' };
  return { status: 'calling', outcome: null, attempts: o.attempt, last_call_id: o.callId };
}

/** A contact after an attempt: called again later, or done. */
export function endedAttempt(
  campaign: Pick<CampaignRecord, 'status' | 'retries' | 'max_attempts'>,
  contact: Pick<ContactRecord, 'attempts' | 'tries'>,
  outcome: AttemptOutcomeName,
  now: string,
): ContactChange {
  const before = contact.tries[outcome] ?? 0;
  const tries = { ...contact.tries, [outcome]: before + 1 };
  const over: ContactChange = { status: 'done', outcome, tries };
  if (campaign.status !== 'running' && campaign.status !== 'paused') return over;
  if (!(RETRY_OUTCOMES as readonly string[]).includes(outcome)) return over;
  const rule = campaign.retries[outcome as RetryOutcome];
  if (before >= rule.times || contact.attempts >= campaign.max_attempts) return over;
  const due_at = new Date(Date.parse(now) + rule.after_minutes * 60_000).toISOString();
  return { status: 'waiting', outcome: null, tries, due_at, due_reason: 'retry' };
}

/** What a change of a contact adds to what is counted; `before`: null for a new one. */
export function talliesAdded(
  before: Pick<ContactRecord, 'status' | 'outcome'> | null,
  after: Pick<ContactRecord, 'status' | 'outcome'>,
): CampaignTally[] {
  const added: CampaignTally[] = [];
  const count = (kind: 'status' | 'outcome', value: string | null | undefined, by: number) => {
    if (value != null) added.push({ kind, hour: '', value, count: by });
  };
  if (before?.status !== after.status) {
    count('status', before?.status, -1);
    count('status', after.status, 1);
  }
  if (before?.outcome !== after.outcome) {
    count('outcome', before?.outcome, -1);
    count('outcome', after.outcome, 1);
  }
  return added;
}
