// PURE. The middle of plain speech: where the voice model has been sure of speech and the sound goes on as loud, its answer
// holds for the next windows too, and it need not run. What it then misses, and why that does no harm, is in docs/quality.md.

/** Sure: far above every model's threshold of speech. */
const SURE_PROBABILITY = 0.8;
const SURE_WINDOWS = 3;
/** Windows in a row answered without the model: 64 ms, a third of the silence that ends speech. */
const MOST_CARRIED = 2;
/** Fainter or louder than this from the window the model last heard, and it is asked again: a word ends, another voice begins. */
const STEADY_DB = 5;
/** So far below the loudest of the speech that goes on, it may be somebody behind the caller. */
const BELOW_PEAK_DB = 12;
/** A voice may grow fainter by about 2 dB a second. */
const PEAK_FALLS_DB = 0.06;

export class PlainSpeech {
  #sureWindows = 0;
  #carried = 0;
  #probability = 0;
  #levelDb = 0;
  #peakDb = Number.NEGATIVE_INFINITY;

  /** The probability of speech of a window of this level, when it is plain without the model; else null: ask it. */
  carry(levelDb: number): number | null {
    if (this.#sureWindows < SURE_WINDOWS || this.#carried >= MOST_CARRIED) return null;
    if (Math.abs(levelDb - this.#levelDb) > STEADY_DB) return null;
    if (levelDb < this.#peakDb - BELOW_PEAK_DB) return null;
    this.#carried++;
    return this.#probability;
  }

  /** The model's answer to a window. */
  heard(probability: number, levelDb: number): void {
    const sure = probability >= SURE_PROBABILITY;
    this.#sureWindows = sure ? this.#sureWindows + 1 : 0;
    if (sure) this.#peakDb = Math.max(this.#peakDb - PEAK_FALLS_DB, levelDb);
    this.#carried = 0;
    this.#probability = probability;
    this.#levelDb = levelDb;
  }

  /** A window that the model was not asked about for another reason: nothing is plain any more. */
  interrupt(): void {
    this.#sureWindows = 0;
    this.#peakDb = Number.NEGATIVE_INFINITY;
  }
}
