// The secret of inline deliveries: shown when it is made, the one before signing beside it for a day.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { openEgress } from '../../../control/egress/egress.ts';
import { openDelivery } from '../../../control/webhooks/delivery.ts';
import { makeCall } from '../../storage/makers.ts';
import { openRig } from '../rig.ts';
import { silent } from '../webhooks/webhook-rig.ts';

t.test('rotation: both secrets sign for 24 hours, then the new one alone', async (t) => {
  const rig = await openRig(t);
  const before = (await rig.store.getOrganization(rig.orgId))?.webhook_secret ?? '';
  t.same((await rig.api('GET', '/v1/webhook_secret')).body, {
    last4: before.slice(-4),
    previous_expires_at: null,
  });
  const { status, body } = await rig.api('POST', '/v1/webhook_secret/rotate');
  t.equal(status, 200);
  t.match(body.secret, /^whsec_[A-Za-z0-9+/=]{32,}$/);
  t.not(body.secret, before);
  t.equal(body.previous_expires_at, '2026-03-02T12:00:00.000Z');
  const shown = { last4: body.secret.slice(-4), previous_expires_at: body.previous_expires_at };
  t.same((await rig.api('GET', '/v1/webhook_secret')).body, shown, 'never shown again');

  const received: { headers: Record<string, string>; body: string }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => {
      text += data;
    });
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body: text });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const egress = openEgress({ allowedCidrs: ['127.0.0.0/8'], userAgent: 'test' });
  t.teardown(async () => {
    await egress.close();
    receiver.close();
    receiver.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/inline`;
  const delivery = openDelivery({ store: rig.store, egress, log: silent, retryScale: 1, version: '0' });
  const deliver = async (at: string) => {
    await rig.store.createCall(makeCall(rig.orgId, { webhook_url: url }), {
      events: ['call.queued'],
      reserve: 0,
    });
    const [made] = await rig.store.listDeliveries(rig.orgId, {}, { limit: 1 });
    const claimed = await rig.store.claimDelivery(made?.id ?? '', 0, at, 1000);
    if (claimed === null) throw new Error('not claimed');
    await delivery.attempt(claimed, new AbortController().signal);
    return received.at(-1) as { headers: Record<string, string>; body: string };
  };
  const verifies = (secret: string, it: { headers: Record<string, string>; body: string }) => {
    try {
      new Webhook(secret).verify(it.body, it.headers);
      return true;
    } catch {
      return false;
    }
  };
  const within = await deliver('2026-03-02T11:59:59.999Z');
  t.same([verifies(body.secret, within), verifies(before, within)], [true, true]);
  const after = await deliver('2026-03-02T12:00:00.000Z');
  t.same([verifies(body.secret, after), verifies(before, after)], [true, false]);
});

t.test('a repeat of the same rotation answers the same secret', async (t) => {
  const rig = await openRig(t);
  const headers = { 'idempotency-key': 'rotate-1' };
  const first = await rig.api('POST', '/v1/webhook_secret/rotate', { headers });
  const again = await rig.api('POST', '/v1/webhook_secret/rotate', { headers });
  t.equal(again.body.secret, first.body.secret);
  t.not((await rig.api('POST', '/v1/webhook_secret/rotate')).body.secret, first.body.secret);
});

t.test('twenty endpoints an organization, and a clear word at the next', async (t) => {
  const rig = await openRig(t);
  const add = (key?: string) =>
    rig.api('POST', '/v1/webhook_endpoints', {
      body: { url: 'https://example.com/a' },
      ...(key === undefined ? {} : { key }),
    });
  const made = await Promise.all(Array.from({ length: 25 }, () => add()));
  t.equal(made.filter((answer) => answer.status === 201).length, 20);
  const refused = made.filter((answer) => answer.status === 409);
  t.equal(refused.length, 5);
  t.match(refused[0]?.body.error, { code: 'conflict', message: /20 webhook endpoints/ });
  t.equal((await add(rig.other.key)).status, 201, "another organization's do not count");
  const id = made.find((answer) => answer.status === 201)?.body.id;
  await rig.api('DELETE', `/v1/webhook_endpoints/${id}`);
  t.equal((await add()).status, 201);
});
