// Rows <-> records of whom an organization may call. PURE.
import type { DoNotCallRecord } from '../outbound/outbound-records.ts';
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
