// webhooks.verify: the standard's own library signs, and the daemon does; whatever was touched is refused.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { type Call, sign, verify, WebhookVerificationError } from '../../../control/sdk/index.ts';
import { newWebhookSecret, signWebhook } from '../../../control/webhooks/signature.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const body = JSON.stringify({ id: 'c1', status: 'completed', note: 'grüße' });

function sent(secrets: string[], o: { id?: string; at?: number; body?: string } = {}) {
  const id = o.id ?? 'e1';
  const timestampSeconds = o.at ?? SECONDS;
  return {
    'Webhook-Id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ id, timestampSeconds, body: o.body ?? body, secrets }),
    'Service-Event-Type': 'call.completed',
    'Service-Event-Sequence': '4',
    'Service-Delivery-Attempt': '2',
    'Service-Replay': 'true',
  };
}

t.test('what the daemon signs is read', async (t) => {
  const secret = newWebhookSecret();
  const event = await verify(body, sent([secret]), secret, { now: NOW });
  t.match(event, { id: 'e1', type: 'call.completed', sequence: 4, attempt: 2, replay: true, sentAt: NOW });
  t.match(event.call, { id: 'c1', status: 'completed' });
  t.ok(
    await verify(new TextEncoder().encode(body), new Headers(sent([secret])), secret, { now: NOW }),
    'bytes, Headers',
  );
});

t.test("what the standard's own library signs is read", async (t) => {
  const secret = newWebhookSecret();
  const signature = new Webhook(secret).sign('e1', NOW, body);
  t.ok(
    await verify(
      body,
      {
        'webhook-id': 'e1',
        'webhook-timestamp': String(SECONDS),
        'webhook-signature': `v1a,xyz ${signature}`,
      },
      secret,
      { now: NOW },
    ),
  );
});

t.test('during a rotation either secret will do', async (t) => {
  const [before, after] = [newWebhookSecret(), newWebhookSecret()];
  t.ok(await verify(body, sent([after, before]), before, { now: NOW }), 'the receiver has the old one still');
  t.ok(await verify(body, sent([before]), [after, before], { now: NOW }), 'the receiver has both');
});

t.test('anything else is refused', async (t) => {
  const secret = newWebhookSecret();
  const good = sent([secret]);
  const cases: [string, string, Record<string, string>, string][] = [
    ['another secret', body, good, newWebhookSecret()],
    ['another body', body.replace('c1', 'c2'), good, secret],
    ['another id', body, { ...good, 'Webhook-Id': 'e2' }, secret],
    ['another time', body, { ...good, 'webhook-timestamp': String(SECONDS + 1) }, secret],
    ['too old', body, sent([secret], { at: SECONDS - 301 }), secret],
    ['too new', body, sent([secret], { at: SECONDS + 301 }), secret],
    ['a time that is none', body, { ...good, 'webhook-timestamp': 'now' }, secret],
    ['no signature', body, { ...good, 'webhook-signature': '' }, secret],
    ['a signature that is none', body, { ...good, 'webhook-signature': 'v1,%%%' }, secret],
    [
      'another version',
      body,
      { ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') },
      secret,
    ],
    ['no header at all', body, {}, secret],
    ['signed, but no JSON', 'x', sent([secret], { body: 'x' }), secret],
  ];
  for (const [name, given, headers, key] of cases) {
    await t.rejects(verify(given, headers, key, { now: NOW }), WebhookVerificationError, name);
  }
  await t.rejects(
    verify(body, good, 'whsec_%%', { now: NOW }),
    TypeError,
    'a secret that is none is a mistake of ours',
  );
});

t.test(
  "what is made for tests is what the daemon would send: the standard's own library takes it",
  async (t) => {
    const secret = newWebhookSecret();
    const call = { id: 'c1', status: 'completed', persona: 'grüße' } as Call;
    const made = await sign(
      { type: 'call.completed', call, id: 'e1', sequence: 4, attempt: 2, replay: true, sentAt: NOW },
      secret,
    );
    t.equal(
      made.headers['webhook-signature'],
      signWebhook({ id: 'e1', timestampSeconds: SECONDS, body: made.body, secrets: [secret] }),
    );
    t.match(await verify(made.body, made.headers, secret, { now: NOW }), {
      id: 'e1',
      type: 'call.completed',
      sequence: 4,
      attempt: 2,
      replay: true,
      call: { id: 'c1', persona: 'grüße' },
    });
    const now = await sign({ type: 'call.busy', call }, secret);
    t.doesNotThrow(() => new Webhook(secret).verify(now.body, now.headers));
    await t.rejects(verify(now.body, now.headers, newWebhookSecret()), WebhookVerificationError);
  },
);
