// PURE. From one audio format to another, frame by frame: bytes to samples, the rate, samples to bytes. One instance a stream
// and direction, which keeps what a cut between two frames would lose. The same format is passed through untouched.
import { type AudioFormat, sameFormat } from './format.ts';
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from './g711.ts';
import { createResampler, type Resampler } from './resampler.ts';

export interface Converter {
  readonly from: AudioFormat;
  readonly to: AudioFormat;
  /** How much later sound comes out than it went in. */
  readonly delayMs: number;
  /**
   * Converts the next bytes of the stream, any number of them: how they are cut changes no bit of the result, and so many
   * milliseconds come out as went in. The answer is `payload` itself where the formats are the same, else valid until the
   * next call.
   */
  convert(payload: Buffer): Buffer;
  /** Another stream begins: nothing of the one before sounds in it. */
  restart(): void;
}

/** A converter between any two formats. Reads and writes samples in this machine's byte order, which is little-endian. */
export function createConverter(from: AudioFormat, to: AudioFormat): Converter {
  if (sameFormat(from, to)) return { from, to, delayMs: 0, convert: (payload) => payload, restart() {} };
  return new SampleConverter(from, to);
}

/** A stretch of samples that grows to what is needed and is then used again and again, as samples and as bytes. */
class Samples {
  #room = new Int16Array(0);
  #samples = this.#room;
  #bytes = Buffer.from(this.#room.buffer);

  /** Room for so many samples, what was in it before undefined. The same view as long as the length is the same. */
  take(length: number): Int16Array {
    if (length > this.#room.length) this.#room = new Int16Array(length * 2);
    if (length !== this.#samples.length || this.#samples.buffer !== this.#room.buffer) {
      this.#samples = this.#room.subarray(0, length);
      this.#bytes = Buffer.from(this.#room.buffer, 0, length * 2);
    }
    return this.#samples;
  }

  /** What was taken last, as bytes. */
  bytes(): Buffer {
    return this.#bytes;
  }
}

class SampleConverter implements Converter {
  readonly from: AudioFormat;
  readonly to: AudioFormat;
  readonly delayMs: number;
  readonly #resampler: Resampler | null;
  readonly #read = new Samples();
  readonly #resampled = new Samples();
  readonly #exact = new Samples();
  #coded = Buffer.alloc(0);
  #codedView = this.#coded;
  /** The first half of a sample that was cut in two; -1: none. */
  #half = -1;

  constructor(from: AudioFormat, to: AudioFormat) {
    this.from = from;
    this.to = to;
    this.#resampler = from.rateHz === to.rateHz ? null : createResampler(from.rateHz, to.rateHz);
    this.delayMs = this.#resampler?.delayMs ?? 0;
  }

  convert(payload: Buffer): Buffer {
    const samples = this.#decode(payload);
    const resampler = this.#resampler;
    if (resampler === null) return this.#encode(samples, this.#read);
    const room = this.#resampled.take(resampler.outputLength(samples.length));
    const count = resampler.process(samples, room);
    if (count === room.length) return this.#encode(room, this.#resampled);
    // A stretch that does not come out even: one sample less now, one more later.
    const exact = this.#exact.take(count);
    for (let i = 0; i < count; i++) exact[i] = room[i]!;
    return this.#encode(exact, this.#exact);
  }

  restart(): void {
    this.#resampler?.restart();
    this.#half = -1;
  }

  #decode(payload: Buffer): Int16Array {
    if (this.from.encoding === 'pcm16') return this.#readPcm(payload);
    const samples = this.#read.take(payload.length);
    if (this.from.encoding === 'mulaw') decodeMulaw(payload, samples);
    else decodeAlaw(payload, samples);
    return samples;
  }

  /** A payload may begin at any byte of memory, and in the middle of a sample. */
  #readPcm(payload: Buffer): Int16Array {
    const held = this.#half < 0 ? 0 : 1;
    const total = held + payload.length;
    const samples = this.#read.take(total >> 1);
    const bytes = this.#read.bytes();
    const last = total % 2 === 0 || payload.length === 0 ? this.#half : payload[payload.length - 1]!;
    if (held === 1 && bytes.length > 0) bytes[0] = this.#half;
    payload.copy(bytes, held, 0, bytes.length - held);
    this.#half = total % 2 === 0 ? -1 : last;
    return samples;
  }

  #encode(samples: Int16Array, held: Samples): Buffer {
    if (this.to.encoding === 'pcm16') return held.bytes();
    const length = samples.length;
    if (length > this.#coded.length) this.#coded = Buffer.alloc(length * 2);
    if (length !== this.#codedView.length || this.#codedView.buffer !== this.#coded.buffer)
      this.#codedView = this.#coded.subarray(0, length);
    if (this.to.encoding === 'mulaw') encodeMulaw(samples, this.#codedView);
    else encodeAlaw(samples, this.#codedView);
    return this.#codedView;
  }
}
