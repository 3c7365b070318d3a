// The recordings of the people on the line: those that ship with the command, and a file that was given instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { amplify, wavSamples } from '../carrier-simulator/sound.ts';
import type { Clip, Clips } from './scenarios.ts';
import { RATE_HZ, readWav, speechStretches, writeWav } from './sound.ts';

const FOLDER = join(import.meta.dirname, 'audio');
const USUAL_CALLER = 'jfk-8k.wav';
const MOST_SECONDS = 300;
const HIGHEST = 0.98;

/** The samples of a mono file at 8 kHz. */
export function readClip(file: string): Float32Array {
  return readWav(readFileSync(file)).channels[0] ?? new Float32Array();
}

/** How loud the speech in it is, in dB of full scale; -Infinity where nobody speaks. */
function speechDb(samples: Float32Array): number {
  let energy = 0;
  let count = 0;
  for (const { from, to } of speechStretches(samples)) {
    for (let i = from; i < to; i++) energy += samples[i]! ** 2;
    count += to - from;
  }
  return 10 * Math.log10(energy / count);
}

/**
 * The shipped recordings, with `callerFile` as the voice of the person. A file of another rate or with more channels is
 * brought to the telephone's 8 kHz; it is made as loud as the shipped voice, as far as that goes without distortion: all that a person
 * says comes from one telephone. It is written into `folder`.
 * @throws Error in words for the person when the file cannot be used
 */
export function openClips(callerFile: string | null, folder: string): Clips {
  const list = JSON.parse(readFileSync(join(FOLDER, 'words.json'), 'utf8')) as Clip[];
  const byFile = Object.fromEntries(
    list.map(({ file, words }): [string, Clip] => [file, { file: join(FOLDER, file), words }]),
  );
  const usual = byFile[USUAL_CALLER]!;
  if (callerFile === null) return { caller: usual, byFile };
  let file: Buffer;
  try {
    file = readFileSync(callerFile);
  } catch (error) {
    throw new Error(`Cannot read the recording: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (file.equals(readFileSync(usual.file))) return { caller: usual, byFile };
  let samples: Float64Array;
  try {
    samples = wavSamples(file);
  } catch (error) {
    throw new Error(`${callerFile} is no WAV file that can be read.`, { cause: error });
  }
  if (samples.length > MOST_SECONDS * RATE_HZ) {
    throw new Error(`${callerFile} is longer than ${MOST_SECONDS / 60} minutes.`);
  }
  const path = join(folder, 'caller.wav');
  const stretches = speechStretches(Float32Array.from(samples));
  if (stretches.length === 0) throw new Error(`Nobody speaks in ${callerFile}, or far too quietly.`);
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const gainDb = Math.min(
    speechDb(readClip(usual.file)) - speechDb(Float32Array.from(samples)),
    20 * Math.log10(HIGHEST / loudest),
  );
  writeFileSync(path, writeWav(amplify(samples, gainDb)));
  const words = stretches.map(({ from, to }, i): [number, number, string] => [
    Math.round((from * 1000) / RATE_HZ),
    Math.round((to * 1000) / RATE_HZ),
    `(part ${i + 1})`,
  ]);
  return { caller: { file: path, words, unknownWords: true }, byFile };
}
