// Prices and credit: cents and milli-cents as dollars, and dollars as a person types them. PURE.

/** A thousandth of a cent is the unit of credit. */
const MILLI_CENTS_A_DOLLAR = 100_000;

/** The price of a number: `$1.15`. */
export function monthlyPrice(cents: number): string {
  return `$${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Milli-cents as the field for dollars shows them, so that reading them back gives the same. */
export function dollarsOf(milliCents: number): string {
  const sign = milliCents < 0 ? '-' : '';
  const size = Math.abs(milliCents);
  const rest = String(size % MILLI_CENTS_A_DOLLAR)
    .padStart(5, '0')
    .replace(/0{1,3}$/, '');
  return `${sign}${Math.floor(size / MILLI_CENTS_A_DOLLAR)}.${rest}`;
}

/** `$1,250.50` as milli-cents, exact; null when it is no amount of whole milli-cents. */
export function readDollars(typed: string): number | null {
  const match = /^(-|−)?\$?(-|−)?((?:\d{1,3}(?:,\d{3})+|\d+))(?:\.(\d{1,5}))?$/.exec(
    typed.trim().replace(/\s/g, ''),
  );
  if (match === null || (match[1] !== undefined && match[2] !== undefined)) return null;
  const dollars = Number((match[3] ?? '').replaceAll(',', ''));
  const rest = Number((match[4] ?? '').padEnd(5, '0'));
  const size = dollars * MILLI_CENTS_A_DOLLAR + rest;
  if (!Number.isSafeInteger(size)) return null;
  return size !== 0 && (match[1] !== undefined || match[2] !== undefined) ? -size : size;
}
