/** A real browser for tests of pages, where this machine has one. */
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** For every step, on a busy machine. */
const PATIENCE_MS = 120_000;

/** Measured: a fifth less of the processor. */
const FEW_PROCESSES = ['--renderer-process-limit=1', '--disable-site-isolation-trials', '--in-process-gpu'];

const found = (): string | undefined =>
  process.env.GANTRY_TEST_CHROMIUM ?? PLACES.find((place) => existsSync(place));

/** Undefined when there is none: the test is skipped, which with `CI=true` is a failure. */
export async function openBrowser(t: TestContext): Promise<Browser | undefined> {
  const executablePath = found();
  if (executablePath === undefined) {
    const reason = 'no Chromium: install the package chromium, or name one with GANTRY_TEST_CHROMIUM';
    if (process.env.CI === 'true') throw new Error(reason);
    t.skip(reason);
    return undefined;
  }
  // Its own sandbox does not start as root, and the pages are ours.
  const args = process.getuid?.() === 0 ? ['--no-sandbox', ...FEW_PROCESSES] : FEW_PROCESSES;
  const browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
  t.after(() => browser.close());
  return browser;
}

export interface WatchedPage {
  readonly page: Page;
  /** What went wrong, and what was asked of other places than `origin`. */
  readonly complaints: readonly string[];
}

export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complaints.push(`asked for ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} for ${response.url()}`);
  });
  return { page, complaints };
}
