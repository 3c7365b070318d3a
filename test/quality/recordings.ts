// The recordings that the sets are made of. Of the first: the project's own fixtures always; Debian's prompts and the voices of
// flite where they are installed. The second is second-recordings.ts. Sources and licences: docs/quality.md.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readFixture } from '../audio/fixtures.ts';
import { type Clip, clipOf } from './labels.ts';
import { addListenerNoises } from './listener-noises.ts';
import {
  clipsIn,
  has,
  hasFfmpeg,
  type Recordings,
  readSound,
  said,
  seconds,
  speak,
  TEN_DIGITS,
} from './recorded.ts';
import { readSecond } from './second-recordings.ts';
import { fromPcm, type SetName } from './sounds.ts';

const PROMPTS = '/usr/share/asterisk/sounds/en_US_f_Allison';
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
/** The same for calls in which the words count, as the transcription has them. */
const FLITE_ASSENTS = ['mhm', 'uh huh', 'yeah', 'okay', 'right', 'yes', 'sure', 'ah'];
const FLITE_STOPS = ['stop', 'no', 'wait', 'hold on', 'Laura'];
/** All that its callers say in words that are known. */
export const FIRST_TEXTS: readonly string[] = [
  ...FLITE_SENTENCES,
  ...FLITE_WORDS,
  ...FLITE_BACKCHANNELS,
  ...FLITE_ASSENTS,
  ...FLITE_STOPS,
];

/** A clip of so many seconds of a fixture. */
function excerpt(name: Parameters<typeof readFixture>[0], fromMs: number, toMs: number): Clip {
  const clip = clipOf(`${name} ${fromMs}-${toMs}`, fromPcm(readFixture(name).subarray(fromMs * 8, toMs * 8)));
  if (clip === null) throw new Error(`there is no speech in ${name} from ${fromMs} to ${toMs} ms`);
  return { ...clip, voice: name };
}

/** Splits a recording where nobody speaks for `gapMs`, so that each phrase has an onset and an end of its own. */
function phrases(clip: Clip, gapMs: number): Clip[] {
  const groups: { from: number; to: number }[] = [];
  for (const span of clip.spans) {
    const last = groups.at(-1);
    if (last !== undefined && span.from - last.to < gapMs * 8) last.to = span.to;
    else groups.push({ ...span });
  }
  return groups.flatMap(({ from, to }) => {
    const phrase = clipOf(`${clip.name} +${from / 8}`, clip.sound.slice(from, to));
    return phrase === null ? [] : { ...phrase, ...(clip.voice !== undefined && { voice: clip.voice }) };
  });
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
export const debianClips = (folder: string): Clip[] =>
  clipsIn({ root: PROMPTS, folder, voice: 'Allison', language: 'en' });

export const hasPrompts = (): boolean => existsSync(PROMPTS);

const flite = (voice: string, texts: readonly string[]) =>
  speak({
    voice: `flite ${voice}`,
    texts,
    commands: (files) => files.map(({ text, path }) => ['flite', '-voice', voice, '-t', text, '-o', path]),
  });

/** Reads what of a set is there. `own`: the first set's fixtures alone, the same on every machine. */
export function readRecordings(of: SetName | 'own'): Recordings {
  return of === 'second' ? readSecond() : readFirst(of);
}

function readFirst(of: 'first' | 'own'): Recordings {
  const own = ownClips();
  const sources = ['the project’s fixtures (test/fixtures/audio)'];
  const missing: string[] = [];
  const sentences = own.flatMap((clip) => phrases(clip, 350)).filter((clip) => seconds(clip) >= 1);
  const words: Clip[] = own
    .flatMap((clip) => phrases(clip, 60))
    .filter((clip) => seconds(clip) >= 0.3 && seconds(clip) < 1);
  const backchannels: Clip[] = [];
  const digits: Clip[][] = [];
  const assents: Clip[] = [];
  const stops: Clip[] = [];
  let agent = own.at(-1)!.sound;

  if (of === 'first' && existsSync(PROMPTS)) {
    const prompts = debianClips('').filter((clip) => seconds(clip) >= 1.2 && seconds(clip) <= 6);
    const step = prompts.length / SENTENCES_AT_MOST;
    sentences.push(...Array.from({ length: SENTENCES_AT_MOST }, (_, i) => prompts[Math.floor(i * step)]!));
    const numbers = debianClips('digits');
    words.push(...numbers.filter((clip) => seconds(clip) >= 0.3 && seconds(clip) < 1).slice(0, 20));
    digits.push(said(numbers, TEN_DIGITS));
    const intro = clipOf('demo-instruct.wav', readSound(join(PROMPTS, 'demo-instruct.wav')));
    if (intro !== null) agent = intro.sound;
    sources.push('Debian’s asterisk-core-sounds-en-wav');
  } else missing.push('Debian’s prompts (apt-get install asterisk-core-sounds-en-wav)');

  if (of === 'first' && has('flite')) {
    for (const voice of FLITE_VOICES) {
      sentences.push(...flite(voice, FLITE_SENTENCES));
      words.push(...flite(voice, FLITE_WORDS));
      backchannels.push(...flite(voice, FLITE_BACKCHANNELS));
      assents.push(...flite(voice, FLITE_ASSENTS));
      stops.push(...flite(voice, FLITE_STOPS));
    }
    sources.push(`flite’s voices ${FLITE_VOICES.join(', ')}`);
  } else missing.push('flite’s voices (apt-get install flite)');

  if (of === 'own' || !hasFfmpeg()) missing.push('GSM and G.726 lines (apt-get install ffmpeg)');
  else sources.push('ffmpeg’s GSM and G.726');
  const noises = { assents: [], coughs: [], laughs: [] };
  const lists = { sentences, words, backchannels, digits, assents, stops, noises };
  const recordings: Recordings = { set: 'first', ...lists, agent, sources, missing };
  if (of === 'first') addListenerNoises(recordings);
  return recordings;
}
