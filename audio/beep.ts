// PURE. The beep of an answering machine: one steady tone, then silence. Tones that mean something else are told apart:
// ringback, dial and busy tone, keys (two frequencies at once), fax (ITU-T T.30), information tones (ITU-T E.180).
// When to listen, and for how long, is the caller's business; so is a cadence: one 425 Hz ring of a European exchange looks alike.
import { FRAME_BYTES, FRAME_MS, RATE_HZ } from './format.ts';
import { pcmLevelDb } from './levels.ts';

/** Samples count from the first one given; to a frame (20 ms). */
export interface Beep {
  frequencyHz: number;
  startSample: number;
  endSample: number;
}

const FRAME = FRAME_BYTES;
// 40 ms, 20 ms apart: long enough to see that 440 and 480 Hz are two tones.
const WINDOW = 2 * FRAME;
const LOWEST_HZ = 350;
const HIGHEST_HZ = 2000;
// The scan is wider than a beep may be, so that a tone beyond is seen to be beyond.
const SCAN_FROM_HZ = 300;
const SCAN_TO_HZ = 2200;
const SCAN_STEP_HZ = 25;
const REFINE_HZ = [12.5, 6.25, 3.125, 1.5625];
const LEAST_LEVEL_DB = -45;
// Share of the power that is in one frequency: 0.96 when both the second and the third harmonic have 15 %, less in a voice.
const LEAST_PURITY = 0.93;
// Half way between two steps of the scan a pure tone still shows this much.
const LEAST_SCAN_PURITY = 0.35;
const DRIFT_HZ = 25;
const DRIFT_DB = 3;
// Three windows in a row: a tone of 100 ms wherever the frames cut it.
const LEAST_WINDOWS = 3;
// Where the pitch of a high voice may be: one window more, 120 ms.
const VOICE_HZ = 500;
const LONGEST_FRAMES = 5000 / FRAME_MS;
// Silence that makes sure the tone was the end of it, and how long its sound may take to fade.
const SILENCE_BELOW_DB = 15;
const SILENT_FRAMES = 3;
const FADE_FRAMES = 4;
// Calling tone of a fax: 1100 Hz +-38. (The answering one, 2100 Hz, is above the range.)
const FAX_HZ = 1100;
const FAX_WIDTH_HZ = 38;
// Three tones in a row, 30 ms apart at most: 950, 1400 and 1800 Hz, each +-50.
const INFORMATION_HZ = [950, 1400, 1800];
const INFORMATION_WIDTH_HZ = 50;

interface Tone {
  readonly frequencyHz: number;
  readonly startFrame: number;
  /** The tone that had just ended when this one began. */
  readonly before: Tone | null;
  lastFrame: number;
  levelDb: number;
  loudestDb: number;
  windows: number;
}

type BeepState =
  | { readonly phase: 'listening' }
  | { readonly phase: 'tone'; readonly tone: Tone }
  | { readonly phase: 'after'; readonly tone: Tone; silentFrames: number };

const LISTENING: BeepState = { phase: 'listening' };

/** One stream's listener. */
export class BeepDetector {
  readonly #window = new Int16Array(WINDOW);
  readonly #newest = this.#window.subarray(FRAME);
  #filled = FRAME;
  #frame = 0;
  #state: BeepState = LISTENING;

  /** Takes the next samples of the stream, 8 kHz, any number. Answers a beep once 60 ms of silence followed it, else null. */
  push(pcm: Int16Array): Beep | null {
    let beep: Beep | null = null;
    for (let from = 0; from < pcm.length; ) {
      const count = Math.min(WINDOW - this.#filled, pcm.length - from);
      for (let i = 0; i < count; i++) this.#window[this.#filled + i] = pcm[from + i]!;
      this.#filled += count;
      from += count;
      if (this.#filled < WINDOW) break;
      beep = this.#step() ?? beep;
      this.#frame++;
      this.#window.copyWithin(0, FRAME);
      this.#filled = FRAME;
    }
    return beep;
  }

  /** Looks at the newest frame and the one before it. */
  #step(): Beep | null {
    const state = this.#state;
    const levelDb = pcmLevelDb(this.#newest);
    const frequencyHz = levelDb < LEAST_LEVEL_DB ? null : findTone(this.#window);
    switch (state.phase) {
      case 'listening':
        if (frequencyHz !== null) this.#begin(frequencyHz, levelDb, null);
        return null;
      case 'tone': {
        const { tone } = state;
        if (frequencyHz !== null && continues(tone, frequencyHz, levelDb)) {
          tone.lastFrame = this.#frame;
          tone.levelDb = levelDb;
          tone.loudestDb = Math.max(tone.loudestDb, levelDb);
          tone.windows++;
          return null;
        }
        if (tone.windows < leastWindows(tone)) this.#state = LISTENING;
        else this.#state = { phase: 'after', tone, silentFrames: 0 };
        return this.#step();
      }
      case 'after':
        return this.#after(state, frequencyHz, levelDb);
    }
  }

  #after(state: BeepState & { phase: 'after' }, frequencyHz: number | null, levelDb: number): Beep | null {
    const { tone } = state;
    if (frequencyHz !== null) {
      this.#begin(frequencyHz, levelDb, tone);
      return null;
    }
    if (levelDb <= tone.loudestDb - SILENCE_BELOW_DB) state.silentFrames++;
    else if (this.#frame - tone.lastFrame > FADE_FRAMES) this.#state = LISTENING;
    if (state.silentFrames < SILENT_FRAMES) return null;
    this.#state = LISTENING;
    return isBeep(tone) ? toBeep(tone) : null;
  }

  #begin(frequencyHz: number, levelDb: number, before: Tone | null): void {
    const lastFrame = this.#frame;
    const startFrame = lastFrame - 1;
    const tone = { frequencyHz, startFrame, before, lastFrame, levelDb, loudestDb: levelDb, windows: 1 };
    this.#state = { phase: 'tone', tone };
  }
}

function continues(tone: Tone, frequencyHz: number, levelDb: number): boolean {
  return Math.abs(frequencyHz - tone.frequencyHz) <= DRIFT_HZ && Math.abs(levelDb - tone.levelDb) <= DRIFT_DB;
}

function leastWindows({ frequencyHz }: Tone): number {
  return frequencyHz < VOICE_HZ ? LEAST_WINDOWS + 1 : LEAST_WINDOWS;
}

function isBeep({ frequencyHz, startFrame, lastFrame, before }: Tone): boolean {
  if (frequencyHz < LOWEST_HZ || frequencyHz > HIGHEST_HZ) return false;
  if (lastFrame - startFrame + 1 > LONGEST_FRAMES) return false;
  if (Math.abs(frequencyHz - FAX_HZ) <= FAX_WIDTH_HZ) return false;
  return before === null || !isInformation(frequencyHz) || !isInformation(before.frequencyHz);
}

function isInformation(frequencyHz: number): boolean {
  return INFORMATION_HZ.some((hz) => Math.abs(frequencyHz - hz) <= INFORMATION_WIDTH_HZ);
}

function toBeep({ frequencyHz, startFrame, lastFrame }: Tone): Beep {
  return {
    frequencyHz: Math.round(frequencyHz),
    startSample: startFrame * FRAME,
    endSample: (lastFrame + 1) * FRAME,
  };
}

/** The frequency of a window that is one tone, in Hz; null when it is not. */
function findTone(window: Int16Array): number | null {
  let energy = 0;
  for (let i = 0; i < WINDOW; i++) energy += window[i]! * window[i]!;
  // What a pure tone of this energy would show.
  const whole = (energy * WINDOW) / 2;
  let best = 0;
  let bestHz = 0;
  for (let hz = SCAN_FROM_HZ; hz <= SCAN_TO_HZ; hz += SCAN_STEP_HZ) {
    const power = goertzel(window, hz);
    if (power > best) {
      best = power;
      bestHz = hz;
    }
  }
  if (best < whole * LEAST_SCAN_PURITY) return null;
  for (const stepHz of REFINE_HZ) {
    const centreHz = bestHz;
    for (const hz of [centreHz - stepHz, centreHz + stepHz]) {
      const power = goertzel(window, hz);
      if (power > best) {
        best = power;
        bestHz = hz;
      }
    }
  }
  return best >= whole * LEAST_PURITY ? bestHz : null;
}

/** Power of one frequency, by Goertzel's recurrence. */
function goertzel(window: Int16Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ);
  let last = 0;
  let beforeLast = 0;
  for (let i = 0; i < WINDOW; i++) {
    const next = window[i]! + coefficient * last - beforeLast;
    beforeLast = last;
    last = next;
  }
  return last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
}
