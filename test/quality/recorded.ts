// What a set's recordings are, and how files, codecs and speech programs give them. Which of them a set has: recordings.ts.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import wavefile from 'wavefile';
import { createResampler } from '../../audio/resampler.ts';
import { type Clip, clipOf } from './labels.ts';
import { fromPcm, RATE_HZ, resampled, type SetName, type Sound } from './sounds.ts';

/** What listeners do: words that mean "go on", and noises that are no words. */
export interface ListenerNoises {
  assents: Clip[];
  coughs: Clip[];
  laughs: Clip[];
}

export interface Recordings {
  set: SetName;
  /** Phrases and sentences of one breath or several, a second or more. */
  sentences: Clip[];
  /** Words: a third of a second to one second. */
  words: Clip[];
  backchannels: Clip[];
  /** The digits from 0 on, voice by voice. */
  digits: Clip[][];
  /** What a listener says while the other one talks, with its text: go on. */
  assents: Clip[];
  /** What somebody says who wants the other one to stop, with its text. */
  stops: Clip[];
  /** Of real voices. */
  noises: ListenerNoises;
  /** What the agent says: long, hardly a pause. */
  agent: Sound;
  /** What was used, and what was missing with how to install it. */
  sources: string[];
  missing: string[];
}

/** Not a voice, or not one voice: tones, monkeys, a crowd. */
const NO_VOICE = /beep|tone|monkeys|glorious|silence/;

/** A recording at 8 kHz, whatever its own rate. */
function readWav(path: string): Sound {
  const wav = new wavefile.WaveFile(readFileSync(path));
  const pcm = Int16Array.from(wav.getSamples(false, Int16Array));
  const rateHz = (wav.fmt as { sampleRate: number }).sampleRate;
  if (rateHz === RATE_HZ) return fromPcm(pcm);
  if (rateHz !== 16_000 && rateHz !== 24_000) return resampled(fromPcm(pcm), rateHz);
  const resampler = createResampler(rateHz, RATE_HZ);
  const down = new Int16Array(resampler.outputLength(pcm.length));
  return fromPcm(down.subarray(0, resampler.process(pcm, down)));
}

/** A recording of any other kind (GSM 06.10, Vorbis), by ffmpeg. */
function readAny(path: string): Sound {
  const raw = ['-f', 's16le', '-ar', '8000', '-ac', '1', 'pipe:1'];
  const out = execFileSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-i', path, ...raw], {
    maxBuffer: 1 << 26,
  });
  return fromPcm(new Int16Array(out.buffer.slice(out.byteOffset, out.byteOffset + (out.length & ~1))));
}

export const readSound = (path: string): Sound => (path.endsWith('.wav') ? readWav(path) : readAny(path));

export const seconds = (clip: Clip): number => clip.sound.length / RATE_HZ;

/** Ten digits by the names of their files. */
export const TEN_DIGITS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789'].map((digit) => [digit, digit]),
);

/** The recordings of a folder below a root, cut to their speech. `among`: those of these names, without their ending. */
export function clipsIn(o: {
  root: string;
  folder: string;
  voice: string;
  language: string;
  among?: ReadonlySet<string>;
}): Clip[] {
  const { root, folder, voice, language, among } = o;
  return readdirSync(join(root, folder))
    .filter((name) => /\.(wav|gsm)$/.test(name) && !NO_VOICE.test(name))
    .filter((name) => among?.has(fileOf(name)) ?? true)
    .sort()
    .flatMap((name) => {
      const clip = clipOf(join(folder, name), readSound(join(root, folder, name)));
      return clip === null ? [] : { ...clip, voice, language };
    });
}

/** The name of a recording's file without its ending. */
const fileOf = (name: string) => basename(name).replace(/\.\w+$/, '');

/** The clips of these files in this order, with what they say; those that are missing left out. */
export function said(clips: readonly Clip[], texts: Readonly<Record<string, string>>): Clip[] {
  return Object.entries(texts).flatMap(([file, text]) => {
    const clip = clips.find(({ name }) => fileOf(name) === file);
    return clip === undefined ? [] : { ...clip, text };
  });
}

/** A program and what it is given. */
type Command = readonly [string, ...string[]];

/** Texts spoken by a program that writes WAV files. */
export function speak(o: {
  voice: string;
  texts: readonly string[];
  language?: string;
  /** What makes these files. */
  commands(files: readonly { text: string; path: string }[]): readonly Command[];
}): Clip[] {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-quality-'));
  try {
    const files = o.texts.map((text, i) => ({ text, path: join(folder, `${i}.wav`) }));
    for (const [program, ...args] of o.commands(files)) execFileSync(program, args, { stdio: 'ignore' });
    return files.flatMap(({ text, path }) => {
      const clip = clipOf(`${o.voice}: ${text}`, readWav(path));
      return clip === null ? [] : { ...clip, voice: o.voice, text, language: o.language ?? 'en' };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const has = (program: string): boolean =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

export const hasFfmpeg = (): boolean => has('ffmpeg');

/** 8 kHz PCM through a codec of ffmpeg and back; trimmed to its length, the codec's own delay taken out of the front. */
export function throughCodec(pcm: Int16Array, codec: 'gsm' | 'g726'): Int16Array {
  const raw = ['-f', 's16le', '-ar', '8000', '-ac', '1'];
  const quiet = ['-hide_banner', '-loglevel', 'error'];
  const [encoder, container] = codec === 'gsm' ? ['libgsm', 'gsm'] : ['g726le', 'g726le'];
  const bits = codec === 'g726' ? ['-code_size', '4'] : [];
  const coded = execFileSync(
    'ffmpeg',
    [...quiet, ...raw, '-i', 'pipe:0', '-c:a', encoder!, ...bits, '-f', container!, 'pipe:1'],
    { input: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength), maxBuffer: 1 << 28 },
  );
  const rate = codec === 'g726' ? ['-ar', '8000', ...bits] : [];
  const out = execFileSync(
    'ffmpeg',
    [...quiet, '-f', container!, ...rate, '-i', 'pipe:0', ...raw, 'pipe:1'],
    {
      input: coded,
      maxBuffer: 1 << 28,
    },
  );
  const decoded = new Int16Array(out.buffer.slice(out.byteOffset, out.byteOffset + (out.length & ~1)));
  const whole = new Int16Array(pcm.length);
  whole.set(decoded.subarray(0, pcm.length));
  return whole;
}
