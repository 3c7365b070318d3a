// The dashboard in a real browser, for tests: the lab, Chromium, and pages that are watched all the time for what nobody
// should see: errors in the console, failed requests, a request to another host.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import type { SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import { openChromium } from './chromium.ts';
import { openRig, type Rig, until } from './rig.ts';

export const PASSWORD = 'a quiet line of bluebirds';
export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** Where pictures of the pages are kept. */
export const PICTURES = resolve(import.meta.dirname, '../../test-artifacts/dashboard');
/** A busy machine takes its time; what is waited for is seen at once on an idle one. */
const PATIENCE_MS = 45_000;
const SCENARIOS = join(import.meta.dirname, 'scenarios');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A window of the browser, watched. */
export interface Sight {
  page: Page;
  context: BrowserContext;
  /** Every address that was asked for. */
  asked: string[];
  /** What went wrong and was not expected. */
  problems(): string[];
  /** A test provokes this: a refusal, which the browser tells of in its console. */
  expect(what: RegExp): void;
}

export interface Dashboard {
  rig: Rig;
  browser: Browser;
  /** Where it is. */
  url: string;
  /** The link that the daemon printed at its first start. */
  link: string;
  /** A window of its own, with its own cookies. */
  open(o?: BrowserContextOptions): Promise<Sight>;
  /** One more window with the cookies of another. */
  another(sight: Sight): Promise<Sight>;
  /** A window that is signed in; the first one sets the password. */
  signedIn(o?: BrowserContextOptions): Promise<Sight>;
}

/** Opens lab and browser; both end with the test. */
export async function openDashboard(
  t: Test,
  o: {
    carrier?: SimulatorOptions;
    env?: Record<string, string>;
    flags?: readonly string[];
    answer?: () => number;
    /** Scenario files of the model, instead of those of the tests. */
    scenario?: string[];
  } = {},
): Promise<Dashboard> {
  const rig = await openRig(t, {
    scenario: o.scenario ?? ['front-desk', 'brief', 'long'].map((name) => join(SCENARIOS, `${name}.json`)),
    ...(o.carrier === undefined ? {} : { carrier: o.carrier }),
    ...(o.answer === undefined ? {} : { answer: o.answer }),
    env: { RECORD_CALLS: 'true', ...o.env },
  });
  const url = rig.lab.daemon.url;
  const browser = await openChromium(t, o.flags);
  const printed = await until('the printed link', () =>
    rig.lab.daemon.lines.find((line) => line.includes('/setup#')),
  );
  const link = printed.trim();
  let isSetUp = false;

  async function open(options: BrowserContextOptions = {}): Promise<Sight> {
    const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options });
    return watch(context, url);
  }
  return {
    rig,
    browser,
    url,
    link,
    open,
    another: (sight) => watch(sight.context, url),
    async signedIn(options) {
      const sight = await open(options);
      const { page } = sight;
      if (isSetUp) {
        await page.goto(url);
        await signIn(page, PASSWORD);
      } else {
        await page.goto(link);
        await choosePassword(page, PASSWORD);
        isSetUp = true;
      }
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      return sight;
    },
  };
}

export async function choosePassword(page: Page, password: string): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Confirm password').fill(password);
  await page.getByRole('button', { name: 'Set the password' }).click();
}

export async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A window whose page is watched for what nobody should see. */
export async function watch(context: BrowserContext, url: string): Promise<Sight> {
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const seen: string[] = [];
  const expected: RegExp[] = [];
  const asked: string[] = [];
  const { host } = new URL(url);
  const ask = (address: string) => {
    asked.push(address);
    const to = new URL(address);
    if (to.protocol === 'data:' || to.protocol === 'blob:' || to.protocol === 'about:') return;
    if (to.host !== host) seen.push(`asked another host: ${address}`);
  };
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning')
      seen.push(`console ${line.type()}: ${line.text()}`);
  });
  page.on('pageerror', (error) => seen.push(`thrown: ${error.stack ?? error.message}`));
  page.on('request', (request) => ask(request.url()));
  page.on('websocket', (socket) => ask(socket.url()));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // What a page no longer wants when one leaves it: its live stream, a recording half read.
    if (why !== 'net::ERR_ABORTED') seen.push(`request failed: ${request.method()} ${request.url()}: ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) {
      seen.push(`answered ${response.status()}: ${response.request().method()} ${response.url()}`);
    }
  });
  return {
    page,
    context,
    asked,
    problems: () => seen.filter((one) => !expected.some((what) => what.test(one))),
    expect: (what) => void expected.push(what),
  };
}

/** Keeps a picture of what is in view; `whole`: of the page down to its end. */
export async function picture(page: Page, name: string, whole = false): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const view = page.viewportSize();
  // A window of that height: what stays in view is not cut off half way.
  if (whole && view !== null) {
    const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
    await page.setViewportSize({ ...view, height });
  }
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  if (whole && view !== null) await page.setViewportSize(view);
}

interface Violation {
  id: string;
  impact: string | null;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** What axe finds on the page that is serious or critical, one line each. After `bringAxe`. */
export async function axe(page: Page): Promise<string[]> {
  const violations = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))`,
  )) as Violation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${impact} ${id}: ${help} at ${target.join(' ')}: ${failureSummary}`,
      ),
    );
}

/** Makes axe known to every page of the window that is loaded from now on: the policy of the page lets no script in. */
export async function bringAxe(sight: Sight): Promise<void> {
  await sight.context.addInitScript({ path: AXE });
}

/** The name of what has the focus, as a person at the keyboard would tell it. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const one = document.activeElement;
    if (one === null || one === document.body) return '';
    const label = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? '';
    return label.trim().replace(/\\s+/g, ' ');
  })()`);
}

/** Presses Tab until something of that name has the focus. @throws Error after so many presses */
export async function tabTo(page: Page, name: RegExp, most = 60): Promise<number> {
  const passed: string[] = [];
  for (let presses = 1; presses <= most; presses++) {
    await page.keyboard.press('Tab');
    const here = await focused(page);
    if (name.test(here)) return presses;
    passed.push(here);
  }
  throw new Error(`Tab never came to ${name}; it came to: ${passed.join(' | ')}`);
}

/** The section of a page with this heading. */
export const section = (page: Page, title: string): Locator =>
  page.getByRole('region', { name: title, exact: true });

/** The live stream as the wire has it, without a browser; `ended` once the daemon closes it. */
export async function liveStream(
  url: string,
  cookie: string,
): Promise<{ status: number; ended: Promise<void> }> {
  const answer = await fetch(`${url}/dashboard/api/live`, { headers: { cookie } });
  const read = async () => {
    for await (const part of answer.body ?? []) if (part.length === 0) return;
  };
  return { status: answer.status, ended: read().catch(() => {}) };
}
