// Signatures, verified by the reference library of Standard Webhooks.
import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { newWebhookSecret, signWebhook } from '../../../control/webhooks/signature.ts';

const now = () => Math.floor(Date.now() / 1000);

/** Bytes that look random and are the same in every run. */
function bytesOf(seed: number, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) blocks.push(createHash('sha256').update(`${seed}.${i}`).digest());
  return Buffer.concat(blocks).subarray(0, length);
}

function headersOf(id: string, timestampSeconds: number, body: string | Buffer, secrets: string[]) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ id, timestampSeconds, body, secrets }),
  };
}

t.test('the example of the Standard Webhooks specification', async (t) => {
  // From the specification's "Signature scheme" and the libraries' test vectors.
  const signature = signWebhook({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1614265330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });
  t.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

t.test('a new secret is whsec_ and 32 bytes, each time others', async (t) => {
  const secret = newWebhookSecret();
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
  t.not(secret, newWebhookSecret());
});

t.test('1,000 bodies verify, and none with a bit changed', async (t) => {
  const secret = newWebhookSecret();
  const webhook = new Webhook(secret);
  let verified = 0;
  let refused = 0;
  for (let i = 0; i < 1000; i++) {
    const length = i === 0 ? 0 : i === 1 ? 128 * 1024 : (i * 37) % 3000;
    const body =
      i % 3 === 0 ? bytesOf(i, length).toString('base64') : `{"é":"${'😀'.repeat(length % 50)}","n":${i}}`;
    const headers = headersOf(`0199-${i}`, now(), body, [secret]);
    webhook.verify(body, headers, { jsonParse: false });
    verified++;
    const bytes = Buffer.from(body);
    if (bytes.length === 0) continue;
    const flipped = Buffer.from(bytes);
    const at = (i * 7919) % (bytes.length * 8);
    flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
    try {
      webhook.verify(flipped, headers, { jsonParse: false });
    } catch {
      refused++;
    }
  }
  t.equal(verified, 1000);
  t.equal(refused, 999);
});

t.test('bytes are signed as they are', async (t) => {
  const secret = newWebhookSecret();
  const body = Buffer.from('{"name":"Zoë"}');
  t.same(new Webhook(secret).verify(body, headersOf('a', now(), body, [secret])), { name: 'Zoë' });
  t.equal(
    headersOf('a', 1, body, [secret])['webhook-signature'],
    headersOf('a', 1, '{"name":"Zoë"}', [secret])['webhook-signature'],
  );
});

t.test('another id, another time and a timestamp too old are refused', async (t) => {
  const secret = newWebhookSecret();
  const webhook = new Webhook(secret);
  const headers = headersOf('event-1', now(), '{}', [secret]);
  t.throws(() => webhook.verify('{}', { ...headers, 'webhook-id': 'event-2' }));
  t.throws(() => webhook.verify('{}', { ...headers, 'webhook-timestamp': String(now() + 1) }));
  t.throws(() => webhook.verify('{}', headersOf('event-1', now() - 301, '{}', [secret])));
});

t.test('during a rotation the old and the new secret both verify, a third does not', async (t) => {
  const [current, previous, stranger] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = headersOf('event-1', now(), '{"a":1}', [current, previous]);
  t.match(headers['webhook-signature'], /^v1,\S+ v1,\S+$/);
  t.same(new Webhook(current).verify('{"a":1}', headers), { a: 1 });
  t.same(new Webhook(previous).verify('{"a":1}', headers), { a: 1 });
  t.throws(() => new Webhook(stranger).verify('{"a":1}', headers));
});

t.test('an id with a dot is refused, as it could move the border of the signed parts', async (t) => {
  t.throws(() => signWebhook({ id: 'a.1', timestampSeconds: 1, body: '', secrets: [] }), TypeError);
});
