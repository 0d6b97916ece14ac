/** Signature and provenance of a version. */
import type { SignatureCovers } from '@gantry/packs';
import { type Html, html } from './html.ts';
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
