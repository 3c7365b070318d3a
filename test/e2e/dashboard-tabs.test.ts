// Many tabs of one browser: they share one live stream, those that nobody looks at ask for none, and a page under traffic
// still loads.
import t from 'tap';
import { openDashboard, PASSWORD, picture, type Sight, signIn } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { POLITE, until } from './rig.ts';

t.setTimeout(300_000);

const TABS = 8;

t.test('many tabs', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t, {
    carrier: { callees: { '+14155550177': POLITE } },
    env: { MEDIA_THREADS: '1', LOG_LEVEL: 'info' },
  });
  const { rig, url } = dashboard;
  const { lines } = rig.lab.daemon;
  /** Streams that have ended so far: a request is logged when it is over. */
  const endedStreams = () =>
    lines.filter((line) => line.includes('"/dashboard/api/live"') && line.includes('http.request')).length;
  const first = await dashboard.signedIn();
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const sights: Sight[] = [first];

  await t.test(`${TABS} tabs load, and each sees a call come and go`, async (t) => {
    for (let tab = 1; tab < TABS; tab++) {
      const sight = await dashboard.another(first);
      await sight.page.goto(`${url}/calls`);
      await sight.page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
      sights.push(sight);
    }
    await first.page.goto(`${url}/calls`);
    await first.page.getByText('No calls yet.').waitFor();
    const { id } = await rig.dial(agent.id, '+14155550177');
    await until('its end', async () => (await rig.call(id)).status === 'completed');
    for (const { page } of sights) {
      await page.locator(`a[href="/calls/${id}"]`).first().waitFor();
      await page.getByRole('table').locator('.outcome.ok').waitFor();
    }
    t.equal(sights.length, TABS);
  });

  await t.test('they hold one stream together, and none when nobody looks', async (t) => {
    const before = endedStreams();
    const look = (sight: Sight, at: 'hidden' | 'visible') =>
      sight.page.evaluate(`(() => {
        Object.defineProperty(document, 'visibilityState', { value: '${at}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      })()`);
    for (const sight of sights.slice(1)) await look(sight, 'hidden');
    const { id } = await rig.dial(agent.id, '+14155550177');
    await until('its end', async () => (await rig.call(id)).status === 'completed');
    await first.page.locator(`a[href="/calls/${id}"]`).first().waitFor();
    t.equal(endedStreams(), before, 'one that is looked at keeps it');
    await look(first, 'hidden');
    await until('the end of the stream', () => endedStreams() > before);
    t.equal(endedStreams(), before + 1, 'there was one for all of them');

    const last = sights.at(-1) as Sight;
    await look(last, 'visible');
    await last.page.locator(`a[href="/calls/${id}"]`).first().waitFor();
    t.pass('what was missed is looked up');
  });

  await t.test('a browser without shared workers has a stream in the tab that is looked at', async (t) => {
    const alone = await dashboard.open();
    await alone.context.addInitScript('delete globalThis.SharedWorker');
    await alone.page.goto(url);
    await signIn(alone.page, PASSWORD);
    await alone.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await alone.page.goto(`${url}/live`);
    await alone.page.getByText('Connected').waitFor();
    t.ok(
      alone.asked.some((one) => one.endsWith('/dashboard/api/live')),
      'its own',
    );
    t.same(alone.problems(), []);
    await alone.context.close();
  });

  await t.test('two tabs that edit an agent: both stand, or the later one is told', async (t) => {
    const [one, two] = sights as [Sight, Sight];
    const made = await rig.lab.api<{ id: string }>('POST', '/v1/agents', { name: 'Desk', type: 'inbound' });
    const path = `/v1/agents/${made.body.id}`;
    const now = async () =>
      (await rig.lab.api<{ name: string; instructions: string; persona: string }>('GET', path)).body;
    for (const sight of [one, two]) {
      // A refusal that is provoked; the browser tells of it in its console.
      sight.expect(/\b412\b/);
      await sight.page.goto(`${url}/agents/${made.body.id}`);
    }
    const field = (sight: Sight, name: string) => sight.page.getByRole('textbox', { name, exact: true });
    const save = (sight: Sight) => sight.page.getByRole('button', { name: 'Save changes' }).click();
    await field(one, 'Instructions').fill('Be brief.');
    await save(one);
    await until('the first', async () => (await now()).instructions === 'Be brief.');
    await field(two, 'Name').fill('Front desk');
    await save(two);
    await until('the other field', async () => (await now()).name === 'Front desk');
    t.match(await now(), { name: 'Front desk', instructions: 'Be brief.' }, 'other fields: both stand');

    await field(one, 'Instructions').fill('Be kind.');
    await save(one);
    await until('the next', async () => (await now()).instructions === 'Be kind.');
    await field(two, 'Instructions').fill('Be quick.');
    await save(two);
    const told = two.page.getByRole('alert').filter({ hasText: 'This is what is there now' });
    await told.getByText('Be kind.').waitFor();
    t.equal((await now()).instructions, 'Be kind.', 'nothing was overwritten');
    t.equal(await field(two, 'Instructions').inputValue(), 'Be quick.', 'and nothing typed is lost');
    await until('the note in view', () =>
      told.evaluate((note: unknown) => {
        const { top, bottom } = (
          note as { getBoundingClientRect(): { top: number; bottom: number } }
        ).getBoundingClientRect();
        return top >= 0 && bottom <= (globalThis as unknown as { innerHeight: number }).innerHeight;
      }),
    );
    await picture(two.page, 'agent-overtaken');
    await told.getByRole('button', { name: 'Save mine over it' }).click();
    await until('the later one', async () => (await now()).instructions === 'Be quick.');
    await told.waitFor({ state: 'detached' });
  });

  for (const [at, sight] of sights.entries()) t.same(sight.problems(), [], `tab ${at}`);
});

t.test('a page whose data change all the time', { skip: NO_CHROMIUM }, async (t) => {
  const dashboard = await openDashboard(t, { env: { MEDIA_THREADS: '1' } });
  const { rig, url } = dashboard;
  const sight = await dashboard.signedIn();
  const { page } = sight;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  // The list takes longer than it takes until something has changed again.
  let asked = 0;
  let answered = 0;
  await page.route(/\/v1\/calls\?/, async (route) => {
    asked++;
    const answer = await route.fetch();
    await new Promise((later) => setTimeout(later, 3_000));
    answered++;
    await route.fulfill({ response: answer }).catch(() => {});
  });
  let going = true;
  const traffic = (async () => {
    while (going) {
      await rig.dial(agent.id, '+14155550188').catch(() => {});
      await new Promise((later) => setTimeout(later, 300));
    }
  })();
  await page.goto(`${url}/calls`);
  await page.getByRole('table', { name: /Calls/ }).waitFor();
  const rows = () => page.getByRole('row').count();
  const seen = await rows();
  await until('more calls', async () => (await rows()) > seen);
  going = false;
  await traffic;
  t.ok(answered >= 2, `${answered} of ${asked} loads came to their end`);
  t.same(sight.problems(), []);
});
