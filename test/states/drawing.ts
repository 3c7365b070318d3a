// The drawings of docs/states.md: arrows as a test meets them while it drives a machine through all that can happen.
// `npm run states` writes them anew; otherwise the test holds the page to what it met.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Test } from 'tap';

const PAGE = resolve(import.meta.dirname, '../../docs/states.md');
/** An arrow with more events than this has the rest counted. */
const MOST_EVENTS = 4;

export class Drawing {
  readonly #name: string;
  readonly #first: string;
  readonly #listed: ReadonlyMap<string, Map<string, Set<string>>>;
  readonly #arrows = new Map<string, Map<string, Set<string>>>();
  readonly #states: Set<string>;

  /**
   * @param name of the drawing's place in the page; `first`: the state it begins in
   * @param listed events that come in nearly every state: told below the drawing, which they would cover
   */
  constructor(name: string, first: string, listed: readonly string[] = []) {
    this.#name = name;
    this.#first = first;
    this.#listed = new Map(listed.map((event) => [event, new Map()]));
    this.#states = new Set([first]);
  }

  /** The machine went from one state to another at this event; staying is not drawn. */
  arrow(from: string, event: string, to: string): void {
    this.#states.add(from).add(to);
    if (from === to) return;
    const listed = this.#listed.get(event);
    if (listed !== undefined) add(listed, to, from);
    else {
      const targets = this.#arrows.get(from) ?? new Map<string, Set<string>>();
      this.#arrows.set(from, targets);
      add(targets, to, event);
    }
  }

  /** Mermaid's text, the same whatever order the arrows were met in. */
  toString(): string {
    const id = (state: string) => state.replaceAll(/[^a-z0-9]/gi, '_');
    const states = [...this.#states].sort();
    const lines = states.filter((state) => id(state) !== state).map((one) => `state "${one}" as ${id(one)}`);
    lines.push(`[*] --> ${id(this.#first)}`);
    for (const from of states) {
      const targets = [...(this.#arrows.get(from) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [to, events] of targets) {
        const all = [...events].sort();
        const more = all.length > MOST_EVENTS ? [`${all.length - MOST_EVENTS + 1} more`] : [];
        const shown = more.length > 0 ? all.slice(0, MOST_EVENTS - 1) : all;
        lines.push(`${id(from)} --> ${id(to)}: ${[...shown, ...more].join(', ')}`);
      }
      if (targets.length === 0) lines.push(`${id(from)} --> [*]`);
    }
    const list = [...this.#listed].map(([event, targets]) => {
      const ways = [...targets].sort(([a], [b]) => (a < b ? -1 : 1));
      const begins = (to: string, from: ReadonlySet<string>) => {
        const others = states.filter((state) => state !== to && !from.has(state));
        if (others.length === 0) return 'all others';
        return others.length < from.size ? `all but ${others.join(', ')}` : [...from].sort().join(', ');
      };
      return `- \`${event}\`: ${ways.map(([to, from]) => `to *${to}* from ${begins(to, from)}`).join('; ')}.`;
    });
    return [
      '```mermaid',
      'stateDiagram-v2',
      ...lines.map((line) => `    ${line}`),
      '```',
      ...(list.length > 0 ? ['', 'Beside these, in nearly every state:', '', ...list] : []),
    ].join('\n');
  }

  /** Holds the page to this drawing, or writes it there. */
  hold(t: Test): void {
    const [begin, end] = [`<!-- ${this.#name} -->\n`, `\n<!-- /${this.#name} -->`];
    const page = readFileSync(PAGE, 'utf8');
    const from = page.indexOf(begin) + begin.length;
    const to = page.indexOf(end);
    if (from < begin.length || to < from) throw new Error(`docs/states.md has no place for ${this.#name}`);
    const drawing = this.toString();
    if (process.env.STATES === 'write') writeFileSync(PAGE, page.slice(0, from) + drawing + page.slice(to));
    else t.equal(page.slice(from, to), drawing, 'docs/states.md is as the machine is: npm run states');
  }
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  map.set(key, (map.get(key) ?? new Set<string>()).add(value));
}
