/** Bills of materials in CycloneDX 1.6. */
import { given, type Json, type JsonObject } from '@gantry/protocol';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';
import { entriesAt } from '../json-values.ts';

const HEAD = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 } as const;
const TOOLS = { components: [{ type: 'application', name: 'gantry-registry' }] } as const;

/** A version may contain `+`, which a package URL escapes. */
const packageUrl = (name: string, version?: string): string =>
  version === undefined ? `pkg:openwop/${name}` : `pkg:openwop/${name}@${encodeURIComponent(version)}`;

/** CycloneDX writes hashes in hex, the registry as SRI. */
const hashesOf = ({ integrity }: PublishedVersion) => [
  { alg: 'SHA-256', content: Buffer.from(integrity.replace(/^sha256-/, ''), 'base64').toString('hex') },
];

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Other schemes, such as `javascript:`, must not become links. */
const webAddress = (value: Json | undefined): string | undefined => {
  const address = text(value);
  return address !== undefined && /^https?:\/\//i.test(address) ? address : undefined;
};

function componentOf(version: PublishedVersion): JsonObject {
  const { manifest, name } = version;
  const references = [
    { type: 'website', url: webAddress(manifest.homepage) },
    { type: 'vcs', url: webAddress(manifest.repository) },
  ].flatMap(({ type, url }) => (url === undefined ? [] : [{ type, url }]));
  const description = text(manifest.description);
  const author = text(manifest.author);
  const license = text(manifest.license);
  return {
    'bom-ref': packageUrl(name, version.version),
    type: 'library',
    name,
    version: version.version,
    ...given({
      description,
      authors: author === undefined ? author : [{ name: author }],
      licenses: license === undefined ? license : licensesOf(license),
    }),
    hashes: hashesOf(version),
    purl: packageUrl(name, version.version),
    ...(references.length > 0 && { externalReferences: references }),
  };
}

/** The dependencies in the manifest, as ranges. Lockfiles name the versions. */
function dependenciesOf({ manifest }: PublishedVersion): [name: string, range: string][] {
  return entriesAt(manifest, 'dependencies')
    .map(([name, range]): [string, string] => [name, String(range)])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

export function versionSbom(version: PublishedVersion): JsonObject {
  const dependencies = dependenciesOf(version);
  const ref = packageUrl(version.name, version.version);
  return {
    ...HEAD,
    metadata: {
      timestamp: version.provenance.publishedAt,
      tools: { components: [...TOOLS.components] },
      component: componentOf(version),
    },
    components: dependencies.map(([name, range]) => ({
      'bom-ref': packageUrl(name),
      type: 'library',
      name,
      purl: packageUrl(name),
      properties: [{ name: 'openwop:versionRange', value: range }],
    })),
    dependencies: [
      { ref, dependsOn: dependencies.map(([name]) => packageUrl(name)) },
      ...dependencies.map(([name]) => ({ ref: packageUrl(name) })),
    ],
  };
}

/** Every published version, each with the address of its own SBOM. */
export async function registrySbom(
  catalogue: Pick<Catalogue, 'summaries' | 'versions'>,
  { name, publicUrl }: { readonly name: string; readonly publicUrl: string },
): Promise<JsonObject> {
  const components: JsonObject[] = [];
  for (const pack of catalogue.summaries()) {
    for (const version of await catalogue.versions(pack.name)) {
      const address = `${publicUrl}/v1/packs/${version.name}/-/${encodeURIComponent(version.version)}.sbom.json`;
      components.push({ ...componentOf(version), externalReferences: [{ type: 'bom', url: address }] });
    }
  }
  return {
    ...HEAD,
    metadata: {
      tools: { components: [...TOOLS.components] },
      component: { type: 'platform', name, description: 'Every version that this registry has published.' },
    },
    components,
  };
}

/** Identifiers that packs use in practice. Validators refuse an `id` that SPDX does not list; others become names. */
const SPDX_IDS = new Set(
  `0BSD AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0
  CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 EPL-2.0 EUPL-1.2 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only
  GPL-3.0-or-later ISC LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MIT MIT-0
  MPL-2.0 Python-2.0 Unlicense Zlib`.split(/\s+/),
);

/** A licence in the form of CycloneDX: an SPDX identifier, an expression of these, or a plain name. */
export function licensesOf(license: string): JsonObject[] {
  const parts = license.split(/ (?:OR|AND) /);
  if (!parts.every((part) => SPDX_IDS.has(part))) return [{ license: { name: license } }];
  return parts.length === 1 ? [{ license: { id: license } }] : [{ expression: license }];
}
