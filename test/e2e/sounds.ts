// Sounds that callers make in tests, as WAV files.
import { writeFileSync } from 'node:fs';
import { readFixture } from '../audio/fixtures.ts';

/** 8 kHz mono 16-bit. */
export function wavOf(pcm: Int16Array): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + pcm.length * 2, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length * 2, 40);
  return Buffer.concat([head, Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)]);
}

/** As long as "yes": the first 300 ms of a word, faded at both ends. */
export function wordOfAssent(): Int16Array {
  const word = readFixture('jfk-8k').slice(8 * 320, 8 * 620);
  for (let i = 0; i < 240; i++) {
    word[i] = (word[i]! * i) / 240;
    word[word.length - 1 - i] = (word[word.length - 1 - i]! * i) / 240;
  }
  return word;
}

/** A word of 290 ms, faded at both ends, that is no such word. */
export function otherWord(): Int16Array {
  const word = readFixture('caller-thanks').slice(8 * 1_270, 8 * 1_560);
  for (let i = 0; i < 80; i++) {
    word[i] = (word[i]! * i) / 80;
    word[word.length - 1 - i] = (word[word.length - 1 - i]! * i) / 80;
  }
  return word;
}

/** "Goodbye.", about half a second of nothing, "Thank you for …": a pause, and no end by the rules. */
export function wordsWithPause(): Int16Array {
  const words = readFixture('caller-thanks');
  const cut = 1_050 * 8;
  const paused = new Int16Array(words.length + 200 * 8);
  paused.set(words.subarray(0, cut));
  paused.set(words.subarray(cut), cut + 200 * 8);
  return paused;
}

/** What the model's ears compare is half a second and more. */
const AROUND_MS = 600;

/** Writes a word down for the simulated model to know it: a recording of its scenario. */
export function knownWord(path: string, sound: Int16Array, text: string) {
  const around = new Int16Array(AROUND_MS * 8);
  writeFileSync(path, wavOf(Int16Array.from([...around, ...sound, ...around])));
  return { file: path, words: [[AROUND_MS, AROUND_MS + sound.length / 8, text]] };
}
