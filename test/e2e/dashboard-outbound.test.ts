// Outbound calls in the dashboard: a number tried, a rule changed, a number kept from being called, what was refused.
import t from 'tap';
import { axe, bringAxe, openDashboard, PHONE, picture } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';

t.setTimeout(240_000);

t.test('a number tried, a rule, the list, what was refused', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t, { env: { MEDIA_THREADS: '1' } });
  const { rig, url } = dashboard;
  const agent = await rig.agent({ name: 'Appointment reminder', instructions: 'TEST-BRIEF' });
  const dial = (to: string) => rig.lab.api('POST', '/v1/calls', { agent_id: agent.id, to });
  const sight = await dashboard.signedIn();
  const { page } = sight;
  await bringAxe(sight);

  await page.goto(`${url}/`);
  await page.getByRole('link', { name: 'Outbound' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Outbound' }).waitFor();
  await page.getByLabel('Number to try').fill('+1 (900) 555-1234');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByText('Would not be called').waitFor();
  await page.getByText('It is a premium-rate number').waitFor();

  await page.getByLabel('Further countries').fill('Canada');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('Canada is no country code').waitFor();
  await page.getByLabel('Further countries').fill('ca');
  await page.getByLabel('To one number a day').fill('2');
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await page.getByText('The rules hold from the next call on').waitFor();
  const { body } = await rig.lab.api('GET', '/v1/outbound_rules');
  t.match(body, {
    countries: ['CA'],
    calls_per_destination_per_day: 2,
    own: ['countries', 'calls_per_destination_per_day'],
    updated_by: { kind: 'user' },
  });

  await page.getByRole('tab', { name: 'Do not call' }).click();
  await page.getByLabel('Number', { exact: true }).fill('+1 415 555 0188');
  await page.getByLabel('Why').fill('asked in a letter');
  await page.getByRole('button', { name: 'Do not call it' }).click();
  await page.getByText('asked in a letter').waitFor();
  await page.setInputFiles('input[type=file]', {
    name: 'list.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('phone\n+14155550189\nnobody\n'),
  });
  await page.getByText('1 number of 2 lines on the list').waitFor();
  await page.getByText('From a file').waitFor();
  t.match(await dial('+14155550188'), { status: 403, body: { error: { code: 'do_not_call' } } });
  await page.getByRole('button', { name: 'Take +14155550189 off the list' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take it off the list' }).click();
  await page.getByText('From a file').waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'Refused' }).click();
  await page.getByText('The number is not to be called').waitFor();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const size of [PHONE, { width: 1440, height: 900 }]) {
      await page.setViewportSize(size);
      for (const tab of ['Rules', 'Do not call', 'Refused']) {
        await page.getByRole('tab', { name: tab }).click();
        const at = `${tab.toLowerCase().replaceAll(' ', '-')} ${scheme} ${size.width}`;
        await picture(page, `outbound-${at.replaceAll(' ', '-')}`, true);
        t.same(await axe(page), [], at);
        const wide = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
        t.ok(wide <= 0, `${at}: nothing is cut`);
      }
    }
  }
  t.same(sight.problems(), []);
});
