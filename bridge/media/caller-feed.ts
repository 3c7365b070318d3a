// The caller's sound on its way to the model: kept for some seconds as the stream brought it, given from where a turn began until
// it is over, in what the model takes. Where the model tells the turns it is given all of it.
import { type Converter, createConverter } from '../../audio/converter.ts';
import { type AudioFormat, bytesPerMs, FRAME_MS, sameFormat, sampleBytes } from '../../audio/format.ts';
import { Preroll } from '../../audio/preroll.ts';
import type { ModelSession } from '../models/model.ts';

/** Speech over the agent's voice becomes a turn from its onset on, when it has lasted or the agent has finished. */
const KEPT_MS = 4_000;
/** What of it is looked at is looked at so. */
const LOOKED_AT: AudioFormat = { encoding: 'pcm16', rateHz: 8_000 };
/** Speech before the detected onset that the model is given as well, so that no first sound is clipped. */
export const PREROLL_MS = 480;

export class CallerFeed {
  readonly #model: ModelSession;
  readonly #all: boolean;
  #toModel: Converter;
  #kept: Preroll;
  #bytesPerMs: number;
  /** Where what is kept ends, on the call's clock. */
  #endMs = 0;
  /** Sound came last for which silence was kept already: so much of it, before what is from `fromMs` on. */
  #twice = { fromMs: 0, ms: 0 };
  #given: boolean;
  /** Up to here the model has been given words over the agent's voice by themselves. */
  #wordsUntilMs = 0;

  /** @param format what the line brings, as far as is known */
  constructor(model: ModelSession, format: AudioFormat) {
    this.#model = model;
    this.#all = model.capabilities.turns === 'model';
    this.#given = this.#all;
    this.#toModel = createConverter(format, model.takes);
    this.#kept = new Preroll(format, KEPT_MS);
    this.#bytesPerMs = bytesPerMs(format);
  }

  /** A stream begins. What was kept of another is forgotten: it is not what was said just before, and was given. */
  begin(format: AudioFormat): void {
    this.#kept.clear();
    if (sameFormat(format, this.#toModel.from)) return;
    this.#toModel = createConverter(format, this.#model.takes);
    this.#kept = new Preroll(format, KEPT_MS);
    this.#bytesPerMs = bytesPerMs(format);
  }

  /** The caller's next sound, in the stream's format; the first sample is from `atMs`. */
  push(sound: Buffer, atMs: number): void {
    const backMs = this.#endMs - atMs;
    // So much was lost: longer past than anything is kept.
    if (-backMs > KEPT_MS) this.#kept.clear();
    this.#kept.push(sound);
    if (backMs > FRAME_MS / 2) {
      this.#twice = { fromMs: atMs, ms: backMs };
      this.#wordsUntilMs = Math.min(this.#wordsUntilMs, atMs);
    }
    this.#endMs = atMs + sound.length / this.#bytesPerMs;
    if (this.#given) this.#give(sound);
  }

  /** A turn began at `onsetMs`: the model is given it from a little before that on. */
  listen(onsetMs: number): void {
    if (this.#all) return;
    // What was given before is another stretch.
    if (!this.#given) this.#toModel.restart();
    this.#given = true;
    const twiceMs = Math.max(onsetMs, this.#wordsUntilMs) < this.#twice.fromMs ? this.#twice.ms : 0;
    const fromMs = Math.max(onsetMs - PREROLL_MS, this.#wordsUntilMs);
    const early = this.#kept.read(Math.max(0, this.#endMs - fromMs + twiceMs));
    if (early.length > 0) this.#give(early);
  }

  /** The sound of the `ms` before `endMs`, or less where less is kept, in samples at 8 kHz. */
  before(endMs: number, ms: number): Int16Array {
    const { from } = this.#toModel;
    const kept = this.#kept.read(this.#endMs - endMs + ms);
    const sample = sampleBytes(from);
    const later = Math.max(0, Math.round(((this.#endMs - endMs) * this.#bytesPerMs) / sample) * sample);
    const sound = kept.subarray(0, Math.max(0, kept.length - later));
    // Once in a pause: nothing is kept for it between two.
    const pcm = createConverter(from, LOOKED_AT).convert(sound);
    return new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length >> 1);
  }

  /** The turn is over. Answers its number; null when too little was given to be one. */
  endTurn(): number | null {
    this.#given = this.#all;
    return this.#model.endTurn();
  }

  /** A word that began at `onsetMs` is a turn by itself. Answers its number; null when too little of it is kept. */
  giveWord(onsetMs: number): number | null {
    this.listen(onsetMs);
    const turn = this.endTurn();
    if (turn === null) this.forget();
    else this.#wordsUntilMs = this.#endMs;
    return turn;
  }

  /** The caller has paused: what was given is a turn, unless he goes on, and what comes is given on. Answers as `endTurn`. */
  pause(): number | null {
    return this.#model.endTurn({ mayGoOn: true });
  }

  /** What was given since the last turn was none. */
  forget(): void {
    this.#given = this.#all;
    if (this.#model.capabilities.commits) this.#model.clearAudio();
  }

  /** The talk is over: a turn that goes on ends here. Answers as `endTurn`; null as well where the model would answer it. */
  close(): number | null {
    const { commits, answersByItself } = this.#model.capabilities;
    const goesOn = this.#given && !this.#all;
    this.#given = this.#all;
    return goesOn && commits && !answersByItself ? this.#model.endTurn() : null;
  }

  /** The one way of the caller's sound to the model. */
  #give(sound: Buffer): void {
    this.#model.appendAudio(this.#toModel.convert(sound));
  }
}
