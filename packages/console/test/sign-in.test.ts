/** Signing in, being signed in and signing out, in a real browser on a real host. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { TEST_KEY } from '../../host/src/testing/host-process.ts';
import { type TestHost, testHost } from '../../host/src/testing/test-host.ts';
import { openBrowser, type WatchedPage, watchedPage } from '../../http/src/testing/browser.ts';
import { problemsOf } from './audit.ts';

const KEYS = '/v1/host/gantry/keys';

interface Served extends TestHost {
  readonly origin: string;
  newKey(): Promise<{ key: string; keyId: string }>;
  /** In a browser of its own. */
  open(path: string): Promise<WatchedPage>;
}

async function served(t: TestContext, browser: Browser): Promise<Served> {
  const api = await testHost(t);
  const origin = await api.host.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...api,
    origin,
    async newKey() {
      const payload = JSON.stringify({ name: 'ada', scopes: ['runs:read', 'keys:manage'] });
      const headers = { 'content-type': 'application/json' };
      return (await api.request({ method: 'POST', url: KEYS, payload, headers })).json();
    },
    async open(path) {
      const watched = await watchedPage(browser, origin, { reducedMotion: 'reduce' });
      await watched.page.goto(origin + path);
      return watched;
    },
  };
}

test('signing in with a browser', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const api = await served(t, browser);
  await t.test('a deep link asks for a key and stays what it was', () => deepLink(api));
  await t.test('a link signs in once', () => oneTimeLink(api));
  await t.test('a session that ends is renewed in place', () => renewed(api));
  await t.test('a page of another site does nothing with it', () => otherSite(api));
});

/** An answer that nobody is signed in is expected here; everything else is not. */
const others = (complaints: readonly string[]) => complaints.filter((text) => !/\b401\b/.test(text));

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

/** As when one comes back to the tab. */
async function asksAgain(page: Page): Promise<void> {
  const answered = page.waitForResponse((answer) => answer.url().endsWith('/v1/host/gantry/session'));
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await (await answered).finished();
}

async function deepLink(api: Served): Promise<void> {
  const { key } = await api.newKey();
  const { page, complaints } = await api.open('/nowhere?view=log');
  await page.getByLabel('API key').waitFor();
  assert.deepEqual(await problemsOf(page), []);
  await page.getByLabel('API key').fill('half a k');
  await asksAgain(page);
  assert.equal(await page.getByLabel('API key').inputValue(), 'half a k', 'asking again changes nothing');
  await signIn(page, 'wrong');
  await page.getByText(/This key or link is not valid/).waitFor();
  assert.equal(await page.getByLabel('API key').inputValue(), 'wrong', 'what was typed stays');
  await signIn(page, key);
  await page.getByText('There is no page at this address.').waitFor();
  assert.equal(page.url(), `${api.origin}/nowhere?view=log`);
  assert.match(await page.title(), / · Gantry$/);
  await page.getByRole('link', { name: 'Go to the start page' }).click();
  await page.getByRole('heading', { name: 'This host is running' }).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await problemsOf(page), []);
  const left = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, document.cookie, location])',
  );
  assert.ok(!left.includes(key.slice(4)) && !left.includes('gantry-session'), left);
  await page.getByRole('button', { name: /ada/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  assert.deepEqual(others(complaints), []);
}

async function oneTimeLink(api: Served): Promise<void> {
  const url = new URL(await api.host.signInUrl(), api.origin);
  const path = `${url.pathname}?to=${encodeURIComponent('/?x=1')}${url.hash}`;
  const { page, complaints } = await api.open(path);
  await page.getByRole('heading', { name: 'This host is running' }).waitFor();
  assert.equal(page.url(), `${api.origin}/?x=1`);
  assert.deepEqual(complaints, []);
  const again = await api.open(path);
  await again.page.getByText(/This key or link is not valid/).waitFor();
  assert.ok(!again.page.url().includes('#'));
}

async function renewed(api: Served): Promise<void> {
  const { key, keyId } = await api.newKey();
  const { page, complaints } = await api.open('/');
  await signIn(page, key);
  await page.getByRole('heading', { name: 'This host is running' }).waitFor();
  await api.request({ method: 'DELETE', url: `${KEYS}/${keyId}` });
  await asksAgain(page);
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  await page.getByRole('heading', { name: 'This host is running', includeHidden: true }).waitFor();
  await signIn(page, TEST_KEY);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /admin/ }).waitFor();
  assert.deepEqual(others(complaints), []);
}

async function otherSite(api: Served): Promise<void> {
  const { page } = await api.open('/');
  await signIn(page, TEST_KEY);
  await page.getByRole('heading', { name: 'This host is running' }).waitFor();
  const keysOf = async () => (await api.request({ url: KEYS })).json().keys.length;
  const before = await keysOf();
  const port = new URL(api.origin).port;
  await page.goto(`http://localhost:${port}/healthz`);
  const body = JSON.stringify({ name: 'evil', scopes: ['runs:read'] });
  const outcomes = await page.evaluate(
    async ({ origin, url, body }) => {
      const options = { credentials: 'include', headers: { 'content-type': 'text/plain' } } as const;
      const sent = fetch(origin + url, { ...options, method: 'POST', mode: 'no-cors', body }).then(
        ({ type }) => type,
      );
      const read = fetch(origin + url, options).then((answer) => answer.text());
      return Promise.all([sent, read].map((each) => each.catch(() => 'refused')));
    },
    { origin: api.origin, url: KEYS, body },
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome === 'refused' || outcome === 'opaque'),
    [true, true],
  );
  assert.equal(await keysOf(), before);
}
