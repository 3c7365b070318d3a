// The page and its assets: who answers which path, what a browser may load, and that all it is told to load is there.
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { makeBundle, openAssets, staticImports } from '../../../control/dashboard/assets.ts';
import { pageRoutes } from '../../../control/dashboard/pages.ts';
import { openRig } from '../rig.ts';

/** As a browser asks for a page. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const open = async (test: Parameters<typeof openRig>[0]) =>
  openRig(test, { pages: pageRoutes(openAssets(false)) });

t.test('one page answers every route of the app, and none that is not its own', async (t) => {
  const rig = await open(t);
  for (const path of [
    '/',
    '/calls',
    '/calls/0199c000-0000-7000-8000-000000000000',
    '/agents/new/',
    '/setup',
  ]) {
    const { status, headers, text } = await rig.api('GET', path, { key: null, headers: BROWSER });
    t.same([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'], path);
    t.match(headers.get('vary'), /Accept/);
    t.equal(headers.get('cache-control'), 'no-store', `${path}: an open page must find what it names`);
    t.match(text, '<div id="app">');
    t.notMatch(text, /\{\{\w+\}\}/, 'every placeholder is filled');
  }
  for (const path of [
    '/v1/nothing',
    '/docs/nothing',
    '/media/1/x',
    '/carriers/other',
    '/healthz/x',
    '/readyz/x',
    '/metrics/x',
    '/dashboard/api/nothing',
    '/dashboard/anything',
    '/assets',
    '/assets/0000000000000000/npm/preact.js',
    '/favicon.ico',
    '/.git/config',
    '/..%2fpackage.json',
  ]) {
    const { status, headers } = await rig.api('GET', path, { headers: BROWSER });
    t.same([status, headers.get('content-type')], [404, 'application/json; charset=utf-8'], path);
  }
  t.equal((await rig.api('POST', '/calls', { key: null, headers: BROWSER })).status, 405);
  t.equal((await rig.api('HEAD', '/calls', { key: null, headers: BROWSER })).status, 200);
});

t.test('a program that leaves out /v1 is told so, and gets no page', async (t) => {
  const rig = await open(t);
  for (const [method, path, accept] of [
    ['GET', '/calls', '*/*'],
    ['GET', '/calls', 'application/json'],
    ['GET', '/agents/0199c000-0000-7000-8000-000000000000', '*/*'],
    ['GET', '/webhook_endpoints', 'application/json, text/plain, */*'],
    ['HEAD', '/calls', '*/*'],
    ['POST', '/calls', '*/*'],
    ['PATCH', '/agents/1', 'application/json'],
    ['GET', '/', 'application/json'],
  ] as const) {
    const { status, headers, body } = await rig.api(method, path, { headers: { accept } });
    t.same(
      [status, headers.get('content-type')],
      [404, 'application/json; charset=utf-8'],
      `${method} ${path} ${accept}`,
    );
    if (method !== 'HEAD') t.match(body.error, { code: 'not_found', message: /\/v1/ });
  }
  t.equal(
    (await rig.api('GET', '/', { key: null, headers: { accept: '*/*' } })).status,
    200,
    'the root is for people',
  );
});

t.test('the policy lets the page load its own files and nothing else from anywhere', async (t) => {
  const rig = await open(t);
  const { headers, text } = await rig.api('GET', '/', { key: null });
  const policy = new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((one) => {
      const [name = '', ...values] = one.split(' ');
      return [name, values] as const;
    }),
  );
  const inline = [...text.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code]) => code ?? '',
  );
  t.equal(inline.length, 1, 'the import map is the one inline script');
  const hash = createHash('sha256')
    .update(inline[0] ?? '')
    .digest('base64');
  t.same(policy.get('script-src'), ["'self'", `'sha256-${hash}'`], 'no inline script but the import map');
  t.same(policy.get('style-src'), ["'self'"], 'no style but the sheets of the page');
  t.same(
    [...policy].filter(([name]) => name !== 'script-src' && name !== 'style-src'),
    [
      ['default-src', ["'none'"]],
      ['connect-src', ["'self'"]],
      ['img-src', ["'self'"]],
      ['font-src', ["'self'"]],
      ['media-src', ["'self'", 'blob:']],
      ['worker-src', ["'self'"]],
      ['manifest-src', ["'self'"]],
      ['base-uri', ["'none'"]],
      ['form-action', ["'self'"]],
      ['frame-ancestors', ["'none'"]],
    ],
    'nothing is looser than this',
  );
  t.match(headers.get('permissions-policy') ?? '', /^microphone=\(self\)/);
  t.equal(headers.get('x-content-type-options'), 'nosniff');
  t.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  t.notMatch(text, /\b(?:src|href)="(?:https?:)?\/\//, 'nothing from another host');
  t.notMatch(text, /\son\w+=|\sstyle=/, 'nothing inline that the policy would stop');
});

t.test(
  'everything the page names is there, cached for good, and smaller where the browser can unpack',
  async (t) => {
    const rig = await open(t);
    const { text } = await rig.api('GET', '/', { key: null });
    const named = [
      ...[...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? ''),
      ...Object.values(
        (
          JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(text)?.[1] ?? '{}') as {
            imports: Record<string, string>;
          }
        ).imports,
      ),
    ];
    t.ok(named.length > 10, `${named.length} files`);
    for (const path of new Set(named)) {
      const plain = await request(rig.url + path, { headers: { 'accept-encoding': 'identity' } });
      const bytes = Buffer.from(await plain.body.arrayBuffer());
      t.equal(plain.statusCode, 200, path);
      const type =
        { css: /^text\/css/, svg: /^image\/svg/, woff2: /^font\/woff2$/ }[path.split('.').at(-1) ?? ''] ??
        /^text\/javascript/;
      t.match(plain.headers['content-type'], type);
      t.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
      for (const [coding, unpack] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const packed = await request(rig.url + path, { headers: { 'accept-encoding': coding } });
        const body = Buffer.from(await packed.body.arrayBuffer());
        t.equal(packed.headers.vary, 'Accept-Encoding');
        if (packed.headers['content-encoding'] === undefined) {
          t.ok(path.endsWith('.woff2') || bytes.length < 300, `${path} is packed as it is, or too small`);
          continue;
        }
        t.equal(packed.headers['content-encoding'], coding);
        t.ok(body.length < bytes.length && unpack(body).equals(bytes), `${path} ${coding}`);
      }
    }
    t.equal(
      (await rig.api('GET', named[0]?.replace(/\w{16}/, '0'.repeat(16)) ?? '', { key: null })).status,
      404,
    );
    t.equal((await rig.api('POST', named[0] ?? '', { key: null })).status, 405);
    t.notOk(
      rig.lines.some(({ fields }) => fields.route === '/assets' && fields.status === 200),
      'files are no lines of the log',
    );
  },
);

t.test('the graph is whole: no module has to be asked for that was not announced', async (t) => {
  const bundle = makeBundle();
  const reach = (path: string): string[] =>
    staticImports(bundle.files.get(path)?.plain.toString('utf8') ?? '').map((name) => {
      if (!name.startsWith('.')) {
        const to = bundle.imports[name];
        if (to === undefined) t.fail(`${path} imports ${name}, which the import map does not have`);
        return (to ?? '').replace(`/assets/${bundle.hash}/`, '');
      }
      return new URL(name, `file:///${path}`).pathname.slice(1);
    });
  for (const path of bundle.graph) {
    for (const next of reach(path)) t.ok(bundle.graph.includes(next), `${path} -> ${next}`);
  }
  for (const [path, { type, plain }] of bundle.files) {
    if (!type.startsWith('text/javascript')) continue;
    t.notMatch(plain.toString('utf8'), /sourceMappingURL=/, `${path} names no source map`);
  }
  t.same(
    staticImports(
      "import a, { b } from 'one';\nimport 'two';\nexport { c } from \"three\";\nexport * from 'four';import*as d from'five';\nconst e = import('six'); export const f = 'seven';",
    ),
    ['one', 'two', 'three', 'four', 'five'],
  );
});

t.test('the files can be made ahead of the first visit, and are the same', async (t) => {
  const assets = openAssets(false);
  const { hash } = makeBundle();
  t.equal(assets.prepare(0) instanceof Function, true);
  // One file per turn of the loop.
  for (let turn = 0; turn < 500; turn++) await new Promise((next) => setImmediate(next));
  const from = performance.now();
  t.equal(assets.current().hash, hash);
  const ready = performance.now() - from;
  const again = performance.now();
  makeBundle();
  t.ok(ready < (performance.now() - again) / 5, 'nothing is left to make');
});

t.test('every file of letters that the typeface names is served, byte for byte', async (t) => {
  const { files } = makeBundle();
  const sheet = files.get('npm/inter/index.css')?.plain.toString('utf8') ?? '';
  const named = [...sheet.matchAll(/url\(\.\/([^)]+)\)/g)].map(([, file]) => `npm/inter/${file}`);
  t.ok(named.length >= 7, `${named.length} files`);
  for (const path of named) {
    const asset = files.get(path);
    t.equal(asset?.type, 'font/woff2', path);
    t.equal(asset?.plain.subarray(0, 4).toString('latin1'), 'wOF2', `${path} was not read as text`);
    t.equal(asset?.plain.readUInt32BE(8), asset?.plain.length, `${path} is whole`);
  }
});

t.test('types are stripped in place, and the hash is that of what is served', async (t) => {
  const bundle = makeBundle();
  const main = bundle.files.get('dashboard/app/main.ts');
  t.equal(main?.type, 'text/javascript; charset=utf-8');
  t.equal(makeBundle().hash, bundle.hash, 'the same files are the same hash');
  t.equal(openAssets(false).find('0'.repeat(16), 'dashboard/app/main.ts'), null);
  t.notOk([...bundle.files.keys()].some((path) => /\.json$|\.d\.ts$|\.html$/.test(path)));
});
