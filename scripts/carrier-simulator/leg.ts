// One telephone at the far end: ear, mouth, line noise and echo, recording. Driven by the shared clock; what the carrier
// plays comes from a source, what the callee says goes to the listeners (media streams, a bridged leg, detection).

import type { Callee } from './callee.ts';
import { AUDIBLE_DB, Conversation, type Transition } from './conversation.ts';
import { DECODE, encodeOne, FRAME_BYTES, FRAME_MS, levelDb, SILENCE } from './mulaw.ts';
import type { CalleeScript } from './options.ts';
import type { Random } from './random.ts';
import type { Recording } from './recording.ts';
import type { ClipFrame } from './sound.ts';

/** What is played to the ear in one tick; null is silence. */
export interface EarSource {
  pull(): Buffer | null;
}
/** `speaks`: the callee's own voice is in it, not only noise and echo. */
export type SaidListener = (frame: ClipFrame, nowMs: number, speaks: boolean) => void;
export type HeardListener = (frame: Buffer) => void;

export interface LegOptions {
  script: CalleeScript;
  callee: Callee;
  silence: ClipFrame[];
  random: Random;
  earLatencyMs: number;
  recording: Recording | null;
  onTransition(transition: Transition, nowMs: number): void;
}

export class Leg {
  source: EarSource | null = null;
  readonly said = new Set<SaidListener>();
  readonly heard = new Set<HeardListener>();
  readonly conversation = new Conversation();
  clippedSamples = 0;
  readonly #options: LegOptions;
  readonly #earDelay: Buffer[];
  readonly #echoDelay: Int16Array;
  readonly #echoGain: number;
  readonly #noise: Float64Array | null;
  #ticks = 0;

  constructor(options: LegOptions) {
    this.#options = options;
    const { script, random } = options;
    this.#earDelay = new Array<Buffer>(Math.round(options.earLatencyMs / FRAME_MS)).fill(SILENCE);
    this.#echoDelay = new Int16Array(Math.round((script.echo?.delayMs ?? 0) * 8));
    this.#echoGain = script.echo ? 10 ** (script.echo.gainDb / 20) : 0;
    if (script.noise) {
      const amplitude = 32768 * 10 ** (script.noise.levelDb / 20);
      // A prime length, so that its repetition is not heard as a rhythm.
      this.#noise = Float64Array.from({ length: 15_991 }, () => random.gaussian() * amplitude);
    } else {
      this.#noise = null;
    }
  }

  /** ms since the answer, at the end of the last frame. */
  get nowMs(): number {
    return this.#ticks * FRAME_MS;
  }

  tick(): void {
    this.#ticks += 1;
    const now = this.nowMs;
    const heard = this.#hear();
    const heardDb = heard === SILENCE ? -100 : levelDb(heard);
    const spoken = this.#options.callee.tick(now, heardDb > AUDIBLE_DB);
    const clean = spoken ?? this.#options.silence[this.#ticks % this.#options.silence.length]!;
    const frame = this.#noise || this.#echoGain > 0 ? this.#mix(clean, heard) : clean;
    this.#options.recording?.write(frame.mulaw, heard);
    // The callee's own voice, without noise and echo, says when the callee speaks.
    this.conversation.step(now, clean.levelDb, heardDb, (transition) =>
      this.#options.onTransition(transition, now),
    );
    const speaks = clean.levelDb > AUDIBLE_DB;
    for (const listener of this.said) listener(frame, now, speaks);
  }

  /** The call is over. */
  finish(): void {
    this.#options.callee.finish(this.nowMs);
    this.conversation.finish();
    this.source = null;
    this.said.clear();
    this.heard.clear();
  }

  #hear(): Buffer {
    const played = this.source?.pull() ?? SILENCE;
    for (const listener of this.heard) listener(played);
    if (played !== SILENCE) {
      // 0x00 and 0x80 are the loudest codes.
      for (let i = 0; i < played.length; i++) if ((played[i]! & 0x7f) === 0) this.clippedSamples += 1;
    }
    if (this.#earDelay.length === 0) return played;
    this.#earDelay.push(played);
    return this.#earDelay.shift()!;
  }

  #mix(clean: ClipFrame, heard: Buffer): ClipFrame {
    const mulaw = Buffer.allocUnsafe(FRAME_BYTES);
    const start = (this.#ticks - 1) * FRAME_BYTES;
    for (let i = 0; i < FRAME_BYTES; i++) {
      let sample = DECODE[clean.mulaw[i]!]!;
      if (this.#noise) sample += this.#noise[(start + i) % this.#noise.length]!;
      if (this.#echoGain > 0) {
        const incoming = DECODE[heard[i]!]!;
        if (this.#echoDelay.length === 0) {
          sample += incoming * this.#echoGain;
        } else {
          const slot = (start + i) % this.#echoDelay.length;
          sample += this.#echoDelay[slot]! * this.#echoGain;
          this.#echoDelay[slot] = incoming;
        }
      }
      mulaw[i] = encodeOne(sample);
    }
    return { mulaw, base64: mulaw.toString('base64'), levelDb: levelDb(mulaw), toneHz: clean.toneHz };
  }
}
