// Facts for a call as pairs of a form, and the JSON object that the API takes. PURE.

export interface Pair {
  key: string;
  value: string;
}

export type PairsRead = { ok: true; pairs: Pair[] } | { ok: false; message: string };

/**
 * The object of the pairs; rows that are empty are left out. Values are texts: an order number with a leading zero stays
 * what it is. Whoever needs numbers, lists or objects writes JSON.
 */
export function objectOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(
    pairs.filter((pair) => pair.key.trim() !== '').map((pair) => [pair.key.trim(), pair.value]),
  );
}

/** The pairs of an object of texts, or why it can be edited as JSON only. */
export function pairsOf(value: unknown): PairsRead {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, message: 'It must be an object in braces: { "name": "value" }.' };
  }
  const pairs: Pair[] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner !== 'string') {
      return { ok: false, message: `“${key}” is no text; the table shows texts only.` };
    }
    pairs.push({ key, value: inner });
  }
  return { ok: true, pairs };
}

/** What is wrong with the pairs, or null. */
export function faultOfPairs(pairs: readonly Pair[]): string | null {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const key = pair.key.trim();
    if (key === '' && pair.value.trim() !== '') return 'A value has no name; give it one, or take it out.';
    if (key !== '' && seen.has(key)) return `“${key}” is there twice.`;
    seen.add(key);
  }
  return null;
}
