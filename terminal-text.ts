// Text that others wrote (a name, words of a call, an error) as a terminal or a log may have it. PURE.

/**
 * What a terminal obeys and no eye sees: control characters, marks that turn the direction of writing, line and paragraph
 * separators, other format characters, halves of surrogate pairs. The two joiners are letters' and emoji's own, and the
 * Arabic number signs are seen.
 */
const OBEYED = /(?!\n|\t|\u200c|\u200d|[\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Shows what is meant to be obeyed, as `\u001b`; line ends and tabs stay. JSON stays the JSON that it was. */
export const visible = (text: string): string =>
  text.replace(OBEYED, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The same in one line: line ends and tabs are shown too. */
export const visibleLine = (text: string): string =>
  visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
