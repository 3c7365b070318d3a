// The words the other side heard of a line that was cut. PURE.

/**
 * Milliseconds a character of speech takes, for a line whose audio is not complete. UNVERIFIED: voices are at 60 to 70, and
 * a little slower claims a word too few rather than one that was not heard.
 */
export const MS_PER_CHARACTER = 75;

/**
 * Cuts a line after the last word that was heard in full. Models give no word times, so that text and audio are
 * taken as evenly spread; where audio is still missing, the text runs ahead of it and its length is estimated.
 * @param heardMs milliseconds confirmed by the carrier
 * @param receivedMs milliseconds of audio received
 * @param msPerCharacter how fast this voice speaks, as far as its complete lines have shown
 */
export function heardText(
  text: string,
  o: { heardMs: number; receivedMs: number; complete: boolean },
  msPerCharacter = MS_PER_CHARACTER,
): string {
  if (o.heardMs <= 0 || text === '') return '';
  const totalMs = o.complete ? o.receivedMs : Math.max(o.receivedMs, text.length * msPerCharacter);
  if (o.complete && o.heardMs >= o.receivedMs) return text;
  const upTo = Math.floor((text.length * o.heardMs) / totalMs);
  // Of audio that is not complete, the last word at least is missing.
  if (upTo >= text.length) return o.complete ? text : withoutLastWord(text);
  // A cut inside a word drops the word; a cut at its end keeps it.
  if (/\s/.test(text.charAt(upTo))) return text.slice(0, upTo).trimEnd();
  return withoutLastWord(text.slice(0, upTo));
}

function withoutLastWord(text: string): string {
  const space = text.trimEnd().search(/\s\S*$/);
  return space < 0 ? '' : text.slice(0, space).trimEnd();
}
