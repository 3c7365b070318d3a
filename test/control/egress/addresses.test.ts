// Address rules against the ranges of the IANA special-purpose registries.
import t from 'tap';
import { readAddressRules, readRanges } from '../../../control/egress/addresses.ts';

const CLOSED = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::FFFF:A9FE:A9FE',
  '0:0:0:0:0:ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:1ff::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '3fff:fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450::1',
];

t.test('special-purpose addresses are closed and public ones are open', async (t) => {
  const rules = readAddressRules([]);
  for (const ip of CLOSED) t.equal(rules.judge(ip), 'blocked', ip);
  for (const ip of PUBLIC) t.equal(rules.judge(ip), 'public', ip);
});

t.test('what is no address is closed', async (t) => {
  const rules = readAddressRules(['0.0.0.0/0', '::/0']);
  for (const text of ['', 'localhost', '127.1', '0x7f000001', '1.2.3.4.5', '[::1]', ':::1']) {
    t.equal(rules.judge(text), 'blocked', text);
  }
});

t.test('a range opens its addresses, in mapped form too, and no others', async (t) => {
  const rules = readAddressRules(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  t.equal(rules.judge('10.1.255.255'), 'opened');
  t.equal(rules.judge('::ffff:10.1.2.3'), 'opened');
  t.equal(rules.judge('127.0.0.1'), 'opened');
  t.equal(rules.judge('fd12::1'), 'opened');
  t.equal(rules.judge('10.2.0.0'), 'blocked');
  t.equal(rules.judge('127.0.0.2'), 'blocked');
  t.equal(rules.judge('fc00::1'), 'blocked');
  t.equal(rules.judge('8.8.8.8'), 'public');
});

t.test('a range that cannot be read is refused by name', async (t) => {
  for (const range of [
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'lan',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '/8',
    '',
  ]) {
    t.throws(() => readAddressRules([range]), { message: /^WEBHOOK_ALLOWED_CIDRS: "/ }, range);
  }
});

t.test('the ranges of a setting, by table', async (t) => {
  const isIn = readRanges('TRUSTED_PROXIES', ['172.16.0.0/12', '192.0.2.7', 'fd00::/8']);
  for (const [ip, found] of [
    ['172.31.255.255', true],
    ['172.32.0.0', false],
    ['::ffff:172.18.0.3', true],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['fd12::1', true],
    ['fe80::1', false],
    ['no address', false],
    ['', false],
  ] as const) {
    t.equal(isIn(ip), found, ip);
  }
  t.equal(readRanges('TRUSTED_PROXIES', [])('127.0.0.1'), false, 'none are named');
  t.throws(() => readRanges('TRUSTED_PROXIES', ['caddy']), { message: /^TRUSTED_PROXIES: "caddy"/ });
});
