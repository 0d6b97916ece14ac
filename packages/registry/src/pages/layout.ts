import { type Html, html } from './html.ts';
import { STYLE_PATH } from './style.ts';

export interface Page {
  readonly title: string;
  readonly description: string;
  readonly main: Html;
  /** What was searched for; a page that is not about a search leaves it out. */
  readonly query?: string;
}

/** No script and nothing from elsewhere; even a hole in the escaping could load nothing. */
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
<p class="quiet">Packs come from their publishers. Read what a pack asks for before you install it.</p>
</div></footer>
</body>
</html>`;
}

const smallSearch = (): Html => html`<form class="find" role="search" action="/" method="get">
<label class="hidden" for="find">Search packs</label>
<input id="find" name="q" type="search" placeholder="Search packs" maxlength="200" autocomplete="off">
<button type="submit">Search</button>
</form>`;
