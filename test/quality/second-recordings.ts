// The recordings of the second set: speakers, languages and speech programs that the first does not have. All of them are read
// where they are installed; what is missing is said, never fetched. Sources and licences: docs/quality.md.
import { existsSync, readdirSync, statSync } from 'node:fs';
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
import { fromPcm } from './sounds.ts';

const SOUNDS = '/usr/share/asterisk/sounds';
const SENTENCES_A_VOICE = 9;
const WORDS_A_VOICE = 6;

interface Speaker {
  package: string;
  folder: string;
  voice: string;
  language: string;
  /** As GSM 06.10. */
  gsm?: true;
}

/** Who reads Debian's prompts. */
const SPEAKERS: readonly Speaker[] = [
  { package: 'asterisk-core-sounds-fr-wav', folder: 'fr_CA_f_June', voice: 'June', language: 'fr' },
  { package: 'asterisk-core-sounds-it-wav', folder: 'it_IT_m_Carlo', voice: 'Carlo', language: 'it' },
  { package: 'asterisk-core-sounds-ru-wav', folder: 'ru_RU_f_IvrvoiceRU', voice: 'Ivrvoice', language: 'ru' },
  { package: 'asterisk-prompt-it-menardi-wav', folder: 'it_IT_f_Menardi', voice: 'Dal Zot', language: 'it' },
  { package: 'asterisk-prompt-fr-armelle', folder: 'fr', voice: 'Armelle', language: 'fr', gsm: true },
  { package: 'asterisk-prompt-es-co', folder: 'es', voice: 'Jiménez', language: 'es', gsm: true },
];
/** Whose long prompt is the agent's voice, and which. */
const AGENT = { folder: 'fr_CA_f_June', file: 'demo-instruct.wav' };
/** Speech programs' voices: how each is asked, and what it says. */
const TEXTS = {
  en: {
    sentences: [
      'Good afternoon, I have a question about my last order.',
      'The parcel came on Monday, but one of the boxes was empty.',
      'Could somebody call me back before five, please?',
      'We are four people, and one of us does not eat meat.',
      'It is the second house on the left, behind the petrol station.',
      'I am afraid that I have lost the letter with the code.',
    ],
    words: ['maybe', 'hello', 'seven', 'please', 'friday', 'thanks'],
    assents: ['mhm', 'uh huh', 'yeah', 'okay', 'right', 'yes', 'sure', 'ah'],
    stops: ['stop', 'no', 'wait', 'hold on', 'Peter'],
  },
  es: {
    sentences: [
      'Quisiera cambiar la cita del martes, si es posible.',
      'No he recibido la factura de este mes.',
    ],
    words: ['mañana', 'gracias'],
    assents: ['sí', 'ajá', 'vale', 'claro'],
    stops: ['para', 'no', 'espera', 'un momento', 'Carmen'],
  },
  fr: {
    sentences: [
      'Je voudrais parler à quelqu’un du service après-vente.',
      'Est-ce que vous êtes ouverts le samedi matin ?',
    ],
    words: ['demain', 'merci'],
    assents: ['oui', 'ouais', 'bien', 'voilà'],
    stops: ['arrête', 'non', 'attendez', 'un moment', 'Chloé'],
  },
  it: {
    sentences: ['Vorrei sapere quando arriva il mio pacco.', 'Mi può ripetere l’indirizzo, per favore?'],
    words: ['domani', 'grazie'],
    assents: ['sì', 'certo', 'bene', 'esatto'],
    stops: ['basta', 'no', 'aspetta', 'un attimo', 'Giulia'],
  },
} as const;

/** All that its callers say in words that are known. */
export const SECOND_TEXTS: readonly string[] = Object.values(TEXTS).flatMap((one) =>
  Object.values<readonly string[]>(one).flat(),
);

type Language = keyof typeof TEXTS;

const ESPEAK: readonly { voice: string; language: Language }[] = [
  { voice: 'en-us+m3', language: 'en' },
  { voice: 'en-gb+f2', language: 'en' },
  { voice: 'es+m7', language: 'es' },
  { voice: 'fr+f4', language: 'fr' },
  { voice: 'it+m1', language: 'it' },
];
const FESTIVAL: readonly { voice: string; package: string; language: Language; path: string }[] = [
  {
    voice: 'kal_diphone',
    package: 'festvox-kallpc8k',
    language: 'en',
    path: '/usr/share/festival/voices/english/kal_diphone',
  },
];

const espeak = (voice: string, language: Language, texts: readonly string[]) =>
  speak({
    voice: `espeak-ng ${voice}`,
    texts,
    language,
    commands: (files) => files.map(({ text, path }) => ['espeak-ng', '-v', voice, '-w', path, text]),
  });

const festival = (voice: string, language: Language, texts: readonly string[]) =>
  speak({
    voice: `festival ${voice}`,
    texts,
    language,
    // One program for all: it takes long to begin.
    commands: (files) => [
      [
        'festival',
        '--batch',
        `(voice_${voice})`,
        ...files.map(
          ({ text, path }) =>
            `(utt.save.wave (utt.synth (Utterance Text ${JSON.stringify(text)})) "${path}" 'riff)`,
        ),
      ],
    ],
  });

/** What of the second set is there. */
export function readSecond(): Recordings {
  const sources: string[] = [];
  const missing: string[] = [];
  const recordings: Recordings = {
    set: 'second',
    sentences: [],
    words: [],
    backchannels: [],
    digits: [],
    assents: [],
    stops: [],
    noises: { assents: [], coughs: [], laughs: [] },
    agent: fromPcm(readFixture('caller-more-info')),
    sources,
    missing,
  };
  for (const speaker of SPEAKERS) {
    const lacks = speaker.gsm === true && !hasFfmpeg() ? 'ffmpeg' : speaker.package;
    if (lacks === 'ffmpeg' || !existsSync(join(SOUNDS, speaker.folder))) {
      missing.push(`the prompts of ${speaker.package} (apt-get install ${lacks})`);
      continue;
    }
    addSpeaker(recordings, speaker);
    sources.push(`Debian’s ${speaker.package}`);
  }
  const agent = join(SOUNDS, AGENT.folder, AGENT.file);
  if (existsSync(agent)) recordings.agent = clipOf(AGENT.file, readSound(agent))?.sound ?? recordings.agent;
  else {
    sources.push('the project’s fixtures for the agent');
    missing.push('an agent’s voice of its own');
  }

  const spoken = (language: Language, say: (texts: readonly string[]) => Clip[]) => {
    const { sentences, words, assents, stops } = TEXTS[language];
    recordings.sentences.push(...say(sentences));
    recordings.words.push(...say(words));
    const agreed = say(assents);
    recordings.assents.push(...agreed);
    recordings.backchannels.push(...agreed);
    recordings.stops.push(...say(stops));
  };
  if (has('espeak-ng')) {
    for (const { voice, language } of ESPEAK) spoken(language, (texts) => espeak(voice, language, texts));
    sources.push(`espeak-ng’s voices ${ESPEAK.map(({ voice }) => voice).join(', ')}`);
  } else missing.push('espeak-ng’s voices (apt-get install espeak-ng)');
  for (const one of FESTIVAL) {
    if (has('festival') && existsSync(one.path)) {
      spoken(one.language, (texts) => festival(one.voice, one.language, texts));
      sources.push(`festival’s voice ${one.voice}`);
    } else missing.push(`festival’s voice ${one.voice} (apt-get install festival ${one.package})`);
  }
  addListenerNoises(recordings);
  if (hasFfmpeg()) sources.push('ffmpeg’s GSM and G.726');
  else missing.push('GSM and G.726 lines (apt-get install ffmpeg)');
  return recordings;
}

/** Sentences spread over a speaker's prompts, digits, and some of them as words. */
function addSpeaker(into: Recordings, { folder, voice, language, gsm }: Speaker): void {
  const root = join(SOUNDS, folder);
  const named = { root, voice, language };
  // By their size as many as are wanted, spread over all: what is not used is not read.
  const bytesASecond = gsm === true ? 1_650 : 16_000;
  const long = readdirSync(root)
    .sort()
    .filter((name) => {
      const length = /\.(wav|gsm)$/.test(name) ? statSync(join(root, name)).size / bytesASecond : 0;
      return length >= 1.5 && length <= 6;
    });
  const among = new Set(
    Array.from(
      { length: SENTENCES_A_VOICE },
      (_, i) => long[Math.floor((i * long.length) / SENTENCES_A_VOICE)]?.replace(/\.\w+$/, '') ?? '',
    ),
  );
  into.sentences.push(...clipsIn({ ...named, folder: '', among }).filter((clip) => seconds(clip) >= 1));
  const digits = said(
    clipsIn({ ...named, folder: 'digits', among: new Set(Object.keys(TEN_DIGITS)) }),
    TEN_DIGITS,
  );
  if (digits.length > 0) into.digits.push(digits);
  into.words.push(
    ...digits.filter((clip) => seconds(clip) >= 0.3 && seconds(clip) < 1).slice(0, WORDS_A_VOICE),
  );
}
