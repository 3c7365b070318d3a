// The shape of a recording's sound, worked out while it is read: an hour of it need not be held or decoded. PURE.

export interface WavPeaks {
  /** Takes the next bytes of the file. @throws Error when it is no 16-bit PCM WAV */
  take(bytes: Uint8Array): void;
  /** What was read so far: for each channel, one value of -1..1 for each step, loudest of it. */
  peaks(): { channels: Float32Array[]; durationMs: number };
}

const HEADER_BYTES = 44;

/** @param stepsPerSecond how fine the shape is */
export function readWavPeaks(stepsPerSecond: number): WavPeaks {
  let header = new Uint8Array(0);
  let channels = 0;
  let rateHz = 0;
  let stepPairs = 0;
  let left = new Uint8Array(0);
  let pairs = 0;
  let found: number[][] = [];
  let loudest: number[] = [];

  function readHeader(): Uint8Array | null {
    if (header.length < HEADER_BYTES) return null;
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
    const tag = (at: number) => String.fromCharCode(...header.subarray(at, at + 4));
    if (tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new Error('This is not a WAV file.');
    // Chunks may stand between the format and the sound.
    for (let at = 12; at + 8 <= header.length; ) {
      const bytes = view.getUint32(at + 4, true);
      if (tag(at) === 'fmt ') {
        if (at + 24 > header.length) return null;
        if (view.getUint16(at + 8, true) !== 1 || view.getUint16(at + 22, true) !== 16) {
          throw new Error('This WAV is not 16-bit PCM.');
        }
        channels = view.getUint16(at + 10, true);
        rateHz = view.getUint32(at + 12, true);
      } else if (tag(at) === 'data') {
        if (channels === 0 || rateHz === 0) throw new Error('This WAV does not say its format.');
        stepPairs = Math.max(1, Math.round(rateHz / stepsPerSecond));
        found = Array.from({ length: channels }, () => []);
        loudest = found.map(() => 0);
        return header.subarray(at + 8);
      }
      at += 8 + bytes + (bytes % 2);
    }
    return null;
  }

  function measure(bytes: Uint8Array): void {
    const frameBytes = channels * 2;
    const whole = bytes.length - (bytes.length % frameBytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, whole);
    for (let at = 0; at < whole; at += frameBytes) {
      for (let channel = 0; channel < channels; channel++) {
        const sample = view.getInt16(at + channel * 2, true) / 32_768;
        if (Math.abs(sample) > Math.abs(loudest[channel] ?? 0)) loudest[channel] = sample;
      }
      pairs++;
      if (pairs % stepPairs === 0) flush();
    }
    left = bytes.slice(whole);
  }

  function flush(): void {
    for (const [channel, value] of loudest.entries()) found[channel]?.push(value);
    loudest.fill(0);
  }

  const joined = (a: Uint8Array, b: Uint8Array) => {
    const both = new Uint8Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };

  return {
    take(bytes) {
      if (stepPairs > 0) {
        measure(left.length === 0 ? bytes : joined(left, bytes));
        return;
      }
      header = joined(header, bytes);
      const sound = readHeader();
      if (sound === null) return;
      header = new Uint8Array(0);
      measure(sound);
    },
    peaks() {
      return {
        channels: found.map((values) => Float32Array.from(values)),
        durationMs: rateHz === 0 ? 0 : (pairs / rateHz) * 1000,
      };
    },
  };
}
