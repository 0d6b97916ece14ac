import type { RegistryProfile } from '../derived/discovery.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { shorten } from './values.ts';

export function missingPage(profile: RegistryProfile, what: string): Html {
  const main = html`<div class="hero"><h1>Not found</h1>
<p class="lead">There is no ${shorten(what, 200)} here. It may have been unpublished, or its name is spelled otherwise.</p>
<p><a href="/?q=${encodeURIComponent(shorten(what, 100))}">Search for it</a> or <a href="/">look through all packs</a>.</p></div>`;
  return layout(profile.name, { title: `Not found – ${profile.name}`, description: 'Not found.', main });
}
