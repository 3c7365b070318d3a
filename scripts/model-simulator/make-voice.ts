// Makes the voice anew where flite (http://cmuflite.org) is installed: every phrase of the shipped scenarios as one
// recording, and the words of voice/vocabulary.txt one by one. Writes voice/voice.mulaw, voice/voice.json.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import wavefile from 'wavefile';
import { encodeMulaw } from './g711.ts';
import { Decimator } from './resample.ts';
import type { VoiceIndex } from './voice.ts';
import { phraseKey, phrases, wordings } from './wording.ts';

const SPEAKER = 'slt';
const RATE_HZ = 8000;
/** Level of every recording, as root mean square of its loud part. */
const LEVEL = 2600;
/** What stays of the silence before and after the speech. */
const EDGE_MS = 15;

const folder = import.meta.dirname;
const work = mkdtempSync(join(tmpdir(), 'voice-'));

interface Phone {
  name: string;
  startMs: number;
  endMs: number;
}

function flite(text: string, options: string[], output: string): string {
  return execFileSync('flite', ['-voice', SPEAKER, ...options, '-t', text, output], { encoding: 'utf8' });
}

function phonesOf(text: string, options: string[] = []): Phone[] {
  let startMs = 0;
  return flite(text, [...options, '-psdur'], 'none')
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const [name = '', end = '0'] = pair.split(':');
      const phone = { name, startMs, endMs: Math.round(Number(end) * 1000) };
      startMs = phone.endMs;
      return phone;
    });
}

/** flite reads single letters and short words as they stand; these it needs help with. */
const SPELLED: Record<string, string> = {
  a: 'ay',
  pbx: 'p b x',
  ivr: 'i v r',
  www: 'double u, double u, double u',
};

/** Where each word lies, by the cheapest match of the words' own phones with those of the whole phrase. */
function wordTimes(text: string, phones: Phone[]): { startMs: number; endMs: number }[] {
  const words = wordings(text);
  const expected = words.flatMap((word, index) =>
    phonesOf(word.spoken.join(' ')).flatMap((phone) =>
      phone.name === 'pau' ? [] : [{ name: phone.name, index }],
    ),
  );
  const sounding = phones.filter((phone) => phone.name !== 'pau');
  const width = expected.length + 1;
  const cost = new Float64Array((sounding.length + 1) * width).fill(Number.POSITIVE_INFINITY);
  cost[0] = 0;
  const price = (row: number, column: number) => (sounding[row]!.name === expected[column]!.name ? 0 : 0.9);
  for (let row = 0; row <= sounding.length; row++) {
    for (let column = 0; column <= expected.length; column++) {
      const here = row * width + column;
      if (row > 0) cost[here] = Math.min(cost[here]!, cost[here - width]! + 1);
      if (column > 0) cost[here] = Math.min(cost[here]!, cost[here - 1]! + 1);
      if (row > 0 && column > 0)
        cost[here] = Math.min(cost[here]!, cost[here - width - 1]! + price(row - 1, column - 1));
    }
  }
  const owned: Phone[][] = words.map(() => []);
  let row = sounding.length;
  let column = expected.length;
  while (row > 0 && column > 0) {
    const here = row * width + column;
    if (cost[here] === cost[here - width - 1]! + price(row - 1, column - 1)) {
      owned[expected[--column]!.index]!.push(sounding[--row]!);
    } else if (cost[here] === cost[here - width]! + 1) row--;
    else column--;
  }
  let lastMs = 0;
  return owned.map((own) => {
    const startMs = own.length === 0 ? lastMs : Math.min(...own.map((phone) => phone.startMs));
    const endMs = own.length === 0 ? lastMs : Math.max(...own.map((phone) => phone.endMs));
    lastMs = endMs;
    return { startMs, endMs };
  });
}

function record(text: string, options: string[] = []): { samples: Int16Array; cutMs: number } {
  const path = join(work, 'speech.wav');
  flite(text, options, path);
  const wav = new wavefile.WaveFile(readFileSync(path));
  const rateHz = (wav.fmt as { sampleRate: number }).sampleRate;
  const raw = wav.getSamples(false, Int16Array) as unknown as Int16Array;
  const decimator = new Decimator(rateHz / RATE_HZ);
  const samples = decimator.push(Int16Array.from([...raw, ...new Int16Array(64)]));
  // Low enough to keep an s or f at the edge of a word.
  const loud = 0.006 * samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  const edge = (EDGE_MS * RATE_HZ) / 1000;
  const first = Math.max(0, samples.findIndex((sample) => Math.abs(sample) > loud) - edge);
  const last = Math.min(samples.length, samples.findLastIndex((sample) => Math.abs(sample) > loud) + edge);
  const cut = samples.slice(first, last);
  let power = 0;
  let counted = 0;
  for (const sample of cut) {
    if (Math.abs(sample) <= loud) continue;
    power += sample * sample;
    counted++;
  }
  const peak = cut.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  const gain = Math.min(LEVEL / Math.sqrt(power / Math.max(1, counted)), 30000 / peak);
  return { samples: cut.map((sample) => Math.round(sample * gain)), cutMs: (first * 1000) / RATE_HZ };
}

const pack: Buffer[] = [];
let offset = 0;
function add(samples: Int16Array): [number, number] {
  const bytes = encodeMulaw(samples);
  pack.push(bytes);
  offset += bytes.length;
  return [offset - bytes.length, bytes.length];
}

const index: VoiceIndex = {
  rateHz: RATE_HZ,
  encoding: 'mulaw',
  speaker: `flite cmu_us_${SPEAKER}`,
  phrases: {},
  words: {},
};
for (const name of readdirSync(join(folder, 'scenarios')).sort()) {
  const scenario = JSON.parse(readFileSync(join(folder, 'scenarios', name), 'utf8')) as {
    rules: { say?: string }[];
  };
  for (const phrase of scenario.rules.flatMap((rule) => phrases(rule.say ?? ''))) {
    const key = phraseKey(phrase);
    if (key in index.phrases || !key.includes(' ')) continue;
    const { samples, cutMs } = record(phrase);
    const lengthMs = (samples.length * 1000) / RATE_HZ;
    const inside = (ms: number) => Math.round(Math.max(0, Math.min(lengthMs, ms - cutMs)));
    const times = wordTimes(phrase, phonesOf(phrase)).map((time) => [
      inside(time.startMs),
      inside(time.endMs),
    ]);
    index.phrases[key] = [...add(samples), times as [number, number][]];
  }
}
const vocabulary = readFileSync(join(folder, 'voice', 'vocabulary.txt'), 'utf8').split(/\s+/);
for (const word of new Set(vocabulary.filter((entry) => entry !== ''))) {
  index.words[word] = add(record(SPELLED[word] ?? word, ['--setf', 'duration_stretch=0.9']).samples);
}
writeFileSync(join(folder, 'voice', 'voice.mulaw'), Buffer.concat(pack));
writeFileSync(join(folder, 'voice', 'voice.json'), `${JSON.stringify(index, null, 1)}\n`);
rmSync(work, { recursive: true, force: true });
console.log(
  `${Object.keys(index.phrases).length} phrases, ${Object.keys(index.words).length} words, ${offset} bytes`,
);
