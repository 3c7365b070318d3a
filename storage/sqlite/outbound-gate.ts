// The facts that the outbound gate (../outbound/gate.ts) decides by, read in the transaction that stores the call, and what it
// refused, written down there.
import { v7 as uuid } from 'uuid';
import { decide, type GateAsk, type GateFacts } from '../outbound/gate.ts';
import { numberFacts } from '../outbound/number-facts.ts';
import type {
  CallGate,
  Doer,
  GateOverride,
  GateRefusal,
  RefusedCallRecord,
} from '../outbound/outbound-records.ts';
import { type OutboundDefaults, type OutboundRules, rulesOf } from '../outbound/rules.ts';
import { CALL_STATUSES, type CallRecord } from '../records.ts';
import type { Connection } from './connection.ts';
import { LIVE } from './daemons.ts';
import { findDoNotCall } from './do-not-call.ts';
import { knownHash } from './number-hashes.ts';
import { REFUSED_CALLS } from './outbound-rows.ts';

const DAY_MS = 86_400_000;
/** Refused calls that an organization keeps. */
const REFUSED_KEPT = 10_000;

export interface Asked {
  orgId: string;
  to: string;
  /** The organization's side: its country may be called. */
  from: string | null;
  agentId: string | null;
}

/** Who asks for a call, where that is known, and what he lets pass. */
export interface AskedBy {
  by?: Doer | undefined;
  override?: GateOverride | undefined;
}

const STATUSES = CALL_STATUSES.map((status) => `'${status}'`).join(', ');
const CALLS_TO = `SELECT created_at FROM calls INDEXED BY calls_by_to
  WHERE org_id = ? AND to_number = ? AND direction = 'outbound' AND status IN (${STATUSES}) AND created_at > ?`;
const SPENT = `SELECT coalesce(sum(billed_milli_cents), 0) AS billed, coalesce(sum(cost_milli_cents), 0) AS cost
  FROM call_hours WHERE org_id = ? AND hour >= ?`;
const HELD = `SELECT coalesce(sum(reserved_milli_cents), 0) AS held FROM calls INDEXED BY calls_unfinished
  WHERE org_id = ? AND ${LIVE}`;

export class OutboundGate {
  readonly #connection: Connection;
  readonly #defaults: OutboundDefaults;

  constructor(connection: Connection, defaults: OutboundDefaults) {
    this.#connection = connection;
    this.#defaults = defaults;
  }

  /** As they are in force. */
  rules(orgId: string): OutboundRules {
    return rulesOf(this.stored(orgId), this.#defaults);
  }

  /** What the organization itself has said. */
  stored(orgId: string): Partial<OutboundRules> {
    const row = this.#connection.statement('SELECT rules FROM outbound_rules WHERE org_id = ?').get(orgId);
    return row === undefined ? {} : (JSON.parse(String(row.rules)) as Partial<OutboundRules>);
  }

  facts(asked: Asked, rules: OutboundRules, at: Date): GateFacts {
    const { orgId, to } = asked;
    const doNotCall = findDoNotCall(this.#connection, orgId, to);
    const consentAskedBy = this.#consentAskedBy(asked, rules);
    return {
      number: numberFacts(to),
      ownCountries: this.ownCountries(asked),
      doNotCall,
      consentAskedBy,
      consent: consentAskedBy === null ? null : this.#consent(orgId, to),
      ...this.#callsTo(orgId, to, rules.calls_per_destination_per_day, at),
      callsInMinute: rules.calls_per_minute === null ? null : this.#callsInMinute(orgId, at),
      spentMilliCents: rules.spend_per_day_milli_cents === null ? null : this.#spent(orgId, at),
    };
  }

  /**
   * Within the transaction that stores the call, before it is stored. One that passes counts from then on; one that does
   * not is written down as refused.
   */
  pass(call: CallRecord, { by, override }: AskedBy): { allowed: CallGate } | { refusal: GateRefusal } {
    const at = new Date(this.#connection.now());
    const { org_id: orgId, to_number: to, from_number: from, agent_id: agentId } = call;
    const rules = this.rules(orgId);
    const ask: GateAsk = { to, at, override: override ?? null };
    const decided = decide(ask, rules, this.facts({ orgId, to, from, agentId }, rules, at));
    if ('refusal' in decided) this.#writeRefused(call, decided.refusal, by ?? override?.by ?? null);
    else this.#count(orgId, at);
    return decided;
  }

  /** Of its active numbers, and of the one that it calls from. */
  ownCountries({ orgId, from }: Pick<Asked, 'orgId' | 'from'>): string[] {
    const rows = this.#connection
      .statement(
        "SELECT DISTINCT country_code AS country FROM numbers INDEXED BY numbers_by_org WHERE org_id = ? AND status = 'active'",
      )
      .all(orgId);
    const own = from === null ? null : numberFacts(from).country;
    const countries = rows.map(({ country }) => String(country).toUpperCase());
    return [...new Set(own === null ? countries : [...countries, own])];
  }

  #consentAskedBy({ orgId, agentId }: Asked, rules: OutboundRules): GateFacts['consentAskedBy'] {
    if (rules.consent === 'required') return 'rules';
    if (agentId === null) return null;
    const agent = this.#connection
      .statement('SELECT consent FROM agents WHERE id = ? AND org_id = ?')
      .get(agentId, orgId);
    return agent?.consent === 'required' ? 'agent' : null;
  }

  #consent(orgId: string, to: string): { id: string } | null {
    const hash = knownHash(this.#connection, orgId, to);
    if (hash === null) return null;
    const row = this.#connection
      .statement(
        `SELECT id FROM consents INDEXED BY consents_by_number WHERE org_id = ? AND number_hash = ? AND revoked_at IS NULL
         ORDER BY created_at DESC LIMIT 1`,
      )
      .get(orgId, hash);
    return row === undefined ? null : { id: String(row.id) };
  }

  #callsTo(
    orgId: string,
    to: string,
    limit: number | null,
    at: Date,
  ): Pick<GateFacts, 'callsToDestination' | 'destinationFreeAt'> {
    if (limit === null) return { callsToDestination: null, destinationFreeAt: null };
    const since = new Date(at.getTime() - DAY_MS).toISOString();
    const made = this.#connection
      .statement(CALLS_TO)
      .all(orgId, to, since)
      .map((row) => String(row.created_at))
      .sort();
    const over = limit === 0 ? undefined : made.at(made.length - limit);
    const destinationFreeAt =
      made.length < limit || over === undefined ? null : new Date(Date.parse(over) + DAY_MS);
    return { callsToDestination: made.length, destinationFreeAt };
  }

  #callsInMinute(orgId: string, at: Date): number {
    const second = Math.floor(at.getTime() / 1000);
    const row = this.#connection
      .statement(
        'SELECT coalesce(sum(calls), 0) AS calls FROM dialled_seconds WHERE org_id = ? AND second BETWEEN ? AND ?',
      )
      // A clock that was set back leaves seconds to come: a minute of them counts, no more.
      .get(orgId, second - 60, second + 60);
    return Number(row?.calls);
  }

  #count(orgId: string, at: Date): void {
    const second = Math.floor(at.getTime() / 1000);
    const { statement } = this.#connection;
    statement('DELETE FROM dialled_seconds WHERE org_id = ? AND second < ?').run(orgId, second - 60);
    statement('DELETE FROM dialled_seconds WHERE org_id = ? AND second > ?').run(orgId, second + 60);
    statement(
      `INSERT INTO dialled_seconds (org_id, second, calls) VALUES (?, ?, 1)
       ON CONFLICT (org_id, second) DO UPDATE SET calls = calls + 1`,
    ).run(orgId, second);
  }

  /** The dearer of what calls were charged and what they are estimated to have cost, and what live ones hold. */
  #spent(orgId: string, at: Date): number {
    const { statement } = this.#connection;
    const hour = new Date(at.getTime() - DAY_MS).toISOString().slice(0, 13);
    const spent = statement(SPENT).get(orgId, hour);
    const held = statement(HELD).get(orgId);
    return Math.round(Math.max(Number(spent?.billed), Number(spent?.cost)) + Number(held?.held));
  }

  #writeRefused(call: CallRecord, refusal: GateRefusal, by: Doer | null): void {
    const { statement } = this.#connection;
    const record: RefusedCallRecord = {
      id: uuid(),
      org_id: call.org_id,
      to_number: call.to_number,
      last4: call.to_number.slice(-4),
      from_number: call.from_number,
      agent_id: call.agent_id,
      code: refusal.code,
      reason: refusal.reason,
      evidence: refusal.evidence,
      codes: refusal.codes,
      asked_by: by,
      created_at: this.#connection.now(),
    };
    statement(REFUSED_CALLS.insert).run(REFUSED_CALLS.toRow(record));
    statement(
      `DELETE FROM refused_calls WHERE org_id = @org AND (created_at, seq) < (SELECT created_at, seq
         FROM refused_calls INDEXED BY refused_calls_by_org WHERE org_id = @org
         ORDER BY created_at DESC, seq DESC LIMIT 1 OFFSET @kept)`,
    ).run({ org: call.org_id, kept: REFUSED_KEPT - 1 });
  }
}
