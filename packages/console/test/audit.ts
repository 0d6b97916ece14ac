import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Ariakit keeps the focus in a dialog with elements that pass it on, and puts layers beside the landmarks. */
const AUDIT = `axe.run({ exclude: [['[data-focus-trap]']] }, {
  resultTypes: ['violations'],
  rules: { region: { enabled: document.querySelector('.layer, .dialog') === null } },
})`;

/** What axe finds, and whether one has to scroll sideways. */
export async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(AUDIT);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return isWide ? [...found, 'scrolls sideways'] : found;
}
