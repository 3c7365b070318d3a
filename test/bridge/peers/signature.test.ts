// A signature is good for one daemon, one request and a moment; whatever else is changed, it is refused.
import t from 'tap';
import { type PeerRequest, proofOf, sign, verify, WINDOW_MS } from '../../../bridge/peers/signature.ts';

const SECRET = Buffer.alloc(32, 7);
const AT = { nowMs: 1_700_000_000_000, nonce: '0123456789abcdef0123456789abcdef' };
const ASKED: PeerRequest = {
  to: 3,
  method: 'POST',
  path: '/carriers/twilio/status?x=1',
  body: Buffer.from('a=1&b=2'),
};
const header = sign(SECRET, ASKED, AT);

t.test('a request as it was signed', async (t) => {
  t.strictSame(verify(SECRET, ASKED, header, AT.nowMs), { nonce: AT.nonce });
  for (const nowMs of [AT.nowMs - WINDOW_MS, AT.nowMs + WINDOW_MS])
    t.strictSame(verify(SECRET, ASKED, header, nowMs), { nonce: AT.nonce }, 'within the window');
});

const [time = '', nonce = '', mac = ''] = header.split('.');
const REFUSED: [string, Partial<PeerRequest>, unknown, number, string][] = [
  ['another daemon', { to: 4 }, header, 0, 'wrong signature'],
  ['another method', { method: 'GET' }, header, 0, 'wrong signature'],
  ['another path', { path: '/carriers/twilio/voice' }, header, 0, 'wrong signature'],
  ['another body', { body: Buffer.from('a=1&b=3') }, header, 0, 'wrong signature'],
  ['another time', {}, `${Number(time) + 1}.${nonce}.${mac}`, 0, 'wrong signature'],
  ['another nonce', {}, `${time}.${'0'.repeat(32)}.${mac}`, 0, 'wrong signature'],
  ['another signature', {}, `${time}.${nonce}.${'0'.repeat(64)}`, 0, 'wrong signature'],
  ['a signature by another secret', {}, sign(Buffer.alloc(32, 8), ASKED, AT), 0, 'wrong signature'],
  ['too late', {}, header, WINDOW_MS + 1, 'too old'],
  ['too early', {}, header, -WINDOW_MS - 1, 'too old'],
  ['no header', {}, undefined, 0, 'not signed'],
  ['several headers', {}, [header, header], 0, 'not signed'],
  ['a header of another form', {}, `${header} `, 0, 'not signed'],
];
for (const [name, change, given, laterMs, why] of REFUSED) {
  t.test(`${name} -> ${why}`, async (t) => {
    t.strictSame(verify(SECRET, { ...ASKED, ...change }, given, AT.nowMs + laterMs), { why });
  });
}

t.test('a proof of being there is of one daemon, one question and one secret', async (t) => {
  const proofs = [
    proofOf(SECRET, 3, nonce),
    proofOf(SECRET, 4, nonce),
    proofOf(SECRET, 3, '0'.repeat(32)),
    proofOf(Buffer.alloc(32, 8), 3, nonce),
    mac,
  ];
  t.equal(new Set(proofs).size, proofs.length);
});
