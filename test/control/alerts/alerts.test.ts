// Alerts from what happens to who is told: the real store, a receiver of webhooks and a mail server on loopback.
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { makeCall, makeEndpoint, makeTurn } from '../../storage/makers.ts';
import { openReceiver } from '../receiver.ts';
import { openRig, type Rig } from '../rig.ts';
import { openPostOffice } from './post-office.ts';

const MINUTE = 60_000;

async function open(t: Test, answer: () => number = () => 200) {
  const receiver = await openReceiver((_request, response) => response.writeHead(answer()).end());
  const office = await openPostOffice();
  t.teardown(() => Promise.all([receiver.close(), office.close()]));
  const rig = await openRig(t, {
    env: {
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      SMTP_URL: `smtp://127.0.0.1:${office.port}`,
      SMTP_FROM: 'Offhook <alerts@example.com>',
    },
  });
  return { rig, receiver, office };
}

async function endCalls(rig: Rig, count: number, status: 'failed' | 'completed'): Promise<void> {
  for (let i = 0; i < count; i++) {
    const call = makeCall(rig.orgId, {
      agent_id: null,
      created_at: rig.now().toISOString(),
      carrier_call_id: null,
      status,
      error_code: status === 'failed' ? 'carrier_error' : null,
    });
    await rig.store.createCall(call, { events: [`call.${status}`], reserve: 0 });
  }
}

const change = (rig: Rig, body: unknown) => rig.api('PATCH', '/v1/alerts', { body });

t.test('one message when it is wrong, one when it is well again, each on both ways', async (t) => {
  const { rig, receiver, office } = await open(t);
  const set = await change(rig, {
    webhook_url: receiver.url,
    emails: ['ops@example.com', 'night@example.com'],
    rules: [{ kind: 'failure_rate', enabled: true, threshold: 50, window_minutes: 30, hold_minutes: 0 }],
  });
  t.equal(set.status, 200);
  t.equal(set.body.email_available, true);
  await rig.alerts.look();
  t.same([receiver.requests.length, office.letters.length], [0, 0], 'nothing is wrong');

  await endCalls(rig, 3, 'failed');
  for (let look = 0; look < 3; look++) await rig.alerts.look();
  t.same([receiver.requests.length, office.letters.length], [1, 1], 'told once, however often it looks');
  const [request] = receiver.requests;
  const secret = (await rig.store.getOrganization(rig.orgId))?.webhook_secret ?? '';
  const { headers = {}, body = '' } = request ?? {};
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  t.equal(at.getTime(), rig.now().getTime());
  t.equal(
    headers['webhook-signature'],
    new Webhook(secret).sign(headers['webhook-id'] ?? '', at, body),
    'signed with the secret of the organization, as the library of Standard Webhooks does',
  );
  t.match(JSON.parse(body), {
    type: 'alert.firing',
    data: {
      alert_id: headers['webhook-id'],
      kind: 'failure_rate',
      value: 100,
      threshold: 50,
      unit: 'percent',
      repeated: false,
      organization: { id: rig.orgId },
      dashboard_url: 'http://phone.example.com/alerts',
      text: /^3 of 3 calls that ended in the last 30 minutes failed \(100 %\), by carrier_error\.$/,
    },
  });
  const [letter] = office.letters;
  t.same([letter?.from, letter?.to], ['alerts@example.com', ['ops@example.com', 'night@example.com']]);
  t.match(letter?.text, /^Subject: \[Offhook\] Calls fail \(/m);
  t.match(letter?.text, /3 of 3 calls that ended/);

  const shown = (await rig.api('GET', '/v1/alerts')).body;
  t.match(shown.rules[0], { kind: 'failure_rate', status: 'firing', value: 100 });
  t.match(shown.messages, [{ status: 'firing', webhook: { status: 'sent' }, email: { status: 'sent' } }]);

  rig.advance(24 * 60 * MINUTE);
  await endCalls(rig, 2, 'failed');
  await rig.alerts.look();
  t.match(JSON.parse(receiver.requests[1]?.body ?? ''), { type: 'alert.firing', data: { repeated: true } });

  rig.advance(31 * MINUTE);
  await rig.alerts.look();
  await rig.alerts.look();
  t.match(JSON.parse(receiver.requests[2]?.body ?? ''), { type: 'alert.resolved' });
  t.match(office.letters[2]?.text, /^Subject: \[Offhook\] Over: Calls fail/m);
  t.same([receiver.requests.length, office.letters.length], [3, 3]);
  t.equal((await rig.api('GET', '/v1/alerts')).body.rules[0].status, 'ok');
});

t.test('what holds waits: nobody is told of what was wrong for a moment', async (t) => {
  const { rig, receiver } = await open(t);
  await change(rig, {
    webhook_url: receiver.url,
    rules: [{ kind: 'disk_low', enabled: true, threshold: 500, hold_minutes: 10 }],
  });
  let free: number | null = 400;
  rig.behaviour.freeMb = () => free;
  await rig.alerts.look();
  t.equal((await rig.api('GET', '/v1/alerts')).body.rules.at(-1).status, 'pending');
  rig.advance(9 * MINUTE);
  free = 900;
  await rig.alerts.look();
  free = 400;
  await rig.alerts.look();
  rig.advance(10 * MINUTE - 1);
  await rig.alerts.look();
  t.equal(receiver.requests.length, 0);
  rig.advance(1);
  free = null;
  await rig.alerts.look();
  t.equal(receiver.requests.length, 0, 'what cannot be found out changes nothing');
  free = 400;
  await rig.alerts.look();
  t.match(JSON.parse(receiver.requests[0]?.body ?? ''), { data: { kind: 'disk_low', value: 400 } });
});

t.test('a receiver that fails is tried again under the same id, five times', async (t) => {
  let status = 500;
  const { rig, receiver, office } = await open(t, () => status);
  await change(rig, {
    webhook_url: receiver.url,
    emails: ['ops@example.com'],
    rules: [{ kind: 'disk_low', enabled: true, threshold: 20_000, hold_minutes: 0 }],
  });
  await rig.alerts.look();
  const shown = async () => (await rig.api('GET', '/v1/alerts')).body.messages[0];
  t.match(await shown(), {
    webhook: { status: 'pending', attempts: 1, error: 'http_status_500' },
    email: { status: 'sent', attempts: 1 },
  });
  await rig.alerts.look();
  t.equal(receiver.requests.length, 1, 'not before its time');
  for (const minutes of [1, 5, 15]) {
    rig.advance(minutes * MINUTE);
    await rig.alerts.look();
  }
  t.match(await shown(), { webhook: { status: 'pending', attempts: 4 } });
  status = 204;
  rig.advance(60 * MINUTE);
  await rig.alerts.look();
  t.match(await shown(), { webhook: { status: 'sent', attempts: 5, error: null } });
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1);
  t.equal(office.letters.length, 1, 'the way that went well is not taken again');

  status = 500;
  rig.behaviour.freeMb = () => 30_000;
  for (let look = 0; look < 8; look++) {
    await rig.alerts.look();
    rig.advance(61 * MINUTE);
  }
  t.match(await shown(), { status: 'resolved', webhook: { status: 'failed', attempts: 5 } });
  t.equal(receiver.requests.length, 10);
});

t.test('of two that look at once, one tells', async (t) => {
  const { rig, receiver } = await open(t);
  await change(rig, {
    webhook_url: receiver.url,
    rules: [{ kind: 'disk_low', enabled: true, threshold: 20_000, hold_minutes: 0 }],
  });
  const made = {
    org_id: rig.orgId,
    kind: 'disk_low' as const,
    status: 'firing' as const,
    since_at: rig.now().toISOString(),
    fired_at: rig.now().toISOString(),
    told_at: rig.now().toISOString(),
    version: 1,
  };
  t.equal(await rig.store.saveAlertState(made, null), true);
  t.equal(await rig.store.saveAlertState(made, null), false, 'who comes second writes nothing');
  await rig.alerts.look();
  t.equal(receiver.requests.length, 0, 'it is known already');
});

t.test('rules of another organization tell its own people, of its own calls', async (t) => {
  const { rig, receiver, office } = await open(t);
  await rig.api('PATCH', '/v1/alerts', {
    key: rig.other.key,
    body: { emails: ['other@example.com'], rules: [{ kind: 'failure_rate', enabled: true, threshold: 1 }] },
  });
  await endCalls(rig, 5, 'failed');
  await rig.alerts.look();
  t.same([receiver.requests.length, office.letters.length], [0, 0]);
  t.same((await rig.api('GET', '/v1/alerts')).body.emails, []);
});

t.test('a daemon that is not the oldest on its folder leaves it to that', async (t) => {
  const { rig, receiver } = await open(t);
  await change(rig, {
    webhook_url: receiver.url,
    rules: [{ kind: 'disk_low', enabled: true, threshold: 20_000, hold_minutes: 0 }],
  });
  const { daemons } = rig.store;
  rig.store.daemons = async () => (await daemons()).map((one) => ({ ...one, epoch: one.epoch - 1 }));
  await rig.alerts.look();
  t.equal(receiver.requests.length, 0);
  rig.store.daemons = daemons;
  await rig.alerts.look();
  t.equal(receiver.requests.length, 1);
});

t.test('what a daemon was killed over is told by the next one, under its own id', async (t) => {
  const { rig, receiver } = await open(t);
  await change(rig, { webhook_url: receiver.url });
  const at = rig.now().toISOString();
  const id = '0199c000-0000-7000-8000-00000000000a';
  const state = { org_id: rig.orgId, kind: 'disk_low' as const, status: 'firing' as const, since_at: at };
  await rig.store.saveAlertState(
    { ...state, fired_at: at, told_at: at, version: 1 },
    {
      id,
      org_id: rig.orgId,
      kind: 'disk_low',
      status: 'firing',
      text: 'It was full.',
      value: 1,
      threshold: 2,
      created_at: at,
      webhook: { status: 'pending', attempts: 0, error: null, sent_at: null },
      email: null,
      next_attempt_at: at,
    },
  );
  await rig.alerts.look();
  await rig.alerts.look();
  t.same(
    receiver.requests.map(({ headers }) => headers['webhook-id']),
    [id],
  );
  t.match((await rig.api('GET', '/v1/alerts')).body.rules.at(-1), { enabled: false, status: 'ok' });
});

t.test('an organization has thirty e-mails an hour, tests included', async (t) => {
  const { rig, office } = await open(t);
  await change(rig, { emails: ['ops@example.com'] });
  const test = async (key = rig.key) => (await rig.api('POST', '/v1/alerts/test', { key })).body.email.error;
  for (let letter = 0; letter < 30; letter++) t.equal(await test(), null);
  t.match(await test(), /more than 30/);
  await rig.api('PATCH', '/v1/alerts', { key: rig.other.key, body: { emails: ['other@example.com'] } });
  t.equal(await test(rig.other.key), null, 'each its own');
  rig.advance(60 * MINUTE);
  t.equal(await test(), null);
  t.equal(office.letters.length, 32);
});

t.test('each kind finds what it is for, in what the daemon has stored or asks', async (t) => {
  const { rig, receiver } = await open(t);
  const on = (kind: string, threshold: number | null = null) => ({
    kind,
    enabled: true,
    hold_minutes: 0,
    ...(threshold === null ? {} : { threshold }),
  });
  await change(rig, {
    webhook_url: receiver.url,
    rules: [
      on('failure_rate', 100),
      on('answer_latency_p95', 900),
      on('carrier_down'),
      on('model_down'),
      on('spend_per_day', 3),
      on('webhooks_waiting', 1),
      on('disk_low', 500),
    ],
  });
  const told = () =>
    receiver.requests.map(({ body }) => {
      const { type, data } = JSON.parse(body);
      return `${type.replace('alert.', '')} ${data.kind} ${data.value}`;
    });
  await rig.alerts.look();
  t.same(told(), ['firing model_down null'], 'the model of this rig cannot be reached; all else is well');

  rig.behaviour.carrierRefuses = true;
  rig.behaviour.freeMb = () => 499;
  const endpoint = await rig.store.createEndpoint(makeEndpoint(rig.orgId));
  if ('conflict' in endpoint) throw new Error(endpoint.conflict);
  await endCalls(rig, 2, 'failed');
  const call = makeCall(rig.orgId, {
    carrier_call_id: null,
    created_at: rig.now().toISOString(),
    billing_amount_milli_cents: 350_000,
  });
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  // An answer is heard 980.8 ms after the caller's last word.
  const turns = Array.from({ length: 5 }, (_, i) => makeTurn(call.id, { turn_index: i + 1 }));
  await rig.store.saveTurns({ turns, interruptions: [] });
  rig.advance(16 * MINUTE);
  receiver.requests.length = 0;
  await rig.alerts.look();
  const [latency, ...others] = told().sort();
  t.match(latency, /^firing answer_latency_p95 (9[5-9]\d|10[01]\d)$/, 'to within 3 %');
  t.same(others, [
    'firing carrier_down null',
    'firing disk_low 499',
    'firing failure_rate 100',
    'firing spend_per_day 3.5',
    'firing webhooks_waiting 3',
  ]);

  rig.behaviour.carrierRefuses = false;
  rig.behaviour.freeMb = () => 501;
  await rig.store.deleteEndpoint(rig.orgId, endpoint.id);
  rig.advance(24 * 60 * MINUTE);
  receiver.requests.length = 0;
  await rig.alerts.look();
  t.same(
    told()
      .map((one) => one.split(' ').slice(0, 2).join(' '))
      .sort(),
    [
      'firing model_down',
      'resolved answer_latency_p95',
      'resolved carrier_down',
      'resolved disk_low',
      'resolved failure_rate',
      'resolved spend_per_day',
      'resolved webhooks_waiting',
    ],
    'what is still so is told again after a day',
  );
});
