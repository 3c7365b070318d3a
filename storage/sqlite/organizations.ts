// Organizations, their credit and their API keys.
import { findNamed } from '../organization-name.ts';
import type { KeyRecord, OrganizationRecord } from '../records.ts';
import type { Store } from '../store.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { LIVE } from './daemons.ts';
import { addCredit, setCredit } from './ledger.ts';
import { KEYS, ORGANIZATIONS } from './rows.ts';

type Verbs =
  | 'createOrganization'
  | 'firstOrganization'
  | 'getOrganization'
  | 'findOrganization'
  | 'listOrganizations'
  | 'updateOrganization'
  | 'getCredit'
  | 'setBalance'
  | 'addCredit'
  | 'insertKey'
  | 'listKeys'
  | 'findKey'
  | 'touchKey'
  | 'revokeKey';

const CHANGEABLE = [
  'name',
  'webhook_secret',
  'previous_webhook_secret',
  'previous_webhook_secret_expires_at',
  'spoken_name',
  'recording_notice',
] as const satisfies readonly (keyof OrganizationRecord)[];

export function organizations(connection: Connection): Pick<Store, Verbs> {
  const { statement, write, tryWrite } = connection;

  function addKey(key: KeyRecord): void {
    statement(KEYS.insert).run(KEYS.toRow(key));
  }

  function read(id: string): OrganizationRecord | null {
    const row = statement(`SELECT ${ORGANIZATIONS.selected} FROM organizations WHERE id = ?`).get(id);
    return row ? ORGANIZATIONS.fromRow(row) : null;
  }

  /** Few enough to be looked at one by one: SQLite's own lower() knows ASCII alone. */
  function find(idOrName: string): OrganizationRecord | null {
    const rows = statement('SELECT id, name FROM organizations WHERE erased_at IS NULL ORDER BY seq').all();
    const found = findNamed(rows as { id: string; name: string }[], idOrName);
    return found === undefined ? null : read(found.id);
  }

  return {
    async createOrganization(organization, key, o = {}) {
      return tryWrite(() => {
        if (o.uniqueName && find(organization.name) !== null) throw new Refusal('name_taken');
        statement(ORGANIZATIONS.insert).run(
          ORGANIZATIONS.toRow({ ...organization, balance_milli_cents: null }),
        );
        if (organization.balance_milli_cents !== null) {
          setCredit(connection, organization.id, organization.balance_milli_cents);
        }
        addKey(key);
        return organization;
      });
    },

    async firstOrganization() {
      const row = statement(
        `SELECT ${ORGANIZATIONS.selected} FROM organizations WHERE erased_at IS NULL ORDER BY created_at, seq LIMIT 1`,
      ).get();
      return row ? ORGANIZATIONS.fromRow(row) : null;
    },

    async getOrganization(id) {
      return read(id);
    },

    async findOrganization(idOrName) {
      return find(idOrName);
    },

    async listOrganizations({ limit, startingAfter }) {
      const after = startingAfter === undefined ? null : read(startingAfter);
      if (startingAfter !== undefined && after === null) return [];
      const rows = statement(
        `SELECT ${ORGANIZATIONS.selected} FROM organizations
         WHERE erased_at IS NULL ${after === null ? '' : 'AND seq < (SELECT last.seq FROM organizations last WHERE last.id = ?)'}
         ORDER BY seq DESC LIMIT ?`,
      ).all(...(after === null ? [] : [after.id]), limit);
      return rows.map(ORGANIZATIONS.fromRow);
    },

    async updateOrganization(id, change) {
      return write(() => {
        updateById(connection, ORGANIZATIONS, id, ORGANIZATIONS.toRow(change, CHANGEABLE));
        return read(id);
      });
    },

    async getCredit(orgId) {
      const row = statement(
        `SELECT balance_milli_cents AS balance,
           (SELECT coalesce(sum(reserved_milli_cents), 0) FROM calls INDEXED BY calls_unfinished
            WHERE org_id = organizations.id AND ${LIVE}) AS held
         FROM organizations WHERE id = ?`,
      ).get(orgId);
      if (!row) return null;
      const balanceMilliCents = row.balance === null ? null : Number(row.balance);
      return { balanceMilliCents, heldMilliCents: Number(row.held) };
    },

    async addCredit(orgId, amountMilliCents) {
      return tryWrite(() => ({ balanceMilliCents: addCredit(connection, orgId, amountMilliCents) }));
    },

    async setBalance(orgId, balanceMilliCents) {
      await write(() => {
        if (balanceMilliCents !== null) {
          setCredit(connection, orgId, balanceMilliCents);
        } else {
          statement('UPDATE organizations SET balance_milli_cents = NULL WHERE id = ?').run(orgId);
        }
      });
    },

    async insertKey(key) {
      await write(() => addKey(key));
    },

    async listKeys(orgId) {
      const rows = statement(
        `SELECT ${KEYS.selected} FROM api_keys WHERE org_id = ? ORDER BY created_at DESC, seq DESC`,
      ).all(orgId);
      return rows.map(KEYS.fromRow);
    },

    async findKey(hash) {
      const row = statement(
        `SELECT ${KEYS.selected} FROM api_keys WHERE hash = ? AND revoked_at IS NULL`,
      ).get(hash);
      return row ? KEYS.fromRow(row) : null;
    },

    async touchKey(id, at) {
      await write(() => statement('UPDATE api_keys SET last_used_at = ? WHERE id = ?').run(at, id));
    },

    async revokeKey(orgId, id, at) {
      const sql = 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND org_id = ? AND revoked_at IS NULL';
      return write(() => statement(sql).run(at, id, orgId).changes === 1);
    },
  };
}
