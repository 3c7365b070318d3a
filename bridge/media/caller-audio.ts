// Who listens to the caller's sound of one stream, once it is without gaps: the model by the talk, which has it as it came, and
// in mu-law at 8 kHz the detector, the echo guard, the recording and the listener for a machine's beep.
import { BeepDetector } from '../../audio/beep.ts';
import { type Converter, createConverter } from '../../audio/converter.ts';
import type { EchoGuard } from '../../audio/echo-guard.ts';
import { type AudioFormat, FRAME_BYTES, MULAW_8K } from '../../audio/format.ts';
import { decodeMulaw } from '../../audio/g711.ts';
import type { Vad, VadLane } from '../../audio/vad/vad.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { CallerClock } from './caller-clock.ts';
import { CallerVoice, type CallerVoiceListener } from './caller-voice.ts';

/** What the talk is told of the caller. */
export interface CallerListener extends CallerVoiceListener {
  /** Contiguous sound in the stream's format; the first sample is from `atMs`. Valid during the call only. */
  callerAudio(sound: Buffer, atMs: number): void;
  waitingForBeep(): boolean;
  beep(): void;
}

/** What is looked at and forgotten: all calls of a thread in the same place. */
const PCM = new Int16Array(4 * FRAME_BYTES);

export class CallerAudio {
  readonly #talk: CallerListener;
  readonly #clock: CallerClock;
  readonly #echo: EchoGuard;
  readonly #recorder: CallRecorder;
  readonly #voice: CallerVoice;
  readonly #lane: VadLane;
  readonly #toEar: Converter;
  #beep: BeepDetector | null = null;

  constructor(o: {
    talk: CallerListener;
    clock: CallerClock;
    echo: EchoGuard;
    recorder: CallRecorder;
    vad: Vad;
    /** What the stream brings. */
    format: AudioFormat;
  }) {
    this.#talk = o.talk;
    this.#clock = o.clock;
    this.#echo = o.echo;
    this.#recorder = o.recorder;
    this.#voice = new CallerVoice({ listener: o.talk, clock: o.clock, guard: o.echo, options: o.vad.speech });
    this.#lane = o.vad.openLane(this.#voice.window);
    this.#toEar = createConverter(o.format, MULAW_8K);
  }

  /** Takes the next sound. `leadMs`: by so much it lies later here than the carrier's time has it. */
  readonly hear = (sound: Buffer, streamMs: number, filled: boolean, leadMs: number): void => {
    if (!filled) this.#clock.lies(streamMs, leadMs);
    const atMs = this.#clock.at(streamMs);
    const mulaw = this.#toEar.convert(sound);
    this.#lane.push(mulaw);
    if (this.#echo.near(atMs)) this.#echo.heard(mulaw, atMs);
    this.#talk.callerAudio(sound, atMs);
    if (!filled) this.#recorder.caller(mulaw, atMs);
    if (this.#talk.waitingForBeep()) {
      this.#beep ??= new BeepDetector();
      if (this.#beep.push(decoded(mulaw)) !== null) this.#talk.beep();
    } else this.#beep = null;
  };

  /** From speech that has started until it has ended. */
  speaking(): boolean {
    return this.#voice.speaking();
  }

  /** Up to when the detector has listened, on the call's clock. */
  heardMs(): number {
    return this.#voice.heardMs();
  }

  close(): void {
    this.#lane.close();
  }
}

function decoded(mulaw: Uint8Array): Int16Array {
  const samples = mulaw.length <= PCM.length ? PCM : new Int16Array(mulaw.length);
  return samples.subarray(0, decodeMulaw(mulaw, samples));
}
