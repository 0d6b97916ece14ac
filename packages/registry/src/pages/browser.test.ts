import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openBrowser, watchedPage } from '../../../http/src/testing/browser.ts';
import { auditPage } from '../../../http/src/testing/page-audit.ts';
import { acmeRegistry } from '../testing/acme.ts';

const EVIL = `<script>document.title = 'taken'</script><img src="https://evil.example/x" onerror="document.title='taken'">`;

/** A registry that listens, with a few packs of which one means harm. */
async function servedRegistry(t: TestContext): Promise<string> {
  const acme = await acmeRegistry(t, { settings: { publicUrl: undefined, name: 'Packs of Acme' } });
  const schema = JSON.stringify({
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', description: 'What to echo.' } },
  });
  const readme = `# Echo\n\nSays it again. [Home](javascript:alert(1))\n\n${EVIL}\n`;
  const echo = {
    name: 'vendor.acme.echo',
    description: 'Echoes what it hears.',
    runtime: runtime(['net.outbound']),
  };
  const answers = [
    await acme.publish({ manifest: echo, files: { 'schemas/echo.input.json': schema, 'README.md': readme } }),
    await acme.publish({
      manifest: { ...echo, version: '1.1.0' },
      files: { 'schemas/echo.input.json': schema },
    }),
    await acme.publish({ manifest: { name: 'vendor.acme.evil', description: EVIL } }),
  ];
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [201, 201, 201],
  );
  return acme.server.app.listen({ host: '127.0.0.1', port: 0 });
}

const runtime = (requires: string[]) => ({ language: 'javascript', entry: './index.mjs', requires });

/** One browser and one registry for all: starting them costs more than the tests. */
test('the pages in a browser', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const origin = await servedRegistry(t);
  await t.test(
    'somebody searches, opens a pack and reads it, with no script and nothing from elsewhere',
    () => searchAndRead(browser, origin),
  );
  await t.test('pages read well on a phone and on a desk, by day and by night', () =>
    readWell(browser, origin),
  );
  await t.test('the keyboard reaches everything, the content first', () => useKeyboard(browser, origin));
});

async function searchAndRead(browser: Browser, origin: string): Promise<void> {
  const { page, complaints } = await watchedPage(browser, origin, { javaScriptEnabled: true });
  await page.goto(origin);
  await page.getByRole('searchbox', { name: 'Search packs' }).fill('hears');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '1 pack for “hears”' }).waitFor();
  await page.getByRole('link', { name: 'vendor.acme.echo' }).click();
  await page.getByRole('heading', { level: 1, name: /vendor\.acme\.echo 1\.1\.0/ }).waitFor();
  assert.match(await page.getByRole('region', { name: 'What it asks for' }).innerText(), /net\.outbound/);
  assert.match(
    await page.getByRole('region', { name: 'Signature and trust' }).innerText(),
    /Signed with the key acme-1/,
  );
  assert.match(await page.getByRole('row', { name: /text string yes/ }).innerText(), /What to echo\./);
  await page.getByRole('link', { name: '1.0.0', exact: true }).click();
  await page.getByRole('heading', { name: 'Read me' }).waitFor();
  assert.equal(await page.title(), 'vendor.acme.echo 1.0.0 – Packs of Acme');
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Home' }).count(), 0);
  await page.goto(`${origin}/packs/vendor.acme.evil`);
  assert.equal(await page.title(), 'vendor.acme.evil 1.0.0 – Packs of Acme');
  assert.deepEqual(complaints, []);
}

async function readWell(browser: Browser, origin: string): Promise<void> {
  // Colours do not depend on the width, so two of the four combinations see everything.
  for (const [colorScheme, width] of [
    ['light', 390],
    ['dark', 1280],
  ] as const) {
    const { page, complaints } = await watchedPage(browser, origin, {
      colorScheme,
      viewport: { width, height: 800 },
    });
    for (const path of [
      '/',
      '/?q=nothing-like-it',
      '/packs/vendor.acme.echo',
      '/packs/vendor.acme.evil/1.0.0',
    ]) {
      await page.goto(origin + path);
      assert.deepEqual(await auditPage(page), [], `${path} ${colorScheme} ${width}`);
    }
    assert.deepEqual(complaints, []);
    await page.close();
  }
}

async function useKeyboard(browser: Browser, origin: string): Promise<void> {
  const { page } = await watchedPage(browser, origin);
  await page.goto(`${origin}/packs/vendor.acme.echo`);
  const focused = page.locator(':focus');
  await page.keyboard.press('Tab');
  assert.equal(await focused.innerText(), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.locator('#main:focus').waitFor();
  await page.getByText('Original schema').first().focus();
  await page.keyboard.press('Enter');
  await page.getByText('"required"').first().waitFor();
}
