// The recordings the set is made of: the project's own fixtures always; Debian's prompts and the voices of flite where they
// are installed. What is missing is said, never fetched. Sources and licences: docs/quality.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import wavefile from 'wavefile';
import { createResampler } from '../../audio/resampler.ts';
import { readFixture } from '../audio/fixtures.ts';
import { type Clip, clipOf } from './labels.ts';
import { fromPcm, RATE_HZ, type Sound } from './sounds.ts';

const PROMPTS = '/usr/share/asterisk/sounds/en_US_f_Allison';
/** Not a voice, or not one voice: tones, monkeys, a crowd. */
const NO_VOICE = /beep|tone|monkeys|glorious|silence/;
const SENTENCES_AT_MOST = 36;

/** The voices of flite that the set uses, two men and a woman, and what they say. */
const FLITE_VOICES = ['rms', 'awb', 'slt'] as const;
const FLITE_SENTENCES = [
  'I would like to move my appointment to next Tuesday, if that is possible.',
  'Hello, this is about the invoice that you sent me last week.',
  'Sorry, could you say that again? The line is very bad.',
  'How much is it altogether, and when can you deliver?',
  'My number is five five five, zero one four two.',
  'She left a message for Mister Henderson this morning.',
];
const FLITE_WORDS = ['yes', 'no', 'stop', 'hello', 'wait', 'thanks'];
/** What a listener says while the other one talks, meaning: go on. */
const FLITE_BACKCHANNELS = ['uh huh', 'yeah', 'okay', 'right', 'I see'];

export interface Recordings {
  /** Phrases and sentences of one breath or several, a second or more. */
  sentences: Clip[];
  /** Words: a third of a second to one second. */
  words: Clip[];
  backchannels: Clip[];
  /** What the agent says: long, hardly a pause. */
  agent: Sound;
  /** What was used, and what was missing with how to install it. */
  sources: string[];
  missing: string[];
}

function readWav(path: string): Sound {
  const wav = new wavefile.WaveFile(readFileSync(path));
  const pcm = Int16Array.from(wav.getSamples(false, Int16Array));
  const rateHz = (wav.fmt as { sampleRate: number }).sampleRate;
  if (rateHz === RATE_HZ) return fromPcm(pcm);
  const resampler = createResampler(rateHz, RATE_HZ);
  const down = new Int16Array(resampler.outputLength(pcm.length));
  return fromPcm(down.subarray(0, resampler.process(pcm, down)));
}

const seconds = (clip: Clip) => clip.sound.length / RATE_HZ;

/** A clip of so many seconds of a fixture. */
function excerpt(name: Parameters<typeof readFixture>[0], fromMs: number, toMs: number): Clip {
  const clip = clipOf(`${name} ${fromMs}-${toMs}`, fromPcm(readFixture(name).subarray(fromMs * 8, toMs * 8)));
  if (clip === null) throw new Error(`there is no speech in ${name} from ${fromMs} to ${toMs} ms`);
  return clip;
}

/** Splits a recording where nobody speaks for `gapMs`, so that each phrase has an onset and an end of its own. */
function phrases(clip: Clip, gapMs: number): Clip[] {
  const groups: { from: number; to: number }[] = [];
  for (const span of clip.spans) {
    const last = groups.at(-1);
    if (last !== undefined && span.from - last.to < gapMs * 8) last.to = span.to;
    else groups.push({ ...span });
  }
  return groups.flatMap(
    ({ from, to }) => clipOf(`${clip.name} +${from / 8}`, clip.sound.slice(from, to)) ?? [],
  );
}

function ownClips(): Clip[] {
  return [
    // To the applause: a crowd is neither speech nor silence.
    excerpt('jfk-8k', 0, 10_300),
    excerpt('caller-thanks', 0, 5_520),
    excerpt('caller-more-info', 0, 14_700),
    excerpt('voicemail-greeting-with-beep', 0, 9_000),
  ];
}

/** Every recording of a folder of Debian’s prompts, cut to its speech. */
export function debianClips(folder: string): Clip[] {
  const names = readdirSync(join(PROMPTS, folder)).filter(
    (name) => name.endsWith('.wav') && !NO_VOICE.test(name),
  );
  return names
    .sort()
    .flatMap((name) => clipOf(join(folder, name), readWav(join(PROMPTS, folder, name))) ?? []);
}

function speak(voice: string, texts: readonly string[]): Clip[] {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-quality-'));
  try {
    return texts.flatMap((text, i) => {
      const path = join(folder, `${i}.wav`);
      execFileSync('flite', ['-voice', voice, '-t', text, '-o', path], { stdio: 'ignore' });
      return clipOf(`flite ${voice}: ${text}`, readWav(path)) ?? [];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const hasPrompts = (): boolean => existsSync(PROMPTS);
const has = (program: string) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

export const hasFfmpeg = (): boolean => has('ffmpeg');

/** Reads all that is there. `only: 'own'` keeps to the fixtures, the same on every machine. */
export function readRecordings(only: 'own' | 'all' = 'all'): Recordings {
  const own = ownClips();
  const sources = ['the project’s fixtures (test/fixtures/audio)'];
  const missing: string[] = [];
  const sentences = own.flatMap((clip) => phrases(clip, 350)).filter((clip) => seconds(clip) >= 1);
  const words: Clip[] = own
    .flatMap((clip) => phrases(clip, 60))
    .filter((clip) => seconds(clip) >= 0.3 && seconds(clip) < 1);
  const backchannels: Clip[] = [];
  let agent = own.at(-1)!.sound;

  if (only === 'all' && existsSync(PROMPTS)) {
    const prompts = debianClips('').filter((clip) => seconds(clip) >= 1.2 && seconds(clip) <= 6);
    const step = prompts.length / SENTENCES_AT_MOST;
    sentences.push(...Array.from({ length: SENTENCES_AT_MOST }, (_, i) => prompts[Math.floor(i * step)]!));
    words.push(
      ...debianClips('digits')
        .filter((clip) => seconds(clip) >= 0.3 && seconds(clip) < 1)
        .slice(0, 20),
    );
    const intro = clipOf('demo-instruct.wav', readWav(join(PROMPTS, 'demo-instruct.wav')));
    if (intro !== null) agent = intro.sound;
    sources.push('Debian’s asterisk-core-sounds-en-wav');
  } else missing.push('Debian’s prompts (apt-get install asterisk-core-sounds-en-wav)');

  if (only === 'all' && has('flite')) {
    for (const voice of FLITE_VOICES) {
      sentences.push(...speak(voice, FLITE_SENTENCES));
      words.push(...speak(voice, FLITE_WORDS));
      backchannels.push(...speak(voice, FLITE_BACKCHANNELS));
    }
    sources.push(`flite’s voices ${FLITE_VOICES.join(', ')}`);
  } else missing.push('flite’s voices (apt-get install flite)');

  if (only === 'own' || !hasFfmpeg()) missing.push('GSM and G.726 lines (apt-get install ffmpeg)');
  else sources.push('ffmpeg’s GSM and G.726');
  return { sentences, words, backchannels, agent, sources, missing };
}

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
