// People in a real browser: an owner invites a viewer by a link, who joins, sees what a viewer may and nothing else, and sets up
// a second factor; what was done stands in the audit log.
import { createHmac } from 'node:crypto';
import t from 'tap';
import { axe, bringAxe, DESKTOP, openDashboard, PASSWORD, PHONE, picture, section } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';

const OWN_PASSWORD = 'a loud line of magpies';

/** The code of an authenticator app (RFC 6238), by a reading of its own. */
function codeOf(secret: string, now = Date.now()): string {
  const bits = [...secret].map((char) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'),
  );
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  return String((mac.readUInt32BE((mac[19] ?? 0) & 15) & 0x7fffffff) % 1e6).padStart(6, '0');
}

t.test('people: invited, joined, held to a role, with a second factor', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t, {
    // An issuer that does not answer.
    env: { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'offhook' },
  });
  const { url, rig } = dashboard;
  await rig.lab.api('POST', '/v1/agents', { name: 'Front desk', type: 'inbound' });
  const owner = await dashboard.signedIn();
  const ann = await dashboard.open();
  let link = '';

  await t.test('the owner says who he is, and invites', async () => {
    const { page } = owner;
    await page.goto(`${url}/people`);
    await page.getByText('You sign in by the password alone.').waitFor();
    await page.getByRole('link', { name: 'My account' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Olga Field');
    await page.getByLabel('E-mail address').fill('olga@example.com');
    await page.getByLabel('Your password').fill(PASSWORD);
    await section(page, 'Who you are').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your account is changed.').waitFor();
    await page.goto(`${url}/people`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('button', { name: 'Make the link' }).click();
    link = (await page.getByLabel('Link', { exact: true }).textContent()) ?? '';
    await page.getByLabel('I have kept it').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('table', { name: 'Links that wait' }).getByText('ann@example.com').waitFor();
  });

  await t.test('she joins, and sees what a viewer may', async (t) => {
    const { page } = ann;
    await bringAxe(ann);
    await page.goto(url);
    await page.getByRole('button', { name: 'Sign in with 127.0.0.1:9' }).click();
    await page.getByText('The sign-in service could not be reached.').waitFor();
    await picture(page, 'sign-in-elsewhere-desktop');
    t.same(await axe(page), []);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Join Default' }).waitFor();
    t.equal(new URL(page.url()).hash, '', 'the token leaves the address');
    await page.getByLabel('Your name').fill('Ann Quay');
    await page.getByLabel('Password', { exact: true }).fill(OWN_PASSWORD);
    await page.getByLabel('Confirm password').fill(OWN_PASSWORD);
    await picture(page, 'invitation-desktop');
    t.same(await axe(page), []);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const nav = page.getByRole('navigation', { name: 'Main', exact: true });
    await nav.getByRole('link', { name: 'Ann Quay' }).waitFor();
    for (const hidden of ['People', 'Audit log', 'API keys'])
      t.equal(await nav.getByRole('link', { name: hidden }).count(), 0, hidden);
    await page.goto(`${url}/agents`);
    await page.getByText('Front desk').waitFor();
    t.equal(await page.getByRole('link', { name: 'New agent' }).count(), 0);
    await page.goto(`${url}/people`);
    await page.getByText('This page is for owners.').waitFor();
    const refused = await page.evaluate(
      `fetch('/dashboard/api/session').then((answer) => answer.json()).then(({ csrf_token }) => fetch('/dashboard/api/v1/agents', { method: 'POST', headers: { 'content-type': 'application/json', 'offhook-csrf': csrf_token }, body: '{"name":"x","type":"inbound"}' })).then(({ status }) => status)`,
    );
    ann.expect(/403/);
    t.equal(refused, 403, 'and the daemon refuses what the page leaves out');
  });

  await t.test('she sets up a second factor, and signs in with it', async (t) => {
    const { page } = ann;
    await page.goto(`${url}/account`);
    await page.getByRole('button', { name: 'Set it up' }).click();
    await page.getByLabel('Your password').fill(OWN_PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = (await page.getByLabel('Secret for the app', { exact: true }).first().textContent()) ?? '';
    await page.getByRole('img', { name: 'The picture for an authenticator app' }).waitFor();
    await picture(page, 'second-factor-desktop');
    t.same(await axe(page), []);
    await page.getByLabel('Code that the app shows').fill(codeOf(secret));
    await page.getByRole('button', { name: 'Turn it on' }).click();
    const codes = (await page.getByLabel('Recovery codes', { exact: true }).first().textContent()) ?? '';
    t.equal(codes.split('\n').length, 10);
    await page.getByLabel('I have kept it').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('10 recovery codes left').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByLabel('Password', { exact: true }).fill(OWN_PASSWORD);
    ann.expect(/401/);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Code', { exact: true }).fill(codes.split('\n')[0] ?? '');
    await picture(page, 'sign-in-code-desktop');
    t.same(await axe(page), []);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('9 recovery codes left').waitFor();
    t.same(ann.problems(), []);
  });

  await t.test('the audit log has it; each page in light and dark, wide and narrow', async (t) => {
    const { page } = owner;
    await page.goto(`${url}/audit-log`);
    const table = page.getByRole('table', { name: 'Audit log' });
    for (const what of ['Accept invitation', 'Confirm second factor', 'Invite person', 'Change account'])
      await table.getByText(what).first().waitFor();
    await page.goto(`${url}/people`);
    await page.getByRole('button', { name: 'Change Ann Quay' }).click();
    await page.getByLabel('May hear recordings').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table', { name: 'People' }).getByText('Viewer, hears recordings').waitFor();
    const cookies = await owner.context.cookies();
    for (const [view, viewport] of [
      ['desktop', DESKTOP],
      ['phone', PHONE],
    ] as const) {
      const sight = await dashboard.open({ viewport });
      await bringAxe(sight);
      await sight.context.addCookies(cookies);
      for (const [name, ready] of [
        ['people', 'tbody tr'],
        ['audit-log', 'tbody tr'],
        ['account', 'form'],
        ['keys', 'tbody tr'],
      ] as const) {
        await sight.page.goto(`${url}/${name}`);
        await sight.page.locator(`main ${ready}`).first().waitFor();
        for (const colorScheme of ['light', 'dark'] as const) {
          await sight.page.emulateMedia({ colorScheme });
          await picture(sight.page, `${name}-${view}-${colorScheme}`);
          t.same(await axe(sight.page), [], `${name}, ${view}, ${colorScheme}`);
        }
        const wide = await sight.page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        t.ok(Number(wide) <= 0, `${name} fits ${view}`);
      }
      t.same(sight.problems(), []);
      await sight.context.close();
    }
    t.same(owner.problems(), []);
  });
});
