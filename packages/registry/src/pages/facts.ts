/** The column beside the page: licence, author, links, files. */

import { entriesAt, member, shorten, textAt, textsAt } from '../json-values.ts';
import { type Html, html, link, packPath } from './html.ts';
import { day } from './marks.ts';
import { manifestOf, type PackView } from './view.ts';

const VERSIONS_MAX = 100;

export function facts(view: PackView): Html {
  const { version } = view;
  const manifest = manifestOf(view);
  const row = (name: string, value: Html | string | undefined): Html | undefined =>
    value === undefined ? undefined : html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const text = (key: string): string | undefined => {
    const value = textAt(manifest, key);
    return value === undefined ? undefined : shorten(value, 200);
  };
  const address = (key: string): Html | undefined => {
    const value = textAt(manifest, key);
    return value === undefined ? undefined : link(value, shorten(value.replace(/^https?:\/\//i, ''), 60));
  };
  const runtime = member(manifest, 'runtime');
  return html`<dl class="facts">
${row('Version', version.version)}
${row('Published', day(version.provenance.publishedAt))}
${row('Licence', text('license') ?? 'not stated')}
${row('Author', text('author'))}
${row('Homepage', address('homepage'))}
${row('Source', address('repository'))}
${row('Protocol', textAt(member(manifest, 'engines'), 'openwop'))}
${row('Runs as', textAt(runtime, 'language'))}
${row('Size', sizeText(version.archiveBytes))}
${row('Tags', tags(textsAt(manifest, 'keywords')))}
${row('Files', files(view))}
</dl>`;
}

const tags = (keywords: readonly string[]): Html | undefined =>
  keywords.length === 0
    ? undefined
    : html`${keywords.slice(0, 20).map((tag) => html`<a class="tag" href="/?q=${encodeURIComponent(tag)}">${tag}</a> `)}`;

function files({ version }: PackView): Html {
  const base = `/v1/packs/${encodeURIComponent(version.name)}/-/${encodeURIComponent(version.version)}`;
  const hasSignature = version.signature !== undefined && version.yank === undefined;
  return html`<a href="${base}.tgz" download>archive</a>, <a href="${base}.json">manifest</a>, ${hasSignature && html`<a href="${base}.sig" download>signature</a>, `}<a href="${base}.sbom.json">SBOM</a>`;
}

const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024
    ? `${Math.max(1, Math.round(bytes / 1024))} KB`
    : `${(bytes / (1024 * 1024)).toFixed(1)} MB`;

export function dependenciesSection(view: PackView): Html {
  const wanted = entriesAt(manifestOf(view), 'dependencies');
  return html`<section aria-labelledby="dependencies"><h2 id="dependencies">Dependencies</h2>
${
  wanted.length === 0
    ? html`<p>None.</p>`
    : html`<ul class="asks">${wanted.map(([name, range]) => html`<li><a href="${packPath(name)}">${name}</a> <code>${String(range)}</code></li>`)}</ul>`
}</section>`;
}

export function versionsSection({ versions, version: current }: PackView): Html {
  const shown = versions.slice(0, VERSIONS_MAX);
  const rest = versions.length - shown.length;
  return html`<section aria-labelledby="versions"><h2 id="versions">Versions</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Versions"><table>
<thead><tr><th scope="col">Version</th><th scope="col">Published</th><th scope="col">Signature</th><th scope="col">State</th></tr></thead>
<tbody>${shown.map((version) => {
    const isCurrent = version.version === current.version;
    return html`<tr${isCurrent && html` class="current"`}><th scope="row"><a href="${packPath(version.name, version.version)}"${isCurrent && html` aria-current="page"`}>${version.version}</a></th>
<td>${day(version.provenance.publishedAt)}</td><td>${SIGNATURES[version.signing.state]}</td><td>${stateText(version)}</td></tr>`;
  })}</tbody></table></div>
${rest > 0 && html`<p class="quiet">And ${rest} older versions.</p>`}</section>`;
}

const SIGNATURES = { verified: 'verified', unverifiable: 'not checked', unsigned: 'none' } as const;

function stateText({ yank, deprecation }: PackView['version']): string {
  if (yank !== undefined) return `withdrawn: ${shorten(yank.reason, 120)}`;
  return deprecation === undefined ? 'offered' : `deprecated: ${shorten(deprecation.reason, 120)}`;
}
