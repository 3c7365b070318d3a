// Language tags: what is taken, what is refused, and how a prompt names them.
import t from 'tap';
import { languageName, parseLanguage } from '../../../control/agents/language.ts';

t.test('codes are checked and made canonical', async (t) => {
  const good: [unknown, string | null][] = [
    [null, null],
    [undefined, null],
    ['en', 'en'],
    ['EN-us', 'en-US'],
    ['pt-br', 'pt-BR'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['fil', 'fil'],
    ['es-419', 'es-419'],
  ];
  for (const [input, tag] of good) t.equal(parseLanguage(input), tag, String(input));
});

t.test('what is no language is refused', async (t) => {
  for (const input of [
    '',
    'e',
    'english',
    'xx',
    'en_US',
    'en-',
    'en\n',
    'x-private',
    7,
    {},
    ['en'],
    'en-u-co-phonebk-x-y-z-w',
  ]) {
    t.throws(() => parseLanguage(input), { code: 'invalid_language', param: 'language' }, String(input));
  }
  t.throws(() => parseLanguage('fr', { allowed: ['en', 'es'] }), {
    message: 'language must be one of en, es',
  });
  t.throws(() => parseLanguage('xx', { param: 'lang' }), { code: 'invalid_language', param: 'lang' });
});

t.test('names', async (t) => {
  t.equal(languageName('es'), 'Spanish');
  t.equal(languageName('es-MX'), 'Spanish (Mexico)');
  t.equal(languageName('not a tag'), 'not a tag');
});
