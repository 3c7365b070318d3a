// What a store verb refuses, as the API's error. PURE.
import { AppError, type ErrorCode } from '../../errors.ts';
import type { Conflict } from '../../storage/store.ts';

const CONFLICTS: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  number_taken: {
    code: 'number_taken',
    message:
      'Another inbound agent answers this number; a number has one inbound agent at most. Detach it there first.',
  },
  number_not_found: {
    code: 'number_not_found',
    message: 'No active number of your organization has this id; GET /v1/numbers lists them.',
  },
  number_exists: {
    code: 'conflict',
    message: 'This number was bought a moment ago; GET /v1/numbers shows whether it is yours.',
  },
  number_attached: {
    code: 'number_attached',
    message: 'The number is attached to an agent; detach it from every agent first.',
  },
  primary_number_not_attached: {
    code: 'primary_number_not_attached',
    message: 'The number is not attached to this agent; attach it first.',
  },
  endpoint_disabled: {
    code: 'endpoint_disabled',
    message:
      'The endpoint is disabled and is sent nothing. Enable it with PATCH /v1/webhook_endpoints/{id} and {"status": "enabled"}, then send again.',
  },
  endpoint_deleted: {
    code: 'endpoint_deleted',
    message:
      'The endpoint of this delivery was removed: there is nobody to send it to. GET /v1/events?call_id=… has the event; a new endpoint is sent what happens from now on.',
  },
  too_many_endpoints: {
    code: 'conflict',
    message:
      'Your organization has 20 webhook endpoints already, which is the most; delete one that is not needed any more.',
  },
  legal_hold: {
    code: 'legal_hold',
    message:
      'A legal hold covers it, or a part of it; GET /v1/legal_holds lists them. Lift it first, if you may.',
  },
  call_live: {
    code: 'conflict',
    message: 'A call of it is live, or its result is being worked out; ask again when it is over.',
  },
  being_erased: {
    code: 'conflict',
    message: 'It is being erased already; GET /v1/erasures tells how far that is.',
  },
  numbers_active: {
    code: 'conflict',
    message:
      'The organization has telephone numbers, which the carrier would go on charging for; release them first.',
  },
  agent_not_found: {
    code: 'agent_not_found',
    message: 'No agent of your organization has this id; GET /v1/agents lists them.',
  },
  not_found: { code: 'not_found', message: 'There is no such call.' },
  email_taken: {
    code: 'conflict',
    message: 'Somebody of this organization has this e-mail address already.',
  },
  last_owner: {
    code: 'conflict',
    message: 'An organization keeps one owner at least: make somebody else an owner first.',
  },
  invitation_used: {
    code: 'forbidden',
    message: 'This link has been used, is too old, or was taken back. Ask for another one.',
  },
  name_taken: {
    code: 'conflict',
    message: 'Another organization of this daemon has this name; choose another.',
  },
  unlimited: {
    code: 'conflict',
    message: 'The organization has no balance: its credit is unlimited. Set a balance with PUT /v1/balance.',
  },
  insufficient_credit: {
    code: 'insufficient_credit',
    message: 'The balance would go below zero.',
  },
  changed_meanwhile: {
    code: 'changed_meanwhile',
    message:
      'It was changed after the time in If-Match. Read it again, and repeat your change on what it is now; without If-Match the later change stands.',
  },
  agent_archived: {
    code: 'agent_archived',
    message: 'The agent is archived and cannot be changed; create a new one.',
  },
};

/**
 * The value a verb answered.
 * @throws AppError for a conflict: its own code where it has one, else `conflict`
 */
export function settled<T extends object>(answer: T | Conflict, param?: string): T {
  if (!('conflict' in answer)) return answer as T;
  const known = CONFLICTS[answer.conflict];
  throw new AppError(
    known?.code ?? 'conflict',
    known?.message ?? 'Something changed meanwhile; read it again and repeat.',
    param === undefined ? {} : { param },
  );
}
