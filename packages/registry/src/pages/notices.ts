/** Warnings at the top of the page. */

import { shorten } from '../json-values.ts';
import { type Html, html, link, packPath } from './html.ts';
import { day } from './marks.ts';
import type { PackView } from './view.ts';

export function notices(view: PackView): Html {
  return html`${view.advisories.map((advisory) => {
    const fixed = advisory.affected.find(
      ({ packName, fixedIn }) => packName === view.version.name && fixedIn !== undefined,
    )?.fixedIn;
    return html`<aside class="notice bad" aria-label="Security advisory">
<p><strong>${advisory.id}, ${advisory.severity}.</strong> ${advisory.summary}</p>
<p>${fixed === undefined ? 'No version fixes it yet.' : html`Fixed in <a href="${packPath(view.version.name, fixed)}">${fixed}</a>.`} ${advisory.advisoryUrl !== undefined && link(advisory.advisoryUrl, 'Read the advisory')}</p></aside>`;
  })}${yanked(view)}${deprecated(view)}${older(view)}`;
}

function yanked({ version: { yank } }: PackView): Html {
  if (yank === undefined) return html``;
  return html`<aside class="notice bad" aria-label="Withdrawn"><p><strong>This version was withdrawn</strong> on ${day(yank.yankedAt)}. ${shorten(yank.reason, 500)}</p>
${yank.advisoryUrl !== undefined && html`<p>${link(yank.advisoryUrl, 'Why')}</p>`}</aside>`;
}

function deprecated({ version: { deprecation } }: PackView): Html {
  if (deprecation === undefined) return html``;
  const { supersededBy } = deprecation;
  return html`<aside class="notice warn" aria-label="Deprecated"><p><strong>Deprecated</strong> since ${day(deprecation.deprecatedAt)}. ${shorten(deprecation.reason, 500)}</p>
${supersededBy !== undefined && html`<p>Use <a href="${successor(supersededBy)}">${supersededBy}</a> instead.</p>`}</aside>`;
}

/** The text may be a name, `name@version` or prose; only the name is linked. */
const successor = (text: string): string => packPath(text.split('@', 1)[0] ?? text);

function older({ version, summary }: PackView): Html {
  if (version.version === summary.latest) return html``;
  return html`<aside class="notice" aria-label="Another version"><p>This is version ${version.version}. The version to install is <a href="${packPath(version.name)}">${summary.latest}</a>.</p></aside>`;
}
