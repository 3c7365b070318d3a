// The way out, tried with hostile URLs, names, answers and peers against real servers on loopback.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, rootCertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { dial, type Egress, EgressError, type Lookup, openEgress } from '../../../control/egress/egress.ts';
import { AppError } from '../../../errors.ts';
import { openReceiver } from '../receiver.ts';

const LOOPBACK = ['127.0.0.0/8'];
const POST = { method: 'POST', headers: {}, body: '{}', timeoutMs: 10_000, maxResponseBytes: 16_384 };

/** Self-signed for receiver.test, made for this test alone. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs4gqU6dKUwHKqMLa
77bgJNexyFQD2dfc0CwqEvwsNcChRANCAAT7uKJe3p53jZvdhj5j+TxVxUls2LKK
wvB3HkasCY9ULkvb41e2I2/XtxiVbGPu2hJOlVvp8xFqxD0pMLR1lkiB
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBbTCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1yZWNlaXZl
ci50ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1yZWNlaXZlci50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+7ii
Xt6ed42b3YY+Y/k8VcVJbNiyisLwdx5GrAmPVC5L2+NXtiNv17cYlWxj7toSTpVb
6fMRasQ9KTC0dZZIgaNMMEowDwYDVR0TAQH/BAUwAwEB/zAYBgNVHREEETAPgg1y
ZWNlaXZlci50ZXN0MB0GA1UdDgQWBBS92imQzQM3PsGcQGce+KA7rjwC0TAKBggq
hkjOPQQDAgNIADBFAiBKuNp3fwIyYtmJQ3/IDP81c58XlwUjA+MLlveoS38u5gIh
AOCjWGA7wJhyGhoqaHrQ8DJDllW0YIlv00Me8W1082YQ
-----END CERTIFICATE-----`;

function open(t: Test, o: { allowedCidrs?: readonly string[]; lookup?: Lookup } = {}): Egress {
  const egress = openEgress({ allowedCidrs: LOOPBACK, userAgent: 'Offhook-Test/1', ...o });
  t.teardown(() => egress.close());
  return egress;
}

/** The error a promise rejects with. */
async function failure(promise: Promise<unknown>): Promise<EgressError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof EgressError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

async function rawServer(t: Test, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** Ways to write an address of this host or its surroundings; PORT is the canary's. */
const HOSTILE = [
  'http://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'https://127.1:PORT/',
  'https://127.0.1:PORT/',
  'https://2130706433:PORT/',
  'https://0x7f000001:PORT/',
  'https://0x7f.0x0.0x0.0x1:PORT/',
  'https://0x7f.1:PORT/',
  'https://017700000001:PORT/',
  'https://0177.0.0.1:PORT/',
  'https://127.0.0.1.:PORT/',
  'https://127.000.000.001:PORT/',
  'https://①②⑦.⓪.⓪.①:PORT/',
  'https://127。0。0。1:PORT/',
  'https://%31%32%37.0.0.1:PORT/',
  'https://0:PORT/',
  'https://0.0.0.0:PORT/',
  'https://127.255.255.254:PORT/',
  'https://[::1]:PORT/',
  'https://[::]:PORT/',
  'https://[0:0:0:0:0:0:0:1]:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://[::ffff:7f00:1]:PORT/',
  'https://[::ffff:0:0]:PORT/',
  'https://[::127.0.0.1]:PORT/',
  'https://[64:ff9b::127.0.0.1]:PORT/',
  'https://[64:ff9b:1::7f00:1]:PORT/',
  'https://[2002:7f00:1::]:PORT/',
  'https://[2001:0:7f00:1::]:PORT/',
  'https://[fe80::1]:PORT/',
  'https://[fd00:ec2::254]:PORT/',
  'https://[ff02::1]:PORT/',
  'https://localhost:PORT/',
  'https://LOCALHOST:PORT/',
  'https://localhost.:PORT/',
  'https://app.localhost:PORT/',
  'https://%6cocalhost:PORT/',
  'https://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  'https://10.0.0.1:PORT/',
  'https://172.16.0.1:PORT/',
  'https://192.168.1.1:PORT/',
  'https://user@127.0.0.1:PORT/',
  'https://example.com@127.0.0.1:PORT/',
  'https://example.com:pass@127.0.0.1:PORT/',
  'https://127.0.0.1:PORT\\@example.com/',
  'https://127.0.0.1\t:PORT/',
  'https://127.0.0.1:PORT/\r\nHost: x',
  ' https://127.0.0.1:PORT/',
  'ftp://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:PORT/',
  'data:text/plain,x',
  'unix:///var/run/docker.sock',
  '//127.0.0.1:PORT/',
  'https://',
  'https://127.0.0.1:99999/',
  '',
];

t.test('no hostile URL passes the check, and none reaches the canary', async (t) => {
  const canary = await openReceiver(200, '::');
  t.teardown(() => canary.close());
  const egress = open(t, { allowedCidrs: [] });
  for (const template of HOSTILE) {
    const url = template.replace('PORT', String(canary.port));
    t.throws(() => egress.check(url, 'webhook_url'), { code: /^(invalid_url|blocked_address)$/ }, template);
    t.equal((await failure(egress.request(url, POST))).kind, 'blocked', template);
  }
  t.equal(canary.connections, 0);
});

t.test('the check names the field, and tells a bad URL from a closed address', async (t) => {
  const egress = open(t, { allowedCidrs: [] });
  const code = (url: string) => {
    try {
      egress.check(url, 'webhook_url');
      return null;
    } catch (error) {
      return error instanceof AppError ? [error.code, error.param] : error;
    }
  };
  t.same(code('http://example.com/'), ['invalid_url', 'webhook_url']);
  t.same(code('https://127.0.0.1/'), ['blocked_address', 'webhook_url']);
  t.same(code(`https://example.com/${'a'.repeat(2048)}`), ['invalid_url', 'webhook_url']);
  for (const port of [
    21, 22, 25, 110, 143, 445, 587, 993, 1023, 3306, 5432, 6379, 6667, 9200, 11211, 27017,
  ]) {
    t.same(code(`https://example.com:${port}/`), ['invalid_url', 'webhook_url'], `port ${port}`);
  }
  for (const url of [
    'https://example.com/hook?a=b#c',
    'https://example.com:8443/',
    'https://example.com:443/',
    'https://example.com./',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ]) {
    t.equal(code(url), null, url);
  }
});

t.test('plain http passes the check only where the operator opened the address', async (t) => {
  const egress = open(t, { allowedCidrs: ['10.0.0.0/8'] });
  egress.check('http://10.1.2.3/hook', 'url');
  egress.check('http://receiver.lan:8080/hook', 'url');
  t.throws(() => egress.check('http://8.8.8.8/hook', 'url'), { code: 'invalid_url' });
  t.throws(() => egress.check('http://192.168.0.1/hook', 'url'), { code: 'blocked_address' });
});

t.test('a name with any closed address is not dialled', async (t) => {
  const canary = await openReceiver(200, '::');
  t.teardown(() => canary.close());
  for (const answers of [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['93.184.215.14', '127.0.0.1'],
    ['127.0.0.1', '93.184.215.14'],
    ['not an address'],
  ]) {
    const egress = open(t, { allowedCidrs: [], lookup: async () => answers.map((address) => ({ address })) });
    const error = await failure(egress.request(`https://receiver.test:${canary.port}/`, POST));
    t.equal(error.kind, 'blocked', answers.join(' '));
  }
  t.equal(canary.connections, 0);
});

t.test('plain http to a name needs every address to be an opened one', async (t) => {
  const egress = open(t, { lookup: async () => [{ address: '127.0.0.1' }, { address: '93.184.215.14' }] });
  t.equal((await failure(egress.request('http://receiver.test/', POST))).kind, 'blocked');
});

t.test('a name that rebinds between queries never leads to the canary', async (t) => {
  const canary = await openReceiver(200, '127.0.0.1');
  const receiver = await openReceiver(200, '127.0.0.2');
  t.teardown(() => Promise.all([canary.close(), receiver.close()]));
  let queries = 0;
  // 127.0.0.2 stands for a public address, 127.0.0.1 for an internal one.
  const lookup: Lookup = async () => [{ address: queries++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1' }];
  const egress = open(t, { allowedCidrs: ['127.0.0.2'], lookup });
  const outcomes = { reached: 0, blocked: 0 };
  for (let i = 0; i < 100; i++) {
    try {
      await egress.request(`http://receiver.test:${i % 4 < 2 ? receiver.port : canary.port}/`, POST);
      outcomes.reached++;
    } catch (error) {
      if (error instanceof EgressError && error.kind === 'blocked') outcomes.blocked++;
    }
  }
  t.equal(queries, 100, 'the answer that was checked is the one that is dialled: one query per request');
  t.equal(canary.connections, 0);
  t.equal(outcomes.blocked, 50);
  t.ok(outcomes.reached > 0);
});

t.test('a peer that is not the one expected gets not one byte', async (t) => {
  let bytes = 0;
  const closed = Promise.withResolvers<void>();
  const port = await rawServer(t, (socket) => {
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('close', () => closed.resolve());
  });
  const peers: string[] = [];
  const refuse = (peer: string) => {
    peers.push(peer);
    return false;
  };
  const error = await failure(dial(['127.0.0.1'], port, refuse, new AbortController().signal));
  await closed.promise;
  t.equal(error.kind, 'blocked');
  t.same(peers, ['127.0.0.1']);
  t.equal(bytes, 0);
});

t.test('redirects are answers and are not followed', async (t) => {
  const canary = await openReceiver(200);
  const receiver = await openReceiver((request, response) => {
    response.writeHead(Number(request.path.slice(1)), { location: canary.url }).end();
  });
  t.teardown(() => Promise.all([canary.close(), receiver.close()]));
  const egress = open(t);
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ['POST', 'GET']) {
      const answer = await egress.request(`http://127.0.0.1:${receiver.port}/${status}`, {
        ...POST,
        method,
      });
      t.equal(answer.status, status);
    }
  }
  t.equal(canary.connections, 0);
});

t.test('a request arrives as it was given, on a connection of its own', async (t) => {
  const receiver = await openReceiver((_request, response) => {
    response.writeHead(201, { 'X-Answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end('done');
  });
  t.teardown(() => receiver.close());
  const egress = open(t);
  const answer = await egress.request(`http://127.0.0.1:${receiver.port}/hook?a=b#part`, {
    ...POST,
    headers: {
      'Content-Type': 'application/json',
      Host: 'evil.test',
      'Transfer-Encoding': 'chunked',
      Connection: 'upgrade',
    },
    body: '{"é":1}',
  });
  t.equal(answer.status, 201);
  t.equal(answer.headers['x-answer'], 'yes');
  t.equal(answer.headers['set-cookie'], 'a=1, b=2');
  t.equal(answer.body.toString(), 'done');
  t.equal(answer.truncated, false);
  const [request] = receiver.requests;
  t.equal(request?.path, '/hook?a=b');
  t.equal(request?.body, '{"é":1}');
  t.match(request?.headers, {
    host: `127.0.0.1:${receiver.port}`,
    connection: 'close',
    'content-length': '8',
    'accept-encoding': 'identity',
    'user-agent': 'Offhook-Test/1',
    'content-type': 'application/json',
  });
  t.notOk(request?.headers['transfer-encoding']);
  await egress.request(receiver.url, POST);
  t.equal(receiver.connections, 2);
});

t.test('an answer without end is cut and its connection closed', async (t) => {
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const receiver = await openReceiver((_request, response) => {
    response.writeHead(200);
    response.on('close', () => closed.resolve());
    const pour = () => {
      while (!response.destroyed && sent < 1024 ** 3) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pour);
      }
    };
    pour();
  });
  t.teardown(() => receiver.close());
  const answer = await open(t).request(receiver.url, POST);
  await closed.promise;
  t.equal(answer.body.length, 16_384);
  t.equal(answer.truncated, true);
  t.ok(sent < 64 * 1024 ** 2, `${sent} bytes were taken off the receiver's hands`);
});

t.test('a gzip bomb stays packed', async (t) => {
  const packed = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const receiver = await openReceiver((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
  });
  t.teardown(() => receiver.close());
  const answer = await open(t).request(receiver.url, POST);
  t.same(answer.body, packed.subarray(0, 16_384));
});

t.test('a status that came counts, though the body broke off or never ended', async (t) => {
  const receiver = await openReceiver((request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => {
      if (request.path === '/reset') response.destroy();
    });
  });
  t.teardown(() => receiver.close());
  const egress = open(t);
  const reset = await egress.request(`http://127.0.0.1:${receiver.port}/reset`, POST);
  t.match([reset.status, reset.truncated], [200, true]);
  const endless = await egress.request(`http://127.0.0.1:${receiver.port}/drip`, { ...POST, timeoutMs: 300 });
  t.match([endless.status, endless.truncated, endless.body.toString()], [200, true, 'half']);
});

t.test('no answer in time, and a tarpit in the headers', async (t) => {
  const silent = await rawServer(t, () => {});
  const dripping = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const egress = open(t);
  for (const port of [silent, dripping]) {
    const error = await failure(egress.request(`http://127.0.0.1:${port}/`, { ...POST, timeoutMs: 200 }));
    t.match(error, { kind: 'timeout', connected: true });
  }
});

t.test('refused and closed read the same', async (t) => {
  const gone = await openReceiver();
  await gone.close();
  const closing = await rawServer(t, (socket) => socket.destroy());
  const egress = open(t);
  const refused = await failure(egress.request(gone.url, POST));
  const closed = await failure(egress.request(`http://127.0.0.1:${closing}/`, POST));
  t.match(refused, { kind: 'connect', connected: false, ours: false });
  t.match(closed, { kind: 'reset', connected: true });
  t.equal(refused.message, closed.message);
});

t.test('what is not HTTP, or has too many headers, is a protocol error', async (t) => {
  const egress = open(t);
  for (const text of [
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 abc\r\n\r\n',
    'HTTP/1.1 200 OK\r\nbad header\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
  ]) {
    const port = await rawServer(t, (socket) => socket.once('data', () => socket.write(text)));
    const error = await failure(egress.request(`http://127.0.0.1:${port}/`, POST));
    t.equal(error.kind, 'protocol', text.slice(0, 40));
  }
});

t.test('a name nobody knows, and a resolver that does not answer', async (t) => {
  const failing =
    (code: string): Lookup =>
    () =>
      Promise.reject(Object.assign(new Error(code), { code }));
  const unknown = await failure(
    open(t, { lookup: failing('ENOTFOUND') }).request('https://receiver.test/', POST),
  );
  t.match(unknown, { kind: 'dns', ours: false, connected: false });
  const broken = await failure(
    open(t, { lookup: failing('EAI_AGAIN') }).request('https://receiver.test/', POST),
  );
  t.match(broken, { kind: 'dns', ours: true, connected: false });
  const empty = await failure(open(t, { lookup: async () => [] }).request('https://receiver.test/', POST));
  t.equal(empty.kind, 'dns');
});

t.test('one query for a name at a time', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  let queries = 0;
  const gate = Promise.withResolvers<void>();
  const lookup: Lookup = async () => {
    queries++;
    await gate.promise;
    return [{ address: '127.0.0.1' }];
  };
  const egress = open(t, { lookup });
  const url = `http://receiver.test:${receiver.port}/`;
  const both = Promise.all([egress.request(url, POST), egress.request(url, POST)]);
  await new Promise((turn) => setImmediate(turn));
  gate.resolve();
  await both;
  t.equal(queries, 1);
});

t.test('https: the name is verified, a stranger is refused, plain text is no TLS', async (t) => {
  const names: unknown[] = [];
  const server = createTlsServer(
    { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] },
    (socket) => {
      names.push(socket.servername, socket.alpnProtocol);
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    },
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => new Promise((done) => server.close(done)));
  const { port } = server.address() as AddressInfo;
  const egress = open(t, { lookup: async () => [{ address: '127.0.0.1' }] });

  t.equal((await failure(egress.request(`https://receiver.test:${port}/`, POST))).kind, 'tls');
  setDefaultCACertificates([CERTIFICATE]);
  t.teardown(() => setDefaultCACertificates([...rootCertificates]));
  t.equal((await egress.request(`https://receiver.test:${port}/`, POST)).status, 204);
  t.same(names, ['receiver.test', 'http/1.1']);
  t.equal((await failure(egress.request(`https://other.test:${port}/`, POST))).kind, 'tls');

  const plain = await rawServer(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  t.equal((await failure(egress.request(`https://receiver.test:${plain}/`, POST))).kind, 'tls');
});

t.test('the caller and a close end what is under way', async (t) => {
  const receiver = await openReceiver(() => {});
  t.teardown(() => receiver.close());
  const egress = open(t);
  const stop = new AbortController();
  const stopped = egress.request(receiver.url, { ...POST, signal: stop.signal });
  await receiver.got(1);
  stop.abort(new Error('enough'));
  await t.rejects(stopped, { message: 'enough' });
  await t.rejects(egress.request(receiver.url, { ...POST, signal: stop.signal }), { message: 'enough' });

  const ended = egress.request(receiver.url, POST);
  await receiver.got(2);
  const closed = egress.close();
  t.match(await failure(ended), { kind: 'reset', ours: true });
  await closed;
  t.match(await failure(egress.request(receiver.url, POST)), { kind: 'reset', ours: true });
});
