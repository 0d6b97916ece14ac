/** The documents about a pack and a version. */
import { given, type JsonObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { Catalogue, CatalogueName, PublishedVersion } from '../catalogue/catalogue.ts';
import type { VersionAddress } from '../catalogue/store-catalogue.ts';
import { agentIdsOf, latestOf, nodeTypeIdsOf, summaryOf } from '../catalogue/summary.ts';
import { textAt } from '../json-values.ts';
import { checkName, checkVersion } from '../publish/address.ts';

/** `.sig` is served for signed versions that are not yanked. */
export const hasSignature = ({ signature, yank }: PublishedVersion): boolean =>
  signature !== undefined && yank === undefined;

const pathsOf = (catalogue: CatalogueName, { name, version }: PublishedVersion) => {
  const path = `/v1/${catalogue}/${name}/-/${version}`;
  return { manifest: `${path}.json`, tarball: `${path}.tgz`, signature: `${path}.sig` };
};

const lifecycleOf = ({ deprecation, yank }: PublishedVersion) => ({
  deprecated: deprecation !== undefined,
  ...(deprecation !== undefined && { deprecation: { deprecated: true, ...deprecation } }),
  yanked: yank ?? false,
});

function versionEntry(catalogue: CatalogueName, publicUrl: string, published: PublishedVersion) {
  const paths = pathsOf(catalogue, published);
  const { integrity, signing, provenance, manifest } = published;
  return {
    version: published.version,
    tarballUrl: `${publicUrl}${paths.tarball}`,
    tarballSha256: integrity,
    integrity,
    manifestUrl: `${publicUrl}${paths.manifest}`,
    ...(hasSignature(published) && { signatureUrl: `${publicUrl}${paths.signature}` }),
    publishedAt: provenance.publishedAt,
    signed: signing.method !== 'none',
    signingMethod: signing.method,
    verification: signing.state,
    ...given({ signingKeyId: signing.keyId, signatureCovers: signing.covers }),
    publishedTypeIds: nodeTypeIdsOf(manifest),
    publishedAgentIds: agentIdsOf(manifest),
    ...lifecycleOf(published),
    revertedYanks: published.revertedYanks,
  };
}

/** Expects the newest first, and at least one. */
export function packMetadata(
  catalogue: CatalogueName,
  publicUrl: string,
  versions: readonly PublishedVersion[],
): object {
  const latest = latestOf(versions);
  const summary = summaryOf(versions);
  if (latest === undefined || summary === undefined)
    throw new Error('a pack without versions has no metadata');
  const text = (key: string) => textAt(latest.manifest, key);
  const { versionCount: _, publishedAt: __, yanked: ___, ...facts } = summary;
  return {
    ...facts,
    // Links as in the manifest, unchecked.
    ...given({ homepage: text('homepage'), repository: text('repository') }),
    publishedTypeIds: nodeTypeIdsOf(latest.manifest),
    publishedAgentIds: agentIdsOf(latest.manifest),
    versions: Object.fromEntries(
      versions.map((published) => [published.version, versionEntry(catalogue, publicUrl, published)]),
    ),
    'dist-tags': { latest: latest.version },
  };
}

/** pack.json with additions of the registry. Its schema is closed, so lifecycle members are flat. */
export function versionManifest(catalogue: CatalogueName, published: PublishedVersion): JsonObject {
  const paths = pathsOf(catalogue, published);
  const { deprecation, yank } = published;
  return {
    ...published.manifest,
    integrity: published.integrity,
    publishedAt: published.provenance.publishedAt,
    tarballUrl: paths.tarball,
    ...(hasSignature(published) && { signatureUrl: paths.signature }),
    deprecated: deprecation !== undefined,
    yanked: yank !== undefined,
    ...given({
      deprecationReason: deprecation?.reason,
      supersededBy: deprecation?.supersededBy,
      yankedReason: yank?.reason,
      advisoryUrl: yank?.advisoryUrl,
    }),
  };
}

/** The response to a lifecycle change. */
export const lifecycleAnswer = (published: PublishedVersion): object => ({
  name: published.name,
  version: published.version,
  integrity: published.integrity,
  ...lifecycleOf(published),
  revertedYanks: published.revertedYanks,
});

/** Not validated here: a wrong name or version has its own error code. */
export const VersionParams = Type.Object({ name: Type.String(), version: Type.String() });
export const NameParams = Type.Object({ name: Type.String() });

/** The published version. An invalid name or version and an absent version are different errors. */
export async function publishedAt(
  catalogue: Pick<Catalogue, 'version'>,
  { name, version }: VersionAddress,
): Promise<PublishedVersion> {
  checkName(name);
  checkVersion(version);
  const published = await catalogue.version(name, version);
  if (published === undefined)
    throw new OpenwopError('not_found', { message: `${name}@${version} is not published.` });
  return published;
}
