// A person's first hour with the dashboard, in a real browser against the running daemon: the printed link, an agent, a
// number, a call seen live, its page. Each step stands on the one before.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { PublicCall } from '../../storage/call-view.ts';
import {
  choosePassword,
  type Dashboard,
  focused,
  openDashboard,
  PASSWORD,
  picture,
  type Sight,
  section,
  signIn,
  tabTo,
} from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';

/** Who cuts in while the agent greets. */
const HASTY = '+14155550123';
/** Who listens and says nothing. */
const PATIENT = '+14155550199';

/** As the page shows a wait; worked out here once more. */
const shown = (ms: number) => (ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

t.test('the first hour', { skip: NO_CHROMIUM }, async (t) => {
  const asked: unknown[] = [];
  const office = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      asked.push(JSON.parse(body));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'confirmed for Tuesday' }));
    });
  });
  await new Promise<void>((ready) => office.listen(0, '127.0.0.1', ready));
  t.teardown(() => office.close());
  const officeUrl = `http://127.0.0.1:${(office.address() as AddressInfo).port}/appointments`;

  const human = { verdict: 'human', afterMs: 2_000 } as const;
  const files = t.testdir({ 'models.json': JSON.stringify({ second: { model: 'gpt-realtime-2.1' } }) });
  const dashboard: Dashboard = await openDashboard(t, {
    env: { MODELS_FILE: join(files, 'models.json') },
    carrier: {
      callees: {
        [HASTY]: {
          ringMs: 1_000,
          steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 3_000 }],
          amd: human,
        },
        [PATIENT]: { ringMs: 500, steps: [{ do: 'wait', ms: 120_000 }], amd: human },
      },
    },
  });
  const { rig, url } = dashboard;
  const { lab } = rig;
  const sight: Sight = await dashboard.open();
  const { page } = sight;
  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const menu = page.getByRole('navigation', { name: 'Main', exact: true });
  const go = async (name: string) => {
    await menu.getByRole('link', { name: new RegExp(`^${name}`) }).click();
    await heading(name).waitFor();
  };
  const tab = (name: string) => page.getByRole('tab', { name });
  const toast = (text: string | RegExp) => page.getByRole('status').getByText(text).first().waitFor();
  let agentId = '';
  let callId = '';

  await t.test('the printed link sets the password, once; the password opens it', async (t) => {
    t.ok(dashboard.link.startsWith(`${url}/setup#`), 'the link leads to the daemon itself');
    await page.goto(url);
    await heading('Set up the dashboard').waitFor();
    await page.goto('about:blank');
    await page.goto(dashboard.link);
    await heading('Choose a password').waitFor();
    // What the page does last is seen a moment later.
    await page.waitForURL((at) => at.hash === '');
    await choosePassword(page, 'short');
    await page.getByText('Use 10 characters at least.').waitFor();
    await choosePassword(page, PASSWORD);
    await heading('Overview').waitFor();

    await button('Sign out').click();
    await heading('Sign in').waitFor();
    sight.expect(/401.*\/login|status of 401/);
    await signIn(page, 'not the password');
    await page.getByText('This is not the password.').waitFor();
    t.equal(await page.getByLabel('Password', { exact: true }).getAttribute('aria-invalid'), 'true');
    await signIn(page, PASSWORD);
    await heading('Overview').waitFor();

    const other = await dashboard.open();
    other.expect(/403/);
    await other.page.goto(dashboard.link);
    await choosePassword(other.page, 'another quiet password');
    await other.page.getByText('This link has been used').waitFor();
    t.same(other.problems(), []);
    await other.context.close();
    await page.reload();
    await heading('Overview').waitFor();
  });

  await t.test('where there is nothing yet, every page says what comes next', async () => {
    await section(page, 'First steps').waitFor();
    await section(page, 'Health').getByText('Working').first().waitFor();
    await picture(page, 'overview-empty');
    for (const [name, words] of [
      ['Live', 'No call is on the line.'],
      ['Calls', 'No calls yet.'],
      ['Agents', 'No agents yet'],
      ['Numbers', 'No numbers yet'],
      ['Webhooks', 'No endpoints yet'],
    ] as const) {
      await go(name);
      await page.getByText(words).waitFor();
      await until(`${name} in the title`, async () => (await page.title()).startsWith(name));
    }
  });

  await t.test(
    'an agent: begun from a template or nothing, table and JSON in step, a tool, saved as it was entered',
    async (t) => {
      await go('Overview');
      await section(page, 'First steps').getByRole('link', { name: 'Create an agent' }).click();
      await heading('New agent').waitFor();
      await page.getByRole('link', { name: 'Reminder' }).click();
      await page.getByText(/Still yours to fill in: \d+ places?/).waitFor();
      t.match(await page.getByRole('textbox', { name: 'Instructions' }).inputValue(), /appointment/);
      await page.goBack();
      await page.getByRole('link', { name: 'From nothing' }).click();
      await tab('Advanced').click();
      await button('Create agent').click();
      await until('the focus at what is missing', async () => /^Name/.test(await focused(page)));
      await page.getByRole('radio', { name: /Places calls/ }).check();
      await page.getByLabel('Name', { exact: true }).first().fill('Front desk');
      await page
        .getByRole('textbox', { name: 'Instructions' })
        .fill('TEST-FRONT-DESK Confirm the appointment.');
      await page.locator('select[name=language]').selectOption({ label: 'German – Deutsch' });
      await page.locator('select[name=language]').selectOption('');

      await tab('Advanced').click();
      const model = page.locator('select[name=model]');
      await model.selectOption('second');
      t.same(await model.locator('option').allInnerTexts(), ['the default (gpt-realtime-2.1)', 'second']);
      await page.locator('select[name=patience]').selectOption('long');
      await page.getByLabel(/^Webhook URL/).fill(lab.receiverUrl);
      await tab('Instructions').click();
      await page.locator('select[name=voice]').selectOption('cedar');

      await tab('Results').click();
      const returns = section(page, 'What it brings back');
      const as = (name: string) => returns.getByRole('radio', { name }).check();
      const json = returns.getByLabel('Results as JSON');
      await returns.getByRole('button', { name: 'Add field' }).click();
      await returns.getByLabel('Name of field 1').fill('said_goodbye');
      await returns.getByLabel('Type of field 1').selectOption('boolean');
      await as('JSON');
      t.same(JSON.parse(await json.inputValue()), { said_goodbye: 'boolean' }, 'the JSON follows the table');
      await json.fill('{ "said_goodbye": "boolean", "status": ');
      t.ok(await returns.getByRole('radio', { name: 'Table' }).isDisabled(), 'the table waits for the JSON');
      await json.fill('{ "said_goodbye": "boolean", "status": "string" }');
      await as('Table');
      t.equal(
        await returns.getByLabel('Name of field 2').inputValue(),
        'status',
        'and the table follows the JSON',
      );

      await tab('Tools').click();
      const tools = section(page, 'What it may do');
      await tools.getByRole('button', { name: 'Request to your system' }).click();
      await tools.getByLabel('Name', { exact: true }).fill('find_appointment');
      await tools.getByLabel('What it does and when to use it').fill('Finds the appointment of a day.');
      await tools.getByLabel('Method').selectOption('POST');
      await tools.getByLabel('URL', { exact: true }).fill(officeUrl);
      await tools.getByRole('button', { name: 'Add parameter' }).click();
      await tools.getByLabel('Name of parameter 1').fill('day');
      await picture(page, 'agent-new');
      await button('Create agent').click();
      await heading('Front desk').waitFor();
      agentId = new URL(page.url()).pathname.split('/')[2] ?? '';
      const { body } = await lab.api('GET', `/v1/agents/${agentId}`);
      t.match(body, {
        name: 'Front desk',
        type: 'outbound',
        model: 'second',
        voice: 'cedar',
        patience: 'long',
        eagerness: 'normal',
        instructions: 'TEST-FRONT-DESK Confirm the appointment.',
        returns: { said_goodbye: 'boolean', status: 'string' },
        webhook_url: lab.receiverUrl,
        tools: [{ type: 'http', name: 'find_appointment', method: 'POST', url: officeUrl }],
      });
      // Something unsaved is not lost by a slip.
      await tab('Instructions').click();
      await page.getByLabel('Name', { exact: true }).first().fill('Changed');
      await menu.getByRole('link', { name: 'Calls' }).click();
      await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
      await page.keyboard.press('Escape');
      await button('Discard').click();
      t.equal(await page.getByLabel('Name', { exact: true }).first().inputValue(), 'Front desk');
    },
  );

  await t.test('a number: searched, its price seen, bought, attached', async (t) => {
    await go('Numbers');
    await page.getByRole('link', { name: 'Buy a number' }).first().click();
    await heading('Buy a number').waitFor();
    await page.getByLabel(/^Area code/).fill('415');
    await button('Search').click();
    const offers = page.getByRole('table', { name: 'Numbers on offer' });
    await offers
      .getByRole('button', { name: /^Buy \+1 415/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: /^Buy \+1 415/ });
    await dialog.getByText(/The carrier charges \$\d+\.\d\d a month/).waitFor();
    t.same((await lab.api<{ data: unknown[] }>('GET', '/v1/numbers')).body.data, [], 'nothing is bought yet');
    await dialog.getByRole('button', { name: /^Buy for \$\d/ }).click();
    await heading('Numbers').waitFor();
    const table = page.getByRole('table', { name: 'Your numbers' });
    await table.getByText('Not in use').waitFor();
    const owned = (await lab.api<{ data: { e164: string }[] }>('GET', '/v1/numbers')).body.data;
    t.match(owned, [{ e164: /^\+1415/ }]);

    await page.goto(`${url}/agents/${agentId}`);
    await page.getByText('It has no number to call from.').waitFor();
    await tab('Numbers').click();
    const numbers = section(page, 'Numbers');
    await numbers.getByLabel('Attach a number').selectOption({ index: 1 });
    await numbers.getByRole('button', { name: 'Attach' }).click();
    await numbers.getByText('main').waitFor();
    t.match((await lab.api('GET', `/v1/agents/${agentId}`)).body, { numbers: [{ e164: owned[0]?.e164 }] });
  });

  await t.test('a call is placed from the dialog, which holds the focus and gives it back', async (t) => {
    const place = button('Place a call');
    await place.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Call as Front desk' });
    await dialog.waitFor();
    t.match(await focused(page), /Whom to call/, 'the first field has the focus');
    for (let presses = 0; presses < 25; presses++) {
      await page.keyboard.press('Tab');
      const inside = await page.evaluate(
        `document.activeElement === document.body || document.activeElement.closest('dialog[open]') !== null`,
      );
      if (!inside) t.fail(`Tab left the dialog for ${await focused(page)}`);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until('the focus to be back', async () => (await focused(page)) === 'Place a call');
    await page.keyboard.press('Enter');
    await page.keyboard.type('415');
    await page.keyboard.press('Enter');
    await dialog.getByText('A number with its country code').waitFor();
    await dialog.getByLabel('Whom to call').fill(HASTY);
    await dialog.getByRole('button', { name: 'Call now' }).click();
    await heading(/^Call to \+1 415 555 0123/).waitFor();
    callId = new URL(page.url()).pathname.split('/')[2] ?? '';
    t.match(await rig.call(callId), { to_number: HASTY, agent_id: agentId });
  });

  await t.test('Live: who speaks, the words of both as they come, latency; then it is gone', async (t) => {
    await menu.getByRole('link', { name: /^Live/ }).click();
    const card = page.getByRole('article', { name: 'Call to +1 415 555 0123' });
    await card.getByText('On the line').waitFor();
    await card.getByText('Front desk').waitFor();
    const row = page
      .getByRole('table', { name: 'Calls on the line' })
      .getByRole('row', { name: /0123.*Front desk/ });
    await row.getByText(/Agent speaks|Other side speaks/).waitFor();
    const words = card.getByRole('list', { name: 'Transcript' });
    await words.getByText(/Hello, this is the automated assistant/).waitFor();
    await card.getByText(/The agent speaks|The other side speaks/).waitFor();
    t.equal((await rig.call(callId)).status, 'in_progress', 'seen while it goes on');
    await words.locator('del').first().waitFor();
    await words.getByText(/Thank you for trying out/).waitFor();
    await words.getByText(/I will look that up for you/).waitFor();
    await card.getByText(/^\d+ ms$|^\d\.\d\d s$/).waitFor();
    await picture(page, 'live');
    await page.getByText('No call is on the line.').waitFor();
    t.match(await rig.ended(callId), { status: 'completed', hangup_cause: 'agent_ended' });
    t.same(asked, [{ day: 'Tuesday' }], 'the tool was asked');
  });

  await t.test('Live: a call is hung up from here, after a question', async (t) => {
    const { id } = await rig.dial(agentId, PATIENT);
    const card = page.getByRole('article', { name: 'Call to +1 415 555 0199' });
    await card.getByText('On the line').waitFor();
    await menu.getByRole('link', { name: /^Live 1 now/ }).waitFor();
    await card.getByRole('button', { name: 'Hang up' }).click();
    const question = page.getByRole('dialog', { name: 'Hang up this call?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    t.equal((await rig.call(id)).status, 'in_progress', 'no harm done by asking');
    await card.getByRole('button', { name: 'Hang up' }).click();
    await question.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('No call is on the line.').waitFor();
    t.match(await rig.ended(id), { status: 'completed', hangup_cause: 'hangup_requested' });
  });

  await t.test('Calls: found by number, by words, by filter; the address keeps the view', async (t) => {
    await go('Calls');
    const rows = page.getByRole('table', { name: 'Calls, newest first' }).getByRole('row');
    const count = (wanted: number) =>
      until(`${wanted} calls in the list`, async () => (await rows.count()) === wanted + 1);
    await count(2);
    const search = page.getByRole('search', { name: 'Calls' });
    await search.getByLabel('Search').fill('0123');
    await count(1);
    await search.getByLabel('Search').fill('look that up');
    await page.waitForURL(/search=look/);
    await rows.getByText('+1 415 555 0123').waitFor();
    await count(1);
    await search.getByLabel('Search').fill('nobody ever said this');
    await page.getByText('No call fits.').waitFor();
    await page.getByRole('link', { name: 'Show all calls' }).click();
    await count(2);
    await search.getByLabel('Status').selectOption('failed');
    await page.getByText('No call fits.').waitFor();
    await search.getByLabel('Status').selectOption('completed');
    await count(2);
    await page.getByText('2 telephone calls').waitFor();
    const told = await rows.locator('.outcome').allInnerTexts();
    t.ok(told.length === 2 && told.every((text) => !/_|^Completed/.test(text)), told.join('; '));
    t.match(await rows.locator('.outcome').first().getAttribute('title'), /^completed, \w+/);
    await picture(page, 'calls');
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Our number' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Our number' }).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    const saved = await readFile(await (await saving).path(), 'utf8');
    t.match(saved, /^\uFEFFid,created_at,direction/);
    t.equal(saved.trimEnd().split('\r\n').length, 3, 'the calls that fit, below their names');
    await page.reload();
    await page.getByRole('columnheader', { name: 'Our number' }).waitFor();
    await count(2);
    t.equal(await search.getByLabel('Status').inputValue(), 'completed', 'kept in the address');
    await search.getByLabel('Search').fill('0123');
    await count(1);
    await rows.getByRole('link').first().click();
    await heading(/^Call to \+1 415 555 0123/).waitFor();
  });

  await t.test('from anywhere to anywhere: Ctrl K and "/" find pages, agents and calls', async () => {
    const field = page.getByRole('combobox', { name: /^Page, agent/ });
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    await page.keyboard.press('Control+k');
    await field.fill('over');
    await page.keyboard.press('Enter');
    await heading('Overview').waitFor();
    await page.keyboard.press('/');
    await field.fill('front');
    await option(/^Front desk/).click();
    await page.waitForURL(/\/agents\/[\w-]+$/);
    await page.locator('textarea[name=instructions]').press('/');
    await field.waitFor({ state: 'detached' });
    await page.locator('textarea[name=instructions]').press('Backspace');
    await page.keyboard.press('Control+k');
    await field.fill('0123');
    await option(/^To \+1 415 555 0123/).waitFor();
    await picture(page, 'go-to');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await field.fill(callId);
    await option(/^To \+1 415 555 0123/).waitFor();
    await page.keyboard.press('Enter');
    await heading(/^Call to \+1 415 555 0123/).waitFor();
  });

  await t.test("the call's page: sound and words lead to each other, heard and cut told apart", async (t) => {
    const transcript = page.getByRole('list', { name: 'Transcript' });
    const cut = (await rig.transcript(callId)).find((line) => line.interrupted);
    t.ok(cut !== undefined, 'the agent was interrupted');
    const struck = (await transcript.locator('del').first().textContent())?.trim() ?? '';
    t.ok(struck.length > 10 && cut?.text.trimEnd().endsWith(struck), 'what was cut is struck');
    t.notOk(cut?.heard_text.includes(struck), 'and nothing that was heard');
    await transcript.getByText('find_appointment').waitFor();
    await transcript.getByText('What was asked and answered').click();
    await transcript.getByText('confirmed for Tuesday').first().waitFor();

    const recording = section(page, 'Recording');
    const slider = recording.getByLabel('Position in the recording');
    await recording.locator('.waves').waitFor();
    const at = async () => Number(await slider.inputValue());
    t.equal(await at(), 0);
    await recording.getByRole('button', { name: 'Play' }).click();
    await until('the sound to advance', async () => (await at()) >= 1);
    await picture(page, 'call-whole', true);
    const lines = await rig.transcript(callId);
    const last = lines.at(-1);
    await transcript
      .getByRole('button', { name: /^Play from/ })
      .nth(lines.length - 1)
      .click();
    const lastSecond = Math.floor((last?.start_ms ?? 0) / 1000);
    await until('the sound at the last line', async () => (await at()) >= lastSecond);
    await transcript
      .locator('li[aria-current=true]')
      .getByText(/I have found your appointment/)
      .waitFor();
    await picture(page, 'call-playing');
    const pause = recording.getByRole('button', { name: 'Pause' });
    if (await pause.isVisible()) await pause.click().catch(() => {});
  });

  await t.test('turns and their waits are the figures of the API', async (t) => {
    interface Turns {
      data: { latency_ms: number | null; parts: Record<string, number | null> }[];
    }
    const { body } = await lab.api<Turns>('GET', `/v1/calls/${callId}/turns`);
    const turns = section(page, 'Turns and latency');
    t.equal(
      await turns
        .getByRole('list', { name: /^Waits of the turns/ })
        .getByRole('listitem')
        .count(),
      body.data.length,
    );
    await turns.getByRole('radio', { name: 'Table' }).check();
    const rows = turns.getByRole('table').getByRole('row');
    t.equal(await rows.count(), body.data.length + 1);
    for (const [index, turn] of body.data.entries()) {
      const cells = await rows
        .nth(index + 1)
        .getByRole('cell')
        .allInnerTexts();
      const waits = Object.values(turn.parts).map((ms) => (ms === null ? '–' : shown(ms)));
      t.same(cells.slice(1, -1).sort(), waits.sort(), `the parts of turn ${index + 1}`);
      if (turn.latency_ms !== null) t.equal(cells.at(-1)?.trim(), shown(turn.latency_ms));
    }
    t.ok(
      body.data.some(({ latency_ms }) => latency_ms !== null),
      'something was measured',
    );
    await turns.getByRole('radio', { name: 'Bars' }).check();
  });

  await t.test('result, cost, events with their attempts; one is sent again', async (t) => {
    const call = await rig.call(callId);
    t.match(call.result, { said_goodbye: true, status: 'confirmed for Tuesday' });
    const result = section(page, 'Result');
    await result.getByText('confirmed for Tuesday').waitFor();
    await result.getByText('yes', { exact: true }).waitFor();
    await section(page, 'Cost').getByText('Speech model').waitFor();
    const money = (milliCents: number) => `$${(milliCents / 100_000).toFixed(3)}`;
    const total = call.cost?.total_milli_cents ?? 0;
    t.ok(total > 0);
    const { length } = await section(page, 'Cost').getByText(money(total).slice(0, 5)).all();
    t.ok(length > 0, `the cost of the API: ${money(total)}`);

    const timeline = section(page, 'Timeline');
    for (const type of ['call.queued', 'call.ringing', 'call.answered', 'call.completed'])
      await timeline.getByText(type, { exact: true }).waitFor();
    await timeline.getByText('Tool find_appointment answered').waitFor();
    await timeline.getByRole('button', { name: /^What was sent and answered: call\.completed to/ }).click();
    await timeline.getByRole('list', { name: 'Attempts of this delivery' }).getByText('204').waitFor();
    await timeline.getByLabel('Body').getByText(`"id": "${callId}"`).waitFor();
    await timeline.getByText('Service-Event-Type: call.completed').waitFor();
    const ends = () =>
      lab.received.filter(
        ({ headers, body }) =>
          headers['service-event-type'] === 'call.completed' &&
          (JSON.parse(body) as PublicCall).id === callId,
      );
    t.equal(ends().length, 1);
    await timeline.getByRole('button', { name: /^Redeliver call\.completed to/ }).click();
    await toast(/call\.completed is being sent again/);
    const [first, again] = await until('the same again at the receiver', () =>
      ends().length > 1 ? ends() : null,
    );
    t.equal(again?.body, first?.body, 'byte for byte');
    t.equal(again?.headers['service-event-id'], first?.headers['service-event-id']);
    t.ok(again?.headers['service-replay'], 'marked');
    await picture(page, 'call-events');
  });

  await t.test('the reference is found in, copied from, and shows the SDK', async (t) => {
    const { page: docs, problems } = await dashboard.another(sight);
    await docs.goto(`${url}/docs`);
    await docs.keyboard.press('/');
    await docs.getByRole('searchbox').fill('hang up live');
    await docs.getByRole('link', { name: /hangup End a live call/ }).click();
    t.equal(new URL(docs.url()).hash, '#hangUpCall');
    const operation = docs.locator('section.op', { has: docs.locator('#hangUpCall') });
    await operation.getByText('curl -s -X POST').waitFor();
    await docs.getByRole('radio', { name: 'TypeScript' }).check();
    await operation.getByText('await offhook.calls.hangup(callId)').waitFor();
    await operation.getByText('curl -s -X POST').waitFor({ state: 'hidden' });
    await operation.getByRole('button', { name: 'Copy this example' }).last().click();
    await operation.getByText(/^(Copied|Selected)$/).waitFor();
    await picture(docs, 'reference');
    t.same(problems(), []);
    await docs.close();
  });

  await t.test('Overview: the figures of the calls that were made', async () => {
    await go('Overview');
    await page.getByRole('definition').getByText('2', { exact: true }).first().waitFor();
    await page.getByText('0 in, 2 out').waitFor();
    await page.locator('canvas').first().waitFor();
    await page.getByRole('radio', { name: '7 days' }).check();
    await until('the range in the address', () => page.url().endsWith('range=7d'));
    await picture(page, 'overview');
  });

  await t.test('by keyboard alone, from the top of the page to a call and back', async (t) => {
    await page.goto(url);
    await heading('Overview').waitFor();
    await page.keyboard.press('Tab');
    t.equal(await focused(page), 'Skip to the content');
    await tabTo(page, /^Calls/);
    await page.keyboard.press('Enter');
    await heading('Calls').waitFor();
    t.equal(await focused(page), 'Calls', 'the heading has the focus');
    await tabTo(page, /^Search/);
    await page.keyboard.type('0199');
    await until('one call', async () => (await page.getByRole('row').count()) === 2);
    await tabTo(page, /555 0199/);
    await page.keyboard.press('Enter');
    await heading(/0199/).waitFor();
    await page.goBack();
    await heading('Calls').waitFor();
  });

  await t.test('nothing in the console, nothing asked of another host, no request failed', async (t) => {
    t.same(sight.problems(), []);
    t.ok(sight.asked.length > 100, `${sight.asked.length} requests`);
  });
});
