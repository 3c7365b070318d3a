// Rows <-> records of whom an organization may call. PURE.
import type { ConsentRecord, DoNotCallRecord, RefusedCallRecord } from '../outbound/outbound-records.ts';
import { table } from './rows.ts';

export const DO_NOT_CALL = table<DoNotCallRecord>('do_not_call', {
  id: 'value',
  org_id: 'value',
  number_hash: 'value',
  number: 'value',
  last4: 'value',
  reason: 'value',
  source: 'value',
  call_id: 'value',
  item_id: 'value',
  at_ms: 'value',
  created_by: 'json',
  created_at: 'value',
});

export const CONSENTS = table<ConsentRecord>('consents', {
  id: 'value',
  org_id: 'value',
  number_hash: 'value',
  number: 'value',
  last4: 'value',
  purpose: 'value',
  source: 'value',
  given_at: 'value',
  evidence: 'json',
  revoked_at: 'value',
  created_by: 'json',
  created_at: 'value',
});

export const REFUSED_CALLS = table<RefusedCallRecord>('refused_calls', {
  id: 'value',
  org_id: 'value',
  to_number: 'value',
  last4: 'value',
  from_number: 'value',
  agent_id: 'value',
  code: 'value',
  reason: 'value',
  evidence: 'json',
  codes: 'json',
  asked_by: 'json',
  created_at: 'value',
});
