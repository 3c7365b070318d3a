// A telephone number as people write it, as E.164. PURE.
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Whether numbers can be read as those of a country (ISO 3166). */
export const isDialledCountry = (country: string): boolean => isSupportedCountry(country);

/**
 * E.164 of a number with its country's code, or of one as it is dialled within `country`; null where it is none, or has not as
 * many digits as numbers there.
 */
export function dialledNumber(text: string, country: string | null): string | null {
  const written = text.trim().replace(/^00(?=[1-9])/, '+');
  // Only digits and what people put between them: a word with a number in it is no number.
  if (!/^\+?[\d\s().\-/\u00a0]{4,40}$/.test(written)) return null;
  const parsed = parsePhoneNumberFromString(written, (country ?? undefined) as CountryCode | undefined);
  return parsed?.isPossible() === true ? parsed.number : null;
}
