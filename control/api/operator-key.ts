// What only the operator may ask of /v1: who has the operator's key beside an API key.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Response } from 'express';
import { AppError } from '../../errors.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** The header of a route, for the reference: `what` is impossible without the setting. */
export const operatorKeyHeader = (what: string) => ({
  name: 'Operator-Key',
  description: `The operator's key, as set in OPERATOR_KEY; without that setting ${what}.`,
});

/**
 * Refuses whoever does not send the operator's key.
 * @param what is the operator's: "The balance is"
 * @throws AppError forbidden
 */
export function operatorOnly(operatorKey: string | null, res: Response, what: string): void {
  if (operatorKey === null) {
    throw new AppError(
      'forbidden',
      `${what} the operator's to change: set OPERATOR_KEY and send it in the header "Operator-Key".`,
    );
  }
  const given = res.req.get('Operator-Key') ?? '';
  if (!timingSafeEqual(digest(given), digest(operatorKey))) {
    throw new AppError('forbidden', 'Send the operator\'s key in the header "Operator-Key".');
  }
}
