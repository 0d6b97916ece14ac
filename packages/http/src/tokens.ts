/** The colours of all pages, as a style sheet. */
import { readFileSync } from 'node:fs';

export const TOKENS = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
