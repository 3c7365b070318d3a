// PURE. How much was heard of the line that comes before all else: by the lines of the transcript in which it was said. One
// that was begun again is counted anew: what was heard of the first is in the transcript.
import type { Disclosure, TranscriptUpdate } from '../protocol/messages.ts';

interface Said {
  update: TranscriptUpdate;
  heardMs: number;
}

/** Letters and figures alone: how a line is punctuated cannot be heard. */
const heardAs = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '');

export class DisclosureTold {
  readonly #text: string;
  /** By the model's item. */
  readonly #said = new Map<string, Said | null>();
  #open = true;

  constructor(text: string) {
    this.#text = text;
  }

  /** Something begins to be said while it is to be. */
  begins(itemId: string): void {
    if (this.#open) this.#said.set(itemId, null);
  }

  /** Whatever is said from now on is something else. */
  over(): void {
    this.#open = false;
  }

  /** What became of a line of the agent's. Answers the whole as it is now; null where it is another line. */
  update(itemId: string, update: TranscriptUpdate, heardMs: number | null): Disclosure | null {
    if (!this.#said.has(itemId)) return null;
    const known = this.#said.get(itemId)?.heardMs ?? 0;
    this.#said.set(itemId, { update: { ...update }, heardMs: heardMs ?? known });
    return this.record;
  }

  /** All that was said of it was heard. */
  get told(): boolean {
    const said = this.#heard();
    return said.length > 0 && said.every(({ update }) => !update.interrupted && update.heardText !== '');
  }

  get record(): Disclosure {
    const said = this.#heard();
    const heardText = said.flatMap(({ update }) => update.heardText || []).join(' ');
    const last = said.at(-1)?.update;
    return {
      text: this.#text,
      heardText,
      heardMs: Math.round(said.reduce((ms, one) => ms + one.heardMs, 0)),
      startedMs: said[0] === undefined ? null : Math.round(said[0].update.startMs),
      endedMs: last?.endMs == null ? null : Math.round(last.endMs),
      complete: this.told && heardAs(heardText).includes(heardAs(this.#text)),
    };
  }

  #heard(): Said[] {
    return [...this.#said.values()].filter((one) => one !== null);
  }
}
