// PURE. Twilio's words for the state of a call, of the resource and of its callbacks, in ours.
import type { CarrierStatus } from '../carrier.ts';

const STATUSES: Record<string, CarrierStatus> = {
  queued: 'queued',
  initiated: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
  answered: 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
  canceled: 'canceled',
};

/** Null for a status that is not known. */
export function carrierStatus(said: string): CarrierStatus | null {
  return Object.hasOwn(STATUSES, said) ? (STATUSES[said] ?? null) : null;
}
