// Rows <-> records of legal holds and erasures. PURE.
import type { ErasedFile, ErasureRecord, HoldRecord } from '../kept-records.ts';
import { table } from './rows.ts';

export const HOLDS = table<HoldRecord>('legal_holds', {
  id: 'value',
  org_id: 'value',
  subject: 'value',
  call_id: 'value',
  number: 'value',
  reason: 'value',
  created_by: 'json',
  created_at: 'value',
  lifted_by: 'json',
  lifted_at: 'value',
});

export const ERASURES = table<ErasureRecord>('erasures', {
  id: 'value',
  org_id: 'value',
  subject: 'value',
  call_id: 'value',
  number: 'value',
  number_hash: 'value',
  reason: 'value',
  state: 'value',
  requested_by: 'json',
  counts: 'json',
  backups: 'json',
  created_at: 'value',
  done_at: 'value',
  rewritten_at: 'value',
});

export const ERASED_FILES = table<ErasedFile>('erased_files', {
  path: 'value',
  bytes: 'value',
  sha256: 'value',
});
