import { type Html, html } from './html.ts';
import type { PackView } from './view.ts';

export function installSection({ version, profile }: PackView): Html {
  const { name, version: number, integrity, yank } = version;
  const pinned = `${name}@${number}`;
  const pin = { packs: { [name]: { version: number, integrity } } };
  return html`<section aria-labelledby="install" class="install"><h2 id="install">Install</h2>
${yank !== undefined && html`<p>It is withdrawn. Only an exact version still installs it, with a warning.</p>`}
<p class="step">Into a running host:</p>
<pre tabindex="0"><code>gantry pack install ${pinned}</code></pre>
<p class="step">Or in the settings of a host, so that it is there at every start:</p>
<pre tabindex="0"><code>GANTRY_REGISTRY_URL=${profile.publicUrl}
GANTRY_PACKS=${pinned}</code></pre>
<details><summary>Pin exactly this archive in a workflow</summary>
<pre tabindex="0"><code>${JSON.stringify(pin, null, 2)}</code></pre></details>
</section>`;
}
