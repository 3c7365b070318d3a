// Untrusted values as text that a prompt may carry: JSON in which nothing can end a fence or forge a line. PURE.
// What the model is told about such data is said where it is used.

// Backticks end a fence, angle brackets forge tags; control, format, private and unassigned characters (\p{C}) hide text
// from people or turn its direction; \p{Zl} and \p{Zp} are line ends outside JSON. "\n" comes from the indentation only.
const UNSAFE = /[`<>\p{Zl}\p{Zp}]|[^\P{C}\n]/gu;

function escapeUnits(text: string): string {
  let escaped = '';
  for (let i = 0; i < text.length; i += 1) {
    escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/**
 * A JSON value as JSON text that JSON.parse reads back unchanged, without any character that could break a fence.
 * `indent` spaces a level; 0 gives one line.
 */
export function quoteData(value: unknown, indent = 0): string {
  // Outside of strings JSON holds none of these characters, so every escape lands inside of one.
  return (JSON.stringify(value, null, indent) ?? 'null').replace(UNSAFE, escapeUnits);
}

/** A JSON value as a fenced block. */
export function fenceData(value: unknown): string {
  return `\`\`\`json\n${quoteData(value, 2)}\n\`\`\``;
}

/** Text cut to at most `maxBytes` of UTF-8, never inside a character. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
