// TwiML as an XML parser of someone else reads it.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import t from 'tap';
import type VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js';
import {
  escapeXml,
  MAX_INLINE_TWIML,
  renderDigits,
  renderHangUp,
  renderReject,
  renderSpeech,
  renderStream,
  renderTransfer,
  SAY_LANGUAGES,
} from '../../../../bridge/carriers/twilio/twiml.ts';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  processEntities: true,
  htmlEntities: true,
});
function read(xml: string): Record<string, unknown> {
  if (XMLValidator.validate(xml) !== true) throw new Error(`not XML: ${xml}`);
  return parser.parse(xml).Response;
}

t.test('a stream with its parameters, then nothing is left but to hang up', async (t) => {
  const xml = renderStream({
    url: 'wss://calls.example.com/media/1/abc',
    parameters: { callId: 'c1', note: `<"Tom" & 'Ann'>` },
    afterUrl: 'https://e.com/after',
    statusUrl: 'https://e.com/stream',
  });
  t.same(read(xml), {
    Connect: {
      '@action': 'https://e.com/after',
      '@method': 'POST',
      Stream: {
        '@url': 'wss://calls.example.com/media/1/abc',
        '@statusCallback': 'https://e.com/stream',
        '@statusCallbackMethod': 'POST',
        Parameter: [
          { '@name': 'callId', '@value': 'c1' },
          { '@name': 'note', '@value': `<"Tom" & 'Ann'>` },
        ],
      },
    },
    Hangup: '',
  });
  t.ok(xml.indexOf('<Connect') < xml.indexOf('<Hangup'), 'in this order');
});

t.test('the other answers', async (t) => {
  t.same(read(renderReject('busy')), { Reject: { '@reason': 'busy' } });
  t.same(read(renderReject('rejected')), { Reject: { '@reason': 'rejected' } });
  t.same(read(renderHangUp()), { Hangup: '' });
});

t.test('transfer, digits and speech', async (t) => {
  const transfer = renderTransfer({
    to: '+15550001111',
    from: '+15550002222',
    resultUrl: 'https://e.com/r?a&b',
    ringSeconds: 20,
  });
  t.same(read(transfer), {
    Dial: {
      '@answerOnBridge': 'true',
      '@timeout': '20',
      '@callerId': '+15550002222',
      '@action': 'https://e.com/r?a&b',
      '@method': 'POST',
      Number: 15550001111,
    },
  });
  t.match(transfer, '<Number>+15550001111</Number>');
  const digits = renderDigits({ digits: 'ww12#', thenUrl: 'https://e.com/answer' });
  t.same(read(digits), {
    Play: { '@digits': 'ww12#' },
    Redirect: { '#text': 'https://e.com/answer', '@method': 'POST' },
  });
  t.same(read(renderSpeech({ text: `We're "sorry" <b>`, language: 'is' })), {
    Say: `We're "sorry" <b>`,
    Hangup: '',
  });
  for (const [language, say] of [
    ['de', 'de-DE'],
    ['de-AT', 'de-DE'],
    ['es-MX', 'es-MX'],
  ] as const)
    t.same(read(renderSpeech({ text: 'x', language })), {
      Say: { '#text': 'x', '@language': say },
      Hangup: '',
    });
});

t.test('the languages of its voices are those that the carrier names', async (t) => {
  // The compiler holds each against the SDK's own list.
  const named: Record<string, NonNullable<VoiceResponse.SayAttributes['language']>> = SAY_LANGUAGES;
  for (const [ours, its] of Object.entries(named)) {
    const language = (tag: string) => new Intl.Locale(tag).language;
    t.equal(language(its), language(ours));
  }
});

t.test('a speech too long for one request is cut, not broken', async (t) => {
  const xml = renderSpeech({ text: '&'.repeat(5000), language: 'en' });
  t.ok(xml.length <= MAX_INLINE_TWIML);
  t.ok(xml.length > MAX_INLINE_TWIML - 10);
  t.ok(read(xml).Say);
  t.ok(read(renderSpeech({ text: '😀'.repeat(5000), language: 'ja' })).Say);
});

t.test('characters that XML cannot hold are left out', async (t) => {
  t.equal(escapeXml('a\u0000\u0008b\u000bc\ufffe'), 'abc');
  t.equal(escapeXml('line\nnext\ttab'), 'line&#10;next&#9;tab');
  t.equal(escapeXml('half \ud800 pair'), 'half \ufffd pair');
});
