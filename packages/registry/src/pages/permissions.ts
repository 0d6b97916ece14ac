/** The permissions that a pack requests, and their meaning. */
import { describePermission } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { entriesAt, isTrueAt, member, objectsAt, textAt, textsAt } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { manifestOf, type PackView } from './view.ts';

const UNKNOWN_SHOWN_MAX = 5;

export function permissionsSection(view: PackView): Html {
  const manifest = manifestOf(view);
  const requires = textsAt(member(manifest, 'runtime'), 'requires');
  return html`<section aria-labelledby="permissions"><h2 id="permissions">What it asks for</h2>
${asks(view, requires)}
${secrets(manifest)}
${peers(manifest)}
</section>`;
}

function asks({ version, files }: PackView, requires: readonly string[]): Html {
  if (version.kind !== 'node')
    return html`<p>No platform access: packs of this kind contain data, not code.</p>`;
  const { asks: called, unknown } = files.surfaces;
  const all = [...requires, ...called];
  if (all.length + unknown.length === 0)
    return html`<p>No platform access. Its code only processes its inputs, in the sandbox.</p>`;
  return html`<ul class="asks">${all.map((name) => html`<li><code>${name}</code> ${describePermission(name)}</li>`)}
${unknown.slice(0, UNKNOWN_SHOWN_MAX).map((what) => html`<li>Which surfaces it calls cannot be determined: ${what}. A host denies calls that were not granted.</li>`)}</ul>`;
}

function secrets(manifest: JsonObject): Html {
  const wanted = new Map<string, string>();
  for (const node of objectsAt(manifest, 'nodes')) {
    for (const secret of objectsAt(node, 'requiresSecrets')) {
      const id = textAt(secret, 'id') ?? '';
      wanted.set(id, `a secret of kind ${textAt(secret, 'kind') ?? 'unknown'}`);
    }
    for (const credential of objectsAt(node, 'requiredCredentials')) {
      wanted.set(textAt(credential, 'key') ?? '', textAt(credential, 'displayName') ?? 'a stored credential');
    }
    const auth = member(node, 'auth');
    const provider = textAt(auth, 'provider');
    if (provider !== undefined)
      wanted.set(provider, `an account with the scopes: ${textsAt(auth, 'scopes').join(', ') || 'none'}`);
  }
  if (wanted.size === 0) return html``;
  return html`<h3>Secrets and accounts</h3><ul class="asks">${[...wanted].map(([id, what]) => html`<li><code>${id}</code> ${what}</li>`)}</ul>`;
}

function peers(manifest: JsonObject): Html {
  const wanted = entriesAt(manifest, 'peerDependencies');
  const meta = member(manifest, 'peerDependenciesMeta');
  if (wanted.length === 0) return html``;
  return html`<h3>Host capabilities</h3><ul class="asks">${wanted.map(([name, range]) => {
    const isOptional = range === 'optional' || isTrueAt(member(meta, name), 'optional');
    const level = typeof range === 'string' && !PLAIN.has(range) ? ` ${range}` : '';
    return html`<li><code>${name}${level}</code> ${isOptional ? 'Optional: works without it, with fewer features.' : 'Required: installs only on hosts that offer it.'}</li>`;
  })}</ul>`;
}

const PLAIN = new Set(['supported', 'required', 'optional', '*']);
