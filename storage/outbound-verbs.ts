// The verbs of storage about whom an organization may call. A part of the Store (store.ts).
import type { Page } from './answers.ts';
import type { Found } from './outbound/gate.ts';
import type { NumberFacts } from './outbound/number-facts.ts';
import type {
  ConsentRecord,
  Doer,
  DoNotCallRecord,
  GateCode,
  NewDoNotCall,
  RefusedCallRecord,
} from './outbound/outbound-records.ts';
import type { OutboundRules } from './outbound/rules.ts';

/** The rules in force. */
export interface OutboundRulesView {
  rules: OutboundRules;
  /** Which of them the organization has said itself; the others are the daemon's. */
  own: string[];
  /** Of the organization's active numbers. */
  number_countries: string[];
  updated_at: string | null;
  updated_by: Doer | null;
}

/** What the gate would say of a call now. */
export interface GateView {
  number: NumberFacts;
  local_times: { zone: string; time: string }[];
  /** Everything that speaks against it; none: it would be placed. */
  refusals: Found[];
}

export interface OutboundVerbs {
  /**
   * Numbers that are not to be called any more, all or none; one that is there already stays as it is. It has happened, as
   * the steps of calls have: what the disk does not take is kept, and no call goes out before it is stored.
   * @returns each as it is kept
   */
  addDoNotCall(orgId: string, entries: readonly NewDoNotCall[]): Promise<DoNotCallRecord[]>;
  isDoNotCall(orgId: string, e164: string): Promise<boolean>;
  getDoNotCall(orgId: string, id: string): Promise<DoNotCallRecord | null>;
  /** Newest first; of one number the one entry that there is. */
  listDoNotCall(
    orgId: string,
    filters: { number?: string | undefined },
    page: Page,
  ): Promise<DoNotCallRecord[]>;
  /** False where there is none. */
  removeDoNotCall(orgId: string, id: string): Promise<boolean>;

  getOutboundRules(orgId: string): Promise<OutboundRulesView>;
  /** Sets rules, and gives up own ones for the daemon's. */
  setOutboundRules(
    orgId: string,
    change: { set: Partial<OutboundRules>; unset: readonly (keyof OutboundRules)[] },
    by: Doer,
  ): Promise<OutboundRulesView>;
  /**
   * What the gate says of a number now; writes nothing and counts nothing. `from`: the number it would be called from.
   * `only: 'destination'`: of its range and country alone, as for one that a call is handed over to.
   */
  decideOutbound(
    orgId: string,
    ask: {
      to: string;
      from?: string | null | undefined;
      agentId?: string | null | undefined;
      only?: 'destination' | undefined;
    },
  ): Promise<GateView>;

  addConsents(
    orgId: string,
    consents: readonly (Pick<ConsentRecord, 'purpose' | 'source' | 'given_at'> & {
      number: string;
      evidence?: Record<string, unknown> | null | undefined;
      created_by?: Doer | undefined;
    })[],
  ): Promise<ConsentRecord[]>;
  getConsent(orgId: string, id: string): Promise<ConsentRecord | null>;
  /** Newest first. */
  listConsents(orgId: string, filters: { number?: string | undefined }, page: Page): Promise<ConsentRecord[]>;
  /** One that was revoked keeps its time; null for an unknown one. */
  revokeConsent(orgId: string, id: string): Promise<ConsentRecord | null>;

  getRefusedCall(orgId: string, id: string): Promise<RefusedCallRecord | null>;
  /** Calls that the gate refused, newest first: the last ten thousand of an organization. */
  listRefusedCalls(
    orgId: string,
    filters: { code?: GateCode | undefined },
    page: Page,
  ): Promise<RefusedCallRecord[]>;
}
