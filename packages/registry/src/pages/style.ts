/** How the pages look: system fonts, one column of text, light and dark. Read from files beside this one. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');

export const STYLE = read('./style.css');
export const ICON = read('./icon.svg');

/** Named after its content: a new style never meets an old page's cache. */
export const STYLE_PATH = `/assets/style-${hash('sha256', STYLE, 'hex').slice(0, 16)}.css`;
