// Idempotency-Key over HTTP: a repeat is answered what the first was, and nothing is dialled, bought or made twice.
import t from 'tap';
import { AppError } from '../../../errors.ts';
import { openRig } from '../rig.ts';

const headers = (key: string) => ({ 'idempotency-key': key });

t.test('the same key and body answer the stored response and dial once', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const body = { agent_id: agent.id, to: '+14155550123' };
  const first = await rig.api('POST', '/v1/calls', { body, headers: headers('k1') });
  t.equal(first.status, 201);
  t.equal(first.headers.get('idempotent-replayed'), null);
  await rig.api('POST', `/v1/calls/${first.body.id}/hangup`);
  const again = await rig.api('POST', '/v1/calls', { body, headers: headers('k1') });
  t.same(
    [again.status, again.text],
    [201, first.text],
    'the very same answer, also when the call has moved on',
  );
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.equal(rig.dispatched.length, 1);

  t.equal((await rig.api('POST', '/v1/calls', { body, headers: headers('k2') })).status, 201);
  t.equal((await rig.api('POST', '/v1/calls', { body })).status, 201, 'no key, no memory');
  t.equal(rig.dispatched.length, 3);

  rig.advance(24 * 3_600_000 + 1);
  await rig.api('POST', '/v1/calls', { body, headers: headers('k1') });
  t.equal(rig.dispatched.length, 4, 'forgotten after 24 hours');
});

t.test(
  'a key used with another body or path is a conflict; another organization has its own keys',
  async (t) => {
    const rig = await openRig(t);
    const agent = { name: 'A', type: 'outbound' };
    await rig.api('POST', '/v1/agents', { body: agent, headers: headers('k') });
    for (const [path, body] of [
      ['/v1/agents', { ...agent, name: 'B' }],
      ['/v1/webhook_endpoints', { url: 'https://example.com/' }],
    ] as const) {
      const answer = await rig.api('POST', path, { body, headers: headers('k') });
      t.same([answer.status, answer.body.error.code], [409, 'idempotency_key_reused']);
    }
    t.equal(
      (await rig.api('POST', '/v1/agents', { key: rig.other.key, body: agent, headers: headers('k') }))
        .status,
      201,
    );
    t.equal((await rig.api('GET', '/v1/agents')).body.data.length, 1);
  },
);

t.test('every POST that creates, dials or buys takes a key', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  for (const [path, body] of [
    ['/v1/agents', { name: 'A', type: 'outbound' }],
    ['/v1/calls', { agent_id: agent.id, to: '+14155550123' }],
    ['/v1/numbers/purchase', { e164: '+14155550999' }],
    ['/v1/webhook_endpoints', { url: 'https://example.com/' }],
  ] as const) {
    const send = () => rig.api('POST', path, { body, headers: headers(`key of ${path}`) });
    const [first, second] = [await send(), await send()];
    t.same([first.status, second.status, second.text], [201, 201, first.text], path);
  }
  t.same([rig.dispatched.length, rig.bought.length], [1, 1]);
});

t.test('twenty at once dial once', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const dispatch = rig.behaviour.dispatch;
  const gate = Promise.withResolvers<void>();
  rig.behaviour.dispatch = async (call) => {
    await gate.promise;
    return dispatch(call);
  };
  const body = { agent_id: agent.id, to: '+14155550123' };
  const send = () => rig.api('POST', '/v1/calls', { body, headers: headers('k') });
  let refused = 0;
  const allRefused = Promise.withResolvers<void>();
  const answers = Array.from({ length: 20 }, async () => {
    const answer = await send();
    if (answer.status === 409 && ++refused === 19) allRefused.resolve();
    return answer;
  });
  await allRefused.promise;
  // Long enough for a store to think that the one who began has died.
  rig.advance(10 * 60_000);
  const late = await send();
  t.same([late.status, late.body.error.code], [409, 'idempotency_in_progress']);
  t.match(late.headers.get('retry-after'), /^\d+$/);
  gate.resolve();
  const statuses = (await Promise.all(answers)).map((answer) => answer.status).sort();
  t.same(statuses, [201, ...Array(19).fill(409)]);
  t.equal(rig.dispatched.length, 1);
  t.equal((await send()).status, 201);
  t.equal(rig.dispatched.length, 1);
});

t.test('a refusal is not kept: the same key may be used when its cause is mended', async (t) => {
  const rig = await openRig(t, { env: { PRICE_PER_MINUTE_MILLI_CENTS: '1000' } });
  const agent = await rig.agent();
  const body = { agent_id: agent.id, to: '+14155550123' };
  const send = (given: unknown = body) =>
    rig.api('POST', '/v1/calls', { body: given, headers: headers('k') });
  t.equal((await send({ ...body, to: 'wrong' })).status, 400);
  await rig.store.setBalance(rig.orgId, 0);
  t.equal((await send()).status, 402);
  await rig.store.setBalance(rig.orgId, 100_000);
  t.equal((await send()).status, 201);

  const dispatch = rig.behaviour.dispatch;
  rig.behaviour.dispatch = async () => {
    throw new AppError('at_capacity', 'Full.');
  };
  const other = () => rig.api('POST', '/v1/calls', { body, headers: headers('k3') });
  t.equal((await other()).status, 503);
  rig.behaviour.dispatch = dispatch;
  t.equal((await other()).status, 201, 'nothing had been dialled, so now it is');
});

t.test('a call that failed at the carrier is not dialled again under its key', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const body = { agent_id: agent.id, to: '+14155550123' };
  for (const [key, error, status] of [
    ['k1', new AppError('carrier_error', 'No answer from the carrier.'), 502],
    ['k2', new Error('unforeseen'), 500],
  ] as const) {
    const before = rig.dispatched.length;
    rig.behaviour.dispatch = async () => {
      throw error;
    };
    const first = await rig.api('POST', '/v1/calls', { body, headers: headers(key) });
    const second = await rig.api('POST', '/v1/calls', { body, headers: headers(key) });
    t.same([first.status, second.status, second.text], [status, status, first.text]);
    t.equal(rig.dispatched.length, before + 1);
  }
});

t.test('a purchase that failed may be tried again under its key', async (t) => {
  const rig = await openRig(t);
  const buy = rig.behaviour.buy;
  rig.behaviour.buy = async () => {
    throw new AppError('carrier_error', 'No answer from the carrier.');
  };
  const send = () =>
    rig.api('POST', '/v1/numbers/purchase', { body: { e164: '+14155550999' }, headers: headers('k') });
  t.equal((await send()).status, 502);
  rig.behaviour.buy = buy;
  t.equal((await send()).status, 201);
});

t.test('after a crash while dialling, a repeat finds the call and dials nothing', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const body = { agent_id: agent.id, to: '+14155550123' };
  const dispatch = rig.behaviour.dispatch;
  const finish = rig.store.finishIdempotent;
  // The process dies after the carrier took the call: of the answers, only the intent has been written.
  rig.store.finishIdempotent = async (orgId, key, status, text) => {
    if (status !== null) throw new Error('the disk is gone');
    return finish(orgId, key, status, text);
  };
  const first = await rig.api('POST', '/v1/calls', { body, headers: headers('k') });
  t.equal(first.status, 201, 'the call was placed, so the answer says so');
  t.ok(
    rig.lines.some((line) => line.message === 'idempotency.not_stored'),
    'and the operator hears that it could not be stored',
  );
  rig.store.finishIdempotent = finish;
  rig.advance(60 * 60_000);
  const again = await rig.api('POST', '/v1/calls', { body, headers: headers('k') });
  t.same([again.status, again.body.id], [201, first.body.id]);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.equal(rig.dispatched.length, 1);

  // The process dies before the call was stored: nothing can have been dialled, so a repeat does it.
  rig.behaviour.dispatch = async () => {
    rig.store.finishIdempotent = async () => {
      throw new Error('the disk is gone');
    };
    throw new Error('gone');
  };
  t.equal((await rig.api('POST', '/v1/calls', { body, headers: headers('k2') })).status, 500);
  rig.store.finishIdempotent = finish;
  rig.behaviour.dispatch = dispatch;
  const later = await rig.api('POST', '/v1/calls', { body, headers: headers('k2') });
  t.equal(later.status, 201);
  t.equal((await rig.api('GET', '/v1/calls')).body.length, 2);
});

t.test('a key has 1 to 255 visible characters', async (t) => {
  const rig = await openRig(t);
  const send = (key: string) =>
    rig.api('POST', '/v1/agents', { body: { name: 'A', type: 'outbound' }, headers: headers(key) });
  for (const key of ['', 'x'.repeat(256), 'ключ'.replace(/./gu, 'é')]) {
    const answer = await send(key);
    t.same(
      [answer.status, answer.body.error?.code, answer.body.error?.param],
      [400, 'invalid_request', 'Idempotency-Key'],
    );
  }
  t.equal((await send('x'.repeat(255))).status, 201);
  t.equal((await send('x')).status, 201);
});
