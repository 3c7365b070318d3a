// What doctor makes of facts, by table; and its checks against servers that answer as the real ones do.

import { statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import t, { type Test } from 'tap';
import { readConfig } from '../../../config.ts';
import {
  checkCalls,
  checkCarriers,
  checkDaemon,
  checkDisk,
  checkModel,
  checkPublicUrl,
  checkRedis,
} from '../../../control/cli/doctor/checks.ts';
import { judgeClock, judgeDisk, judgePublicUrl } from '../../../control/cli/doctor/findings.ts';

import { expectedProof, newChallenge, openInstance } from '../../../control/operations/instance.ts';

const NOW = new Date('2026-12-01T00:00:00Z');

t.test('the clock: the server that agrees most decides', async (t) => {
  const seen = (...skewsS: number[]) =>
    skewsS.map((skewS, i) => ({
      host: `h${i}`,
      date: new Date(1_000_000_000_000).toUTCString(),
      atMs: 1_000_000_000_000 + skewS * 1000,
    }));
  const cases: [number[], string, RegExp][] = [
    [[], 'skip', /Nobody/],
    [[0.4], 'ok', /right/],
    [[-20], 'ok', /20 s slow/],
    [[45], 'warn', /45 s fast/],
    [[-300], 'fail', /300 s slow/],
    [[4000, 1], 'ok', /right, by h1/],
  ];
  for (const [skews, state, says] of cases)
    t.match(judgeClock(seen(...skews)), { state, says }, skews.join());
});

t.test('the disk: the thresholds of the daemon', async (t) => {
  const at = { warnMb: 500, lowMb: 200, folder: '/data' };
  t.match(judgeDisk(50e9, at), { state: 'ok', says: /50 GB/ });
  t.match(judgeDisk(400e6, at), { state: 'warn', mend: /DATA_DIR/ });
  t.match(judgeDisk(100e6, at), { state: 'fail', says: /no calls/ });
});

t.test('the public URL as it is written', async (t) => {
  t.match(judgePublicUrl(null), { state: 'warn' });
  t.match(judgePublicUrl('http://127.0.0.1:8080'), { state: 'fail', says: /inside this network/ });
  t.match(judgePublicUrl('https://192.168.1.4'), { state: 'fail' });
  t.match(judgePublicUrl('http://calls.example.com'), { state: 'fail', says: /not https/ });
  t.equal(judgePublicUrl('https://calls.example.com'), null);
});

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_req, res) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const config = (env: Record<string, string>) =>
  readConfig({ TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 't', OPENAI_API_KEY: 'sk-1', ...env });

t.test('the carrier', async (t) => {
  const ask = async (listener: RequestListener) =>
    (await checkCarriers(config({ TWILIO_BASE_URL: await serve(t, listener) }), []))[0];
  t.match(
    await ask((req, res) => {
      const good =
        req.headers.authorization === `Basic ${btoa('AC1:t')}` && req.url === '/2010-04-01/Accounts/AC1.json';
      json(good ? 200 : 500, { status: 'active', type: 'Full' })(req, res);
    }),
    { state: 'ok' },
  );
  t.match(await ask(json(200, { status: 'active', type: 'Trial' })), { state: 'warn', says: /trial/ });
  t.match(await ask(json(200, { status: 'suspended' })), { state: 'fail', says: /suspended/ });
  t.match(await ask(json(401, {})), { state: 'fail', says: /refuses/ });
  t.match(await ask((req) => req.socket.destroy()), { state: 'fail', says: /does not answer/ });
  for (const unset of [{ TWILIO_AUTH_TOKEN: '' }, { TWILIO_AUTH_TOKEN: '', TWILIO_ACCOUNT_SID: '' }]) {
    t.same(await checkCarriers(config(unset), []), [
      { check: 'carrier', state: 'skip', says: 'No credentials to try.' },
    ]);
  }
});

t.test('the model', async (t) => {
  const ask = async (listener: RequestListener) =>
    checkModel(config({ OPENAI_BASE_URL: await serve(t, listener) }), [], NOW);
  const { REALTIME_MODEL, TRANSCRIPTION_MODEL, EXTRACTION_MODEL } = config({});
  const data = [REALTIME_MODEL, TRANSCRIPTION_MODEL, EXTRACTION_MODEL].map((id) => ({ id }));
  t.match(await ask(json(200, { data })), [{ state: 'ok' }]);
  t.match(await ask(json(200, { data: data.slice(1) })), [{ state: 'fail', says: /REALTIME_MODEL/ }]);
  t.match(await ask(json(401, {})), [{ state: 'fail', says: /refuses/ }]);
  t.match(await ask(json(404, {})), [{ state: 'warn' }]);
});

t.test('the daemon where it listens, and no other', async (t) => {
  const folder = t.testdir({ own: {}, strange: {}, empty: {} });
  const at = async (listener: RequestListener, dataDir = 'own') => {
    const url = new URL(await serve(t, listener));
    return checkDaemon(config({ PORT: url.port, DATA_DIR: `${folder}/${dataDir}` }));
  };
  /** Answers as the daemon of a folder does. */
  const daemon = (dataDir: string, ready = 200): RequestListener => {
    const prove = openInstance(`${folder}/${dataDir}`);
    return (request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      if (url.pathname === '/readyz') return json(ready, {})(request, response);
      const proof = prove(url.searchParams.get('challenge'));
      return json(200, { status: 'ok', proof })(request, response);
    };
  };
  t.match(await at(daemon('own')), { running: true, finding: { state: 'ok' } });
  t.match(await at(daemon('own', 503)), { running: true, finding: { state: 'warn', says: /no calls/ } });
  for (const dataDir of ['own', 'empty']) {
    t.match(await at(daemon('strange'), dataDir), {
      running: false,
      finding: { state: 'fail', says: /not the one of/ },
    });
  }
  t.match(
    await at(json(200, { status: 'ok' })),
    { running: false, finding: { state: 'fail' } },
    'says nothing',
  );
  t.match(await at(json(200, {})), { running: false, finding: { state: 'fail', says: /Something else/ } });
  t.match(await at(json(404, {})), { running: false, finding: { state: 'fail', says: /Something else/ } });
  t.match(await checkDaemon(config({ PORT: '1' })), { running: false, finding: { state: 'warn' } });
});

t.test('a challenge is answered by the start of now, and nothing else is', async (t) => {
  const folder = t.testdir();
  const challenge = newChallenge();
  t.equal(expectedProof(folder, challenge), null, 'nobody was started here');
  const before = openInstance(folder);
  t.equal(before(challenge), expectedProof(folder, challenge));
  t.not(before(newChallenge()), before(challenge));
  const now = openInstance(folder);
  t.not(now(challenge), before(challenge), 'a start of its own');
  t.equal(now(challenge), expectedProof(folder, challenge));
  for (const wrong of [undefined, '', 'x', challenge.slice(1), [challenge], `${challenge}0`])
    t.equal(now(wrong), null);
  t.equal(statSync(`${folder}/instance.key`).mode & 0o777, 0o600);
});

t.test('a public URL that is fine as written is asked, by request and by upgrade', async (t) => {
  // Only https is accepted as written; what stands behind the name cannot be had in a test.
  t.match(await checkPublicUrl(config({ PUBLIC_URL: 'https://offhook.invalid' }), true), [
    { state: 'fail', says: /does not answer/ },
  ]);
});

t.test(
  'Redis: none, one that answers, one that refuses, one that evicts, one that is not there',
  async (t) => {
    const redis = async (answer: string) => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', () => socket.write(answer));
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      t.teardown(() => server.close());
      return checkRedis(
        config({ REDIS_URL: `redis://:secret@127.0.0.1:${(server.address() as AddressInfo).port}` }),
        '',
      );
    };
    const policy = (name: string) =>
      `*2\r\n$16\r\nmaxmemory-policy\r\n$${name.length}\r\n${name}\r\n+PONG\r\n`;
    t.match(await checkRedis(config({}), ''), { state: 'ok', says: /directly/ });
    t.match(await redis(`+OK\r\n${policy('noeviction')}`), { state: 'ok', says: /answers/ });
    t.match(
      await redis('-ERR unknown command\r\n+PONG\r\n'),
      { state: 'ok' },
      'a Redis that does not tell its settings',
    );
    t.match(await redis(policy('allkeys-lru')), { state: 'warn', says: /allkeys-lru/ });
    t.match(await redis('-WRONGPASS invalid\r\n-NOAUTH\r\n'), { state: 'fail', says: /password/ });
    t.match(await checkRedis(config({ REDIS_URL: 'redis://127.0.0.1:1' }), ''), {
      state: 'fail',
      says: /ECONNREFUSED/,
    });
  },
);

t.test('the disk of a folder that is not there yet is the one above it', async (t) => {
  t.match(checkDisk(config({ DATA_DIR: `${t.testdir()}/a/b` })), { check: 'disk', says: /free/ });
});

t.test('the calls: in the words of a daemon that is proven to be the one, asked with a key', async (t) => {
  const keys: (string | undefined)[] = [];
  let answer: RequestListener = json(500, {});
  const at = await serve(t, (req, res) => {
    keys.push(`${req.url} ${req.headers.authorization}`);
    answer(req, res);
  });
  t.match(await checkCalls(undefined, 'sk_one'), { state: 'skip' });
  t.match(await checkCalls(at, undefined), { state: 'skip', says: /No key/ });
  t.same(keys, [], 'the key is shown to nobody else');
  t.match(await checkCalls(at, 'sk_one'), { state: 'skip' });
  for (const [state, found] of [
    ['ok', 'ok'],
    ['warn', 'warn'],
    ['down', 'fail'],
  ]) {
    answer = json(200, { state: 'down', calls: { state, text: '3 of the last 6 calls failed.' } });
    t.match(await checkCalls(at, 'sk_one'), { state: found, says: '3 of the last 6 calls failed.' });
  }
  t.equal(keys.at(-1), '/v1/health Bearer sk_one');
});
