// What must hold on every page of the dashboard, in a real browser with calls in the database: axe finds nothing serious,
// light and dark, wide and narrow; the page fits its width; what loading it costs. Pictures of all of it are kept.
import { relative } from 'node:path';
import t from 'tap';
import {
  axe,
  bringAxe,
  DESKTOP,
  focused,
  openDashboard,
  PHONE,
  PICTURES,
  picture,
  tabTo,
} from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';

t.test('every page', { skip: NO_CHROMIUM }, async (t) => {
  const human = { verdict: 'human', afterMs: 2_000 } as const;
  const dashboard = await openDashboard(t, {
    // The live call is to last as long as one looks at it.
    env: { CALLER_IDLE_SECONDS: '600' },
    carrier: {
      callees: {
        '+14155550123': {
          ringMs: 200,
          steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 2_000 }],
          amd: human,
        },
        '+14155550199': { ringMs: 200, steps: [{ do: 'wait', ms: 300_000 }], amd: human },
      },
    },
  });
  const { rig, url } = dashboard;
  const agent = await rig.agent({
    name: 'Front desk',
    instructions: 'TEST-LONG Confirm the appointment.',
    returns: {
      will_come: 'boolean',
      day: { type: 'string', description: 'The day that suits.', enum: ['Mon', 'Tue'] },
    },
    tools: [
      {
        type: 'http',
        name: 'find_appointment',
        description: 'Finds the appointment of a day.',
        url: 'https://example.com/appointments',
        method: 'POST',
        parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      },
      { type: 'transfer_call', targets: [{ name: 'Reception', number: '+15550107777' }] },
    ],
  });
  const endpoint = await rig.lab.api<{ id: string }>('POST', '/v1/webhook_endpoints', {
    url: rig.lab.receiverUrl,
    enabled_events: ['call.completed'],
  });
  const over = await rig.dial(agent.id, '+14155550123');
  const going = rig.ended(over.id);
  // Set up while the call goes on.
  const desk = await dashboard.signedIn();
  const cookies = await desk.context.cookies();
  await going;
  const live = await rig.dial(agent.id, '+14155550199');
  await until('the live call', async () => (await rig.call(live.id)).status === 'in_progress');

  /** Each page, and what shows that it has all it shows. */
  const PAGES: readonly { name: string; path: string; ready: string }[] = [
    { name: 'overview', path: '/', ready: 'canvas' },
    { name: 'live', path: '/live', ready: '.live-table tbody tr' },
    { name: 'calls', path: '/calls', ready: 'tbody tr' },
    { name: 'call', path: `/calls/${over.id}`, ready: '.waves' },
    { name: 'call-live', path: `/calls/${live.id}`, ready: '.transcript li' },
    { name: 'campaigns', path: '/campaigns', ready: '.empty' },
    { name: 'agents', path: '/agents', ready: 'tbody tr' },
    { name: 'templates', path: '/agents/new', ready: '.template' },
    { name: 'agent-new', path: '/agents/new/receptionist', ready: 'form' },
    { name: 'agent', path: `/agents/${agent.id}`, ready: '.tab-panel' },
    { name: 'agent-tools', path: `/agents/${agent.id}?tab=tools`, ready: '.tool-card' },
    { name: 'agent-results', path: `/agents/${agent.id}?tab=results`, ready: '.returns-row' },
    { name: 'agent-advanced', path: `/agents/${agent.id}?tab=advanced`, ready: '.turns-fields' },
    { name: 'try', path: `/agents/${agent.id}/try`, ready: '.try' },
    { name: 'numbers', path: '/numbers', ready: 'tbody tr' },
    { name: 'buy-number', path: '/numbers/buy', ready: 'form' },
    { name: 'webhooks', path: '/webhooks', ready: '.endpoint .glance' },
    { name: 'endpoint', path: `/webhooks/${endpoint.body.id}`, ready: 'tbody tr' },
    { name: 'deliveries', path: '/webhooks/deliveries', ready: 'tbody tr' },
    { name: 'alerts', path: '/alerts', ready: '.alert-rule' },
    { name: 'outbound', path: '/outbound', ready: '.tab-panel' },
    { name: 'keys', path: '/keys', ready: 'tbody tr' },
    { name: 'settings', path: '/settings', ready: '.figure' },
    { name: 'nowhere', path: '/no/such/page', ready: '.empty' },
  ];

  // Side by side, each in a browser window of its own.
  t.jobs = 2;
  const views = [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const;
  const looked = views.map(([view, viewport]) =>
    t.test(`axe, ${view}, light and dark: nothing serious on any page, and each fits`, async (t) => {
      const sight = await dashboard.open({ viewport });
      await bringAxe(sight);
      await sight.context.addCookies(cookies);
      const { page } = sight;
      for (const { name, path, ready } of PAGES) {
        await page.goto(`${url}${path}`);
        await page.locator(`main ${ready}`).first().waitFor();
        await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          // Measured when it is drawn.
          await page.evaluate(
            'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
          );
          await picture(page, `${name}-${view}-${colorScheme}`);
          t.same(await axe(page), [], `${name}, ${colorScheme}`);
        }
        const [wide, has] = (await page.evaluate(
          '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
        )) as [number, number];
        t.ok(wide <= has, `${name} fits: ${wide} of ${has} pixels`);
        t.equal(await page.locator('main h1').count(), 1, `${name}: one heading`);
      }
      t.same(sight.problems(), []);
      await sight.context.close();
    }),
  );
  await Promise.all(looked);
  t.jobs = 1;

  await t.test('axe: the dialogs and the pages before one is signed in', async (t) => {
    const sight = await dashboard.open();
    await bringAxe(sight);
    const { page } = sight;
    for (const path of ['/', '/setup', '/setup#a-token']) {
      await page.goto(`${url}${path}`);
      await page.locator('main.alone h1').waitFor();
      t.same(await axe(page), [], path);
      await page.goto('about:blank');
    }
    await sight.context.addCookies(cookies);
    for (const [path, opener, title] of [
      [`/agents/${agent.id}`, 'Place a call', 'Call as Front desk'],
      ['/webhooks', 'New endpoint', 'New endpoint'],
      ['/keys', 'New key', 'New API key'],
      ['/live', 'Hang up', 'Hang up this call?'],
    ] as const) {
      await page.goto(`${url}${path}`);
      const button = page.getByRole('button', { name: opener, exact: true }).first();
      await button.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      t.same(await axe(page), [], title);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await until('the focus to be back', async () => (await focused(page)) === opener);
    }
    t.same(sight.problems(), []);
    await sight.context.close();
  });

  await t.test('on a phone the menu opens every page', async (t) => {
    const sight = await dashboard.open({ viewport: PHONE, hasTouch: true });
    await sight.context.addCookies(cookies);
    const { page } = sight;
    await page.goto(url);
    for (const name of ['Webhooks', 'API keys', 'Settings', 'Numbers']) {
      await page.getByRole('button', { name: 'More' }).tap();
      await page.getByRole('dialog', { name: 'Offhook' }).getByRole('link', { name }).tap();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await page.getByRole('navigation', { name: 'Main, short' }).getByRole('link', { name: 'Calls' }).tap();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    t.same(sight.problems(), []);
    await sight.context.close();
  });

  await t.test('colours chosen by hand hold, whatever the system says', async (t) => {
    const sight = await dashboard.open({ colorScheme: 'light' });
    await sight.context.addCookies(cookies);
    const { page } = sight;
    await page.goto(url);
    const ground = () => page.evaluate('getComputedStyle(document.body).color');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const light = await ground();
    await page.getByRole('radio', { name: 'Dark' }).check();
    await until('dark', async () => (await ground()) !== light);
    const dark = await ground();
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    t.equal(await ground(), dark, 'kept');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('radio', { name: 'Light' }).check();
    await until('light', async () => (await ground()) === light);
    t.same(sight.problems(), []);
    await sight.context.close();
  });

  for (const [path, ready, most] of [
    ['/calls', 'tbody tr', 90],
    ['/live', '.live-table tbody tr', 90],
    [`/agents/${agent.id}`, '.agent-panes', 130],
  ] as const)
    await t.test(
      `what loading ${path.replace(agent.id, ':id')} costs: few bytes, all from here, near the time of the bare files`,
      async (t) => {
        const sight = await dashboard.open();
        await sight.context.addCookies(cookies);
        const { page } = sight;
        await page.goto(`${url}${path}`);
        await page.locator(ready).first().waitFor();
        const told = (await page.evaluate(`(() => {
      const [visit] = performance.getEntriesByType('navigation');
      const paints = performance.getEntriesByType('paint');
      const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'));
      return {
        loadedMs: visit.domContentLoadedEventEnd,
        paintMs: paints.find(({ name }) => name === 'first-contentful-paint')?.startTime ?? 0,
        files: files.map(({ name, transferSize }) => ({ name, transferSize })),
        pageBytes: visit.transferSize,
      };
    })()`)) as {
          loadedMs: number;
          paintMs: number;
          files: { name: string; transferSize: number }[];
          pageBytes: number;
        };
        // The floor: the same files by the same connection limits, without a browser.
        const from = performance.now();
        await fetch(`${url}${path}`, { headers: { accept: 'text/html' } }).then((answer) => answer.text());
        const names = told.files.map(({ name }) => name);
        for (let at = 0; at < names.length; at += 6) {
          await Promise.all(
            names.slice(at, at + 6).map((name) => fetch(name).then((answer) => answer.arrayBuffer())),
          );
        }
        const floorMs = performance.now() - from;
        const bytes = told.pageBytes + told.files.reduce((sum, one) => sum + one.transferSize, 0);
        t.comment(
          `note: ${path} from nothing: ${told.files.length} files, ${bytes} bytes; loaded after ${Math.round(told.loadedMs)} ms, first paint after ${Math.round(told.paintMs)} ms; the bare files take ${Math.round(floorMs)} ms`,
        );
        t.ok(told.files.length > 10 && told.files.length <= most, `${told.files.length} files`);
        t.ok(bytes > 20_000 && bytes < 300_000, `${bytes} bytes over the wire`);
        t.ok(told.loadedMs < 50 * floorMs, `loaded: ${told.loadedMs} ms, the bare files: ${floorMs} ms`);
        t.ok(told.paintMs > 0 && told.paintMs < 50 * floorMs, `seen: ${told.paintMs} ms`);

        await page.reload();
        await page.locator(ready).first().waitFor();
        const again = (await page.evaluate(
          `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).reduce((sum, { transferSize }) => sum + transferSize, 0)`,
        )) as number;
        t.equal(again, 0, 'the second time no file is fetched again');
        await sight.context.close();
      },
    );

  await t.test('by keyboard alone: the main act of every page can be reached', async (t) => {
    const { page } = desk;
    for (const [path, act] of [
      ['/live', /^Hang up/],
      ['/calls', /555 0123/],
      [`/calls/${over.id}`, /^Play$/],
      ['/agents', /^New agent/],
      ['/agents/new', /^Receptionist/],
      [`/agents/${agent.id}`, /^Start the call/],
      ['/numbers', /^Buy a number/],
      ['/numbers/buy', /^Search$/],
      ['/webhooks', /^New endpoint/],
      [`/webhooks/${endpoint.body.id}`, /^Send a test/],
      ['/keys', /^New key/],
      ['/account', /^Change the password/],
    ] as const) {
      await page.goto(`${url}${path}`);
      await page.locator('main h1').waitFor();
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      const presses = await tabTo(page, act, 80);
      t.ok(presses > 0, `${path}: ${act.source} after ${presses} presses of Tab`);
    }
    t.same(desk.problems(), []);
  });

  t.comment(`note: pictures of the pages: ${relative(process.cwd(), PICTURES)}`);
});
