// The dashboard of a daemon with more than one organization, in a real browser: its own link, its name at sign-in, and a tool
// whose header is not shown again.
import t from 'tap';
import { choosePassword, openDashboard, PASSWORD, picture } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';

const OPERATOR_KEY = 'operator-key-of-the-test';

t.test('a second organization signs in to its own', { skip: NO_CHROMIUM }, async (t) => {
  const { rig, url, open, signedIn } = await openDashboard(t, { env: { OPERATOR_KEY } });
  const { lab } = rig;
  const first = await signedIn();
  const made = await lab.api<{ id: string; api_key: string; password_url: string }>(
    'POST',
    '/v1/organizations',
    { name: 'Harbour Clinic' },
    { 'Operator-Key': OPERATOR_KEY },
  );
  t.equal(made.status, 201);
  const sight = await open();
  const { page } = sight;
  const overview = () => page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.goto(made.body.password_url);
  await choosePassword(page, 'the harbour is quiet');
  await overview();

  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${made.body.api_key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; name: string; tools: { headers: object }[] };
  };
  const agent = await ask('POST', '/v1/agents', {
    name: 'Harbour desk',
    type: 'inbound',
    tools: [
      {
        type: 'http',
        name: 'find',
        description: 'Finds a ship.',
        url: 'https://example.com/ships',
        headers: { 'X-Key': 'of the harbour' },
      },
    ],
  });
  await page.goto(`${url}/agents/${agent.id}?tab=tools`);
  await page.getByRole('button', { name: 'Edit find' }).click();
  const value = page.getByLabel('Value of header 1');
  t.equal(await value.inputValue(), '********');
  t.equal(await page.getByRole('button', { name: /the value of X-Key/ }).count(), 0, 'nothing to be shown');
  await page.getByRole('tab', { name: 'Instructions' }).click();
  await page.getByLabel('Name', { exact: true }).first().fill('Harbour office');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await until(
    'the change',
    async () => (await ask('GET', `/v1/agents/${agent.id}`)).name === 'Harbour office',
  );

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('textbox', { name: 'Organization' }).waitFor();
  await picture(page, 'sign-in-several');
  await page.getByRole('textbox', { name: 'Organization' }).fill('harbour clinic');
  await page.getByLabel('Password', { exact: true }).fill('the harbour is quiet');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto(`${url}/agents`);
  await page.getByText('Harbour office').first().waitFor();
  t.same(sight.problems(), []);

  await first.page.goto(`${url}/agents`);
  await first.page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
  t.equal(await first.page.getByText('Harbour office').count(), 0, 'which the other one does not see');
  await first.page.getByRole('button', { name: 'Sign out' }).click();
  await first.page.getByRole('textbox', { name: 'Organization' }).waitFor();
  await first.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await first.page.getByRole('button', { name: 'Sign in' }).click();
  await first.page.getByRole('button', { name: 'Sign out' }).waitFor();
  t.same(first.problems(), []);
});
