// What short words mean, however a transcription writes them.
import t from 'tap';
import { WordMeaning, wordsOf } from '../../../bridge/turns/word-meaning.ts';

const LISTS = {
  assents: [
    'mhm',
    'mm hmm',
    'uh huh',
    'uh',
    'yes',
    'okay',
    'i see',
    'thats right',
    'no problem',
    '对',
    '不错',
  ],
  stops: ['stop', 'no', 'uh uh', 'hold on', 'not', '对不起', '不'],
};

t.test('words as they are compared', async (t) => {
  for (const [text, words] of [
    ['Stop!', ['stop']],
    ['  “Mm-hmm.” ', ['mm', 'hmm']],
    ['That’s it', ['thats', 'it']],
    ['Nooooo', ['no']],
    ['DÉJÀ', ['deja']],
    ['HAYIR, hayır', ['hayir', 'hayir']],
    ['stój', ['stoj']],
    ['[coughs] (laughter) *sighs* ♪', []],
    ['', []],
    ['…', []],
    ['はい。はい', ['は', 'い', 'は', 'い']],
    ['أَيْوَه', ['ايوه']],
    ['माफ़', ['माफ']],
    ['아니요', ['아니요']],
    ['42', ['42']],
    ['That´s it, that‘s, that′s, THAT＇S', ['thats', 'it', 'thats', 'thats', 'thats']],
    ['Ｓｔｏｐ！', ['stop']],
    ['（笑）【拍手】', []],
    ['OK好的', ['ok', '好', '的']],
    ['オーケー', ['オ', 'ー', 'ケ', 'ー']],
    ['หยุด', ['ห', 'ย', 'ุ', 'ด']],
    ['\u200fsto\u00adp\u200f', ['stop']],
    ['क्\u200dया', ['क्या']],
  ] as const)
    t.same(wordsOf(text), words, JSON.stringify(text));
});

t.test('what they mean', async (t) => {
  const meaning = new WordMeaning(LISTS, { anyStops: true });
  for (const [text, means] of [
    ['Stop!', 'stop'],
    ['No no no.', 'stop'],
    ['Uh, hold on.', 'stop'],
    ['Thursday?', 'stop'],
    ['Okay, stop.', 'stop'],
    ['Uh-uh', 'stop'],
    ['I do', 'stop'],
    ['Mhm.', 'go-on'],
    ['Mm-hmm, mm-hmm', 'go-on'],
    ['Uh-huh', 'go-on'],
    ['Yes. Okay, I see, that’s right', 'go-on'],
    ['No problem!', 'go-on'],
    ['No problem, but not now', 'stop'],
    ['不错', 'go-on'],
    ['对对', 'go-on'],
    ['对不起', 'stop'],
    ['', 'nothing'],
    ['(coughing)', 'nothing'],
  ] as const)
    t.equal(meaning.of(text), means, text);
});

t.test(
  'the agent’s own words come back or are repeated, and stop nothing; a word that stops does',
  async (t) => {
    const meaning = new WordMeaning(LISTS, { anyStops: true });
    const says = 'We can see you on Tuesday at ten, and there is no charge.';
    t.equal(meaning.of('Tuesday at ten?', says), 'go-on');
    t.equal(meaning.of('Ten, Tuesday', says), 'stop', 'not in this order');
    t.equal(meaning.of('day', says), 'stop', 'no part of a word');
    t.equal(meaning.of('No!', says), 'stop');
  },
);

t.test('a word in both lists stops; without a list of assents only what is listed does', async (t) => {
  t.equal(new WordMeaning({ assents: ['no', 'tak'], stops: ['no'] }, { anyStops: true }).of('No'), 'stop');
  const few = new WordMeaning({ assents: null, stops: ['stopp', 'hallå där'] }, { anyStops: true });
  t.equal(few.of('Stopp!'), 'stop');
  t.equal(few.of('ja, hallå där'), 'stop');
  t.equal(few.of('jaha'), 'go-on');
  t.equal(few.of(' '), 'nothing');
});

t.test('where not any word stops: what means stop does', async (t) => {
  const meaning = new WordMeaning(LISTS, { anyStops: false });
  for (const [text, means] of [
    ['Stop!', 'stop'],
    ['Uh, hold on.', 'stop'],
    ['Thursday at ten, not now', 'stop'],
    ['Thursday?', 'go-on'],
    ['No problem!', 'go-on'],
    ['Mhm', 'go-on'],
    ['', 'nothing'],
  ] as const)
    t.equal(meaning.of(text), means, text);
});
