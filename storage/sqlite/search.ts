// A search among calls: numbers, agents' names and spoken words, each by an index, so that only the calls found are read.
import type { Value } from './rows.ts';

/** A condition of a list, with the values of its question marks. */
export interface Where {
  sql: string;
  value: Value | readonly Value[] | undefined;
}

/** The newest stretches of speech that a search looks at, all organizations together: a common word is in most of them. */
const MAX_STRETCHES = 50_000;
/** Fewer digits are in nearly every number. */
const MIN_DIGITS = 3;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, (sign) => `\\${sign}`);

/** All the words, the last one also as the beginning of one; null where there is no word. Nothing of it is FTS5's syntax. */
export function wordsQuery(text: string): string | null {
  const words = text.match(/[\p{L}\p{N}]+/gu);
  return words === null ? null : `${words.map((word) => `"${word}"`).join(' ')} *`;
}

/** The condition that a call is among those found. */
export function searched(orgId: string, text: string): Where {
  const parts = [
    `SELECT calls.seq FROM agents JOIN calls ON calls.org_id = agents.org_id AND calls.agent_id = agents.id
     WHERE agents.org_id = ? AND agents.name LIKE ? ESCAPE '\\'`,
  ];
  const values: Value[] = [orgId, `%${escapeLike(text)}%`];
  const digits = /^[\d\s()+./-]+$/.test(text) ? text.replace(/\D/g, '') : '';
  if (digits.length >= MIN_DIGITS) {
    for (const column of ['to_number', 'from_number']) {
      parts.push(`SELECT seq FROM calls WHERE org_id = ? AND ${column} LIKE ?`);
      values.push(orgId, `%${digits}%`);
    }
  }
  const words = wordsQuery(text);
  if (words !== null) {
    parts.push(
      `SELECT calls.seq FROM (SELECT rowid AS stretch FROM spoken_words WHERE spoken_words MATCH ?
         ORDER BY rowid DESC LIMIT ${MAX_STRETCHES})
       JOIN transcript_items ON transcript_items.seq = stretch JOIN calls ON calls.id = transcript_items.call_id`,
    );
    values.push(words);
  }
  return { sql: `calls.seq IN (${parts.join(' UNION ')})`, value: values };
}
