// The signature against Twilio's own vectors and the official SDK.
import t from 'tap';
import webhooks from 'twilio/lib/webhooks/webhooks.js';
import { type FormFields, signTwilio, verifyTwilio } from '../../../../bridge/carriers/twilio/signature.ts';
import { seeded } from '../../../random.ts';

const { getExpectedTwilioSignature, validateRequest, validateRequestWithBody, getExpectedBodyHash } =
  webhooks;

t.test('golden vectors', async (t) => {
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
  const params = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675310',
    Digits: '1234',
    From: '+14158675310',
    To: '+18005551212',
  };
  t.equal(signTwilio('12345', url, params), 'GvWf1cFY/Q7PnoempGyD5oXAezc=');
  t.ok(verifyTwilio({ authToken: '12345', signature: 'GvWf1cFY/Q7PnoempGyD5oXAezc=', url, params }));
  t.equal(signTwilio('12345', 'wss://example.com/media', {}), '7PR3qMkpDyEJtMrVOY/LDyNq8J8=');
});

const WORDS = [
  '',
  'a',
  'CA12',
  'é',
  '日本語',
  '😀',
  ' sp ace ',
  "o'clock",
  '+15550001111',
  'a&b=c',
  '%27',
  'ÿ',
];
const HOSTS = [
  'example.com',
  'calls.example.com:8443',
  '127.0.0.1:9000',
  'example.com:443',
  'example.com:80',
  '[::1]:8080',
];
const SCHEMES = ['https', 'http', 'wss', 'ws'];

t.test('agrees with the official SDK both ways on random requests', async (t) => {
  const random = seeded(20260401);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  let wrong = 0;
  for (let i = 0; i < 1000; i++) {
    const params: Record<string, string | string[]> = {};
    for (let n = Math.floor(random() * 8); n > 0; n--) {
      const value = random() < 0.2 ? [pick(WORDS), pick(WORDS), pick(WORDS)] : pick(WORDS);
      params[`${pick(['From', 'to', 'A', 'é', 'Z_', 'a'])}${Math.floor(random() * 3)}`] = value;
    }
    const query = random() < 0.4 ? `?q=${pick(['1', "it's", 'a%20b', ''])}&z` : '';
    const url = `${pick(SCHEMES)}://${pick(HOSTS)}/${pick(['', 'media/1', 'carriers/twilio/voice'])}${query}`;
    const token = `token${i}`;
    const theirs = getExpectedTwilioSignature(token, url, params);
    const ours = signTwilio(token, url, params);
    if (ours !== theirs) wrong++;
    if (!verifyTwilio({ authToken: token, signature: theirs, url, params })) wrong++;
    // The SDK itself never tries a URL with a default port that is not its idea of it, so it gets the URL without.
    if (!/:\d+\//.test(url) && !validateRequest(token, ours, url, params)) wrong++;
    if (verifyTwilio({ authToken: `${token}x`, signature: theirs, url, params })) wrong++;
    if (verifyTwilio({ authToken: token, signature: theirs, url: `${url}x`, params })) wrong++;
    const more: FormFields = { ...params, Extra: '1' };
    if (verifyTwilio({ authToken: token, signature: theirs, url, params: more })) wrong++;
  }
  t.equal(wrong, 0);
});

t.test('the default port may be there or not, another port may not', async (t) => {
  const cases: [string, string, boolean][] = [
    ['https://example.com/a', 'https://example.com:443/a', true],
    ['https://example.com:443/a', 'https://example.com/a', true],
    ['wss://example.com/a', 'wss://example.com:443/a', true],
    ['http://example.com/a?b=:443', 'http://example.com:80/a?b=:443', true],
    ['https://[::1]/a', 'https://[::1]:443/a', true],
    ['https://u:p@example.com/a', 'https://u:p@example.com:443/a', true],
    ['https://example.com/a', 'https://example.com:8443/a', false],
    ['https://example.com:8443/a', 'https://example.com/a', false],
    ['https://example.com/a', 'wss://example.com/a', false],
    ['https://example.com/a', 'https://example.com/a/', false],
  ];
  for (const [signed, seen, expected] of cases) {
    const signature = getExpectedTwilioSignature('t', signed, { a: '1' });
    t.equal(
      verifyTwilio({ authToken: 't', signature, url: seen, params: { a: '1' } }),
      expected,
      `${signed} seen as ${seen}`,
    );
  }
});

t.test('the fragment of the address may be signed or not, no other', async (t) => {
  const url = 'https://example.com/a?b=1';
  for (const [end, fragment, expected] of [
    ['', '#rc=5', true],
    ['#rc=5', '#rc=5', true],
    ['#rc=6', '#rc=5', false],
    ['#rc=5', undefined, false],
  ] as const) {
    const signature = getExpectedTwilioSignature('t', url + end, { a: '1' });
    const asked = { authToken: 't', signature, url, params: { a: '1' } };
    t.equal(
      verifyTwilio(fragment === undefined ? asked : { ...asked, fragment }),
      expected,
      `${end} ${fragment}`,
    );
  }
  const withPort = getExpectedTwilioSignature('t', 'https://example.com:443/a#rc=5', {});
  t.ok(
    verifyTwilio({
      authToken: 't',
      signature: withPort,
      url: 'https://example.com/a',
      fragment: '#rc=5',
      params: {},
    }),
  );
});

t.test('a JSON body is checked by its hash', async (t) => {
  const body = '{"a":"ü"}';
  const url = `https://example.com/hook?x=1&bodySHA256=${getExpectedBodyHash(body)}`;
  const signature = getExpectedTwilioSignature('t', url, {});
  t.ok(verifyTwilio({ authToken: 't', signature, url, rawBody: body }));
  t.ok(verifyTwilio({ authToken: 't', signature, url, rawBody: Buffer.from(body) }));
  t.notOk(verifyTwilio({ authToken: 't', signature, url, rawBody: `${body} ` }));
  t.notOk(
    verifyTwilio({
      authToken: 't',
      signature: getExpectedTwilioSignature('t', 'https://example.com/', {}),
      url: 'https://example.com/',
      rawBody: body,
    }),
  );
  t.ok(validateRequestWithBody('t', signTwilio('t', url, {}), url, body));
});

t.test('no signature, no token: no', async (t) => {
  const url = 'https://example.com/';
  t.notOk(verifyTwilio({ authToken: 't', signature: undefined, url, params: {} }));
  t.notOk(verifyTwilio({ authToken: 't', signature: '', url, params: {} }));
  t.notOk(verifyTwilio({ authToken: '', signature: signTwilio('', url, {}), url, params: {} }));
  t.notOk(verifyTwilio({ authToken: 't', signature: 'ü'.repeat(28), url, params: {} }));
});
