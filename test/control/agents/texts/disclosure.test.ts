// The line that is said before all else, in every language that there are short words of.
import t from 'tap';
import { DISCLOSURES, disclosureLine } from '../../../../control/agents/texts/disclosure.ts';
import { SHORT_WORDS } from '../../../../control/agents/texts/short-words.ts';

const STANDARD = { mode: 'standard', text: null } as const;
/** What people are called to that is no person, as each language writes it. */
const AN_AI =
  /\bAI\b|KI-|AI-|inteligencia artificial|intelligence artificielle|intelligenza artificiale|inteligência artificial|sztucznej inteligencji|искусственного интеллекта|yapay zekâ|ذكاء|الذكاء|एआई|人工智能|AI/;

t.test('each language has all of it, and says that it is an AI and for whom', async (t) => {
  t.same(Object.keys(DISCLOSURES).sort(), Object.keys(SHORT_WORDS).sort());
  for (const [language, said] of Object.entries(DISCLOSURES)) {
    for (const direction of ['outbound', 'inbound'] as const) {
      const line = disclosureLine({
        disclosure: STANDARD,
        direction,
        language,
        organization: 'Zyx',
        notice: true,
      });
      t.match(line, AN_AI, `${language} ${direction}`);
      t.match(line, /Zyx/, `${language} ${direction}`);
      t.ok(line?.endsWith(said.recorded), `${language} ${direction}`);
      t.notMatch(line, /[{}]|undefined| {2}/);
    }
    t.match(said.nameless, AN_AI);
    t.notMatch(said.nameless + said.recorded + said.optedOut, /[{}]/);
    t.equal(new Set(Object.values(said)).size, 5, language);
  }
});

t.test('by language without its region, else in English; nothing where nothing is to be said', async (t) => {
  const of = (language: string | null) =>
    disclosureLine({
      disclosure: STANDARD,
      direction: 'outbound',
      language,
      organization: 'Zyx',
      notice: false,
    });
  t.equal(of('pt-BR'), of('pt'));
  t.equal(of(null), of('en'));
  t.equal(of('fi'), of('en'));
  t.not(of('fr'), of('en'));
  const off = { disclosure: { mode: 'off', text: null }, direction: 'outbound', language: 'en' } as const;
  t.equal(disclosureLine({ ...off, organization: 'Zyx', notice: false }), null);
  t.equal(disclosureLine({ ...off, organization: 'Zyx', notice: true }), DISCLOSURES.en.recorded);
  const own = { mode: 'custom', text: 'For {organization}: {nothing}' } as const;
  t.equal(
    disclosureLine({ ...off, disclosure: own, organization: '{organization}', notice: false }),
    'For {organization}: {nothing}',
    'a name is no place',
  );
});
