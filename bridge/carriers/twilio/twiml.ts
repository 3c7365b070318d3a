// PURE. The TwiML documents we answer and send: https://www.twilio.com/docs/voice/twiml. Every text in them is escaped here.
import type { SpokenLine } from '../../protocol/agent-texts.ts';

/** TwiML that is sent within a REST request may have 4,000 characters. */
export const MAX_INLINE_TWIML = 4_000;

/** A text as XML content or attribute value; characters that XML 1.0 cannot hold are left out. */
export function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones XML 1.0 forbids
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replace(/[&<>"'\t\n\r]/g, (character) => ESCAPES[character] ?? character)
  );
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function element(name: string, attributes: Record<string, string | undefined>, content = ''): string {
  let text = `<${name}`;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) text += ` ${key}="${escapeXml(value)}"`;
  }
  return content === '' ? `${text}/>` : `${text}>${content}</${name}>`;
}

function document(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${content}</Response>`;
}

/** Brings the call's sound to a stream; `afterUrl` is asked when that has ended, `statusUrl` is told how it went. */
export function renderStream(o: {
  url: string;
  parameters: Readonly<Record<string, string>>;
  afterUrl: string;
  statusUrl: string;
}): string {
  const parameters = Object.entries(o.parameters)
    .map(([name, value]) => element('Parameter', { name, value }))
    .join('');
  const stream = element(
    'Stream',
    { url: o.url, statusCallback: o.statusUrl, statusCallbackMethod: 'POST' },
    parameters,
  );
  return document(`${element('Connect', { action: o.afterUrl, method: 'POST' }, stream)}<Hangup/>`);
}

export function renderReject(reason: 'busy' | 'rejected'): string {
  return document(element('Reject', { reason }));
}

export function renderHangUp(): string {
  return document('<Hangup/>');
}

/** Calls a third party and joins the two; `resultUrl` is asked when that call has ended or did not come about. */
export function renderTransfer(o: {
  to: string;
  from: string;
  resultUrl: string;
  ringSeconds: number;
}): string {
  const dial = element(
    'Dial',
    {
      answerOnBridge: 'true',
      timeout: String(o.ringSeconds),
      callerId: o.from,
      action: o.resultUrl,
      method: 'POST',
    },
    element('Number', {}, escapeXml(o.to)),
  );
  return document(dial);
}

/** Plays key tones, then asks `thenUrl` how to go on. `w` is half a second of silence. */
export function renderDigits(o: { digits: string; thenUrl: string }): string {
  return document(
    element('Play', { digits: o.digits }) + element('Redirect', { method: 'POST' }, escapeXml(o.thenUrl)),
  );
}

/** Which of its languages a voice of Twilio's speaks for one of ours. UNVERIFIED: that each has one where an account chose none. */
export const SAY_LANGUAGES = {
  ar: 'ar-XA',
  de: 'de-DE',
  en: 'en-US',
  'en-GB': 'en-GB',
  es: 'es-ES',
  'es-MX': 'es-MX',
  fr: 'fr-FR',
  hi: 'hi-IN',
  it: 'it-IT',
  ja: 'ja-JP',
  ko: 'ko-KR',
  nl: 'nl-NL',
  pl: 'pl-PL',
  pt: 'pt-BR',
  'pt-PT': 'pt-PT',
  tr: 'tr-TR',
  zh: 'zh-CN',
} as const;

function sayLanguage(tag: string): string | undefined {
  const languages: Readonly<Record<string, string>> = SAY_LANGUAGES;
  return languages[tag] ?? languages[tag.split('-')[0] ?? ''];
}

/** Says a line with the carrier's voice and hangs up. One too long for one request is cut. */
export function renderSpeech({ text, language }: SpokenLine): string {
  const say = (words: string) =>
    document(`${element('Say', { language: sayLanguage(language) }, words)}<Hangup/>`);
  const room = MAX_INLINE_TWIML - say('-').length + 1;
  let said = '';
  for (const character of text) {
    const more = escapeXml(character);
    if (said.length + more.length > room) break;
    said += more;
  }
  return say(said);
}
