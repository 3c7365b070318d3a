// Connecting programs, in a real browser against the running daemon: webhooks with their secrets, tests and replays, API
// keys, settings. The receiver checks every signature with the public library.

import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { openDashboard, picture, type Sight, section } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';

t.test('connecting programs', { skip: NO_CHROMIUM }, async (t) => {
  let answer = 204;
  const dashboard = await openDashboard(t, {
    answer: () => answer,
    // They pick up and hang up: here it is the events that count.
    carrier: { defaultCallee: { ringMs: 100, steps: [{ do: 'hang_up', when: 'at_once' }] } },
    env: { OPERATOR_KEY: 'the key of the operator' },
  });
  const { rig, url } = dashboard;
  const { lab } = rig;
  const sight: Sight = await dashboard.signedIn();
  const { page } = sight;
  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
  const go = async (name: string) => {
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name }).click();
    await heading(name).waitFor();
  };
  /** Reads a secret that is shown once, and says that it is kept. */
  const keep = async (title: string | RegExp, label: string) => {
    const shown = dialog(title);
    const secret = (await shown.getByLabel(label, { exact: true }).textContent()) ?? '';
    await page.keyboard.press('Escape');
    await shown.getByText('Copy it first and tick the box').waitFor();
    await shown.getByRole('checkbox').check();
    await shown.getByRole('button', { name: 'Done' }).click();
    await shown.waitFor({ state: 'detached' });
    return secret.trim();
  };
  const eventsOf = (type: string) =>
    lab.received.filter(({ headers }) => headers['service-event-type'] === type);
  const isSigned = (one: (typeof lab.received)[number], secret: string) => {
    try {
      new Webhook(secret).verify(one.body, one.headers);
      return true;
    } catch {
      return false;
    }
  };
  let secret = '';
  let endpointPage = '';

  await t.test('an endpoint: its secret is shown once, a test arrives and verifies', async (t) => {
    await go('Webhooks');
    await page.getByRole('button', { name: 'New endpoint' }).first().click();
    const form = dialog('New endpoint');
    await form.getByLabel('URL', { exact: true }).fill('not an address');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await form.getByText('Write the address in full').waitFor();
    await form.getByLabel('URL', { exact: true }).fill(lab.receiverUrl);
    await form.getByRole('checkbox', { name: /^All events/ }).uncheck();
    await form.getByRole('checkbox', { name: /call\.completed/ }).check();
    await form.getByRole('checkbox', { name: /call\.answered/ }).check();
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    secret = await keep('The endpoint is created', 'Signing secret');
    t.match(secret, /^whsec_/);
    await heading(/hooks$/).waitFor();
    endpointPage = page.url();
    t.notOk((await page.content()).includes(secret), 'not shown again');
    await button('Send a test').click();
    await dialog('Test delivery')
      .getByText(/Received: HTTP 204/)
      .waitFor();
    const [test] = eventsOf('endpoint.test');
    t.ok(test !== undefined && isSigned(test, secret), 'signed with the secret that was shown');
    answer = 500;
    await dialog('Test delivery').getByRole('button', { name: 'Send another' }).click();
    await dialog('Test delivery')
      .getByText(/^HTTP 500 after/)
      .waitFor();
    answer = 204;
    await page.keyboard.press('Escape');
    await dialog('Test delivery').waitFor({ state: 'detached' });
  });

  await t.test('the event filter holds; deliveries are listed with their attempts', async (t) => {
    const agent = await rig.agent({
      instructions: 'TEST-BRIEF For the webhooks.',
      webhook_url: null,
    });
    const call = await rig.dial(agent.id, '+14155550123');
    await rig.ended(call.id);
    await until('the end to be told', () => eventsOf('call.completed').length > 0);
    t.same(
      rig.events(call.id).map(({ type }) => type),
      ['call.answered', 'call.completed'],
      'what was chosen and nothing else',
    );
    await page.reload();
    const table = page.getByRole('table', { name: 'Deliveries' });
    await table.getByText('call.completed').waitFor();
    await table.getByText('call.answered').waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('call.answered');
    await table.getByText('call.completed').waitFor({ state: 'detached' });
    await table
      .getByRole('button', { name: /^Attempts of call\.answered/ })
      .first()
      .click();
    const attempts = dialog('call.answered');
    await attempts.getByText('HTTP 204').waitFor();
    const before = eventsOf('call.answered').length;
    await attempts.getByRole('button', { name: 'Send again' }).click();
    await until('it again', () => eventsOf('call.answered').length > before);
    await page.keyboard.press('Escape');
    await picture(page, 'endpoint');
  });

  await t.test('a new secret: for a day both sign', async (t) => {
    await button('New secret').click();
    await dialog('Make a new secret?').getByRole('button', { name: 'Make a new secret' }).click();
    const fresh = await keep('The new secret', 'Signing secret');
    t.not(fresh, secret);
    const before = eventsOf('endpoint.test').length;
    await button('Send a test').click();
    await dialog('Test delivery')
      .getByText(/Received: HTTP 204/)
      .waitFor();
    await page.keyboard.press('Escape');
    const test = eventsOf('endpoint.test')[before];
    t.ok(test !== undefined && isSigned(test, fresh) && isSigned(test, secret), 'old and new');
  });

  await t.test('what was missed while it was off comes by a replay', async (t) => {
    await button('Disable').click();
    await dialog('Disable this endpoint?').getByRole('button', { name: 'Disable' }).click();
    await button('Enable').waitFor();
    const { data } = (await lab.api<{ data: { id: string }[] }>('GET', '/v1/agents')).body;
    const call = await rig.dial(data[0]?.id ?? '', '+14155550124');
    await rig.ended(call.id);
    t.same(rig.events(call.id), [], 'nothing was sent to it');
    await button('Enable').click();
    await button('Disable').waitFor();
    await button('Replay…').click();
    const replay = dialog('Replay what was missed');
    await replay.getByRole('button', { name: 'Replay' }).click();
    await replay.getByText(/2 deliveries are on the way again/).waitFor();
    await page.keyboard.press('Escape');
    await until('both events', () => rig.events(call.id).length === 2);
    t.same(
      rig.events(call.id).map(({ type }) => type),
      ['call.answered', 'call.completed'],
    );
  });

  await t.test('a key: shown once, works on /v1, last used is seen, revoked at once', async (t) => {
    await go('API keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    const form = dialog('New API key');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('Give it a name to know it by').waitFor();
    await form.getByLabel('Name').fill('Booking system');
    await form.getByLabel('Name').press('Enter');
    const key = await keep('Booking system is created', 'API key');
    const use = async () =>
      (await fetch(`${url}/v1/agents`, { headers: { authorization: `Bearer ${key}` } })).status;
    const row = page.getByRole('table', { name: 'API keys' }).getByRole('row', { name: /Booking system/ });
    await row.getByText('Never').waitFor();
    t.notOk((await page.content()).includes(key), 'not shown again');
    t.equal(await use(), 200);
    await page.reload();
    await row.getByText('Never').waitFor({ state: 'detached' });
    await picture(page, 'keys');
    await row.getByRole('button', { name: 'Revoke Booking system' }).click();
    await dialog('Revoke Booking system?').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    t.equal(await use(), 401, 'at once');
    await page.getByRole('checkbox', { name: /^Show revoked and expired keys/ }).check();
    await row.getByText('Revoked', { exact: true }).waitFor();
  });

  await t.test('settings: the credit changes with the operator key alone', async (t) => {
    await go('Settings');
    const credit = section(page, 'Credit');
    await credit.getByText('No limit').first().waitFor();
    await credit.getByText('Change it').click();
    await credit.getByLabel('Dollars that may be spent').fill('25');
    sight.expect(/403/);
    await credit.getByLabel('Operator key').fill('not this key at all');
    await credit.getByRole('button', { name: 'Set the credit' }).click();
    await credit.getByText('The daemon does not take this key.').waitFor();
    t.match((await lab.api('GET', '/v1/balance')).body, { balance_milli_cents: null });
    await credit.getByLabel('Operator key').fill('the key of the operator');
    await credit.getByRole('button', { name: 'Set the credit' }).click();
    await credit.getByText('$25.00').first().waitFor();
    t.match((await lab.api('GET', '/v1/balance')).body, { balance_milli_cents: 2_500_000 });
    await section(page, 'About').getByText(`${url}/v1`).waitFor();
    await picture(page, 'settings');
  });

  await t.test('an endpoint is deleted after a question', async (t) => {
    await page.goto(endpointPage);
    await button('Delete').click();
    await dialog('Delete this endpoint?').getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.getByText('No endpoints yet').waitFor();
    t.same((await lab.api<{ data: unknown[] }>('GET', '/v1/webhook_endpoints')).body.data, []);
  });

  await t.test('nothing in the console, nothing asked of another host', async (t) =>
    t.same(sight.problems(), []),
  );
});
