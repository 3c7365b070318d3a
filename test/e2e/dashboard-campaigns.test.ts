// Campaigns in the dashboard, in a real browser: made, given a file of contacts, started, watched to its end, exported; and
// usable at both widths, light and dark, while it calls.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { axe, bringAxe, openDashboard, PHONE, picture } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { POLITE, until } from './rig.ts';

t.test('a campaign, from a file of contacts to its export', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t, {
    carrier: {
      callees: {
        '+14155550171': POLITE,
        '+14155550172': { ringMs: 100, outcome: 'busy' },
        '+14155550173': POLITE,
      },
    },
    env: { MEDIA_THREADS: '1' },
  });
  const { rig, url } = dashboard;
  await rig.agent({ name: 'Reminder', instructions: 'TEST-BRIEF' });
  const sight = await dashboard.signedIn();
  await bringAxe(sight);
  const { page } = sight;

  await page.goto(`${url}/campaigns`);
  await page.getByText('No campaigns yet').waitFor();
  await page.getByRole('button', { name: 'New campaign' }).first().click();
  await page.getByLabel('Name').fill('Reminders for March');
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Reminders for March' }).waitFor();
  t.equal(await page.getByRole('button', { name: 'Start…' }).isDisabled(), true, 'nobody is to be called');

  const lines = [
    'phone,name,appointment',
    '+1 415 555 0171,Ann,"Tuesday, 10:00"',
    'nobody,Bo,',
    '+14155550172,Cleo,',
    '+14155550171,Ann again,',
    '+14155550173,Dora,',
  ];
  const file = { name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText(/3 contacts can be added, 1 twice, 1 not understood/).waitFor();
  await page.getByText('Line 3: is no telephone number').waitFor();
  t.same(await axe(page), [], 'the file, looked at');
  await picture(page, 'campaign-file');
  await page.getByRole('button', { name: 'Add 3 contacts' }).click();
  await page.getByRole('row', { name: /Cleo/ }).waitFor();

  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Calls at once').fill('2');
  await page.getByLabel('Times').first().fill('0');
  t.same(await axe(page), [], 'the rules');
  await picture(page, 'campaign-rules');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('2 at once').waitFor();

  await page.getByRole('button', { name: 'Start…' }).click();
  await page.getByRole('button', { name: 'Start calling' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  for (const [view, viewport] of [
    ['desktop', null],
    ['phone', PHONE],
  ] as const) {
    if (viewport !== null) await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `campaign-${view}-${colorScheme}`);
      t.same(await axe(page), [], `${view}, ${colorScheme}`);
    }
    const wide = await page.evaluate(
      'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
    );
    t.ok(wide, `${view}: it fits`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByText('Completed').first().waitFor();
  await page.getByText('100 % of 3 contacts').or(page.getByText('100% of 3 contacts')).waitFor();
  const outcomes = await until('the outcomes', async () => {
    const rows = await page
      .getByRole('table', { name: 'Contacts by their outcome' })
      .getByRole('row')
      .allInnerTexts();
    return rows.length === 3 ? rows.join(' ') : null;
  });
  t.match(outcomes, /Answered\s+2/);
  t.match(outcomes, /Busy\s+1/);
  await picture(page, 'campaign-done');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export' }).click(),
  ]);
  const csv = readFileSync(await download.path(), 'utf8');
  t.match(csv, /^to_number,status,outcome,/);
  t.match(csv, /\+14155550172,done,busy,1,/);
  t.equal(csv.trim().split('\n').length, 4);

  await page.getByRole('link', { name: 'Campaigns', exact: true }).first().click();
  await page.getByRole('row', { name: /Reminders for March/ }).waitFor();
  t.same(await axe(page), [], 'the list');
  await picture(page, 'campaigns');
  t.same(sight.problems(), []);
});
