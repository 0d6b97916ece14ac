/** All components in all states, as people get them: read by axe, used by keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openBrowser, type WatchedPage, watchedPage } from '../../http/src/testing/browser.ts';
import { problemsOf } from './audit.ts';
import { servedGallery } from './gallery.ts';

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test('the gallery in a browser', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const origin = await servedGallery(t);
  const open = (path: string, options: object): Promise<WatchedPage> =>
    opened(browser, origin, path, options);
  await t.test('reads well by day on a phone and by night on a desk', () => readWell(browser, origin));
  await t.test('a list is used by keyboard, and shows what fits', () => useList(open));
  await t.test('layers open, close and give the focus back', () => useLayers(open));
  await t.test('a value is walked through like a tree', () => useTree(open));
});

async function opened(browser: Browser, origin: string, path: string, options: object): Promise<WatchedPage> {
  const watched = await watchedPage(browser, origin, options);
  await watched.page.goto(origin + path);
  await watched.page.locator('h1').first().waitFor({ state: 'attached' });
  return watched;
}

type Open = (path: string, options: object) => Promise<WatchedPage>;

const LAYERS = ['Menu', 'Confirm'];

async function readWell(browser: Browser, origin: string): Promise<void> {
  for (const [colorScheme, size, paths] of [
    ['light', PHONE, ['/', '/runs', '/runs/one']],
    ['dark', DESK, ['/', '/runs/loading', '/runs/one', '/inbox', '/host']],
  ] as const) {
    const options = { ...size, colorScheme, reducedMotion: 'reduce' } as const;
    const { page, complaints } = await opened(browser, origin, '/', options);
    for (const path of paths) {
      await page.goto(origin + path);
      await page.locator('h1').first().waitFor({ state: 'attached' });
      assert.deepEqual(await problemsOf(page), [], `${path} ${colorScheme}`);
    }
    await page.goto(origin);
    for (const name of size === DESK ? LAYERS : []) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.locator('.layer, .dialog').waitFor();
      assert.deepEqual(await problemsOf(page), [], `${name} ${colorScheme}`);
      await page.keyboard.press('Escape');
      await page.locator('.layer, .dialog').waitFor({ state: 'detached' });
    }
    assert.deepEqual(complaints, []);
    await page.close();
  }
}

const ROWS_SEEN_MIN = 18;
const HEAD_MAX = 120;

async function useList(open: Open): Promise<void> {
  const { page, complaints } = await open('/runs', DESK);
  const rows = page.locator('[aria-rowindex]:not(.grid-head)');
  const focused = page.locator(':focus');
  await rows.first().focus();
  const seen = await rows.evaluateAll(
    (all) => all.filter((row) => row.getBoundingClientRect().bottom <= 800).length,
  );
  assert.ok(seen >= ROWS_SEEN_MIN, `${seen} rows`);
  assert.ok((await rows.count()) < 60, 'only those exist that are seen');
  const head = await page.locator('.grid-head').boundingBox();
  assert.ok(head !== null && head.y - 48 <= HEAD_MAX, 'what is above the list');
  await page.keyboard.press('j');
  await page.locator('[aria-rowindex="3"]:focus').waitFor();
  await page.keyboard.press('x');
  assert.equal(await focused.getAttribute('aria-selected'), 'true');
  await page.getByText('1 selected of 1,204 that match').waitFor();
  await page.keyboard.press('End');
  await page.locator('[aria-rowindex="1205"]:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(/^Opened run_/).waitFor();
  assert.deepEqual(complaints, []);
}

async function useLayers(open: Open): Promise<void> {
  const { page, complaints } = await open('/', DESK);
  const focused = page.locator(':focus');
  const start = page.getByRole('button', { name: 'Refused' });
  await start.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Run again from charge?' });
  await dialog.getByRole('button', { name: 'Run again' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('The run has been deleted meanwhile.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await focused.innerText(), 'Refused');
  await page.getByRole('button', { name: 'Menu', exact: true }).focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('menuitem', { name: 'Run again' }).and(focused).waitFor();
  await page.keyboard.press('Escape');
  await page.goto(new URL('/runs', page.url()).href);
  await page.getByRole('combobox', { name: /^Workflow: heartbeat/ }).click();
  await page.keyboard.type('inv');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: /^Workflow: heartbeat or invoice/ }).waitFor();
  assert.deepEqual(complaints, []);
}

async function useTree(open: Open): Promise<void> {
  const { page } = await open('/', DESK);
  const focused = page.locator(':focus');
  await page.getByRole('treeitem').first().focus();
  await page.keyboard.press('End');
  assert.match(await focused.innerText(), /^empty:/);
  await page
    .getByRole('treeitem', { name: /^address/ })
    .last()
    .focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('ArrowRight');
  assert.match(await focused.innerText(), /^street:/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await focused.getAttribute('aria-expanded'), 'false');
}
