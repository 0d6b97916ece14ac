import type { PackKind } from '@gantry/packs';
import { listAt, shorten, textAt } from '../json-values.ts';
import {
  artifactTypesSection,
  cardsSection,
  chainsSection,
  formsSection,
  pluginsSection,
  promptsSection,
  providerSection,
} from './content-declarative.ts';
import { agentsSection, connectorSection, nodesSection } from './content-node.ts';
import { dependenciesSection, facts, versionsSection } from './facts.ts';
import { breakable, type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { codeSpans, markdown } from './markdown.ts';
import { kindMark, stateMarks, trustMark } from './marks.ts';
import { permissionsSection } from './permissions.ts';
import { notices, provenanceSection, trustSection } from './trust.ts';
import { manifestOf, type PackView } from './view.ts';

/** The contents of a pack, by its kind. */
const SECTIONS: Readonly<Record<PackKind, (view: PackView) => Html>> = {
  node: (view) => html`${connectorSection(view)}${nodesSection(view)}${agentsSection(view)}`,
  'workflow-chain': chainsSection,
  prompt: promptsSection,
  'artifact-type': artifactTypesSection,
  card: cardsSection,
  connection: providerSection,
  'frontend-plugin': pluginsSection,
  'form-content': formsSection,
};

/** Longer descriptions are shown in a smaller font. */
const LONG_CHARS = 200;

export function packPage(view: PackView): Html {
  const { version, profile } = view;
  const description = textAt(manifestOf(view), 'description') ?? 'No description.';
  const main = html`<div class="packhead">
<p class="marks">${kindMark({ kind: version.kind, nodeCount: listAt(version.manifest, 'nodes').length, agentCount: listAt(version.manifest, 'agents').length })} ${trustMark(version)} ${stateMarks({ isDeprecated: version.deprecation !== undefined, isYanked: version.yank !== undefined })}</p>
<h1>${breakable(version.name)} <span class="version">${version.version}</span></h1>
<p class="lead${description.length > LONG_CHARS && ' modest'}" dir="auto">${codeSpans(description)}</p>
</div>
${notices(view)}
<div class="columns">
<div class="text">
${permissionsSection(view)}
${installSection(view)}
${SECTIONS[version.kind](view)}
${readme(view)}
${dependenciesSection(view)}
${trustSection(view)}
${provenanceSection(view)}
${versionsSection(view)}
</div>
<aside class="side" aria-label="Facts">${facts(view)}</aside>
</div>`;
  return layout(profile.name, {
    title: `${version.name} ${version.version} – ${profile.name}`,
    description: shorten(description, 160),
    main,
  });
}

const readme = ({ files }: PackView): Html =>
  files.readme === undefined
    ? html``
    : html`<section aria-labelledby="readme"><h2 id="readme">Read me</h2><div class="readme" dir="auto">${markdown(files.readme)}</div></section>`;

function installSection({ version, profile }: PackView): Html {
  const { name, version: number, integrity, yank } = version;
  const pinned = `${name}@${number}`;
  const pin = { packs: { [name]: { version: number, integrity } } };
  return html`<section aria-labelledby="install" class="install"><h2 id="install">Install</h2>
${yank !== undefined && html`<p>This version is withdrawn. It installs only by its exact version, with a warning.</p>`}
<p class="step">Into a running host:</p>
<pre tabindex="0"><code>gantry pack install ${pinned}</code></pre>
<p class="step">Or in the settings of a host, to install it at every start:</p>
<pre tabindex="0"><code>GANTRY_REGISTRY_URL=${profile.publicUrl}
GANTRY_PACKS=${pinned}</code></pre>
<details><summary>Pin exactly this archive in a workflow</summary>
<pre tabindex="0"><code>${JSON.stringify(pin, null, 2)}</code></pre></details>
</section>`;
}
