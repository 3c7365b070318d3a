// PURE. Fields of Twilio's answers as several of its resources have them.
import * as z from 'zod';

/** Twilio writes numbers as strings or null; both are taken. */
export const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => value ?? null);

/** A kind of number as the API spells it, from any of the carrier's spellings: `toll free`, `tollfree`, `TollFree`. */
export function kindOf(said: string): string {
  const letters = said.toLowerCase().replace(/[^a-z]/g, '');
  return letters === 'tollfree' ? 'toll_free' : letters;
}
