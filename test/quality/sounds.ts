// PURE. What a line carries besides speech, made from seeds: noises, music, tones, sounds people make; and the arithmetic of
// levels, mixing and echo. Sounds are 8 kHz, 1 is full scale; levels are dB of a full-scale square wave, as in audio/levels.ts.
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import type { Random } from '../random.ts';

export type Sound = Float64Array;
export const RATE_HZ = 8000;
export const samplesOf = (ms: number): number => Math.round(ms * 8);

/** A seed out of a name, so that adding a case changes no other. FNV-1a. */
export function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export type SetName = 'first' | 'second';
export const SETS: readonly SetName[] = ['first', 'second'];

/** The seed of a name in a set. */
export const seedFor = (set: SetName, name: string): number =>
  seedOf(set === 'first' ? name : `${set}: ${name}`);

export function pick<T>(from: readonly T[], random: Random): T {
  return from[Math.floor(random() * from.length)]!;
}

export const between = (low: number, high: number, random: Random): number => low + (high - low) * random();

/** So many samples, each by its number. A plain loop: a set has hundreds of millions of them. */
function made(length: number, at: (n: number) => number): Sound {
  const sound = new Float64Array(length);
  for (let n = 0; n < length; n++) sound[n] = at(n);
  return sound;
}

export function fromPcm(pcm: Int16Array): Sound {
  return made(pcm.length, (n) => pcm[n]! / 32768);
}

export function toPcm(sound: Sound): Int16Array {
  const pcm = new Int16Array(sound.length);
  for (let n = 0; n < pcm.length; n++)
    pcm[n] = Math.max(-32768, Math.min(32767, Math.round(sound[n]! * 32768)));
  return pcm;
}

/** Through mu-law and back, as every line does it. */
export function throughMulaw(pcm: Int16Array): Int16Array {
  const payload = new Uint8Array(pcm.length);
  encodeMulaw(pcm, payload);
  const out = new Int16Array(pcm.length);
  decodeMulaw(payload, out);
  return out;
}

/** At 8 kHz what was recorded at a higher rate: a windowed sinc, 12 periods to either side. */
export function resampled(sound: Sound, rateHz: number): Sound {
  const step = rateHz / RATE_HZ;
  const half = Math.ceil(12 * step);
  return made(Math.floor(sound.length / step), (n) => {
    const centre = n * step;
    let sum = 0;
    for (let i = Math.ceil(centre - half); i <= centre + half; i++) {
      const x = (i - centre) / step;
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
      sum += (sound[i] ?? 0) * sinc * (0.5 + 0.5 * Math.cos((Math.PI * (i - centre)) / (half + 1)));
    }
    return sum / step;
  });
}

export const gainOf = (db: number): number => 10 ** (db / 20);

export function rmsDb(sound: Sound): number {
  let sum = 0;
  for (const sample of sound) sum += sample * sample;
  return sum === 0 ? -96 : 10 * Math.log10(sum / sound.length);
}

export function scaled(sound: Sound, gain: number): Sound {
  return made(sound.length, (n) => sound[n]! * gain);
}

export function atRms(sound: Sound, db: number): Sound {
  return scaled(sound, gainOf(db - rmsDb(sound)));
}

/** Adds `sound` to `bed` from a sample on; what would stand beyond the end is left out. */
export function addTo(bed: Sound, sound: Sound, atSample: number): void {
  const length = Math.min(sound.length, bed.length - atSample);
  for (let i = 0; i < length; i++) bed[atSample + i]! += sound[i]!;
}

export function joined(...parts: readonly Sound[]): Sound {
  const out = new Float64Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export const silent = (ms: number): Sound => new Float64Array(samplesOf(ms));

/** `sound` again and again, from a place of chance on. */
export function looped(sound: Sound, ms: number, random: Random): Sound {
  const start = Math.floor(random() * sound.length);
  return made(samplesOf(ms), (n) => sound[(start + n) % sound.length]!);
}

export function white(ms: number, random: Random): Sound {
  // Three even numbers make it round enough.
  return made(samplesOf(ms), () => (random() + random() + random()) / 1.5 - 1);
}

/** -3 dB an octave (Kellet's filter of white noise). */
export function pink(ms: number, random: Random): Sound {
  let [low, mid, high] = [0, 0, 0];
  return white(ms, random).map((sample) => {
    low = 0.99765 * low + sample * 0.099046;
    mid = 0.963 * mid + sample * 0.2965164;
    high = 0.57 * high + sample * 1.0526913;
    return low + mid + high + sample * 0.1848;
  });
}

/** Mains hum: the harmonics that a telephone band lets through, hardly any of the base itself. */
export function hum(baseHz: number, ms: number, random: Random): Sound {
  const parts = Array.from({ length: 11 }, (_, i) => ({
    hz: baseHz * (i + 1),
    gain: (i === 0 ? 0.2 : 1 / (i + 1)) * (i % 2 === 0 ? 1 : 0.5),
    phase: random() * 2 * Math.PI,
  }));
  // A tenth of a second holds whole periods of both mains.
  const period = made(RATE_HZ / 10, (n) =>
    parts.reduce(
      (sum, { hz, gain, phase }) => sum + gain * Math.sin((2 * Math.PI * hz * n) / RATE_HZ + phase),
      0,
    ),
  );
  return made(samplesOf(ms), (n) => period[n % period.length]!);
}

/** Chords and a melody with harmonics, each note struck and fading: music on hold. */
export function music(ms: number, random: Random): Sound {
  const out = silent(ms);
  const noteHz = (key: number) => 440 * 2 ** ((key - 69) / 12);
  const chords = [
    [57, 60, 64],
    [53, 57, 60],
    [48, 52, 55],
    [55, 59, 62],
  ];
  const beatMs = 500;
  for (let beat = 0; beat * beatMs < ms; beat++) {
    const chord = chords[Math.floor(beat / 4) % 4]!;
    const notes = beat % 2 === 0 ? chord.map((key) => ({ key, gain: 0.5 })) : [];
    notes.push({ key: pick(chord, random) + 12, gain: 0.7 });
    for (const { key, gain } of notes) {
      const note = made(samplesOf(beatMs * 2), (n) => {
        const phase = (2 * Math.PI * noteHz(key) * n) / RATE_HZ;
        const voice = Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.25 * Math.sin(3 * phase);
        return gain * voice * Math.min(1, n / 80) * Math.exp(-n / 3000);
      });
      addTo(out, note, samplesOf(beat * beatMs));
    }
  }
  return out;
}

/** Sines together, `onMs` on and `offMs` off. */
export function tone(frequenciesHz: readonly number[], onMs: number, offMs: number, ms: number): Sound {
  const period = samplesOf(onMs + offMs);
  return made(samplesOf(ms), (n) =>
    n % period < samplesOf(onMs)
      ? frequenciesHz.reduce((sum, hz) => sum + Math.sin((2 * Math.PI * hz * n) / RATE_HZ), 0)
      : 0,
  );
}

/** Keys pressed one after the other, 100 ms each. */
export function dtmf(ms: number, random: Random): Sound {
  const out = silent(ms);
  for (let at = 0; at < ms; at += 350) {
    const key = [pick([697, 770, 852, 941], random), pick([1209, 1336, 1477], random)];
    addTo(out, tone(key, 100, 250, Math.min(350, ms - at)), samplesOf(at));
  }
  return out;
}

/** A resonance of a hollow: what makes noise sound like a throat or a door. */
export function resonant(sound: Sound, hz: number, widthHz: number): Sound {
  const decay = Math.exp((-Math.PI * widthHz) / RATE_HZ);
  const turn = 2 * decay * Math.cos((2 * Math.PI * hz) / RATE_HZ);
  let [one, two] = [0, 0];
  return sound.map((sample) => {
    const value = sample * (1 - decay) + turn * one - decay * decay * two;
    two = one;
    one = value;
    return value;
  });
}

const shaped = (sound: Sound, envelope: (ms: number) => number): Sound =>
  sound.map((sample, n) => sample * envelope(n / 8));

/** A cough: one to three bursts of breath through a throat, each with a hard edge and a tail. */
export function cough(random: Random): Sound {
  const parts: Sound[] = [];
  const bursts = 1 + Math.floor(random() * 3);
  for (let burst = 0; burst < bursts; burst++) {
    const lengthMs = between(120, 220, random);
    const breath = white(lengthMs, random);
    const throat = joined(resonant(breath, between(450, 700, random), 200));
    addTo(throat, scaled(resonant(breath, between(1200, 1700, random), 300), 0.7), 0);
    addTo(throat, scaled(breath, 0.05), 0);
    parts.push(
      shaped(throat, (ms) => Math.min(1, ms / 8) * Math.exp(-ms / (lengthMs / 3))),
      silent(between(60, 160, random)),
    );
  }
  return joined(...parts);
}

/** A door: a knock of wood and what it leaves in the room. */
export function slam(random: Random): Sound {
  const knock = shaped(white(400, random), (ms) => Math.exp(-ms / 6));
  const room = joined(resonant(knock, between(90, 160, random), 25));
  addTo(room, resonant(knock, between(250, 420, random), 60), 0);
  addTo(
    room,
    scaled(
      shaped(white(400, random), (ms) => Math.exp(-ms / 60)),
      0.01,
    ),
    0,
  );
  return room;
}

/** "Mhm": two hummed syllables with closed lips, the second higher. */
export function mhm(random: Random): Sound {
  const pitchHz = between(105, 210, random);
  const syllable = (hz: number, rise: number, ms: number) => {
    let phase = 0;
    const glottis = made(samplesOf(ms), (n) => {
      phase += (hz * (1 + (rise * n) / samplesOf(ms))) / RATE_HZ;
      return phase % 1 < 0.1 ? 1 : -0.11;
    });
    const nose = joined(resonant(glottis, 260, 60));
    addTo(nose, scaled(resonant(glottis, 1050, 120), 0.25), 0);
    addTo(nose, scaled(resonant(glottis, 2200, 200), 0.1), 0);
    return shaped(nose, (at) => Math.min(1, at / 25, (ms - at) / 40));
  };
  return joined(
    syllable(pitchHz, -0.05, between(110, 170, random)),
    silent(between(30, 70, random)),
    syllable(pitchHz * 1.12, 0.12, between(150, 230, random)),
  );
}

/** "Uhm", drawn out: a vowel of an open throat that closes into a hum, level or falling. */
export function uhm(ms: number, random: Random): Sound {
  const pitchHz = between(95, 220, random);
  const fall = between(0, 0.08, random);
  const closesMs = ms * between(0.4, 0.7, random);
  let phase = 0;
  const glottis = made(samplesOf(ms), (n) => {
    const tremble = 1 + 0.01 * Math.sin((2 * Math.PI * 5 * n) / RATE_HZ);
    phase += (pitchHz * tremble * (1 - (fall * n) / samplesOf(ms))) / RATE_HZ;
    return phase % 1 < 0.1 ? 1 : -0.11;
  });
  const vowel = joined(resonant(glottis, between(560, 660, random), 80));
  addTo(vowel, scaled(resonant(glottis, between(1_150, 1_350, random), 110), 0.5), 0);
  addTo(vowel, scaled(resonant(glottis, 2_450, 160), 0.2), 0);
  const nose = joined(resonant(glottis, 260, 60));
  addTo(nose, scaled(resonant(glottis, 1_050, 120), 0.25), 0);
  const open = (at: number) => Math.min(1, Math.max(0, (closesMs + 40 - at) / 80));
  return vowel.map((sample, n) => {
    const at = n / 8;
    const mixed = sample * open(at) + nose[n]! * (1 - open(at));
    return mixed * Math.min(1, at / 40, (ms - at) / 90);
  });
}

/** Takes frames of 20 ms away, in runs of up to `run`, about `share` of all: silence stands in, as after the gap filler. */
export function lossy(pcm: Int16Array, share: number, run: number, random: Random): Int16Array {
  const out = Int16Array.from(pcm);
  const frames = Math.floor(pcm.length / 160);
  for (let frame = 0; frame < frames; frame++) {
    if (random() >= share / ((1 + run) / 2)) continue;
    const length = 1 + Math.floor(random() * run);
    out.fill(0, frame * 160, Math.min(out.length, (frame + length) * 160));
    frame += length;
  }
  return out;
}
