// Attempts of campaigns: they begin with the row of their call and end with its end, within that transaction.
import {
  begunAttempt,
  type ContactChange,
  endedAttempt,
  outcomeOf,
  talliesAdded,
} from '../campaign-contact.ts';
import type { CampaignRecord, CampaignTally, ContactRecord } from '../campaign-records.ts';
import type { CallRecord } from '../records.ts';
import { accepted, type Connection, Refusal, updateById } from './connection.ts';
import { CAMPAIGN_ATTEMPTS, CAMPAIGNS, CONTACTS } from './rows.ts';

/** Counts of a campaign, kept up. Within the caller's transaction. */
export function tally({ statement }: Connection, campaignId: string, added: readonly CampaignTally[]): void {
  for (const one of added) {
    statement(
      `INSERT INTO campaign_tallies (campaign_id, kind, hour, value, count)
       VALUES (@campaign_id, @kind, @hour, @value, @count)
       ON CONFLICT (campaign_id, kind, hour, value) DO UPDATE SET count = count + excluded.count`,
    ).run({ campaign_id: campaignId, ...one });
  }
}

/** So many of its contacts stand there. */
export function countOf({ statement }: Connection, campaignId: string, status: string): number {
  const row = statement(
    `SELECT count FROM campaign_tallies WHERE campaign_id = ? AND kind = 'status' AND hour = '' AND value = ?`,
  ).get(campaignId, status);
  return Number(row?.count ?? 0);
}

export function readCampaign(
  { statement }: Connection,
  id: string,
): (CampaignRecord & { owner: number | null }) | null {
  const row = statement(`SELECT ${CAMPAIGNS.selected}, campaigns.owner FROM campaigns WHERE id = ?`).get(id);
  if (row === undefined) return null;
  return { ...CAMPAIGNS.fromRow(row), owner: row.owner === null ? null : Number(row.owner) };
}

export function readContact({ statement }: Connection, id: string): ContactRecord | null {
  const row = statement(`SELECT ${CONTACTS.selected} FROM campaign_contacts WHERE id = ?`).get(id);
  return row === undefined ? null : CONTACTS.fromRow(row);
}

/** A change of a contact with what it adds to the counts. Within the caller's transaction. */
export function changeContact(connection: Connection, contact: ContactRecord, change: ContactChange): void {
  const updated_at = connection.now();
  updateById(connection, CONTACTS, contact.id, CONTACTS.toRow({ ...change, updated_at }));
  tally(connection, contact.campaign_id, talliesAdded(contact, { ...contact, ...change }));
}

/**
 * The attempt that a new call is, within the call's transaction: either both are there or none.
 * @throws Refusal campaign_not_owner, and those of `begunAttempt`
 */
export function beginAttempt(connection: Connection, call: CallRecord): void {
  const { campaign_id, contact_id, attempt } = call;
  if (campaign_id === null || contact_id === null || attempt === null) return;
  const campaign = readCampaign(connection, campaign_id);
  const contact = readContact(connection, contact_id);
  if (campaign === null || contact === null || contact.campaign_id !== campaign_id)
    throw new Refusal('campaign_not_running');
  const now = connection.now();
  const calling = countOf(connection, campaign_id, 'calling');
  const change = accepted(begunAttempt({ campaign, contact, calling, attempt, callId: call.id }, now));
  if (campaign.owner !== connection.owner) throw new Refusal('campaign_not_owner');
  const row = { contact_id, attempt, campaign_id, call_id: call.id, started_at: now };
  connection
    .statement(CAMPAIGN_ATTEMPTS.insert)
    .run(CAMPAIGN_ATTEMPTS.toRow({ ...row, ended_at: null, outcome: null }));
  changeContact(connection, contact, change);
  updateById(connection, CAMPAIGNS, campaign_id, { last_started_at: now });
}

/** Ends the attempt that a call was, once, with what becomes of its contact. Within the caller's transaction. */
export function endAttempt(connection: Connection, call: CallRecord): void {
  const outcome = outcomeOf(call);
  if (call.campaign_id === null || call.contact_id === null || outcome === null) return;
  const now = connection.now();
  const { changes } = connection
    .statement(
      'UPDATE campaign_attempts SET ended_at = ?, outcome = ? WHERE contact_id = ? AND attempt = ? AND outcome IS NULL',
    )
    .run(now, outcome, call.contact_id, call.attempt);
  const campaign = readCampaign(connection, call.campaign_id);
  const contact = readContact(connection, call.contact_id);
  if (changes === 0 || campaign === null || contact === null) return;
  tally(connection, campaign.id, [{ kind: 'attempt', hour: now.slice(0, 13), value: outcome, count: 1 }]);
  changeContact(connection, contact, endedAttempt(campaign, contact, outcome, now));
}
