import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AUDIT = readFileSync(new URL('./audit-in-page.js', import.meta.url), 'utf8');

/** What everybody needs of a page: names, headings, landmarks, contrast. Empty when all is well. */
export const auditPage = (page: Page): Promise<unknown> => page.evaluate(AUDIT);
