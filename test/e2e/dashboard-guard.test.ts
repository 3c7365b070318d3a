// What keeps the dashboard safe, checked in a real browser and on the wire: the page's policy, the session's cookie, the
// token of changes, and what ends with the session. Each check fails if its rule is loosened.
import t from 'tap';
import { liveStream, openDashboard, PASSWORD, type Sight, signIn } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';

t.test('the doors of the dashboard', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t);
  const { rig, url } = dashboard;
  const sight: Sight = await dashboard.signedIn();
  const { page, context } = sight;
  const sessionCookie = async () => (await context.cookies()).find(({ name }) => name === 'offhook_session');
  const keysOf = async () =>
    (await page.evaluate(
      `fetch('/dashboard/api/keys').then((answer) => answer.json()).then(({ data }) => data.length)`,
    )) as number;

  await t.test('the policy is as strict as it can be, and holds in the browser', async (t) => {
    const answer = await fetch(url);
    const policy = (answer.headers.get('content-security-policy') ?? '').split('; ').sort();
    const hash = policy.find((rule) => rule.startsWith('script-src'))?.match(/'sha256-[\w+/=]{44}'/g);
    t.equal(hash?.length, 1, 'one inline script is known: the import map');
    t.same(
      policy,
      [
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "font-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "img-src 'self'",
        "manifest-src 'self'",
        "media-src 'self' blob:",
        `script-src 'self' ${hash?.[0]}`,
        "style-src 'self'",
        "worker-src 'self'",
      ],
      'word for word',
    );
    t.match(Object.fromEntries(answer.headers), {
      'x-content-type-options': 'nosniff',
      'referrer-policy': /no-referrer|same-origin/,
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': /camera=\(\)/,
    });

    // Each is tried for real; what the policy forbids, the page hears of as a violation.
    const other = await dashboard.open();
    other.expect(/Content Security Policy|asked another host|ERR_BLOCKED_BY_CSP|request failed/);
    await other.page.goto(url);
    await other.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const blocked = (await other.page.evaluate(`(async () => {
      const seen = new Set();
      document.addEventListener('securitypolicyviolation', (event) => seen.add(event.effectiveDirective));
      const put = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields));
      put('script', { textContent: 'window.inlineRan = true' });
      put('script', { src: 'https://elsewhere.example/code.js' });
      put('img', { src: 'https://elsewhere.example/pixel.png' });
      put('iframe', { src: 'https://elsewhere.example/' });
      put('style', { textContent: 'body { color: red }' });
      put('div', {}); document.body.lastChild.setAttribute('style', 'color: red');
      put('div', {}); document.body.lastChild.setAttribute('onclick', 'window.handlerRan = true');
      document.body.lastChild.click();
      await fetch('https://elsewhere.example/').catch(() => {});
      try { new WebSocket('wss://elsewhere.example/'); } catch {}
      const base = document.createElement('base'); base.href = 'https://elsewhere.example/'; document.head.append(base);
      await new Promise((go) => setTimeout(go, 200));
      return { seen: [...seen].sort(), ran: [window.inlineRan === true, window.handlerRan === true] };
    })()`)) as { seen: string[]; ran: boolean[] };
    t.same(blocked.ran, [false, false], 'no inline script and no inline handler ran');
    t.same(blocked.seen, [
      'base-uri',
      'connect-src',
      'frame-src',
      'img-src',
      'script-src-attr',
      'script-src-elem',
      'style-src-attr',
      'style-src-elem',
    ]);
    t.same(other.problems(), []);
    await other.context.close();
  });

  await t.test('no other site may frame it or read it', async (t) => {
    const answer = await fetch(`${url}/dashboard/api/session`, {
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    });
    t.equal(answer.status, 403);
    t.equal(answer.headers.get('access-control-allow-origin'), null);
  });

  await t.test('the cookie: HttpOnly, Strict, nothing a script can read; Secure behind TLS', async (t) => {
    const cookie = await sessionCookie();
    const others = (await context.cookies()).filter(({ name }) => name !== cookie?.name);
    t.match(
      others,
      [{ name: 'offhook_device', httpOnly: true, sameSite: 'Strict', path: '/dashboard/api/login' }],
      'beside it what tells this browser again at its next sign-in, and no other',
    );
    t.match(cookie, { name: 'offhook_session', httpOnly: true, sameSite: 'Strict', path: '/' });
    t.equal(await page.evaluate('document.cookie'), '');
    const kept = JSON.stringify(
      await page.evaluate('[Object.entries(localStorage), Object.entries(sessionStorage)]'),
    );
    t.notOk(kept.includes(cookie?.value ?? 'nothing'), 'nor kept elsewhere');
    const login = await fetch(`${url}/dashboard/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, 'x-forwarded-proto': 'https' },
      body: JSON.stringify({ password: PASSWORD }),
    });
    const [line = ''] = login.headers.getSetCookie();
    t.match(
      line,
      /^__Host-offhook_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    );
    t.equal(
      (
        await fetch(`${url}/dashboard/api/keys`, {
          headers: { cookie: `offhook_session=${cookie?.value}`, 'x-forwarded-proto': 'https' },
        })
      ).status,
      401,
      'a plain cookie does not count behind TLS',
    );
  });

  await t.test('the cookie opens nothing of /v1, a key nothing of the dashboard', async (t) => {
    sight.expect(/401/);
    t.equal(await page.evaluate(`fetch('/v1/agents').then(({ status }) => status)`), 401);
    t.equal(await page.evaluate(`fetch('/dashboard/api/v1/agents').then(({ status }) => status)`), 200);
    const { status } = await fetch(`${url}/dashboard/api/keys`, {
      headers: { authorization: `Bearer ${rig.lab.apiKey}` },
    });
    t.equal(status, 401);
  });

  await t.test(
    'a change without the token, with a wrong one or from elsewhere changes nothing',
    async (t) => {
      const before = await keysOf();
      const cookie = await sessionCookie();
      const { csrf_token: token } = (await page.evaluate(
        `fetch('/dashboard/api/session').then((answer) => answer.json())`,
      )) as { csrf_token: string };
      const own = { origin: url, 'sec-fetch-site': 'same-origin', 'offhook-csrf': token };
      const tries: [string, Record<string, string>][] = [
        ['no token', { origin: url, 'sec-fetch-site': 'same-origin' }],
        [
          'a wrong token',
          { ...own, 'offhook-csrf': `${token.startsWith('x') ? 'y' : 'x'}${token.slice(1)}` },
        ],
        ['half a token', { ...own, 'offhook-csrf': token.slice(0, 20) }],
        ['another origin', { 'offhook-csrf': token, origin: 'https://evil.example' }],
        ['another site', { ...own, 'sec-fetch-site': 'cross-site' }],
        ['a sister of the site', { ...own, 'sec-fetch-site': 'same-site' }],
        ['a sandboxed page', { 'offhook-csrf': token, origin: 'null' }],
        ['no page at all', { 'offhook-csrf': token }],
      ];
      const post = (path: string, headers: Record<string, string>) =>
        fetch(`${url}/dashboard/api/${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            cookie: `${cookie?.name}=${cookie?.value}`,
            ...headers,
          },
          body: JSON.stringify({ name: 'Planted', type: 'inbound' }),
        });
      for (const [what, headers] of tries) {
        for (const path of ['keys', 'v1/agents']) {
          t.equal((await post(path, headers)).status, 403, `${what}: ${path}`);
        }
      }
      t.equal(await keysOf(), before, 'no key was made');
      t.same((await rig.lab.api<{ data: unknown[] }>('GET', '/v1/agents')).body.data, [], 'nor an agent');
      t.equal((await post('v1/agents', own)).status, 201, 'with all of it, it is');
      sight.expect(/403/);
      t.equal(
        await page.evaluate(
          `fetch('/dashboard/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' }).then(({ status }) => status)`,
        ),
        403,
        'in the page itself too',
      );
    },
  );

  await t.test('a new password ends every other session, and its live stream, at once', async (t) => {
    const other = await dashboard.signedIn();
    await other.page.goto(`${url}/live`);
    await other.page.getByText('Connected').waitFor();
    other.expect(/401/);
    await page.goto(`${url}/account`);
    await page.getByLabel('Password now').fill(PASSWORD);
    await page.getByLabel('New password').fill('another quiet line of wrens');
    await page.getByLabel('Confirm password').fill('another quiet line of wrens');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await other.page.getByText('Your session has ended.').waitFor();
    t.equal(await keysOf(), 1, 'who changed it stays');
    await signIn(other.page, 'another quiet line of wrens');
    await other.page.getByText('Connected').waitFor();
    t.equal(new URL(other.page.url()).pathname, '/live', 'and one is back where one was');
    t.same(other.problems(), []);
    await other.context.close();
  });

  await t.test('signing out in one window ends the stream of all windows with that session', async (t) => {
    const cookie = await sessionCookie();
    const stream = await liveStream(url, `${cookie?.name}=${cookie?.value}`);
    t.equal(stream.status, 200);
    const second = await dashboard.another(sight);
    await second.page.goto(`${url}/live`);
    await second.page.getByText('Connected').waitFor();
    second.expect(/401/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await stream.ended;
    await second.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    t.notOk(await sessionCookie(), 'the cookie is gone');
    const again = await fetch(`${url}/dashboard/api/live`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    t.equal(again.status, 401, 'a kept copy opens nothing');
    await again.body?.cancel();
    t.same(second.problems(), []);
  });

  await t.test('a live stream ends with its session, long before anybody would look again', async (t) => {
    const change = async (path: string, body: object, session?: { cookie: string; token: string }) => {
      const answer = await fetch(`${url}/dashboard/api/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          origin: url,
          ...(session === undefined ? {} : { cookie: session.cookie, 'offhook-csrf': session.token }),
        },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      const { csrf_token: token = '' } = (await answer.json()) as { csrf_token?: string };
      return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', token };
    };
    const now = { password: 'another quiet line of wrens' };
    const [leaves, stays, changes] = [
      await change('login', now),
      await change('login', now),
      await change('login', now),
    ];
    const [left, ousted] = [await liveStream(url, leaves.cookie), await liveStream(url, stays.cookie)];
    t.same([left.status, ousted.status], [200, 200]);
    // 15 s after it was opened a stream looks whether its session goes on: what ends before was told.
    let isDue = false;
    const next = new Promise<void>((over) => {
      setTimeout(() => {
        isDue = true;
        over();
      }, 10_000).unref();
    });
    await change('logout', {}, leaves);
    await Promise.race([left.ended, next]);
    t.notOk(isDue, 'signed out: at once');
    await change('password', { current: now.password, password: PASSWORD }, changes);
    await Promise.race([ousted.ended, next]);
    t.notOk(isDue, 'a new password: at once');
  });

  await t.test('nothing else went wrong on the way', async (t) => t.same(sight.problems(), []));
});
