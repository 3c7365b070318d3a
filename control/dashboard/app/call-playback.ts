// PURE. The agent's voice between the network and the ear: a small jitter buffer of samples at 8 kHz, and the marks
// between them. Time is counted in samples read, so that the audio device's clock is the only one.
import { LINE_RATE_HZ, MULAW } from './call-sound.ts';

const MS = LINE_RATE_HZ / 1000;
/** How much is gathered before a stretch of speech begins; more after it ran dry in the middle. */
const FIRST_LEAD = 60 * MS;
const LONGEST_LEAD = 200 * MS;
const LEAD_STEP = 40 * MS;
/** Sound that comes so soon after the buffer ran dry was meant to follow without a pause. */
const SOON = 100 * MS;
/** Cut speech fades by this factor a sample: gone within 2 ms, and no click. */
const FADE = 0.75;
const FIRST_ROOM = 16_384;

export class Playback {
  #ring = new Float32Array(FIRST_ROOM);
  /** Samples pushed and samples read, from the beginning. */
  #pushed = 0;
  #taken = 0;
  #marks: { name: string; at: number }[] = [];
  #lead = FIRST_LEAD;
  #playing = false;
  /** Samples of silence since the buffer ran dry, and since sound waits for more. */
  #dry = Number.POSITIVE_INFINITY;
  #waited = 0;
  #last = 0;

  /** Adds mu-law. */
  push(payload: Uint8Array): void {
    if (payload.length === 0) return;
    if (!this.#playing && this.#pushed === this.#taken && this.#dry < SOON)
      this.#lead = Math.min(LONGEST_LEAD, this.#lead + LEAD_STEP);
    this.#makeRoom(payload.length);
    const { length } = this.#ring;
    for (const byte of payload) this.#ring[this.#pushed++ % length] = MULAW[byte]!;
  }

  /** To be told of when all that was pushed so far has been read. */
  mark(name: string): void {
    this.#marks.push({ name, at: this.#pushed });
  }

  /** Drops what was not read. Answers the marks that were owed, in order. */
  clear(): string[] {
    this.#taken = this.#pushed;
    this.#playing = false;
    this.#waited = 0;
    this.#dry = Number.POSITIVE_INFINITY;
    const owed = this.#marks.map(({ name }) => name);
    this.#marks = [];
    return owed;
  }

  /** Fills `out` with what is to be heard now, silence where there is nothing. Answers the marks reached by it. */
  read(out: Float32Array): string[] {
    const waiting = this.#pushed - this.#taken;
    if (!this.#playing && waiting > 0) {
      // The end of a short answer never fills the buffer: it has waited long enough after as much time.
      if (waiting >= this.#lead || this.#waited >= this.#lead) {
        this.#playing = true;
        this.#waited = 0;
      } else this.#waited += out.length;
    }
    let count = 0;
    if (this.#playing) {
      count = Math.min(out.length, waiting);
      const { length } = this.#ring;
      for (let i = 0; i < count; i++) out[i] = this.#ring[this.#taken++ % length]!;
      if (count > 0) this.#last = out[count - 1]!;
      if (this.#taken === this.#pushed) {
        this.#playing = false;
        this.#dry = 0;
      }
    }
    if (count < out.length) {
      this.#dry += out.length - count;
      for (let i = count; i < out.length; i++) {
        this.#last = Math.abs(this.#last) < 1e-4 ? 0 : this.#last * FADE;
        out[i] = this.#last;
      }
    }
    return this.#reached();
  }

  #reached(): string[] {
    if (this.#marks.length === 0 || this.#marks[0]!.at > this.#taken) return NONE;
    const names: string[] = [];
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#taken) names.push(this.#marks.shift()!.name);
    return names;
  }

  #makeRoom(samples: number): void {
    const waiting = this.#pushed - this.#taken;
    if (waiting + samples <= this.#ring.length) return;
    const longer = new Float32Array((waiting + samples) * 2);
    const old = this.#ring;
    for (let at = this.#taken; at < this.#pushed; at++) longer[at % longer.length] = old[at % old.length]!;
    this.#ring = longer;
  }
}

/** Nothing is allocated for the reads that reach no mark, which are nearly all. */
const NONE: string[] = [];
