// The contacts of campaigns: added, listed, and those that are due.
import { talliesAdded } from '../campaign-contact.ts';
import type { ContactRecord, ContactView } from '../campaign-records.ts';
import { type CampaignStore, MOST_CONTACTS } from '../campaign-store.ts';
import { changeContact, countOf, endAttempt, readCampaign, readContact, tally } from './campaign-attempts.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { readPage, type Where } from './pages.ts';
import { CALLS, CAMPAIGN_ATTEMPTS, CAMPAIGN_TALLIES, CAMPAIGNS, CONTACTS, type Row } from './rows.ts';

type Verbs =
  | 'addContacts'
  | 'listContacts'
  | 'contactsInOrder'
  | 'getContact'
  | 'listAttempts'
  | 'campaignTallies'
  | 'dueContacts'
  | 'postponeContacts'
  | 'refuseContact'
  | 'skipContacts'
  | 'settleAttempts';

const PRIORITIES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
const OPEN: readonly string[] = ['draft', 'running', 'paused'];
const WAITING = "status = 'waiting'";

const RESULT = `(SELECT calls.result FROM calls WHERE calls.id = campaign_contacts.last_call_id) AS result,
  (SELECT calls.result_status FROM calls WHERE calls.id = campaign_contacts.last_call_id) AS result_status`;
const VIEW = `${CONTACTS.selected}, ${RESULT}`;

function viewOf(row: Row): ContactView {
  return {
    ...CONTACTS.fromRow(row),
    result: row.result == null ? null : JSON.parse(String(row.result)),
    result_status: row.result_status == null ? null : String(row.result_status),
  };
}

/** The index of a list of contacts: by how they stand where that is asked. */
function contactIndex(o: { status?: string | undefined; outcome?: string | undefined }): string {
  if (o.outcome !== undefined) return 'contacts_by_outcome';
  return o.status === undefined ? 'contacts_by_campaign' : 'contacts_by_status';
}

export function campaignContacts(connection: Connection): Pick<CampaignStore, Verbs> {
  const { statement, write, tryWrite } = connection;

  /** Those that still wait, each changed by `change`. */
  function changeWaiting(ids: readonly string[], change: (contact: ContactRecord) => void): void {
    for (const id of ids) {
      const contact = readContact(connection, id);
      if (contact?.status === 'waiting') change(contact);
    }
  }

  return {
    async addContacts(orgId, campaignId, contacts) {
      return tryWrite(
        () => {
          const campaign = readCampaign(connection, campaignId);
          if (campaign?.org_id !== orgId) return null;
          if (!OPEN.includes(campaign.status)) throw new Refusal('status');
          const insert = statement(`${CONTACTS.insert} ON CONFLICT (campaign_id, to_number) DO NOTHING`);
          const added = contacts
            .filter((contact) => insert.run(CONTACTS.toRow(contact)).changes > 0)
            .map(({ id }) => id);
          tally(connection, campaignId, [
            { kind: 'status', hour: '', value: 'waiting', count: added.length },
          ]);
          const row = statement(
            `SELECT sum(count) AS count FROM campaign_tallies WHERE campaign_id = ? AND kind = 'status'`,
          ).get(campaignId);
          if (Number(row?.count) > MOST_CONTACTS) throw new Refusal('too_many_contacts');
          return { added };
        },
        { alone: true },
      );
    },

    async listContacts(orgId, campaignId, { status, outcome, search }, page) {
      const where: Where[] = [
        { sql: 'campaign_contacts.campaign_id = ?', value: campaignId },
        { sql: 'campaign_contacts.status = ?', value: status },
        { sql: 'campaign_contacts.outcome = ?', value: outcome },
        { sql: 'instr(campaign_contacts.to_number, ?) > 0', value: search },
      ];
      const o = { time: null, orgId, where, page, selected: VIEW, index: contactIndex({ status, outcome }) };
      return (await readPage(connection, CONTACTS, o)).map(viewOf);
    },

    async contactsInOrder(orgId, campaignId, after, limit) {
      const last =
        after === null
          ? { seq: 0 }
          : statement('SELECT seq FROM campaign_contacts WHERE id = ? AND campaign_id = ?').get(
              after,
              campaignId,
            );
      if (last === undefined) return [];
      const rows = await connection.read(
        `SELECT ${VIEW} FROM campaign_contacts INDEXED BY contacts_by_campaign
         WHERE org_id = ? AND campaign_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
        [orgId, campaignId, Number(last.seq), limit],
      );
      return rows.map(viewOf);
    },

    async getContact(orgId, campaignId, id) {
      const row = statement(
        `SELECT ${VIEW} FROM campaign_contacts WHERE id = ? AND campaign_id = ? AND org_id = ?`,
      ).get(id, campaignId, orgId);
      return row === undefined ? null : viewOf(row);
    },

    async listAttempts(contactId) {
      const rows = statement(
        `SELECT ${CAMPAIGN_ATTEMPTS.selected} FROM campaign_attempts WHERE contact_id = ? ORDER BY attempt`,
      ).all(contactId);
      return rows.map(CAMPAIGN_ATTEMPTS.fromRow);
    },

    async campaignTallies(campaignId) {
      const rows = statement(
        `SELECT ${CAMPAIGN_TALLIES.selected} FROM campaign_tallies
         WHERE campaign_id = ? AND count <> 0 ORDER BY kind, hour, value`,
      ).all(campaignId);
      return rows.map(CAMPAIGN_TALLIES.fromRow);
    },

    async dueContacts(campaignId, now, limit) {
      const contacts: ContactRecord[] = [];
      let nextDueAt: string | null = null;
      for (const priority of PRIORITIES) {
        const of = [campaignId, priority, now] as const;
        const from = `FROM campaign_contacts INDEXED BY contacts_waiting WHERE campaign_id = ? AND priority = ? AND ${WAITING}`;
        if (contacts.length < limit) {
          const rows = statement(
            `SELECT ${CONTACTS.selected} ${from} AND due_at <= ? ORDER BY due_at, seq LIMIT ?`,
          ).all(...of, limit - contacts.length);
          contacts.push(...rows.map(CONTACTS.fromRow));
        }
        const next = statement(`SELECT due_at ${from} AND due_at > ? ORDER BY due_at LIMIT 1`).get(...of);
        const at = next === undefined ? null : String(next.due_at);
        if (at !== null && (nextDueAt === null || at < nextDueAt)) nextDueAt = at;
      }
      return { contacts, nextDueAt };
    },

    async postponeContacts(of) {
      const due = new Map(of.map(({ id, dueAt, reason }) => [id, { due_at: dueAt, due_reason: reason }]));
      await write(() =>
        changeWaiting([...due.keys()], ({ id }) => updateById(connection, CONTACTS, id, due.get(id) ?? {})),
      );
    },

    async refuseContact(contactId, code) {
      await write(() =>
        changeWaiting([contactId], (contact) =>
          changeContact(connection, contact, { status: 'refused', outcome: `refused:${code}` }),
        ),
      );
    },

    async skipContacts(campaignId, limit) {
      return write(() => {
        const campaign = readCampaign(connection, campaignId);
        if (campaign?.status !== 'stopped') return { left: false };
        const waiting = statement(
          `SELECT id FROM campaign_contacts INDEXED BY contacts_by_status
           WHERE org_id = ? AND campaign_id = ? AND ${WAITING} LIMIT ?`,
        ).all(campaign.org_id, campaignId, limit);
        const skipped = { status: 'skipped', outcome: 'skipped' } as const;
        for (const { id } of waiting)
          updateById(connection, CONTACTS, String(id), { ...skipped, updated_at: connection.now() });
        const one = talliesAdded({ status: 'waiting', outcome: null }, skipped);
        tally(
          connection,
          campaignId,
          one.map((added) => ({ ...added, count: added.count * waiting.length })),
        );
        const left = countOf(connection, campaignId, 'waiting') > 0;
        if (!left) updateById(connection, CAMPAIGNS, campaignId, { at_work: 0 });
        return { left };
      });
    },

    async settleAttempts(campaignId) {
      const open = statement(
        `SELECT call_id FROM campaign_attempts INDEXED BY attempts_open WHERE campaign_id = ? AND outcome IS NULL`,
      ).all(campaignId);
      const read = statement(`SELECT ${CALLS.selected} FROM calls WHERE id = ?`);
      const over = "status NOT IN ('queued', 'initiated', 'ringing', 'in_progress')";
      const ended = open.filter(
        ({ call_id }) => statement(`SELECT 1 FROM calls WHERE id = ? AND ${over}`).get(call_id) !== undefined,
      );
      if (ended.length === 0) return 0;
      await write(() => {
        for (const { call_id } of ended) {
          const row = read.get(call_id);
          if (row !== undefined) endAttempt(connection, CALLS.fromRow(row));
        }
      });
      return ended.length;
    },
  };
}
