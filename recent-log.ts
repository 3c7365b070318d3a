// The newest lines of the log, as they were written, for whoever may read them over the API: bounded, of this process alone.

/** A line, by its number in this process. */
export interface LogLine {
  /** Counts from 1. */
  seq: number;
  fields: Record<string, unknown>;
}

const MAX_LINES = 5_000;
/** A line that is longer is kept without what makes it so. */
const MAX_CHARACTERS = 4_000;

export class RecentLog {
  /** The newest last; line n lies at n modulo its length. */
  readonly #lines: string[] = [];
  readonly #listeners = new Set<() => void>();
  #last = 0;

  /** Takes a line as it is written: JSON, with a newline behind. */
  readonly take = (line: string): void => {
    this.#last++;
    this.#lines[this.#last % MAX_LINES] = line.length > MAX_CHARACTERS ? shortened(line) : line;
    for (const tell of this.#listeners) tell();
  };

  /** The number of the newest line; 0: there is none. */
  get last(): number {
    return this.#last;
  }

  /** Somebody waits for the next one. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** Those after a number, the oldest first; of more than are kept, those that are. */
  *after(seq: number): Generator<LogLine> {
    for (let at = Math.max(seq + 1, this.#last - MAX_LINES + 1, 1); at <= this.#last; at++) {
      const line = this.#lines[at % MAX_LINES];
      if (line !== undefined) yield { seq: at, fields: JSON.parse(line) as Record<string, unknown> };
    }
  }

  /** Is told of each line. @returns what ends that */
  onLine(tell: () => void): () => void {
    this.#listeners.add(tell);
    return () => void this.#listeners.delete(tell);
  }
}

/** What there was in a word each, and how much it was. */
function shortened(line: string): string {
  const { time, level, event, call_id, org_id } = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify({ time, level, event, call_id, org_id, characters: line.length });
}
