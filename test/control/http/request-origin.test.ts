// Whom a request comes from, by table.
import t from 'tap';
import {
  clientAddress,
  clientOf,
  fromOtherSite,
  fromOwnPage,
  isLocalOperator,
  isOwnHost,
  isSecure,
  readCookie,
} from '../../../control/http/request-origin.ts';

const trusts = (address: string) => /^10\.0\.0\./.test(address);
const from = (remoteAddress: string, headers: Record<string, string> = {}) => ({ remoteAddress, headers });

t.test('the address that attempts are counted by', async (t) => {
  for (const [what, arrival, address] of [
    ['a client', from('203.0.113.5'), '203.0.113.5'],
    [
      'a client that invents a proxy',
      from('203.0.113.5', { 'x-forwarded-for': '198.51.100.1' }),
      '203.0.113.5',
    ],
    ['a proxy on this host', from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' }), '198.51.100.1'],
    [
      'what the proxy added',
      from('::ffff:127.0.0.1', { 'x-forwarded-for': '1.1.1.1, 198.51.100.1' }),
      '198.51.100.1',
    ],
    ['a proxy that is trusted', from('10.0.0.2', { 'x-forwarded-for': '198.51.100.1' }), '198.51.100.1'],
    [
      'two of them, and an address that the client invented',
      from('127.0.0.1', { 'x-forwarded-for': '1.1.1.1, 198.51.100.1, 10.0.0.3' }),
      '198.51.100.1',
    ],
    ['with a port', from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1:61234' }), '198.51.100.1'],
    ['IPv6 with a port', from('127.0.0.1', { 'x-forwarded-for': '[2001:DB8::7]:61234' }), '2001:db8::/64'],
    ['a proxy that does not know', from('127.0.0.1', { 'x-forwarded-for': 'unknown' }), '127.0.0.1'],
    ['what is no address', from('127.0.0.1', { 'x-forwarded-for': 'x'.repeat(9_000) }), '127.0.0.1'],
    ['a trusted one that asks for itself', from('10.0.0.2'), '10.0.0.2'],
    ['straight from this host', from('::1'), '::1'],
    ['IPv4 in an IPv6 socket', from('::ffff:203.0.113.5'), '203.0.113.5'],
    ['one network of IPv6', from('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64'],
  ] as const) {
    t.equal(clientAddress(arrival, trusts), address, what);
  }
  for (const [what, arrival, shared] of [
    ['this host, which may be a proxy that tells nothing', from('127.0.0.1'), true],
    ['the same by IPv6', from('::1'), true],
    ['a proxy that is trusted, for itself', from('10.0.0.2'), true],
    ['who is told by a proxy', from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' }), false],
    ['a host of its own', from('203.0.113.5'), false],
  ] as const) {
    t.equal(clientOf(arrival, trusts).shared, shared, what);
  }
  t.equal(
    clientAddress(from('2001:db8:1:2:aaaa::1'), trusts),
    clientAddress(from('2001:db8:1:2:bbbb::9'), trusts),
    'two hosts of one network',
  );
});

t.test('whether cookies are Secure', async (t) => {
  const [http, https] = ['http://192.0.2.1:8080', 'https://phone.example.com'];
  for (const [what, arrival, publicUrl, secure] of [
    ['plain everywhere', from('203.0.113.5'), http, false],
    ['a TLS proxy without PUBLIC_URL', from('127.0.0.1', { 'x-forwarded-proto': 'https' }), http, true],
    [
      'https by PUBLIC_URL',
      from('127.0.0.1', { host: 'phone.example.com', 'x-forwarded-for': '1.1.1.1' }),
      https,
      true,
    ],
    ['a proxy that says nothing of itself', from('127.0.0.1', { host: 'phone.example.com' }), https, true],
    [
      'a proxy that asks by the loopback name',
      from('127.0.0.1', { host: '127.0.0.1:8080', 'x-forwarded-for': '1.1.1.1' }),
      https,
      true,
    ],
    ['a browser on this host', from('127.0.0.1', { host: 'localhost:8080' }), https, false],
    ['a browser elsewhere that says localhost', from('203.0.113.5', { host: 'localhost:8080' }), https, true],
    [
      'http by the proxy, https by PUBLIC_URL',
      from('127.0.0.1', { host: 'x', 'x-forwarded-proto': 'http' }),
      https,
      true,
    ],
  ] as const) {
    t.equal(isSecure(arrival, publicUrl), secure, what);
  }
});

t.test('whose page asks', async (t) => {
  const url = 'https://phone.example.com/';
  t.ok(fromOwnPage(from('x', { 'sec-fetch-site': 'same-origin' }), url));
  t.notOk(
    fromOwnPage(from('x', { 'sec-fetch-site': 'same-site', origin: 'https://phone.example.com' }), url),
  );
  t.ok(fromOwnPage(from('x', { origin: 'https://phone.example.com', host: 'inner:8080' }), url));
  t.notOk(
    fromOwnPage(from('x', { origin: 'http://phone.example.com', host: 'inner:8080' }), url),
    'another scheme',
  );
  t.ok(fromOwnPage(from('x', { origin: 'http://localhost:8080', host: 'localhost:8080' }), url));
  t.notOk(fromOwnPage(from('x', { origin: 'http://localhost:8081', host: 'localhost:8080' }), url));
  t.notOk(fromOwnPage(from('x', { origin: 'not a url' }), url));
  t.notOk(fromOwnPage(from('x'), url), 'no word of it');
  t.notOk(fromOtherSite(from('x')));
  t.notOk(fromOtherSite(from('x', { 'sec-fetch-site': 'none' })));
  t.ok(fromOtherSite(from('x', { 'sec-fetch-site': 'same-site' })));
  const cookies = from('x', { cookie: 'a=1; offhook_session=abc=; b_offhook_session=2' });
  t.equal(readCookie(cookies, 'offhook_session'), 'abc=');
  t.equal(readCookie(cookies, 'session'), null);
});

t.test('names of our own, and those that are none', async (t) => {
  const rules = { publicUrl: 'https://calls.example.com/phone', allowed: ['phone.lan', 'fd00::7'] };
  const at = (host: string | undefined, localAddress = '192.168.1.7') => ({
    headers: host === undefined ? {} : { host },
    remoteAddress: '203.0.113.7',
    localAddress,
    localPort: 8080,
  });
  for (const [host, own] of [
    ['localhost:8080', true],
    ['LocalHost', true],
    ['localhost.', true],
    ['a.localhost:1', true],
    ['127.0.0.1:8080', true],
    ['127.9.8.7', true],
    // As browsers read it.
    ['0x7f000001', true],
    ['[::1]:8080', true],
    ['calls.example.com', true],
    ['CALLS.example.com:443', true],
    ['phone.lan:8080', true],
    ['[fd00::7]:8080', true],
    ['192.168.1.7:8080', true],
    ['192.168.1.8', false],
    ['evil.example', false],
    ['localhost.evil.example', false],
    ['notlocalhost', false],
    ['calls.example.com.evil.example', false],
    ['example.com', false],
    ['evil.example@localhost', false],
    ['localhost/evil.example', false],
    ['local host', false],
    ['', false],
    [undefined, false],
  ] as const) {
    t.equal(isOwnHost(at(host), rules), own, `${host}`);
  }
  t.ok(isOwnHost(at('192.168.1.7', '::ffff:192.168.1.7'), rules), 'IPv4 in an IPv6 socket');
  t.ok(isOwnHost(at('[2001:db8::1]', '2001:db8::1'), rules));
  t.notOk(isOwnHost(at('calls.example.com'), { publicUrl: null, allowed: [] }));
});

t.test('who is at the machine itself', async (t) => {
  const here = { headers: { host: 'localhost:8080' }, remoteAddress: '127.0.0.1', localPort: 8080 };
  for (const [what, arrival, publicUrl, local] of [
    ['nothing in front', here, null, true],
    ['a PUBLIC_URL that is this listener', here, 'http://127.0.0.1:8080', true],
    ['a PUBLIC_URL elsewhere', here, 'https://calls.example.com', false],
    ['a PUBLIC_URL on this host, of a proxy', here, 'http://localhost:9000', false],
    ['from another machine', { ...here, remoteAddress: '192.168.1.9' }, null, false],
    ['under another name', { ...here, headers: { host: 'evil.example:8080' } }, null, false],
    ['by another port', { ...here, headers: { host: 'localhost:9000' } }, null, false],
    ['by IPv6', { ...here, headers: { host: '[::1]:8080' }, remoteAddress: '::1' }, null, true],
    ['by a proxy that says so', { ...here, headers: { ...here.headers, via: '1.1 x' } }, null, false],
  ] as const) {
    t.equal(isLocalOperator(arrival, { publicUrl, allowed: [] }), local, what);
  }
});
