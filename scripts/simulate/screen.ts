// What a person sees in the terminal: lines of what happens, and on a terminal one status line below them that is written
// over in place. Without a terminal, plain lines. What others wrote is shown and never obeyed. Decides nothing.
import { styleText } from 'node:util';
import { visible, visibleLine } from '../../terminal-text.ts';
import type { Check } from './checks.ts';

type Style = Parameters<typeof styleText>[0];
export type Who =
  | 'setup'
  | 'call'
  | 'person'
  | 'voicemail'
  | 'agent'
  | 'webhook'
  | 'tool'
  | 'timing'
  | 'barge-in'
  | 'network';

const STYLES: Record<Who, Style> = {
  setup: 'dim',
  call: 'bold',
  person: 'cyan',
  voicemail: 'cyan',
  agent: 'green',
  webhook: 'dim',
  tool: 'magenta',
  timing: 'dim',
  'barge-in': 'yellow',
  network: 'dim',
};
const LABEL_WIDTH = 9;
const TIME_WIDTH = 8;
const LEAST_COLUMNS = 64;
/** The columns that the status line needs besides the two strips. */
const STATUS_WIDTH = 58;
const MOST_STRIP = 24;
const STRIP_MS = 250;

export interface Live {
  state: string;
  person: boolean;
  agent: boolean;
  /** Replaces the two voices, when several calls run. */
  note?: string;
}

/** Cuts a text into lines of at most `width` characters, between words. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(line);
  return lines;
}

export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly #tty: boolean;
  #startedAt = performance.now();
  #live: Live | null = null;
  #strip: { person: boolean; agent: boolean }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #shown = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#tty = out.isTTY === true;
  }

  /** Times are counted from now on. */
  start(): void {
    this.#startedAt = performance.now();
  }

  heading(text: string): void {
    this.#print(`\n${this.#paint('bold', visible(text))}`);
  }

  text(text: string): void {
    for (const line of wrap(visible(text), Math.min(100, this.#columns() - 2))) this.#print(line);
  }

  blank(): void {
    this.#print('');
  }

  /** One thing that happened, at the time of the call. */
  line(who: Who, text: string): void {
    const at = `${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`.padStart(TIME_WIDTH);
    const width = Math.max(30, Math.min(110, this.#columns()) - TIME_WIDTH - LABEL_WIDTH - 4);
    const [first = '', ...rest] = this.#out.isTTY ? wrap(visible(text), width) : [visibleLine(text)];
    this.#print(
      `${this.#paint('dim', at)}  ${this.#paint(STYLES[who], who.padEnd(LABEL_WIDTH))} ${this.#text(who, first)}`,
    );
    for (const more of rest)
      this.#print(`${' '.repeat(TIME_WIDTH + LABEL_WIDTH + 3)}${this.#text(who, more)}`);
  }

  check({ ok, name, detail }: Check): void {
    const sign = ok ? this.#paint('green', 'ok  ') : this.#paint(['red', 'bold'], 'FAIL');
    this.#print(`  ${sign}  ${visible(name)}: ${this.#paint(ok ? 'dim' : 'red', visible(detail))}`);
  }

  verdict(ok: boolean, text: string): void {
    this.#print(`\n${this.#paint(ok ? ['green', 'bold'] : ['red', 'bold'], visible(text))}`);
  }

  /** Rows of equal columns, the first row being the head unless `head` is false. */
  table(given: readonly (readonly string[])[], o: { head: boolean } = { head: true }): void {
    const rows = given.map((row) => row.map(visibleLine));
    const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
    for (const [index, row] of rows.entries()) {
      const line = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ');
      this.#print(`  ${index === 0 && o.head ? this.#paint('dim', line) : line}`);
    }
  }

  /** What the status line shows from now on; null takes it away. */
  live(live: Live | null): void {
    this.#live = live?.note === undefined ? live : { ...live, note: visibleLine(live.note) };
    if (!this.#tty) return;
    if (live === null) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      this.#erase();
      return;
    }
    this.#timer ??= setInterval(() => {
      const { person, agent } = this.#live ?? { person: false, agent: false };
      this.#strip.push({ person, agent });
      if (this.#strip.length > MOST_STRIP) this.#strip.shift();
      this.#redraw();
    }, STRIP_MS);
  }

  close(): void {
    this.live(null);
  }

  #columns(): number {
    return this.#tty ? Math.max(LEAST_COLUMNS, this.#out.columns ?? 100) : 100;
  }

  #text(who: Who, text: string): string {
    return who === 'webhook' || who === 'setup' || who === 'timing' || who === 'network'
      ? this.#paint('dim', text)
      : text;
  }

  #paint(style: Style, text: string): string {
    return text === '' ? '' : styleText(style, text, { stream: this.#out });
  }

  #print(line: string): void {
    this.#erase();
    this.#out.write(`${line}\n`);
    this.#redraw();
  }

  #erase(): void {
    if (this.#shown) this.#out.write('\r\x1b[2K');
    this.#shown = false;
  }

  #redraw(): void {
    const live = this.#live;
    if (!this.#tty || live === null) return;
    const at = `${((performance.now() - this.#startedAt) / 1000).toFixed(0)} s`;
    // A line that is too long would wrap, and could not be written over.
    const length = Math.min(MOST_STRIP, Math.floor((this.#columns() - STATUS_WIDTH) / 2));
    const strip = (who: 'person' | 'agent') =>
      this.#strip
        .map((one) => (one[who] ? '▇' : '▁'))
        .slice(-length)
        .join('')
        .padStart(length, '▁');
    const floor = live.person
      ? live.agent
        ? 'both speak'
        : 'the person speaks'
      : live.agent
        ? 'the agent speaks'
        : 'silence';
    const text =
      live.note === undefined
        ? ` ${this.#paint('dim', at.padStart(5))}  ${live.state.padEnd(11)}  person ${this.#paint('cyan', strip('person'))}  agent ${this.#paint('green', strip('agent'))}  ${floor}`
        : ` ${this.#paint('dim', at.padStart(5))}  ${live.note}`;
    this.#erase();
    this.#out.write(text);
    this.#shown = true;
  }
}
