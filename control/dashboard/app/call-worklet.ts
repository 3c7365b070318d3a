// The sound of a call in the browser's audio thread: microphone -> 8 kHz mu-law frames of 20 ms, and the agent's mu-law ->
// the speaker. A module of its own, loaded by call-line.ts; it knows no socket.
import { Playback } from './call-playback.ts';
import { encodeMulaw, FRAME_BYTES, LINE_RATE_HZ, Resampler } from './call-sound.ts';

// The worklet's own scope, of which TypeScript's library knows nothing.
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

export type ToWorklet =
  | { type: 'play'; payload: Uint8Array }
  | { type: 'mark'; name: string }
  | { type: 'clear' }
  | { type: 'mute'; on: boolean }
  | { type: 'close' };

export type FromWorklet =
  /** 20 ms of the microphone; of silence when there is none, or it is muted. */
  | { type: 'frame'; payload: Uint8Array }
  | { type: 'played'; names: string[] }
  /** Root mean square over some 50 ms, 0 to 1. */
  | { type: 'level'; microphone: number; agent: number };

/** Samples at 8 kHz that are taken for the speaker at once. */
const PIECE = 16;
const LEVEL_EVERY_MS = 50;

class CallProcessor extends AudioWorkletProcessor {
  readonly #playback = new Playback();
  readonly #toLine = new Resampler(sampleRate, LINE_RATE_HZ);
  readonly #toSpeaker = new Resampler(LINE_RATE_HZ, sampleRate);
  readonly #piece = new Float32Array(PIECE);
  readonly #quiet = new Float32Array(128);
  /** Samples for the speaker that no block has taken yet. */
  readonly #ahead = new Float32Array(4_096);
  #aheadCount = 0;
  #frame = new Uint8Array(FRAME_BYTES);
  #frameCount = 0;
  #muted = false;
  #closed = false;
  #microphoneSum = 0;
  #agentSum = 0;
  #levelCount = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToWorklet>) => this.#receive(data);
  }

  #receive(message: ToWorklet): void {
    switch (message.type) {
      case 'play':
        this.#playback.push(message.payload);
        return;
      case 'mark':
        this.#playback.mark(message.name);
        return;
      case 'clear':
        this.#tell(this.#playback.clear());
        return;
      case 'mute':
        this.#muted = message.on;
        return;
      case 'close':
        this.#closed = true;
    }
  }

  #post(message: FromWorklet, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }

  #tell(names: string[]): void {
    if (names.length > 0) this.#post({ type: 'played', names });
  }

  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    if (this.#closed) return false;
    const length = outputs[0]?.[0]?.length ?? 128;
    const microphone = this.#muted ? undefined : inputs[0]?.[0];
    this.#capture(microphone ?? (length === 128 ? this.#quiet : new Float32Array(length)));
    this.#play(outputs[0] ?? [], length);
    this.#levelCount += length;
    if (this.#levelCount * 1000 >= LEVEL_EVERY_MS * sampleRate) {
      const rms = (sum: number) => Math.sqrt(sum / this.#levelCount);
      this.#post({ type: 'level', microphone: rms(this.#microphoneSum), agent: rms(this.#agentSum) });
      this.#microphoneSum = 0;
      this.#agentSum = 0;
      this.#levelCount = 0;
    }
    return true;
  }

  #capture(input: Float32Array): void {
    for (const sample of input) this.#microphoneSum += sample * sample;
    for (const sample of this.#toLine.push(input)) {
      this.#frame[this.#frameCount++] = encodeMulaw(sample);
      if (this.#frameCount < FRAME_BYTES) continue;
      const payload = this.#frame;
      this.#frame = new Uint8Array(FRAME_BYTES);
      this.#frameCount = 0;
      this.#post({ type: 'frame', payload }, [payload.buffer]);
    }
  }

  #play(channels: Float32Array[], length: number): void {
    while (this.#aheadCount < length) {
      this.#tell(this.#playback.read(this.#piece));
      const samples = this.#toSpeaker.push(this.#piece);
      this.#ahead.set(samples, this.#aheadCount);
      this.#aheadCount += samples.length;
    }
    for (let i = 0; i < length; i++) this.#agentSum += this.#ahead[i]! ** 2;
    for (const channel of channels) channel.set(this.#ahead.subarray(0, length));
    this.#ahead.copyWithin(0, length, this.#aheadCount);
    this.#aheadCount -= length;
  }
}

registerProcessor('offhook-call', CallProcessor);
