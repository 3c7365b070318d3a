// From the VAD's windows to what the turn rules are told of the caller's voice: the agent's own echo taken out and the voices of
// the room, speech found, each change told once. PURE: the windows and the clock come from outside.
import type { EchoGuard } from '../../audio/echo-guard.ts';
import { BYTES_PER_MS } from '../../audio/format.ts';
import { CallerLevel } from '../../audio/vad/caller-level.ts';
import {
  SPEECH_DEFAULTS,
  SpeechDetector,
  type SpeechOptions,
  type SpeechState,
} from '../../audio/vad/speech-detector.ts';
import { QUIET_VOICE, type Voice } from '../turns/voice.ts';
import type { CallerClock } from './caller-clock.ts';

/** The detector and the noise floor have not settled on a new line: speech must last longer to count. */
const SETTLING_SAMPLES = 1_000 * BYTES_PER_MS;
const SETTLING_START_MS = 320;
const WINDOW_MS = 32;

export interface CallerVoiceListener {
  /** The voice has changed. Told before what follows, which is the same in terms of speech. */
  voice(voice: Voice): void;
  speechStarted(onsetMs: number): void;
  speechEnded(endMs: number): void;
  /** What had started then was no speech. Instead of its end. */
  speechTakenBack(onsetMs: number): void;
}

/** The voice of one stream. */
export class CallerVoice {
  readonly #listener: CallerVoiceListener;
  readonly #clock: CallerClock;
  readonly #guard: EchoGuard | null;
  readonly #settled: SpeechOptions;
  readonly #detector: SpeechDetector;
  readonly #level = new CallerLevel();
  #heardSample = 0;
  #settling = true;
  /** Of the speech that goes on: its stops so far, and where the one that lasts began. */
  #stoppedMs = 0;
  #quietMs: number | null = null;

  constructor(o: {
    listener: CallerVoiceListener;
    clock: CallerClock;
    guard?: EchoGuard | null;
    options?: Partial<SpeechOptions>;
  }) {
    this.#listener = o.listener;
    this.#clock = o.clock;
    this.#guard = o.guard ?? null;
    this.#settled = { ...SPEECH_DEFAULTS, ...o.options };
    const startMs = Math.max(this.#settled.startMs, SETTLING_START_MS);
    this.#detector = new SpeechDetector({ ...this.#settled, startMs });
  }

  /** A window of 32 ms; `endSample` of what the detector hears of the stream. */
  readonly window = (probability: number, endSample: number, levelDb: number): void => {
    this.#heardSample = endSample;
    if (this.#settling && endSample >= SETTLING_SAMPLES) {
      this.#settling = false;
      this.#detector.configure({ startMs: this.#settled.startMs });
    }
    const before = this.#detector.state;
    const caller = this.#isCaller(probability, this.#at(endSample), levelDb);
    const event = this.#detector.push(caller ? probability : 0, endSample, levelDb);
    if (this.#detector.state !== before) this.#changed(this.#detector.state, endSample);
    if (event === null) return;
    const atMs = this.#at(event.atSample);
    if (event.type === 'speech-started') this.#listener.speechStarted(atMs);
    else if (event.type === 'speech-ended') this.#listener.speechEnded(atMs);
    else {
      this.#level.takeBack();
      this.#listener.speechTakenBack(atMs);
    }
  };

  /** A window may be the caller's: it is not the agent's echo, and no voice of the room. */
  #isCaller(probability: number, endMs: number, levelDb: number): boolean {
    const guard = this.#guard;
    const echo =
      guard !== null && probability >= this.#settled.stopProbability && guard.explains(endMs, levelDb);
    const over = guard?.near(endMs) ?? false;
    const voice = !echo && probability >= this.#settled.startProbability;
    const goesOn = this.#detector.state.phase !== 'quiet';
    return this.#level.hear(voice ? levelDb : null, over, goesOn) && !echo;
  }

  /** From speech that has started until it has ended. */
  speaking(): boolean {
    return this.#detector.speaking;
  }

  /** The end of the last window, on the call's clock. */
  heardMs(): number {
    return this.#at(this.#heardSample);
  }

  /** A sample of what the detector hears, on the call's clock. */
  #at(sample: number): number {
    return this.#clock.at(sample / BYTES_PER_MS);
  }

  #changed(now: SpeechState, endSample: number): void {
    switch (now.phase) {
      case 'quiet':
        this.#quietMs = null;
        this.#listener.voice(QUIET_VOICE);
        return;
      case 'starting':
        this.#listener.voice({ is: 'starting', onsetMs: this.#at(now.onsetSample) });
        return;
      case 'speaking':
        if (this.#quietMs === null) this.#stoppedMs = 0;
        else this.#stoppedMs += Math.max(0, this.#at(endSample) - WINDOW_MS - this.#quietMs);
        this.#quietMs = null;
        this.#listener.voice({
          is: 'speaking',
          onsetMs: this.#at(now.onsetSample),
          stoppedMs: this.#stoppedMs,
        });
        return;
      case 'stopping':
        this.#quietMs = this.#at(now.quietSample);
        this.#listener.voice({
          is: 'stopping',
          onsetMs: this.#at(now.onsetSample),
          quietMs: this.#quietMs,
        });
    }
  }
}
