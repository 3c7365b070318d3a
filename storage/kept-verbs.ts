// The verbs of storage about what is kept: legal holds, erasures with their receipts, retention. Part of Store.

import type { Conflict, Page } from './answers.ts';
import type {
  AskedBy,
  BackupCopy,
  ErasedFile,
  ErasureRecord,
  HoldRecord,
  KeptDays,
  KeptKind,
  RetentionRecord,
  SweptCall,
} from './kept-records.ts';

export interface KeptVerbs {
  // legal holds
  /** Conflict `not_found` for a call that is not the organization's, `being_erased` where an erasure of it is under way. */
  createHold(hold: HoldRecord): Promise<HoldRecord | Conflict>;
  /** Null for an unknown one; of one that was lifted already nothing changes. */
  liftHold(orgId: string, id: string, by: AskedBy, at: string): Promise<HoldRecord | null>;
  getHold(orgId: string, id: string): Promise<HoldRecord | null>;
  /** Newest first; those that were lifted too. */
  listHolds(orgId: string, page: Page): Promise<HoldRecord[]>;
  /** Those in force that cover a call, by itself, by the other side's number, or with its organization; oldest first. */
  holdsOf(orgId: string, callId: string): Promise<HoldRecord[]>;

  // erasures
  /**
   * Begins one: from here on it goes on until it is done, whoever dies. Conflicts: `not_found`; `legal_hold`; `call_live` while
   * a call of it is on, or its result is not settled; `numbers_active` for an organization that has numbers. An organization's
   * keys and sessions end here, and its agents are archived.
   */
  beginErasure(erasure: Omit<ErasureRecord, 'number_hash'>): Promise<ErasureRecord | Conflict>;
  /** `orgId` null: of any organization. */
  getErasure(orgId: string | null, id: string): Promise<ErasureRecord | null>;
  /** Newest first; those of one number, where that is given. */
  listErasures(orgId: string, filters: { number?: string | undefined }, page: Page): Promise<ErasureRecord[]>;
  /** In the order of their paths. */
  listErasedFiles(id: string): Promise<ErasedFile[]>;
  /** The oldest that is not done, and is this daemon's or was one's that is gone: this one's from now on. */
  takeErasure(): Promise<ErasureRecord | null>;
  /** The next of its calls after one, oldest first. */
  nextToErase(id: string, after: string | null): Promise<SweptCall | null>;
  /** Before the files are deleted; of a file that is noted already nothing changes. */
  noteErasedFiles(id: string, files: readonly ErasedFile[]): Promise<void>;
  /** All that stands of a call, in one transaction; what is left is a row that counts and names nobody. */
  eraseCall(id: string, callId: string): Promise<void>;
  /** What else stands of its number or organization, a little at a time. @returns whether there may be more */
  eraseRest(id: string): Promise<boolean>;
  /** Some of the organization's answers that are kept for a repeat of a request, in the order of their keys. */
  keptAnswers(orgId: string, after: string | null): Promise<{ key: string; body: string }[]>;
  /** A repeat is answered this from now on. */
  replaceAnswer(
    id: string,
    answer: { orgId: string; key: string; status: number; body: string },
  ): Promise<void>;
  /** It is `clearing`, and the number is gone from it; or `done`. */
  advanceErasure(
    id: string,
    change: { state: 'clearing' } | { state: 'done'; backups: readonly BackupCopy[] },
  ): Promise<void>;
  /** Has the index of words rid itself of some of what was taken out of it. @returns whether there is more */
  clearIndex(): Promise<boolean>;
  /** Empties the write-ahead log. @returns false while somebody reads by it: to be tried again */
  emptyLog(): Promise<boolean>;
  /**
   * Writes the database's file anew, if nobody waits meanwhile: no call is on, no other daemon has it open, and it is small.
   * Done erasures say so from then on. @returns whether it was
   */
  rewriteFile(): Promise<boolean>;
  /** Whether an erasure was done after the file was last written anew. */
  awaitsRewriting(): Promise<boolean>;

  // retention
  listRetention(orgId: string): Promise<RetentionRecord[]>;
  /** Null days: no rule of its own any more. Conflict `agent_not_found`. */
  setRetention(
    orgId: string,
    agentId: string | null,
    days: KeptDays | null,
  ): Promise<RetentionRecord[] | Conflict>;
  /**
   * Calls of which a kind is older than its rule says, the oldest first, a few at a time; none that is held or not over.
   * `before`: the time now. @returns with the rule's kind, and how far to say it was swept
   */
  dueToSweep(before: string): Promise<{ kind: KeptKind; calls: SweptCall[]; done: SweepMark } | null>;
  /** Takes the kind from the calls; their files are deleted already. */
  sweep(kind: KeptKind, calls: readonly SweptCall[]): Promise<void>;
  /** They were swept up to there. */
  markSwept(mark: SweepMark): Promise<void>;
}

/** How far a rule was carried out. */
export interface SweepMark {
  orgId: string;
  /** Empty: of all agents without a rule of their own. */
  agentId: string;
  kind: KeptKind;
  /** The last call's start, and its place among those of that moment. */
  upTo: string;
  seq: number;
}
