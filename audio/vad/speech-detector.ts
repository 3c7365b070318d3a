// PURE. The voice: quiet, starting, speaking, stopping. Probabilities of speech in, the moments speech began and ended out.
// Two thresholds and two times keep it from flickering; levels keep voices in the background from counting as the caller's.
// What the moments mean for the floor is decided by the turn rules. The defaults come from docs/quality.md.
import { NoiseFloor, SILENT_DB } from '../levels.ts';

export interface SpeechOptions {
  /** A window at or above this is speech. */
  startProbability: number;
  /** A window below this is not; between the two nothing changes. */
  stopProbability: number;
  /** Speech this long has started. Raise it (200-300 ms and more) while the line may carry an echo. */
  startMs: number;
  /** No speech for this long has stopped. */
  stopMs: number;
  /** A window fainter than this is no speech, whatever the model says. */
  leastLevelDb: number;
  /** Speech begins so far above the noise of the line: a voice in the room behind the caller does not. */
  onsetAboveFloorDb: number;
  /** And so far where that noise is steady: nobody speaks behind the caller. */
  onsetAboveSteadyDb: number;
  /** Speech goes on in a window that is this far above the noise of the line, or within `belowPeakDb` of its loudest. */
  aboveFloorDb: number;
  belowPeakDb: number;
}

// Three windows: the shortest "no" has them. A word over the agent's voice is judged by the turn rules, not here.
export const SPEECH_DEFAULTS: Readonly<SpeechOptions> = {
  startProbability: 0.3,
  stopProbability: 0.2,
  startMs: 96,
  stopMs: 200,
  leastLevelDb: -58,
  onsetAboveFloorDb: 9,
  onsetAboveSteadyDb: 5,
  aboveFloorDb: 6,
  belowPeakDb: 6,
};

/** Samples are 8 kHz, on the clock of the windows. `onsetSample`: where the speech began; `quietSample`: where it may have ended. */
export type SpeechState =
  | { readonly phase: 'quiet' }
  | { readonly phase: 'starting'; readonly onsetSample: number }
  | { readonly phase: 'speaking'; readonly onsetSample: number }
  | { readonly phase: 'stopping'; readonly onsetSample: number; readonly quietSample: number };

/**
 * Speech that is taken back was the line's own noise, before that was known; its `atSample` is where it had begun.
 * `atSample` is when it happened, `knownAtSample` when the windows heard so far were enough to say so.
 */
export interface SpeechEvent {
  type: 'speech-started' | 'speech-ended' | 'speech-taken-back';
  atSample: number;
  knownAtSample: number;
}

export interface SpeechWindow {
  probability: number;
  levelDb: number;
  /** What the window must be as loud as to be the caller's voice. */
  leastDb: number;
  startSample: number;
  endSample: number;
}

export interface SpeechStep {
  state: SpeechState;
  event: SpeechEvent | null;
}

export const QUIET: SpeechState = { phase: 'quiet' };

const SAMPLES_PER_MS = 8;
const WINDOW_SAMPLES = 256;
const WINDOW_MS = WINDOW_SAMPLES / SAMPLES_PER_MS;
/** On a line however noisy, speech this loud is heard. */
const LOUD_DB = -30;
/** A voice may grow fainter by about 2 dB a second. */
const PEAK_FALLS_DB = 0.06;
/** Noise whose mean is no further above its quietest is steady: a fan, a car, hum. */
const STEADY_DB = 1;
/** By so much for each dB that it is less steady, speech must be louder to begin. */
const UNSTEADY_SLOPE = 2;
/** How quickly the mean follows. */
const NOISE_STEP = 1 / 32;

/** The state after a window and what it made known; null when the window changes nothing. Windows come in order. */
export function stepSpeech(
  state: SpeechState,
  window: SpeechWindow,
  options: Readonly<SpeechOptions>,
): SpeechStep | null {
  const audible = window.levelDb >= window.leastDb;
  const speech = audible && window.probability >= options.startProbability;
  const quiet = !audible || window.probability < options.stopProbability;
  const startSamples = options.startMs * SAMPLES_PER_MS;
  const stopSamples = options.stopMs * SAMPLES_PER_MS;
  switch (state.phase) {
    case 'quiet':
      return speech ? start(window.startSample, window, startSamples) : null;
    case 'starting':
      // A faint window that still sounds like speech is a closed consonant: "four-teen".
      if (window.probability < options.stopProbability) return { state: QUIET, event: null };
      // Doubtful windows count when speech goes on after them, and decide nothing themselves.
      return speech && window.endSample - state.onsetSample >= startSamples
        ? start(state.onsetSample, window, startSamples)
        : null;
    case 'speaking':
      return quiet ? stop(state.onsetSample, window.startSample, window, stopSamples) : null;
    case 'stopping':
      if (speech) return { state: { phase: 'speaking', onsetSample: state.onsetSample }, event: null };
      return window.endSample - state.quietSample >= stopSamples
        ? stop(state.onsetSample, state.quietSample, window, stopSamples)
        : null;
  }
}

function start(onsetSample: number, { endSample }: SpeechWindow, startSamples: number): SpeechStep {
  if (endSample - onsetSample < startSamples)
    return { state: { phase: 'starting', onsetSample }, event: null };
  const event = { type: 'speech-started', atSample: onsetSample, knownAtSample: endSample } as const;
  return { state: { phase: 'speaking', onsetSample }, event };
}

function stop(
  onsetSample: number,
  quietSample: number,
  { endSample }: SpeechWindow,
  stopSamples: number,
): SpeechStep {
  if (endSample - quietSample < stopSamples) {
    return { state: { phase: 'stopping', onsetSample, quietSample }, event: null };
  }
  return { state: QUIET, event: { type: 'speech-ended', atSample: quietSample, knownAtSample: endSample } };
}

/** The voice of one stream: `stepSpeech` and its state, fed by a lane of the VAD batch (windows of 32 ms). */
export class SpeechDetector {
  readonly #options: SpeechOptions;
  #state: SpeechState = QUIET;
  readonly #floor = new NoiseFloor();
  /** The mean level of the windows in which nothing is like speech; null before the first. */
  #noiseDb: number | null = null;
  /** The loudest of the speech that goes on; of quiet, its last window. */
  #peakDb = 0;

  constructor(options: Partial<SpeechOptions> = {}) {
    this.#options = { ...SPEECH_DEFAULTS, ...options };
  }

  /** The same object until it changes. */
  get state(): SpeechState {
    return this.#state;
  }

  /** From speech that has started until it has ended. */
  get speaking(): boolean {
    return this.#state.phase === 'speaking' || this.#state.phase === 'stopping';
  }

  /** Changes thresholds for what follows, e.g. while the agent's voice may echo. */
  configure(options: Partial<SpeechOptions>): void {
    Object.assign(this.#options, options);
  }

  /** Takes the next window. Without a level, the probability alone decides. */
  push(probability: number, endSample: number, levelDb = 0): SpeechEvent | null {
    const unknown = !this.#floor.known;
    const leastDb = this.#leastDb(levelDb);
    if (probability < this.#options.stopProbability && levelDb > SILENT_DB + 6)
      this.#noiseDb = (this.#noiseDb ?? levelDb) * (1 - NOISE_STEP) + levelDb * NOISE_STEP;
    if (this.#state.phase === 'quiet') this.#peakDb = levelDb;
    else if (probability >= this.#options.startProbability)
      this.#peakDb = Math.max(this.#peakDb - PEAK_FALLS_DB, levelDb);
    if (unknown && this.#floor.known && this.#isNoise()) return this.takeBack(endSample);
    const window = { probability, levelDb, leastDb, startSample: endSample - WINDOW_SAMPLES, endSample };
    const step = stepSpeech(this.#state, window, this.#options);
    if (step === null) return null;
    this.#state = step.state;
    return step.event;
  }

  /** What is fainter than this is not the caller's voice, as far as the line and the voice are known. */
  #leastDb(levelDb: number): number {
    const { leastLevelDb, aboveFloorDb, belowPeakDb } = this.#options;
    const floorDb = this.#floor.step(levelDb, WINDOW_MS);
    const relativeDb = this.speaking
      ? Math.min(floorDb + aboveFloorDb, this.#peakDb - belowPeakDb)
      : Math.min(floorDb + this.#onsetAboveDb(floorDb), LOUD_DB);
    return Math.max(leastLevelDb, relativeDb);
  }

  #onsetAboveDb(floorDb: number): number {
    const { onsetAboveFloorDb, onsetAboveSteadyDb } = this.#options;
    if (this.#noiseDb === null || !this.#floor.known) return onsetAboveFloorDb;
    const unsteadyDb = Math.max(0, this.#noiseDb - floorDb - STEADY_DB) * UNSTEADY_SLOPE;
    return Math.min(onsetAboveFloorDb, onsetAboveSteadyDb + unsteadyDb);
  }

  /** What was taken for speech before the line was known is no louder than the line. */
  #isNoise(): boolean {
    return this.#peakDb < Math.min(this.#floor.db + this.#options.onsetAboveFloorDb, LOUD_DB);
  }

  /** What goes on is no speech of the caller's. */
  takeBack(endSample: number): SpeechEvent | null {
    const before = this.#state;
    this.#state = QUIET;
    if (before.phase === 'quiet' || before.phase === 'starting') return null;
    return { type: 'speech-taken-back', atSample: before.onsetSample, knownAtSample: endSample };
  }
}
