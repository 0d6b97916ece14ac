/** The common layout of all pages: system fonts, one column of text, light and dark. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TOKENS } from '@gantry/http';
import type { RegistryProfile } from '../derived/discovery.ts';
import { shorten } from '../json-values.ts';
import { type Html, html } from './html.ts';

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');

export const STYLE = TOKENS + read('./style.css');
export const ICON = read('./icon.svg');

/** The name contains the hash of the content, so that caches never combine a new page with an old style. */
export const STYLE_PATH = `/assets/style-${hash('sha256', STYLE, 'hex').slice(0, 16)}.css`;

export interface Page {
  readonly title: string;
  readonly description: string;
  readonly main: Html;
  /** The query of a search page; absent on other pages. */
  readonly query?: string;
}

/** No scripts and no other origins, so that even unescaped markup could load nothing. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function layout(registry: string, { title, description, main, query }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${STYLE_PATH}">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wide bar">
<a class="brand" href="/">${registry}</a>
${query === undefined && smallSearch()}
</div></header>
<main id="main" class="wide" tabindex="-1">
${main}
</main>
<footer class="bottom"><div class="wide">
<nav aria-label="For machines"><ul class="links">
<li><a href="/.well-known/openwop-registry">Discovery</a></li>
<li><a href="/v1/index.json">Index</a></li>
<li><a href="/security/advisories.json">Advisories</a></li>
<li><a href="/v1/sbom.json">SBOM</a></li>
</ul></nav>
<p class="quiet">Packs are made by their publishers. Check what a pack asks for before you install it.</p>
</div></footer>
</body>
</html>`;
}

const smallSearch = (): Html => html`<form class="find" role="search" action="/" method="get">
<label class="hidden" for="find">Search packs</label>
<input id="find" name="q" type="search" placeholder="Search packs" maxlength="200" autocomplete="off">
<button type="submit">Search</button>
</form>`;

export function missingPage(profile: RegistryProfile, what: string): Html {
  const main = html`<div class="hero"><h1>Not found</h1>
<p class="lead">There is no ${shorten(what, 200)} here. It may have been unpublished, or its name is spelled differently.</p>
<p><a href="/?q=${encodeURIComponent(shorten(what, 100))}">Search for it</a> or <a href="/">browse all packs</a>.</p></div>`;
  return layout(profile.name, { title: `Not found – ${profile.name}`, description: 'Not found.', main });
}
