// From the VAD's windows to what the turn rules are told of the caller's voice: the agent's own echo taken out and the voices of
// the room, speech found, each change told once. PURE: the windows and the clock come from outside.
import type { EchoGuard } from '../../audio/echo-guard.ts';
import { BYTES_PER_MS } from '../../audio/format.ts';
import { CallerLevel } from '../../audio/vad/caller-level.ts';
import { CallerLikeness, type Whose } from '../../audio/vad/caller-likeness.ts';
import {
  SPEECH_DEFAULTS,
  SpeechDetector,
  type SpeechEvent,
  type SpeechOptions,
  type SpeechState,
} from '../../audio/vad/speech-detector.ts';
import { VoiceSound } from '../../audio/vad/voice-print.ts';
import { QUIET_VOICE, type Voice } from '../turns/voice.ts';
import type { CallerClock } from './caller-clock.ts';

/** The detector and the noise floor have not settled on a new line: speech must last longer to count. */
const SETTLING_SAMPLES = 1_000 * BYTES_PER_MS;
const SETTLING_START_MS = 320;
const WINDOW_MS = 32;
/** Speech this long that may be somebody else's ends with a silence of so much: a voice of the room makes no longer ones. */
const ROOM_LASTS_SAMPLES = 500 * BYTES_PER_MS;
const ROOM_STOP_MS = 500;
/** So soon after speech, what is none is its last sound, or the room's. */
const FADES_SAMPLES = 128 * BYTES_PER_MS;

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
  readonly #likeness = new CallerLikeness();
  readonly #sound = new VoiceSound();
  /** Whose voice goes on; over the agent's, or begun over it; the silence that ends it. */
  #whose: Whose = 'caller';
  #over = false;
  #stopMs: number;
  #heardSample = 0;
  /** The last window that sounded like speech. */
  #voicedSample = Number.NEGATIVE_INFINITY;
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
    this.#stopMs = this.#settled.stopMs;
    const startMs = Math.max(this.#settled.startMs, SETTLING_START_MS);
    this.#detector = new SpeechDetector({ ...this.#settled, startMs });
  }

  /** A window of 32 ms, with its mu-law at the end of `samples`, where it is there; `endSample` of what the detector hears. */
  readonly window = (probability: number, endSample: number, levelDb: number, samples?: Uint8Array): void => {
    this.#heardSample = endSample;
    if (this.#settling && endSample >= SETTLING_SAMPLES) {
      this.#settling = false;
      this.#detector.configure({ startMs: this.#settled.startMs });
    }
    const before = this.#detector.state;
    const wasUnsure = this.#whose === 'unsure';
    const caller = this.#isCaller(probability, endSample, levelDb, samples);
    const event = this.#step(caller ? probability : 0, endSample, levelDb);
    const { state } = this.#detector;
    if (state !== before) this.#changed(state, endSample);
    else if (state.phase === 'speaking' && wasUnsure !== (this.#whose === 'unsure'))
      this.#tellSpeaking(state.onsetSample);
    if (event !== null) this.#tell(event);
  };

  #step(probability: number, endSample: number, levelDb: number): SpeechEvent | null {
    const detector = this.#detector;
    if (this.#over && this.#whose === 'other' && detector.speaking) return detector.takeBack(endSample);
    const { state } = detector;
    const waits = this.#waits(endSample);
    const event = detector.push(probability, endSample, levelDb);
    if (!waits || event?.type !== 'speech-ended' || state.phase === 'quiet') return event;
    if (this.#likeness.mayHavePaused()) return event;
    return { ...event, type: 'speech-taken-back', atSample: state.onsetSample };
  }

  #tell(event: SpeechEvent): void {
    const atMs = this.#at(event.atSample);
    if (event.type === 'speech-started') this.#listener.speechStarted(atMs);
    else if (event.type === 'speech-ended') this.#listener.speechEnded(atMs);
    else {
      this.#level.takeBack();
      this.#likeness.takeBack();
      this.#listener.speechTakenBack(atMs);
    }
  }

  /** A window may be the caller's: it is not the agent's echo, and no voice of the room. */
  #isCaller(probability: number, endSample: number, levelDb: number, samples?: Uint8Array): boolean {
    const endMs = this.#at(endSample);
    const guard = this.#guard;
    const echo =
      guard !== null && probability >= this.#settled.stopProbability && guard.explains(endMs, levelDb);
    const voice = !echo && probability >= this.#settled.startProbability;
    const goesOn = this.#detector.state.phase !== 'quiet';
    const over = guard?.near(endMs) ?? false;
    const loud = this.#level.hear(voice ? levelDb : null, over, goesOn);
    this.#over = over || (goesOn && this.#over);
    // How loud each of its syllables is decides nothing any more about a voice that lasts.
    const counts = this.#waits(endSample) || loud;
    if (voice) this.#voicedSample = endSample;
    if (samples !== undefined) {
      const faded = endSample - this.#voicedSample > FADES_SAMPLES;
      if (voice) this.#sound.take(samples, endSample);
      else if (faded && probability < this.#settled.stopProbability) this.#sound.takeNoise(samples);
    }
    this.#whose = this.#likeness.hear({
      sound: voice && counts && samples !== undefined ? this.#sound : null,
      levelDb,
      callerDb: this.#level.db,
      over: this.#over,
      goesOn: this.#detector.speaking,
    });
    const stopMs = this.#waits(endSample) ? ROOM_STOP_MS : this.#settled.stopMs;
    if (stopMs !== this.#stopMs) this.#detector.configure({ stopMs });
    this.#stopMs = stopMs;
    return counts && !echo && !(this.#over && this.#whose === 'other');
  }

  /** Speech over the agent's voice lasts, and it is not known whose it is: a pause after it will tell. */
  #waits(endSample: number): boolean {
    const { state } = this.#detector;
    if (!this.#over || this.#whose !== 'unsure' || !this.#detector.speaking || state.phase === 'quiet')
      return false;
    const spokeUntil = state.phase === 'stopping' ? state.quietSample : endSample;
    return spokeUntil - state.onsetSample > ROOM_LASTS_SAMPLES;
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

  #tellSpeaking(onsetSample: number): void {
    this.#listener.voice({
      is: 'speaking',
      onsetMs: this.#at(onsetSample),
      stoppedMs: this.#stoppedMs,
      ...(this.#over && this.#whose === 'unsure' && { unsure: true as const }),
    });
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
        this.#tellSpeaking(now.onsetSample);
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
