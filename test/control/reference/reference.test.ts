// The reference as it is served: open to everybody, true to its policy, whole, and with samples that work.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { FAULT_CODES, HANGUP_CAUSES } from '../../../bridge/protocol/call-reasons.ts';
import { DEFAULT_PERSONA } from '../../../control/agents/texts/system-prompt.ts';
import { ROUTES } from '../../../control/api/routes.ts';
import { DECISIONS, VERIFY_BY_HAND } from '../../../control/reference/reference-text.ts';
import { ERROR_STATUS } from '../../../errors.ts';
import { EVENT_TYPES } from '../../../storage/records.ts';
import { document } from '../document.ts';
import { openRig } from '../rig.ts';

const unescaped = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Not by fetch, which asks for a fresh answer whenever it names an ETag. */
async function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const [response] = await once(get(url, { headers, agent: false }), 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

t.test('the document needs no key and holds nothing of anybody', async (t) => {
  const rig = await openRig(t);
  await rig.agent({ name: 'Canary' });
  const open = await rig.api('GET', '/v1/openapi.json', { key: null });
  t.equal(open.status, 200);
  t.match(open.headers.get('content-type'), /^application\/json/);
  t.match(open.headers.get('ratelimit-limit'), /^\d+$/);
  t.same(Object.keys(open.body.paths), Object.keys(document.paths));
  const wrong = await rig.api('GET', '/v1/openapi.json', { key: 'sk_wrongwrongwrongwrong' });
  t.same([wrong.status, wrong.text], [200, open.text], 'the same for everybody');
  for (const secret of [rig.key, rig.orgId, rig.other.orgId, 'Canary', rig.url]) {
    t.notOk(open.text.includes(secret), 'and nothing of anybody');
  }
  const head = await rig.api('HEAD', '/v1/openapi.json', { key: null });
  t.same([head.status, head.text], [200, '']);
  const etag = open.headers.get('etag') ?? '';
  t.equal(
    await statusOf(`${rig.url}/v1/openapi.json`, { 'accept-encoding': 'gzip', 'if-none-match': etag }),
    304,
  );
  t.equal(await statusOf(`${rig.url}/v1/openapi.json`, { 'if-none-match': '"x"' }), 200);
  const post = await rig.api('POST', '/v1/openapi.json', { key: null, body: {} });
  t.same([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  t.equal((await rig.api('GET', '/v1/agents', { key: null })).status, 401, 'everything else needs a key');
  t.equal((await rig.api('GET', '/v1/openapi.json/x', { key: null })).status, 401);
});

t.test('both are packed for whoever takes that, under a tag of their own', async (t) => {
  const rig = await openRig(t);
  for (const path of ['/docs', '/v1/openapi.json']) {
    const read = async (coding: string) => {
      const [response] = (await once(
        get(`${rig.url}${path}`, { headers: { 'accept-encoding': coding }, agent: false }),
        'response',
      )) as [IncomingMessage];
      return { headers: response.headers, body: Buffer.concat(await response.toArray()) };
    };
    const [plain, packed] = [await read('identity'), await read('gzip, br')];
    t.same([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'gzip']);
    t.ok(gunzipSync(packed.body).equals(plain.body), path);
    t.ok(packed.body.length < plain.body.length / 3, `${packed.body.length} of ${plain.body.length} bytes`);
    t.not(packed.headers.etag, plain.headers.etag);
    t.match(packed.headers.vary, /Accept-Encoding/);
    const etag = packed.headers.etag ?? '';
    t.equal(await statusOf(rig.url + path, { 'accept-encoding': 'gzip', 'if-none-match': etag }), 304);
  }
});

t.test('requests for the document are counted by address', async (t) => {
  const rig = await openRig(t, { env: { RATE_LIMIT_BURST: '3' } });
  for (let i = 0; i < 3; i++) t.equal((await rig.api('GET', '/v1/openapi.json', { key: null })).status, 200);
  const late = await rig.api('GET', '/v1/openapi.json', { key: null });
  t.same([late.status, late.body.error.code], [429, 'rate_limited']);
  t.match(late.headers.get('retry-after'), /^\d+$/);
  t.equal((await rig.api('GET', '/v1/agents')).status, 200, 'keys have counts of their own');
});

t.test(
  'the page loads nothing from anywhere, and its policy allows exactly its own style, script and typeface',
  async (t) => {
    const rig = await openRig(t);
    const page = await rig.api('GET', '/docs', { key: null });
    t.equal(page.status, 200);
    t.match(page.headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = new Map(
      (page.headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...values] = part.split(' ');
        return [name, values.join(' ')];
      }),
    );
    const style = /<style>([\s\S]*?)<\/style>/.exec(page.text)?.[1] ?? '';
    const script = /<script>([\s\S]*?)<\/script>/.exec(page.text)?.[1] ?? '';
    t.ok(style.length > 1_000 && script.length > 1_000);
    const hashOf = async (text: string) =>
      Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('base64');
    t.same(Object.fromEntries(policy), {
      'default-src': "'none'",
      'style-src': `'sha256-${await hashOf(style)}'`,
      'script-src': `'sha256-${await hashOf(script)}'`,
      'font-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
    const rest = page.text.replace(style, '').replace(script, '').replace('<script>', '');
    t.notMatch(rest, /<script|<img|<link|<iframe|@import|url\(| style=| on\w+=/i);
    t.notMatch(script, /\b(fetch|XMLHttpRequest|import|eval|Function|innerHTML|document\.write)\b/);
    const faces = [...style.matchAll(/url\(([^)]*)\)/g)].map(([, to = '']) => to);
    t.equal(faces.length, 1);
    const face = await fetch(`${rig.url}${faces[0]}`);
    t.same([face.status, face.headers.get('content-type')], [200, 'font/woff2']);
    t.equal(Buffer.from(await face.arrayBuffer()).toString('latin1', 0, 4), 'wOF2');
    const links = [...page.text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, to = '']) => to);
    t.same([...new Set(links.filter((to) => !to.startsWith('#')))], ['/', '/v1/openapi.json']);
    const ids = [...page.text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    t.equal(new Set(ids).size, ids.length, 'every id is there once');
    t.same([...new Set(links.filter((to) => to.startsWith('#') && !ids.includes(to.slice(1))))], []);
    const etag = page.headers.get('etag') ?? '';
    t.equal(await statusOf(`${rig.url}/docs`, { 'accept-encoding': 'gzip', 'if-none-match': etag }), 304);
    t.equal((await rig.api('POST', '/docs', { body: {} })).status, 405);
  },
);

t.test('the page is well-formed', async (t) => {
  const rig = await openRig(t);
  const { text } = await rig.api('GET', '/docs', { key: null });
  const open: string[] = [];
  const plain = text.replace(/<script>[\s\S]*?<\/script>/, '');
  for (const [, closing, name = ''] of plain.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
    if (name === 'meta' || name === 'input') continue;
    if (closing === '') open.push(name);
    else if (open.pop() !== name) t.fail(`</${name}> closes something else`);
  }
  t.same(open, []);
});

t.test(
  'the page has every operation, event, error, schema and decision, and the default persona',
  async (t) => {
    const rig = await openRig(t);
    const { text } = await rig.api('GET', '/docs', { key: null });
    const plain = unescaped(text);
    for (const route of ROUTES) {
      t.ok(text.includes(` id="${route.operation}"`), route.operation);
      t.ok(plain.includes(`${route.summary}.`), route.summary);
    }
    for (const code of Object.keys(ERROR_STATUS)) t.ok(text.includes(` id="error-${code}"`), code);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      t.ok(text.includes(` id="schema-${name}"`), name);
      for (const field of Object.values(schema.properties ?? {})) {
        if (field.description) t.ok(plain.includes(field.description.replaceAll('`', '')), field.description);
      }
    }
    for (const type of EVENT_TYPES) t.ok(text.includes(`<code>${type}</code>`), type);
    for (const { decisions } of DECISIONS) {
      for (const [point, decision] of decisions) t.ok(plain.includes(decision.replaceAll('`', '')), point);
    }
    for (const [word, meaning] of [...Object.entries(HANGUP_CAUSES), ...Object.entries(FAULT_CODES)]) {
      t.ok(text.includes(`<code>${word}</code>`), word);
      t.ok(plain.includes(meaning.replaceAll('`', '')), meaning);
    }
    t.ok(plain.includes(DEFAULT_PERSONA));
    for (const word of ['webhook-signature', 'Attempt', '10 h later', '27 h 43 min'])
      t.ok(plain.includes(word), word);
  },
);

t.test('the sample that verifies a signature takes what is genuine and nothing else', async (t) => {
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(VERIFY_BY_HAND)}`)) as {
    isGenuine(body: string, headers: Record<string, string>, secret: string, nowSeconds: number): boolean;
  };
  // The example of the Standard Webhooks specification.
  const body = '{"test": 2432232314}';
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const at = 1614265330;
  t.ok(isGenuine(body, headers, secret, at + 299));
  const old = `v1,${Buffer.alloc(32).toString('base64')} ${headers['webhook-signature']}`;
  t.ok(isGenuine(body, { ...headers, 'webhook-signature': old }, secret, at), 'one of two is enough');
  t.notOk(isGenuine(`${body} `, headers, secret, at), 'another body');
  t.notOk(isGenuine(body, { ...headers, 'webhook-id': 'msg_x' }, secret, at), 'another id');
  t.notOk(isGenuine(body, { ...headers, 'webhook-timestamp': '1614265331' }, secret, at), 'another time');
  t.notOk(isGenuine(body, headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx', at), 'another secret');
  t.notOk(isGenuine(body, headers, secret, at + 301), 'an old message');
  t.notOk(isGenuine(body, { ...headers, 'webhook-timestamp': 'x' }, secret, at), 'no time');
  t.notOk(isGenuine(body, { ...headers, 'webhook-signature': 'v1,' }, secret, at), 'no signature');
});
