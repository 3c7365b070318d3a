// A hundred calls on the live page, in a real browser: two screens of rows, sorted and filtered, the words of the chosen one
// beside them; what is told of them all the time leaves the page at hand. The rows are stored and told by the test; calls of
// a whole daemon are seen live elsewhere.
import t from 'tap';
import type { CallRecord } from '../../storage/records.ts';
import { openDashboardRig, PASSWORD } from '../control/dashboard/rig.ts';
import { makeCall, makeItem, makeTurn } from '../storage/makers.ts';
import { axe, bringAxe, DESKTOP, PHONE, picture, signIn, watch } from './browser-rig.ts';
import { NO_CHROMIUM, openChromium } from './chromium.ts';
import { until } from './rig.ts';

const CALLS = 100;
const SCREENS = 2;
/** Of the reminders among them, those that ring. */
const WAITING = [23, 48, 73, 98].filter((at) => at % 3 === 0).length;
const SAID = ['I would like to move my appointment.', 'Which day would suit you?', 'Tuesday at ten, please.'];

t.test('a hundred calls', { skip: NO_CHROMIUM }, async (t) => {
  const rig = await openDashboardRig(t, { publicUrl: 'http://localhost' });
  await rig.browser().setUp();
  const desk = await rig.agent({ name: 'Front desk' });
  const reminder = await rig.agent({ name: 'Appointment reminder' });
  const { observer } = rig.feed;
  const calls: CallRecord[] = [];
  const begin = async (at: number) => {
    const since = new Date(Date.now() - (CALLS - at) * 4_000).toISOString();
    const number = `+1415556${String(at).padStart(4, '0')}`;
    const call = makeCall(rig.orgId, {
      agent_id: at % 3 === 0 ? reminder.id : desk.id,
      status: at % 25 === 23 ? 'ringing' : 'in_progress',
      direction: at % 2 === 0 ? 'outbound' : 'inbound',
      to_number: at % 2 === 0 ? number : '+14155550999',
      from_number: at % 2 === 0 ? '+14155550999' : number,
      created_at: since,
      started_at: since,
      answered_at: at % 25 === 23 ? null : since,
      gaps: at === 13 ? [{ why: 'stream_lost', started_at: since, from_ms: 1_000, to_ms: null }] : [],
    });
    await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
    observer.changed?.(call);
    calls.push(call);
    if (call.status !== 'in_progress') return;
    const items = SAID.slice(0, 1 + (at % 3)).map((text, line) =>
      makeItem(call.id, {
        role: line % 2 === 0 ? 'caller' : 'agent',
        text,
        heard_text: text,
        start_ms: line * 3_000,
        end_ms: line * 3_000 + 2_000,
      }),
    );
    await rig.store.saveTranscript(items);
    observer.floor?.(call.id, (['none', 'agent', 'caller'] as const)[at % 3] ?? 'none', 1_000);
    observer.words?.(call.id, items);
    observer.turn?.(makeTurn(call.id, { first_heard_ms: 5_060 + ((at * 97) % 520) }));
  };
  for (let at = 0; at < CALLS; at++) await begin(at);

  const browser = await openChromium(t);
  const sight = await watch(
    await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' }),
    rig.url,
  );
  await bringAxe(sight);
  const { page } = sight;
  sight.expect(/answered 401|status of 401/);
  await page.goto(rig.url);
  await signIn(page, PASSWORD);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.goto(`${rig.url}/live`);
  const table = page.getByRole('table', { name: 'Calls on the line' });
  const rows = table.locator('tbody tr');
  const count = (wanted: number) => until(`${wanted} rows`, async () => (await rows.count()) === wanted);
  const words = page.getByRole('article');
  const heading = (name: string) => words.getByRole('heading', { name }).waitFor();

  await t.test('all of them on two screens, the newest and its words first', async (t) => {
    await count(CALLS);
    const screens = (await page.evaluate('document.documentElement.scrollHeight / innerHeight')) as number;
    t.ok(screens <= SCREENS, `${screens.toFixed(2)} screens`);
    await heading('Call from +1 415 556 0099');
    await words.getByText(SAID[0] ?? '').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `live-hundred-${colorScheme}`, true);
      t.same(await axe(page), [], colorScheme);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  await t.test('told of all the time, only what changed is drawn, and a press is heard', async (t) => {
    await page.evaluate(`(() => {
      globalThis.drawn = new Set();
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const row = (target.nodeType === 1 ? target : target.parentElement)?.closest('tr[data-call]');
          // The clocks of all rows go on by themselves.
          if (row && !(target.nodeType === 1 ? target : target.parentElement).closest('.live-c-time')) drawn.add(row.dataset.call);
        }
      }).observe(document.querySelector('.live-table tbody'), { subtree: true, childList: true, characterData: true, attributes: true });
    })()`);
    const [one] = calls;
    for (let told = 0; told < 2_000; told++) {
      observer.floor?.(one?.id ?? '', told % 2 === 0 ? 'agent' : 'caller', told);
      // Told in pieces: a reader that falls behind is cut off, and begins anew with all of them.
      if (told % 50 === 49) await new Promise((goOn) => setImmediate(goOn));
    }
    await rows.filter({ hasText: '0000' }).getByText('Other side speaks').waitFor();
    t.same(await page.evaluate('[...drawn]'), [one?.id]);
    await rows.nth(40).getByRole('button').click();
    await until('the row', async () => (await rows.nth(40).getAttribute('class')) === 'chosen');
  });

  await t.test('sorted, filtered, one chosen by keys; the address keeps it', async (t) => {
    await table.getByRole('button', { name: 'Now' }).click();
    await rows.first().getByText('Line lost').waitFor();
    await table.getByRole('button', { name: 'Other side' }).click();
    await rows.first().getByText('+1 415 556 0000').waitFor();
    await table.getByRole('button', { name: 'Answer' }).click();
    await rows
      .first()
      .getByText(/^9\d\d ms$/)
      .waitFor();
    await table.getByRole('button', { name: 'Other side' }).click();
    const head = table.getByRole('columnheader', { name: /^Other side/ });
    t.equal(await head.getAttribute('aria-sort'), 'ascending');
    await rows.nth(5).getByRole('button').click();
    await heading('Call from +1 415 556 0005');
    await page.keyboard.press('ArrowDown');
    await heading('Call to +1 415 556 0006');
    await page.getByLabel('Search').fill('reminder');
    await count(34);
    await page.getByText('34 of 100 calls').waitFor();
    await page.getByLabel('Now', { exact: true }).selectOption('waiting');
    await count(WAITING);
    await page.getByLabel('Now', { exact: true }).selectOption('');
    await page.getByLabel('Search').fill('5560042');
    await count(1);
    await page.reload();
    await count(1);
    await heading('Call to +1 415 556 0006');
    await page.getByLabel('Search').fill('nobody said this');
    await page.getByText('No call fits.').waitFor();
    await page.getByRole('button', { name: 'Show all calls' }).click();
    await count(CALLS);
  });

  await t.test('the chosen one ends: that is said, and its words stay', async (t) => {
    const ended = calls[6];
    if (ended === undefined) throw new Error('no such call');
    observer.ended?.({ ...ended, status: 'completed', hangup_cause: 'agent_ended' });
    await words.getByText('It has left the line.').waitFor();
    await count(CALLS - 1);
    t.ok((await words.getByRole('list', { name: 'Transcript' }).getByRole('listitem').count()) > 0);
    t.equal(await words.getByRole('button', { name: 'Hang up' }).count(), 0);
  });

  await t.test('on a phone: the list, and the words when one is chosen', async (t) => {
    await page.setViewportSize(PHONE);
    await page.goto(`${rig.url}/live`);
    await count(CALLS - 1);
    t.equal(await words.count(), 0);
    await picture(page, 'live-hundred-phone');
    await rows.nth(2).getByRole('button').click();
    await words.getByRole('list', { name: 'Transcript' }).waitFor();
    await picture(page, 'live-hundred-phone-words');
    t.same(await axe(page), []);
    t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false);
    await words.getByRole('button', { name: 'Close the words' }).click();
    await words.waitFor({ state: 'detached' });
  });
  t.same(sight.problems(), []);
});
