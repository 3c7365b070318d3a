// Language tags (BCP-47): checking a client's, and naming one to a model. PURE.
import { AppError } from '../../errors.ts';

const names = new Intl.DisplayNames(['en'], {
  type: 'language',
  languageDisplay: 'standard',
  fallback: 'none',
});

function nameOf(tag: string): string | undefined {
  try {
    return names.of(tag);
  } catch {
    return undefined;
  }
}

/** The English name of a language tag: "Spanish (Mexico)"; the tag itself when it has none. */
export function languageName(tag: string): string {
  return nameOf(tag) ?? tag;
}

/**
 * A language as a client gave it -> its canonical BCP-47 tag, or null (the other side's language decides).
 * @throws AppError invalid_language
 */
export function parseLanguage(
  input: unknown,
  o: { param?: string; allowed?: readonly string[] } = {},
): string | null {
  if (input === undefined || input === null) return null;
  const param = o.param ?? 'language';
  const refuse = (why: string) => new AppError('invalid_language', `${param} ${why}`, { param });
  if (typeof input !== 'string') throw refuse('must be a text: a BCP-47 code such as en, es or pt-BR');
  let tag: string | undefined;
  try {
    tag = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(input)
      ? Intl.getCanonicalLocales(input)[0]
      : undefined;
  } catch {
    tag = undefined;
  }
  if (tag === undefined || nameOf(tag) === undefined) {
    throw refuse('must be a BCP-47 code such as en, es or pt-BR');
  }
  if (o.allowed !== undefined && !o.allowed.includes(tag)) {
    throw refuse(`must be one of ${o.allowed.join(', ')}`);
  }
  return tag;
}
