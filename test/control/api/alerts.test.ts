// The routes of alerts and health: what they show, take and refuse.
import t from 'tap';
import { ALERT_KINDS } from '../../../storage/alert-records.ts';
import { openPostOffice } from '../alerts/post-office.ts';
import { openReceiver } from '../receiver.ts';
import { openRig } from '../rig.ts';

t.test('every kind is there, off, with numbers to begin with', async (t) => {
  const rig = await openRig(t);
  const { body } = await rig.api('GET', '/v1/alerts');
  t.match(body, { webhook_url: null, emails: [], email_available: false, messages: [] });
  t.same(
    body.rules.map(({ kind }: { kind: string }) => kind),
    ALERT_KINDS,
  );
  for (const rule of body.rules) {
    t.match(rule, { enabled: false, status: 'ok', since: null, value: null, text: null });
    t.equal(rule.threshold === null, rule.unit === null, rule.kind);
    t.match(rule.title, /^[A-Z]/);
  }
  await rig.alerts.look();
  t.same((await rig.api('GET', '/v1/alerts')).body, body, 'nothing is watched');
});

t.test('a change is kept, by kind and field, and what cannot be is refused', async (t) => {
  const rig = await openRig(t);
  const change = (body: unknown, key = rig.key) => rig.api('PATCH', '/v1/alerts', { body, key });
  const first = await change({
    webhook_url: 'https://example.com/alerts',
    emails: ['ops@example.com', 'ops@example.com'],
    rules: [{ kind: 'failure_rate', enabled: true, threshold: 35 }],
  });
  t.match(first.body, { webhook_url: 'https://example.com/alerts', emails: ['ops@example.com'] });
  t.match(first.body.rules[0], { enabled: true, threshold: 35, window_minutes: 60, hold_minutes: 0 });
  t.match(first.body.rules[0].text, /No call has ended/, 'what is on says what it finds');
  const second = await change({ rules: [{ kind: 'failure_rate', window_minutes: 5 }] });
  t.match(second.body.rules[0], { enabled: true, threshold: 35, window_minutes: 5 });
  t.match((await change({ webhook_url: null, emails: [] })).body, { webhook_url: null, emails: [] });
  t.match((await rig.api('GET', '/v1/alerts')).body.rules[0], { enabled: true, threshold: 35 });
  t.equal((await rig.api('GET', '/v1/alerts', { key: rig.other.key })).body.rules[0].enabled, false);

  for (const [body, code, param] of [
    [{}, 'invalid_request', undefined],
    [{ webhook_url: 'http://example.com/' }, 'invalid_url', 'webhook_url'],
    [{ webhook_url: 'https://127.0.0.1/' }, 'blocked_address', 'webhook_url'],
    [{ emails: ['nobody'] }, 'invalid_request', 'emails[0]'],
    [{ emails: ['a@example.com\r\nBcc: b@example.com'] }, 'invalid_request', 'emails[0]'],
    [{ emails: Array.from({ length: 11 }, (_, i) => `a${i}@example.com`) }, 'invalid_request', 'emails'],
    [{ rules: [{ kind: 'mood' }] }, 'invalid_request', 'rules[0].kind'],
    [{ rules: [{ enabled: true }] }, 'missing_parameter', 'rules[0].kind'],
    [{ rules: [{ kind: 'failure_rate', threshold: 101 }] }, 'invalid_request', 'rules[0].threshold'],
    [{ rules: [{ kind: 'failure_rate', threshold: null }] }, 'invalid_request', 'rules[0].threshold'],
    [{ rules: [{ kind: 'failure_rate', window_minutes: 4 }] }, 'invalid_request', 'rules[0].window_minutes'],
    [{ rules: [{ kind: 'carrier_down', threshold: 1 }] }, 'invalid_request', 'rules[0].threshold'],
    [{ rules: [{ kind: 'disk_low', window_minutes: 5 }] }, 'invalid_request', 'rules[0].window_minutes'],
    [{ rules: [{ kind: 'disk_low', hold_minutes: -1 }] }, 'invalid_request', 'rules[0].hold_minutes'],
    [{ rules: [{ kind: 'disk_low', org_id: 'x' }] }, 'unknown_parameter', 'rules[0].org_id'],
  ] as const) {
    const { status, body: answer } = await change(body);
    t.same([status, answer.error.code, answer.error.param], [400, code, param], JSON.stringify(body));
  }
  t.match(
    (await rig.api('GET', '/v1/alerts')).body,
    { webhook_url: null, emails: [] },
    'and changes nothing',
  );
});

t.test('a test goes each way that is set, and says what came of it', async (t) => {
  const receiver = await openReceiver();
  const office = await openPostOffice();
  t.teardown(() => Promise.all([receiver.close(), office.close()]));
  const rig = await openRig(t, {
    env: {
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      SMTP_URL: `smtp://127.0.0.1:${office.port}`,
      SMTP_FROM: 'alerts@example.com',
    },
  });
  const test = async () => rig.api('POST', '/v1/alerts/test');
  t.equal((await test()).body.error.code, 'conflict', 'there is nobody to tell');
  await rig.api('PATCH', '/v1/alerts', { body: { webhook_url: receiver.url } });
  t.same((await test()).body, { webhook: { error: null }, email: null });
  t.match(JSON.parse(receiver.requests[0]?.body ?? ''), { type: 'alert.test' });
  await rig.api('PATCH', '/v1/alerts', { body: { emails: ['ops@example.com'] } });
  t.same((await test()).body, { webhook: { error: null }, email: { error: null } });
  t.match(office.letters[0]?.text, /^Subject: \[Offhook\] A test of your alerts/m);
  await Promise.all([receiver.close(), office.close()]);
  t.same((await test()).body, {
    webhook: { error: 'connection_failed' },
    email: { error: 'the mail server cannot be reached' },
  });
  t.same((await rig.api('GET', '/v1/alerts')).body.messages, [], 'nothing of it is stored');

  const without = await openRig(t);
  await without.api('PATCH', '/v1/alerts', { body: { emails: ['ops@example.com'] } });
  t.match((await without.api('POST', '/v1/alerts/test')).body, { email: { error: /SMTP_URL/ } });
});

t.test('health says how each part stands, and the worst of them', async (t) => {
  const rig = await openRig(t);
  const { body } = await rig.api('GET', '/v1/health');
  t.same(Object.keys(body), ['state', 'calls', 'carrier', 'model', 'queue', 'disk', 'threads']);
  t.match(body, { state: 'down', calls: { state: 'ok' }, model: { state: 'down' }, disk: { state: 'ok' } });
});
