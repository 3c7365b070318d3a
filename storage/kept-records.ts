// The records of what is kept for how long, of erasures with their receipts, and of legal holds. PURE.
import type { CallRecord } from './records.ts';

/** Who asked for something: a key or a person, as they were called then. */
export interface AskedBy {
  kind: 'key' | 'user';
  id: string;
  name: string;
}

export const SUBJECTS = ['call', 'number', 'organization'] as const;
/** What is erased or held: a call, all calls with a number, all of an organization. */
export type Subject = (typeof SUBJECTS)[number];

export interface HoldRecord {
  id: string;
  org_id: string;
  subject: Subject;
  call_id: string | null;
  number: string | null;
  reason: string;
  created_by: AskedBy;
  created_at: string;
  lifted_by: AskedBy | null;
  lifted_at: string | null;
}

export interface ErasedFile {
  /** Relative to the data folder. */
  path: string;
  bytes: number;
  /** Of what was in it, hex. */
  sha256: string;
}

/** A copy of the database that was made before an erasure, and is still there. */
export interface BackupCopy {
  path: string;
  made_at: string;
}

/**
 * `running`: rows and files are being erased. `clearing`: nothing names it any more; the index of words and the log of the
 * database are being rid of what they still held. `done`.
 */
export const ERASURE_STATES = ['running', 'clearing', 'done'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];

/** An erasure, and afterwards its receipt. */
export interface ErasureRecord {
  id: string;
  org_id: string;
  subject: Subject;
  call_id: string | null;
  /** Only until it is erased. */
  number: string | null;
  /** HMAC-SHA-256 of the number under the organization's salt, hex. */
  number_hash: string | null;
  reason: string | null;
  state: ErasureState;
  requested_by: AskedBy;
  /** Rows by table, files and kept answers. */
  counts: Record<string, number>;
  backups: BackupCopy[];
  created_at: string;
  done_at: string | null;
  /** When the database's file was next written anew, so that not even free space of it held anything of before; null: not yet. */
  rewritten_at: string | null;
}

/** How many days each kind is kept, from the start of the call on; null: for ever. */
export const KEPT_KINDS = ['recordings', 'transcripts', 'events', 'deliveries', 'calls'] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];
export type KeptDays = Record<KeptKind, number | null>;

export interface RetentionRecord {
  org_id: string;
  /** Null: of all agents that have no days of their own, and of calls without one. */
  agent_id: string | null;
  days: KeptDays;
  updated_at: string;
}

/** A call that something is to be taken from. */
export type SweptCall = Pick<CallRecord, 'id' | 'org_id' | 'created_at' | 'recording_path'>;
