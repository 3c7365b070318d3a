// An organization's rules for outbound calls, consents, what was refused, and the gate asked without placing a call.
import { v7 as uuid } from 'uuid';
import { hoursThere } from '../outbound/calling-hours.ts';
import { destinationRefusals, refusalsOf } from '../outbound/gate.ts';
import type { ConsentRecord } from '../outbound/outbound-records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { knownHash, numberHash } from './number-hashes.ts';
import type { OutboundGate } from './outbound-gate.ts';
import { CONSENTS, REFUSED_CALLS } from './outbound-rows.ts';
import { readPage } from './pages.ts';

type Verbs =
  | 'getOutboundRules'
  | 'setOutboundRules'
  | 'decideOutbound'
  | 'addConsents'
  | 'getConsent'
  | 'listConsents'
  | 'revokeConsent'
  | 'getRefusedCall'
  | 'listRefusedCalls';

export function outbound(connection: Connection, gate: OutboundGate): Pick<Store, Verbs> {
  const { statement, write } = connection;

  function readConsent(orgId: string, id: string): ConsentRecord | null {
    const row = statement(`SELECT ${CONSENTS.selected} FROM consents WHERE id = ? AND org_id = ?`).get(
      id,
      orgId,
    );
    return row === undefined ? null : CONSENTS.fromRow(row);
  }

  function readRules(orgId: string) {
    const row = statement('SELECT updated_at, updated_by FROM outbound_rules WHERE org_id = ?').get(orgId);
    return {
      rules: gate.rules(orgId),
      own: Object.keys(gate.stored(orgId)),
      number_countries: gate.ownCountries({ orgId, from: null }),
      updated_at: row === undefined ? null : String(row.updated_at),
      updated_by: row?.updated_by == null ? null : JSON.parse(String(row.updated_by)),
    };
  }

  return {
    async getOutboundRules(orgId) {
      return readRules(orgId);
    },

    async setOutboundRules(orgId, change, by) {
      return write(() => {
        const rules: Record<string, unknown> = { ...gate.stored(orgId), ...change.set };
        for (const name of change.unset) delete rules[name];
        statement(
          `INSERT INTO outbound_rules (org_id, rules, updated_by, updated_at) VALUES (@org, @rules, @by, @at)
           ON CONFLICT (org_id) DO UPDATE SET rules = excluded.rules, updated_by = excluded.updated_by,
             updated_at = excluded.updated_at`,
        ).run({ org: orgId, rules: JSON.stringify(rules), by: JSON.stringify(by), at: connection.now() });
        return readRules(orgId);
      });
    },

    async decideOutbound(orgId, { to, from = null, agentId = null, only }) {
      const at = new Date(connection.now());
      const rules = gate.rules(orgId);
      const facts = gate.facts({ orgId, to, from, agentId }, rules, at);
      const found =
        only === 'destination'
          ? destinationRefusals(to, rules, facts)
          : refusalsOf({ to, at, override: null }, rules, facts);
      return {
        number: facts.number,
        local_times: hoursThere(null, facts.number.zones, at).local,
        refusals: found,
      };
    },

    async addConsents(orgId, consents) {
      return write(() =>
        consents.map((one) => {
          const record: ConsentRecord = {
            id: uuid(),
            org_id: orgId,
            number_hash: numberHash(connection, orgId, one.number),
            number: one.number,
            last4: one.number.slice(-4),
            purpose: one.purpose,
            source: one.source,
            given_at: one.given_at,
            evidence: one.evidence ?? null,
            revoked_at: null,
            created_by: one.created_by ?? null,
            created_at: connection.now(),
          };
          statement(CONSENTS.insert).run(CONSENTS.toRow(record));
          return record;
        }),
      );
    },

    async getConsent(orgId, id) {
      return readConsent(orgId, id);
    },

    async listConsents(orgId, { number }, page) {
      const hash = number === undefined ? undefined : knownHash(connection, orgId, number);
      if (hash === null) return [];
      const o = {
        time: 'created_at',
        orgId,
        where: [{ sql: 'consents.number_hash = ?', value: hash }],
        page,
        index: hash === undefined ? 'consents_by_org' : 'consents_by_number',
      };
      return (await readPage(connection, CONSENTS, o)).map(CONSENTS.fromRow);
    },

    async revokeConsent(orgId, id) {
      return write(() => {
        statement(
          'UPDATE consents SET revoked_at = ? WHERE id = ? AND org_id = ? AND revoked_at IS NULL',
        ).run(connection.now(), id, orgId);
        return readConsent(orgId, id);
      });
    },

    async getRefusedCall(orgId, id) {
      const row = statement(
        `SELECT ${REFUSED_CALLS.selected} FROM refused_calls WHERE id = ? AND org_id = ?`,
      ).get(id, orgId);
      return row === undefined ? null : REFUSED_CALLS.fromRow(row);
    },

    async listRefusedCalls(orgId, { code }, page) {
      const o = {
        time: 'created_at',
        orgId,
        where: [{ sql: 'refused_calls.code = ?', value: code }],
        page,
        index: code === undefined ? 'refused_calls_by_org' : 'refused_calls_by_code',
      };
      return (await readPage(connection, REFUSED_CALLS, o)).map(REFUSED_CALLS.fromRow);
    },
  };
}
