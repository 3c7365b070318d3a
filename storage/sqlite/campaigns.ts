// Campaigns: themselves, and who runs them.
import type { CampaignStatus } from '../campaign-records.ts';
import { CAMPAIGN_STATUSES } from '../campaign-records.ts';
import type { CampaignChange, CampaignStore } from '../campaign-store.ts';
import { countOf, readCampaign } from './campaign-attempts.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { readPage } from './pages.ts';
import { CAMPAIGNS } from './rows.ts';

type Verbs =
  | 'createCampaign'
  | 'getCampaign'
  | 'listCampaigns'
  | 'updateCampaign'
  | 'deleteCampaign'
  | 'takeCampaigns'
  | 'ownCampaigns'
  | 'leaveCampaigns'
  | 'completeCampaign'
  | 'holdCampaign';

/** What a change of status means for the rest of the row. */
function withStatus(change: CampaignChange, started: string | null, waiting: number, now: string) {
  switch (change.status) {
    case 'running':
      return {
        at_work: 1,
        started_at: started ?? now,
        status_reason: null,
        held_code: null,
        held_until: null,
      };
    case 'paused':
      return { at_work: 0, owner: null, held_code: null, held_until: null };
    case 'stopped':
      return { at_work: waiting > 0 ? 1 : 0, ended_at: now, held_code: null, held_until: null };
    default:
      return {};
  }
}

export function campaigns(connection: Connection): Pick<CampaignStore, Verbs> {
  const { statement, write, tryWrite, owner } = connection;

  function ofOrganization(orgId: string, id: string) {
    const campaign = readCampaign(connection, id);
    return campaign?.org_id === orgId ? campaign : null;
  }

  function plain(id: string) {
    const row = statement(`SELECT ${CAMPAIGNS.selected} FROM campaigns WHERE id = ?`).get(id);
    return row === undefined ? null : CAMPAIGNS.fromRow(row);
  }

  return {
    async createCampaign(campaign) {
      return write(() => {
        statement(CAMPAIGNS.insert).run(CAMPAIGNS.toRow(campaign));
        return campaign;
      });
    },

    async getCampaign(orgId, id) {
      const campaign = plain(id);
      return campaign?.org_id === orgId ? campaign : null;
    },

    async listCampaigns(orgId, { status }, page) {
      const index = status === undefined ? 'campaigns_by_org' : 'campaigns_by_status';
      const where = [{ sql: 'campaigns.status = ?', value: status }];
      const rows = await readPage(connection, CAMPAIGNS, { time: null, orgId, where, page, index });
      return rows.map(CAMPAIGNS.fromRow);
    },

    async updateCampaign(orgId, id, change, from = CAMPAIGN_STATUSES) {
      return tryWrite(() => {
        const before = ofOrganization(orgId, id);
        if (before === null) return null;
        if (!(from as readonly CampaignStatus[]).includes(before.status)) throw new Refusal('status');
        const now = connection.now();
        const waiting = countOf(connection, id, 'waiting');
        if (change.status === 'running' && waiting + countOf(connection, id, 'calling') === 0)
          throw new Refusal('no_contacts');
        updateById(connection, CAMPAIGNS, id, {
          ...CAMPAIGNS.toRow(change),
          ...withStatus(change, before.started_at, waiting, now),
          updated_at: now,
        });
        const hours = ['windows', 'time_zone', 'window_zone'] as const;
        if (hours.some((field) => change[field] !== undefined)) {
          statement(
            `UPDATE campaign_contacts INDEXED BY contacts_postponed SET due_at = '', due_reason = 'new'
             WHERE campaign_id = ? AND status = 'waiting' AND due_reason = 'window'`,
          ).run(id);
        }
        return plain(id);
      });
    },

    async deleteCampaign(orgId, id) {
      return tryWrite(
        () => {
          const campaign = ofOrganization(orgId, id);
          if (campaign === null) return null;
          if (campaign.status !== 'draft') throw new Refusal('status');
          statement('DELETE FROM campaign_contacts WHERE campaign_id = ?').run(id);
          statement('DELETE FROM campaign_tallies WHERE campaign_id = ?').run(id);
          statement('DELETE FROM campaigns WHERE id = ?').run(id);
          return true as const;
        },
        { alone: true },
      );
    },

    async takeCampaigns() {
      const free = statement(
        `SELECT campaigns.id FROM campaigns INDEXED BY campaigns_at_work
         LEFT JOIN daemons ON daemons.epoch = campaigns.owner
         WHERE campaigns.at_work = 1 AND (campaigns.owner IS NULL OR (campaigns.owner <> ? AND
           (daemons.epoch IS NULL OR daemons.heir IS NOT NULL OR daemons.ended_at IS NOT NULL OR daemons.state = 'leaving')))`,
      );
      if (free.get(owner) === undefined) return;
      await write(() => {
        // Asked again, now that nobody else writes.
        for (const { id } of free.all(owner))
          statement('UPDATE campaigns SET owner = ? WHERE id = ?').run(owner, id);
      });
    },

    async ownCampaigns() {
      const rows = statement(
        `SELECT ${CAMPAIGNS.selected} FROM campaigns INDEXED BY campaigns_at_work
         WHERE at_work = 1 AND owner = ? ORDER BY seq`,
      ).all(owner);
      return rows.map(CAMPAIGNS.fromRow);
    },

    async leaveCampaigns() {
      await write(() => {
        statement(
          'UPDATE campaigns INDEXED BY campaigns_at_work SET owner = NULL WHERE at_work = 1 AND owner = ?',
        ).run(owner);
      });
    },

    async completeCampaign(id) {
      return tryWrite(() => {
        const campaign = readCampaign(connection, id);
        if (campaign?.status !== 'running' || campaign.owner !== owner) throw new Refusal('status');
        if (countOf(connection, id, 'waiting') + countOf(connection, id, 'calling') > 0)
          throw new Refusal('unfinished');
        const now = connection.now();
        const over = { status: 'completed', at_work: 0, ended_at: now, updated_at: now };
        updateById(connection, CAMPAIGNS, id, { ...over, held_code: null, held_until: null });
        const { owner: _, ...rest } = campaign;
        return { ...rest, ...over, status: 'completed', at_work: false, held_code: null, held_until: null };
      });
    },

    async holdCampaign(id, held) {
      await write(() => {
        const change = { held_code: held?.code ?? null, held_until: held?.until ?? null };
        updateById(connection, CAMPAIGNS, id, change);
      });
    },
  };
}
