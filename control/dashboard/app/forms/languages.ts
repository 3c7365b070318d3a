// The languages that the form offers, each by its name in English and in itself. PURE. Any other BCP-47 code may be typed.

export interface LanguageChoice {
  value: string;
  label: string;
}

const CODES =
  'ar bg bn ca cs da de el en en-AU en-GB en-IN en-US es es-MX es-US et fa fi fr fr-CA he hi hr hu id it ja kn ko lt lv mr ms nb nl pl pt-BR pt-PT ro ru sk sl sr sv sw ta te th tr uk ur vi zh'.split(
    ' ',
  );

const TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/;

function named(tag: string, inLanguage: string): string | null {
  try {
    const names = new Intl.DisplayNames([inLanguage], {
      type: 'language',
      languageDisplay: 'standard',
      fallback: 'none',
    });
    return names.of(tag) ?? null;
  } catch {
    return null;
  }
}

/** The English name of a language tag; null when it is none. */
export function languageName(tag: string): string | null {
  const trimmed = tag.trim();
  return TAG.test(trimmed) ? named(trimmed, 'en') : null;
}

/** `German – Deutsch`; English by itself. */
function label(code: string): string {
  const english = named(code, 'en') ?? code;
  const own = named(code, code);
  return own === null || own.toLowerCase() === english.toLowerCase() ? english : `${english} – ${own}`;
}

/** By name; what is chosen is among them, also where the form would not offer it. */
export function languageChoices(chosen: string): LanguageChoice[] {
  const code = chosen.trim();
  const codes = code === '' || languageName(code) === null || CODES.includes(code) ? CODES : [...CODES, code];
  return codes
    .map((value) => ({ value, label: label(value) }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'));
}
