// What the command line prints: tables and facts for people, JSON for programs, colours where they are seen.
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { visible, visibleLine } from '../../terminal-text.ts';

type Style = Parameters<typeof styleText>[0];

export interface Streams {
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
}

export interface Output {
  /** Programs read: one JSON document on stdout, nothing else there. */
  readonly json: boolean;
  paint(style: Style, text: string): string;
  /** The document, or with `--json` nothing else. */
  data(value: unknown): void;
  line(text?: string): void;
  /** Below the lines, written over by the next one; '' takes it away. Nothing where stdout is no terminal. */
  status(text: string): void;
  /** A file on stdout, as it is. */
  bytes(source: Readable): Promise<void>;
  /** On stderr: what happens meanwhile. */
  note(text: string): void;
  /** A table; an empty one says `none`. */
  table(columns: readonly string[], rows: readonly (readonly string[])[], none: string): void;
  /** Name and value, one per line. */
  facts(pairs: readonly (readonly [string, string | null | undefined])[]): void;
}

const GAP = '  ';

/** Stands for the escape character of our own colours until a text is written: nobody can have put it into a text of theirs. */
const OWN = `\u{f0000}${randomBytes(8).toString('hex')}\u{f0001}`;
const OWN_STYLE = new RegExp(`${OWN}\\[[\\d;]*m`, 'gu');

/** All that is written goes through here: our own colours are obeyed, whatever else would be is shown. */
const written = (text: string) => visible(text).replaceAll(OWN, '\u001b');

/** Columns that a line takes on a terminal. */
const width = (text: string) => stringWidth(text.replace(OWN_STYLE, ''));
const padded = (text: string, to: number) => text + ' '.repeat(Math.max(0, to - width(text)));

/** A text in lines of at most `most` columns, between words where there are any. Colours stay on the line they begin on. */
function wrapped(text: string, most: number): string[] {
  if (width(text) <= most) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && width(line) + 1 + width(word) > most) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
    while (width(line) > most && !line.includes(OWN)) {
      const letters = [...line];
      let cut = letters.length;
      while (cut > 1 && width(letters.slice(0, cut).join('')) > most) cut--;
      lines.push(letters.slice(0, cut).join(''));
      line = letters.slice(cut).join('');
    }
  }
  return [...lines, line];
}

/** The columns of a table on as many lines as they need, each line but the first set in by a gap. */
function columnsByLine(widths: readonly number[], most: number): number[][] {
  const lines: number[][] = [];
  let left = 0;
  for (const [at, wide] of widths.entries()) {
    const line = lines.at(-1);
    if (line !== undefined && GAP.length + wide <= left) {
      line.push(at);
      left -= GAP.length + wide;
    } else {
      left = most - wide - (lines.length === 0 ? 0 : GAP.length);
      lines.push([at]);
    }
  }
  return lines;
}

/** @param o.color `false` for --no-color; else what the stream and NO_COLOR, FORCE_COLOR say */
export function createOutput(streams: Streams, o: { json: boolean; color: boolean }): Output {
  const paint = (style: Style, text: string) => {
    if (!o.color) return text;
    const [before = '', after = ''] = styleText(style, '\0', {
      stream: streams.out,
      validateStream: true,
    }).split('\0');
    return `${before.replaceAll('\u001b', OWN)}${text}${after.replaceAll('\u001b', OWN)}`;
  };
  /** A pipe takes lines as long as they are: a program reads them. */
  const columns = streams.out.isTTY === true ? (streams.out.columns ?? 80) : Number.POSITIVE_INFINITY;
  const line = (text = '') => void streams.out.write(`${written(text)}\n`);

  const live = streams.out.isTTY === true && !o.json;
  let status = '';

  return {
    json: o.json,
    paint,
    data: (value) => line(JSON.stringify(value, null, 2)),
    line,
    status(text) {
      if (!live) return;
      if (status !== '') streams.out.write('\r\u001b[2K');
      status = written(text);
      if (status !== '') streams.out.write(status);
    },
    bytes: (source) => pipeline(source, streams.out, { end: false }),
    note: (text) => void streams.err.write(`${written(text)}\n`),
    table(heads, rows, none) {
      if (rows.length === 0) return line(paint('dim', none));
      const cells = rows.map((row) => heads.map((_head, at) => visibleLine(row[at] ?? '')));
      const widths = heads.map((head, at) =>
        Math.max(width(head), ...cells.map((row) => width(row[at] ?? ''))),
      );
      const lines = columnsByLine(widths, columns);
      const print = (row: readonly string[], style: Style | null) => {
        for (const [number, ats] of lines.entries()) {
          const indent = number === 0 ? '' : GAP;
          const shown = ats.map((at, place) =>
            // The last of a line is not padded: a terminal would wrap its blanks.
            place === ats.length - 1 ? (row[at] ?? '') : padded(row[at] ?? '', widths[at] ?? 0),
          );
          const text = shown
            .map((cell) => (style === null ? cell : paint(style, cell)))
            .join(GAP)
            .trimEnd();
          if (number > 0 && text === '') continue;
          // A line of one cell may still be too long for the terminal.
          for (const part of ats.length === 1 ? wrapped(text, columns - indent.length) : [text]) {
            line(indent + part);
          }
        }
      };
      print(
        heads.map((head) => head.toUpperCase()),
        'dim',
      );
      for (const row of cells) print(row, null);
    },
    facts(pairs) {
      const shown = pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
      const names = shown.map(([name]) => visibleLine(name));
      const most = Math.max(...names.map(width));
      for (const [at, [, value]] of shown.entries()) {
        const [first = '', ...more] = value.split('\n');
        line(`${paint('dim', padded(names[at] ?? '', most))}${GAP}${first}`);
        for (const next of more) line(`${' '.repeat(most)}${GAP}${next}`);
      }
    },
  };
}

/** 3 m 05 s; a dash for null. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, '0')} s`;
}

/** Thousandths of a cent as dollars. */
export const money = (milliCents: number | null): string =>
  milliCents === null ? '–' : `$${(milliCents / 100_000).toFixed(milliCents % 1000 === 0 ? 2 : 4)}`;

/** A time as the reader's clock shows it, without the date where it is today. */
export function when(iso: string | null, now: Date): string {
  if (iso === null) return '–';
  const at = new Date(iso);
  const clock = at.toLocaleTimeString('en-GB');
  if (at.toDateString() === now.toDateString()) return clock;
  const day = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;
  return `${day} ${clock}`;
}

/** A text in one line of at most `most` characters. */
export function short(text: string, most: number): string {
  const one = text.replace(/\s+/g, ' ').trim();
  return [...one].length <= most ? one : `${[...one].slice(0, most - 1).join('')}…`;
}
