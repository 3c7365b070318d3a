// What is kept, in the dashboard: days, a hold, a call and a person erased, the receipt shown.
import t from 'tap';
import { axe, bringAxe, openDashboard, PHONE, picture } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { POLITE } from './rig.ts';

t.setTimeout(240_000);

t.test('days, a hold, a call erased, a person erased', { skip: NO_CHROMIUM }, async (t) => {
  const [one, two, held] = ['+14155550171', '+14155550172', '+14155550173'] as const;
  const dashboard = await openDashboard(t, {
    carrier: { callees: { [one]: POLITE, [two]: POLITE, [held]: POLITE } },
    env: { MEDIA_THREADS: '1' },
  });
  const { rig, url } = dashboard;
  const agent = await rig.agent({ name: 'Appointment reminder', instructions: 'TEST-BRIEF' });
  const calls = await Promise.all([one, two, held].map((number) => rig.dial(agent.id, number)));
  await Promise.all(calls.map(({ id }) => rig.ended(id)));
  const sight = await dashboard.signedIn();
  const { page } = sight;
  await bringAxe(sight);

  await page.goto(`${url}/settings`);
  await page.getByRole('link', { name: 'What is kept' }).click();
  await page.getByRole('heading', { level: 1, name: 'What is kept' }).waitFor();
  await page.getByLabel('Recordings, days').fill('30');
  await page.getByLabel('Transcripts, days').fill('x');
  await page.getByText('A whole number of days, or nothing: for ever.').waitFor();
  await page.getByLabel('Transcripts, days').fill('90');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByText('Recordings: 30 days').waitFor();
  await page.getByRole('button', { name: 'Keep less' }).click();
  await page.getByText('Saved.').waitFor();
  const { body } = await rig.lab.api<{ default: unknown }>('GET', '/v1/retention');
  t.match(body.default, { recordings_days: 30, transcripts_days: 90, calls_days: null });

  await page.getByText('Hold all calls with a number').click();
  await page.getByLabel('Number to hold').fill('+1 415 555 0173');
  await page.getByLabel('Reason').fill('Case 14-221');
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByText('Case 14-221, by').waitFor();

  await page.getByLabel('Number', { exact: true }).fill('+1 (415) 555-0172');
  await page.getByLabel('Why').fill('Asked by letter');
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase', exact: true }).click();
  const receipt = page.getByRole('dialog', { name: 'Erased' });
  await receipt.getByText('1 call, 1 recording').waitFor();
  await receipt.getByText('The file that was deleted').click();
  await picture(page, 'kept-receipt');
  t.same(await axe(page), [], 'the receipt');
  await receipt.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: /^Receipt / }).waitFor();
  t.match(await rig.call(calls[1]?.id ?? ''), { to_number: 'erased' });

  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const size of [PHONE, { width: 1440, height: 900 }]) {
      await page.setViewportSize(size);
      await picture(page, `kept-${scheme}-${size.width}`, true);
      t.same(await axe(page), [], `${scheme} at ${size.width}`);
      const wide = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
      t.ok(wide <= 0, `${scheme} at ${size.width}: nothing is cut`);
    }
  }

  await page.goto(`${url}/calls/${calls[2]?.id}`);
  await page.getByText('Under a legal hold').waitFor();
  t.equal(await page.getByRole('button', { name: 'Erase this call' }).isDisabled(), true);
  await page.goto(`${url}/calls/${calls[0]?.id}`);
  await page.getByRole('button', { name: 'Erase this call' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByRole('dialog', { name: 'Erased' }).getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('What is left counts, and names nobody').waitFor();
  await picture(page, 'kept-call');
  t.same(await axe(page), [], 'an erased call');
  t.ok((await rig.call(calls[0]?.id ?? '')).erased_at);
  t.same(sight.problems(), []);
});
