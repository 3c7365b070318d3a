// The verbs of storage: what the rest of the program may ask of it. A mutating verb is one transaction and
// takes the events to publish, so that the outbox cannot be forgotten. Every organization-scoped read takes the org id.

import type { AlertMessageRecord, AlertSettingsRecord, AlertStateRecord } from './alert-records.ts';
import type { Conflict, Page, Patience } from './answers.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { KeptVerbs } from './kept-verbs.ts';
import type { Doer, GateOverride } from './outbound/outbound-records.ts';
import type { OutboundVerbs } from './outbound-verbs.ts';
import type { PeopleStore } from './people-store.ts';
import type {
  AgentRecord,
  AgentType,
  AgentView,
  AttemptRecord,
  CallRecord,
  CallStatus,
  DaemonRecord,
  DeliveryRecord,
  DeliveryStatus,
  Direction,
  EndpointRecord,
  EventRecord,
  EventType,
  InterruptionRecord,
  KeyRecord,
  LedgerRecord,
  NumberRecord,
  NumberView,
  OrganizationRecord,
  TranscriptItemRecord,
  TurnRecord,
} from './records.ts';

export type { Conflict, Page };

export interface CallFilters {
  status?: CallStatus | undefined;
  direction?: Direction | undefined;
  agentId?: string | undefined;
  toNumber?: string | undefined;
  fromNumber?: string | undefined;
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
  /** Part of a number, of the agent's name, or words that were said. */
  search?: string | undefined;
}

/** Calls added up. Those of the line count telephone calls alone; time and money count all. */
export interface CallSums {
  calls: number;
  completed: number;
  talkSeconds: number;
  billedMilliCents: number;
  /** Null: of none is it known. */
  costMilliCents: number | null;
  /** Whether there are more than were added up. */
  more: boolean;
}

/** A telephone call that has ended. */
export interface EndedCall {
  ended_at: string;
  failed: boolean;
  /** Its error code, else what ended it; null where neither is known. */
  reason: string | null;
}

/** What happened in one hour, of calls made in it. */
export interface CallHour {
  /** `YYYY-MM-DDTHH`, UTC. */
  hour: string;
  /** These five by phone alone; time and money also of calls from a page. */
  calls: number;
  inbound: number;
  /** Over, in one of three ways: completed, failed, or nobody was reached (no_answer, busy, canceled). */
  ended: number;
  completed: number;
  failed: number;
  talkSeconds: number;
  billedMilliCents: number;
  /** Null where no call's cost is known. */
  costMilliCents: number | null;
}

/** Answers of one hour that took about as long. */
export interface LatencyCount {
  hour: string;
  /** Milliseconds from the end of the caller's speech to the first sound of the answer, to within 3 %. */
  latencyMs: number;
  answers: number;
}

export interface CallChange {
  /** The statuses the call may be in; in any other, nothing is written and `conflict` comes back. */
  from: readonly CallStatus[];
  change: Partial<CallRecord>;
  events?: readonly EventType[];
  /** Written in the same transaction; each (call, kind but top_up) at most once: a repeat is a conflict. */
  ledger?: readonly { kind: LedgerRecord['kind']; amountMilliCents: number }[];
}

/** A delivery with all that one attempt needs, taken by a lease. */
export interface ClaimedDelivery {
  delivery: DeliveryRecord;
  /** The event's body as stored; these bytes are signed and sent. */
  body: string;
  sequence: number;
  /** Secrets that sign, the current one first. */
  secrets: string[];
  /** True when this attempt follows a manual replay. */
  replay: boolean;
}

export interface AttemptOutcome {
  attempt: Omit<AttemptRecord, 'id' | 'attempt' | 'delivery_id'>;
  status: DeliveryStatus;
  /** For `pending`: when to try again. */
  nextAttemptAt?: string;
}

/** A delivery that waits for its time. */
export interface DueDelivery {
  id: string;
  /** Attempts made. */
  attempt: number;
  /** When it is due, ISO. */
  at: string;
  /** Whose turn it takes: the endpoint's id, or the origin of an inline URL. */
  receiver: string;
  callId: string | null;
}

export interface Listener {
  /** Deliveries that are due at their time, after the commit that made or re-queued them. */
  deliveries?(due: readonly DueDelivery[]): void;
  /** Events, after their commit. */
  event?(event: EventRecord): void;
  /** The disk takes writes again, and everything that was kept meanwhile is stored. */
  recovered?(): void;
  /** Another daemon has taken over all that this one had: nothing that is asked for is written any more. Told once. */
  replaced?(): void;
  /** The wall clock was set by so many milliseconds, and stored times have moved with it. */
  moved?(byMs: number): void;
}

/** What a daemon says of itself to others. */
export type SelfTold = Partial<Pick<DaemonRecord, 'version' | 'state' | 'private_port' | 'alive_at'>>;

/** A daemon, and when it has last said that it lives. */
export type Said = Pick<DaemonRecord, 'epoch' | 'alive_at'>;

/** A call that another daemon had. `owner_alive_at`: when that last said that it lived; null: it never did. */
export type TakenCall = CallRecord & { owner_alive_at?: string | null };

/**
 * A store is opened by one daemon and writes as that one. A call, a delivery that is being attempted and an idempotent
 * request have an owner: what is another daemon's is not changed, and the verb says so (`not_owner`); whoever is told that
 * has been replaced, and lets go of it. Reads ask for no owner.
 *
 * A write has happened when its promise resolves, and lasts from then on. Until then a read may not show it, another write may
 * come first, and a process that dies has lost it. Writes that are asked for at about the same time may share a commit; each is
 * all or nothing by itself, whatever becomes of the others.
 *
 * A disk that is full, or fails, refuses requests (`storage_low`) and loses nothing that has happened: the steps of
 * calls (`saveCall` but for a top-up), words, turns, attempts of deliveries and answers given are kept in memory, in
 * their order, and written as soon as that goes. A call is read as it is, stored or kept; lists show what is stored.
 */
export interface Store extends OutboundVerbs, CampaignStore, PeopleStore, KeptVerbs {
  subscribe(listener: Listener): () => void;
  /** Writes what is kept, as far as the disk takes it. */
  close(): Promise<void>;
  /** False from a write that the disk did not take until everything is stored and it takes them again. */
  writable(): boolean;
  /** Resolves when nothing of the call is kept in memory any more. */
  stored(callId: string): Promise<void>;
  /** What waits patiently waits no longer. Resolves when it is stored, kept or refused. */
  flush(): Promise<void>;

  // who owns what
  /** The daemon as which the store is opened. */
  self(): DaemonRecord;
  /** What this daemon says of itself to others; `self` has it from then on. That it lives may wait for other writes. */
  tellSelf(change: SelfTold): Promise<void>;
  /**
   * Whether other daemons may join this one on its data, from now on; as it was opened before that.
   * @returns false: nobody is to join, and somebody is just about to; asked later, it may be kept from the next
   */
  letOthersIn(may: boolean): boolean;
  /** Every daemon that has not ended, this one too, the oldest first; one that died a moment ago may still be among them. */
  daemons(): Promise<DaemonRecord[]>;
  /** Whose a call is, or was in the end; null where nobody ever wrote it down. */
  ownerOf(callId: string): Promise<DaemonRecord | null>;
  /**
   * Whether this daemon would be let write of a call in this moment, and so may command its line. Of one that is not stored
   * it may.
   */
  mayWrite(callId: string): Promise<boolean>;
  /**
   * Makes this daemon the heir of every other that has ended, or is proven dead: its calls are this one's from now on,
   * its leases are free, its requests are in progress no more. Of several that look at once, one takes. Who cannot be
   * proven dead, as one on another host, keeps what it has.
   * @param o.standStill daemons that live and do nothing, with what each has last said: taken over too, where it has said
   *   nothing since. When such a one goes on, nothing that it writes is stored any more (`replaced`).
   * @returns the calls taken that have not ended, the oldest first
   */
  takeOver(o?: { standStill?: readonly Said[] }): Promise<TakenCall[]>;

  // organizations and keys
  /** With its first key. Conflict `name_taken` where a name is to be one organization's alone, whatever the case. */
  createOrganization(
    organization: OrganizationRecord,
    key: KeyRecord,
    o?: { uniqueName?: boolean },
  ): Promise<OrganizationRecord | Conflict>;
  firstOrganization(): Promise<OrganizationRecord | null>;
  getOrganization(id: string): Promise<OrganizationRecord | null>;
  /** By its id, or by its name, whatever the case: the oldest of that name. */
  findOrganization(idOrName: string): Promise<OrganizationRecord | null>;
  /** Newest first. */
  listOrganizations(page: Page): Promise<OrganizationRecord[]>;
  /** Renames it, says how it is spoken of, or rotates the secret of its inline deliveries; null for an unknown one. */
  updateOrganization(
    id: string,
    change: Partial<
      Pick<
        OrganizationRecord,
        | 'name'
        | 'webhook_secret'
        | 'previous_webhook_secret'
        | 'previous_webhook_secret_expires_at'
        | 'spoken_name'
        | 'recording_notice'
      >
    >,
  ): Promise<OrganizationRecord | null>;
  /** What the organization may still spend (null: without limit), and what its live calls hold beside that. */
  getCredit(orgId: string): Promise<{ balanceMilliCents: number | null; heldMilliCents: number } | null>;
  /** Sets what may still be spent; what live calls hold comes back to it when they end. Null: without limit. */
  setBalance(orgId: string, balanceMilliCents: number | null): Promise<void>;
  /**
   * Adds to the balance, or takes from it. Conflict `unlimited` where there is none, `insufficient_credit` where it
   * would go below zero. Answers the balance.
   */
  addCredit(orgId: string, amountMilliCents: number): Promise<{ balanceMilliCents: number } | Conflict>;
  insertKey(key: KeyRecord): Promise<void>;
  listKeys(orgId: string): Promise<KeyRecord[]>;
  /** By SHA-256 (hex); null for unknown and revoked ones. */
  findKey(hash: string): Promise<KeyRecord | null>;
  touchKey(id: string, at: string): Promise<void>;
  revokeKey(orgId: string, id: string, at: string): Promise<boolean>;

  // numbers
  insertNumber(number: NumberRecord): Promise<NumberView | Conflict>;
  getNumber(orgId: string, id: string): Promise<NumberView | null>;
  listNumbers(orgId: string, page: Page): Promise<NumberView[]>;
  /** An active number of any organization, for inbound calls. */
  findActiveNumber(e164: string): Promise<NumberView | null>;
  oldestActiveNumber(orgId: string): Promise<NumberView | null>;
  releaseNumber(orgId: string, id: string): Promise<NumberView | Conflict | null>;

  // agents
  /** Attaches `numberIds` in the same transaction; conflict `number_taken` when an inbound agent has one of them. */
  createAgent(agent: AgentRecord, numberIds: readonly string[]): Promise<AgentView | Conflict>;
  getAgent(orgId: string, id: string): Promise<AgentView | null>;
  listAgents(
    orgId: string,
    filters: { type?: AgentType | undefined; includeArchived?: boolean | undefined },
    page: Page,
  ): Promise<AgentView[]>;
  /**
   * With `ifUpdatedAt` only while that is still its `updated_at`, else conflict `changed_meanwhile`. Its `updated_at`
   * always grows, so that two changes within one millisecond are told apart.
   */
  updateAgent(
    orgId: string,
    id: string,
    change: Partial<AgentRecord>,
    o?: { ifUpdatedAt?: string | null | undefined },
  ): Promise<AgentView | Conflict | null>;
  /** Sets archived_at and detaches all numbers; live calls go on. */
  archiveAgent(orgId: string, id: string, at: string): Promise<AgentView | null>;
  attachNumber(
    orgId: string,
    agentId: string,
    numberId: string,
    options: { primary: boolean; at: string },
  ): Promise<AgentView | Conflict | null>;
  /** The oldest number left becomes primary when the primary one goes. */
  detachNumber(
    orgId: string,
    agentId: string,
    numberId: string,
    at: string,
  ): Promise<AgentView | Conflict | null>;
  setPrimaryNumber(
    orgId: string,
    agentId: string,
    numberId: string,
    at: string,
  ): Promise<AgentView | Conflict | null>;

  // calls
  /**
   * The row, its first event and its hold on the credit in one transaction. An outbound call by telephone passes the gate in
   * it, whoever asks: conflict `refused`, with the `refusal`, when it does not; `gate` of the record says how it did.
   * Conflict `insufficient_credit` when the organization's balance does not cover `reserve`. With a contact of a campaign it
   * is that contact's attempt, begun in the same transaction; conflicts `campaign_not_owner` when another daemon runs it, and
   * those of `begunAttempt` in campaign-contact.ts.
   * @param o.by who asks for the call
   * @param o.override what may pass though the gate would refuse it
   */
  createCall(
    call: CallRecord,
    o: {
      events: readonly EventType[];
      reserve: number;
      by?: Doer | undefined;
      override?: GateOverride | undefined;
    },
  ): Promise<CallRecord | Conflict>;
  getCall(orgId: string, id: string): Promise<CallRecord | null>;
  /** Not scoped: for the carrier's hooks and the media threads, which know no organization. */
  findCall(id: string): Promise<CallRecord | null>;
  findCallByCarrierId(carrier: string, carrierCallId: string): Promise<CallRecord | null>;
  listCalls(orgId: string, filters: CallFilters, page: Page): Promise<CallRecord[]>;
  /** The newest `limit` of a list, added up. */
  sumCalls(orgId: string, filters: Omit<CallFilters, 'search'>, limit: number): Promise<CallSums>;
  /** Every call that has not reached a terminal status, whoever owns it, oldest first. */
  unfinishedCalls(): Promise<CallRecord[]>;
  /** This daemon's calls that have ended and whose result is still pending, oldest first. */
  pendingResults(): Promise<CallRecord[]>;
  /** Conflicts besides those of the change: `not_found`, `not_owner`, `carrier_call_exists`, `event_exists`. */
  saveCall(id: string, change: CallChange, patience?: Patience): Promise<CallRecord | Conflict>;
  listEvents(callId: string): Promise<EventRecord[]>;
  /** An organization's events over all calls, newest first. */
  listOrgEvents(
    orgId: string,
    filters: { callId?: string | undefined; type?: EventType | undefined },
    page: Page,
  ): Promise<EventRecord[]>;
  /** Those committed after one of them (null: from the first), oldest first; null when there is no such event. */
  eventsAfter(orgId: string, after: string | null, limit: number): Promise<EventRecord[] | null>;
  getEvent(orgId: string, id: string): Promise<EventRecord | null>;
  listLedger(orgId: string, callId?: string): Promise<LedgerRecord[]>;

  // overview: from `from` on, before `to`, both at the full hour
  callHours(orgId: string, from: string, to: string): Promise<CallHour[]>;
  /** Failed calls by phone, by error code, else by what ended them; the most frequent first. */
  failureReasons(orgId: string, from: string, to: string): Promise<{ reason: string; count: number }[]>;
  /** Added up over steps of so many hours (a divisor of 24), each named by its first hour; default 1. */
  answerLatencies(orgId: string, from: string, to: string, stepHours?: number): Promise<LatencyCount[]>;

  /** The newest telephone calls to have ended, the last first; of calls from a page none, which may make them fewer. */
  lastEnded(orgId: string, limit: number): Promise<EndedCall[]>;

  // transcript
  /** Writes or replaces items by id. @returns the calls that are another daemon's: nothing is written of them */
  saveTranscript(items: readonly TranscriptItemRecord[], patience?: Patience): Promise<readonly string[]>;
  /** In speech order: start_ms, then the order of insertion. */
  listTranscript(callId: string): Promise<TranscriptItemRecord[]>;

  // how fast answers came
  /**
   * Adds what was timed, of any calls, all or none; of a turn that is there already, `barged_in` is taken.
   * @returns the calls that are another daemon's: nothing is written of them
   */
  saveTurns(
    o: { turns: readonly TurnRecord[]; interruptions: readonly InterruptionRecord[] },
    patience?: Patience,
  ): Promise<readonly string[]>;
  /** By turn_index. */
  listTurns(callId: string): Promise<TurnRecord[]>;
  /** As they came. */
  listInterruptions(callId: string): Promise<InterruptionRecord[]>;

  // webhooks
  /** Conflict `too_many_endpoints` when the organization has `limit` already. */
  createEndpoint(
    endpoint: EndpointRecord,
    o?: { limit?: number | undefined },
  ): Promise<EndpointRecord | Conflict>;
  getEndpoint(orgId: string, id: string): Promise<EndpointRecord | null>;
  listEndpoints(orgId: string, page: Page): Promise<EndpointRecord[]>;
  /** Enabling clears the counter of failures. */
  updateEndpoint(orgId: string, id: string, change: Partial<EndpointRecord>): Promise<EndpointRecord | null>;
  /**
   * From the commit on it gets nothing more. What it was owed is ended (`endpoint_deleted`): some at once, the rest by
   * `endDeletedDeliveries`.
   */
  deleteEndpoint(orgId: string, id: string): Promise<boolean>;
  /** Ends some of what deleted endpoints were owed, in one short transaction. @returns whether there may be more */
  endDeletedDeliveries(): Promise<boolean>;
  /**
   * Takes a delivery for one attempt: pending, that many attempts made, no living lease, its endpoint enabled.
   * Null when someone else has it or nothing is to do. A lease of its own has ended by its time; another daemon's ends with
   * that daemon alone.
   */
  claimDelivery(id: string, attempt: number, now: string, leaseMs: number): Promise<ClaimedDelivery | null>;
  /**
   * Records an attempt of a claimed delivery: the attempt's row, the delivery, the endpoint's counter (10 exhausted in
   * a row disable it), and the call's webhook_status where it is the inline call.completed, in one transaction. Conflict
   * `not_claimed` when nobody has claimed it any more, `not_owner` when another daemon has.
   */
  recordAttempt(id: string, outcome: AttemptOutcome): Promise<DeliveryRecord | Conflict>;
  /** Pending, due at `now`, no living lease, endpoint enabled; the most overdue first. */
  dueDeliveries(now: string, limit: number): Promise<DueDelivery[]>;
  /**
   * Gives a claimed delivery back without an attempt charged: due at `at` (null: when it was), free for everybody again.
   * False when it is not claimed by this daemon any more.
   */
  releaseDelivery(id: string, at: string | null): Promise<boolean>;
  /**
   * At start: a retry that lies further off than twice its wait was stored by a clock that was ahead; it comes its wait
   * from now. `waitsMs` by attempts made. In short transactions, with other work between them; what is left when the
   * store closes is the next start's.
   */
  pullDueDeliveries(now: string, waitsMs: readonly number[]): Promise<void>;
  getDelivery(
    orgId: string,
    id: string,
  ): Promise<{ delivery: DeliveryRecord; attempts: AttemptRecord[] } | null>;
  listDeliveries(
    orgId: string,
    filters: {
      endpointId?: string | undefined;
      callId?: string | undefined;
      eventType?: EventType | undefined;
      status?: DeliveryStatus | undefined;
    },
    page: Page,
  ): Promise<DeliveryRecord[]>;
  /** Every delivery of a call's events, oldest first. */
  listCallDeliveries(callId: string): Promise<DeliveryRecord[]>;
  /**
   * Puts a delivery of any status back to pending, due now, its schedule from the start, and counts the replay. Null:
   * there is none. Conflict `endpoint_deleted` or `endpoint_disabled`: it would never be sent.
   */
  redeliver(orgId: string, id: string, at: string): Promise<DeliveryRecord | Conflict | null>;
  /**
   * The same for an endpoint's deliveries made from `since` on and before `until`, but for pending ones: those that were
   * given up or held back (`failed`), or `all`. Conflict `too_many` above `limit`, and then none, or as in `redeliver`.
   */
  replayDeliveries(
    orgId: string,
    endpointId: string,
    o: { since: string; until: string | null; only: 'failed' | 'all'; at: string; limit: number },
  ): Promise<{ count: number } | Conflict>;

  /**
   * How many deliveries of an organization made before `before` are still pending, those included that wait for an endpoint
   * which was disabled by its failures; not those that somebody has disabled. 10,000 at most.
   */
  countWaiting(orgId: string, before: string): Promise<number>;

  // alerts
  getAlertSettings(orgId: string): Promise<AlertSettingsRecord | null>;
  saveAlertSettings(settings: AlertSettingsRecord): Promise<AlertSettingsRecord>;
  /** Of every organization that has some. */
  listAlertSettings(): Promise<AlertSettingsRecord[]>;
  listAlertStates(orgId: string): Promise<AlertStateRecord[]>;
  /**
   * Writes the state, and what is to be told of it. False, and nothing is written, where its `version` is not the next one
   * (1: there is none yet): another has changed it meanwhile.
   */
  saveAlertState(state: AlertStateRecord, message: AlertMessageRecord | null): Promise<boolean>;
  /** Newest first; an organization's newest 200 are kept. */
  listAlertMessages(orgId: string, limit: number): Promise<AlertMessageRecord[]>;
  /** Those to be tried now, of all organizations, the most overdue first, 100 at most. */
  dueAlertMessages(now: string): Promise<AlertMessageRecord[]>;
  recordAlertSending(
    id: string,
    sending: Pick<AlertMessageRecord, 'webhook' | 'email' | 'next_attempt_at'>,
  ): Promise<void>;

  // requests made once
  /**
   * Reserves an idempotency key. `done`: the stored answer of the same request; `in_progress`: another one runs, here or in
   * another daemon; `reused`: the key was used with another body; `intended`: go on, and find out first what came of that;
   * `new`: go on. Who goes on calls finishIdempotent or dropIdempotent.
   */
  beginIdempotent(
    orgId: string,
    key: string,
    requestHash: string,
    now: string,
  ): Promise<
    | { state: 'new' | 'in_progress' | 'reused' }
    | { state: 'intended'; body: string }
    | { state: 'done'; status: number; body: string }
  >;
  /** What is about to be done, stored when this resolves. Conflict `not_owner`: it must not be done here. */
  intendIdempotent(orgId: string, key: string, body: string): Promise<Conflict | null>;
  /** Keeps the answer; with status null, an intent of which nobody here knows what came. Of another's key nothing is done. */
  finishIdempotent(orgId: string, key: string, status: number | null, body: string): Promise<void>;
  dropIdempotent(orgId: string, key: string): Promise<void>;

  /**
   * The wall clock was set by so much: what is still to come stays as far off as it was, however much of it there is, from
   * when this is asked. Retries and leases of deliveries, the age of idempotency keys and sessions, the end of secrets that
   * were replaced. Of several daemons on one host each says so, and it is done once. Listeners are told (`moved`).
   */
  moveTimes(byMs: number): Promise<void>;

  // health
  stats(): Promise<{
    pendingDeliveries: number;
    oldestPendingSeconds: number;
    unfinishedCalls: number;
    walBytes: number;
    /** Writes in memory that the disk has not taken. */
    keptWrites: number;
  }>;
}
