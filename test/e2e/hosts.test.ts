// Under which names the daemon answers, and to whom: pages of other sites whose name was turned to this machine, proxies that
// do not say that they are one, and everybody who asks how it is.
import { request } from 'node:http';
import t from 'tap';
import { openRig, type Rig } from './rig.ts';

t.setTimeout(120_000);

interface Answer {
  status: number;
  text: string;
}

/** Any Host header, which fetch does not send. */
function ask(url: string, o: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const asking = request(
      url,
      { method: o.method ?? 'GET', agent: false, headers: o.headers ?? {} },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (more) => {
          text += more;
        });
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asking.once('error', reject);
    asking.end(o.body);
  });
}

const signIn = (rig: Rig, host: string, origin = `http://${host}`) =>
  ask(`${rig.lab.daemon.url}/dashboard/api/login`, {
    method: 'POST',
    headers: { host, origin, 'content-type': 'application/json' },
    body: JSON.stringify({ password: 'wrong, but long enough' }),
  });

t.test('names of the daemon', async (t) => {
  const rig = await openRig(t, { env: { ALLOWED_HOSTS: 'phone.lan,fd00::7' } });
  const { url } = rig.lab.daemon;
  const { port } = new URL(url);
  const key = { authorization: `Bearer ${rig.lab.apiKey}` };

  await t.test('a page whose name was turned to this machine gets nothing of the dashboard', async (t) => {
    for (const host of [
      `evil.example:${port}`,
      'evil.example',
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `192.0.2.7:${port}`,
      '[2001:db8::1]',
      'phone.lan.evil.example',
    ]) {
      for (const path of ['/', '/calls', '/dashboard/api/session']) {
        const answer = await ask(`${url}${path}`, { headers: { host, accept: 'text/html' } });
        t.equal(answer.status, 403, `${path} at ${host}`);
        t.match(answer.text, 'ALLOWED_HOSTS');
        t.notMatch(answer.text, 'evil');
      }
      const answer = await signIn(rig, host);
      t.equal(answer.status, 403, `sign-in at ${host}`);
    }
  });

  await t.test('its own names are answered', async (t) => {
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `phone.localhost:${port}`,
      `phone.lan:${port}`,
      `[fd00::7]:${port}`,
      'phone.lan.',
    ]) {
      const page = await ask(url, { headers: { host, accept: 'text/html' } });
      t.equal(page.status, 200, `/ at ${host}`);
      const session = await ask(`${url}/dashboard/api/session`, { headers: { host } });
      t.equal(session.status, 200, `who is signed in, at ${host}`);
    }
    // No password is set yet, which is said to whoever may ask.
    t.equal((await signIn(rig, `phone.lan:${port}`)).status, 409);
  });

  await t.test('/metrics and what /readyz knows are for this machine and for who has a key', async (t) => {
    const here = { host: `127.0.0.1:${port}` };
    for (const [who, headers, isOpen] of [
      ['this machine', here, true],
      ['this machine by name', { host: `localhost:${port}` }, true],
      ['a key, from wherever', { ...key, host: 'calls.example.com' }, true],
      ['a key, by a proxy', { ...key, ...here, 'x-forwarded-for': '203.0.113.7' }, true],
      ['a foreign name', { host: `evil.example:${port}` }, false],
      ['a proxy that hands the name on', { host: 'calls.example.com' }, false],
      ['a proxy on another port', { host: '127.0.0.1:8443' }, false],
      ['a name that is allowed for the dashboard', { host: `phone.lan:${port}` }, false],
      ['a proxy that says so', { ...here, 'x-forwarded-for': '203.0.113.7' }, false],
      ['another one', { ...here, 'x-forwarded-proto': 'https' }, false],
      ['a tunnel', { ...here, 'cf-connecting-ip': '203.0.113.7' }, false],
      ['a wrong key', { ...here, via: '1.1 proxy', authorization: 'Bearer sk_wrongwrongwrongwrong' }, false],
    ] as const) {
      const metrics = await ask(`${url}/metrics`, { headers });
      t.equal(metrics.status, isOpen ? 200 : 401, `/metrics: ${who}`);
      const ready = await ask(`${url}/readyz`, { headers });
      t.equal(ready.status, 200, `/readyz: ${who}`);
      t.same(
        Object.keys(JSON.parse(ready.text) as object),
        isOpen ? ['status', 'checks'] : ['status'],
        `/readyz: ${who}`,
      );
      t.equal((await ask(`${url}/healthz`, { headers })).status, 200, `/healthz: ${who}`);
    }
  });

  await t.test('with PUBLIC_URL set there is a proxy, and it need not say so', async (t) => {
    await rig.lab.daemon.stop();
    await rig.lab.restartDaemon({ PUBLIC_URL: 'https://calls.example.com' });
    // To the letter what somebody at the machine would send.
    const headers = { host: `127.0.0.1:${port}` };
    t.equal((await ask(`${url}/metrics`, { headers })).status, 401);
    t.same(JSON.parse((await ask(`${url}/readyz`, { headers })).text), { status: 'ready' });
    t.equal((await ask(`${url}/metrics`, { headers: { ...headers, ...key } })).status, 200);
    t.equal((await signIn(rig, 'calls.example.com', 'https://calls.example.com')).status, 409);
    t.equal((await signIn(rig, 'other.example.com', 'https://other.example.com')).status, 403);
    t.equal((await signIn(rig, `localhost:${port}`)).status, 409, 'an operator at the machine signs in');
  });
});
