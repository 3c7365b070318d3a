// PURE. Answering-machine detection from what the callee says, with Twilio's parameters. Time comes in by frames.
// https://www.twilio.com/docs/voice/answering-machine-detection
import type { Verdict } from './options.ts';

export interface AmdParameters {
  mode: 'Enable' | 'DetectMessageEnd';
  timeoutMs: number;
  speechThresholdMs: number;
  speechEndThresholdMs: number;
  silenceTimeoutMs: number;
}

const SPEECH_DB = -38;
/** A tone this long after a greeting is the beep. */
const BEEP_MS = 100;
/** Silence after a greeting that has no beep. */
const NO_BEEP_MS = 2000;
const FAX_MS = 500;

/** 1100 Hz calling and 2100 Hz answering tones (ITU-T T.30, V.25). */
const isFaxTone = (hz: number) => Math.abs(hz - 1100) <= 25 || Math.abs(hz - 2100) <= 25;

export class MachineDetector {
  readonly #parameters: AmdParameters;
  #speechStart = -1;
  #speechEnd = -1;
  #toneHz = 0;
  #toneMs = 0;
  #beepDue = -1;
  #machine = false;
  #done = false;

  constructor(parameters: AmdParameters) {
    this.#parameters = parameters;
  }

  /** One frame of the callee, `nowMs` after the answer. Answers the verdict once, null before and after. */
  step(nowMs: number, levelDb: number, toneHz: number): Verdict | null {
    if (this.#done) return null;
    const verdict = this.#judge(nowMs, levelDb, toneHz);
    if (verdict !== null) this.#done = true;
    return verdict;
  }

  #judge(nowMs: number, levelDb: number, toneHz: number): Verdict | null {
    const p = this.#parameters;
    if (this.#beepDue >= 0) return nowMs >= this.#beepDue ? 'machine_end_beep' : null;

    if (toneHz > 0 && (this.#toneHz === 0 || Math.abs(toneHz - this.#toneHz) <= 50)) {
      this.#toneHz = toneHz;
      this.#toneMs += 20;
      if (isFaxTone(toneHz) && this.#toneMs >= FAX_MS) return 'fax';
      return nowMs >= p.timeoutMs ? 'unknown' : null;
    }
    if (this.#toneMs >= BEEP_MS && !isFaxTone(this.#toneHz)) {
      // The verdict follows the end of the tone by a moment.
      if (p.mode === 'Enable') return 'machine_start';
      this.#beepDue = nowMs + 200;
      return null;
    }
    this.#toneHz = 0;
    this.#toneMs = 0;

    if (levelDb > SPEECH_DB) {
      if (this.#speechStart < 0) this.#speechStart = nowMs;
      this.#speechEnd = nowMs;
      if (!this.#machine && nowMs - this.#speechStart > p.speechThresholdMs) {
        if (p.mode === 'Enable') return 'machine_start';
        this.#machine = true;
      }
    } else if (this.#speechStart >= 0) {
      const silence = nowMs - this.#speechEnd;
      if (!this.#machine && silence >= p.speechEndThresholdMs) return 'human';
      if (this.#machine && silence >= NO_BEEP_MS) return 'machine_end_silence';
    } else if (nowMs >= p.silenceTimeoutMs) {
      return 'unknown';
    }
    return nowMs >= p.timeoutMs ? 'unknown' : null;
  }
}
