// The fields of a log line as a message carries them: errors described where they happened, all else plain.
import { describeError } from '../../log.ts';
import type { Plain } from '../protocol/messages.ts';

/** What JSON makes of the fields, errors told by type, message and stack. */
export function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, Plain> {
  const plain: Record<string, Plain> = {};
  for (const [name, value] of Object.entries(fields)) {
    const text = JSON.stringify(value instanceof Error ? describeError(value) : value);
    if (text !== undefined) plain[name] = JSON.parse(text) as Plain;
  }
  return plain;
}
