/** Facts to check before a version is used: warnings, signature and provenance. */
import type { SignatureCovers } from '@gantry/packs';
import { shorten } from '../json-values.ts';
import { type Html, html, link, packPath } from './html.ts';
import { day, trustMark } from './marks.ts';
import type { PackView } from './view.ts';

const COVERS: Readonly<Record<SignatureCovers, string>> = {
  archive: 'The signature covers the whole archive: manifest, code and schemas.',
  files: 'The signatures cover the manifest and every other file, through files.json.',
  manifest:
    'The signature covers the manifest, pack.json. Code and schemas are covered by the integrity value below: pin it where you install.',
};

export function trustSection(view: PackView): Html {
  const { version } = view;
  return html`<section aria-labelledby="trust"><h2 id="trust">Signature and trust</h2>
<p>${trustMark(version)}</p>
${signed(view)}
<dl class="facts"><div><dt>Integrity of the archive</dt><dd><code class="long">${version.integrity}</code></dd></div></dl>
</section>`;
}

function signed({ version, signingKey }: PackView): Html {
  const { method, keyId, state, covers, signedBy } = version.signing;
  const { publishedAt } = version.provenance;
  if (state === 'unsigned')
    return html`<p>This version is not signed. The integrity value shows that you get what was uploaded on ${day(publishedAt)}; nothing proves who made it.</p>`;
  const who =
    method === 'sigstore' && signedBy !== undefined
      ? html`Sigstore by <code>${signedBy}</code>`
      : html`${keyId === undefined ? 'an unnamed key' : html`the key <code>${keyId}</code>`}${signingKey?.operator !== undefined && html` of ${signingKey.operator}`}`;
  if (state === 'unverifiable')
    return html`<p>It carries a signature made with ${who}, which this registry could not check when it was published on ${day(publishedAt)}. Treat it as unsigned unless you trust that key yourself.</p>`;
  return html`<p>Signed with ${who}. The registry verified the signature when the version was published, on ${day(publishedAt)}.</p>
${signingKey !== undefined && html`<p>The key may sign for ${signingKey.permittedNamespaces.map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`)} and is ${signingKey.status}. <a href="${signingKey.publicKeyUrl}">Public key</a></p>`}
${covers !== undefined && html`<p>${COVERS[covers]}</p>`}`;
}

export function provenanceSection({ version }: PackView): Html {
  const { provenance } = version;
  const { publishedBy, userAgent, build } = provenance;
  return html`<section aria-labelledby="provenance"><h2 id="provenance">Provenance</h2>
<dl class="facts">
<div><dt>Published</dt><dd>${day(provenance.publishedAt)} by ${publishedBy.name} <span class="quiet">(key <code>${publishedBy.keyId}</code>)</span></dd></div>
${userAgent !== undefined && html`<div><dt>With</dt><dd>${userAgent}</dd></div>`}
<div><dt>Build</dt><dd>${build === undefined ? 'No build information.' : html`As stated by the publisher, not verified.<pre tabindex="0"><code>${JSON.stringify(build, null, 2).slice(0, 4_000)}</code></pre>`}</dd></div>
</dl></section>`;
}

/** Warnings at the top of the page. */
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
