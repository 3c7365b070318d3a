// A real browser for tests: Debian's Chromium, driven by Playwright. Where it is not installed, the tests that need it are
// skipped and say so.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const CHROMIUM = process.env.CHROMIUM_PATH ?? PATHS.find((path) => existsSync(path));
/** For a test's `skip`. */
export const NO_CHROMIUM =
  CHROMIUM === undefined ? 'Chromium is not installed (Debian: chromium; else set CHROMIUM_PATH)' : false;

/** Starts it; it ends with the test. */
export async function openChromium(t: Test, flags: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: [...FLAGS, ...flags] });
  t.teardown(() => browser.close());
  return browser;
}
