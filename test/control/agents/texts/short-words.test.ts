// The short words of each language, as the talk weighs them.
import t from 'tap';
import { WordMeaning, wordsOf } from '../../../../bridge/turns/word-meaning.ts';
import { APOLOGIES } from '../../../../control/agents/texts/moments.ts';
import { SHORT_WORDS, shortWords } from '../../../../control/agents/texts/short-words.ts';

/** As a transcription writes them: stops, then assents. */
const SAID: Record<string, [string[], string[]]> = {
  ar: [
    ['لا!', 'توقف.', 'لحظة', 'انتظر، انتظر'],
    ['نعم.', 'طيب طيب', 'أيوه', 'تمام، شكرًا', 'لا مشكلة'],
  ],
  de: [
    ['Stopp!', 'Nein, nein.', 'Moment mal!', 'Halt', 'Äh, warten Sie', 'Das stimmt nicht.', 'Donnerstag'],
    ['Ja.', 'Ja, bitte.', 'Mhm.', 'Ja, genau.', 'Okay, alles klar', 'Ach so!', 'Verstehe', 'Ja, das stimmt'],
  ],
  en: [
    ['Stop!', 'No.', 'Wait, wait.', 'Hold on.', 'No no no', 'Stop it', 'Hey Sarah', 'Uh-uh.', 'Excuse me?'],
    [
      'Mhm.',
      'Mm-hmm.',
      'Uh-huh, uh-huh',
      'Okay.',
      'Yeah',
      'Right, right.',
      'I see.',
      'Oh, okay, got it',
      'No problem!',
      'O.K.',
      'Yes, please.',
      'Yes, sir!',
      'Yes ma’am',
    ],
  ],
  es: [
    ['¡Para!', 'No.', 'Espere, espere', 'Un momento', 'Perdón…'],
    [
      'Sí.',
      'Sí, señor',
      'Sí, por favor',
      'Ajá',
      'Vale, vale',
      'Claro que sí',
      'De acuerdo',
      'No hay problema',
    ],
  ],
  fr: [
    ['Stop !', 'Non, non.', 'Attendez', 'Une seconde', 'Excusez-moi'],
    [
      'Oui.',
      'Oui, s’il vous plaît',
      'Oui monsieur',
      'D’accord',
      'Mm-hmm',
      'Je vois, je vois',
      'C’est ça',
      'Bien sûr',
      'Pas de problème',
    ],
  ],
  hi: [
    ['नहीं!', 'रुकिए', 'एक मिनट', 'सुनिए।'],
    ['हाँ।', 'जी सर', 'जी हां', 'ठीक है, ठीक है', 'अच्छा', 'हम्म', 'Accha'],
  ],
  it: [
    ['No!', 'Basta', 'Aspetti, aspetti', 'Un attimo', 'Mi scusi'],
    ['Sì.', 'Sì, signora', 'Va bene', 'Certo, certo', 'Ho capito', 'Mhm', 'Non c’è problema'],
  ],
  ja: [
    ['ストップ!', 'いいえ。', 'ちょっと待ってください', '違います', 'すみません'],
    [
      'はい。',
      'はい、お願いします',
      'はいはい',
      'そうですね、なるほど',
      'うん、うん',
      'ええ',
      'わかりました',
    ],
  ],
  ko: [
    ['아니요!', '잠깐만요.', '기다려 주세요', '그만'],
    ['네.', '넵!', '넵 넵', '네, 네', '그렇군요', '알겠습니다', '음'],
  ],
  nl: [
    ['Stop!', 'Nee, nee', 'Wacht even', 'Sorry?', 'Dat klopt niet'],
    ['Ja.', 'Ja, graag', 'Oké, prima', 'Dat klopt', 'Ja ja', 'Ik snap het', 'Mhm'],
  ],
  pl: [
    ['Nie!', 'Stój', 'Proszę poczekać', 'Chwileczkę', 'Przepraszam'],
    ['Tak.', 'Tak, proszę', 'No tak', 'Rozumiem', 'Mhm, dobrze', 'Zgadza się', 'Nie ma sprawy'],
  ],
  pt: [
    ['Não!', 'Pare', 'Espere, espere', 'Um momento', 'Com licença'],
    ['Sim.', 'Sim, senhora', 'Tá bom', 'Uhum', 'Entendi, entendi', 'Isso mesmo', 'Não tem problema'],
  ],
  ru: [
    ['Нет!', 'Стоп', 'Подождите, подождите', 'Одну минуту', 'Извините', 'Неправильно'],
    ['Да.', 'Да, пожалуйста', 'Да-да', 'Ага', 'Угу, понятно', 'Хорошо, ладно', 'Нет проблем', 'Мм-хмм'],
  ],
  tr: [
    ['Hayır!', 'Dur', 'Bir dakika', 'Bekleyin, bekleyin'],
    ['Evet.', 'Evet efendim', 'Tamam, tamam', 'Anladım', 'Hı hı', 'Sorun değil'],
  ],
  zh: [
    ['不!', '停', '等一下', '不对', '对不起'],
    ['对。', '对对对', '嗯嗯', '好的,谢谢', '没问题', '不错', '知道了'],
  ],
};

t.test('every language that the texts know has both lists, and they are told apart', async (t) => {
  for (const language of Object.keys(APOLOGIES)) t.hasProp(SHORT_WORDS, language);
  t.same(Object.keys(SAID).sort(), Object.keys(SHORT_WORDS).sort());
  for (const [language, [stops, assents]] of Object.entries(SAID)) {
    const lists = SHORT_WORDS[language]!;
    const both = lists.assents.filter((phrase) => lists.stops.includes(phrase));
    t.same(both, [], `${language}: nothing is both`);
    for (const phrase of [...lists.assents, ...lists.stops])
      t.ok(wordsOf(phrase).length > 0, `${language}: ${phrase}`);
    const meaning = new WordMeaning(shortWords(`${language}-XX`, []), { anyStops: true });
    for (const text of stops) t.equal(meaning.of(text), 'stop', `${language}: ${text}`);
    for (const text of assents) t.equal(meaning.of(text), 'go-on', `${language}: ${text}`);
    for (const text of ['Mhm.', 'Mm-hmm', 'Uh-huh', 'Hmm', 'OK', 'O.K.'])
      t.equal(meaning.of(text), 'go-on', `${language}: ${text}`);
  }
});

t.test(
  'where the language is not known all lists count, and a word that stops in one of them stops',
  async (t) => {
    const meaning = new WordMeaning(shortWords(null, []), { anyStops: true });
    for (const text of ['Stop!', 'No', 'Nein', 'いいえ']) t.equal(meaning.of(text), 'stop', text);
    for (const text of ['Mhm', 'Yeah, okay', 'Ja, genau', 'はい']) t.equal(meaning.of(text), 'go-on', text);
  },
);

t.test('a language without lists: nothing stops but what the agent names', async (t) => {
  t.same(shortWords('sv', []), { assents: null, stops: [] });
  const meaning = new WordMeaning(shortWords('sv-SE', ['stopp']), { anyStops: true });
  t.equal(meaning.of('Stopp'), 'stop');
  t.equal(meaning.of('Jaha'), 'go-on');
  t.equal(
    new WordMeaning(shortWords('en', ['okay doctor', 'right']), { anyStops: true }).of('Right'),
    'stop',
    'whatever else it means',
  );
});
