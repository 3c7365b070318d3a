// Watching a daemon from outside: a trace of a real call at a collector, a board whose every metric is there, alerts set and
// tested on their page, and told when something is wrong.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { openPostOffice } from '../control/alerts/post-office.ts';
import { axe, bringAxe, openDashboard, PHONE, picture } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { POLITE, until } from './rig.ts';

interface Board {
  panels: {
    id: number;
    type: string;
    gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
    targets?: { expr: string }[];
  }[];
}

/** The metrics that an expression of PromQL asks for, without what a histogram or summary adds to its name. */
const metricsOf = (expr: string) =>
  [...expr.matchAll(/\b((?:offhook|process|nodejs)_[a-z0-9_]+)/g)].map(([, name = '']) => name);

t.test('watching', { skip: NO_CHROMIUM }, async (t) => {
  const spans: { name: string; traceId: string; attributes: { key: string }[] }[] = [];
  const collector = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    for (const { scopeSpans } of JSON.parse(Buffer.concat(chunks).toString()).resourceSpans)
      for (const scope of scopeSpans) spans.push(...scope.spans);
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((listening) => collector.listen(0, '127.0.0.1', listening));
  const office = await openPostOffice();
  t.teardown(() => Promise.all([office.close(), new Promise((closed) => collector.close(closed))]));
  const dashboard = await openDashboard(t, {
    carrier: { callees: { '+14155550177': POLITE } },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      SMTP_URL: `smtp://127.0.0.1:${office.port}`,
      SMTP_FROM: 'Offhook <alerts@example.com>',
    },
  });
  const { rig, url } = dashboard;
  const { lab } = rig;
  const agent = await rig.agent({ name: 'Reminder', instructions: 'TEST-BRIEF' });
  const call = await rig.dial(agent.id, '+14155550177');
  const alertsReceived = (type: string) =>
    lab.received.filter(({ body }) => String(JSON.parse(String(body)).type) === type);

  await t.test('a call that is over arrives as a trace, with its turns and the model in them', async (t) => {
    await rig.ended(call.id);
    await until('the trace', async () => spans.length > 0);
    const names = spans.map(({ name }) => name);
    for (const name of ['call outbound', 'ring', 'talk', 'turn greeting', 'turn answer', 'model request'])
      t.ok(names.includes(name), `${name} among ${names.join(', ')}`);
    t.same([...new Set(spans.map(({ traceId }) => traceId))], [call.id.replaceAll('-', '')]);
    const said = await rig.transcript(call.id);
    const sent = JSON.stringify(spans);
    for (const { role, text } of said)
      if (role !== 'tool' && text.length > 12) t.notOk(sent.includes(text), text);
    t.notOk(sent.includes('4155550177'), 'no number');
  });

  await t.test(
    'every metric of the board for Grafana is there, and every one of ours is on it',
    async (t) => {
      const board = JSON.parse(
        readFileSync(resolve(import.meta.dirname, '../../docs/grafana.json'), 'utf8'),
      ) as Board;
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${lab.apiKey}` } });
      const types = new Map(
        [...(await answer.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [
          name,
          type,
        ]),
      );
      t.ok(types.size > 50, `${types.size} metrics`);
      const shown = new Set<string>();
      for (const { targets = [] } of board.panels) {
        for (const { expr } of targets) {
          for (const name of metricsOf(expr)) {
            const base = name.replace(/_(bucket|sum|count)$/, '');
            const own = types.has(name) ? name : base;
            shown.add(own);
            if (!types.has(own)) t.fail(`there is no ${name}: ${expr}`);
            else if (own !== name) t.equal(types.get(own), 'histogram', name);
            if (/rate\(/.test(expr) && types.get(own) === 'gauge' && !/frames/.test(own))
              t.fail(`rate of ${own}`);
          }
        }
      }
      const missing = [...types.keys()].filter((name) => name.startsWith('offhook_') && !shown.has(name));
      t.same(missing, []);
      const { panels } = board;
      t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids');
      for (const [at, { gridPos: a }] of panels.entries())
        for (const { gridPos: b } of panels.slice(at + 1))
          if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
            t.fail(`panels lie over each other at ${a.x}, ${a.y}`);
    },
  );

  const sight = await dashboard.signedIn();
  const { page } = sight;
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  await t.test('alerts: nobody is told, then two ways are, each by a test', async (t) => {
    await page
      .getByRole('navigation', { name: 'Main', exact: true })
      .getByRole('link', { name: 'Alerts' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
    await page.getByText('shown on this page alone').waitFor();
    t.ok(await button('Send a test').isDisabled());
    await page.getByRole('textbox', { name: 'Webhook' }).fill('somewhere');
    await button('Save').click();
    await page.getByText('Write the address in full').waitFor();
    await page.getByRole('textbox', { name: 'Webhook' }).fill(lab.receiverUrl);
    await page.getByRole('textbox', { name: 'E-mail' }).fill('ops@example.com');
    await button('Save').click();
    await page.getByText('Send a test to see that it arrives').waitFor();
    await button('Send a test').click();
    await page.getByText('E-mail: it was taken').waitFor();
    const [received] = alertsReceived('alert.test');
    const secret = await lab.api<{ secret: string }>('POST', '/v1/webhook_secret/rotate');
    t.equal(office.letters.length, 1);
    t.match(office.letters[0]?.text, /A test of your alerts/);
    t.ok(received?.headers['webhook-signature']);
    await button('Send a test').click();
    await until('the second', async () => alertsReceived('alert.test').length === 2);
    const second = alertsReceived('alert.test')[1];
    new Webhook(secret.body.secret).verify(String(second?.body), second?.headers ?? {});
  });

  await t.test('a rule that is wrong at once is told, shown, and told again when it is well', async (t) => {
    await page.getByRole('checkbox', { name: 'The disk fills up' }).check();
    await page.getByLabel('Megabytes free').fill('9000000');
    await page.getByLabel('Minutes it must last').last().fill('0');
    await button('Save the rules').click();
    await page.getByText('looks twice a minute').waitFor();
    await until('the alert', async () => alertsReceived('alert.firing').length === 1);
    await until('the letter', async () =>
      office.letters.some(({ text }) => /Subject: .*The disk fills up/.test(text)),
    );
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'The disk fills up' }).getByText('Wrong').waitFor();
    await page.locator('.alert-rule').filter({ hasText: 'The disk fills up' }).getByText('Firing').waitFor();
    await bringAxe(sight);
    for (const viewport of [{ width: 1440, height: 1000 }, PHONE]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        // Drawn anew: no colour is half way to another.
        await page.reload();
        await page.locator('.alert-rule').first().waitFor();
        t.same(await axe(page), [], `${viewport.width}, ${colorScheme}`);
        const wide = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
        t.ok(wide <= 0, `it fits ${viewport.width}`);
        await picture(page, `alerts-firing-${viewport.width}-${colorScheme}`, true);
      }
    }
    await page.setViewportSize({ width: 1440, height: 1000 });
    await page.goto(url);
    await page.locator('canvas').first().waitFor();
    await picture(page, 'overview-firing');
    await page
      .locator('.note')
      .filter({ hasText: 'The disk fills up' })
      .getByRole('link', { name: 'Alerts' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
    await page.getByLabel('Megabytes free').fill('1');
    await button('Save the rules').click();
    await until('its end', async () => alertsReceived('alert.resolved').length === 1);
    t.equal(alertsReceived('alert.firing').length, 1, 'once');
  });
  t.same(sight.problems(), []);
});
