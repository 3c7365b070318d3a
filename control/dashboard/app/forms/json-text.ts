// Reading JSON that a person types: the value, or where it stops being JSON and what to do about it. PURE.
// Engines word their faults differently, and some name no place; hence a reader of our own for the fault.

export interface JsonFault {
  /** Counted from 1. */
  line: number;
  column: number;
  /** Goes on after the place: `a comma is missing before this`. */
  message: string;
}

export type JsonRead = { ok: true; value: unknown } | { ok: false; fault: JsonFault };

class Stop extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

function shown(character: string | undefined): string {
  return character === undefined ? 'the end' : `“${character}”`;
}

/** Walks the text by RFC 8259 and throws Stop at the first fault; a name given twice is one too. */
function walk(text: string): void {
  let at = 0;

  const skipSpace = () => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
    if (text.startsWith('//', at) || text.startsWith('/*', at)) {
      throw new Stop(at, 'JSON has no comments; take it out');
    }
  };

  const string = (): string => {
    const start = at;
    at++;
    for (;;) {
      const character = text[at];
      if (character === undefined) throw new Stop(start, 'this text has no closing quote');
      if (character === '"') break;
      if (character < ' ') {
        const what = character === '\n' || character === '\r' ? 'a line break' : 'a control character';
        throw new Stop(at, `${what} may not stand inside a text; write \\n, or close the quote before it`);
      }
      if (character === '\\') {
        const escaped = /^\\(["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at, at + 6));
        if (escaped === null) throw new Stop(at, 'a backslash stands alone; write \\\\ for one');
        at += escaped[0].length;
      } else at++;
    }
    at++;
    return JSON.parse(text.slice(start, at)) as string;
  };

  const word = (): void => {
    const found = /^[A-Za-z_$][\w$]*/.exec(text.slice(at, at + 80))?.[0];
    if (found === undefined) throw new Stop(at, `${shown(text[at])} cannot begin a value`);
    if (found === 'true' || found === 'false' || found === 'null') {
      at += found.length;
      return;
    }
    const lower = found.toLowerCase();
    if (lower === 'true' || lower === 'false' || lower === 'null' || lower === 'none') {
      throw new Stop(at, `write ${lower === 'none' ? 'null' : lower} instead of ${found}`);
    }
    throw new Stop(at, `${found} needs double quotes around it`);
  };

  const number = (): void => {
    const found = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(text.slice(at, at + 400))?.[0];
    const after = found === undefined ? '' : (text[at + found.length] ?? '');
    if (found === undefined || /[\w.]/.test(after)) {
      throw new Stop(at, 'this is no number; write 12, 0.5 or -3, or put quotes around it');
    }
    at += found.length;
  };

  const object = (depth: number): void => {
    const open = at++;
    const names = new Set<string>();
    skipSpace();
    if (text[at] === '}') {
      at++;
      return;
    }
    for (;;) {
      skipSpace();
      const begin = at;
      if (text[at] === undefined) throw new Stop(open, 'this { is never closed; add a }');
      if (text[at] === '}') throw new Stop(at, 'take out the comma before this }');
      if (text[at] === ',') throw new Stop(at, 'there is a comma too many');
      if (text[at] === "'") throw new Stop(at, 'use double quotes');
      if (text[at] !== '"') throw new Stop(at, 'a name in double quotes is expected here');
      const name = string();
      if (names.has(name)) throw new Stop(begin, `the name ${JSON.stringify(name)} is there twice`);
      names.add(name);
      skipSpace();
      if (text[at] !== ':') throw new Stop(at, `a colon is expected after ${JSON.stringify(name)}`);
      at++;
      value(depth + 1);
      skipSpace();
      if (text[at] === ',') {
        at++;
        continue;
      }
      if (text[at] === '}') {
        at++;
        return;
      }
      if (text[at] === undefined) throw new Stop(open, 'this { is never closed; add a }');
      if (text[at] === ']') throw new Stop(at, 'this ] closes a {; write }');
      throw new Stop(at, 'a comma is missing before this');
    }
  };

  const list = (depth: number): void => {
    const open = at++;
    skipSpace();
    if (text[at] === ']') {
      at++;
      return;
    }
    for (;;) {
      skipSpace();
      if (text[at] === ']') throw new Stop(at, 'take out the comma before this ]');
      if (text[at] === undefined) throw new Stop(open, 'this [ is never closed; add a ]');
      value(depth + 1);
      skipSpace();
      if (text[at] === ',') {
        at++;
        continue;
      }
      if (text[at] === ']') {
        at++;
        return;
      }
      if (text[at] === undefined) throw new Stop(open, 'this [ is never closed; add a ]');
      if (text[at] === '}') throw new Stop(at, 'this } closes a [; write ]');
      throw new Stop(at, 'a comma is missing before this');
    }
  };

  const value = (depth: number): void => {
    if (depth > 200) throw new Stop(at, 'it is nested too deep');
    skipSpace();
    const character = text[at];
    if (character === undefined) throw new Stop(at, 'a value is missing at the end');
    if (character === '{') object(depth);
    else if (character === '[') list(depth);
    else if (character === '"') string();
    else if (character === '-' || (character >= '0' && character <= '9')) number();
    else if (character === "'" || character === '“' || character === '”') {
      throw new Stop(at, 'use straight double quotes: "');
    } else if (character === '}' || character === ']' || character === ',') {
      throw new Stop(at, `a value is missing before ${shown(character)}`);
    } else word();
  };

  skipSpace();
  value(0);
  skipSpace();
  if (at < text.length)
    throw new Stop(at, `nothing may follow the end of the value, but ${shown(text[at])} does`);
}

/** What `text` holds, or the first fault in it. A name given twice is a fault: one of the two would be lost. */
export function readJson(text: string): JsonRead {
  try {
    walk(text);
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    const at = error instanceof Stop ? error.at : 0;
    const before = text.slice(0, at);
    const lastBreak = before.lastIndexOf('\n');
    return {
      ok: false,
      fault: {
        line: before.split('\n').length,
        column: at - lastBreak,
        message: error instanceof Error ? error.message : 'this is no JSON',
      },
    };
  }
}

/** `Line 3, column 5: a comma is missing before this.` */
export function sayFault(fault: JsonFault): string {
  return `Line ${fault.line}, column ${fault.column}: ${fault.message}.`;
}

/** As the editors show a value: two spaces, and lists of words on one line. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /\[\n\s+("(?:[^"\\\n]|\\.)*"(?:,\n\s+"(?:[^"\\\n]|\\.)*")*)\n\s+\]/g,
    (whole, inner: string) => {
      const line = `[${inner.split(/,\n\s+/).join(', ')}]`;
      return line.length <= 80 ? line : whole;
    },
  );
}
