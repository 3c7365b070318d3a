// PURE. Sound as samples and as clips: WAV files and tones -> 8 kHz -> 20 ms mu-law frames, encoded once for the wire.
import wavefile from 'wavefile';
import { encode, FRAME_BYTES, FRAME_MS, levelDb, RATE_HZ, SILENCE } from './mulaw.ts';
import { createRandom } from './random.ts';

export interface ClipFrame {
  mulaw: Buffer;
  base64: string;
  levelDb: number;
  /** Frequency when the frame is part of a steady tone (a beep, a fax), else 0. */
  toneHz: number;
}
export interface Clip {
  name: string;
  frames: ClipFrame[];
  durationMs: number;
}

/** Any WAV (PCM, float, A-law, mu-law; any rate, any channels) -> mono 16-bit samples at 8 kHz. */
export function wavSamples(file: Uint8Array): Float64Array {
  const wave = new wavefile.WaveFile(file);
  if (wave.bitDepth === '8m') wave.fromMuLaw();
  else if (wave.bitDepth === '8a') wave.fromALaw();
  wave.toBitDepth('16');
  const { sampleRate, numChannels } = wave.fmt as { sampleRate: number; numChannels: number };
  const interleaved = wave.getSamples(true);
  const mono = new Float64Array(Math.floor(interleaved.length / numChannels));
  for (let i = 0; i < mono.length; i++) {
    let sum = 0;
    for (let channel = 0; channel < numChannels; channel++) sum += interleaved[i * numChannels + channel]!;
    mono[i] = sum / numChannels;
  }
  return resample(mono, sampleRate);
}

/** Windowed-sinc resampling to 8 kHz, low-passed below the lower of the two half rates. */
export function resample(samples: Float64Array, rateHz: number): Float64Array {
  if (rateHz === RATE_HZ) return samples;
  const ratio = rateHz / RATE_HZ;
  const cutoff = Math.min(1, 1 / ratio) * 0.94;
  const half = Math.ceil(16 / cutoff);
  const out = new Float64Array(Math.floor(samples.length / ratio));
  for (let i = 0; i < out.length; i++) {
    const center = i * ratio;
    const from = Math.max(0, Math.ceil(center - half));
    const to = Math.min(samples.length - 1, Math.floor(center + half));
    let sum = 0;
    for (let j = from; j <= to; j++) {
      const x = center - j;
      const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x);
      sum += samples[j]! * sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / (half + 1)));
    }
    out[i] = sum;
  }
  return out;
}

/** A sum of equal sine tones; `levelDb` is the peak of the sum below full scale. 5 ms ramps keep it from clicking. */
export function toneSamples(frequenciesHz: number[], ms: number, levelDb: number): Float64Array {
  const length = Math.round((ms * RATE_HZ) / 1000);
  const amplitude = (32767 * 10 ** (levelDb / 20)) / frequenciesHz.length;
  const ramp = 0.005 * RATE_HZ;
  return Float64Array.from({ length }, (_, i) => {
    let sum = 0;
    for (const hz of frequenciesHz) sum += Math.sin((2 * Math.PI * hz * i) / RATE_HZ);
    return sum * amplitude * Math.min(1, i / ramp, (length - 1 - i) / ramp);
  });
}

const KEYS = '123A456B789C*0#D';
const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];

/** Key tones as audio (ITU-T Q.23), 100 ms each with 100 ms between; `w` is half a second of silence. */
export function keyToneSamples(digits: string): Float64Array {
  const parts = [...digits].map((digit) => {
    if (digit === 'w') return new Float64Array(RATE_HZ / 2);
    const key = KEYS.indexOf(digit);
    const tone = toneSamples([ROWS_HZ[key >> 2]!, COLUMNS_HZ[key & 3]!], 100, -9);
    const part = new Float64Array(RATE_HZ / 5);
    part.set(tone);
    return part;
  });
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Stands for the carrier's own text-to-speech: syllable-like bursts, as long as the text takes to say. */
export function speechLikeSamples(text: string): Float64Array {
  const samples = toneSamples([160, 320, 640], Math.max(300, text.length * 65), -14);
  for (let i = 0; i < samples.length; i++) {
    samples[i]! *= 0.55 + 0.45 * Math.sin((2 * Math.PI * 4 * i) / RATE_HZ);
  }
  return samples;
}

export function amplify(samples: Float64Array, gainDb: number): Float64Array {
  if (gainDb === 0) return samples;
  const gain = 10 ** (gainDb / 20);
  return samples.map((sample) => sample * gain);
}

/** Cuts samples into frames; the last one is filled with silence. */
export function clipOf(name: string, samples: Float64Array): Clip {
  const count = Math.ceil(samples.length / FRAME_BYTES);
  const padded = new Float64Array(count * FRAME_BYTES);
  padded.set(samples);
  const bytes = encode(padded);
  const tones = steadyTones(padded);
  const frames = Array.from({ length: count }, (_, index): ClipFrame => {
    const mulaw = bytes.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES);
    return {
      mulaw,
      base64: mulaw.toString('base64'),
      levelDb: levelDb(mulaw),
      toneHz: tones[index]!,
    };
  });
  return { name, frames, durationMs: count * FRAME_MS };
}

/** Marks frames of a single stable frequency that lasts 120 ms or more: vowels do not, beeps do. */
function steadyTones(samples: Float64Array): number[] {
  const count = samples.length / FRAME_BYTES;
  const tones = new Array<number>(count).fill(0);
  for (let frame = 0; frame < count; frame++) tones[frame] = toneOf(samples, frame * FRAME_BYTES);
  for (let start = 0; start < count; ) {
    let end = start;
    while (end < count && tones[end] === tones[start]) end++;
    if (tones[start] !== 0 && end - start < 6) tones.fill(0, start, end);
    start = end;
  }
  return tones;
}

const COSINE = Float64Array.from({ length: FRAME_BYTES }, (_, i) =>
  Math.cos((2 * Math.PI * i) / FRAME_BYTES),
);

/** Frequency of a frame that holds little else (50 Hz bins, 300-2250 Hz), else 0. */
function toneOf(samples: Float64Array, at: number): number {
  const windowed = new Float64Array(FRAME_BYTES);
  let total = 0;
  for (let i = 0; i < FRAME_BYTES; i++) {
    windowed[i] = samples[at + i]! * (0.5 - 0.5 * COSINE[i]!);
    total += windowed[i]! * windowed[i]!;
  }
  // -40 dB: quieter is no beep that anyone waits for. 0.375 is the power of the window.
  if (total / FRAME_BYTES < 32768 * 32768 * 1e-4 * 0.375) return 0;
  const energies = new Float64Array(47);
  let best = 0;
  for (let bin = 6; bin <= 45; bin++) {
    let real = 0;
    let imaginary = 0;
    for (let i = 0; i < FRAME_BYTES; i++) {
      const turn = (bin * i) % FRAME_BYTES;
      real += windowed[i]! * COSINE[turn]!;
      imaginary += windowed[i]! * COSINE[(turn + 120) % FRAME_BYTES]!;
    }
    energies[bin] = real * real + imaginary * imaginary;
    if (energies[bin]! > energies[best]!) best = bin;
  }
  const near = (energies[best - 1] ?? 0) + energies[best]! + (energies[best + 1] ?? 0);
  return near / ((total * FRAME_BYTES) / 2) > 0.9 ? best * 50 : 0;
}

/** Line silence: mostly +0, now and then -0 or the smallest step, as real lines have it. Pre-encoded variants. */
export function silenceFrames(seed: number): ClipFrame[] {
  const random = createRandom(seed, -2);
  return Array.from({ length: 32 }, () => {
    const mulaw = Buffer.from(SILENCE);
    for (let i = 0; i < 6; i++) mulaw[random.integer(FRAME_BYTES)] = random.pick([0x7f, 0x7f, 0xfe, 0x7e]);
    return { mulaw, base64: mulaw.toString('base64'), levelDb: levelDb(mulaw), toneHz: 0 };
  });
}
