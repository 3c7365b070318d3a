// What the command line prints: tables and facts for people, JSON for programs, colours where they are seen.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stripVTControlCharacters, styleText } from 'node:util';

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
  /** Name and value, one a line. */
  facts(pairs: readonly (readonly [string, string | null | undefined])[]): void;
  columns: number;
}

const GAP = '  ';
const LEAST_WIDTH = 60;

/** All that moves a terminal's cursor or does worse; colours, line ends and tabs stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COMMANDS = /\u001b(?!\[[\d;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** A text that others wrote (a name, a transcript, an error) as a terminal may have it. */
export const harmless = (text: string) => text.replace(COMMANDS, '');

const width = (text: string) => [...stripVTControlCharacters(text)].length;
const padded = (text: string, to: number) => text + ' '.repeat(Math.max(0, to - width(text)));

/** @param o.color `false` for --no-color; else what the stream and NO_COLOR, FORCE_COLOR say */
export function createOutput(streams: Streams, o: { json: boolean; color: boolean }): Output {
  const paint = (style: Style, text: string) =>
    o.color ? styleText(style, text, { stream: streams.out, validateStream: true }) : text;
  const columns = Math.max(LEAST_WIDTH, streams.out.columns ?? 100);
  const line = (text = '') => void streams.out.write(`${harmless(text)}\n`);

  const live = streams.out.isTTY === true && !o.json;
  let status = '';

  return {
    json: o.json,
    columns,
    paint,
    data: (value) => line(JSON.stringify(value, null, 2)),
    line,
    status(text) {
      if (!live) return;
      if (status !== '') streams.out.write('\r\u001b[2K');
      status = harmless(text);
      if (status !== '') streams.out.write(status);
    },
    bytes: (source) => pipeline(source, streams.out, { end: false }),
    note: (text) => void streams.err.write(`${harmless(text)}\n`),
    table(heads, rows, none) {
      if (rows.length === 0) return line(paint('dim', none));
      const widths = heads.map((head, at) =>
        Math.max(width(head), ...rows.map((row) => width(row[at] ?? ''))),
      );
      const print = (cells: readonly string[], style: Style | null) =>
        line(
          cells
            .map((cell, at) => {
              // The last column is not padded: it may be long, and a terminal would wrap its blanks.
              const text = at === cells.length - 1 ? cell : padded(cell, widths[at] ?? 0);
              return style === null ? text : paint(style, text);
            })
            .join(GAP),
        );
      print(
        heads.map((head) => head.toUpperCase()),
        'dim',
      );
      for (const row of rows) print(row, null);
    },
    facts(pairs) {
      const shown = pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
      const most = Math.max(...shown.map(([name]) => width(name)));
      for (const [name, value] of shown) {
        const [first = '', ...more] = value.split('\n');
        line(`${paint('dim', padded(name, most))}${GAP}${first}`);
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
